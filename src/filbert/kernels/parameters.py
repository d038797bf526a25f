"""Parameters by name, as scikit-learn's estimators have them."""

from copy import deepcopy
from inspect import Parameter, signature
from typing import Any, Self

from filbert.errors import InvalidParameterError


class Parametrized:
    """An object whose parameters are the arguments of its constructor.

    scikit-learn clones everything that has these methods, and its searches set parameters with
    them. Its own base class has more, but importing it takes longer than most predictions.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, with `deep` also those of kernels within."""
        values: dict[str, Any] = {}
        for name in _names(type(self)):
            value = values[name] = getattr(self, name)
            if deep and hasattr(value, "get_params"):
                values |= {f"{name}__{own}": one for own, one in value.get_params().items()}
        return values

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name. Those of kernels within have names such as ``kernel__decay``."""
        within: dict[str, dict[str, Any]] = {}
        for name, value in params.items():
            own, _, inner = name.partition("__")
            if own not in _names(type(self)):
                raise InvalidParameterError(
                    f"{self!r} has no parameter {own!r}; it has {', '.join(_names(type(self)))}"
                )
            if inner:
                within.setdefault(own, {})[inner] = value
            else:
                setattr(self, own, value)
        for own, values in within.items():
            getattr(self, own).set_params(**values)
        return self

    def with_params(self, **params: Any) -> Self:
        """Return a copy with other values of some parameters. Kernels within are copied too."""
        return type(self)(**deepcopy(self.get_params(deep=False))).set_params(**params)

    def __repr__(self) -> str:
        listed = ", ".join(f"{name}={getattr(self, name)!r}" for name in _names(type(self)))
        return f"{type(self).__name__}({listed})"


def _names(cls: type[Parametrized]) -> tuple[str, ...]:
    """Return the names of a class's parameters in alphabetical order, as scikit-learn does."""
    listed = signature(cls.__init__).parameters.values()
    kinds = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    return tuple(sorted(p.name for p in listed if p.kind in kinds and p.name != "self"))

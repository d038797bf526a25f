"""Checks of the parameters of TreeSVC, alone and in combination."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from filbert._core import loss_names
from filbert.errors import InvalidParameterError
from filbert.kernels import Kernel
from filbert.kernels.capabilities import capabilities_of
from filbert.kernels.terms import check_expression, check_is_sum

_CHOICES = {
    "strategy": ("exact", "usvm", "sdag", "sdag+"),
    "engine": ("auto", "factors", "rows"),
    "loss": tuple(loss_names()),
}


def check_parameters(values: dict[str, Any]) -> None:
    """Raise InvalidParameterError if a parameter has an invalid value."""
    check_cost(values["C"])
    for name, choices in _CHOICES.items():
        _check_choice(name, values[name], choices)
    _check_kernel(values["kernel"], values["strategy"], values["engine"])
    if not _is_real(values["tol"]) or not 0 < values["tol"] < 1:
        raise InvalidParameterError(f"TreeSVC: tol must be in (0, 1), got {values['tol']!r}")
    for name, most in (("max_iter", 2**32), ("max_memory", 2**63), ("sample_size", 2**32)):
        _check_positive(name, values[name], most)
    for name in ("fit_intercept", "warm_start"):
        if not isinstance(values[name], bool | np.bool_):
            raise InvalidParameterError(
                f"TreeSVC: {name} must be True or False, got {values[name]!r}"
            )
    _check_together(values)


def check_cost(C: Any) -> None:
    """Raise InvalidParameterError for a C that is not positive and finite."""
    if not _is_real(C) or not 0 < C < np.inf:
        raise InvalidParameterError(f"TreeSVC: C must be positive, got {C!r}")


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices[:-1])
        raise InvalidParameterError(
            f"TreeSVC: {name} must be {listed} or {choices[-1]!r}, got {value!r}"
        )


def _check_kernel(kernel: Any, strategy: str, engine: str) -> None:
    known = capabilities_of(kernel)
    if isinstance(kernel, type):
        raise InvalidParameterError(
            f"TreeSVC: kernel must be a kernel, but {kernel!r} is a class. Call it to get one."
        )
    if kernel is None:
        return
    if isinstance(kernel, Kernel) and (known.of != "trees" or known.in_core):
        check_expression(kernel)
        _check_strategy(kernel, strategy, engine)
    elif not callable(kernel):
        raise InvalidParameterError(
            "TreeSVC: kernel must be a SubsetTree, Subtree or PartialTree, an expression of "
            f"kernels, or a function kernel(X, Y), got {kernel!r}"
        )
    elif known.of == "trees" or not _takes_any(strategy, engine):
        raise InvalidParameterError(
            f"TreeSVC: strategy {strategy!r} needs a kernel that is a sum over tree nodes, which "
            f"SubsetTree(), Subtree() and PartialTree() are; {kernel!r} is not one. "
            + ("Wrap it in a" if strategy == "usvm" else "Use strategy='usvm', which takes any")
            + " function kernel(X, Y); with engine='rows' strategy 'exact' takes one too."
        )


def _takes_any(strategy: str, engine: str) -> bool:
    """Return whether any kernel is accepted, because only its values are needed."""
    return strategy == "usvm" or engine == "rows"


def _check_strategy(kernel: Kernel, strategy: str, engine: str) -> None:
    """Raise an error that names suitable strategies if this one does not accept the kernel."""
    if kernel.capabilities.tree_in_core or _takes_any(strategy, engine):
        return
    try:
        check_is_sum(
            kernel,
            "Use strategy='usvm', which accepts any kernel; or, for some thousands of examples, "
            "engine='rows', which computes the whole kernel matrix.",
        )
    except InvalidParameterError as error:
        raise InvalidParameterError(f"TreeSVC: strategy {strategy!r}: {error}") from None
    if strategy != "exact":
        raise InvalidParameterError(
            f"TreeSVC: strategy {strategy!r} is for one tree kernel, SubsetTree, Subtree or "
            f"PartialTree; {kernel!r} is an expression. Use strategy='exact' or 'usvm'."
        )


def _check_positive(name: str, value: Any, most: int) -> None:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if value is not None and (not whole or not 1 <= value < most):
        raise InvalidParameterError(f"TreeSVC: {name} must be a positive integer, got {value!r}")


def _check_together(values: dict[str, Any]) -> None:
    strategy = values["strategy"]
    if strategy == "exact":
        if values["sample_size"] is not None:
            raise InvalidParameterError(
                "TreeSVC: strategy 'exact' takes no samples. Leave sample_size at None, or use "
                "strategy='sdag+'."
            )
        return
    for name, value in (("loss", "hinge"), ("engine", "auto"), ("warm_start", False)):
        if values[name] != value:
            raise InvalidParameterError(
                f"TreeSVC: {name}={values[name]!r} is for strategy 'exact'; {strategy!r} allows "
                f"only {name}={value!r}. Use strategy='exact'."
            )

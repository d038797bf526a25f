"""The form of examples: which trees, matrices and columns they have. All parts have the same."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from filbert.arrays import is_sparse
from filbert.errors import InvalidParameterError
from filbert.examples import Examples
from filbert.forest import Forest


@dataclass(frozen=True)
class Form:
    """What examples consist of.

    Attributes
    ----------
    trees : tuple of str
        The names of forests.
    matrices : dict
        The number of columns of each matrix, by name. The name of an array without parts is "".
    columns : tuple of str
        The names of columns of text.
    feature_names : dict
        The names of features by matrix, if they have names.
    """

    trees: tuple[str, ...]
    matrices: dict[str, int]
    columns: tuple[str, ...]
    feature_names: dict[str, list[str]]

    @classmethod
    def of(cls, X: Any) -> "Form":
        """Return the form of examples."""
        if isinstance(X, Forest):
            return cls(("tree",), {}, (), {})
        if not isinstance(X, Examples):
            return cls((), {"": X.shape[1] if len(X.shape) > 1 else 1}, (), {})
        return cls(
            tuple(name for name, part in X.parts.items() if isinstance(part, Forest)),
            {n: part.shape[1] for n, part in X.parts.items() if not isinstance(part, Forest)},
            tuple(X.columns),
            {name: list(names) for name, names in X.feature_names.items()},
        )

    def __str__(self) -> str:
        matrices = [f"{name or 'columns'} ({n:,})" for name, n in sorted(self.matrices.items())]
        return ", ".join([*sorted(self.trees), *matrices])

    def agrees(self, other: "Form") -> bool:
        """Return whether a kernel sees the same parts. Columns of text may differ."""
        return {*self.trees} == {*other.trees} and self.matrices == other.matrices

    def fit(self, X: Any, name: str) -> Forest | Examples:
        """Return examples in this form: absent features are zeros, absent columns are empty.

        Other columns are left out. Other trees or features raise InvalidParameterError.
        """
        own = X if isinstance(X, Examples) else Examples(tree=X)
        n = len(own)
        found = Form.of(own)
        if n == 0:
            found = Form((), {}, (), {})
        elif {*found.trees} != {*self.trees}:
            raise InvalidParameterError(
                f"{name} has the trees {', '.join(found.trees)}, but the first part of the corpus "
                f"has {', '.join(self.trees)}: choose with tree="
            )
        parts: dict[str, Any] = {
            tree: own[tree] if n else Forest.from_brackets(()) for tree in self.trees
        }
        for matrix, width in found.matrices.items():
            if self.matrices.get(matrix) != width:
                raise _other_features(name, matrix, width, self.matrices.get(matrix))
        for matrix, width in self.matrices.items():
            absent = matrix not in found.matrices
            parts[matrix] = scipy.sparse.csr_array((n, width)) if absent else own[matrix]
        columns = {one: own.columns.get(one, [""] * n) for one in self.columns}
        if [*parts] == ["tree"] and not columns:
            return parts["tree"]  # type: ignore[no-any-return]
        return Examples._of(parts, columns, self.feature_names)


def _other_features(
    name: str, matrix: str, width: int, wanted: int | None
) -> InvalidParameterError:
    if wanted is None:
        return InvalidParameterError(
            f"{name} has the features {matrix!r}, but the beginning of the corpus has none: pass "
            "n_features, the largest feature number of all parts (vocabulary= if features have "
            "names), or features=[] to read none"
        )
    return InvalidParameterError(
        f"{name} has {width:,} features {matrix!r}, but the first part of the corpus has {wanted:,}"
    )


def check_same_form(forms: list[Form | None], names: list[str]) -> None:
    """Raise InvalidParameterError if some parts differ. Parts without examples have no form."""
    known = [(form, name) for form, name in zip(forms, names, strict=True) if form is not None]
    for form, name in known[1:]:
        first, first_name = known[0]
        if not form.agrees(first):
            raise InvalidParameterError(
                f"{name} has {form}, but {first_name} has {first}: all parts need the same trees "
                "and features"
            )


def form_of_rows(X: Any) -> Form | None:
    """Return the form of examples, or None if there are none."""
    return Form.of(X) if X.shape[0] else None


def is_rows(X: Any) -> bool:
    """Return whether learners take an object as the examples of a part."""
    return isinstance(X, Forest | Examples | np.ndarray) or is_sparse(X)

"""The errors and warnings of Filbert.

Every error is a :class:`FilbertError` and also the built-in exception that Python programmers
expect in its place (``ValueError``, ``OverflowError``, ...).
"""

from os import fspath
from typing import Any, Self

__all__ = [
    "CapacityError",
    "ConcurrentLearningError",
    "CorruptForestError",
    "FewFragmentsWarning",
    "FilbertError",
    "InexactExplanationError",
    "InputTypeError",
    "InvalidParameterError",
    "KernelOverflowError",
    "MatrixTooLargeError",
    "MissingFileError",
    "ModelFileError",
    "NoFragmentsWarning",
    "OutOfMemoryError",
    "ParseError",
    "SkippedInputWarning",
    "TooExpensiveError",
    "TooManyFragmentsError",
    "WorkLimitError",
]


class FilbertError(Exception):
    """Base class of all errors that Filbert raises on purpose."""


class InvalidParameterError(FilbertError, ValueError):
    """A parameter has an invalid value."""


class InputTypeError(FilbertError, TypeError):
    """An argument has the wrong type, such as a number instead of a tree."""


class ParseError(FilbertError, ValueError):
    """A text is not a tree, or a file does not have the expected format.

    Attributes
    ----------
    reason, hint : str
        What is wrong, and what to do about it.
    source : str
        The name of the file, or "".
    line, column : int or None
        Counted from 1; columns in characters.
    sample : int or None
        The number of the example, from 0.
    """

    def __init__(
        self,
        reason: str,
        *,
        hint: str = "",
        source: str = "",
        line: int | None = None,
        column: int | None = None,
        sample: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint
        self.source = source
        self.line = line
        self.column = column
        self.sample = sample

    def located(
        self,
        *,
        source: str | None = None,
        line: int | None = None,
        column: int | None = None,
        sample: int | None = None,
    ) -> Self:
        """Return the same error with a more precise place, such as a line of a file."""
        return type(self)(
            self.reason,
            hint=self.hint,
            source=self.source if source is None else source,
            line=self.line if line is None else line,
            column=self.column if column is None else column,
            sample=self.sample if sample is None else sample,
        )

    def __str__(self) -> str:
        place = [self.source] if self.source else []
        in_list = self.sample is not None and not self.source  # then the line is within the sample
        if in_list:
            place.append(f"sample {self.sample}")
        if self.line is not None and (self.line > 1 or not in_list):
            place.append(f"line {self.line}")
        if self.column is not None:
            place.append(f"column {self.column}")
        text = f"{', '.join(place)}: {self.reason}" if place else self.reason
        return f"{text} ({self.hint})" if self.hint else text

    def __reduce__(self) -> tuple[Any, ...]:
        # By default, exceptions are pickled with their positional arguments only. Worker processes
        # have to send back the whole error.
        return type(self), (self.reason,), self.__dict__


class MissingFileError(FilbertError, FileNotFoundError):
    """A file or folder does not exist."""

    def __init__(self, path: Any) -> None:
        super().__init__(f"there is no file {fspath(path)!r}: check the path")
        self.path = fspath(path)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path,)


class ModelFileError(FilbertError, ValueError):
    """A file is not a model, is damaged, or was written by a newer version of Filbert.

    Attributes
    ----------
    reason, hint : str
        What is wrong, and what to do about it.
    path : str
        The file, or "" if it is unknown.
    """

    def __init__(
        self,
        reason: str,
        hint: str = "save the model again, or fetch the file again",
        path: str = "",
    ) -> None:
        super().__init__(f"{path}: {reason} ({hint})" if path else f"{reason} ({hint})")
        self.reason = reason
        self.hint = hint
        self.path = path

    def located(self, path: Any) -> Self:
        """Return the same error with the path of the file."""
        return type(self)(self.reason, self.hint, fspath(path))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason, self.hint, self.path)


class CorruptForestError(FilbertError, ValueError):
    """Stored arrays do not describe a forest: the file or pickle is damaged."""


class CapacityError(FilbertError, ValueError):
    """A forest would need more ids than 32 bits can number."""


class MatrixTooLargeError(FilbertError, MemoryError):
    """A kernel matrix does not fit into memory."""


class OutOfMemoryError(FilbertError, MemoryError):
    """A computation would need more memory than `max_memory` allows."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: raise max_memory, or train on fewer trees")
        self.what = what

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.what,)


class KernelOverflowError(FilbertError, OverflowError):
    """A kernel value, or a number computed from it, is beyond the range of float64."""

    def __init__(self, what: str, hint: str = "use normalize=True, or a smaller decay") -> None:
        super().__init__(f"{what}: {hint}")
        self.what = what
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.what, self.hint)


class InexactExplanationError(FilbertError, ArithmeticError):
    """The contributions of an example do not sum to its score, which is a bug in Filbert."""


class TooExpensiveError(FilbertError, ValueError):
    """The kernel of a single pair of nodes would take more steps than allowed.

    Attributes
    ----------
    steps : float
        The number of steps it would take.
    """

    def __init__(self, what: str, steps: float) -> None:
        super().__init__(
            f"{what} would take {steps:.1e} steps for this one pair, more than max_steps. "
            "Set max_subsequence=1 (cost: the product of the numbers of distinct children), "
            "break up such nodes, or raise max_steps if you can wait (about 2 s for 1e9 steps)"
        )
        self.what = what
        self.steps = steps

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.what, self.steps)


class TooManyFragmentsError(FilbertError, ValueError):
    """More fragments pass the threshold than allowed.

    Attributes
    ----------
    max_fragments : int
        The number that was allowed.
    """

    def __init__(self, max_fragments: int) -> None:
        super().__init__(
            f"more than max_fragments={max_fragments:,} fragments pass the threshold, or they have "
            "more than 100 nodes each, or 100 times as many have to be checked: use a smaller "
            "max_ratio or kernel decay, a larger min_frequency, or raise max_fragments"
        )
        self.max_fragments = max_fragments

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.max_fragments,)


class WorkLimitError(FilbertError, RuntimeError):
    """Factorising would take more work than allowed.

    Attributes
    ----------
    max_work : float
        The number of steps that were allowed, each about a nanosecond.
    """

    def __init__(self, max_work: float) -> None:
        super().__init__(
            f"factorising takes more than max_work={max_work:.3g} steps: raise max_work, or "
            "compute kernels by rows"
        )
        self.max_work = max_work

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.max_work,)


class ConcurrentLearningError(FilbertError, RuntimeError):
    """Two threads want to train one estimator at the same time."""

    def __init__(self, estimator: str) -> None:
        super().__init__(
            f"this {estimator} is learning at this moment, in another call of fit or partial_fit: "
            "train in one thread only, or hold a lock around these calls. Other threads may "
            "predict, save and copy at the same time"
        )
        self.estimator = estimator

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.estimator,)


class FewFragmentsWarning(UserWarning):
    """A model does not have the requested number of fragments, or share of its norm.

    Attributes
    ----------
    wanted, reached : float
        The number of fragments, or the share of the norm.
    """

    def __init__(self, what: str, wanted: float, reached: float) -> None:
        super().__init__(what)
        self.what = what
        self.wanted = wanted
        self.reached = reached

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.what, self.wanted, self.reached)


class NoFragmentsWarning(UserWarning):
    """No training tree has a fragment under the kernel, so all kernel values are zero.

    Attributes
    ----------
    n_trees : int
    kernel : str
        The kernel as text.
    """

    def __init__(self, n_trees: int, kernel: str) -> None:
        super().__init__(
            f"none of the {n_trees:,} trees has a fragment under {kernel}, because each is a "
            "single node: check that X is the column of trees. For single nodes, use PartialTree() "
            "or SubsetTree(include_leaves=True)"
        )
        self.n_trees = n_trees
        self.kernel = kernel

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.n_trees, self.kernel)


class SkippedInputWarning(UserWarning):
    """Some input could not be read and was skipped, because of ``on_error="skip"``.

    Attributes
    ----------
    errors : tuple of ParseError
        What was skipped, and why.
    """

    def __init__(self, errors: tuple[ParseError, ...], n_read: int) -> None:
        shown = "; ".join(str(error) for error in errors[:3])
        more = f"; and {len(errors) - 3:,} more" if len(errors) > 3 else ""
        super().__init__(f"skipped {len(errors):,}, read {n_read:,}: {shown}{more}")
        self.errors = errors
        self.n_read = n_read

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.errors, self.n_read)

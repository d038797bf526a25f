"""The errors and warnings of Filbert.

Every error is a :class:`FilbertError` and also the built-in exception that Python programmers
expect in its place (``ValueError``, ``OverflowError``, ...).
"""

from os import fspath
from typing import Any, Self

__all__ = [
    "CapacityError",
    "ChangedFileError",
    "CheckpointError",
    "CheckpointWarning",
    "ClusterError",
    "ClusterWarning",
    "ConcurrentLearningError",
    "ConcurrentSaveError",
    "CorruptForestError",
    "FewFragmentsWarning",
    "FilbertError",
    "InexactExplanationError",
    "InputTypeError",
    "InvalidParameterError",
    "KernelOverflowError",
    "MatrixTooLargeError",
    "MissingFileError",
    "MissingLibraryError",
    "ModelFileError",
    "NoFragmentsWarning",
    "NotATreeError",
    "OutOfMemoryError",
    "ParseError",
    "SkippedInputWarning",
    "TooExpensiveError",
    "TooManyFragmentsError",
    "WorkLimitError",
]


class FilbertError(Exception):
    """Base class of all errors that Filbert raises on purpose.

    Examples
    --------
    >>> from filbert import Forest
    >>> try:
    ...     Forest(["(S (NP a)"])
    ... except FilbertError as error:
    ...     print(type(error).__name__)
    ParseError
    """


class InvalidParameterError(FilbertError, ValueError):
    """A parameter has an invalid value.

    Examples
    --------
    >>> from filbert.kernels import SubsetTree
    >>> SubsetTree(decay=2).pair("(a b)", "(a b)")
    Traceback (most recent call last):
        ...
    filbert.errors.InvalidParameterError: SubsetTree: decay must be in (0, 1], got 2
    """


class InputTypeError(FilbertError, TypeError):
    """An argument has the wrong type, such as a number instead of a tree.

    Examples
    --------
    >>> from filbert import Forest
    >>> Forest([3])
    Traceback (most recent call last):
        ...
    filbert.errors.InputTypeError: sample 0 is not a string in bracket notation but int
    """


class ParseError(FilbertError, ValueError):
    """A text or object is not a tree, or a file does not have the expected format.

    Parameters
    ----------
    reason : str
        What is wrong.
    hint : str
        What to do about it.
    source : str
        The name of the file, or "".
    line, column : int, optional
        Counted from 1.
    sample : int, optional
        The number of the example, from 0.

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

    Examples
    --------
    >>> from filbert import Forest
    >>> Forest(["(S (NP a)"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    filbert.errors.ParseError: sample 0, column 1: the tree that begins ...
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
        hint: str | None = None,
    ) -> Self:
        """Return the same error with a more precise place, such as a line of a file, or hint.

        Parameters
        ----------
        source, line, column, sample, hint : str or int, optional
            As in the constructor. What is None stays as it is.

        Returns
        -------
        ParseError
            A new error of the same type.
        """
        return type(self)(
            self.reason,
            hint=self.hint if hint is None else hint,
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


class NotATreeError(FilbertError, ValueError):
    """A transformer leaves nothing of a tree, or several trees.

    Parameters
    ----------
    reason : str
        What is left of the tree.
    hint : str
        What to do about it.
    sample : int
        The number of the tree, from 0.
    part : str
        The part of the Examples, or "".

    Attributes
    ----------
    reason, hint : str
        What is left, and what to do about it.
    sample : int
        The number of the tree, from 0.
    part : str
        The part of the Examples, or "".

    Examples
    --------
    >>> from filbert.transform import DropLabels
    >>> DropLabels("S").fit_transform(["(S (NP a) (VP b))"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    filbert.errors.NotATreeError: sample 0: DropLabels leaves 2 trees of ...
    """

    def __init__(self, reason: str, hint: str, sample: int, part: str = "") -> None:
        place = f"part {part!r}, sample {sample}" if part else f"sample {sample}"
        super().__init__(f"{place}: {reason}: {hint}")
        self.reason = reason
        self.hint = hint
        self.sample = sample
        self.part = part

    def located(self, part: str) -> Self:
        """Return the same error with the name of the part.

        Parameters
        ----------
        part : str
            The name of the part of the Examples.

        Returns
        -------
        NotATreeError
            A new error of the same type.
        """
        return type(self)(self.reason, self.hint, self.sample, part)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason, self.hint, self.sample, self.part)


class MissingFileError(FilbertError, FileNotFoundError):
    """A file or folder does not exist.

    Parameters
    ----------
    path : path
        What does not exist.
    what : str
        The beginning of the message.

    Examples
    --------
    >>> import filbert
    >>> filbert.read_trees("nowhere.mrg")
    Traceback (most recent call last):
        ...
    filbert.errors.MissingFileError: there is no file 'nowhere.mrg': check the path
    """

    def __init__(self, path: Any, what: str = "there is no file") -> None:
        place = fspath(path)
        address = isinstance(place, str) and place.startswith(("http://", "https://", "ftp://"))
        hint = "download it first" if address else "check the path"
        super().__init__(f"{what} {place!r}: {hint}")
        self.path = place
        self.what = what

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.what)


class ChangedFileError(FilbertError, RuntimeError):
    """A file of a corpus in parts has changed since the corpus was made.

    Parameters
    ----------
    path : path
        The file.

    Examples
    --------
    >>> raise ChangedFileError("part-1.tsv")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    filbert.errors.ChangedFileError: 'part-1.tsv' has changed since the ...
    """

    def __init__(self, path: Any) -> None:
        super().__init__(
            f"{fspath(path)!r} has changed since the corpus was made: call filbert.parts again"
        )
        self.path = fspath(path)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path,)


class MissingLibraryError(FilbertError, ImportError):
    """A format needs a library that is not installed.

    `extra` is the extra of Filbert that installs it, or "" if it has to be installed by its name.

    Parameters
    ----------
    what : str
        What needs the library.
    library : str
        The name of the library.
    extra : str
        The extra of Filbert that installs it, or "" if it has to be installed by its name.

    Examples
    --------
    >>> raise MissingLibraryError("the format xml", "lxml", "docs")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    filbert.errors.MissingLibraryError: the format xml needs lxml: pip ...
    """

    def __init__(self, what: str, library: str, extra: str = "") -> None:
        package = f'"filbert[{extra}]"' if extra else library
        super().__init__(f"{what} needs {library}: pip install {package}")
        self.what = what
        self.library = library
        self.extra = extra

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.what, self.library, self.extra)


class ModelFileError(FilbertError, ValueError):
    """A file is not a model, is damaged, or was written by a newer version of Filbert.

    Parameters
    ----------
    reason : str
        What is wrong.
    hint : str
        What to do about it.
    path : str
        The file, or "" if it is unknown.

    Attributes
    ----------
    reason, hint : str
        What is wrong, and what to do about it.
    path : str
        The file, or "" if it is unknown.

    Examples
    --------
    >>> from filbert import load
    >>> load(__file__)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    filbert.errors.ModelFileError: ...errors.py: ...
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
        """Return the same error with the path of the file.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        ModelFileError
            A new error of the same type.
        """
        return type(self)(self.reason, self.hint, fspath(path))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason, self.hint, self.path)


class CheckpointError(FilbertError, ValueError):
    """A checkpoint belongs to other work, or cannot be used.

    Parameters
    ----------
    folder : str
        The folder of the checkpoint.
    reason : str
        Why it cannot be used.

    Attributes
    ----------
    folder, reason : str

    Examples
    --------
    >>> raise CheckpointError("kept", "it belongs to another corpus")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    filbert.errors.CheckpointError: the checkpoint kept is refused: it ...
    """

    def __init__(self, folder: str, reason: str) -> None:
        super().__init__(f"the checkpoint {folder} is refused: {reason}")
        self.folder = folder
        self.reason = reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.folder, self.reason)


class CorruptForestError(FilbertError, ValueError):
    """Stored arrays do not describe a forest: the file or pickle is damaged.

    Examples
    --------
    >>> from filbert import Forest
    >>> arrays = Forest(["(S a)"]).to_arrays()
    >>> Forest.from_arrays({**arrays, "roots": arrays["roots"] + 100})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    filbert.errors.CorruptForestError: ...
    """


class CapacityError(FilbertError, ValueError):
    """A forest would need more ids than 32 bits can number.

    Examples
    --------
    A corpus that is too large for one forest is read in parts.

    >>> from filbert import Forest, parts
    >>> from filbert.errors import CapacityError
    >>> def read(path):
    ...     try:
    ...         return Forest.from_brackets(path)
    ...     except CapacityError:
    ...         return parts(path, n_parts=64, label=False)
    """


class MatrixTooLargeError(FilbertError, MemoryError):
    """A matrix does not fit into memory.

    Examples
    --------
    >>> from filbert import DistributedTreeEmbedding
    >>> embedding = DistributedTreeEmbedding(n_components=2**24)
    >>> embedding.fit_transform(["(S a)", "(S b)"] * 2**17)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    filbert.errors.MatrixTooLargeError: ...
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args


class OutOfMemoryError(FilbertError, MemoryError):
    """A computation would need more memory than `max_memory` allows, or than the machine has.

    Parameters
    ----------
    what : str
        What would need too much memory.
    hint : str, default="raise max_memory, or train on fewer trees"
        What to do about it.

    Examples
    --------
    >>> from filbert import TreeSVC
    >>> from filbert.kernels import SubsetTree
    >>> svm = TreeSVC(SubsetTree(), max_memory=1)
    >>> svm.fit(["(S (A a))", "(S (A b))"], [0, 1])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    filbert.errors.OutOfMemoryError: the factors would take more than ...
    """

    def __init__(self, what: str, hint: str = "raise max_memory, or train on fewer trees") -> None:
        super().__init__(f"{what}: {hint}")
        self.what = what
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.what, self.hint)


class KernelOverflowError(FilbertError, OverflowError):
    """A kernel value, or a number computed from it, is beyond the range of float64.

    Parameters
    ----------
    what : str
        Which value is out of range.
    hint : str
        What to do about it.

    Examples
    --------
    >>> from filbert.kernels import SubsetTree
    >>> wide = "(S " + "(A a) " * 2000 + ")"
    >>> SubsetTree(decay=1.0, normalize=False).pair(wide, wide)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    filbert.errors.KernelOverflowError: the kernel value of trees 0 and 0 ...
    """

    def __init__(self, what: str, hint: str = "use normalize=True, or a smaller decay") -> None:
        super().__init__(f"{what}: {hint}")
        self.what = what
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.what, self.hint)


class InexactExplanationError(FilbertError, ArithmeticError):
    """The contributions of an example do not sum to its score, which is a bug in Filbert.

    Examples
    --------
    It is an ArithmeticError. Please report it with the model and the example.

    >>> from filbert.errors import InexactExplanationError
    >>> issubclass(InexactExplanationError, ArithmeticError)
    True
    """


class TooExpensiveError(FilbertError, ValueError):
    """The kernel of a single pair of nodes would take more steps than allowed.

    Parameters
    ----------
    what : str
        Which nodes take too long.
    steps : float
        The number of steps they would take.

    Attributes
    ----------
    steps : float
        The number of steps it would take.

    Examples
    --------
    >>> from filbert.kernels import PartialTree
    >>> PartialTree(max_steps=10).pair("(S a b c d e)", "(S a b c d e f)")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    filbert.errors.TooExpensiveError: nodes labelled 'S' with 5 and 5 ...
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

    Parameters
    ----------
    max_fragments : int
        The number that was allowed.
    message : str, optional
        The whole text of the error.

    Attributes
    ----------
    max_fragments : int
        The number that was allowed.

    Examples
    --------
    >>> from filbert.fragments import recurring_fragments
    >>> X = ["(S (A a) (B b))", "(S (A a) (B c))"]
    >>> recurring_fragments(X, max_fragments=1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    filbert.errors.TooManyFragmentsError: there are more than ...
    """

    def __init__(self, max_fragments: int, message: str | None = None) -> None:
        super().__init__(
            message
            or f"more than max_fragments={max_fragments:,} fragments pass the threshold, or they "
            "have more than 100 nodes each, or 100 times as many have to be checked: use a smaller "
            "max_ratio or kernel decay, a larger min_frequency, or raise max_fragments"
        )
        self.max_fragments = max_fragments

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.max_fragments, str(self))


class WorkLimitError(FilbertError, RuntimeError):
    """Factorising would take more work than allowed.

    Parameters
    ----------
    max_work : float
        The number of steps that were allowed.
    hint : str
        What to do about it.

    Attributes
    ----------
    max_work : float
        The number of steps that were allowed, each about a nanosecond.

    Examples
    --------
    >>> raise WorkLimitError(1e9)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    filbert.errors.WorkLimitError: factorising takes more than ...
    """

    def __init__(
        self, max_work: float, hint: str = "raise max_work, or compute kernels by rows"
    ) -> None:
        super().__init__(f"factorising takes more than max_work={max_work:.3g} steps: {hint}")
        self.max_work = max_work
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.max_work, self.hint)


class ConcurrentLearningError(FilbertError, RuntimeError):
    """Two threads want to train one estimator at the same time.

    Parameters
    ----------
    estimator : str
        The name of the estimator's class.

    Examples
    --------
    >>> raise ConcurrentLearningError("TreePerceptron")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    filbert.errors.ConcurrentLearningError: this TreePerceptron is ...
    """

    def __init__(self, estimator: str) -> None:
        super().__init__(
            f"this {estimator} is learning at this moment, in another call of fit or partial_fit: "
            "train in one thread only, or hold a lock around these calls. Other threads may "
            "predict, save and copy at the same time"
        )
        self.estimator = estimator

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.estimator,)


class ConcurrentSaveError(FilbertError, RuntimeError):
    """Somebody else saves an index in the same folder, or has saved one since it was loaded.

    Parameters
    ----------
    path : path
        The folder of the index.
    reason : str
        Why it was not saved.

    Examples
    --------
    >>> raise ConcurrentSaveError("my.index", "it is being saved")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    filbert.errors.ConcurrentSaveError: nothing was saved in 'my.index': it is ...
    """

    def __init__(self, path: Any, reason: str) -> None:
        super().__init__(
            f"nothing was saved in {fspath(path)!r}: {reason}. Load it and make your changes "
            "again, or save to another folder"
        )
        self.path = fspath(path)
        self.reason = reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.reason)


class CheckpointWarning(UserWarning):
    """Results cannot be kept in a checkpoint, or not be read from it. Work goes on.

    Examples
    --------
    >>> import warnings
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from filbert import TreeSVC, parts
    >>> corpus = parts([(["(S (A a))", "(S (B b))"], ["yes", "no"])])
    >>> with TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     clf = TreeSVC(C=1.0).fit(corpus, checkpoint=folder)
    ...     for path in Path(folder).glob("*.result"):
    ...         _ = path.write_text("damaged")
    ...     again = TreeSVC(C=1.0).fit(corpus, checkpoint=folder)
    >>> told[0].category.__name__
    'CheckpointWarning'
    """


class ClusterError(FilbertError, RuntimeError):
    """A Dask cluster cannot do the work: its scheduler is lost, or workers die again and again.

    Examples
    --------
    With a checkpoint, the work goes on where it stopped, here on this machine alone.

    >>> from filbert.errors import ClusterError
    >>> def fit(clf, corpus, client, folder):
    ...     try:
    ...         return clf.fit(corpus, checkpoint=folder)
    ...     except ClusterError:
    ...         client.close()
    ...         return clf.fit(corpus, checkpoint=folder)
    """


class ClusterWarning(UserWarning):
    """Work waits for a Dask cluster, such as one that has no workers yet.

    Examples
    --------
    A script that must not wait makes an error of the warning.

    >>> import warnings
    >>> from filbert.errors import ClusterWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", ClusterWarning)  # and then clf.fit(corpus)
    """


class FewFragmentsWarning(UserWarning):
    """A model does not have the requested number of fragments, or share of its norm.

    Parameters
    ----------
    what : str
        The text of the warning.
    wanted, reached : float
        The number of fragments, or the share of the norm.

    Attributes
    ----------
    wanted, reached : float
        The number of fragments, or the share of the norm.

    Examples
    --------
    >>> import warnings
    >>> from filbert import TreeSVC
    >>> from filbert.fragments import mine
    >>> from filbert.kernels import SubsetTree
    >>> svm = TreeSVC(SubsetTree(), random_state=0)
    >>> clf = svm.fit(["(S (A a))", "(S (B b))"], [0, 1])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     mined = mine(clf, n_fragments=1000, min_frequency=1)
    >>> caught[0].category.__name__, caught[0].message.wanted
    ('FewFragmentsWarning', 1000)
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

    Parameters
    ----------
    n_trees : int
        The number of training trees.
    kernel : str
        The kernel as text.

    Attributes
    ----------
    n_trees : int
    kernel : str
        The kernel as text.

    Examples
    --------
    >>> import warnings
    >>> from filbert import TreeSVC
    >>> from filbert.kernels import SubsetTree
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = TreeSVC(SubsetTree()).fit(["(a)", "(b)"], [0, 1])
    >>> caught[0].category.__name__
    'NoFragmentsWarning'
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

    Parameters
    ----------
    errors : tuple of ParseError
        What was skipped, and why.
    n_read : int
        The number of examples that were read.
    n_skipped : int, optional
        The number of examples that were skipped; by default, that of the errors.

    Attributes
    ----------
    errors : tuple of ParseError
        What was skipped, and why. If very much was skipped, only some of it.
    n_read, n_skipped : int
        The number of examples that were read, and that of those that were skipped.

    Examples
    --------
    >>> import warnings
    >>> from filbert import Forest
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     forest = Forest.from_brackets(["(S a)", "(S"], on_error="skip")
    >>> caught[0].category.__name__, len(forest), len(forest.skipped)
    ('SkippedInputWarning', 1, 1)
    """

    def __init__(
        self, errors: tuple[ParseError, ...], n_read: int, n_skipped: int | None = None
    ) -> None:
        n = len(errors) if n_skipped is None else n_skipped
        shown = "; ".join(str(error) for error in errors[:3])
        more = f"; and {n - 3:,} more" if n > 3 else ""
        super().__init__(f"skipped {n:,}, read {n_read:,}: {shown}{more}")
        self.errors = errors
        self.n_read = n_read
        self.n_skipped = n

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.errors, self.n_read, self.n_skipped)

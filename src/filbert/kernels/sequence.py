"""The gap-weighted subsequence kernel on the words of trees or on all their labels."""

from collections.abc import Collection
from numbers import Integral
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert.arrays import FloatArray
from filbert.errors import InputTypeError, InvalidParameterError, KernelOverflowError
from filbert.forest import Forest
from filbert.kernels.algebra import empty_matrix, is_number
from filbert.kernels.plain import PlainKernel
from filbert.progress import progress_bar
from filbert.threads import n_threads


class _Rows(NamedTuple):
    """Sequences of label numbers, stored one after another."""

    labels: NDArray[np.uint32]
    ends: NDArray[np.uint64]


class Sequence(PlainKernel):
    r"""The gap-weighted subsequence kernel (Lodhi et al. 2002) of sequences of labels.

    Two sequences share a subsequence if both have its labels in that order, with or without other
    labels in between. Each pair of occurrences :math:`I, J` has the weight
    :math:`\lambda^{d(I) + d(J)}`, where `d` is the span from the first label to the last:

    .. math:: K_p(s, t) = \sum_{s_I = t_J,\ |I| = p} \lambda^{d(I) + d(J)}

    The sequence of a tree consists of its leaves, which are the words of a parse, or of all its
    labels, parents first. A pair takes :math:`p |s| |t|` steps for one length and :math:`|s| |t|`
    for all lengths together.

    Parameters
    ----------
    decay : float in (0, 1]
        The paper's :math:`\lambda`: the factor for each position that a subsequence spans.
    length : int, optional
        The length of the subsequences, the paper's `n`. If None, subsequences of all lengths
        count, :math:`\sum_p K_p`. For lengths 1 and 2 add kernels,
        ``Sequence(length=1) + Sequence(length=2)``.
    of : {"leaves", "preorder"}
        The labels of a tree that form its sequence.
    normalize : bool
        Divide by the geometric mean of the self-kernels. Then no value is out of range for
        sequences of any length.
    part : str, optional
        See `on`.

    Examples
    --------
    >>> k = Sequence(decay=0.5, length=2, normalize=False)
    >>> k.pair(["c", "a", "t"], ["c", "a", "r"])  # 0.5 ** 4
    0.0625
    >>> k.pair("(NP (D the) (N cat))", "(NP (D the) (A old) (N cat))")  # 0.5 ** (2 + 3)
    0.03125
    >>> Sequence(length=1)(["(S (D the) (N cat))"], ["(S (D the) (N dog))"])
    array([[0.5]])
    """

    def __init__(
        self,
        decay: float = 0.5,
        *,
        length: int | None = None,
        of: Literal["leaves", "preorder"] = "leaves",
        normalize: bool = True,
        part: str | None = None,
    ) -> None:
        self.decay = decay
        self.length = length
        self.of = of
        self.normalize = normalize
        self.part = part

    def __call__(
        self, X: Any, Y: Any = None, *, n_jobs: int | None = None, verbose: int = 0
    ) -> FloatArray:
        """Compute the matrix of kernels between the sequences of `X` and those of `Y`.

        Parameters
        ----------
        X, Y : Forest, Examples, or sequence of trees, of bracket strings or of lists of labels
            `Y` defaults to `X`, which takes half the time.
        n_jobs : int, optional
            Threads; None for all cores. The values are the same to the last bit for any number.
        verbose : int
            If positive, show a progress bar.
        """
        decay, length = self._cost()
        a, b = self._rows(X, None if Y is X else Y)
        out = empty_matrix(len(a.ends), len((a if b is None else b).ends))
        with progress_bar("Sequence", show=verbose > 0) as progress:
            return _core.sequence_matrix(
                decay,
                length,
                a.labels,
                a.ends,
                None if b is None else b.labels,
                None if b is None else b.ends,
                bool(self.normalize),
                n_threads(n_jobs),
                progress,
                out,
            )

    def diag(self, X: Any, *, n_jobs: int | None = None) -> FloatArray:
        """Compute the kernel of each sequence with itself.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The sequences, as the kernel takes them.
        n_jobs : int, optional
            Threads; None for all cores.

        Returns
        -------
        ndarray of shape (len(X),)
            The kernel of each sequence.
        """
        decay, length = self._cost()
        rows, _ = self._rows(X, None)
        values = _core.sequence_selves(
            decay, length, rows.labels, rows.ends, bool(self.normalize), n_threads(n_jobs)
        )
        if not np.isfinite(values).all():
            raise KernelOverflowError(
                f"the kernel value of sequence {int(np.argmax(values))} with itself "
                "is beyond the range of float64"
            )
        return values

    def pair(self, a: Any, b: Any) -> float:
        """Compute the kernel of two sequences: trees, bracket strings or lists of labels.

        Parameters
        ----------
        a, b : Tree or str
            The sequences.

        Returns
        -------
        float
            The kernel.
        """
        return float(self.whole()([a], [b], n_jobs=1)[0, 0])

    def _rows(self, X: Any, Y: Any) -> tuple[_Rows, _Rows | None]:
        """Return X and Y as sequences that share the numbers of labels."""
        given = [self.part_of(part) for part in (X, Y) if part is not None]
        of_labels = [self.part is None and _is_lists(part) for part in given]
        if all(of_labels):
            numbers: dict[str, int] = {}
            rows = [_numbered(part, numbers) for part in given]
        elif any(of_labels):
            raise InputTypeError("lists of labels and trees cannot be compared: use one kind")
        else:
            forests = [self._forest_of(part) for part in (X, Y) if part is not None]
            together = Forest.concat(forests)
            n = len(forests[0])
            rows = [self._taken(part) for part in (together[:n], together[n:])][: len(forests)]
        return rows[0], rows[1] if len(rows) > 1 else None

    def _taken(self, forest: Forest) -> _Rows:
        leaves_only = self.of == "leaves"
        return _Rows(*_core.label_sequences(forest._dag, forest._roots, leaves_only))

    def _check(self) -> None:
        if not is_number(self.decay) or not 0 < self.decay <= 1:
            raise InvalidParameterError(f"Sequence: decay must be in (0, 1], got {self.decay!r}")
        length = self.length
        if length is not None and not (is_number(length, Integral) and 1 <= length < 2**32):
            raise InvalidParameterError(
                f"Sequence: length must be None or a positive integer, got {length!r}"
            )
        if self.of not in ("leaves", "preorder"):
            raise InvalidParameterError(
                f"Sequence: of must be 'leaves' or 'preorder', got {self.of!r}"
            )
        self._check_switch("normalize")

    def _cost(self) -> tuple[float, int]:
        """Return decay and length for the core. A length of 0 means all lengths."""
        self._check()
        return float(self.decay), 0 if self.length is None else int(self.length)


def _is_lists(X: Any) -> bool:
    """Return whether X holds sequences of labels, not trees."""
    if isinstance(X, Forest | str | bytes) or not isinstance(X, Collection):
        return False
    return isinstance(next(iter(X), None), list | tuple | np.ndarray)


def _numbered(rows: Any, numbers: dict[str, int]) -> _Rows:
    labels: list[int] = []
    ends: list[int] = []
    for sample, row in enumerate(rows):
        for label in row:
            if not isinstance(label, str):
                raise InputTypeError(
                    f"a label of sample {sample} is not a string but {type(label).__name__}"
                )
            labels.append(numbers.setdefault(label, len(numbers)))
        ends.append(len(labels))
    return _Rows(np.array(labels, dtype=np.uint32), np.array(ends, dtype=np.uint64))

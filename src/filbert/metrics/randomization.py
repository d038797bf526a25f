"""Test whether the difference between two systems is more than chance."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isfinite, prod
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom
from sklearn.utils import check_random_state

from filbert.arrays import FloatArray
from filbert.errors import InvalidParameterError
from filbert.labels import are_missing, as_given, kinds_of

__all__ = ["RandomizationResult", "randomization_test"]

Metric = Callable[[NDArray[Any], NDArray[Any]], float]
Codes = NDArray[np.intp]
Counts = NDArray[np.int64]

_NAMES = ("y", "pred_a", "pred_b")
_METRICS = ("f1", "precision", "recall", "accuracy")
_ENTRIES = 1 << 20  # of all arrays in use at a time
_MOST_OUTCOMES = 10**8  # enumerated with exact=True: a quarter of a minute
_TIE = 1e-12  # differences within this share of the scores count as equal


@dataclass(frozen=True)
class RandomizationResult:
    """The result of `randomization_test`.

    Attributes
    ----------
    p_value : float
        How often chance alone makes a difference as large as this one, in either direction.
    difference : float
        ``score_a - score_b``.
    score_a, score_b : float
        The metric's values for the two systems.
    n_shuffles : int
        The number of shuffles drawn; 0 if the p-value is exact.
    exact : bool
        Whether all outcomes were enumerated instead of sampled.

    Examples
    --------
    >>> from filbert.metrics import randomization_test
    >>> y, a, b = [1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0]
    >>> result = randomization_test(y, a, b, metric="accuracy")
    >>> result.difference, result.p_value, result.exact
    (0.5, 0.5, True)
    """

    p_value: float
    difference: float
    score_a: float
    score_b: float
    n_shuffles: int
    exact: bool


def randomization_test(
    y: ArrayLike,
    pred_a: ArrayLike,
    pred_b: ArrayLike,
    metric: Literal["f1", "precision", "recall", "accuracy"] | Metric = "f1",
    n: int = 10_000,
    *,
    average: Literal["binary", "macro"] = "binary",
    pos_label: Any = 1,
    exact: Literal["auto"] | bool = "auto",
    random_state: int | RandomState | None = None,
) -> RandomizationResult:
    """Test whether two systems differ in their scores on the same examples.

    This is approximate randomisation (Noreen 1989), as Severyn & Moschitti (2012, section 7.4) use
    it to compare F1. If the systems were equally good, it would not matter which of them made
    which of the two predictions for an example. The test therefore swaps predictions at random,
    example by example. If c of n shuffles make a difference at least as large as the observed one,
    in either direction, the p-value is (c + 1) / (n + 1).

    Only examples on which the systems differ matter. For the named metrics, only the number of
    swapped examples of each kind matters. The test draws these numbers instead of single swaps,
    which has the same distribution. Time hardly depends on the number of examples.

    Parameters
    ----------
    y, pred_a, pred_b : array-like of n_examples labels
        The true labels, and the predictions of the two systems.
    metric : {"f1", "precision", "recall", "accuracy"} or callable
        A callable ``metric(y, pred)`` takes two arrays and returns a number. It is called twice
        for each shuffle. Quotients with the denominator 0 are 0.
    n : int
        The number of shuffles.
    average : {"binary", "macro"}
        F1, precision and recall of the class `pos_label`, or their means over all classes.
    pos_label : label
        The positive class if there are two.
    exact : "auto" or bool
        Enumerate all outcomes with their probabilities instead of drawing n. The default does so
        if there are at most n. For a function there are 2^k outcomes if the systems differ on k
        examples. For F1 there are (k + 1) (m + 1) if they differ on k positive and m negative
        examples.
    random_state : int, RandomState or None
        Seed of the shuffles.

    Returns
    -------
    RandomizationResult
        The difference and its p-value.

    Examples
    --------
    >>> y = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> a = [1, 1, 1, 1, 1, 0, 0, 0, 0, 1]
    >>> b = [1, 0, 0, 0, 1, 0, 0, 1, 1, 0]
    >>> result = randomization_test(y, a, b)
    >>> round(result.score_a, 3), round(result.score_b, 3)
    (0.909, 0.444)
    >>> round(result.p_value, 5), result.exact
    (0.125, True)

    Random shuffles come close to that:

    >>> result = randomization_test(y, a, b, exact=False, random_state=0)
    >>> round(result.p_value, 3), result.n_shuffles
    (0.131, 10000)
    """
    _check_options(metric, n, average, exact)
    rng = _checked_random_state(random_state)
    arrays = _checked_labels(y, pred_a, pred_b)
    if callable(metric):
        swaps = _swaps_by_calls(metric, *arrays)
    else:
        codes = _coded(arrays, metric, average, pos_label)
        swaps = _swaps_by_counts(*codes, "recall" if metric == "accuracy" else metric, average)
    score_a, score_b = swaps.observed_scores
    exact = _is_exact(swaps, n, exact)
    return RandomizationResult(
        p_value=_exact_p(swaps) if exact else _sampled_p(swaps, int(n), rng),
        difference=score_a - score_b,
        score_a=score_a,
        score_b=score_b,
        n_shuffles=0 if exact else int(n),
        exact=exact,
    )


# ---------------------------------------------------------------- the test


@dataclass(frozen=True)
class _Swaps:
    """The possible outcomes of swapping predictions.

    The examples on which the systems differ are divided into kinds. A kind has two predictions, and
    swapping any of its examples has the same effect. An outcome is therefore one number for each
    kind: for how many of its examples system A has the first of the two predictions.
    """

    sizes: Counts  # the number of examples of each kind
    observed: Counts  # the outcome without swapping
    scores: Callable[[Counts], tuple[FloatArray, FloatArray]]  # of A and B, for rows of outcomes
    width: int  # the number of entries per row

    @property
    def n_outcomes(self) -> int:
        return prod(size + 1 for size in self.sizes.tolist())

    @cached_property
    def observed_scores(self) -> tuple[float, float]:
        [a], [b] = self.scores(self.observed[np.newaxis])
        return float(a), float(b)

    def reach(self, outcomes: Counts) -> NDArray[np.bool_]:
        """Return whether scores differ at least as much as the observed ones; ties count."""
        a, b = self.observed_scores
        shuffled_a, shuffled_b = self.scores(outcomes)
        scale = np.maximum(np.abs(shuffled_a), np.abs(shuffled_b))
        slack = _TIE * np.maximum(scale, max(abs(a), abs(b)))
        reached: NDArray[np.bool_] = np.abs(shuffled_a - shuffled_b) >= abs(a - b) - slack
        return reached

    def pieces(self, n: int) -> list[tuple[int, int]]:
        """Split n rows so that memory stays bounded."""
        step = max(1, _ENTRIES // max(1, self.width))
        return list(pairwise([*range(0, n, step), n]))


def _is_exact(swaps: _Swaps, n: int, exact: str | bool) -> bool:
    if exact == "auto":
        return swaps.n_outcomes <= n
    if exact and swaps.n_outcomes > _MOST_OUTCOMES:
        raise InvalidParameterError(
            f"exact=True would enumerate more than {_MOST_OUTCOMES:,} outcomes: the systems "
            f"differ on {swaps.sizes.sum():,} examples that matter; use exact='auto' or False"
        )
    return bool(exact)


def _exact_p(swaps: _Swaps) -> float:
    """Sum the probabilities of the outcomes that reach the observed difference."""
    if not len(swaps.sizes):
        return 1.0
    weights = [binom.pmf(np.arange(size + 1), size, 0.5) for size in swaps.sizes.tolist()]
    p = 0.0
    for start, stop in swaps.pieces(swaps.n_outcomes):
        columns = np.unravel_index(np.arange(start, stop), [len(w) for w in weights])
        weight = prod((w[c] for w, c in zip(weights, columns, strict=True)), start=np.ones(1))
        p += float(weight[swaps.reach(np.stack(columns, axis=1))].sum())
    return min(p, 1.0)


def _sampled_p(swaps: _Swaps, n: int, rng: RandomState) -> float:
    count = 0
    for start, stop in swaps.pieces(n):
        shape = (stop - start, len(swaps.sizes))
        count += int(swaps.reach(rng.binomial(swaps.sizes, 0.5, shape)).sum())
    return (count + 1) / (n + 1)


# ---------------------------------------------------------------- scores


def _swaps_by_counts(y: Codes, a: Codes, b: Codes, metric: str, average: str) -> _Swaps:
    """Score by how often each class is predicted, and how often correctly; classes from 0.

    If `average` is "binary", class 1 is the positive one. A kind is two predicted classes, the
    smaller first, and which of them is right. Exchanging a and b therefore changes nothing.
    """
    n_classes = 2 if average == "binary" else int(max(y.max(), a.max(), b.max())) + 1
    true = np.bincount(y, minlength=n_classes)
    differ = a != b
    right = np.where((y == a) | (y == b), y, -1)
    pairs = np.stack([np.minimum(a, b), np.maximum(a, b), right])[:, differ]
    (low, high, right), kind, sizes = np.unique(
        pairs, axis=1, return_inverse=True, return_counts=True
    )
    observed = np.bincount(kind.ravel(), weights=(a < b)[differ], minlength=len(sizes))
    agreed = _predicted_and_right(y[~differ], a[~differ], n_classes).sum(axis=0)
    if_low, if_high = (_predicted_and_right(right, label, n_classes) for label in (low, high))

    def score(n_low: Counts) -> FloatArray:
        counts = agreed + n_low @ if_low + (sizes - n_low) @ if_high
        predicted, right = counts[:, :n_classes], counts[:, n_classes:]
        if average == "binary":
            return _quotients(metric, true[1:], predicted[:, 1:], right[:, 1:])[:, 0]
        n_present = ((predicted > 0) | (true > 0)).sum(axis=1)
        means: FloatArray = _quotients(metric, true, predicted, right).sum(axis=1) / n_present
        return means

    return _Swaps(
        sizes=sizes,
        observed=observed.astype(np.int64),
        scores=lambda outcomes: (score(outcomes), score(sizes - outcomes)),
        width=len(sizes) + 2 * n_classes,
    )


def _predicted_and_right(y: Codes, predicted: Codes, n_classes: int) -> sp.csr_array:
    """Return a row per example: 1 for the predicted class, and again if it is right."""
    rows = np.arange(len(y))
    right = np.flatnonzero(y == predicted)
    places = (
        np.concatenate([rows, right]),
        np.concatenate([predicted, n_classes + predicted[right]]),
    )
    ones = np.ones(len(places[0]), dtype=np.int64)
    return sp.csr_array((ones, places), shape=(len(y), 2 * n_classes))


def _quotients(metric: str, true: Counts, predicted: Counts, right: Counts) -> FloatArray:
    """Return the metric of each class, 0 for 0/0."""
    below = {"f1": predicted + true, "precision": predicted, "recall": true}[metric]
    above = 2 * right if metric == "f1" else right
    zeros = np.zeros(right.shape)
    quotients: FloatArray = np.divide(above, below, out=zeros, where=below > 0)
    return quotients


def _swaps_by_calls(metric: Metric, y: NDArray[Any], a: NDArray[Any], b: NDArray[Any]) -> _Swaps:
    """Score by calling a function: every example is a separate kind."""
    differ = np.flatnonzero(a != b)
    common = np.result_type(a, b)  # so that swapped texts are not cut off
    a, b = a.astype(common), b.astype(common)

    def score(own: NDArray[Any], other: NDArray[Any], kept: Counts) -> float:
        pred = own.copy()
        swapped = differ[kept == 0]
        pred[swapped] = other[swapped]
        value = metric(y, pred)
        if not isinstance(value, Real) or not isfinite(value):
            raise InvalidParameterError(
                f"metric must return a finite number, got {value!r} for some original or "
                "swapped predictions: check what it does with y and pred"
            )
        return float(value)

    def scores(outcomes: Counts) -> tuple[FloatArray, FloatArray]:
        return (
            np.array([score(a, b, kept) for kept in outcomes]),
            np.array([score(b, a, kept) for kept in outcomes]),
        )

    ones = np.ones(len(differ), dtype=np.int64)
    return _Swaps(sizes=ones, observed=ones, scores=scores, width=len(ones))


# ---------------------------------------------------------------- labels


def _coded(
    arrays: list[NDArray[Any]], metric: str, average: str, pos_label: Any
) -> tuple[Codes, Codes, Codes]:
    """Number the classes, and drop the examples that the metric ignores."""
    _check_one_kind(dict(zip(_NAMES, arrays, strict=True)))
    y, a, b = arrays
    if metric == "accuracy":  # the recall of the class "right", to which all examples belong
        return np.ones(len(y), dtype=np.intp), (a == y).astype(np.intp), (b == y).astype(np.intp)
    labels, codes = np.unique(np.concatenate(arrays), return_inverse=True)
    if average == "binary":
        codes = _is_positive(labels.tolist(), metric, pos_label)[codes]
    y, a, b = codes.reshape(3, -1)
    if average == "binary" and metric == "recall":
        return y[y == 1], a[y == 1], b[y == 1]
    return y, a, b


def _is_positive(labels: list[Any], metric: str, pos_label: Any) -> Codes:
    shown = ", ".join(map(repr, labels[:5])) + (", ..." if len(labels) > 5 else "")
    if len(labels) > 2:
        raise InvalidParameterError(
            f"{metric} is for two classes, but y, pred_a and pred_b have {len(labels):,} "
            f"({shown}): use average='macro' or metric='accuracy', or test one class at a time "
            "with y == c, pred_a == c, pred_b == c"
        )
    positive = np.array([label == pos_label for label in labels], dtype=np.intp)
    if len(labels) == 2 and not positive.any():
        raise InvalidParameterError(
            f"pos_label={pos_label!r} is not among the labels ({shown}): set it to one of them"
        )
    return positive


def _checked_labels(*given: ArrayLike) -> list[NDArray[Any]]:
    arrays = [_as_labels(name, values) for name, values in zip(_NAMES, given, strict=True)]
    lengths = [len(array) for array in arrays]
    if len(set(lengths)) > 1:
        listed = ", ".join(f"{name} has {n:,}" for name, n in zip(_NAMES, lengths, strict=True))
        raise InvalidParameterError(
            f"y, pred_a and pred_b must have one label for each example: {listed}"
        )
    if lengths[0] == 0:
        raise InvalidParameterError("there are no examples to compare the systems on")
    _check_one_kind({"pred_a": arrays[1], "pred_b": arrays[2]})
    return arrays


def _as_labels(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return a one-dimensional array without missing values, of numbers or texts if possible."""
    try:
        np.asarray(values)
    except ValueError:  # lists of several lengths
        raise InvalidParameterError(
            f"{name} must be a flat list or array: give one label for each example"
        ) from None
    array = as_given(values)
    if array.ndim != 1:
        raise InvalidParameterError(
            f"{name} must have one dimension, got {array.ndim}: give one label for each example"
        )
    missing = are_missing(array)
    if missing.any():
        i = int(missing.argmax())
        raise InvalidParameterError(
            f"{name}[{i}] is {array[i]}: fill in missing labels, or leave these examples out"
        )
    return _of_one_kind(name, array) if array.dtype.kind == "O" else array


def _of_one_kind(name: str, array: NDArray[Any]) -> NDArray[Any]:
    kinds = kinds_of(array)
    if kinds <= {"str"} or kinds <= {"number"}:
        return np.array(array.tolist())
    raise InvalidParameterError(
        f"{name} must have labels of one kind, numbers or texts, got {', '.join(sorted(kinds))}: "
        "use str for all"
    )


def _check_one_kind(arrays: dict[str, NDArray[Any]]) -> None:
    """Refuse a mix of texts and numbers: NumPy would turn all of them into texts."""
    names = {"b": "numbers", "i": "numbers", "u": "numbers", "f": "numbers", "T": "texts",
             "U": "texts"}  # fmt: skip
    kinds = {name: names.get(a.dtype.kind, str(a.dtype)) for name, a in arrays.items()}
    if len(set(kinds.values())) > 1:
        listed = ", ".join(f"{name} has {kind}" for name, kind in kinds.items())
        raise InvalidParameterError(f"labels must be of one kind: {listed}; convert them first")


# ---------------------------------------------------------------- options


def _check_options(metric: Any, n: Any, average: Any, exact: Any) -> None:
    if not callable(metric) and not (isinstance(metric, str) and metric in _METRICS):
        raise InvalidParameterError(
            "metric must be 'f1', 'precision', 'recall', 'accuracy' or a function of y and "
            f"predictions, got {metric!r}"
        )
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
        raise InvalidParameterError(f"n must be a positive integer, got {n!r}")
    if average not in ("binary", "macro"):
        raise InvalidParameterError(f"average must be 'binary' or 'macro', got {average!r}")
    if average == "macro" and (callable(metric) or metric == "accuracy"):
        raise InvalidParameterError(
            "average='macro' is for 'f1', 'precision' and 'recall': leave it out"
        )
    if not isinstance(exact, bool | np.bool_) and exact != "auto":
        raise InvalidParameterError(f"exact must be 'auto', True or False, got {exact!r}")


def _checked_random_state(random_state: Any) -> RandomState:
    try:
        rng: RandomState = check_random_state(random_state)
    except ValueError:
        raise InvalidParameterError(
            f"random_state must be an integer, a RandomState or None, got {random_state!r}"
        ) from None
    return rng

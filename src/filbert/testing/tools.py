"""Tools that the checks share: the list of checks, trees to train on, and comparisons."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import utils
from sklearn.base import clone, is_regressor
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from filbert.forest import Forest
from filbert.persist import is_saved

Array = NDArray[Any]
CheckFunction = Callable[[str, Any], None]


class Check(NamedTuple):
    """A check, and the abilities that an estimator needs for it: see `abilities`."""

    run: CheckFunction
    needs: frozenset[str]


CHECKS: list[Check] = []


def check(*needs: str) -> Callable[[CheckFunction], CheckFunction]:
    """Add a function to the list of checks."""

    def add(function: CheckFunction) -> CheckFunction:
        CHECKS.append(Check(function, frozenset(needs)))
        return function

    return add


def abilities(estimator: Any) -> set[str]:
    """Return what an estimator has: methods, parameters, and other abilities.

    These are the kind, "classifier", "regressor" or "ranker", if it predicts; "numbers", if it
    predicts numbers; "sample_weight"; "optimum", if the solution does not depend on the order of
    examples; "additive", if besides each example adds its own loss; "state", if `fit` learns
    something, as scikit-learn's tag `requires_fit` says; "labels", if it learns from labels, as the
    tag `target_tags.required` says; and "file", if `filbert.save` accepts the estimator. Estimators
    with `partial_fit` have no "optimum". Neither have searches, which have a parameter `cv`, and
    estimators whose C is "auto": their folds depend on the order of examples.
    """
    methods = ("predict", "predict_proba", "predict_log_proba", "decision_function", "score")
    found = {name for name in (*methods, "partial_fit", "transform") if hasattr(estimator, name)}
    found |= set(estimator.get_params(deep=False))
    if "predict" in found:
        found |= _kind(estimator)
    if has_fit_parameter(estimator, "sample_weight"):
        found.add("sample_weight")
    searches = "cv" in found or estimator.get_params(deep=False).get("C") == "auto"
    if "tol" in found and "partial_fit" not in found and not searches:
        found |= {"optimum"} if "ranker" in found else {"optimum", "additive"}
    has_tags = hasattr(utils, "get_tags")  # since scikit-learn 1.6
    if not has_tags or utils.get_tags(estimator).requires_fit:
        found.add("state")
    if "predict" in found or (has_tags and utils.get_tags(estimator).target_tags.required):
        found.add("labels")
    if is_saved(estimator):
        found.add("file")
    return found


def _kind(estimator: Any) -> set[str]:
    if has_fit_parameter(estimator, "group"):
        return {"ranker", "numbers"}
    return {"regressor", "numbers"} if is_regressor(estimator) else {"classifier"}


# ---------------------------------------------------------------- estimators


def fresh(estimator: Any, **parameters: Any) -> Any:
    """Clone an estimator, with a fixed seed if it has a random_state, and set parameters."""
    if "random_state" in estimator.get_params(deep=False):
        parameters.setdefault("random_state", 0)
    return clone(estimator).set_params(**parameters)


def tight(estimator: Any, **parameters: Any) -> Any:
    """Clone an estimator with parameters that bring it close to the optimum."""
    has = estimator.get_params(deep=False)
    if "tol" in has:
        parameters.setdefault("tol", 1e-9)
    if "max_iter" in has:
        parameters.setdefault("max_iter", 100_000)
    return fresh(estimator, **parameters)


def outputs(fitted: Any, X: Any) -> Array:
    """Return the most detailed output of an estimator for trees, one row per tree."""
    for method in ("decision_function", "transform", "predict"):
        if hasattr(fitted, method):
            values: Any = getattr(fitted, method)(X)
            return np.asarray(values.toarray() if hasattr(values, "toarray") else values)
    check_is_fitted(fitted)
    if hasattr(fitted, "kernel_"):  # it learns a kernel
        return np.asarray(fitted.kernel_(X, sentences()[0][:5]))
    raise AssertionError(
        f"{fitted!r} has neither decision_function, transform, predict nor kernel_"
    )


# ---------------------------------------------------------------- trees

SENTENCES = (
    "(S (NP (D {d}) (N {n})) (VP (V {v}) (NP (N {m}))))",
    "(S (NP (D {d}) (N {n})) (VP (AUX was) (VP (V {v}) (PP (P by) (NP (N {m}))))))",
    "(SQ (AUX did) (NP (D {d}) (N {n})) (VP (V {v}) (NP (N {m}))) ?)",
)
WORDS = {"d": "a the no", "n": "dog cat cow hen", "v": "saw bit", "m": "it us"}


def sentences(n: int = 40, n_classes: int = 2, *, noise: bool = True) -> tuple[Forest, Array]:
    """Make sentences of two or three kinds. With noise, every tenth has a wrong class."""
    rng = np.random.default_rng(n_classes)
    y = np.arange(n) % n_classes
    words = [{key: rng.choice(some.split()) for key, some in WORDS.items()} for _ in range(n)]
    X = Forest(SENTENCES[kind].format(**w) for kind, w in zip(y, words, strict=True))
    if noise:
        y[5::10] = (y[5::10] + 1) % n_classes
    return X, y


# ---------------------------------------------------------------- comparisons


def assert_same(actual: Any, expected: Any, message: str) -> None:
    """Assert that arrays are equal to the last bit."""
    a, b = np.asarray(actual), np.asarray(expected)
    same = a.shape == b.shape and a.dtype == b.dtype
    same = same and bool((a == b).all() if a.dtype == object else a.tobytes() == b.tobytes())
    assert same, f"{message}: expected {b!r}, got {a!r}"


def assert_close(actual: Any, expected: Any, message: str, tolerance: float = 1e-3) -> None:
    """Assert that arrays differ by at most `tolerance` times the largest value (or times 1)."""
    a, b = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    assert a.shape == b.shape, f"{message}: expected shape {b.shape}, got {a.shape}"
    allowed = tolerance * max(1.0, float(np.abs(b).max(initial=0)))
    error = float(np.abs(a - b).max(initial=0))
    assert error <= allowed, f"{message}: they differ by {error:.2e}, more than {allowed:.2e}"


def assert_same_state(actual: Any, expected: Any, X: Any, message: str) -> None:
    """Assert that two fitted estimators have the same arrays and the same output for `X`."""
    for name, value in vars(expected).items():
        if name.endswith("_") and isinstance(value, np.ndarray | float | int):
            assert hasattr(actual, name), f"{message}: {name} is missing"
            assert_same(getattr(actual, name), value, f"{message}: {name} is different")
    assert_same(outputs(actual, X), outputs(expected, X), f"{message}: the output is different")


@contextmanager
def expected_error(
    kinds: type[Exception] | tuple[type[Exception], ...], case: str
) -> Iterator[None]:
    """Assert that an error of a kind is raised and has a message."""
    names = " or ".join(k.__name__ for k in (kinds if isinstance(kinds, tuple) else (kinds,)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except Exception as error:
        if not isinstance(error, kinds):
            raise AssertionError(f"{case}: expected {names}, got {error!r}") from error
        if not str(error):
            raise AssertionError(f"{case}: {error!r} should say what is wrong") from error
    else:
        raise AssertionError(f"{case}: expected {names}, but nothing was raised")

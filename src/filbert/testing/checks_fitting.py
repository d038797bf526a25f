"""Checks of training: repetition, copies, interruption and side effects."""

import copy
import io
import pickle
import warnings
from contextlib import redirect_stderr, redirect_stdout, suppress
from typing import Any
from unittest import mock

import numpy as np
from sklearn.exceptions import NotFittedError

from filbert import progress
from filbert.testing.tools import (
    assert_close,
    assert_same,
    assert_same_state,
    check,
    expected_error,
    fresh,
    outputs,
    sentences,
    tight,
)


@check()
def check_fit_returns_self(name: str, estimator: Any) -> None:
    """Check that `fit` returns the estimator."""
    X, y = sentences()
    new = fresh(estimator)
    assert new.fit(X, y) is new, f"{name}.fit should return self"


@check()
def check_fit_keeps_parameters(name: str, estimator: Any) -> None:
    """Check that training changes no parameter, including those of the kernel."""
    X, y = sentences()
    new = fresh(estimator)
    before = {key: (value, repr(value)) for key, value in new.get_params().items()}
    new.fit(X, y)
    for key, value in new.get_params().items():
        assert value is before[key][0], f"{name}.fit should not replace the parameter {key}"
        assert repr(value) == before[key][1], f"{name}.fit should not change the parameter {key}"


@check("state")
def check_learnt_attributes_end_in_underscore(name: str, estimator: Any) -> None:
    """Check that the attributes that training adds end or begin with an underscore."""
    X, y = sentences()
    new = fresh(estimator)
    before = set(vars(new))
    added = set(vars(new.fit(X, y))) - before
    wrong = sorted(key for key in added if not key.endswith("_") and not key.startswith("_"))
    assert added, f"{name}.fit should store what it learnt"
    assert not wrong, f"{name}.fit adds {wrong}: such names should end in an underscore"


@check("state")
def check_unfitted(name: str, estimator: Any) -> None:
    """Check that methods raise NotFittedError before training."""
    X, _ = sentences()
    for method in ("predict", "decision_function", "predict_proba", "transform"):
        if hasattr(estimator, method):
            with expected_error(NotFittedError, f"{name}.{method} before fit"):
                getattr(fresh(estimator), method)(X)


@check()
def check_repeated_fit(name: str, estimator: Any) -> None:
    """Check that repeated training on the same data gives the same result to the last bit."""
    X, y = sentences()
    once = fresh(estimator).fit(X, y)
    thrice = fresh(estimator).fit(X, y).fit(X, y).fit(X, y)
    assert_same_state(thrice, once, X, f"{name}: the third fit should equal the first")


@check()
def check_fit_forgets(name: str, estimator: Any) -> None:
    """Check that training on other data keeps nothing of the earlier data."""
    X, y = sentences()
    other = fresh(estimator).fit(*sentences(30, 3)).fit(X, y)
    expected = fresh(estimator).fit(X, y)
    assert_same_state(other, expected, X, f"{name}: fit should forget the data of an earlier fit")


@check("random_state", "state")
def check_random_state(name: str, estimator: Any) -> None:
    """Check that a seed, or a generator with it, gives the same result to the last bit."""
    X, y = sentences()
    seeded = fresh(estimator, random_state=7).fit(X, y)
    for source in (7, np.random.RandomState(7)):
        again = fresh(estimator).set_params(random_state=source).fit(X, y)
        assert_same_state(again, seeded, X, f"{name}: random_state={source} should reproduce")


@check("random_state")
def check_global_random_numbers_are_left_alone(name: str, estimator: Any) -> None:
    """Check that training with its own seed does not use NumPy's global generator."""
    X, y = sentences()
    before = pickle.dumps(np.random.get_state())
    fresh(estimator, random_state=3).fit(X, y)
    after = pickle.dumps(np.random.get_state())
    assert after == before, f"{name} with a random_state should not use the global generator"


@check("n_jobs")
def check_n_jobs(name: str, estimator: Any) -> None:
    """Check that the number of threads changes no bit of the result."""
    X, y = sentences(60, 3)
    one = fresh(estimator, n_jobs=1).fit(X, y)
    for n_jobs in (2, 3, None):
        other = fresh(estimator, n_jobs=n_jobs).fit(X, y)
        assert_same_state(other, one, X, f"{name}: n_jobs={n_jobs} should equal n_jobs=1")


@check()
def check_pickle_after_fit(name: str, estimator: Any) -> None:
    """Check that a trained estimator survives pickling with every protocol in use."""
    X, y = sentences(30, 3)
    fitted = fresh(estimator).fit(X, y)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(fitted, protocol))
        assert_same_state(again, fitted, X, f"{name}: pickle protocol {protocol}")


@check()
def check_deepcopy(name: str, estimator: Any) -> None:
    """Check that a deep copy gives the same after the original was trained on other data."""
    X, y = sentences()
    fitted = fresh(estimator).fit(X, y)
    expected = outputs(fitted, X)
    again = copy.deepcopy(fitted)
    fitted.fit(*sentences(30, 3))
    assert_same(outputs(again, X), expected, f"{name}: a deep copy should be independent")


@check()
def check_input_is_not_changed(name: str, estimator: Any) -> None:
    """Check that training and prediction change neither the labels nor the trees."""
    X, y = sentences()
    texts, labels = list(map(str, X)), y.copy()
    fitted = fresh(estimator).fit(texts, y)
    outputs(fitted, texts)
    fitted.fit(X, y)
    assert texts == list(map(str, X)), f"{name} should not change X"
    assert_same(y, labels, f"{name} should not change y")


@check()
def check_read_only_arrays(name: str, estimator: Any) -> None:
    """Check that read-only arrays, such as memory maps, are accepted."""
    X, y = sentences()
    expected = outputs(fresh(estimator).fit(X, y), X)
    texts = np.array(list(map(str, X)), dtype=object)
    texts.flags.writeable = y.flags.writeable = False
    actual = outputs(fresh(estimator).fit(texts, y), texts)
    assert_same(actual, expected, f"{name}: read-only arrays should give the same result")


@check("sample_weight")
def check_read_only_weights(name: str, estimator: Any) -> None:
    """Check that read-only or non-contiguous weights are accepted and not changed."""
    X, y = sentences()
    weights = np.linspace(0.5, 2, 2 * len(y))[::2]
    before = weights.copy()
    expected = outputs(fresh(estimator).fit(X, y, sample_weight=weights.tolist()), X)
    weights.flags.writeable = False
    actual = outputs(fresh(estimator).fit(X, y, sample_weight=weights), X)
    assert_same(actual, expected, f"{name}: read-only weights should give the same result")
    assert_same(weights, before, f"{name} should not change sample_weight")


@check("verbose")
def check_nothing_is_printed(name: str, estimator: Any) -> None:
    """Check that nothing is printed to standard output, nor to standard error if not verbose."""
    X, y = sentences()
    for verbose in (0, 1):
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            outputs(fresh(estimator, verbose=verbose).fit(X, y), X)
        printed = out.getvalue()
        assert not printed, f"{name}(verbose={verbose}) should not print, got {printed!r}"
        assert verbose or not err.getvalue(), f"{name}(verbose=0) should be silent"


@check()
def check_no_warnings(name: str, estimator: Any) -> None:
    """Check that training and prediction on ordinary data give no warnings."""
    for n_classes in (2, 3):
        X, y = sentences(40, n_classes)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            outputs(fresh(estimator).fit(X, y), X)
        assert not caught, f"{name} warns on ordinary data: {caught[0].message}"


class _Interrupt:
    """A progress bar that acts as if Ctrl-C were pressed, `after` a number of completed bars."""

    def __init__(self, after: int) -> None:
        self.left = after

    def __call__(self, *_: Any, **__: Any) -> "_Interrupt":
        self.left -= 1
        return self

    def __enter__(self) -> "_Interrupt":
        if self.left < 0:
            raise KeyboardInterrupt
        return self

    def __exit__(self, *_: object) -> None:
        pass

    n = total = 0

    def update(self, _: int) -> None:
        pass


@check("verbose")
def check_interrupted_fit(name: str, estimator: Any) -> None:
    """Check that Ctrl-C at the start of any stage leaves the estimator as it was.

    An estimator with `partial_fit` is a model after every example and may keep what it has learnt.
    """
    keeps = hasattr(estimator, "partial_fit")
    X, y = sentences()
    for after in range(4):
        new, used = fresh(estimator, verbose=1), fresh(estimator, verbose=1)
        with redirect_stderr(io.StringIO()):
            used.fit(X, y)
            expected = outputs(used, X)
            with mock.patch.object(progress, "open_bar", _Interrupt(after)):
                interrupted = _interrupted(new, X, y)
            with mock.patch.object(progress, "open_bar", _Interrupt(after)):
                interrupted = _interrupted(used, *sentences(30, 3)) and interrupted
            if not interrupted:  # there are no more stages
                return
            if keeps:
                outputs(used, X)
                with suppress(NotFittedError):
                    outputs(new, X)
                continue
            with expected_error(NotFittedError, f"{name} after an interrupted first fit"):
                outputs(new, X)
            assert_same(
                outputs(used, X), expected, f"{name}: an interrupted fit should change nothing"
            )


def _interrupted(estimator: Any, X: Any, y: Any) -> bool:
    try:
        estimator.fit(X, y)
    except KeyboardInterrupt:
        return True
    return False


@check("state", "labels")
def check_failed_fit(name: str, estimator: Any) -> None:
    """Check that an unfitted estimator stays unfitted if `fit` raises."""
    X, y = sentences()
    new = fresh(estimator)
    with expected_error(ValueError, f"{name}.fit with too few labels"):
        new.fit(X, y[:-1])
    with expected_error(NotFittedError, f"{name} after a fit that failed"):
        outputs(new, X)


@check("warm_start", "optimum")
def check_warm_start(name: str, estimator: Any) -> None:
    """Check that a warm start reaches the same solution, also on other data or classes."""
    X, y = sentences()
    expected = outputs(tight(estimator).fit(X, y), X)
    warm = tight(estimator, warm_start=True).fit(X, y)
    assert_close(outputs(warm, X), expected, f"{name}: the first fit should equal a cold one")
    assert_close(outputs(warm.fit(X, y), X), expected, f"{name}: a warm fit on the same data")
    for other in (sentences(40, 3), sentences(30, 3), (X[:10], y[:10]), (X, 1 - y)):
        cold = outputs(tight(estimator).fit(*other), X)
        assert_close(outputs(warm.fit(*other), X), cold, f"{name}: a warm fit on other data")


@check("partial_fit", "state")
def check_partial_fit(name: str, estimator: Any) -> None:
    """Check that `partial_fit` takes the classes at its first call and returns the estimator."""
    X, y = sentences(30, 3)
    new = fresh(estimator)
    first = new.partial_fit(X[:10], y[:10] % 2, classes=[0, 1, 2])
    assert first is new, f"{name}.partial_fit should return self"
    new.partial_fit(X[10:], y[10:])
    assert new.classes_.tolist() == [0, 1, 2], f"{name}.partial_fit should keep all classes"
    shape = outputs(new, X).shape
    assert shape[0] == len(y), f"{name}: expected an output for each tree, got shape {shape}"


@check("partial_fit", "state")
def check_partial_fit_needs_classes(name: str, estimator: Any) -> None:
    """Check that a first `partial_fit` without classes, or an unknown label later, raises."""
    X, y = sentences(30, 3)
    with expected_error(ValueError, f"{name}.partial_fit without classes"):
        fresh(estimator).partial_fit(X, y)
    begun = fresh(estimator).partial_fit(X[:10], y[:10] % 2, classes=[0, 1])
    with expected_error(ValueError, f"{name}.partial_fit with an unknown class"):
        begun.partial_fit(X, y)


@check("partial_fit", "state")
def check_fit_after_partial_fit(name: str, estimator: Any) -> None:
    """Check that `fit` after `partial_fit` starts from the beginning."""
    X, y = sentences()
    begun = fresh(estimator).partial_fit(X[::2], 1 - y[::2], classes=[0, 1]).fit(X, y)
    assert_same_state(begun, fresh(estimator).fit(X, y), X, f"{name}.fit after partial_fit")

"""How many threads n_jobs=None means, alone and within joblib's workers."""

import os
from typing import Any

import joblib
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV

from filbert.threads import n_threads

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


class ThreadCounter(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Its score is the number of threads that a learner would use where it is scored."""

    def __init__(self, unused: int = 0) -> None:
        self.unused = unused

    def fit(self, X: Any, y: Any) -> "ThreadCounter":
        """Note the classes."""
        self.classes_ = sorted(set(y))
        return self

    def score(self, X: Any, y: Any) -> float:
        """Return the number of threads."""
        return float(n_threads(None))


@pytest.fixture(autouse=True)
def no_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FILBERT_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)


def in_tasks(**options: Any) -> list[int]:
    """Return the threads of two tasks of joblib."""
    return joblib.Parallel(**options)(joblib.delayed(n_threads)(None) for _ in range(2))


def test_alone_it_is_all_cores() -> None:
    assert n_threads(None) == n_threads(-1) == CORES


def test_grid_search_with_as_many_workers_as_cores_leaves_one_thread_to_each() -> None:
    assert CORES is not None
    X = [[0]] * 8
    search = GridSearchCV(ThreadCounter(), {"unused": [0, 1]}, cv=2, n_jobs=max(2, CORES))
    assert set(search.fit(X, [0, 1] * 4).cv_results_["mean_test_score"]) == {1.0}


@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])
def test_workers_without_a_share_of_their_own_use_one_thread(backend: str) -> None:
    assert in_tasks(n_jobs=2, backend=backend) == [1, 1]


@pytest.mark.product
def test_the_limit_of_inner_threads_holds() -> None:
    most = min(2, CORES or 1)
    with joblib.parallel_config(backend="loky", inner_max_num_threads=2):
        assert in_tasks(n_jobs=2) == [most, most]


def test_one_job_is_no_parallel_context() -> None:
    assert in_tasks(n_jobs=1) == [CORES, CORES]


def test_a_context_says_how_many() -> None:
    with joblib.parallel_config(n_jobs=3):
        assert n_threads(None) == 3
    with joblib.parallel_config(backend="threading"):
        assert n_threads(None) == CORES


def test_what_is_asked_for_holds_everywhere() -> None:
    with joblib.parallel_config(n_jobs=3):
        assert n_threads(5) == 5
        assert n_threads(-1) == CORES


@pytest.mark.parametrize(("value", "expected"), [("1", 1), ("1,2", 1), ("0", CORES), ("x", CORES)])
def test_openmp_limit(monkeypatch: pytest.MonkeyPatch, value: str, expected: int) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert n_threads(None) == expected


def test_own_variable_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FILBERT_NUM_THREADS", "7")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert n_threads(None) == 7

"""Searches of scikit-learn on a Dask cluster, by joblib's backend for it."""

import os

import joblib
import numpy as np
import pytest
from distributed import Client
from sklearn.model_selection import GridSearchCV

from filbert import Forest, TreeSVC
from filbert.kernels import SubsetTree
from filbert.threads import n_threads

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def test_grid_search_on_a_forest(client: Client) -> None:
    X = Forest([f"(S (A a{i % 3}) (B b{i % 4}))" for i in range(24)])
    y = np.arange(24) % 3 == 0
    search = GridSearchCV(TreeSVC(SubsetTree(), C=1.0, loss="hinge"), {"C": [0.01, 1.0]}, cv=2)
    expected = search.fit(X, y).cv_results_["mean_test_score"].tolist()
    with joblib.parallel_config("dask"):
        search.fit(X, y)
    assert search.cv_results_["mean_test_score"].tolist() == expected
    assert search.predict(X).tolist() == y.tolist()


def test_the_cores_of_the_cluster_are_not_those_of_this_machine(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OMP_NUM_THREADS", "FILBERT_NUM_THREADS"):  # LocalClusters and users set them
        monkeypatch.delenv(name, raising=False)
    with joblib.parallel_config("dask"):
        assert n_threads(None) == CORES
        assert joblib.Parallel()(joblib.delayed(n_threads)(None) for _ in range(2)) == [1, 1]

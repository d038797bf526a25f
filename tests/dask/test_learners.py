"""Learners over parts on a Dask cluster, also when workers are killed."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from distributed import Client, LocalCluster
from sklearn.model_selection import GridSearchCV

from benchmarks import faults
from benchmarks.stamp import ROOT
from filbert import TreeSVC
from filbert.kernels import SubsetTree


def test_training_and_prediction_give_the_bytes_of_one_machine(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    corpus = faults.make_corpus(tmp_path, 60)
    clf = faults.fit(corpus)
    expected = faults.bytes_of_model(clf), faults.bytes_of_scores(clf, corpus)
    with Client(cluster):
        assert faults.bytes_of_fit(corpus) == expected[0]
        assert faults.bytes_of_scores(clf, corpus) == expected[1]


def test_grid_search_over_parts(cluster: LocalCluster, tmp_path: Path) -> None:
    corpus = faults.make_corpus(tmp_path, 30)
    search = GridSearchCV(
        TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge"), {"C": [0.01, 1.0]}, cv=2
    )
    expected = search.fit(corpus, corpus.labels()).cv_results_["mean_test_score"].tolist()
    with Client(cluster):
        search.fit(corpus, corpus.labels())
    assert search.cv_results_["mean_test_score"].tolist() == expected


@pytest.mark.product
@pytest.mark.parametrize("call", ["fit", "predict"])
def test_workers_that_are_killed_at_any_moment(
    cluster: LocalCluster, tmp_path: Path, call: str
) -> None:
    corpus = faults.make_corpus(tmp_path, 100)
    clf = faults.fit(corpus)
    scores = faults.bytes_of_scores(clf, corpus)
    calls = {
        "fit": (lambda: faults.bytes_of_fit(corpus), faults.bytes_of_model(clf)),
        "predict": (lambda: faults.bytes_of_scores(clf, corpus), scores),
    }
    with Client(cluster) as client:
        row = faults.kill_workers(client, *calls[call], 2, random.Random(0))
    assert (row["same_bytes"], row["hangs"]) == (2, 0)


@pytest.mark.product
def test_a_driver_that_is_killed() -> None:
    """In a process of its own, because it forks, which threads of a cluster do not survive."""
    program = [sys.executable, "-m", "benchmarks.faults", "--quick", "--only", "driver"]
    done = subprocess.run(program, stderr=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    row = json.loads(done.stderr.splitlines()[-1])
    assert row["kills"] == row["same_bytes"] == 3

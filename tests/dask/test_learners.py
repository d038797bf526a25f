"""Learners over parts on a Dask cluster, also when workers are killed."""

import json
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.model_selection import GridSearchCV

import filbert
from benchmarks import faults
from benchmarks.stamp import ROOT
from filbert import Forest, TreeIndex, TreeSVC
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


def test_search_gives_the_bytes_of_one_machine(cluster: LocalCluster, tmp_path: Path) -> None:
    corpus = faults.make_corpus(tmp_path, 60)
    queries = filbert.parts([corpus.pieces[0].load(), corpus.pieces[3].load()])
    index = TreeIndex(n_neighbors=4).fit(Forest.concat(rows.X for rows in corpus.each()))
    expected = faults.bytes_of_search(corpus), index.kneighbors(queries)
    with Client(cluster):
        assert faults.bytes_of_search(corpus) == expected[0]
        for one, other in zip(index.kneighbors(queries), expected[1], strict=True):
            np.testing.assert_array_equal(one, other)


def test_two_fits_at_once(cluster: LocalCluster, tmp_path: Path) -> None:
    corpora = []
    for i, size in enumerate((50, 60)):
        (tmp_path / str(i)).mkdir()
        corpora.append(faults.make_corpus(tmp_path / str(i), size))
    expected = [faults.bytes_of_fit(corpus) for corpus in corpora]
    assert expected[0] != expected[1]
    with Client(cluster), ThreadPoolExecutor(2) as threads:
        assert list(threads.map(faults.bytes_of_fit, corpora)) == expected


@pytest.mark.product
@pytest.mark.parametrize("call", ["fit", "predict", "search"])
def test_workers_that_are_killed_at_any_moment(
    cluster: LocalCluster, tmp_path: Path, call: str
) -> None:
    corpus = faults.make_corpus(tmp_path, 100)
    clf = faults.fit(corpus)
    calls = {
        "fit": lambda: faults.bytes_of_fit(corpus),
        "predict": lambda: faults.bytes_of_scores(clf, corpus),
        "search": lambda: faults.bytes_of_search(corpus),
    }
    expected = calls[call]()
    with Client(cluster) as client:
        row = faults.kill_workers(client, calls[call], expected, 2, random.Random(0))
    assert (row["same_bytes"], row["hangs"]) == (2, 0)


def quick_section(name: str) -> dict[str, Any]:
    """Run a section in a process of its own: it forks, or starts clusters."""
    program = [sys.executable, "-m", "benchmarks.faults", "--quick", "--only", name]
    done = subprocess.run(program, stderr=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    row: dict[str, Any] = json.loads(done.stderr.splitlines()[-1])
    return row


@pytest.mark.product
@pytest.mark.parametrize("section", ["driver", "dask_driver"])
def test_a_driver_that_is_killed(section: str) -> None:
    row = quick_section(section)
    assert row["kills"] == row["same_bytes"] == 3


@pytest.mark.slow
@pytest.mark.parametrize("section", ["scheduler", "silence"])
def test_schedulers_that_are_lost_at_any_moment(section: str) -> None:
    row = quick_section(section)
    assert row["kills"] == row["clear_errors"] == 3


@pytest.mark.slow
@pytest.mark.parametrize("section", ["fit", "predict", "search"])
def test_many_workers_that_are_killed(tmp_path: Path, section: str) -> None:
    [row] = faults.SECTIONS[section][0](tmp_path, faults.KILLS)
    assert (row["same_bytes"], row["hangs"]) == (faults.KILLS, 0)


@pytest.mark.slow
def test_many_drivers_of_a_cluster_that_are_killed(tmp_path: Path) -> None:
    [row] = faults.kill_dask_driver(tmp_path, faults.KILLS)
    assert row["same_bytes"] == faults.KILLS


@pytest.mark.slow
def test_many_fits_at_once(tmp_path: Path) -> None:
    [row] = faults.two_threads(tmp_path, 5)
    assert (row["same_bytes"], row["hangs"]) == (10, 0)

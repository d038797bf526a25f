"""`filbert train` with its tasks and losses, and predictions of their models."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import r2_score

from filbert import TreeLogisticRegression, TreeRanker, TreeSVR, load
from filbert.metrics import mean_reciprocal_rank, ndcg, pairwise_accuracy
from tests.cli.commands import Run, write

TREES = [f"(S (NP {a}) (VP {b}))" for a in "abcd" for b in "xyz"]
CLASSES = ["q" if "a" in tree or "b" in tree else "s" for tree in TREES]
NUMBERS = [0.5 * ("a" in tree) - 1.25 * ("x" in tree) for tree in TREES]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with classes, numbers and groups."""
    folder = tmp_path_factory.mktemp("tasks")
    write(folder / "classes.tsv", [f"{c}\t{t}" for c, t in zip(CLASSES, TREES, strict=True)])
    write(folder / "numbers.tsv", [f"{c}\t{t}" for c, t in zip(NUMBERS, TREES, strict=True)])
    rows = [f"{n}\t{t}\tg{i % 3}" for i, (n, t) in enumerate(zip(NUMBERS, TREES, strict=True))]
    write(folder / "groups.tsv", ["label\ttree\tlist", *rows])
    write(folder / "trees.mrg", TREES)
    return folder


def test_probabilities(run: Run, folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    assert run("train", folder / "classes.tsv", "-o", model, "--loss", "logistic").code == 0
    clf = load(model)
    assert isinstance(clf, TreeLogisticRegression)
    code, out, _ = run("predict", model, folder / "trees.mrg", "--proba")
    assert code == 0
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[0] for row in rows] == clf.predict(TREES).tolist()
    found = np.array([[float(p) for p in row[1:]] for row in rows])
    np.testing.assert_allclose(found, clf.predict_proba(TREES), rtol=1e-12)
    assert run("evaluate", model, folder / "classes.tsv").code == 0
    assert run("cv", folder / "classes.tsv", "--loss", "logistic", "--folds", "2").code == 0


def test_regression(run: Run, folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    command = ["train", folder / "numbers.tsv", "-o", model, "--task", "regress"]
    assert run(*command, "--epsilon", "0.01", "-C", "10").code == 0
    svr = load(model)
    assert isinstance(svr, TreeSVR)
    assert svr.epsilon == 0.01
    code, out, _ = run("predict", model, folder / "trees.mrg")
    assert code == 0
    np.testing.assert_allclose(list(map(float, out.split())), svr.predict(TREES), rtol=1e-12)
    first = json.loads(run("predict", model, folder / "trees.mrg", "--json").out.splitlines()[0])
    assert first["label"] == pytest.approx(svr.predict(TREES[:1])[0])
    assert run("fragments", model).code == 0
    for refused, told in (
        (["predict", model, folder / "trees.mrg", "--scores"], "predictions of this model are its"),
        (["predict", model, folder / "trees.mrg", "--proba"], "no probabilities"),
        (["evaluate", model, folder / "numbers.tsv", "--group", "x"], "--group has no meaning"),
        (["evaluate", model, folder / "classes.tsv"], "for sample 0 it is 'q'"),
    ):
        code, _, err = run(*refused)
        assert code != 0
        assert told in err


def test_measures_of_a_regression(run: Run, folder: Path, tmp_path: Path) -> None:
    model, data = tmp_path / "model", folder / "numbers.tsv"
    assert run("train", data, "-o", model, "--task", "regress", "-C", "10").code == 0
    predicted = load(model).predict(TREES)
    found = json.loads(run("evaluate", model, data, "--json").out)
    assert found == {
        "n_examples": len(TREES),
        "r2": pytest.approx(r2_score(NUMBERS, predicted)),
        "spearman": pytest.approx(spearmanr(NUMBERS, predicted).statistic),
        "mean_absolute_error": pytest.approx(np.abs(predicted - NUMBERS).mean()),
    }
    assert f"r2                   {found['r2']:.4g}" in run("evaluate", model, data).out
    write(folder / "same.tsv", [f"1\t{tree}" for tree in TREES])
    assert json.loads(run("evaluate", model, folder / "same.tsv", "--json").out)["r2"] is None


@pytest.mark.parametrize("task", ["regress", "rank"])
def test_labelled_data_are_explained(run: Run, folder: Path, tmp_path: Path, task: str) -> None:
    model, data = tmp_path / "model", folder / "numbers.tsv"
    assert run("train", data, "-o", model, "--task", task).code == 0
    code, out, err = run("explain", model, data)
    assert (code, out) == run("explain", model, folder / "trees.mrg")[:2]
    assert code == 0, err


def test_queries_are_groups(run: Run, tmp_path: Path) -> None:
    data, model = tmp_path / "queries.dat", tmp_path / "model"
    lines = [f"{i} qid:{i % 3} |BT| {tree} |ET|" for i, tree in enumerate(TREES)]
    write(data, lines)
    assert run("train", data, "-o", model, "--task", "rank").code == 0
    ranker = load(model)
    assert ranker.n_pairs_ == 3 * 6
    scores = ranker.predict(TREES)
    y, group = list(range(len(TREES))), [i % 3 for i in range(len(TREES))]
    found = json.loads(run("evaluate", model, data, "--json").out)
    assert found["n_groups"] == 3
    assert found["pairwise_accuracy"] == pytest.approx(pairwise_accuracy(y, scores, group))
    assert found["ndcg"] == pytest.approx(ndcg(y, scores, group))
    assert found["mean_reciprocal_rank"] == pytest.approx(mean_reciprocal_rank(y, scores, group))
    write(data, [f"-{line}" for line in lines])  # all targets are negative
    assert "ndcg                  not defined" in run("evaluate", model, data).out
    write(data, [*lines, f"1 |BT| {TREES[0]} |ET|"])
    code, _, err = run("train", data, "-o", model, "--task", "rank")
    assert code != 0
    assert "example 13 has no group, its qid is empty" in err
    write(data, [f"{i} |BT| {tree} |ET|" for i, tree in enumerate(TREES)])
    code, _, err = run("evaluate", model, data)
    assert code != 0
    assert "was trained with groups: name the column" in err


def test_ranking(run: Run, folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    command = ["train", folder / "groups.tsv", "-o", model, "--task", "rank"]
    code, _, err = run(*command, "--group", "no")
    assert code != 0
    assert "--group no: there is no such column; there are list" in err
    assert run(*command, "--group", "list", "--loss", "logistic").code == 0
    ranker = load(model)
    assert isinstance(ranker, TreeRanker)
    group = [i % 3 for i in range(len(TREES))]
    again = TreeRanker(ranker.kernel, loss="logistic", random_state=0)
    assert ranker.n_pairs_ == again.fit(TREES, NUMBERS, group=group).n_pairs_
    assert run("train", folder / "groups.tsv", "-o", model, "--task", "rank").code == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--task", "regress", "--loss", "hinge"], "the losses of --task regress are epsilon_in"),
        (["--loss", "epsilon_insensitive"], "the losses of --task classify are hinge, squared_h"),
        (["--epsilon", "0.1"], "--epsilon has no meaning for --task classify"),
        (["--task", "rank", "--no-intercept"], "--no-intercept has no meaning for --task rank"),
        (["--task", "rank", "--engine", "rows"], "--engine rows has no meaning for --task rank"),
        (["--task", "regress", "--group", "x"], "--group has no meaning for --task regress"),
        (["--task", "regress", "--class-weight", "balanced"], "--class-weight has no meaning"),
        (["--loss", "logistic", "--strategy", "sdag+"], "for --task classify with the hinge loss"),
        (
            ["--loss", "logistic", "--parts", "2"],
            "--parts and --checkpoint are for --task classify",
        ),
        (["--task", "regress"], "y must have numbers; for sample 0 it is 'q'"),
    ],
)
def test_wrong_options(
    run: Run, folder: Path, tmp_path: Path, options: list[str], told: str
) -> None:
    code, _, err = run("train", folder / "classes.tsv", "-o", tmp_path / "model", *options)
    assert code != 0
    assert told in err
    assert not (tmp_path / "model").exists()

"""Corpora of files and of Dask objects, and commands, on a cluster."""

import sys
from pathlib import Path
from typing import Any

import dask.bag
import numpy as np
import pytest
from distributed import Client, LocalCluster

import filbert
from filbert import DistributedTreeEmbedding, TreePerceptron
from filbert.cli import main
from filbert.errors import ParseError

ROWS = [
    ("q" if i % 2 else "s", f"(S (NP n{i % 2 if i % 5 else 2}) (VP v{i % 7}))") for i in range(60)
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "data.tsv"
    path.write_text("".join(f"{y}\t{x}\n" for y, x in ROWS), encoding="utf-8")
    return path


def test_results_are_those_of_this_machine(table: Path, cluster: LocalCluster) -> None:
    def results() -> list[Any]:
        corpus = filbert.parts(table, n_parts=3)
        lines = filbert.parts(dask.bag.read_text(str(table), blocksize=1000))
        vectors = DistributedTreeEmbedding(16).transform(lines)
        return [TreePerceptron().fit(corpus).decision_function(corpus[::-1]), vectors]

    here = results()
    with Client(cluster):
        there = results()
    for one, other in zip(here, there, strict=True):
        np.testing.assert_array_equal(one, other)


def test_errors_have_their_lines(tmp_path: Path, client: Client) -> None:
    path = tmp_path / "bad.tsv"
    path.write_text("x\t(a b)\n" * 50 + "no tab\n", encoding="utf-8")
    with pytest.raises(ParseError, match=r"bad\.tsv, line 51") as caught:
        filbert.parts(path, n_parts=4).labels()
    assert caught.value.line == 51


def test_commands(
    table: Path, cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*arguments: Any) -> None:
        monkeypatch.setattr(sys, "argv", ["filbert", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        assert stop.value.code == 0

    there = ("--scheduler", cluster.scheduler_address)
    run("train", table, "-o", tmp_path / "here", "--parts", 3)
    run("train", table, "-o", tmp_path / "there", "--parts", 3, *there)
    assert (tmp_path / "here").read_bytes() == (tmp_path / "there").read_bytes()
    run("predict", tmp_path / "here", table, "--parts", 3, "-o", tmp_path / "a")
    run("predict", tmp_path / "here", table, "--parts", 3, "-o", tmp_path / "b", *there)
    for file in sorted((tmp_path / "a").iterdir()):
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()
    with pytest.raises(ValueError, match="No clients"):
        Client.current()

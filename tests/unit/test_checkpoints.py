"""Training over parts that is interrupted goes on where it was, and gives the same model."""

import errno
import json
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from filbert import Examples, Forest, TreeSVC
from filbert.corpus import checkpoints
from filbert.corpus.parts import Parts
from filbert.corpus.pieces import Rows
from filbert.errors import CheckpointError, CheckpointWarning, InvalidParameterError
from filbert.kernels import PartialTree, SubsetTree
from filbert.persist import save
from tests.unit.test_certified_svm import data


class LostMachineError(Exception):
    """What happens in the middle of training."""


@dataclass
class Power:
    """Fails after so many parts were loaded."""

    left: int = 10**9
    used: int = 0


@dataclass(frozen=True)
class Piece:
    name: str
    rows: Rows
    power: Power = field(compare=False)
    later: None = None
    skips: bool = False

    @property
    def token(self) -> str:
        return self.name

    def load(self, content: Any = None, n_jobs: int | None = None) -> Rows:
        if self.power.left == 0:
            raise LostMachineError
        self.power.left -= 1
        self.power.used += 1
        return self.rows


def corpus(power: Power, tail: str = "") -> Parts:
    trees, y = data(120)
    X = Examples(tree=trees)  # a forest would be kept in memory, and not be loaded again
    y = (y == 1).astype(str)
    cuts = [0, 30, 60, 100, 120]
    pairs = enumerate(pairwise(cuts))
    return Parts([Piece(f"part {i}{tail}", Rows(X[a:b], y[a:b]), power) for i, (a, b) in pairs])


def trained(corpus: Parts, folder: Path | None, target: Path, **changes: Any) -> bytes:
    learner = TreeSVC(
        **{
            "loss": "hinge",
            "kernel": SubsetTree(),
            "random_state": 0,
            "tol": 1e-6,
            "C": 5.0,
            **changes,
        }
    )
    save(learner.fit(corpus, checkpoint=folder), target)
    return target.read_bytes()


def test_the_same_model_after_a_failure_at_any_part(tmp_path: Path) -> None:
    power = Power()
    wanted = trained(corpus(power), None, tmp_path / "m")
    n_loads = power.used
    assert n_loads >= 12  # two rounds or more
    for n in range(n_loads):
        folder = tmp_path / f"after {n}"
        with pytest.raises(LostMachineError):
            trained(corpus(Power(n)), folder, tmp_path / "m")
        rest = Power()
        assert trained(corpus(rest), folder, tmp_path / "m") == wanted
        assert rest.used == n_loads - n  # nothing is done twice


def test_finished_training_is_read_back(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    wanted = trained(corpus(Power()), folder, tmp_path / "m")
    assert trained(corpus(Power(0)), folder, tmp_path / "m") == wanted


def test_a_seed_that_nobody_chose_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    first = trained(corpus(Power()), folder, tmp_path / "m", random_state=None)
    assert trained(corpus(Power()), folder, tmp_path / "m", random_state=None) == first


@pytest.mark.parametrize(
    ("changes", "tail", "reason"),
    [
        ({"C": 2.0}, "", r"another value of C \(5.0 there, 2.0 here\)"),
        ({"kernel": PartialTree()}, "", "another value of kernel"),
        ({"random_state": 1}, "", "another random_state"),
        ({"class_weight": "balanced"}, "", "another value of class_weight"),
        ({}, " changed", "another value of parts"),
    ],
)
def test_checkpoints_of_other_work_are_refused(
    tmp_path: Path, changes: dict[str, Any], tail: str, reason: str
) -> None:
    folder = tmp_path / "kept"
    trained(corpus(Power()), folder, tmp_path / "m")
    with pytest.raises(CheckpointError, match=reason) as caught:
        trained(corpus(Power(), tail=tail), folder, tmp_path / "m", **changes)
    assert str(folder) in str(caught.value)


def test_labels_and_weights_belong_to_the_work(tmp_path: Path) -> None:
    y = np.array(["a", "b"] * 60)
    TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(
        corpus(Power()), y, checkpoint=tmp_path / "kept"
    )
    with pytest.raises(CheckpointError, match="another value of y"):
        TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(
            corpus(Power()), y[::-1], checkpoint=tmp_path / "kept"
        )


def test_folders_that_are_no_checkpoints(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(CheckpointError, match=r"it has other files, such as thesis\.tex"):
        trained(corpus(Power()), tmp_path, tmp_path / "m")
    with pytest.raises(CheckpointError, match="cannot be used"):
        trained(corpus(Power()), tmp_path / "thesis.tex", tmp_path / "m")
    folder = tmp_path / "damaged"
    folder.mkdir()
    (folder / "checkpoint.json").write_text("[1, ")
    with pytest.raises(CheckpointError, match=r"checkpoint\.json is damaged"):
        trained(corpus(Power()), folder, tmp_path / "m")


def test_functions_cannot_be_described() -> None:
    learner = TreeSVC(lambda X, Y: np.ones((len(X), len(Y))), engine="rows", C=1.0, loss="hinge")
    with pytest.raises(InvalidParameterError, match="whether the function"):
        learner.fit(corpus(Power()), checkpoint="nowhere")


@pytest.mark.parametrize("content", [b"", b"PK", None], ids=["empty", "not a zip", "cut short"])
def test_damaged_results_are_computed_again(tmp_path: Path, content: bytes | None) -> None:
    folder = tmp_path / "kept"
    wanted = trained(corpus(Power()), folder, tmp_path / "m")
    one = folder / "first-2.result"
    one.write_bytes(one.read_bytes()[:-100] if content is None else content)
    power = Power()
    with pytest.warns(CheckpointWarning, match=r"first-2\.result is computed again"):
        assert trained(corpus(power), folder, tmp_path / "m") == wanted
    assert power.used == 1


def test_files_cut_short_by_a_kill_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    wanted = trained(corpus(Power()), folder, tmp_path / "m")
    (folder / ".0123456789abcdef.part").write_bytes(b"PK")
    assert trained(corpus(Power(0)), folder, tmp_path / "m") == wanted
    assert not list(folder.glob(".*"))


def test_a_full_disk_does_not_end_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = trained(corpus(Power()), None, tmp_path / "m")
    calls = []

    def write(result: Any, *to: Any) -> None:
        calls.append(result)
        if len(calls) > 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(result, *to)

    real = checkpoints.write_result
    monkeypatch.setattr(checkpoints, "write_result", write)
    folder = tmp_path / "kept"
    with pytest.warns(CheckpointWarning, match="No space left on device") as caught:
        assert trained(corpus(Power()), folder, tmp_path / "m") == wanted
    assert len(caught) == 1
    assert len(list(folder.glob("*.result"))) == 3
    monkeypatch.undo()
    assert trained(corpus(Power()), folder, tmp_path / "m") == wanted


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    trained(corpus(Power()), folder, tmp_path / "m")
    seed = json.loads((folder / "checkpoint.json").read_text())["seed"]
    description = json.loads((folder / "checkpoint.json").read_text())
    description.pop("seed")
    first = checkpoints.Checkpoint(folder, description, seed, keeps_seed=False)
    with pytest.raises(CheckpointError, match="another process or thread is using it"):
        checkpoints.Checkpoint(folder, description, seed, keeps_seed=False)
    first.close()
    checkpoints.Checkpoint(folder, description, seed, keeps_seed=False).close()


def test_trees_of_results_keep_their_numbers() -> None:
    """A forest that is stored and read has the same nodes, so scores are the same to the bit."""
    forest = Forest(["(a (b c))", "(a (b c) d)"])
    again = Forest.from_arrays(forest.to_arrays())
    assert (again._roots == forest._roots).all()

"""Work on the parts of a corpus on this machine: how often parts are loaded."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from filbert import Examples, Forest
from filbert.corpus import local
from filbert.corpus.local import LocalRunner
from filbert.corpus.pieces import Rows
from filbert.corpus.tasks import Work

TREES = Forest(["(a b)", "(a (c b))", "(a b)"])
LABELS = np.array(["x", "y", "x"])


@dataclass
class Piece:
    X: Any
    name: str = "a part"
    token: str = "token"
    later: None = None
    skips: bool = False
    loads: list[str] = field(default_factory=list)

    def load(self, content: Any = None, n_jobs: int | None = None) -> Rows:
        self.loads.append(self.name)
        return Rows(self.X, LABELS)


def same(rows: Rows) -> Rows:
    return rows


def passes(runner: LocalRunner, piece: Piece) -> list[Rows]:
    return [rows for _ in range(3) for rows in runner.map(Work("", same), [piece], [()])]


def test_trees_are_loaded_once_for_several_passes() -> None:
    piece = Piece(TREES)
    for rows in passes(LocalRunner(several_passes=True), piece):
        assert rows.X == TREES
        assert rows.y is not None
        assert (rows.y == LABELS).all()
    assert len(piece.loads) == 1


def test_one_pass_keeps_nothing() -> None:
    piece = Piece(TREES)
    passes(LocalRunner(), piece)
    assert len(piece.loads) == 3


def test_only_trees_are_kept() -> None:
    piece = Piece(Examples(tree=TREES, vector=np.ones((3, 2))))
    passes(LocalRunner(several_passes=True), piece)
    assert len(piece.loads) == 3


def test_parts_that_do_not_fit_are_loaded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "ROOM", 10)
    piece = Piece(TREES)
    passes(LocalRunner(several_passes=True), piece)
    assert len(piece.loads) == 3

"""Training in one piece that is interrupted resumes to the same model, to the last bit."""

import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.fault_sections.subjects import bytes_of, data
from filbert import Examples, TreePerceptron, TreeSVC
from filbert.corpus.checkpoints import Checkpoint
from filbert.engine import plan
from filbert.engine.rows import row_trainer
from filbert.errors import CheckpointError, CheckpointWarning, InvalidParameterError
from filbert.kernels import Linear, LocalPatterns, PartialTree, SubsetTree, Subtree
from filbert.learners import fit_checkpoints, pauses, perceptron_visits
from filbert.learners.stored_rows import StoredRows

IS_TIME = fit_checkpoints.Pace.is_time

X, Y = data(80)
FEW_ROWS = 80 * 8 * 25  # bytes: room for some of the rows

Y3 = np.where(np.arange(80) % 5 == 0, 2, Y)  # three classes


class PowerCutError(Exception):
    """What happens in the middle of training."""


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Store a state as often as possible."""
    monkeypatch.setattr(fit_checkpoints.Pace, "is_time", lambda self: True)
    monkeypatch.setattr(pauses, "_FIRST", 1)
    monkeypatch.setattr(perceptron_visits, "_FIRST", 33)


LEARNERS: dict[str, Callable[[], Any]] = {
    "factors": lambda: TreeSVC(tol=1e-8, random_state=0),
    "joint steps": lambda: TreeSVC(C=1e4, tol=1e-9, random_state=0, max_iter=3000),
    "pruned factors": lambda: TreeSVC(
        PartialTree(), engine="factors", kernel_tol=0.05, tol=1e-4, random_state=0
    ),
    "sum": lambda: TreeSVC(SubsetTree() + Subtree(), tol=1e-8, random_state=0),
    "rows": lambda: TreeSVC(PartialTree(), engine="rows", tol=1e-6, random_state=0),
    "rows that give way": lambda: TreeSVC(
        PartialTree(), engine="rows", C=0.1, tol=0.01, max_memory=FEW_ROWS, random_state=0
    ),
    "rows of chains": lambda: TreeSVC(SubsetTree(), engine="rows", loss="hinge", random_state=0),
    "rows of a sum": lambda: TreeSVC(SubsetTree() + Subtree(), engine="rows", random_state=0),
    "rows of a product": lambda: TreeSVC(
        SubsetTree() * Subtree(), engine="rows", tol=1e-6, random_state=0
    ),
    "rows by themselves": lambda: TreeSVC(PartialTree(), tol=1e-6, random_state=0),
    "usvm": lambda: TreeSVC(strategy="usvm", sample_size=20, max_iter=15, random_state=0),
    "sdag": lambda: TreeSVC(strategy="sdag", sample_size=20, max_iter=15, random_state=0),
    "sdag+": lambda: TreeSVC(strategy="sdag+", sample_size=20, max_iter=70, random_state=0),
    "any kernel": lambda: TreeSVC(
        SubsetTree() * Subtree(), strategy="usvm", sample_size=20, max_iter=5, random_state=0
    ),
    "perceptron on factors": lambda: TreePerceptron(n_epochs=5, shuffle=True, random_state=0),
    "perceptron": lambda: TreePerceptron(engine="online", n_epochs=2, fit_intercept=True),
    "perceptron that forgets": lambda: TreePerceptron(max_nodes=60, n_epochs=2),
}


def interrupted(
    monkeypatch: pytest.MonkeyPatch, learner: Any, y: Any, folder: Path, n: int, step: str = ""
) -> bool:
    """Train until the nth state of a step is stored. Return whether there were so many."""
    store, left = Checkpoint.store, [n]

    def and_fail(self: Checkpoint, its: str, state: Any) -> bool:
        stored = store(self, its, state)
        left[0] -= its.startswith(step)
        if left[0] == 0:
            raise PowerCutError
        return stored

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "store", and_fail)
        try:
            learner.fit(X, y, checkpoint=folder)
        except PowerCutError:
            return True
    return False


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("y", [Y, Y3], ids=["two classes", "three"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_training_resumes_to_the_same_bytes(
    name: str, y: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = LEARNERS[name]().fit(X, y)
    expected = bytes_of(whole)
    n = 1
    while interrupted(monkeypatch, LEARNERS[name](), y, tmp_path / str(n), n):
        resumed = LEARNERS[name]()
        # Twice more, so that a resumed training is interrupted too.
        interrupted(monkeypatch, resumed, y, tmp_path / str(n), 1)
        resumed.fit(X, y, checkpoint=tmp_path / str(n))
        assert bytes_of(resumed) == expected
        if isinstance(whole, TreeSVC):
            assert resumed.n_iter_ == whole.n_iter_
            assert resumed.delta_calls_ == whole.delta_calls_
            for ours, theirs in zip(resumed.convergence_, whole.convergence_, strict=True):
                assert ours.steps.tolist() == theirs.steps.tolist()
                assert ours.gap.tolist() == theirs.gap.tolist()
        n = 4 * n
    assert n > 1


def test_rows_are_not_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainers: list[Any] = []

    def recorded(*args: Any, **options: Any) -> Any:
        trainers.append(row_trainer(*args, **options))
        return trainers[-1]

    monkeypatch.setattr(plan, "row_trainer", recorded)
    trees, y = data(700, depth=4)
    monkeypatch.setattr(sys.modules[__name__], "X", trees)
    options = {"engine": "rows", "loss": "hinge", "C": 0.1, "random_state": 0}
    whole = TreeSVC(PartialTree(), **options).fit(trees, y)
    n_all, n_states = trainers[0].n_rows_computed, 0
    while n_states == 0 or trainers[-2].n_rows_computed < n_all:
        n_states += 1
        learner, folder = TreeSVC(PartialTree(), **options), tmp_path / str(n_states)
        assert interrupted(monkeypatch, learner, y, folder, n_states, "solver")
        resumed = learner.fit(trees, y, checkpoint=folder)
        assert bytes_of(resumed) == bytes_of(whole)
        before, after = trainers[-2:]
        assert after.n_rows_computed == n_all - before.n_rows_computed
        assert after.n_rows == n_all
    assert n_states > 1


def test_a_lost_file_of_rows_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = LEARNERS["rows that give way"]()
    expected = bytes_of(learner.fit(X, Y))
    for i, change in enumerate((Path.unlink, lambda path: path.write_bytes(b"no"))):
        folder = tmp_path / str(i)
        assert interrupted(monkeypatch, learner, Y, folder, 30)
        change(max(folder.glob("rows-*.result")))
        with pytest.warns(CheckpointWarning, match="again"):
            assert bytes_of(learner.fit(X, Y, checkpoint=folder)) == expected


def test_files_of_rows_that_gave_way_are_removed(tmp_path: Path) -> None:
    LEARNERS["rows that give way"]().fit(X, Y, checkpoint=tmp_path)
    versions = {path.name.split("-")[1] for path in tmp_path.glob("rows-*.result")}
    assert len(versions) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("order", np.zeros(80, np.uint32)),
        ("order", np.arange(9, dtype=np.uint32)),
        ("last_used", np.zeros(3, np.uint64)),
        ("values", np.zeros((1, 3))),
        ("n_rows", 7),
        ("sizes", np.array([3, 3, 3])),
    ],
)
def test_a_crafted_state_of_rows_is_not_taken(
    name: str, value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = LEARNERS["rows"]()
    expected = bytes_of(learner.fit(X, Y))
    store = StoredRows.store
    with monkeypatch.context() as patch:
        patch.setattr(StoredRows, "store", lambda self: replace(store(self), **{name: value}))
        assert interrupted(patch, learner, Y, tmp_path, 3)
    with pytest.warns(CheckpointWarning, match="begins again"):
        assert bytes_of(learner.fit(X, Y, checkpoint=tmp_path)) == expected


def test_the_pace_follows_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(fit_checkpoints.Pace, "is_time", IS_TIME)
    monkeypatch.setattr(fit_checkpoints.time, "monotonic", lambda: now[0])
    pace = fit_checkpoints.Pace(8)

    def looked(seconds: float) -> tuple[bool, int]:
        now[0] += seconds
        return pace.is_time(), pace.size

    assert looked(1) == (False, 16)
    assert looked(10) == (False, 16)
    assert looked(20) == (True, 16)
    pace.stored()
    assert looked(40) == (True, 8)  # the piece took longer than it should
    now[0] += 10
    pace.stored()  # which took 10 seconds, and does not count as work
    assert looked(10) == (False, 8)
    assert looked(140) == (False, 8)  # never less than at the beginning
    assert looked(60)[0]


def test_a_random_seed_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert interrupted(monkeypatch, TreeSVC(tol=1e-8), Y, tmp_path / "a", 2)
    first, second = (TreeSVC(tol=1e-8).fit(X, Y, checkpoint=tmp_path / "a") for _ in range(2))
    assert bytes_of(first) == bytes_of(second)


PATTERNS = LocalPatterns(decay=0.7, leaves=3)  # the default kernel, but not that of planes


@pytest.mark.parametrize(
    ("learner", "X", "y", "told"),
    [
        (TreeSVC(C=2.0, random_state=0), X, Y, "another value of C"),
        (TreeSVC(Subtree(), random_state=0), X, Y, "another value of kernel"),
        (TreeSVC(random_state=1), X, Y, "another random_state"),
        (TreeSVC(random_state=0), X, 1 - Y, "another value of y"),
        (TreeSVC(random_state=0), X[::-1], Y, "another value of examples"),
        (TreeSVC(PATTERNS, random_state=0, strategy="usvm"), X, Y, "another value of strategy"),
        (TreePerceptron(random_state=0), X, Y, "another value of"),
    ],
)
def test_a_checkpoint_of_another_training_is_refused(
    learner: Any, X: Any, y: Any, told: str, tmp_path: Path
) -> None:
    TreeSVC(random_state=0).fit(X if len(X) == 0 else data(80)[0], Y, checkpoint=tmp_path)
    with pytest.raises(CheckpointError, match=told):
        learner.fit(X, y, checkpoint=tmp_path)


def test_threads_and_verbosity_may_change(tmp_path: Path) -> None:
    TreeSVC(random_state=0, n_jobs=1).fit(X, Y, checkpoint=tmp_path)
    TreeSVC(random_state=0, n_jobs=2).fit(X, Y, checkpoint=tmp_path)


def test_a_damaged_state_is_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = LEARNERS["sum"]()
    expected = bytes_of(learner.fit(X, Y))
    assert interrupted(monkeypatch, learner, Y, tmp_path / "a", 3)
    [path] = (tmp_path / "a").glob("*.result")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.warns(CheckpointWarning, match="is computed again"):
        assert bytes_of(learner.fit(X, Y, checkpoint=tmp_path / "a")) == expected


@pytest.mark.parametrize("name", ["sum", "sdag+", "perceptron that forgets"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_state_of_another_training_is_not_taken(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody put it into the folder, beside the description of this training."""
    learner = LEARNERS[name]()
    expected = bytes_of(learner.fit(X, Y))
    for folder, y in (("a", Y), ("b", 1 - Y)):
        assert interrupted(monkeypatch, learner, y, tmp_path / folder, 2)
    for path in (tmp_path / "b").glob("*.result"):
        (tmp_path / "a" / path.name).write_bytes(path.read_bytes())
    with pytest.warns(CheckpointWarning, match="the result of another training"):
        assert bytes_of(learner.fit(X, Y, checkpoint=tmp_path / "a")) == expected


def test_examples_with_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = Examples(tree=X, size=np.arange(80.0)[:, None] / 80)
    kernel = SubsetTree().on("tree") + Linear(normalize=False).on("size")
    for engine in ("factors", "online"):
        learner = TreePerceptron(kernel, engine=engine)
        expected = bytes_of(learner.fit(both, Y))
        folder = tmp_path / engine
        store = Checkpoint.store

        def and_fail(self: Checkpoint, step: str, state: Any, store: Any = store) -> None:
            store(self, step, state)
            raise PowerCutError

        with monkeypatch.context() as patch:
            patch.setattr(Checkpoint, "store", and_fail)
            with pytest.raises(PowerCutError):
                learner.fit(both, Y, checkpoint=folder)
        assert bytes_of(learner.fit(both, Y, checkpoint=folder)) == expected


@pytest.mark.parametrize(
    ("learner", "told"),
    [
        (TreeSVC(lambda a, b: np.eye(len(a), len(b)), engine="rows"), "cannot tell whether"),
        (TreeSVC(warm_start=True), "warm_start=False"),
    ],
)
def test_what_has_no_checkpoint_says_so(learner: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError, match=told):
        learner.fit(X, Y, checkpoint=tmp_path)


def test_a_full_disk_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = LEARNERS["factors"]()
    expected = bytes_of(learner.fit(X, Y))

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("filbert.corpus.checkpoints.write_result", fail)
    with pytest.warns(CheckpointWarning, match="No space left on device"):
        learner.fit(X, Y, checkpoint=tmp_path)
    assert bytes_of(learner) == expected
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        learner.fit(X, Y, checkpoint=tmp_path)
    assert len(told) == 1  # and not one for each state

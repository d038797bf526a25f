"""Training in one piece that is interrupted resumes to the same model, to the last bit."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.fault_sections.subjects import bytes_of, data
from filbert import Examples, TreePerceptron, TreeSVC
from filbert.corpus.checkpoints import Checkpoint
from filbert.errors import CheckpointError, CheckpointWarning, InvalidParameterError
from filbert.kernels import Linear, LocalPatterns, PartialTree, SubsetTree, Subtree
from filbert.learners import fit_checkpoints, pauses, perceptron_visits

IS_TIME = fit_checkpoints.Pace.is_time

X, Y = data(80)
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
    monkeypatch: pytest.MonkeyPatch, learner: Any, y: Any, folder: Path, n: int
) -> bool:
    """Train until the nth state is stored. Return whether there were so many."""
    store, left = Checkpoint.store, [n]

    def and_fail(self: Checkpoint, step: str, state: Any) -> None:
        store(self, step, state)
        left[0] -= 1
        if left[0] == 0:
            raise PowerCutError

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


def test_the_pace_follows_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(fit_checkpoints.Pace, "is_time", IS_TIME)
    monkeypatch.setattr(fit_checkpoints.time, "monotonic", lambda: now[0])
    pace = fit_checkpoints.Pace(8)
    for seconds, is_time, size in [(1, False, 16), (10, False, 16), (20, True, 16), (40, True, 8)]:
        now[0] += seconds
        assert pace.is_time() == is_time
        assert pace.size == size


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

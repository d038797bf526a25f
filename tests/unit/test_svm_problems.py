"""Problems and solutions of the core's trainers: names, shapes and checks."""

from typing import Any

import numpy as np
import pytest

from filbert import Forest, TreeSVC, _core
from filbert.errors import InvalidParameterError
from filbert.kernels import SubsetTree
from tests.reference.losses import TARGETS

TREES = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (C a) (B b))", "(S (C c) (B c))"]
SIGNS = np.array([[1, 1, -1, -1], [1, -1, -1, -1]], dtype=np.int8)
LOSSES = _core.loss_names()


def problems(**changes: Any) -> _core.SvmProblems:
    given: dict[str, Any] = {
        "y": SIGNS,
        "C": np.array([1.0, 2.0, 1.0, 0.0]),
        "loss": "hinge",
        "intercept": True,
        "tol": 1e-6,
        "seeds": np.arange(2, dtype=np.uint64),
        "max_sweeps": 1000,
    }
    return _core.SvmProblems(**(given | changes))


def trainers() -> list[Any]:
    X = Forest(TREES)
    spec = SubsetTree()._spec()
    tree = _core.KernelOperator(spec, X._dag, X._roots, True, 1.0, 2**30, np.inf, False, 0, 1, None)
    return [
        _core.SumFactors(4, [(tree, np.ones(4))]),
        _core.RowTrainer(spec, X._dag, X._roots, True, 2**20, 1, None),
        _core.GramTrainer(SubsetTree()(X), 2**20),
    ]


@pytest.mark.parametrize("loss", LOSSES)
def test_all_trainers_solve_the_same_problems(loss: str) -> None:
    objectives = []
    signs, targets = SIGNS, None
    if loss not in TARGETS:
        signs, targets = np.ones_like(SIGNS), np.arange(8.0).reshape(2, 4)
    own: dict[str, Any] = {"loss": loss, "y": signs, "targets": targets, "epsilon": 0.1}
    for trainer in trainers():
        solved = trainer.train(problems(**own), 1, None)
        assert solved.alpha.shape == (2, 4)
        assert (solved.alpha[:, 3] == 0).all()  # its cost is 0
        for values in (solved.intercept, solved.primal, solved.dual, solved.gap, solved.n_sweeps):
            assert values.shape == (2,)
        np.testing.assert_allclose(solved.intercept, (solved.alpha * signs).sum(axis=1))
        assert (solved.gap <= 1e-6).all()
        for k, (sweeps, primal, gap) in enumerate(solved.looks):
            assert sweeps[0] == 0
            assert (sweeps[-1], primal[-1], gap[-1]) == (
                solved.n_sweeps[k],
                solved.primal[k],
                solved.gap[k],
            )
        objectives.append(solved.primal)
        again = trainer.train(problems(**own, tol=2e-6, start=solved.alpha), 1, None)
        assert (again.n_sweeps == 0).all()
    np.testing.assert_allclose(objectives, objectives[:1] * 3, rtol=1e-5)


def test_an_unknown_loss() -> None:
    known = ", ".join(f"'{name}'" for name in LOSSES)
    with pytest.raises(ValueError, match=f"no loss 'square'; the losses are {known}"):
        problems(loss="square")
    with pytest.raises(InvalidParameterError) as error:
        TreeSVC(SubsetTree(), loss="square", C=1.0).fit(TREES, [0, 0, 1, 1])
    assert "'hinge' or 'squared_hinge', got 'square'" in str(error.value)


@pytest.mark.parametrize("loss", [name for name in LOSSES if name not in TARGETS])
def test_regression_needs_targets(loss: str) -> None:
    for trainer in trainers():
        with pytest.raises(ValueError, match="this loss needs a target for each example"):
            trainer.train(problems(loss=loss), 1, None)
    with pytest.raises(ValueError, match="targets and y differ in shape"):
        problems(loss=loss, targets=np.zeros((1, 4)))


@pytest.mark.parametrize(
    "changes",
    [
        {"C": np.ones(3)},
        {"seeds": np.arange(3, dtype=np.uint64)},
        {"y": SIGNS[:1].copy()},
    ],
)
def test_arrays_that_do_not_fit(changes: dict[str, Any]) -> None:
    with pytest.raises(
        ValueError, match="y, C, targets, start, places and seeds do not fit the trees"
    ):
        problems(**changes)


@pytest.mark.parametrize("shape", [(2, 3), (1, 4), (4, 2), (0, 4)])
def test_a_start_that_does_not_fit(shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="start and y differ in shape"):
        problems(start=np.zeros(shape))


def test_problems_of_other_examples() -> None:
    of_three = problems(y=SIGNS[:, :3].copy(), C=np.ones(3))
    for trainer in trainers():
        with pytest.raises(
            ValueError, match="y, C, targets, start, places and seeds do not fit the trees"
        ):
            trainer.train(of_three, 1, None)

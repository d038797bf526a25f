"""What cutting planes refuse: parameters, examples, kernels; and that nothing is half fitted."""

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from filbert import TreeSVC
from filbert.errors import InvalidParameterError, KernelOverflowError, TooExpensiveError
from filbert.kernels import PartialTree, SubsetTree, TreeKernel
from tests.unit.test_cutting_planes import STRATEGIES, Strategy, data


def assert_unfitted(model: TreeSVC) -> None:
    assert not [name for name in vars(model) if name.endswith("_")]
    with pytest.raises(NotFittedError):
        model.predict(["(S a)"])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sample_size": 0}, "sample_size must be a positive integer, got 0"),
        ({"sample_size": -3}, "sample_size must be a positive integer, got -3"),
        ({"sample_size": 2.5}, "sample_size must be a positive integer, got 2.5"),
        ({"sample_size": True}, "sample_size must be a positive integer, got True"),
        ({"strategy": "exact", "sample_size": 10}, "'exact' takes no samples.*'sdag"),
        ({"strategy": "SDAG"}, r"must be 'exact', 'usvm', 'sdag' or 'sdag\+', got 'SDAG'"),
        ({"strategy": None}, "strategy must be .* got None"),
        ({"loss": "squared_hinge"}, "loss='squared_hinge' is for strategy 'exact'; 'sdag' allows"),
        ({"engine": "rows"}, "engine='rows' is for strategy 'exact'.* Use strategy='exact'"),
        ({"warm_start": True}, "warm_start=True is for strategy 'exact'"),
        ({"tol": 0}, r"tol must be in \(0, 1\), got 0"),
        ({"max_iter": 0}, "max_iter must be a positive integer, got 0"),
        ({"C": 0}, "C must be positive and finite, got 0"),
        ({"kernel": SubsetTree}, "SubsetTree'> is a class. Call it to get one"),
        ({"kernel": SubsetTree, "strategy": "usvm"}, "is a class. Call it to get one"),
        ({"kernel": SubsetTree(3.0)}, r"decay must be in \(0, 1\], got 3.0"),
        ({"kernel": max}, r"'sdag' needs .* sum over tree nodes.* Use strategy='usvm', which"),
        ({"kernel": max, "strategy": "exact"}, "'exact' needs a kernel .* Use strategy='usvm'"),
        ({"kernel": "stk", "strategy": "usvm"}, r"or a function kernel\(X, Y\), got 'stk'"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    model = TreeSVC(
        **{"C": 1.0, "loss": "hinge", "kernel": SubsetTree(), "strategy": "sdag", **parameters}
    )
    with pytest.raises(InvalidParameterError, match=message):
        model.fit(*data())
    assert_unfitted(model)


class OwnKernel(TreeKernel):
    """One that the core does not know."""

    def __init__(self, normalize: bool = True) -> None:
        self.normalize = normalize


@pytest.mark.parametrize(
    ("strategy", "hint"),
    [("exact", "Use strategy='usvm', which takes any function"), ("usvm", "Wrap it in a function")],
)
def test_a_tree_kernel_that_is_not_ours(strategy: Any, hint: str) -> None:
    with pytest.raises(InvalidParameterError, match=hint):
        TreeSVC(OwnKernel(), strategy=strategy, C=1.0).fit(*data())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_bad_examples(strategy: Strategy) -> None:
    X, y = data()
    model = TreeSVC(SubsetTree(), strategy=strategy, C=1.0)
    bad: list[tuple[Any, Any, Any, str]] = [
        ([], [], None, "there are no examples"),
        (X, y[:-1], None, "80 examples, but y has 79 labels"),
        (X, np.zeros(80), None, "needs at least two classes"),
        (X, y, -np.ones(80), "sample_weight must be finite and not negative"),
        (X, y, np.full(80, np.nan), "sample_weight must be finite"),
        (X, y, np.ones(79), "one number for each of 80 examples"),
        (X, y, np.zeros(80), "all weights are zero"),
    ]
    for trees, labels, weights, message in bad:
        with pytest.raises(InvalidParameterError, match=message):
            model.fit(trees, labels, sample_weight=weights)
    model.set_params(class_weight={0: -1.0})
    with pytest.raises(InvalidParameterError, match="class_weight must be finite"):
        model.fit(X, y)
    assert_unfitted(model)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_norms_beyond_range(strategy: Strategy) -> None:
    """1,100 pre-terminals at decay 1: Delta is 2^1100."""
    star = f"(S {' '.join(f'(A x{i})' for i in range(1100))})"
    model = TreeSVC(SubsetTree(1.0), strategy=strategy, C=1.0)
    with pytest.raises(KernelOverflowError, match=r"norm of tree 1 .* use strategy='exact'"):
        model.fit(["(S a)", star, "(S b)"], [0, 1, 0])
    assert_unfitted(model)
    assert model.set_params(strategy="exact").fit(["(S a)", star], [0, 1]).predict([star]) == [1]
    tiny = TreeSVC(PartialTree(1e-160, 1e-160), strategy=strategy, C=1.0)
    with pytest.raises(KernelOverflowError, match=r"norm of tree 0 .* use strategy='exact'"):
        tiny.fit(["(S a)", "(T b)"], [0, 1])


def test_kernels_times_c_beyond_range() -> None:
    star = f"(S {' '.join(f'(A x{i})' for i in range(970))})"  # the kernel with itself: 2^970
    model = TreeSVC(SubsetTree(1.0, normalize=False), C=1e10, strategy="sdag+")
    with pytest.raises(KernelOverflowError, match=r"times C .* or a smaller C"):
        model.fit(["(S a)", star, "(S b)"], [0, 1, 0])
    assert_unfitted(model)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_wide_nodes(strategy: Strategy) -> None:
    wide = f"(S {' '.join(f'w{i % 5}' for i in range(3000))})"
    model = TreeSVC(PartialTree(max_steps=1e6), strategy=strategy, C=1.0)
    with pytest.raises(TooExpensiveError, match=r"'S' with 3000 and 3000 .*max_subsequence=1"):
        model.fit([wide, wide.replace("w1", "v")], [0, 1])
    assert_unfitted(model)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_failed_fit_leaves_what_was_there(strategy: Strategy) -> None:
    X, y = data()
    model = TreeSVC(SubsetTree(), strategy=strategy, random_state=0, C=1.0).fit(X, y)
    before = {name: value for name, value in vars(model).items() if name.endswith("_")}
    with pytest.raises(InvalidParameterError):
        model.fit(X, np.zeros(80))
    assert {name: value for name, value in vars(model).items() if name.endswith("_")} == before

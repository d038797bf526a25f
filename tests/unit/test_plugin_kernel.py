"""New kernels take one class: learners read what it declares, and ask for no type."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest

from filbert import Examples, Forest, TreePerceptron, TreeSVC, _core, explain, save
from filbert.errors import InvalidParameterError
from filbert.fragments import mine
from filbert.kernels import ApproximateTree, Kernel, Linear, PartialTree, SubsetTree, TreeKernel
from filbert.kernels.capabilities import Capabilities
from tests.reference.trees import write
from tests.strategies import random_trees

X = Forest(map(write, random_trees(1, 60, 12)))
NEW = Forest(map(write, random_trees(2, 30, 12)))
Y = np.arange(60) % 2


class Paths(TreeKernel):
    """A tree kernel of the core with parameters of its own: fragments are paths downwards."""

    capabilities = Capabilities(
        "trees", in_core=True, factors="uncertain", match="label", leaves=True
    )

    def __init__(
        self, depth_decay: float = 0.5, *, normalize: bool = True, part: str | None = None
    ) -> None:
        self.depth_decay = depth_decay
        self.normalize = normalize
        self.part = part

    def _spec(self) -> _core.KernelSpec:
        self._check_decay("depth_decay")
        return _core.KernelSpec(
            "partial_tree",
            decay=1.0,
            depth_decay=float(self.depth_decay),
            penalty="gaps",
            max_subsequence=1,
            max_steps=float("inf"),
        )


SAME = PartialTree(1.0, 0.5, penalty="gaps", max_subsequence=1, max_steps=None)


class UnfactorisedPaths(Paths):
    """The same without factors, as a kernel may be that only has rows."""

    capabilities = replace(Paths.capabilities, factors="none")


class Depths(Kernel):
    """A kernel of which nothing but the matrix is known: trees of the same depth are alike."""

    def __init__(self, width: float = 1.0) -> None:
        self.width = width

    def __call__(
        self, X: Any, Y: Any = None, *, n_jobs: int | None = None, verbose: int = 0
    ) -> Any:
        a = np.array([tree.depth for tree in X], dtype=float)
        b = a if Y is None else np.array([tree.depth for tree in Y], dtype=float)
        return np.exp(-np.abs(a[:, None] - b) / self.width)

    def diag(self, X: Any, *, n_jobs: int | None = None) -> Any:
        return np.ones(len(X))

    def on(self, part: str) -> Self:
        return self


@pytest.mark.parametrize(
    "options",
    [{}, {"engine": "factors"}, {"engine": "rows"}, {"strategy": "sdag+", "tol": 0.01}],
    ids=str,
)
def test_a_tree_kernel_learns_as_if_it_were_ours(options: dict[str, Any]) -> None:
    own = TreeSVC(Paths(), random_state=0, **options).fit(X, Y)
    ours = TreeSVC(SAME, random_state=0, **options).fit(X, Y)
    assert own.engine_ == ours.engine_
    assert own.decision_function(NEW).tobytes() == ours.decision_function(NEW).tobytes()
    expected = ours.model_.contributions(NEW)
    assert own.model_.contributions(NEW).value.tobytes() == expected.value.tobytes()


def test_a_tree_kernel_is_used_wherever_ours_are() -> None:
    scores = [
        TreePerceptron(k, random_state=0).fit(X, Y).decision_function(NEW) for k in (Paths(), SAME)
    ]
    assert scores[0].tobytes() == scores[1].tobytes()
    svm = TreeSVC(Paths(), random_state=0).fit(X, Y)
    ours = TreeSVC(SAME, random_state=0).fit(X, Y)
    assert mine(svm).fragments.texts() == mine(ours).fragments.texts()
    assert [e.scores for e in explain(svm, NEW[:3]).examples] == [
        e.scores for e in explain(ours, NEW[:3]).examples
    ]
    sums = [
        TreeSVC(kernel.on("tree") + Linear().on("features"), random_state=0)
        .fit(Examples(tree=X, features=np.eye(60)), Y)
        .dual_coef_
        for kernel in (Paths(), SAME)
    ]
    assert sums[0].tobytes() == sums[1].tobytes()
    labels = [X[0].label, X[1].label]
    assert ApproximateTree(SAME, labels)(X).any()
    assert (
        ApproximateTree(Paths(), labels)(X).tobytes() == ApproximateTree(SAME, labels)(X).tobytes()
    )


def test_a_tree_kernel_without_factors_goes_by_rows() -> None:
    svm = TreeSVC(UnfactorisedPaths(), random_state=0).fit(X, Y)
    assert (svm.engine_, svm.engine_reason_) == ("rows", "the kernel has no factors")
    ours = TreeSVC(SAME, engine="rows", random_state=0).fit(X, Y)
    assert svm.decision_function(NEW).tobytes() == ours.decision_function(NEW).tobytes()
    sums = svm.model_.contributions(NEW).sums()[:, 0] + svm.intercept_
    np.testing.assert_allclose(sums, svm.decision_function(NEW), rtol=1e-9, atol=1e-12)
    with pytest.raises(InvalidParameterError, match="has no factors"):
        TreeSVC(UnfactorisedPaths(), engine="factors").fit(X, Y)


@pytest.mark.parametrize("kernel", [Depths(), 0.5 * Depths() + SubsetTree()], ids=repr)
def test_a_kernel_that_is_only_a_matrix(kernel: Kernel) -> None:
    svm = TreeSVC(kernel, engine="rows", C=1.0, loss="hinge", tol=1e-6, random_state=0).fit(X, Y)
    expected = kernel(NEW, X[svm.support_]) @ svm.dual_coef_[0] + svm.intercept_[0]
    np.testing.assert_allclose(svm.decision_function(NEW), expected, rtol=1e-9, atol=1e-12)
    planes = TreeSVC(kernel, strategy="usvm", C=1.0, tol=1e-4, max_iter=2000, random_state=0).fit(
        X, Y
    )
    assert planes.objective_ == pytest.approx(svm.objective_, rel=1e-2)
    with pytest.raises(InvalidParameterError, match=r"Depths\(.*\) has no factors.*engine='rows'"):
        TreeSVC(kernel).fit(X, Y)


def test_what_is_not_ours_is_not_saved(tmp_path: Path) -> None:
    svm = TreeSVC(Paths(), random_state=0).fit(X, Y)
    with pytest.raises(InvalidParameterError, match="type Paths cannot be saved"):
        save(svm, tmp_path / "model")

"""KernelMatrix: precomputed kernels at the end of pipelines on trees."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import KernelPCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from filbert import Examples, KernelMatrix, TreeFeatures, load, save
from filbert.errors import InvalidParameterError
from filbert.kernels import RBF, SubsetTree
from filbert.testing.tools import sentences

X, Y = sentences(40, 2, noise=False)


def test_rows_are_kernels_with_the_training_trees() -> None:
    matrix = KernelMatrix(SubsetTree(0.3))
    assert_array_equal(matrix.fit_transform(X[:30]), SubsetTree(0.3)(X[:30], X[:30]))
    assert_array_equal(matrix.transform(X[25:]), SubsetTree(0.3)(X[25:], X[:30]))
    assert matrix.get_feature_names_out()[:2].tolist() == ["kernelmatrix0", "kernelmatrix1"]


def test_any_kernel_is_allowed() -> None:
    examples = Examples(tree=X, size=np.arange(40.0)[:, None])
    kernel = SubsetTree().on("tree") * RBF(0.1).on("size")
    matrix = KernelMatrix(kernel).fit(examples[:9])
    assert_array_equal(matrix.transform(examples), kernel(examples, examples[:9]))


def test_the_decay_can_be_searched() -> None:
    pipeline = make_pipeline(KernelMatrix(), KernelRidge(kernel="precomputed", alpha=0.1))
    grid = {"kernelmatrix__kernel__decay": [0.1, 0.4]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, Y)
    assert search.best_params_["kernelmatrix__kernel__decay"] in (0.1, 0.4)
    assert search.score(X, Y) > 0.9


def test_other_learners_on_precomputed_kernels() -> None:
    projected = make_pipeline(KernelMatrix(), KernelPCA(2, kernel="precomputed")).fit_transform(X)
    assert projected.shape == (40, 2)
    neighbours = make_pipeline(KernelMatrix(), KNeighborsClassifier(3)).fit(X, Y)
    assert neighbours.score(X, Y) == 1.0


def test_distances_in_the_feature_space() -> None:
    kernel = SubsetTree(0.3, normalize=False)
    distances = KernelMatrix(kernel, distances=True).fit(X[:20]).transform(X)
    rows = TreeFeatures(kernel).fit_transform(X).toarray()
    expected = np.linalg.norm(rows[:, np.newaxis] - rows[np.newaxis, :20], axis=2)
    assert_allclose(distances, expected, atol=1e-6)
    nearest = KNeighborsClassifier(1, metric="precomputed")
    pipeline = make_pipeline(KernelMatrix(distances=True), nearest).fit(X[:20], Y[:20])
    assert pipeline.score(X[20:], Y[20:]) == 1.0


def test_files(tmp_path: Path) -> None:
    matrix = KernelMatrix(SubsetTree(0.3), distances=True).fit(X[:10])
    save(matrix, tmp_path / "a")
    again = load(tmp_path / "a")
    assert again.transform(X).tobytes() == matrix.transform(X).tobytes()
    save(again, tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == (tmp_path / "a").read_bytes()


def test_bad_input() -> None:
    with pytest.raises(InvalidParameterError, match="must be a kernel of filbert"):
        KernelMatrix(kernel=len).fit(X)
    with pytest.raises(InvalidParameterError, match="distances must be True or False"):
        KernelMatrix(distances=2).fit(X)
    with pytest.raises(InvalidParameterError, match="no examples"):
        KernelMatrix().fit([])

"""The feature space as a sparse matrix: its products are the kernel, by brute force."""

import pickle
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from benchmarks.datasets import DATASETS
from filbert import Examples, Forest, TreeFeatures, load, save
from filbert.engine.feature_space import FeatureSpace, Limits
from filbert.errors import (
    InvalidParameterError,
    ModelFileError,
    NoFragmentsWarning,
    OutOfMemoryError,
    WorkLimitError,
)
from filbert.fragments import Fragments
from filbert.kernels import (
    RBF,
    AllPairs,
    Kernel,
    Linear,
    PartialTree,
    Polynomial,
    Preference,
    SubsetTree,
    Subtree,
)
from filbert.testing.tools import sentences
from tests.kernel_expressions import as_examples, parts
from tests.profiles import n_examples
from tests.reference.expressions import evaluate
from tests.reference.matrix import reference_matrix
from tests.reference.trees import write
from tests.strategies import DISJOINT, forests, random_trees, tree_kernels
from tests.unit.test_save_pipelines import change

pytestmark = pytest.mark.filterwarnings("ignore::filbert.errors.NoFragmentsWarning")
DECAYS = st.sampled_from([0.1, 0.4, 1.0])
ON_PARTS: list[Kernel] = [
    SubsetTree().on("text") + 0.5 * Subtree(normalize=False).on("hypothesis") + 2.0,
    (PartialTree(normalize=False).on("text") + Linear().on("dense")).normalized(),
    Polynomial(2, coef0=1.0).on("sparse") + Polynomial(3, coef0=0.0, normalize=False).on("dense"),
    AllPairs(SubsetTree(), ("text", "hypothesis"), (1.0, 0.5)),
    Preference(PartialTree(), ("text", "hypothesis")) + Linear(normalize=False).on("sparse"),
]


def products(a: Any, b: Any) -> Any:
    assert isinstance(a, sp.csr_array)
    assert a.dtype == np.float64
    return (a @ b.T).toarray()


def assert_kernel(actual: Any, expected: Any) -> None:
    assert_allclose(actual, expected, rtol=1e-10, atol=1e-10 * max(1.0, np.abs(expected).max()))


# ---------------------------------------------------------------- against brute force


@n_examples(60)
@given(forests(max_size=6, max_nodes=10), st.data())
def test_products_are_the_kernel(trees: list[Any], data: st.DataObject) -> None:
    kernel = data.draw(tree_kernels(DECAYS, 3))
    n = data.draw(st.integers(1, len(trees)))
    known = trees[:n] + data.draw(st.lists(st.sampled_from(trees[:n]), max_size=2))
    new = [*trees[n:], *known]
    features = TreeFeatures(kernel, n_jobs=1)
    A = features.fit_transform(list(map(write, known)))
    assert_kernel(products(A, A), reference_matrix(kernel, known, known))
    B = features.transform(list(map(write, new)))
    assert_kernel(products(B, A), reference_matrix(kernel, new, known))
    if not isinstance(kernel, PartialTree):  # training trees have the features of training
        known_again = B[len(trees) - n :].toarray()
        assert_allclose(known_again, A.toarray(), atol=1e-9 * max(1.0, abs(A).max()))


def test_columns_that_are_multiples_keep_their_own_features() -> None:
    """Joint factors may have values where those of training are counts, which tell them apart."""
    tree, other = "(a (a (b (a (a a)))))", "(a b b b b a a a)"
    features = TreeFeatures(SubsetTree(0.1, include_leaves=True, normalize=False))
    A = features.fit_transform([tree, tree, other]).toarray()
    known = features.transform([tree, "(a)", tree, other]).toarray()
    assert_allclose(known[[0, 2, 3]], A, atol=1e-12)


@n_examples(30)
@given(parts(), st.sampled_from(ON_PARTS), st.data())
def test_sums_over_parts(examples: Any, kernel: Kernel, data: st.DataObject) -> None:
    n = len(examples["text"])
    first = data.draw(st.integers(1, n))
    known = {name: part[:first] for name, part in examples.items()}
    features = TreeFeatures(kernel, n_jobs=1)
    A = features.fit_transform(as_examples(known))
    assert_kernel(products(A, A), evaluate(kernel, known, known))
    B = features.transform(as_examples(examples))
    assert_kernel(products(B, A), evaluate(kernel, examples, known))
    assert A.shape[1] == B.shape[1] == features.n_features_ == len(features.get_feature_names_out())


@n_examples(20)
@given(forests(min_size=2, max_size=6), tree_kernels(DECAYS, 3))
def test_without_private_columns_only_the_diagonal_differs(trees: list[Any], kernel: Any) -> None:
    features = TreeFeatures(kernel, private=False, n_jobs=1)
    A = features.fit_transform(list(map(write, trees)))
    expected = reference_matrix(kernel, trees, trees)
    actual = products(A, A)
    assert (np.diag(actual) <= np.diag(expected) * (1 + 1e-12)).all()
    np.fill_diagonal(actual, 0.0)
    np.fill_diagonal(expected, 0.0)
    assert_kernel(actual, expected)
    shared = TreeFeatures(kernel, n_jobs=1).fit_transform(list(map(write, trees)))
    assert (shared[:, : A.shape[1]] != A).nnz == 0


@n_examples(15)
@given(forests(min_size=4, max_size=8, max_nodes=20), st.sampled_from([1e-3, 0.05, 0.5]))
def test_pruned_features_keep_their_bounds(trees: list[Any], kernel_tol: float) -> None:
    kernel = PartialTree(0.6, 0.6)
    X, Y = list(map(write, trees[::2])), list(map(write, trees))
    features = TreeFeatures(kernel, kernel_tol=kernel_tol, n_jobs=1)
    A = features.fit_transform(X)
    error = np.abs(products(A, A) - kernel(X))
    assert error.max() <= features.kernel_error_ + 1e-12
    assert features.kernel_error_ <= kernel_tol + 1e-12
    B, errors = features.transform_with_errors(Y)
    assert (np.abs(products(B, A) - kernel(Y, X)).max(axis=1) <= errors + 1e-12).all()


def test_large_values() -> None:
    """Kernels beyond the range of doubles are in range after normalisation."""
    deep = ["(a" * 1 + " (b c)" * 600 + ")", "(a" + " (b c)" * 599 + " (b d))", "(a (b c))"]
    kernel = SubsetTree(1.0)
    features = TreeFeatures(kernel, n_jobs=1)
    A = features.fit_transform(deep[::2])
    assert_kernel(products(A, A), kernel(deep[::2]))
    assert_kernel(products(features.transform(deep), A), kernel(deep, deep[::2]))


# ---------------------------------------------------------------- particular trees


def test_a_fragment_of_one_training_tree_is_in_its_private_column() -> None:
    kernel = SubsetTree(0.5, normalize=False)
    features = TreeFeatures(kernel)
    A = features.fit_transform(["(S (A x) (B y))", "(S (A x) (C z))"])
    B = features.transform(["(Q (B y))", "(Q (C z))", "(Q r)"])
    private = features.space_.n_shared
    assert B.indices.tolist() == [private, private + 1]  # and nothing for the last tree
    assert_kernel(products(B, A), [[0.5, 0.0], [0.0, 0.5], [0.0, 0.0]])


def test_a_part_of_a_class_has_a_smaller_entry() -> None:
    features = TreeFeatures(SubsetTree(1.0, normalize=False))
    A = features.fit_transform(["(S (A x) (B y))"] * 2)  # one class of 6 fragments
    assert A.shape == (2, 1 + 2)
    assert_allclose(A.toarray()[:, 0], np.sqrt(6))
    B = features.transform(["(A x)", "(S (A x) (B z))"])
    assert_allclose(B.toarray()[:, 0], np.array([1, 3]) / np.sqrt(6))


def test_columns_with_very_different_entries() -> None:
    """A wide node has more than 10^8 times as many fragments of some columns as other trees."""
    wide = " ".join(f"c{i}" for i in range(60))
    texts = [f"(a {wide})", "(a c0 c2 c4 c7 c11 c16 c22 c29 c37 c46 c59)", "(a c0 c2 c1 c4 c59)"]
    kernel = PartialTree()
    features = TreeFeatures(kernel, n_jobs=1)
    A = features.fit_transform(texts)
    assert_kernel(products(A, A), kernel(texts))
    new = ["(a c1 c4 c59 c2)", "(a c2 c4 c46)"]
    assert_kernel(products(features.transform(new), A), kernel(new, texts))


def test_trees_without_fragments() -> None:
    features = TreeFeatures()
    with pytest.warns(NoFragmentsWarning):
        A = features.fit_transform(["(a)", "(b)"])
    assert A.shape == (2, 2)
    assert A.nnz == 0
    assert features.transform(["(a b)", "(a)"]).nnz == 0
    assert features.transform([]).shape == (0, 2)


@pytest.mark.parametrize("kernel", [SubsetTree(), PartialTree()], ids=["subset", "partial"])
def test_threads_and_the_order_of_nodes_do_not_matter(kernel: Kernel) -> None:
    texts = [write(tree) for tree in random_trees(1, 300)]
    apart = Forest(texts[200::-1])[::-1]
    results = []
    for X, n_jobs in ((texts[:201], 1), (apart, 3)):
        features = TreeFeatures(kernel, n_jobs=n_jobs)
        A = features.fit_transform(X)
        results.append([A, features.transform(texts[100:])])
    for one, other in zip(*results, strict=True):
        for name in ("data", "indices", "indptr"):
            assert getattr(one, name).tobytes() == getattr(other, name).tobytes()


# ---------------------------------------------------------------- names


@n_examples(20)
@given(st.integers(0, 10**6), st.sampled_from([SubsetTree(0.4), Subtree(0.4)]))
def test_examples_of_columns_are_in_the_trees_of_the_column(seed: int, kernel: Any) -> None:
    texts = [write(tree) for tree in random_trees(seed, 6, alphabet=DISJOINT)]
    features = TreeFeatures(kernel, n_jobs=1)
    A = features.fit_transform(texts).toarray()
    for column in range(0, features.n_features_, 3):
        if not A[:, column].any():
            continue
        counts = Fragments(kernel, Forest([features.example_fragment(column)])).count(texts)
        ratio = A[:, column] * np.sqrt(kernel.with_params(normalize=False).diag(texts))
        assert_allclose(counts.toarray()[:, 0] * ratio.max(), ratio * counts.max(), atol=1e-9)


def test_the_largest_fragment_is_the_name() -> None:
    texts = ["(S (NP (D a) (N cat)) (VP ran))", "(S (NP (D a) (N dog)) (VP ran))", "(S (NP x))"]
    features = TreeFeatures().fit(texts)
    names = features.get_feature_names_out()
    shared = features.space_.n_shared
    assert names[:shared].tolist() == ["(S (NP (D a) (N …)) (VP ran))"]
    assert names[shared:].tolist() == [f"only {text}" for text in texts]
    assert str(features.example_fragment(0)) == "(S (NP (D a) N) (VP ran))"
    assert str(features.example_fragment(shared + 2)) == texts[2]


def test_names_of_partial_trees_and_of_parts() -> None:
    X = Examples(tree=["(a b c d)", "(a b d e)", "(x y)"], bow=[[1.0, 2.0], [1.0, 0.0], [0.0, 1.0]])
    features = TreeFeatures(PartialTree().on("tree") + Linear().on("bow")).fit(X)
    names = features.get_feature_names_out().tolist()
    assert "tree: (a b d)" in names
    assert "bow[0]" in names
    assert names[-1] == "only (x y)"
    with pytest.raises(InvalidParameterError, match="is of vectors"):
        features.example_fragment(names.index("bow[0]"))
    with pytest.raises(InvalidParameterError, match="from 0 to"):
        features.example_fragment(len(names))


# ---------------------------------------------------------------- as an estimator


def test_files_and_copies_give_the_same_bits(tmp_path: Path) -> None:
    X, _ = sentences(30, 2)
    bow = sp.csr_array(np.random.default_rng(0).integers(0, 3, (30, 4)).astype(float))
    examples = Examples(tree=X, bow=bow)
    kernel = SubsetTree().on("tree") + PartialTree().on("tree") + Polynomial(2).on("bow")
    features = TreeFeatures(kernel, private=False).fit(examples[:20])
    save(features, tmp_path / "a")
    copies = [load(tmp_path / "a"), pickle.loads(pickle.dumps(features))]
    expected = features.transform(examples)
    for copy in copies:
        again = copy.transform(examples)
        assert again.data.tobytes() == expected.data.tobytes()
        assert again.indices.tobytes() == expected.indices.tobytes()
        assert copy.n_features_ == features.n_features_
        assert clone(copy).get_params() == clone(copy).get_params()
    save(copies[0], tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == (tmp_path / "a").read_bytes()


@pytest.mark.parametrize("name", ["0.columns", "0.begin", "0.mass", "0.scale_of_term"])
def test_damaged_files_are_refused(name: str, tmp_path: Path) -> None:
    save(TreeFeatures().fit(sentences(10)[0]), tmp_path / "a")

    def damage(header: Any, arrays: Any) -> None:
        arrays[name] = arrays[name] + 1000 if name == "0.columns" else arrays[name][:-1]

    change(tmp_path / "a", damage)
    with pytest.raises(ModelFileError):
        load(tmp_path / "a")


def test_pipelines_and_tables() -> None:
    X, y = sentences(40, 2, noise=False)
    pipeline = make_pipeline(TreeFeatures(), LogisticRegression()).fit(X, y)
    assert pipeline.score(X, y) == 1.0
    table = pd.DataFrame({"tree": list(map(str, X))})
    A = TreeFeatures(SubsetTree().on("tree")).fit_transform(table)
    assert (TreeFeatures().fit_transform(X) != A).nnz == 0


@pytest.mark.parametrize(
    ("told", "parameters"),
    [
        ("kernel must be a kernel", {"kernel": "subset"}),
        ("RBF.* has no factors.*KernelMatrix", {"kernel": SubsetTree().on("a") + RBF().on("b")}),
        ("private must be True or False", {"private": 2}),
        ("kernel_tol must be in", {"kernel_tol": 1.0}),
        ("max_memory must be a positive integer", {"max_memory": 0}),
    ],
)
def test_bad_parameters(told: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError, match=told):
        TreeFeatures(**parameters).fit(["(a b)"])


def test_limits() -> None:
    texts = [write(tree) for tree in random_trees(3, 100)]
    with pytest.raises(OutOfMemoryError, match="raise max_memory"):
        TreeFeatures(max_memory=10_000).fit_transform(texts)
    rng = Random(0)
    wide = ["(r" + "".join(f" (n {rng.choice('ab')})" for _ in range(400)) + ")" for _ in range(20)]
    with pytest.raises(WorkLimitError, match="use KernelMatrix"):
        FeatureSpace.of(SubsetTree(), Forest(wide), Limits(max_work=1e7))


@pytest.mark.shared
@pytest.mark.parametrize("name", DATASETS)
@pytest.mark.parametrize("kernel", [SubsetTree, Subtree, PartialTree])
def test_samples_of_real_data(name: str, kernel: type[Kernel], shared_dir: Path) -> None:
    all_texts = DATASETS[name](shared_dir / "data")
    texts = list(islice((text for text in all_texts if len(text) < 1000), 60))
    features = TreeFeatures(kernel(), n_jobs=1)
    A = features.fit_transform(texts[:30])
    assert_kernel(products(A, A), kernel()(texts[:30]))
    assert_kernel(products(features.transform(texts), A), kernel()(texts, texts[:30]))

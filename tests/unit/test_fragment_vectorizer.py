"""FragmentVectorizer: the space of Eq. 5, LIN, OPT, and mining without a model."""

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from filbert import FragmentVectorizer, TreePerceptron, TreeSVC, load, save
from filbert.errors import FilbertError, InputTypeError, InvalidParameterError
from filbert.fragments import recurring_fragments
from filbert.kernels import Linear, PartialTree, SubsetTree, Subtree, TreeKernel
from tests.fragments import forest_of, models, nodes_of
from tests.profiles import n_examples
from tests.reference.mining import Model, Search, chi_square, normed_features, roots
from tests.reference.trees import Node, write
from tests.strategies import DISJOINT, random_trees

EVERYTHING: dict[str, Any] = {"max_ratio": 1e13, "min_frequency": 1, "search": "complete"}
KERNELS = [
    SubsetTree(),
    SubsetTree(0.3, include_leaves=True, normalize=False),
    Subtree(0.7),
    PartialTree(0.6, 0.5),
    PartialTree(0.5, 0.5, penalty="gaps", max_subsequence=2, normalize=False),
]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)

TREES = random_trees(21, 60, 7, DISJOINT)
FOREST = forest_of(TREES)
OTHERS = random_trees(22, 40, 7)  # with labels that the first have not


def labels(trees: list[Node], n_classes: int = 2) -> NDArray[np.str_]:
    """Something to learn, with some noise."""
    rng = Random(0)
    names = [str((len(write(tree)) + rng.randint(0, 1)) % n_classes) for tree in trees]
    return np.array(names)


# ---------------------------------------------------------------- the space


@each_kernel
def test_the_space_of_equation_5(kernel: TreeKernel) -> None:
    y = labels(TREES)
    vectorizer = FragmentVectorizer(
        TreeSVC(kernel, random_state=0, C=1.0, loss="hinge"), **EVERYTHING
    )
    X = vectorizer.fit_transform(FOREST, y)
    assert sp.issparse(X)
    assert X.format == "csr"
    wanted = nodes_of(vectorizer.fragments_)
    for trees, rows in ((TREES, X), (OTHERS, vectorizer.transform(forest_of(OTHERS)))):
        found = [normed_features(kernel, tree) for tree in trees]
        values = [[features.get(f, 0.0) for f in wanted] for features in found]
        np.testing.assert_allclose(rows.toarray(), values, rtol=1e-10, atol=1e-14)


@each_kernel
@pytest.mark.parametrize("n_classes", [2, 3])
def test_lin_is_the_model_where_all_fragments_are_kept(kernel: TreeKernel, n_classes: int) -> None:
    """On the trees it was trained on, and on others, whose other fragments weigh nothing."""
    y = labels(TREES, n_classes)
    clf = TreeSVC(kernel, random_state=0, C=1.0, loss="hinge").fit(FOREST, y)
    vectorizer = FragmentVectorizer(clf, **EVERYTHING).fit(FOREST, y)
    assert vectorizer.coef_.shape[0] == len(vectorizer.intercept_) == len(clf.intercept_)
    for trees in (TREES, OTHERS):
        forest = forest_of(trees)
        scores = vectorizer.transform(forest) @ vectorizer.coef_.T + vectorizer.intercept_
        wanted = clf.decision_function(forest).reshape(len(trees), -1)
        np.testing.assert_allclose(scores, wanted, rtol=1e-9, atol=1e-9)


def test_each_class_has_weights_for_its_own_fragments_only() -> None:
    y = labels(TREES, 3)
    clf = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(FOREST, y)
    vectorizer = FragmentVectorizer(clf, max_ratio=4).fit(FOREST, y)
    names = list(vectorizer.get_feature_names_out())
    assert len(set(names)) == len(names)
    assert set(names) == {str(f) for mined in vectorizer.mined_ for f in mined.fragments}
    for weights, mined in zip(vectorizer.coef_, vectorizer.mined_, strict=True):
        own = dict(zip(map(str, mined.fragments), mined.weight.tolist(), strict=True))
        assert {names[i]: weights[i] for i in weights.nonzero()[0]} == own


@given(models(max_size=5))
@n_examples(20)
def test_mined_without_a_model_is_by_frequency(model: Model) -> None:
    """All coefficients are 1: the relevance is the weighted number of occurrences."""
    ones = Model(model.kernel, model.trees, [1.0] * len(model.trees))
    vectorizer = FragmentVectorizer(kernel=model.kernel, max_ratio=7.3, min_frequency=2)
    X = forest_of(model.trees)
    wanted = Search(ones, "gradient", 7.3, 2)
    if wanted.margin() > 1e-8:
        assert set(nodes_of(vectorizer.fit(X).fragments_)) == wanted.greedy()


def test_mined_without_a_model_by_chi2_against_y() -> None:
    y = labels(TREES)
    vectorizer = FragmentVectorizer(
        kernel=SubsetTree(), criterion="chi2", max_ratio=1e13, min_frequency=1, search="complete"
    ).fit(FOREST, y)
    mined = vectorizer.mined_[0]
    n, positive = len(y), y == "1"
    found = [roots(SubsetTree(), tree).keys() for tree in TREES]
    for fragment, relevance in zip(nodes_of(mined.fragments), mined.relevance, strict=True):
        has = np.array([fragment in keys for keys in found])
        value = chi_square(n, int(positive.sum()), int(has.sum()), int((has & positive).sum()))
        assert relevance == pytest.approx(value, rel=1e-12)


def test_plain_counts() -> None:
    y = labels(TREES)
    vectorizer = FragmentVectorizer(
        TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge"), weighted=False
    ).fit(FOREST, y)
    counts = vectorizer.transform(FOREST)
    wanted = vectorizer.fragments_.count(FOREST)
    np.testing.assert_array_equal(counts.toarray(), wanted.toarray())


# ---------------------------------------------------------------- with scikit-learn


def test_opt_is_a_pipeline() -> None:
    y = labels(TREES)
    pipeline = make_pipeline(
        FragmentVectorizer(
            TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge"),
            n_fragments=30,
            min_frequency=1,
        ),
        LinearSVC(random_state=0),
    )
    assert pipeline.fit(FOREST, y).score(FOREST, y) > 0.6
    names = pipeline[:-1].get_feature_names_out()
    assert len(names) == len(set(names)) == 30
    grid = GridSearchCV(pipeline, {"fragmentvectorizer__n_fragments": [5, 30]}, cv=2)
    assert set(grid.fit(FOREST, y).predict(FOREST)) <= set(y)


def test_a_fitted_estimator_stays_as_it_is() -> None:
    y = labels(TREES)
    clf = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(FOREST, y)
    coef = clf.dual_coef_.copy()
    vectorizer = FragmentVectorizer(clf).fit(FOREST[:5])
    np.testing.assert_array_equal(clf.dual_coef_, coef)
    assert vectorizer.mined_[0].norm == pytest.approx(
        FragmentVectorizer(clf).fit(FOREST, y).mined_[0].norm
    )


def test_an_estimator_that_is_not_fitted_is_left_alone() -> None:
    y = labels(TREES)
    clf = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge")
    FragmentVectorizer(clf).fit(FOREST, y)
    assert not hasattr(clf, "model_")


def test_perceptrons_have_fragments_too() -> None:
    y = labels(TREES)
    clf = TreePerceptron(SubsetTree(), random_state=0).fit(FOREST, y)
    vectorizer = FragmentVectorizer(clf, **EVERYTHING).fit(FOREST, y)
    scores = vectorizer.transform(FOREST) @ vectorizer.coef_[0] + vectorizer.intercept_[0]
    np.testing.assert_allclose(scores, clf.decision_function(FOREST), rtol=1e-9, atol=1e-9)


def test_the_same_bytes_for_any_number_of_threads() -> None:
    y = labels(TREES, 3)
    clf = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(FOREST, y)
    one, two = (FragmentVectorizer(clf, n_jobs=n).fit(FOREST, y) for n in (1, 2))
    assert list(one.get_feature_names_out()) == list(two.get_feature_names_out())
    assert one.coef_.tobytes() == two.coef_.tobytes()
    assert one.transform(FOREST).data.tobytes() == two.transform(FOREST).data.tobytes()


def test_parameters_and_clones() -> None:
    vectorizer = FragmentVectorizer(
        TreeSVC(SubsetTree(), C=3.0, loss="hinge"), max_ratio=7, norm_share=None
    )
    copy = clone(vectorizer)
    assert copy.get_params()["estimator__C"] == 3.0
    assert copy.max_ratio == 7
    assert copy.set_params(estimator__C=2.0).estimator.C == 2.0


# ---------------------------------------------------------------- what is wrong


def test_bad_input() -> None:
    y = labels(TREES)
    with pytest.raises(NotFittedError):
        FragmentVectorizer().transform(FOREST)
    with pytest.raises(FilbertError, match="y"):
        FragmentVectorizer(TreeSVC(SubsetTree(), C=1.0, loss="hinge")).fit(
            FOREST
        )  # an estimator that is not fitted needs y
    with pytest.raises(FilbertError, match="y"):
        FragmentVectorizer(criterion="chi2").fit(FOREST)
    with pytest.raises(InvalidParameterError, match="max_ratio"):
        FragmentVectorizer(max_ratio=0).fit(FOREST, y)
    with pytest.raises(InvalidParameterError, match="weighted"):
        FragmentVectorizer(weighted="no").fit(FOREST, y)
    with pytest.raises(FilbertError, match="estimator"):
        FragmentVectorizer(LinearSVC()).fit(FOREST, y)
    with pytest.raises(FilbertError):
        FragmentVectorizer(
            TreeSVC(SubsetTree().on("tree") + Linear().on("v"), C=1.0, loss="hinge")
        ).fit(FOREST, y)
    with pytest.raises(FilbertError, match="sample 1"):
        FragmentVectorizer().fit(["(a b)", "(a b"])


def test_no_fragment_is_frequent_enough() -> None:
    """Then the space has no dimensions, and says so."""
    vectorizer = FragmentVectorizer(min_frequency=1000).fit(FOREST)
    assert vectorizer.transform(FOREST).shape == (len(TREES), 0)


# ---------------------------------------------------------------- fragments that are given


@pytest.mark.parametrize("kernel", [SubsetTree(), Subtree()], ids=repr)
def test_given_fragments_are_counted(kernel: TreeKernel, tmp_path: Path) -> None:
    found = recurring_fragments(FOREST, kernel=kernel)
    for listed in (found, found.fragments):
        for weighted, wanted in (
            (False, found.fragments.count(forest_of(OTHERS))),
            (True, found.fragments.features(forest_of(OTHERS))),
        ):
            vectorizer = clone(FragmentVectorizer(fragments=listed, weighted=weighted)).fit(FOREST)
            rows = vectorizer.transform(forest_of(OTHERS))
            np.testing.assert_array_equal(rows.toarray(), wanted.toarray())
            assert vectorizer.get_feature_names_out().tolist() == found.fragments.texts()
            save(vectorizer, tmp_path / "v")
            loaded = load(tmp_path / "v")
            again = loaded.fit(FOREST).transform(forest_of(OTHERS))
            assert again.toarray().tobytes() == rows.toarray().tobytes()
            assert loaded.get_feature_names_out().tolist() == found.fragments.texts()


def test_given_fragments_train_linear_models() -> None:
    y = labels(TREES)
    found = recurring_fragments(FOREST)
    vectorizer = FragmentVectorizer(fragments=found)
    model = make_pipeline(vectorizer, LinearSVC(C=100.0)).fit(FOREST, y)
    apart = LinearSVC(C=100.0).fit(found.fragments.features(FOREST), y)
    wanted = apart.predict(found.fragments.features(forest_of(OTHERS)))
    assert model.predict(forest_of(OTHERS)).tolist() == wanted.tolist()


def test_given_fragments_leave_no_choice() -> None:
    found = recurring_fragments(FOREST)
    with pytest.raises(InvalidParameterError, match="leave out estimator and kernel"):
        FragmentVectorizer(TreeSVC(SubsetTree()), fragments=found).fit(FOREST, labels(TREES))
    with pytest.raises(InvalidParameterError, match="leave out estimator and kernel"):
        FragmentVectorizer(kernel=SubsetTree(), fragments=found).fit(FOREST)
    with pytest.raises(InputTypeError, match="recurring_fragments"):
        FragmentVectorizer(fragments=["(S a)"]).fit(FOREST)  # type: ignore[arg-type]

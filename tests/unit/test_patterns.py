"""Local patterns: features, values, factors, scores and contributions against the reference."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

import filbert
from filbert import (
    Examples,
    Forest,
    PatternVectorizer,
    TreeFeatures,
    TreeLogisticRegression,
    TreePerceptron,
    TreeRanker,
    TreeSVC,
    TreeSVR,
    _core,
)
from filbert.engine import sum_factors
from filbert.errors import CapacityError, InvalidParameterError, OutOfMemoryError
from filbert.kernels import Linear, LocalPatterns, Normalized, Preference, SubsetTree
from filbert.kernels.terms import is_sum
from filbert.model import SupportVectorModel
from tests.profiles import n_examples
from tests.reference import patterns as reference
from tests.reference.trees import Node, write
from tests.strategies import forests, local_patterns, random_trees

PARAMETERS = local_patterns().map(
    lambda kernel: {name: value for name, value in kernel.get_params().items() if name != "part"}
)
# One of each kind, for tests that are not of values.
KERNELS = [
    LocalPatterns(),
    LocalPatterns(damping="sqrt", decay=0.5, family_norms=True),
    LocalPatterns(
        labels=False, paths=4, productions=False, subtree_depth=3, siblings=3, normalize=False
    ),
    LocalPatterns(leaves=3),
]


def texts(trees: list[Node]) -> list[str]:
    return [write(tree) for tree in trees]


def forest(seed: int, n: int, max_nodes: int = 12) -> Forest:
    return Forest(texts(random_trees(seed, n, max_nodes)))


def name(pattern: reference.Pattern) -> str:
    """The text of a pattern, as its feature is called."""
    family, *rest = pattern
    if family == "label":
        return rest[0]
    if family == "path":
        return " > ".join(rest[0])
    if family == "production":
        return f"({' '.join(rest[0])})"
    if family == "subtree":
        return write(rest[1])
    if family == "leaves":
        return f"(… {' '.join(rest[0])})"
    parent, run = rest
    before = [] if run[0] == reference.START else ["…"]
    after = [] if run[-1] == reference.END else ["…"]
    labels = [one if isinstance(one, str) else one[0] for one in run]
    return f"({' '.join([parent, *before, *labels, *after])})"


def dense(rows: list[dict[str, float]], names: list[str]) -> np.ndarray[Any, Any]:
    return np.array([[row.get(one, 0.0) for one in names] for row in rows])


# ---------------------------------------------------------------- features and values


@n_examples(200)
@given(forests(), forests(), PARAMETERS)
def test_features_are_those_of_the_reference(
    trees: list[Node], others: list[Node], parameters: dict[str, Any]
) -> None:
    vectorizer = PatternVectorizer(LocalPatterns(**parameters))
    rows = vectorizer.fit_transform(texts(trees))
    wanted = [reference.features(tree, **parameters) for tree in trees]
    by_name = [{name(p): value for p, value in row.items()} for row in wanted]
    names = vectorizer.get_feature_names_out().tolist()
    assert len(set(names)) == len(names)
    assert set(names) == {one for row in by_name for one in row}
    assert_allclose(rows.toarray(), dense(by_name, names), rtol=1e-10, atol=1e-300)
    assert rows.has_sorted_indices

    new = [reference.features(tree, **parameters) for tree in others]
    by_name = [{name(p): value for p, value in row.items()} for row in new]
    found = vectorizer.transform(texts(others))
    assert_allclose(found.toarray(), dense(by_name, names), rtol=1e-10, atol=1e-300)


@n_examples(200)
@given(forests(), forests(), PARAMETERS)
def test_values_are_those_of_the_reference(
    trees: list[Node], others: list[Node], parameters: dict[str, Any]
) -> None:
    kernel = LocalPatterns(**parameters)
    wanted = [[reference.kernel(a, b, **parameters) for b in others] for a in trees]
    assert_allclose(kernel(texts(trees), texts(others)), wanted, rtol=1e-10, atol=1e-14)
    square = [[reference.kernel(a, b, **parameters) for b in trees] for a in trees]
    assert_allclose(kernel(texts(trees)), square, rtol=1e-10, atol=1e-14)
    assert_allclose(kernel.diag(texts(trees)), np.diag(square), rtol=1e-10)


@n_examples(60)
@given(forests(min_size=2), PARAMETERS)
def test_factors_are_the_kernel_matrix(trees: list[Node], parameters: dict[str, Any]) -> None:
    kernel = LocalPatterns(**parameters)
    X = Forest(texts(trees))
    factors = sum_factors(kernel, X)
    assert_allclose(factors.scores(np.eye(len(X)), 1), kernel(X), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("trees", "n_columns"),
    [
        (["(S (NP a) (VP b))"] * 2, 1),  # all patterns are in both trees, once
        (["(S (NP a) (NP a))"] * 2, 2),  # once or twice
        (["(S (NP a) (NP a))", "(S (NP a))"], 2),  # of the same trees, but not the same counts
        (["(S a)", "(T b)"], 0),
    ],
)
def test_patterns_that_trees_have_equally_often_share_a_column(
    trees: list[str], n_columns: int
) -> None:
    factors = sum_factors(LocalPatterns(decay=0.7), Forest(trees))
    assert factors.n_columns == n_columns
    K = LocalPatterns(decay=0.7)(trees)
    assert_allclose(factors.scores(np.eye(2), 1), K, rtol=1e-10, atol=1e-12)


@n_examples(60)
@given(forests(min_size=2), forests(), PARAMETERS)
def test_scores_and_contributions_of_nodes(
    trees: list[Node], others: list[Node], parameters: dict[str, Any]
) -> None:
    kernel = LocalPatterns(**parameters)
    X, Y = Forest(texts(trees)), Forest(texts(others))
    coef = np.linspace(-1, 2, 2 * len(X)).reshape(2, -1)
    model = SupportVectorModel(kernel, X, coef, np.array([0.5, 0.0]))
    wanted = kernel(Y, X) @ coef.T + model.intercept
    for method in ("auto", "rows", "factors", "pairs"):
        scores = model.decision_function(Y, method=method)
        assert_allclose(scores, wanted, rtol=1e-10, atol=1e-12)
    found = model.contributions(Y)
    assert_allclose(found.sums() + model.intercept, wanted, rtol=1e-10, atol=1e-12)


def test_a_pattern_contributes_at_its_top_and_evenly_to_its_occurrences() -> None:
    families = {"labels": False, "paths": 1, "subtree_depth": 1, "siblings": 1}
    kernel = LocalPatterns(**families, normalize=False)  # productions alone
    model = SupportVectorModel(kernel, Forest(["(a (b c) (b c))"]), np.ones((1, 1)), np.zeros(1))
    found = model.contributions(["(d (b c) (b c) (b c))"])
    values = {str(found.node(i)): (found.count[i], found.value[i, 0]) for i in range(len(found))}
    total = np.log(3) * np.log(4)  # the production (b c): twice there, three times here
    assert values["(b c)"] == (3, pytest.approx(total / 3, rel=1e-12))
    assert values["(d (b c) (b c) (b c))"] == (1, 0.0)


@pytest.mark.parametrize("kernel", KERNELS)
def test_patterns_are_the_same_in_a_slice_of_a_large_forest(kernel: LocalPatterns) -> None:
    """Few trees of a large forest are read in another way than all of them."""
    X = forest(0, 3000, 40)
    assert X.n_subtrees > 1 << 12
    vectorizer = PatternVectorizer(kernel).fit(X[:200])
    whole = vectorizer.transform(X)
    for i in (0, 17, 2999):
        one = vectorizer.transform(X[i : i + 1])
        assert_allclose(one.toarray(), whole[[i]].toarray(), rtol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_same_bytes_for_any_number_of_threads(kernel: LocalPatterns) -> None:
    X = forest(1, 3000, 16)
    y = [len(tree) % 3 for tree in X]
    one, four = (PatternVectorizer(kernel, n_jobs=n).fit_transform(X) for n in (1, 4))
    for a, b in ((one.indptr, four.indptr), (one.indices, four.indices), (one.data, four.data)):
        assert_array_equal(a, b)
    options = {"C": 0.01, "tol": 0.1, "random_state": 0}
    scores = [TreeSVC(kernel, n_jobs=n, **options).fit(X, y).decision_function(X) for n in (1, 4)]
    assert_array_equal(*scores)


def test_names_tell_labels_from_signs() -> None:
    odd = ["^", "$", ">", "…", "a > b", "\\>"]
    X = [f"({filbert.escape('p')} {' '.join(map(filbert.escape, odd))})"]
    names = PatternVectorizer(LocalPatterns(paths=2, siblings=3)).fit(X).get_feature_names_out()
    assert len(set(names)) == len(names)
    assert {"\\^", "\\$", "\\>", "\\…", "\\\\>"} <= set(names)


# ---------------------------------------------------------------- extremes of shape


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_chain_of_a_hundred_thousand_nodes(kernel: LocalPatterns) -> None:
    n = 100_000
    X = Forest(["(a " * n + "b" + ")" * n, "(a " * (n - 1) + "c" + ")" * (n - 1), "(a b)"])
    model = SupportVectorModel(kernel, X, np.eye(3), np.zeros(3))
    assert_allclose(model.decision_function(X), kernel(X), rtol=1e-10, atol=1e-12)
    assert_allclose(model.contributions(X).sums(), kernel(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_node_with_a_hundred_thousand_children(kernel: LocalPatterns) -> None:
    """Once with equal children, once with different ones, once with both below each other."""
    n = 100_000
    numbers = " ".join(map(str, range(n)))
    X = Forest([f"(a{' b' * n})", f"(a {numbers})", f"(r (a {numbers}) (a{' b' * n}))", "(a b)"])
    K = kernel(X)
    factors = sum_factors(kernel, X)
    assert_allclose(factors.scores(np.eye(4), 1), K, rtol=1e-10, atol=1e-12)
    assert np.isfinite(K).all()


def powers_of_a_thousand(n: int) -> Forest:
    """A tree in which n times a new root has a thousand children, all equal to the old tree."""
    labels = "abcdefgh"[: n + 1]
    return Forest.from_arrays(
        {
            "label_bytes": np.frombuffer(labels.encode(), dtype=np.uint8),
            "label_ends": np.arange(1, n + 2, dtype=np.uint64),
            "node_labels": np.arange(n + 1, dtype=np.uint32),
            "child_ends": 1000 * np.arange(n + 1, dtype=np.uint64),
            "children": np.repeat(np.arange(n, dtype=np.uint32), 1000),
            "roots": np.array([n], dtype=np.uint32),
        }
    )


def test_equal_children_are_read_once() -> None:
    """A tree of a billion nodes, which a small forest holds."""
    kernel = LocalPatterns(
        labels=False,
        paths=4,
        productions=False,
        subtree_depth=1,
        siblings=1,
        damping="none",
        normalize=False,
    )
    wanted = [1e3, 1e6, 1e9, 1e6, 1e9, 1e9]  # d > c, d > c > b, d > c > b > a, c > b, ...
    [[value]] = kernel(powers_of_a_thousand(3))
    assert value == pytest.approx(sum(count * count for count in wanted), rel=1e-12)


def test_a_tree_with_too_many_nodes_is_refused() -> None:
    with pytest.raises(CapacityError, match=r"more than 2\^32 times"):
        LocalPatterns()(powers_of_a_thousand(5))


def test_a_node_with_too_many_paths_is_refused() -> None:
    with pytest.raises(CapacityError, match=r"more than 2\^32 times"):
        LocalPatterns(paths=6)(powers_of_a_thousand(5))


# ---------------------------------------------------------------- in learners


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_machine_is_the_machine_on_the_kernel_matrix(kernel: LocalPatterns) -> None:
    X, y = forest(2, 150), np.arange(150) % 2
    ours = TreeSVC(kernel, C=2.0, tol=1e-9, fit_intercept=False).fit(X, y)
    assert ours.engine_ == "factors"
    rows = TreeSVC(kernel, C=2.0, tol=1e-9, fit_intercept=False, engine="rows").fit(X, y)
    assert_allclose(ours.objective_, rows.objective_, rtol=1e-7)
    assert_allclose(ours.decision_function(X), rows.decision_function(X), atol=1e-3)


@pytest.mark.parametrize(
    "learner",
    [
        TreeSVC(LocalPatterns()),
        TreeLogisticRegression(LocalPatterns()),
        TreePerceptron(LocalPatterns(), n_epochs=3),
        TreePerceptron(LocalPatterns(family_norms=True), engine="online", fit_intercept=True),
        TreeSVC(LocalPatterns() + 0.5 * SubsetTree()),
        TreeSVC(Normalized(LocalPatterns(normalize=False) + SubsetTree(normalize=False))),
        TreeSVC(LocalPatterns() * SubsetTree(), engine="rows"),
        TreeSVC(LocalPatterns(), strategy="usvm"),
    ],
)
def test_learners_train_predict_and_are_stored(learner: Any, tmp_path: Path) -> None:
    X = forest(3, 120)
    y = np.array(["yes" if "(a" in str(tree) else "no" for tree in X])
    fitted = clone(learner).fit(X, y)
    assert fitted.score(X, y) > 0.8
    scores = fitted.decision_function(X)
    filbert.save(fitted, tmp_path / "model.filbert")
    again = filbert.load(tmp_path / "model.filbert")
    assert again.kernel == learner.kernel
    assert_array_equal(again.decision_function(X), scores)
    copy = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(copy.decision_function(X), scores)


def test_regression_and_ranking() -> None:
    X = forest(4, 80)
    y = np.log([tree.n_nodes for tree in X])
    kernel = LocalPatterns(normalize=False)
    assert TreeSVR(kernel, C=10.0).fit(X, y).score(X, y) > 0.8
    ranker = TreeRanker(kernel).fit(X, y, group=np.arange(80) // 20)
    assert ranker.score(X, y, group=np.arange(80) // 20) > 0.8


def test_pairs_of_trees() -> None:
    X = Examples(first=forest(5, 60), second=forest(6, 60))
    y = np.array([tree.n_nodes for tree in X["first"]]) > np.array(
        [tree.n_nodes for tree in X["second"]]
    )
    kernel = Preference(LocalPatterns(normalize=False), ("first", "second"))
    machine = TreeSVC(kernel, C=10.0, fit_intercept=False).fit(X, y)
    assert machine.engine_ == "factors"
    assert machine.score(X, y) > 0.9
    K = kernel(X)
    coef = machine.model_.coef
    support = machine.model_.support
    assert_allclose(machine.decision_function(X), kernel(X, support) @ coef[0], atol=1e-10)
    assert np.linalg.eigvalsh(K).min() > -1e-9


@pytest.mark.parametrize("kernel", KERNELS)
def test_online_learning_is_that_by_factors(kernel: LocalPatterns) -> None:
    X, y = forest(7, 200), np.arange(200) % 3
    options = {"n_epochs": 2, "shuffle": False}
    online = TreePerceptron(kernel, engine="online", **options).fit(X, y)
    factors = TreePerceptron(kernel, engine="factors", **options).fit(X, y)
    scores = online.decision_function(X)
    assert_allclose(scores, factors.decision_function(X), rtol=1e-9, atol=1e-10)
    streamed = TreePerceptron(kernel, shuffle=False)
    for _ in range(2):
        for first in range(0, 200, 30):
            rows = slice(first, first + 30)
            streamed.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert_allclose(streamed.decision_function(X), scores, rtol=1e-9, atol=1e-10)
    model = online.model_.scorer(averaged=True)
    assert_allclose(model.decision_function(X), scores, rtol=1e-9, atol=1e-10)


def test_memory_is_limited() -> None:
    X, y = forest(8, 300), np.arange(300) % 2
    with pytest.raises(OutOfMemoryError, match="patterns"):
        TreeSVC(LocalPatterns(), engine="factors", max_memory=1000).fit(X, y)


def test_a_search_varies_parameters() -> None:
    X, y = forest(9, 60), np.arange(60) % 2
    grid = {"kernel__damping": ["log", "none"], "kernel__paths": [1, 3]}
    search = GridSearchCV(TreeSVC(LocalPatterns()), grid, cv=2).fit(X, y)
    assert search.best_params_.keys() == grid.keys()
    SVC(kernel=LocalPatterns())  # scikit-learn takes it as a function
    pipeline = make_pipeline(PatternVectorizer(LocalPatterns()), LinearSVC())
    grid = {"patternvectorizer__kernel__decay": [0.5, 1.0]}
    assert GridSearchCV(pipeline, grid, cv=2).fit(X, y).best_score_ > 0


# ---------------------------------------------------------------- a kernel like the others


def test_it_is_a_value() -> None:
    kernel = LocalPatterns(paths=4)
    assert kernel == clone(kernel) == LocalPatterns(paths=4) != LocalPatterns()
    assert hash(kernel) == hash(clone(kernel))
    assert kernel.on("tree").part == "tree"
    assert is_sum(kernel + Linear().on("x") * 2)
    assert eval(repr(kernel)) == kernel


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"paths": 0}, "paths must be an integer from 1"),
        ({"siblings": 1.5}, "siblings must be an integer"),
        ({"subtree_depth": 101}, "subtree_depth must be an integer from 1 to 100"),
        ({"damping": "tf"}, "damping must be 'log', 'sqrt' or 'none'"),
        ({"decay": 0.0}, r"decay must be in \(0, 1\]"),
        ({"labels": 1}, "labels must be True or False"),
        ({"family_norms": "yes"}, "family_norms must be True or False"),
        ({"normalize": None}, "normalize must be True or False"),
    ],
)
def test_bad_parameters_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        LocalPatterns(**parameters)(["(a b)"])
    with pytest.raises(InvalidParameterError, match=message):
        TreeSVC(LocalPatterns(**parameters)).fit(["(a b)", "(a c)"], [0, 1])


def test_trees_without_patterns() -> None:
    kernel = LocalPatterns(labels=False)
    assert_array_equal(kernel(["(a)", "(a b)"]), [[0, 0], [0, 1]])
    model = SupportVectorModel(kernel, Forest(["(a)", "(a b)"]), np.ones((1, 2)), np.zeros(1))
    assert_array_equal(model.decision_function(["(a)"]), [[0.0]])


# ---------------------------------------------------------------- the transformer and its files


def test_the_transformer_is_stored(tmp_path: Path) -> None:
    X, Y = forest(10, 50), forest(11, 50)
    vectorizer = PatternVectorizer(KERNELS[2]).fit(X)
    filbert.save(vectorizer, tmp_path / "patterns.filbert")
    for again in (
        filbert.load(tmp_path / "patterns.filbert"),
        pickle.loads(pickle.dumps(vectorizer)),
    ):
        assert again.get_feature_names_out().tolist() == vectorizer.get_feature_names_out().tolist()
        assert_array_equal(again.transform(Y).toarray(), vectorizer.transform(Y).toarray())


def test_damaged_patterns_are_refused() -> None:
    """Any change of one number is found, or gives other patterns; nothing crashes."""
    spec = LocalPatterns(siblings=3, subtree_depth=3)._spec()
    table = _core.PatternTable(spec)
    X = forest(12, 5)
    table.add_rows(X._dag, X._roots, True, 1, None)
    arrays = table.to_arrays()
    assert _core.PatternTable.from_arrays(spec, *arrays).size == table.size
    n_refused = 0
    for which, array in enumerate(arrays):
        for place in range(0, len(array), max(1, len(array) // 40)):
            damaged = [one.copy() for one in arrays]
            damaged[which][place] = int(damaged[which][place]) ^ 1
            try:
                other = _core.PatternTable.from_arrays(spec, *damaged)
                other.texts(other.features(), 1000)
            except filbert.errors.CorruptForestError:
                n_refused += 1
    assert n_refused > 50


def test_the_transformer_refuses_other_kernels(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError, match="kernel must be LocalPatterns"):
        PatternVectorizer(SubsetTree()).fit(["(a b)"])
    with pytest.raises(InvalidParameterError, match="no trees"):
        PatternVectorizer().fit([])


# ---------------------------------------------------------------- explanations


@pytest.fixture(scope="module")
def explained() -> Any:
    X = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q (VP b) (NP a))", "(Q (VP c) (NP d))"]
    clf = TreeSVC(LocalPatterns(siblings=3), C=10.0).fit(X, ["s", "s", "q", "q"])
    return filbert.explain(clf, ["(S (NP e) (VP b))", "(Q (NP e))"]), clf


def test_patterns_of_a_model_are_shown_as_fragments(explained: Any) -> None:
    explanation, clf = explained
    [problem] = explanation.problems
    shown = {f.text: f for f in (*problem.for_, *problem.against)}
    assert {"S", "S > NP", "S > NP > a", "(S NP VP)", "(S ^ NP …)", "(S … VP $)"} <= set(shown)
    path = shown["S > NP > a"]
    assert (path.labels, path.parents) == (("S", "NP", "a"), (-1, 0, 1))
    assert path.open == (True, False, False)  # S has another child
    assert path.occurrences == ((0, 1, 2), (0, 1, 2))
    last = shown["(S … VP $)"]
    assert (last.labels, last.occurrences[0]) == (("S", "VP"), (0, 3))
    assert (last.frequency, last.weight) == (2, pytest.approx(shown["S"].weight))
    assert problem.norm_share == pytest.approx(1.0)
    # The weights are those of the features, so they give the score.
    vectorizer = PatternVectorizer(clf.kernel).fit(clf.model_.support)
    names = vectorizer.get_feature_names_out()
    weights = np.array([shown[name].weight if name in shown else 0.0 for name in names])
    scores = vectorizer.transform(["(S (NP e) (VP b))"]) @ weights + clf.intercept_
    assert len(names) == len(shown)
    assert scores == pytest.approx(explanation.examples[0].scores[0])


def test_an_explanation_with_patterns_is_stored_and_drawn(explained: Any) -> None:
    explanation, _ = explained
    assert filbert.Explanation.from_json(explanation.to_json()) == explanation
    assert "S &gt; NP &gt; a" in explanation.to_html()
    assert "(S ^ NP …)" in str(explanation)


def test_sums_with_other_kernels_are_explained() -> None:
    X = Examples(t=forest(13, 60), v=np.random.default_rng(0).random((60, 3)))
    y = [len(tree) % 2 for tree in X["t"]]
    kernel = (LocalPatterns() + SubsetTree()).on("t") + Linear().on("v")
    explanation = filbert.explain(TreeSVC(kernel).fit(X, y), X)
    texts = [f.text for f in explanation.problems[0].for_]
    assert any(text.startswith("t: (") for text in texts)
    assert len(explanation.examples) == 60  # the sums of nodes were checked


def test_columns_of_features_are_named_by_patterns() -> None:
    X = forest(14, 30)
    features = filbert.TreeFeatures(LocalPatterns(), private=False)
    rows = features.fit_transform(X).toarray()
    names = features.get_feature_names_out().tolist()
    assert len(set(names)) == len(names) == rows.shape[1]
    vectorizer = PatternVectorizer(LocalPatterns())
    wanted = vectorizer.fit_transform(X).toarray()
    place = {one: i for i, one in enumerate(vectorizer.get_feature_names_out())}
    wanted = wanted[:, [place[one] for one in names]]  # columns are multiples of these
    assert_allclose(rows / rows.max(axis=0), wanted / wanted.max(axis=0), rtol=1e-9)
    new = features.transform(forest(15, 30)) @ features.fit_transform(X).T
    K = LocalPatterns()(forest(15, 30), X)
    shared = filbert.TreeFeatures(LocalPatterns()).fit(X)
    assert_allclose((shared.transform(forest(15, 30)) @ shared.fit_transform(X).T).toarray(), K)
    assert (new.toarray() <= K + 1e-12).all()
    path = names.index(next(one for one in names if one.count(" > ") == 2))
    assert features.example_fragment(path).depth == 3


def test_a_column_of_several_patterns_has_the_name_of_the_first() -> None:
    kernel = LocalPatterns(paths=1, productions=False, subtree_depth=1, siblings=1)
    X = ["(S x x)"] * 2
    assert PatternVectorizer(kernel).fit(X).get_feature_names_out().tolist() == ["x", "S"]
    features = TreeFeatures(kernel, private=False).fit(X)
    assert features.get_feature_names_out().tolist() == ["x"]


def test_columns_that_are_equal_have_names_of_their_own() -> None:
    X = Forest(["(S (NP (D the) (N dog)) (VP runs))", "(S (VP go) (NP (N home)))"] * 2)
    features = TreeFeatures(LocalPatterns(), private=False)
    columns = features.fit_transform(X).tocsc()
    names = features.get_feature_names_out()
    assert len(set(names)) == len(names) == columns.shape[1]
    vectorizer = PatternVectorizer(LocalPatterns())
    counts = vectorizer.fit_transform(X).tocsc()
    place = {name: i for i, name in enumerate(vectorizer.get_feature_names_out())}
    for i, name in enumerate(names):
        own, known = (
            matrix[:, [k]].nonzero()[0] for matrix, k in ((columns, i), (counts, place[name]))
        )
        assert own.tolist() == known.tolist()

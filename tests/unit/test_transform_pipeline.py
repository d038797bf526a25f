"""Tree transformers in scikit-learn: pipelines, searches, clones; what they take and refuse."""

import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

import filbert.transform
from filbert import Examples, Forest, TreeSVC
from filbert.errors import FilbertError, InputTypeError, InvalidParameterError, NotATreeError
from filbert.kernels import Linear, SubsetTree
from filbert.transform import (
    Binarise,
    CollapseUnary,
    CutBelow,
    CutDepth,
    DropLabels,
    DropWords,
    ExpandUnary,
    LowerCaseLeaves,
    MapLabels,
    MapLeaves,
    MarkNodes,
    MarkPath,
    SortChildren,
    StripEmpties,
    StripFunctionTags,
    Unbinarise,
)

STEPS = [
    Binarise("left"), CollapseUnary(), CutBelow("NP"), CutDepth(2), DropLabels(["NP"]), DropWords(),
    ExpandUnary("/"), LowerCaseLeaves(), MapLabels({"S": "T"}), MapLeaves({"a": "b"}),
    MarkNodes("NP", "-X"), SortChildren(), StripEmpties(placeholder="E"), StripFunctionTags(),
    Unbinarise("#"),
]  # fmt: skip
IDS = [type(step).__name__ for step in STEPS]

TREES = ["(S (NP-SBJ a) (VP B))", "(S (NP c) (VP (-NONE- *)))", "(S (NP-SBJ a) (VP B))"]


def test_all_steps_are_tried_here() -> None:
    assert {*IDS, "MarkPath"} == set(filbert.transform.__all__)


@pytest.mark.parametrize("step", STEPS, ids=IDS)
def test_all_forms_of_trees_give_the_same(step: Any) -> None:
    expected = step.transform(Forest(TREES))
    assert isinstance(expected, Forest)
    forms = [
        TREES,
        np.array(TREES),
        pd.Series(TREES),
        list(Forest(TREES)),
        pd.DataFrame({"x": TREES}),
    ]
    for form in forms:
        assert step.transform(form) == expected
    assert step.fit_transform(TREES, [1, 2, 3]) == expected
    assert step.transform(Forest(TREES)[:0]) == Forest()
    assert step.transform(Forest(TREES)[[2, 1]]) == expected[[2, 1]]


@pytest.mark.parametrize("step", STEPS, ids=IDS)
def test_examples_keep_everything_but_their_trees(step: Any) -> None:
    features = sp.csr_array(np.eye(3))
    X = Examples(tree=TREES, other=TREES[::-1], features=features)
    changed = step.fit_transform(X)
    assert changed["tree"] == step.transform(TREES)
    assert changed["other"] == step.transform(TREES[::-1])
    assert changed["features"] is X["features"]
    assert X["tree"] == Forest(TREES)
    assert changed[1:]["tree"] == changed["tree"][1:]


@pytest.mark.parametrize("step", [*STEPS, MarkPath("leaf", "-P")], ids=[*IDS, "MarkPath"])
def test_steps_are_stateless_estimators(step: Any) -> None:
    copy = clone(step)
    assert copy.get_params() == step.get_params()
    assert pickle.loads(pickle.dumps(step)).get_params() == step.get_params()
    check_is_fitted(copy)
    assert copy.fit(TREES) is copy
    assert vars(copy) == step.get_params()


def test_a_pipeline_with_a_search_over_a_step() -> None:
    """Only the upper levels tell the classes apart, and only without marks and case."""
    words = "abcdefghijkl"
    X = [f"(S (NP-{i} (N {w})) (VP (V {w.upper()})))" for i, w in enumerate(words)]
    X += [f"(S (VP-{i} (V {w.upper()})) (NP (N {w})))" for i, w in enumerate(words)]
    y = ["statement"] * len(words) + ["question"] * len(words)
    pipeline = make_pipeline(
        StripFunctionTags(), CutDepth(), TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge")
    )
    search = GridSearchCV(pipeline, {"cutdepth__max_depth": [1, 2, None]}, cv=3)
    with pytest.warns(filbert.errors.NoFragmentsWarning):  # trees of one level have no fragments
        search.fit(X, y)
    assert search.best_params_ == {"cutdepth__max_depth": 2}
    assert search.best_score_ == 1.0
    assert search.predict(["(S (NP-9 (N new)) (VP-8 (V NEW)))"]).tolist() == ["statement"]


def test_a_pipeline_over_examples() -> None:
    X = Examples(tree=["(S (A-1 a))", "(S (B-1 b))", "(S (A-2 a))", "(S (B-2 b))"], v=np.eye(4))
    kernel = SubsetTree().on("tree") + Linear().on("v")
    clf = make_pipeline(
        StripFunctionTags(), TreeSVC(kernel, random_state=0, C=1.0, loss="hinge")
    ).fit(X, [0, 1, 0, 1])
    assert clf.predict(X).tolist() == [0, 1, 0, 1]


def test_parameters_can_be_set() -> None:
    step = Binarise().set_params(direction="left", marker="#")
    assert str(step.transform(["(S a b c)"])[0]) == "(S (#S a b) c)"


# ---------------------------------------------------------------- trees that get lost


def test_nothing_left_is_an_error_with_the_number_of_the_tree() -> None:
    trees = ["(S (A a))", "(S (NP (-NONE- *)))", "(S (-NONE- *))"]
    with pytest.raises(
        NotATreeError, match=r"sample 1: StripEmpties .* \(S \(NP \(-NONE- \*\)\)\)"
    ):
        StripEmpties().transform(trees)
    with pytest.raises(NotATreeError, match="part 'tree', sample 1") as raised:
        StripEmpties().transform(Examples(tree=trees))
    assert raised.value.sample == 1
    left = StripEmpties(placeholder="EMPTY").transform(trees)
    assert list(map(str, left)) == ["(S (A a))", "(EMPTY)", "(EMPTY)"]


def test_several_trees_left_are_an_error() -> None:
    trees = ["(TOP (S a))", "(TOP (S a) (. .))"]
    with pytest.raises(NotATreeError, match="sample 1: DropLabels leaves 2 trees"):
        DropLabels("TOP").transform(trees)
    left = DropLabels("TOP", placeholder="ROOT").transform(trees)
    assert list(map(str, left)) == ["(S a)", "(ROOT (S a) (. .))"]
    with pytest.raises(NotATreeError, match="Unbinarise leaves 2 trees"):
        Unbinarise().transform(["(@S a b)"])


# ---------------------------------------------------------------- what they refuse


@pytest.mark.parametrize(
    "step",
    [
        Binarise("up"), Binarise(n_siblings=-1), Binarise(n_siblings=True), Binarise(marker=""),
        Binarise(n_siblings=1.5), CollapseUnary(""), CollapseUnary(preterminals=1), ExpandUnary(""),
        CutDepth(0), CutDepth(2.0), CutDepth(True), CutDepth("2"), CutBelow(3), CutBelow([1]),
        DropLabels(None), DropLabels(iter("ab")), DropLabels("a", children="splice"),
        DropLabels("a", nodes="leaf"), DropLabels("a", placeholder=""), MapLabels(None),
        MapLabels("ab"), MapLabels({}, nodes="x"), MapLabels({}, unknown=""),
        MapLabels(str, unknown="?"), MapLeaves({}, by_parent="yes"), MapLeaves({("a", "b"): "c"}),
        MapLeaves({"a": "c"}, by_parent=True), MarkNodes("a", ""), MarkNodes("a", 3),
        MarkNodes("a", "-M", where="path"), MarkPath("", "-M"), MarkPath("leaf", "-M", where="x"),
        StripEmpties(3), StripEmpties(placeholder="a\0b"), StripFunctionTags(""),
        StripFunctionTags(None), Unbinarise(None), Unbinarise(placeholder="\ud800"),
    ],
    ids=lambda step: re.sub(" object at 0x\\w+", "", repr(step)),
)  # fmt: skip
def test_bad_parameters_are_refused(step: Any) -> None:
    with pytest.raises(InvalidParameterError):
        step.fit(TREES)
    with pytest.raises(InvalidParameterError):
        step.transform(TREES)


@pytest.mark.parametrize("label", ["", None, 3, "a\0b", "\ud800"])
def test_functions_that_return_no_label(label: Any) -> None:
    for step in (
        MapLabels(lambda _: label),
        MapLeaves(lambda _: label),
        MapLeaves(lambda *_: label, by_parent=True),
        MapLabels({"S": label}),
    ):
        with pytest.raises(InvalidParameterError, match="can be a label"):
            step.transform(TREES)


@pytest.mark.parametrize("X", ["(S a)", 3, None, [3], np.eye(2), Examples(v=np.eye(2)), ["(S"]])
def test_what_is_no_tree_is_refused(X: Any) -> None:
    with pytest.raises(FilbertError):
        StripEmpties().transform(X)


def test_what_could_not_be_undone_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match=r"joiner='\+' occurs in the label 'A\+'"):
        CollapseUnary().transform(["(S (A+ b c))"])
    with pytest.raises(InvalidParameterError, match="side by side"):
        CollapseUnary("++").transform(["(A+ (B (C c) (D d)))"])
    with pytest.raises(InvalidParameterError, match="nothing before or after"):
        ExpandUnary().transform(["(+ 1 2)"])
    with pytest.raises(InvalidParameterError, match="'@S' begins with marker='@'"):
        Binarise().transform(["(@S a b)"])


def test_marks_need_a_leaf_in_each_tree() -> None:
    step = MarkPath("leaf", "-P")
    with pytest.raises(InputTypeError, match="takes Examples with a column 'leaf'"):
        step.transform(TREES)
    with pytest.raises(
        InvalidParameterError, match=r"sample 1: column 'leaf' is 2, but .* 2 leaves"
    ):
        step.transform(Examples(tree=TREES, leaf=[[1], [2], [0]]))
    for bad in (-1, 0.5, np.nan):
        with pytest.raises(
            InvalidParameterError, match=r"sample 2: .* must be the number of a leaf"
        ):
            step.transform(Examples(tree=TREES, leaf=[[1], [1], [bad]]))
    with pytest.raises(InvalidParameterError, match=r"MarkPath: there is no .*'leaf'"):
        step.transform(Examples(tree=TREES))
    with pytest.raises(InvalidParameterError, match="one leaf number per row"):
        step.transform(Examples(tree=TREES, leaf=np.eye(3)))
    two = Examples(tree=TREES, other=TREES, leaf=[[0], [0], [0]])
    with pytest.raises(InvalidParameterError, match="one of tree, other"):
        step.transform(two)
    marked = MarkPath("leaf", "-P", part="other").transform(two)
    assert marked["tree"] == two["tree"]
    assert str(marked["other"][1]) == "(S-P (NP-P c-P) (VP (-NONE- *)))"


def test_columns_are_kept() -> None:
    X = Examples(tree=["(S (NP a) (-NONE- *))", "(S (-NONE- *))"]).with_columns(id=["q1", "q2"])
    stripped = StripEmpties(placeholder="empty").transform(X)
    assert [str(tree) for tree in stripped["tree"]] == ["(S (NP a))", "(empty)"]
    assert stripped.columns["id"].tolist() == ["q1", "q2"]

"""Where fragments occur in the trees of an explanation."""

import json

import pytest

from filbert import Explanation, Forest, TreeSVC, explain
from filbert.errors import ParseError
from filbert.explanations.data import PlainTree
from filbert.explanations.occurrences import SearchedTree
from filbert.kernels import ApproximateTree, PartialTree, SubsetTree, Subtree, TreeKernel


def plain(brackets: str) -> PlainTree:
    labels, parents = Forest.from_brackets([brackets])[0].to_parents()
    return PlainTree(tuple(labels), tuple(parents))


@pytest.mark.parametrize(
    ("kernel", "fragment", "nodes"),
    [
        (SubsetTree(), "(NP D N)", (1, 2, 4)),
        (SubsetTree(), "(NP D (N cat))", (9, 10, 12, 13)),  # the second NP
        (SubsetTree(), "(VP V)", ()),  # all children or none
        (SubsetTree(), "(S NP VP)", (0, 1, 6)),
        (Subtree(), "(NP (D a) (N cat))", (9, 10, 11, 12, 13)),
        (Subtree(), "(NP D N)", ()),  # leaves are leaves
        (PartialTree(), "(VP V)", (6, 7)),
        (PartialTree(), "(S (VP (NP cat)))", ()),  # no generation is skipped
        (PartialTree(), "(S (VP (NP N)))", (0, 6, 9, 12)),
        (PartialTree(), "(S VP NP)", ()),  # the order counts
        (PartialTree(), "(X a)", ()),
        (ApproximateTree(PartialTree(), symbols=["VP"]), "(VP V)", (6, 7)),
    ],
)
def test_the_first_occurrence(kernel: TreeKernel, fragment: str, nodes: tuple[int, ...]) -> None:
    tree = SearchedTree(plain("(S (NP (D the) (N dog)) (VP (V saw) (NP (D a) (N cat))))"))
    assert tree.first(kernel, plain(fragment)) == nodes


def test_children_match_in_order_with_others_between() -> None:
    tree = SearchedTree(plain("(A (B x) (C y) (B z) (D y) (C w))"))
    assert tree.first(PartialTree(), plain("(A (B z) (C w))")) == (0, 5, 6, 9, 10)
    assert tree.first(PartialTree(), plain("(A B B)")) == (0, 1, 5)


def test_depth_is_no_problem() -> None:
    n = 100_000
    tree = SearchedTree(PlainTree(("a",) * n, tuple(range(-1, n - 1))))
    assert tree.first(SubsetTree(), plain("(a (a a))")) == (0, 1, 2)


X = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q (VP b) (NP a))", "(Q (VP c) (NP d))"]
Y = ["statement", "statement", "question", "question"]


@pytest.mark.parametrize("kernel", [SubsetTree(), Subtree(), PartialTree()])
def test_fragments_of_models_are_found_in_their_trees(kernel: TreeKernel) -> None:
    explanation = explain(TreeSVC(kernel, random_state=0, C=1.0, loss="hinge").fit(X, Y))
    [problem] = explanation.problems
    for fragment in (*problem.for_, *problem.against):
        assert len(fragment.occurrences) == len(fragment.examples) > 0
        for number, nodes in zip(fragment.examples, fragment.occurrences, strict=True):
            labels = explanation.trees[number].labels
            assert [labels[node] for node in nodes] == list(fragment.labels)


def test_files_without_occurrences_are_read() -> None:
    explanation = explain(TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(X, Y))
    stored = json.loads(explanation.to_json())
    assert Explanation.from_json(json.dumps(stored)) == explanation
    for fragment in stored["problems"][0]["for"]:
        del fragment["occurrences"]
    old = Explanation.from_json(json.dumps(stored))
    assert old.problems[0].for_[0].occurrences == ()
    assert "Where" in old.to_html()


@pytest.mark.parametrize(
    ("wrong", "message"), [([], "one occurrence for each"), ([99], "node beyond the 5 nodes")]
)
def test_wrong_occurrences_are_refused(wrong: list[int], message: str) -> None:
    stored = explain(TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(X, Y)).to_dict()
    fragment = stored["problems"][0]["for"][0]
    fragment["occurrences"] = [wrong] * (len(fragment["examples"]) + (not wrong))
    with pytest.raises(ParseError, match=message):
        Explanation.from_json(json.dumps(stored))

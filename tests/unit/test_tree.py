"""One tree: a sequence of children, its leaves and labels."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from filbert import Forest, Tree
from filbert.errors import FilbertError, InputTypeError, InvalidParameterError
from tests.reference.trees import Node, nodes, write
from tests.strategies import trees, unicode_trees

SENTENCE = "(S (NP (D a) (N dog)) (VP (V ran)))"


def tree_of(text: str) -> Tree:
    return Forest([text])[0]


@given(unicode_trees())
def test_leaves_and_text(node: Node) -> None:
    tree = tree_of(write(node))
    leaves = [one.label for one in nodes(node) if not one.children]
    assert tree.leaves() == leaves
    assert tree.text == " ".join(leaves)


@given(trees())
def test_a_tree_is_the_sequence_of_its_children(node: Node) -> None:
    tree = tree_of(write(node))
    assert len(tree) == len(node.children)
    assert tuple(tree) == tree.children
    for i, child in enumerate(tree.children):
        assert tree[i] == tree[np.int64(i)] == tree[i - len(tree)] == tree[(i,)] == child
    assert tree


def test_paths() -> None:
    tree = tree_of(SENTENCE)
    assert tree[()] == tree
    assert str(tree[0, 1]) == "(N dog)"
    assert tree[-1, 0, 0].label == "ran"


@pytest.mark.parametrize("index", [2, -3, (0, 2), (0, 1, 0, 0)])
def test_children_that_are_not_there(index: Any) -> None:
    with pytest.raises(IndexError, match="there is no child"):
        tree_of(SENTENCE)[index]


@pytest.mark.parametrize("index", ["NP", 1.0, None, (0, "N"), slice(1)])
def test_what_is_no_index(index: Any) -> None:
    with pytest.raises(InputTypeError, match="by the number of a child or by a path"):
        tree_of(SENTENCE)[index]


@given(unicode_trees())
def test_map(node: Node) -> None:
    tree = tree_of(write(node))
    assert tree.map(lambda label: label) == tree
    twice = tree.map(lambda label: label * 2)
    assert [one.label for one in twice.nodes()] == [2 * one.label for one in tree.nodes()]
    assert tree.to_parents()[1] == twice.to_parents()[1]


def test_map_wants_labels() -> None:
    with pytest.raises(InvalidParameterError, match=r"returns for 'a'.*got ''"):
        tree_of("(S a)").map(lambda _: "")
    with pytest.raises(InputTypeError, match="takes a function"):
        tree_of("(S a)").map("S")  # type: ignore[arg-type]


def test_trees_have_no_order() -> None:
    a, b = tree_of("(S a)"), tree_of("(S b)")
    with pytest.raises(TypeError):
        a < b  # type: ignore[operator]  # noqa: B015
    assert sorted([b, a], key=str) == [a, b]


def test_a_tree_is_one_element_of_arrays_and_tables() -> None:
    """Although it is a sequence: trees of equal lengths must not become rows of a matrix."""
    some = list(Forest(["(S a b)", "(S c d)", "(x)"]))
    for array in (np.array(some), np.array(some[:2], dtype=object), np.asarray(some[2:])):
        assert array.ndim == 1
        assert Forest(array) == Forest(some[2:] if len(array) == 1 else some[: len(array)])
    assert Forest(pd.Series(some)) == Forest(pd.DataFrame({"x": some})) == Forest(some)
    assert Forest(np.array(some)[:, None]) == Forest(some)


@pytest.mark.parametrize("tree", [tree_of("(S (A a) b)"), tree_of("(a)")])
def test_a_single_tree_is_not_taken_for_its_children(tree: Any) -> None:
    assert Forest(tree) == Forest([tree])
    for make in (Forest.from_trees, Forest.from_brackets, Forest.concat):
        with pytest.raises(InputTypeError):
            make(tree)


def test_a_deep_and_a_wide_tree() -> None:
    deep = tree_of("(a " * 100_000 + "b" + ")" * 100_000)
    assert deep.leaves() == ["b"]
    assert deep[(0,) * 100_000].label == "b"
    assert deep.map(str.upper).depth == 100_001
    wide = tree_of("(a " + "b " * 100_000 + ")")
    assert len(wide) == len(wide.leaves()) == 100_000


# ---------------------------------------------------------------- sums of forests


def test_forests_can_be_added() -> None:
    a, b = Forest(["(S a)", "(S b)"]), Forest(["(S b)", "(T c)"])
    assert a + b == Forest(["(S a)", "(S b)", "(S b)", "(T c)"]) == Forest.concat([a, b])
    assert (a + b)._roots[1] == (a + b)._roots[2]
    assert a + Forest() == a == a[:1] + a[1:]


@pytest.mark.parametrize("other", [["(S a)"], 0, None, tree_of("(S a)")])
def test_only_forests_can_be_added(other: Any) -> None:
    with pytest.raises((TypeError, FilbertError)):
        Forest(["(S a)"]) + other

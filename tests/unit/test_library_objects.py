"""Forests of trees of NLTK and of graphs of networkx, where these are installed."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert import Forest, TreeSVC
from filbert.errors import FilbertError, InputTypeError, ParseError
from filbert.kernels import SubsetTree
from tests.profiles import n_examples
from tests.reference.trees import Node
from tests.strategies import RNG, trees, unicode_trees
from tests.tree_formats import CHAIN
from tests.unit.test_objects import forest_of

networkx = pytest.importorskip("networkx")
nltk = pytest.importorskip("nltk")

# ---------------------------------------------------------------- NLTK


def as_nltk(node: Node, kind: Any) -> Any:
    if not node.children:
        return node.label
    return kind(node.label, [as_nltk(child, kind) for child in node.children])


@n_examples(50)
@given(st.lists(unicode_trees(), max_size=4))
def test_nltk_trees_there_and_back(nodes: list[Node]) -> None:
    forest = forest_of(nodes)
    there = [tree.to_nltk() for tree in forest]
    assert Forest.from_nltk(there) == forest
    assert [tree.to_nltk() for tree in Forest.from_nltk(there)] == there
    inner = [node for node in nodes if node.children]
    for kind in (nltk.ParentedTree, nltk.ImmutableTree):
        assert Forest.from_nltk([as_nltk(node, kind) for node in inner]) == forest_of(inner)


def test_nltk_leaves_and_labels_may_be_of_any_type() -> None:
    grammar = nltk.CFG.fromstring("S -> NP\nNP -> 'a'")
    tree = nltk.Tree(grammar.start(), [nltk.Tree("NP", [("dog", "NN"), 1, None])])
    assert str(Forest.from_nltk(tree)[0]) == "(S (NP dog/NN 1 None))"
    assert str(Forest.from_nltk(nltk.Tree.fromstring("((S (NP a)))"))[0]) == "(S (NP a))"


def test_bad_nltk_trees() -> None:
    with pytest.raises(ParseError, match="sample 0: a label is empty"):
        Forest.from_nltk([nltk.Tree("", ["a", "b"])])
    with pytest.raises(InputTypeError, match="sample 1: expected a tree of NLTK, got str"):
        Forest.from_nltk([nltk.Tree("S", ["a"]), "(S a)"])


def test_learners_take_nltk_trees() -> None:
    texts = ["(S (A a))", "(S (A b))", "(S (B a))", "(S (B b))"] * 3
    y = [0, 0, 1, 1] * 3
    given_trees = [nltk.Tree.fromstring(text) for text in texts]
    expected = (
        TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge")
        .fit(texts, y)
        .decision_function(texts)
    )
    model = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(given_trees, y)
    assert np.array_equal(model.decision_function(given_trees), expected)
    assert np.array_equal(SubsetTree()(given_trees), SubsetTree()(texts))
    assert Forest(given_trees[0]) == Forest(texts[:1])


def test_a_chain_of_nltk() -> None:
    tree = nltk.Tree("a", [])
    for _ in range(CHAIN - 1):
        tree = nltk.Tree("a", [tree])
    assert Forest.from_nltk(tree) == Forest.from_parents(["a"] * CHAIN, range(-1, CHAIN - 1))


# ---------------------------------------------------------------- networkx


def as_graph(node: Node, rng: Any) -> Any:
    """A graph with names in random order; children in the order of their edges."""
    graph = networkx.DiGraph()
    labels, parents = forest_of([node])[0].to_parents()
    names = [f"n{i}" for i in range(len(labels))]
    rng.shuffle(names)
    for name in sorted(names):
        graph.add_node(name, label=labels[names.index(name)], place=names.index(name))
    graph.add_edges_from((names[parents[i]], names[i]) for i in range(1, len(names)))
    return graph


@n_examples(50)
@given(st.lists(trees(), max_size=3), RNG)
def test_graphs_give_their_trees(nodes: list[Node], rng: Any) -> None:
    graphs = [as_graph(node, rng) for node in nodes]
    assert Forest.from_networkx(graphs) == forest_of(nodes)
    assert Forest.from_networkx(graphs, order="place") == forest_of(nodes)


def test_order_and_labels_of_graphs() -> None:
    graph = networkx.DiGraph([(0, 3), (0, 1), (1, 2)])
    assert str(Forest.from_networkx(graph, label=None)[0]) == "(0 3 (1 2))"
    assert str(Forest.from_networkx(graph, label=None, order=int)[0]) == "(0 (1 2) 3)"


@pytest.mark.parametrize(
    ("graph", "options", "message"),
    [
        (networkx.DiGraph([(0, 1), (2, 1)]), {}, "node 1 has 2 parents"),
        (networkx.MultiDiGraph([(0, 1), (0, 1)]), {}, "node 1 has 2 parents"),
        (networkx.DiGraph([(0, 1), (1, 0)]), {}, "no root"),
        (networkx.DiGraph([(0, 1), (2, 3), (3, 2)]), {}, "a part of the graph is a cycle"),
        (networkx.DiGraph([(0, 1), (2, 3)]), {}, "2 roots: 0 and 2"),
        (networkx.DiGraph(), {}, "no root"),
        (networkx.Graph([(0, 1)]), {}, "not directed"),
        (networkx.DiGraph([(0, 1)]), {}, "node 0 has no attribute 'label' .*label=None"),
        (networkx.DiGraph([(0, 1)]), {"label": None, "order": 1}, "order must be"),
        (networkx.DiGraph([(0, 1), (0, "a")]), {"label": None, "order": lambda n: n},
         "children of 0 cannot be sorted"),
        (3, {}, "expected networkx graphs, got int"),
        ([3], {}, "sample 0: expected a networkx DiGraph, got int"),
    ],
)  # fmt: skip
def test_graphs_that_are_no_trees(graph: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(FilbertError, match=message):
        Forest.from_networkx(graph, **options)


def test_a_chain_of_networkx() -> None:
    graph = networkx.path_graph(CHAIN, create_using=networkx.DiGraph)
    networkx.set_node_attributes(graph, "a", "label")
    chain = Forest.from_parents(["a"] * CHAIN, range(-1, CHAIN - 1))
    assert Forest.from_networkx(graph) == chain


def test_graphs_name_the_method_for_them() -> None:
    with pytest.raises(InputTypeError, match=r"sample 0 .*: use Forest\.from_networkx"):
        Forest([networkx.DiGraph()])

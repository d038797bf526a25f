"""The contribution of each node of an example to its scores."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from filbert.arrays import FloatArray
from filbert.engine.contributions import Contributions
from filbert.errors import InexactExplanationError, InvalidParameterError
from filbert.explanations.data import PlainTree
from filbert.model import TermScores
from filbert.tree import Tree

MOST_NODES = 100_000  # per example, because every node is listed
_ROUNDING = 1e-9  # largest deviation of a sum from a score, relative to the terms
_WHOLE = "example"  # the label above the parts of an example


@dataclass(frozen=True)
class NodeScores:
    """The tree of an example, and the contribution of each node to each problem."""

    tree: PlainTree
    values: FloatArray  # of shape (n_nodes, n_problems)


def node_scores(terms: list[TermScores], n: int) -> Iterator[NodeScores]:
    """Combine the contributions of all terms of a kernel for `n` examples, example by example.

    An example that is a single tree gives that tree. Otherwise the root stands for the whole
    example and has the contribution of a constant. Below it is one node per part. The node of a
    vector has the contribution of the vector. The node of a tree has the tree below it.
    """
    forests: dict[str | None, list[_Nodes]] = {}
    others: dict[str | None, FloatArray] = {}
    for term in terms:
        if term.nodes is not None:
            forests.setdefault(term.part, []).append(_Nodes(term.nodes))
        else:
            others[term.part] = others.get(term.part, 0.0) + term.values
    for i in range(n):
        trees = {part: _summed([nodes.of(i) for nodes in own]) for part, own in forests.items()}
        if len(trees) == 1 and not others:
            yield next(iter(trees.values()))
        else:
            yield _joined(trees, {part: values[i] for part, values in others.items()})


def check_sums(nodes: NodeScores, intercept: FloatArray, scores: FloatArray, index: int) -> None:
    """Raise InexactExplanationError if the contributions do not sum to the score."""
    if deviation(nodes, intercept, scores) > _ROUNDING:
        sums = nodes.values.sum(axis=0) + intercept
        raise InexactExplanationError(
            f"the contributions of example {index} sum to {sums.tolist()}, but its scores are "
            f"{scores.tolist()}: please report this"
        )


def deviation(nodes: NodeScores, intercept: FloatArray, scores: FloatArray) -> float:
    """Return the largest deviation of a sum from a score, relative to the terms of the sum."""
    sums = nodes.values.sum(axis=0) + intercept
    scale = np.maximum(np.abs(scores), np.abs(nodes.values).sum(axis=0) + np.abs(intercept))
    return float(np.max(np.abs(sums - scores) / np.maximum(scale, np.finfo(float).tiny)))


class _Nodes:
    """Contributions by distinct node, which can be read tree by tree."""

    def __init__(self, contributions: Contributions) -> None:
        self.trees = contributions.trees
        self.node = contributions._node
        self.value = contributions.value
        n = len(contributions.trees)
        self.begin = np.searchsorted(contributions.tree, np.arange(n + 1))

    def of(self, i: int) -> NodeScores:
        """Return the i-th tree with the values of all its nodes."""
        tree = self.trees[i]
        check_size(tree, i)
        first, last = self.begin[i], self.begin[i + 1]
        place = {int(node): p for p, node in enumerate(self.node[first:last], first)}
        labels, parents, nodes = _preorder(tree)
        values = np.zeros((len(labels), self.value.shape[1]))
        for number, node in enumerate(nodes):
            if node in place:
                values[number] = self.value[place[node]]
        return NodeScores(PlainTree(tuple(labels), tuple(parents)), values)


def check_size(tree: Tree, index: int) -> None:
    """Raise InvalidParameterError if a tree has too many nodes to list them all."""
    if tree.n_nodes > MOST_NODES:
        raise InvalidParameterError(
            f"example {index} has {tree.n_nodes:,} nodes, but an explanation lists every node, "
            f"at most {MOST_NODES:,}: leave this example out"
        )


def _preorder(tree: Tree) -> tuple[list[str], list[int], list[int]]:
    labels, parents = tree.to_parents()
    return labels, parents, [node._node for node in tree.nodes()]


def _summed(terms: list[NodeScores]) -> NodeScores:
    values = sum((term.values for term in terms[1:]), terms[0].values)
    return NodeScores(terms[0].tree, np.asarray(values))


def _joined(
    trees: dict[str | None, NodeScores], others: dict[str | None, FloatArray]
) -> NodeScores:
    n_problems = next(iter([*others.values(), *(t.values[0] for t in trees.values())])).shape[0]
    none = np.zeros((1, n_problems))
    labels, parents = [_WHOLE], [-1]
    values = [none + others.get(None, 0.0)]
    for part, nodes in trees.items():
        labels.append(part or "tree")
        parents.append(0)
        values += [none + others.get(part, 0.0) if part is not None else none, nodes.values]
        above = len(labels) - 1
        parents += [above if p < 0 else p + len(labels) for p in nodes.tree.parents]
        labels += nodes.tree.labels
    for part, own in others.items():
        if part is not None and part not in trees:
            labels.append(part)
            parents.append(0)
            values.append(own[None])
    return NodeScores(PlainTree(tuple(labels), tuple(parents)), np.concatenate(values))

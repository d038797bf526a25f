"""Trees as arrays of labels and of parents."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from filbert.errors import InputTypeError, InvalidParameterError, ParseError
from filbert.given import described
from filbert.objects.texts import is_integer, label_of, listed, texts_of
from filbert.read.bracket_text import bracket_text

_Pair = tuple[Sequence[Any], Sequence[Any]]


def parents_texts(labels: Any, parents: Any, sizes: Any) -> Iterator[str]:
    """Yield the texts of trees that are given by the numbers of their nodes' parents.

    Parameters
    ----------
    labels, parents : sequences, or sequences of sequences
        One tree, or one tree in each entry.
    sizes : sequence of int, optional
        The numbers of nodes of several trees that follow each other in the sequences.
    """
    labels, parents = _as_list(labels, "labels"), _as_list(parents, "parents")
    if len(labels) != len(parents):
        raise InvalidParameterError(
            f"there are {len(labels):,} labels and {len(parents):,} parents: pass one for each node"
        )
    return texts_of(_split(labels, parents, sizes), _text_of)


def _split(labels: list[Any], parents: list[Any], sizes: Any) -> Iterable[_Pair]:
    if sizes is not None:
        return _cut(labels, parents, _as_list(sizes, "sizes"))
    if not labels:
        return ()
    if isinstance(labels[0], str) or not isinstance(labels[0], Iterable):
        return [(labels, parents)]
    return (
        (_as_list(one, "labels"), _as_list(above, "parents"))
        for one, above in zip(labels, parents, strict=True)
    )


def _cut(labels: list[Any], parents: list[Any], sizes: list[Any]) -> Iterator[_Pair]:
    for size in sizes:
        if not is_integer(size) or size < 1:
            raise InvalidParameterError(f"sizes must be integers of at least 1, got {size!r}")
    if sum(sizes) != len(labels):
        raise InvalidParameterError(
            f"sizes sum to {sum(sizes):,}, but there are {len(labels):,} nodes"
        )
    ends = np.cumsum([0, *sizes]).tolist()
    return ((labels[begin:end], parents[begin:end]) for begin, end in pairwise(ends))


def _text_of(tree: _Pair) -> str:
    labels, parents = tree
    if len(labels) != len(parents):
        raise ParseError(
            f"there are {len(labels):,} labels and {len(parents):,} parents",
            hint="pass one of each for every node",
        )
    root, children = _checked(parents)
    return bracket_text(root, lambda node: (label_of(labels[node]), children[node]))


def _checked(parents: Sequence[Any]) -> tuple[int, list[list[int]]]:
    """Return the root and each node's children, in the order of their positions."""
    n = len(parents)
    roots: list[int] = []
    children: list[list[int]] = [[] for _ in range(n)]
    for node, parent in enumerate(parents):
        if not is_integer(parent):
            raise InputTypeError(
                f"the parent of node {node} is {described(parent)}, not an integer; "
                "the root's parent is -1"
            )
        if not -1 <= parent < n:
            raise ParseError(
                f"the parent of node {node} is {parent}, but the tree has {n:,} nodes",
                hint="number the nodes of each tree from 0; the root's parent is -1",
            )
        (roots if parent == -1 else children[parent]).append(node)
    if len(roots) > 1:
        raise ParseError(
            f"nodes {roots[0]} and {roots[1]} are both roots",
            hint="pass several trees as lists of lists, or with sizes",
        )
    reached = list(roots)
    for node in reached:  # the list grows while it is read
        reached.extend(children[node])
    if len(reached) < n or not roots:
        missing = min(set(range(n)).difference(reached), default=0)
        raise ParseError(
            f"no path leads from a root to node {missing}" if n else "there is no node",
            hint="the parents have a cycle" if n else "a tree has at least one node",
        )
    return roots[0], children


def _as_list(values: Any, what: str) -> list[Any]:
    if isinstance(values, np.ndarray):
        return list(values.tolist())
    return list(listed(values, f"{what} as a list or an array"))

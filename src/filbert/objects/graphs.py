"""Arborescences of networkx: directed graphs in which each node but the root has one parent."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from filbert.errors import InputTypeError, InvalidParameterError, ParseError
from filbert.given import described
from filbert.objects.texts import label_of, listed, texts_of
from filbert.read.bracket_text import bracket_text

Order = str | Callable[[Any], Any] | None


def networkx_texts(graphs: Any, label: str | None, order: Order) -> Iterator[str]:
    """Yield the texts of networkx graphs: one graph, or an iterable of graphs.

    Parameters
    ----------
    graphs : DiGraph, or iterable of DiGraphs
    label : str or None
        The attribute that holds the label, or None for the name of the node.
    order : str, callable or None
        The attribute by which children are sorted, or a key function of nodes. None keeps the
        order in which the edges were added.
    """
    if order is not None and not isinstance(order, str) and not callable(order):
        raise InvalidParameterError(
            f"order must be an attribute, a function or None, got {described(order)}"
        )
    if hasattr(graphs, "is_directed"):
        graphs = [graphs]
    return texts_of(listed(graphs, "networkx graphs"), lambda graph: _text(graph, label, order))


def _text(graph: Any, label: str | None, order: Order) -> str:
    root = _root(graph)

    def view(node: Any) -> tuple[str, Sequence[Any]]:
        children = _children(graph, node, order)
        if label is None:
            return str(node), children
        return label_of(_attribute(graph, node, label)), children

    return bracket_text(root, view)


def _children(graph: Any, node: Any, order: Order) -> list[Any]:
    children = list(graph.successors(node))
    if order is None:
        return children
    key = order if callable(order) else lambda child: _attribute(graph, child, order)
    try:
        return sorted(children, key=key)
    except TypeError as error:
        raise InputTypeError(
            f"the children of {node!r:.40} cannot be sorted: {error}; use values of one type"
        ) from None


def _attribute(graph: Any, node: Any, name: str) -> Any:
    try:
        return graph.nodes[node][name]
    except KeyError:
        raise ParseError(
            f"the node {node!r:.40} has no attribute {name!r}",
            hint="name another attribute, or pass label=None to use the names of nodes",
        ) from None


def _root(graph: Any) -> Any:
    """Return the root of a graph that is a tree."""
    if not hasattr(graph, "is_directed"):
        raise InputTypeError(f"expected a networkx DiGraph, got {described(graph)}")
    if not graph.is_directed():
        raise ParseError(
            "the graph is not directed", hint="direct its edges away from the root: a DiGraph"
        )
    degrees = dict(graph.in_degree())
    roots = [node for node, degree in degrees.items() if degree == 0]
    for node, degree in degrees.items():
        if degree > 1:
            raise ParseError(f"the node {node!r:.40} has {degree} parents", hint="a tree has one")
    if len(roots) != 1:
        names = " and ".join(f"{node!r:.40}" for node in roots[:2])
        raise ParseError(
            f"there are {len(roots)} roots: {names}" if roots else "there is no root",
            hint="pass connected graphs, one for each tree, without cycles",
        )
    reached = list(roots)
    for node in reached:  # the list grows while it is read
        reached.extend(graph.successors(node))
    if len(reached) < len(degrees):
        raise ParseError("a part of the graph is a cycle", hint="a tree has no cycles")
    return roots[0]

"""Trees as nested lists, tuples or dictionaries."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from filbert.errors import InputTypeError, ParseError
from filbert.given import described
from filbert.objects.texts import label_of, listed, texts_of
from filbert.read.bracket_text import bracket_text


def nested_texts(trees: Any, label: str, children: str) -> Iterator[str]:
    """Yield the texts of nested trees.

    Parameters
    ----------
    trees : iterable of lists, tuples or dictionaries
    label, children : str
        The keys of dictionaries.
    """
    what = "a list of trees such as [('S', ('NP', 'a'), 'b')]"
    if isinstance(trees, Mapping):
        raise InputTypeError(f"expected {what}, got a single dictionary: put it into a list")

    def view(node: Any) -> tuple[str, Sequence[Any]]:
        if isinstance(node, Mapping):
            return _mapping_view(node, label, children)
        return _sequence_view(node) if isinstance(node, list | tuple) else (label_of(node), ())

    def text_of(tree: Any) -> str:
        if not isinstance(tree, list | tuple | Mapping):
            raise InputTypeError(
                f"{described(tree)} is not a nested tree: put a single tree into a list, and write "
                "a tree of one node as ('a',)"
            )
        return bracket_text(tree, view)

    return texts_of(listed(trees, what), text_of)


def _sequence_view(node: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    if not node:
        raise ParseError("an empty list is not a tree", hint="the first item of a list is a label")
    if isinstance(node[0], list | tuple | Mapping):
        raise ParseError(
            "a list begins with another list instead of a label",
            hint="write nodes as (label, child, child, ...)",
        )
    return label_of(node[0]), node[1:]


def _mapping_view(node: Mapping[str, Any], label: str, children: str) -> tuple[str, Sequence[Any]]:
    if label not in node:
        names = ", ".join(map(repr, list(node)[:6]))
        raise ParseError(
            f"a dictionary has no key {label!r}; it has {names or 'none'}",
            hint="name the keys: from_nested(trees, label='name', children='children')",
        )
    below = node.get(children)
    if below is None:
        below = ()
    if not isinstance(below, list | tuple):
        raise InputTypeError(f"the children of a node must be a list, not {described(below)}")
    return label_of(node[label]), below

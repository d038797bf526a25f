"""Write trees of any kind of node in bracket notation, without recursion."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from filbert.errors import ParseError
from filbert.read.escape import escape_label

_Node = TypeVar("_Node")
_CLOSE: Any = object()  # on the stack: closes the innermost open node


def bracket_text(root: _Node, view: Callable[[_Node], tuple[str, Sequence[_Node]]]) -> str:
    """Return a tree in bracket notation.

    Parameters
    ----------
    root : any object
    view : callable
        Return the label and the children of a node.

    Raises
    ------
    ParseError
        If a label is empty, or if a node is below itself.

    >>> bracket_text(6, lambda n: (str(n), [d for d in (2, 3) if d < n and n % d == 0]))
    '(6 2 3)'
    """
    pieces: list[str] = []
    path: list[_Node] = []  # the open nodes, kept alive: ids of dead objects are used again
    open_ids: set[int] = set()
    stack: list[_Node] = [root]
    while stack:
        node = stack.pop()
        if node is _CLOSE:
            open_ids.remove(id(path.pop()))
            pieces.append(")")
            continue
        label, children = view(node)
        if not label:
            raise ParseError("a label is empty", hint="use a placeholder such as '_'")
        if not children:
            pieces.append(f" {escape_label(label)}")
            continue
        if id(node) in open_ids:
            raise ParseError(f"a node {label!r:.40} is below itself", hint="a tree has no cycles")
        open_ids.add(id(node))
        path.append(node)
        pieces.append(f" ({escape_label(label)}")
        stack.append(_CLOSE)
        stack.extend(reversed(children))
    text = "".join(pieces)[1:]
    return text if text.startswith("(") else f"({text})"

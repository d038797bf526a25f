"""Convert Python syntax trees (``ast`` nodes) to bracket notation.

The tree is meant for learning. The source cannot be restored from it:

* a node's label is its ``ast`` class: ``Call``, ``If``, ``Add``;
* identifiers are leaves: ``(Attribute (Name self) size)``;
* a constant is a leaf that names its kind, ``(Constant str)``, but ``True``, ``False`` and
  ``None`` keep their values, because programs branch on them;
* fields are inlined in their order, except those of ``_GROUPED``, which get their own node;
* ``ctx``, type comments and the like are dropped, because they add nothing to the tree.

Fields are read from the nodes themselves, so classes that later versions of Python add are
converted by the same rules.
"""

import ast
from collections.abc import Callable, Iterator
from types import EllipsisType

from filbert.read.escape import escape_label

Rename = Callable[[str], str]
"""A function from an identifier to the label that is written for it."""

# If these were inlined, they could be mistaken for the field before them: the else of an ``if`` for
# more of its body, the upper end of a slice for the lower one, ``*args`` for a plain argument.
_GROUPED = frozenset({"asname", "body", "decorator_list", "defaults", "finalbody", "kw_defaults"})
_GROUPED |= {"kwarg", "kwonlyargs", "lower", "orelse", "returns", "step", "upper", "vararg"}

# ``kind`` is the u of u"..."; ``str`` is the source text of a template's interpolation.
_DROPPED = frozenset({"ctx", "kind", "str", "type_comment", "type_ignores"})

# In lists, ``ast`` writes None for an absent entry: the key of ``**other`` in a dict display, or
# the default of a keyword-only argument that has none.
_NOTHING = "_"

# An item that is still to be written: a syntax node, a field with its own node, or finished text.
_Item = ast.AST | tuple[str, list["_Item"]] | str


def ast_to_brackets(node: ast.AST, rename: Rename | None = None) -> str:
    """Convert a syntax tree to bracket notation.

    Parameters
    ----------
    node
        Any node of ``ast``: a module, a function, an expression.
    rename
        A function that is called with every identifier and returns the label to write instead, for
        instance to hide a name or to make all names equal. The parts of a dotted import are
        separate identifiers.

    >>> ast_to_brackets(ast.parse("x.size + 1", mode="eval").body)
    '(BinOp (Attribute (Name x) size) Add (Constant int))'
    """
    pieces: list[str] = []
    stack: list[_Item] = [node]  # instead of recursion, so that no nesting is too deep
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            pieces.append(item)
            continue
        if isinstance(item, tuple):
            label, children = item
        else:
            label, children = type(item).__name__, list(_children(item, rename))
        if children:
            pieces.append(f" ({label}")
            stack.append(")")
            stack.extend(reversed(children))
        else:
            pieces.append(f" {label}")
    text = "".join(pieces)[1:]
    return text if text.startswith("(") else f"({text})"


def _children(node: ast.AST, rename: Rename | None) -> Iterator[_Item]:
    """Yield the items below a node: its fields in order."""
    if isinstance(node, ast.Constant | ast.MatchSingleton):
        yield f" {_constant_label(node.value)}"
        return
    for field, value in ast.iter_fields(node):
        if field in _DROPPED or value is None:
            continue
        items = list(_field_items(value, rename))
        if items and field in _GROUPED:
            yield (field, items)
        else:
            yield from items


def _field_items(value: object, rename: Rename | None) -> Iterator[_Item]:
    """Yield the nodes and identifiers of one field."""
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, ast.AST):
            yield part
        elif isinstance(part, str):
            for name in part.split("."):
                yield f" {escape_label(rename(name) if rename else name)}"
        elif part is None:
            yield f" {_NOTHING}"
        # The other values are small integers such as ``is_async``: flags that are not needed here.


def _constant_label(value: object) -> str:
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, EllipsisType):
        return "Ellipsis"
    return type(value).__name__

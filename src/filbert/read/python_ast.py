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
from types import EllipsisType
from typing import Any

from filbert.read.code_options import Constants, Labels, Rename, numbered_names
from filbert.read.escape import escape_label

# If these were inlined, they could be mistaken for the field before them: the else of an ``if`` for
# more of its body, the upper end of a slice for the lower one, ``*args`` for a plain argument.
_GROUPED = frozenset({"asname", "body", "decorator_list", "defaults", "finalbody", "kw_defaults"})
_GROUPED |= {"kwarg", "kwonlyargs", "lower", "orelse", "returns", "step", "upper", "vararg"}

# ``kind`` is the u of u"..."; ``str`` is the source text of a template's interpolation.
_DROPPED = frozenset({"ctx", "kind", "str", "type_comment", "type_ignores"})

# Python refuses to write longer integers in decimals (4,300 digits).
_LONG = 10_000  # bits

# In lists, ``ast`` writes None for an absent entry: the key of ``**other`` in a dict display, or
# the default of a keyword-only argument that has none.
_NOTHING = " _"


def ast_to_brackets(
    node: ast.AST,
    rename: Rename | None = None,
    *,
    labels: Labels = "names",
    constants: Constants = "kinds",
) -> str:
    """Convert a syntax tree to bracket notation.

    Parameters
    ----------
    node
        Any node of ``ast``: a module, a function, an expression.
    rename
        A function that is called once with every distinct identifier, in the order of the tree,
        and returns the label to write instead, for instance to hide a name. The parts of a dotted
        import are separate identifiers.
    labels, constants
        See :class:`~filbert.read.code_options.CodeOptions`. "abstract" replaces `rename`.

    >>> size = ast.parse("x.size + 1", mode="eval").body
    >>> ast_to_brackets(size)
    '(BinOp (Attribute (Name x) size) Add (Constant int))'
    >>> ast_to_brackets(size, labels="types", constants="values")
    '(BinOp (Attribute Name) Add (Constant 1))'
    """
    names = _Names(numbered_names() if labels == "abstract" else rename or str)
    constant_label = _value if constants == "values" else _kind
    with_names = labels != "types"
    pieces: list[str] = []
    # A stack instead of recursion, so that no nesting is too deep. It holds what is still to be
    # written: syntax nodes, finished text, and identifiers in tuples.
    stack: list[Any] = [node]
    write, push, pop = pieces.append, stack.append, stack.pop
    syntax_node, layouts = ast.AST, _LAYOUTS
    while stack:
        item = pop()
        kind = type(item)
        if kind is str:
            write(item)
            continue
        if kind is tuple:
            write(names[item[0]])
            continue
        label, fields, is_constant = layouts[kind]
        if is_constant:
            write(f" ({label} {constant_label(getattr(item, 'value', None))})")
            continue
        size = len(stack)
        push(")")
        for field, opening in fields:  # the last field first, because the stack turns them round
            value = getattr(item, field, None)
            if not value or (isinstance(value, str) and not with_names):
                continue
            if opening:
                push(")")
            if isinstance(value, syntax_node):
                push(value)
            else:
                _push_parts(value, stack, with_names)
            if opening:
                push(opening)
        if len(stack) > size + 1:
            write(" (" + label)
        else:
            stack[-1] = " " + label
    text = "".join(pieces)[1:]
    return text if text.startswith("(") else f"({text})"


def _push_parts(value: object, stack: list[Any], with_names: bool) -> None:
    """Push the parts of a field that is a list or an identifier, the last one first."""
    push, syntax_node = stack.append, ast.AST
    for part in reversed(value) if isinstance(value, list) else (value,):
        if isinstance(part, syntax_node):
            push(part)
        elif part is None:
            push(_NOTHING)
        elif isinstance(part, str) and with_names:
            for name in reversed(part.split(".")) if "." in part else (part,):
                push((name,))
        # Other values are small integers such as ``is_async``: flags that are not needed here.


class _Names(dict[str, str]):
    """Identifiers as they are written, each renamed and escaped once."""

    def __init__(self, rename: Rename) -> None:
        self._rename = rename

    def __missing__(self, name: str) -> str:
        self[name] = f" {escape_label(self._rename(name))}"
        return self[name]


class _Layouts(dict[type[ast.AST], tuple[str, list[tuple[str, str]], bool]]):
    """For each class of nodes: its label, its fields, last first, and whether it is a constant.

    With a field goes the text that opens its own node, or "" if the field is inlined.
    """

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, list[tuple[str, str]], bool]:
        fields = [
            (field, f" ({field}" if field in _GROUPED else "")
            for field in reversed(kind._fields)
            if field not in _DROPPED
        ]
        is_constant = issubclass(kind, ast.Constant | ast.MatchSingleton)
        self[kind] = kind.__name__, fields, is_constant
        return self[kind]


_LAYOUTS = _Layouts()


def _kind(value: object) -> str:
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, EllipsisType):
        return "Ellipsis"
    return type(value).__name__


def _value(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > _LONG:
        return hex(value)
    return escape_label(repr(value))

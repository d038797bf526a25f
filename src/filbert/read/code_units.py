"""Find functions and classes while a cursor walks over a syntax tree of tree-sitter."""

from dataclasses import dataclass

from tree_sitter import Node

from filbert.read.code_options import Unit
from filbert.read.languages import Language


@dataclass
class FoundUnit:
    """A function or class: its name, its lines, and the pieces of text between which it lies."""

    name: str
    line: int
    end_line: int
    start: int
    end: int = -1


class UnitFinder:
    """Collects the units of a file, with qualified names.

    The walk calls :meth:`enter` with each node whose type is in `marked`, and :meth:`leave` at the
    end of a node if it is as deep as `depth`. Units with syntax errors are left out.

    Attributes
    ----------
    marked : set of str
        The types of nodes that matter.
    depth : int
        The depth of the innermost open scope, or -1.
    found : list of FoundUnit
        In the order of the source.
    n_faulty : int
        The number of units with syntax errors.
    """

    def __init__(self, language: Language, unit: Unit, *, nested: bool) -> None:
        self._wanted = {"function": language.functions, "class": language.classes}.get(unit, ())
        self._nested = nested
        self._language = language
        self._scopes = dict(language.scopes)
        self._binders = dict(language.binders)
        self._binder: tuple[int, str] = (-1, "")
        self._open: list[tuple[int, str, FoundUnit | None]] = []  # depth, name, unit
        self._n_open_units = 0
        self.depth = -1
        self.found: list[FoundUnit] = []
        self.n_faulty = 0
        marked = (*language.functions, *language.classes, *self._scopes, *self._binders)
        self.marked = set(marked) if self._wanted else set()

    def enter(self, node: Node, depth: int, start: int) -> None:
        """Note that a node begins."""
        kind = node.type
        if kind in self._binders:
            self._binder = (depth, _field_text(node, self._binders[kind]))
            return
        name = self._name(node, kind, depth)
        if not name:
            return
        unit = None
        if kind in self._wanted and (self._nested or not self._n_open_units):
            qualified = self._language.separator.join([*(one for _, one, _ in self._open), name])
            unit = FoundUnit(qualified, node.start_point[0] + 1, node.end_point[0] + 1, start)
            self._n_open_units += 1
            if node.has_error:
                self.n_faulty += 1
            else:
                self.found.append(unit)
        self._open.append((depth, name, unit))
        self.depth = depth

    def leave(self, end: int) -> None:
        """Note that the innermost open scope ends."""
        _, _, unit = self._open.pop()
        if unit:
            unit.end = end
            self._n_open_units -= 1
        self.depth = self._open[-1][0] if self._open else -1

    def _name(self, node: Node, kind: str, depth: int) -> str:
        """Return the name of a scope, or "" if the node is none."""
        if kind in self._scopes:
            return _field_text(node, self._scopes[kind]) or "<anonymous>"
        if kind in self._language.classes:
            if self._language.needs_body and node.child_by_field_name("body") is None:
                return ""
            return _field_text(node, "name") or self._bound_name(depth) or "<anonymous>"
        return _receiver(node) + (_declared_name(node) or self._bound_name(depth))

    def _bound_name(self, depth: int) -> str:
        return self._binder[1] if self._binder[0] == depth - 1 else ""


def _declared_name(function: Node) -> str:
    """Return the field ``name``, or the innermost declarator as in C, or ""."""
    if name := _field_text(function, "name"):
        return name
    inner = function.child_by_field_name("declarator")
    while inner is not None:
        function, inner = inner, inner.child_by_field_name("declarator")
        if inner is None:
            return _text(function)
    return ""


def _receiver(method: Node) -> str:
    """Return ``Type.`` for a method of Go, else ""."""
    receiver = method.child_by_field_name("receiver")
    if receiver is None:
        return ""
    declared = receiver.named_child(0)
    name = _field_text(declared, "type") if declared else ""
    return name.lstrip("*").partition("[")[0] + "."


def _field_text(node: Node, field: str) -> str:
    child = node.child_by_field_name(field)
    return _text(child) if child else ""


def _text(node: Node) -> str:
    return " ".join((node.text or b"").decode().split())

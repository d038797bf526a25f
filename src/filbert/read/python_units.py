"""Parse Python sources and find their functions and classes."""

import ast
import gc
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from filbert.errors import ParseError
from filbert.read.code_options import Unit

Function = ast.FunctionDef | ast.AsyncFunctionDef

# The fields that hold statements, or what holds statements, in the order of the source.
_BLOCKS = ("body", "handlers", "cases", "orelse", "finalbody")

_PART = 1 << 16  # bytes: parsed within some hundredths of a second
_NEW_STATEMENT = re.compile(rb"^(?=(?:async +)?def |class |@)", re.MULTILINE)
_ENCODING = re.compile(rb"(?:.*\n)?.*coding[=:]")  # in the first two lines (PEP 263)


def parse_module(source: bytes, name: str = "", *, is_utf8: bool = False) -> ast.Module:
    """Parse a source file, given as bytes, with the running Python.

    The encoding is what the first two lines declare (PEP 263), or UTF-8. If `is_utf8`, it is UTF-8
    whatever they declare.

    Raises
    ------
    ParseError
        If this version of Python cannot parse the file. `name` is the source of the error.
    """
    if b"\0" in source:
        before = source[: source.index(b"\0")]
        raise ParseError(
            "the source has a null byte",
            hint="remove it; UTF-16 must be converted to UTF-8",
            source=name,
            line=before.count(b"\n") + 1,
            column=len(before[before.rfind(b"\n") + 1 :].decode(errors="replace")) + 1,
        )
    try:
        with warnings.catch_warnings(), _paused_collector():
            warnings.simplefilter("ignore")  # outdated escapes in strings, such as "\d"
            text = source.decode() if is_utf8 else source
            return _parsed_in_parts(source, is_utf8=is_utf8) or ast.parse(text)
    except SyntaxError as error:
        raise ParseError(
            error.msg,
            hint=_hint(error.msg),
            source=name,
            line=error.lineno or None,
            column=error.offset if error.offset and error.offset > 0 else None,
        ) from None
    except UnicodeDecodeError:
        raise ParseError(
            "the text has half of a surrogate pair", hint="remove it", source=name
        ) from None
    except (RecursionError, MemoryError):
        raise ParseError(
            "the code is nested too deeply for Python's parser",
            hint="split long chains of operators, calls or elif, or leave the file out",
            source=name,
        ) from None


def _parsed_in_parts(source: bytes, *, is_utf8: bool) -> ast.Module | None:
    """Parse a large source part by part, or return None if it is small or cannot be divided.

    Python handles Ctrl-C between two calls of its parser, and a call for a whole file may take
    seconds. A part ends before a line that begins with ``def``, ``class`` or a decorator. None of
    these continues a statement. So if the text before such a line can be parsed, the line begins a
    statement of its own, and is not within a string or a bracket. If it cannot be parsed, the part
    is made twice as long.
    """
    if len(source) < 2 * _PART or (not is_utf8 and _ENCODING.match(source)):
        return None
    source = source.replace(b"\r\n", b"\n").replace(b"\r", b"\n")  # as Python's parser does
    body: list[ast.stmt] = []
    begin = n_lines = 0
    size = _PART
    while begin < len(source):
        found = _NEW_STATEMENT.search(source, begin + size)
        end = found.start() if found else len(source)
        try:
            # Empty lines, so that nodes have the lines of the file.
            part = b"\n" * n_lines + source[begin:end]
            body += ast.parse(part.decode() if is_utf8 else part).body
        except SyntaxError:
            if found is None:
                return None
            size *= 2
            continue
        n_lines += source.count(b"\n", begin, end)
        begin, size = end, _PART
    return ast.Module(body, type_ignores=[])


def find_units(
    module: ast.Module, unit: Unit, *, nested: bool = True
) -> Iterator[tuple[str, ast.stmt]]:
    r"""Yield the functions or the classes with their qualified names, in the order of the source.

    A name is the ``__qualname__`` that Python gives. Lambdas are expressions, not functions. If
    `nested` is False, the units within a unit are left out; methods are within a class only.

    >>> source = b"class A:\n  def f(self):\n    def g(): pass"
    >>> [name for name, _ in find_units(parse_module(source), "function")]
    ['A.f', 'A.f.<locals>.g']
    >>> [name for name, _ in find_units(parse_module(source), "function", nested=False)]
    ['A.f']
    """
    stack: list[tuple[str, ast.AST]] = [("", module)]
    while stack:
        scope, node = stack.pop()
        if isinstance(node, Function | ast.ClassDef):
            is_class = isinstance(node, ast.ClassDef)
            if is_class == (unit == "class"):
                yield scope + node.name, node
                if not nested:
                    continue
            scope += f"{node.name}." if is_class else f"{node.name}.<locals>."
        for block in _blocks(node._fields):
            stack.extend([(scope, child) for child in reversed(getattr(node, block))])


@contextmanager
def _paused_collector() -> Iterator[None]:
    """Pause the garbage collector, which would look in vain through a tree that is being built.

    That takes a third of the time of parsing.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@cache
def _blocks(fields: tuple[str, ...]) -> list[str]:
    """Return those of a statement's fields that are blocks, the last one first."""
    return [block for block in reversed(_BLOCKS) if block in fields]


def _hint(message: str) -> str:
    if "codec can't decode" in message or "encoding" in message:
        return "save the file as UTF-8, or declare its encoding in line 1, such as # coding: cp1252"
    return f"the source must be valid for Python {sys.version_info[0]}.{sys.version_info[1]}"

"""Python source code: a tree for each file, class or function.

The running Python parses the source, and :mod:`filbert.read.python_ast` says what the trees look
like. Functions and classes have the columns ``name`` (as in ``__qualname__``), ``line`` and
``end_line``. The line is that of ``def`` or ``class``, below the decorators.
"""

from collections.abc import Iterator

from filbert.read.code_options import CodeOptions
from filbert.read.documents import Document, TreeRecord
from filbert.read.python_ast import ast_to_brackets
from filbert.read.python_units import find_units, parse_module

Options = CodeOptions


def read(document: Document, options: Options) -> Iterator[TreeRecord]:
    r"""Yield a tree for the module, or one for each of its classes or functions.

    >>> from io import BytesIO
    >>> document = Document("area.py", BytesIO(b"def area(r):\n    return 3.14 * r * r"))
    >>> [record] = read(document, Options(unit="function", labels="abstract"))
    >>> record.columns
    {'name': 'area', 'line': '1', 'end_line': '2'}
    >>> record.text  # doctest: +ELLIPSIS
    '(FunctionDef v0 (arguments (arg v1)) (body (Return (BinOp ... Mult (Name v1)))))'
    """
    module = parse_module(document.read_bytes(), document.name, is_utf8=document.is_text)
    if options.unit == "module":
        yield TreeRecord(
            ast_to_brackets(module, labels=options.labels, constants=options.constants)
        )
        return
    for name, node in find_units(module, options.unit, nested=options.nested):
        yield TreeRecord(
            ast_to_brackets(node, labels=options.labels, constants=options.constants),
            {"name": name, "line": str(node.lineno), "end_line": str(node.end_lineno)},
        )

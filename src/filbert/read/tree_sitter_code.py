"""Source code of the languages in :mod:`filbert.read.languages`, by tree-sitter.

The tree is the concrete syntax tree of the language's grammar, without comments:

* a node's label is its type in the grammar: ``method_declaration``, ``binary_expression``;
* an identifier is a node with its text as leaf: ``(identifier x)``;
* a constant shows its kind: ``decimal_integer_literal``, ``(string_literal string_fragment)``;
* of the tokens, those are leaves that distinguish programs: operators, modifiers, primitive types,
  and words such as ``else``. The option `tokens` chooses others.

Functions and classes have the columns ``name``, ``line`` and ``end_line``. tree-sitter parses the
rest of a file that has a syntax error, so that functions without errors can be kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tree_sitter import Node, Tree

from filbert.errors import InvalidParameterError, ParseError
from filbert.read.code_options import CodeOptions, check_choice
from filbert.read.code_units import UnitFinder
from filbert.read.documents import Document, Row, TreeRecord
from filbert.read.grammar import Tokens, grammar_of
from filbert.read.languages import LANGUAGES
from filbert.read.syntax_text import SyntaxText

_PLURALS = {"module": "files", "class": "classes", "function": "functions"}


@dataclass(frozen=True)
class Options(CodeOptions):
    """The options of source code that tree-sitter parses.

    Parameters
    ----------
    unit, nested, labels, constants
        See :class:`~filbert.read.code_options.CodeOptions`.
    tokens : {"operators", "none", "all"}
        The tokens without a name in the grammar that become leaves. "operators" are those that
        distinguish programs: operators, modifiers, primitive types, and words such as ``else``.
    encoding : str
        The encoding of the files.
    language : str
        Set by the format.
    """

    tokens: Tokens = "operators"
    encoding: str = "utf-8"
    language: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("tokens", self.tokens, Tokens)
        try:
            "a".encode(self.encoding)
        except (LookupError, TypeError, ValueError):
            raise InvalidParameterError(
                f"encoding must name an encoding that Python knows, not {self.encoding!r}"
            ) from None
        grammar_of(self.language)  # raises MissingLibraryError


def read(document: Document, options: Options) -> Iterator[Row]:
    r"""Yield a tree for the file, or one for each of its classes or functions.

    >>> from io import BytesIO
    >>> document = Document("A.java", BytesIO(b"class A {\n int f(int x) { return x + 1; }\n}"))
    >>> [record] = read(document, Options(unit="function", labels="types", language="java"))
    >>> record.columns
    {'name': 'A.f', 'line': '2', 'end_line': '2'}
    >>> record.text  # doctest: +ELLIPSIS
    '(method_declaration (integral_type int) identifier (formal_parameters ...'
    """
    grammar = grammar_of(options.language, options.labels, options.tokens)
    source = _source(document, options.encoding)
    tree = grammar.parser.parse(source)
    finder = UnitFinder(LANGUAGES[options.language], options.unit, nested=options.nested)
    text = SyntaxText(tree, grammar, finder, options.labels, options.constants)
    if tree.root_node.has_error:
        yield _syntax_error(document, source, tree, finder, options)
    if options.unit == "module" and not tree.root_node.has_error:
        yield TreeRecord(text.part(0, len(text)))
    for unit in finder.found:
        yield TreeRecord(
            text.part(unit.start, unit.end),
            {"name": unit.name, "line": str(unit.line), "end_line": str(unit.end_line)},
        )


def _source(document: Document, encoding: str) -> bytes:
    """Return the document as UTF-8."""
    data = document.read_bytes()
    encoding = "utf-8" if document.is_text else encoding
    try:
        text = data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(encoding, errors="replace")
        hint = "pass the encoding of the file, such as encoding='latin-1'"
        raise _error_after(document, before, f"the text is not {encoding}", hint) from None
    if "\0" in text:
        before = text[: text.index("\0")]
        hint = "remove it; UTF-16 needs encoding='utf-16'"
        raise _error_after(document, before, "the source has a null character", hint)
    return text.encode()


def _error_after(document: Document, before: str, reason: str, hint: str) -> ParseError:
    """Return the error for what follows a part of the text."""
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return document.error(reason, hint=hint, line=line, column=column)


def _syntax_error(
    document: Document, source: bytes, tree: Tree, finder: UnitFinder, options: Options
) -> ParseError:
    """Return the error for the first node that tree-sitter marks as wrong."""
    cursor: Any = tree.walk()  # its node is never None
    wrong: Node = tree.root_node
    while cursor.goto_first_child():
        while not cursor.node.has_error and cursor.goto_next_sibling():
            pass
        if not cursor.node.has_error:
            break
        wrong = cursor.node
    reason = (
        f"{wrong.type} is missing" if wrong.is_missing else f"invalid {options.language} syntax"
    )
    plural = _PLURALS[options.unit]
    hint = f'on_error="skip" leaves out the {plural} with errors'
    if options.unit != "module":
        hint += f": {finder.n_faulty} of the {finder.n_faulty + len(finder.found)} in this file"
    if options.language in ("c", "cpp"):
        hint += "; macros are not expanded"
    before = source[: wrong.start_byte].decode()
    return _error_after(document, before, reason, hint)

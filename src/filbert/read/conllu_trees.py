"""Dependency parses in CoNLL-U, by the library conllu: one tree per sentence.

The kinds of trees and their labels are those of :mod:`filbert.read.dependencies`.

* Nodes are the syntactic words. The lines of multiword tokens (``1-2``) and of empty nodes
  (``1.1``) are left out, and so are the features and the enhanced dependencies. Blanks around a
  value are removed.
* The comments ``# key = value`` of a sentence are its columns, such as ``sent_id`` and ``text``.
  ``# newdoc id`` is the column ``doc_id`` of all sentences of that document. Comments whose key has
  a blank are left out, and so are ``file`` and ``tree``, which are names of Filbert's columns.
* The first line of a CoNLL-U Plus file, ``# global.columns = ...``, names its columns.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import conllu
from conllu.exceptions import ParseException

from filbert.errors import ParseError
from filbert.read.dependencies import BadWordError, DependencyOptions, Word, dependency_text
from filbert.read.documents import Document, Row, TreeRecord

Options = DependencyOptions

_FIELDS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_LABELS = ("form", "lemma", "upos", "xpos", "deprel")
_USED = ("id", "head", *_LABELS)
_PLUS = "# global.columns ="
_SEPARATOR = re.compile(r"\t| {2,}")  # as in the library
_OTHER_COMMENTS = ("newdoc", "newpar", "global.columns", "file", "tree")
_LINE = tuple[int, str]


def _as_it_is(line: list[str], column: int) -> str:
    return line[column]


_PARSERS: dict[str, Callable[[list[str], int], Any]] = dict.fromkeys(
    ("feats", "deps", "misc"), _as_it_is
)


def read(document: Document, options: DependencyOptions) -> Iterator[Row]:
    """Yield the tree of each sentence, or its error."""
    fields: Sequence[str] = _FIELDS
    doc_id = ""
    for lines in _blocks(document):
        if lines[0][0] == 1 and lines[0][1].startswith(_PLUS):
            fields = _plus_fields(document, lines[0][1])
        numbered = [(number, line) for number, line in lines if not line.startswith("#")]
        if not numbered:
            continue
        try:
            sentence = _parsed(document, lines, numbered, fields)
            doc_id = _doc_id(sentence.metadata, doc_id)
            text = _text(document, sentence, numbered, options)
        except ParseError as error:
            yield error
            continue
        yield TreeRecord(text, _columns(sentence.metadata, doc_id))


def _blocks(document: Document) -> Iterator[list[_LINE]]:
    """Yield the lines between empty lines, with their numbers."""
    block: list[_LINE] = []
    for number, line in document.lines():
        if line.strip():
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def _plus_fields(document: Document, line: str) -> list[str]:
    fields = line.removeprefix(_PLUS).lower().split()
    for name in _USED:
        if fields.count(name) != 1:
            raise document.error(
                f"the columns of this file must contain {name.upper()} once",
                hint="convert the file to CoNLL-U",
                line=1,
            )
    return fields


def _parsed(
    document: Document, lines: list[_LINE], numbered: list[_LINE], fields: Sequence[str]
) -> conllu.TokenList:
    for number, line in numbered:
        n_columns = _n_columns(line.strip())
        if n_columns != len(fields):
            raise document.error(
                f"the line has {n_columns} columns instead of {len(fields)}",
                hint="CoNLL-U separates columns by single tabs; write _ for an empty one",
                line=number,
            )
    try:
        return _library_parse([line for _, line in lines], fields)
    except ParseException:
        return _parsed_line_by_line(document, numbered, fields)


def _n_columns(line: str) -> int:
    """Return the number of columns that the library sees."""
    return line.count("\t") + 1 if "  " not in line else len(_SEPARATOR.split(line))


def _library_parse(lines: list[str], fields: Sequence[str]) -> conllu.TokenList:
    return conllu.parse("\n".join(lines), fields=fields, field_parsers=_PARSERS)[0]


def _parsed_line_by_line(
    document: Document, numbered: list[_LINE], fields: Sequence[str]
) -> conllu.TokenList:
    """Raise the error of the line that the library cannot parse."""
    for number, line in numbered:
        try:
            _library_parse([line], fields)
        except ParseException as error:
            raise document.error(
                f"not a line of CoNLL-U: {error}",
                hint="ID and HEAD must be numbers of words",
                line=number,
            ) from None
    raise document.error("not a sentence of CoNLL-U", line=numbered[0][0])


def _text(
    document: Document,
    sentence: conllu.TokenList,
    numbered: list[_LINE],
    options: DependencyOptions,
) -> str:
    words, places = _words(document, sentence, numbered)
    try:
        return dependency_text(words, options)
    except BadWordError as error:
        line = places[error.word]
        raise document.error(error.reason, hint=error.hint, line=line) from None


def _words(
    document: Document, sentence: conllu.TokenList, numbered: list[_LINE]
) -> tuple[list[Word], list[int]]:
    """Return the syntactic words of a sentence and the numbers of their lines."""
    tokens = [
        (token, number)
        for token, (number, _) in zip(sentence, numbered, strict=True)
        if not isinstance(token["id"], tuple)
    ]
    words = []
    for position, (token, line) in enumerate(tokens, 1):
        if token["id"] != position:
            raise document.error(
                f"expected the word number {position}, got {token['id']}",
                hint="number words from 1, and end each sentence with an empty line",
                line=line,
            )
        head = _head(document, token["head"], len(tokens), line)
        form, lemma, upos, xpos, deprel = ((token[name] or "").strip(" ") for name in _LABELS)
        words.append(Word(form, lemma, upos, xpos, deprel, head))
    if not words:
        raise document.error("the sentence has no words", line=numbered[0][0])
    return words, [line for _, line in tokens]


def _head(document: Document, head: int | None, n_words: int, line: int) -> int:
    if head is None:
        raise document.error("the word has no head", hint="parse the text first", line=line)
    if not 0 <= head <= n_words:
        raise document.error(
            f"the head {head} is not a word of the sentence, which has {n_words}",
            hint="use the number of a word, or 0 for the root",
            line=line,
        )
    return head - 1


def _doc_id(metadata: dict[str, Any], before: str) -> str:
    if "newdoc id" in metadata:
        return str(metadata["newdoc id"])
    return "" if "newdoc" in metadata else before


def _columns(metadata: dict[str, Any], doc_id: str) -> dict[str, str]:
    columns = {
        key: str(value)
        for key, value in metadata.items()
        if value and key not in _OTHER_COMMENTS and not re.search(r"\s", key)
    }
    if doc_id:
        columns["doc_id"] = doc_id
    return columns

"""HTML pages as trees of their elements, parsed by the rules of HTML5.

Any text is a page: as in browsers, missing elements are added, so ``<p class=x>Hi`` is
``(html head (body p))``. With ``attributes=["class"]`` it is ``(html head (body (p (@class x))))``,
and with ``text="whole"`` it is ``(html head (body (p (#text Hi))))``. Comments, the content of
scripts and styles, and templates are dropped.
"""

import codecs
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from filbert.errors import ParseError
from filbert.read.documents import Document, TreeRecord
from filbert.read.escape import BAD_BYTES, CONTROLS, Notation
from filbert.read.markup import (
    AttributeOpenings,
    Attributes,
    Openings,
    Text,
    attribute_writer,
    check_options,
    text_writer,
)

_MOST_BYTES = 1 << 28
_DEEPEST = 5000  # levels of elements,
_MOST_STEPS = 2 * 10**8  # and the sum of the levels of all elements
_FEW_TAGS = 15_000  # so few elements take at most some seconds, however deep
# A tag and what follows its name. Quotes that are not closed soon end the match before them.
_TAGS = re.compile(
    rb"""<(/?[a-z][^\s/>]*)((?:[^>"']|"[^"]{0,9999}"|'[^']{0,9999}')*+)""", re.IGNORECASE
)
# A slash at the end of a tag, unless it belongs to an attribute without quotes: ``<g x=a/>``.
_SELF_CLOSING = re.compile(rb"""(^|["'])\s*/$""")
# Elements that have no content, or that the next one of their kind ends.
_FLAT = frozenset(
    b"area base br col embed hr img input link meta param source track wbr "
    b"a button colgroup dd dt li nobr optgroup option p rp rt tbody td tfoot th thead tr".split()
)
_FOREIGN = frozenset({b"svg", b"math"})  # in which a slash closes an element, unlike in HTML,
# until one of these tags, which browsers take for the end of the drawing or formula.
_BREAKOUT = frozenset(
    b"b big blockquote body br center code dd div dl dt em embed font h1 h2 h3 h4 h5 h6 head hr i "
    b"img li listing menu meta nobr ol p pre ruby s small span strike strong sub sup table tt u ul "
    b"var".split()
)
_UNREAD = frozenset({"script", "style"})  # elements whose content is not text for readers

_CONTROL = re.compile(rb"&#[xX]?0*[1-3](?![0-9a-fA-F])")  # a reference to one of CONTROLS
_CHARSET = re.compile(rb"""<meta[^>]*?charset\s*=\s*["']?\s*([\w:-]+)""", re.IGNORECASE)
_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
# The standard reads these names so, because pages do.
_READ_AS = {"iso8859-1": "cp1252", "ascii": "cp1252", "utf-16": "utf-8", "utf-16-le": "utf-8"}


@dataclass(frozen=True)
class Options:
    """Options of HTML.

    Parameters
    ----------
    attributes : bool or list of str
        Add a child ``(@name value)`` for each attribute, or for those with these names, such as
        ``["class", "id"]``.
    text : {False, "tokens", "whole"}
        Add a child ``#text`` for each piece of text that is not blank. Its children are the words
        (``"tokens"``), or the whole text without white space at both ends (``"whole"``).
    """

    attributes: Attributes = False
    text: Text = False

    def __post_init__(self) -> None:
        check_options(self.attributes, self.text)


def read(document: Document, options: Options) -> Iterator[TreeRecord]:
    """Yield the tree of the page."""
    data = document.read_bytes()
    if len(data) > _MOST_BYTES:
        raise document.error(
            f"the page has {len(data):,} bytes, more than {_MOST_BYTES:,}", hint="split it"
        )
    if not document.is_text:
        data = _as_utf8(document, data, exact=bool(options.attributes or options.text))
    if not data.strip():
        raise document.error("the document is empty", line=1)
    if b"\0" in data:
        raise document.error("there is a NUL character", hint="is this a binary file?")
    _check_depth(document, data)
    notation = BAD_BYTES if _has_controls(data) else CONTROLS
    yield TreeRecord(_tree(LexborHTMLParser(data).root, options, notation))


def _as_utf8(document: Document, data: bytes, *, exact: bool) -> bytes:
    """Return a page in UTF-8.

    The encoding is that of the byte order mark or the declared one, else UTF-8, or Windows-1252 if
    the bytes are not UTF-8. If text does not matter, any encoding but UTF-16 may pass for UTF-8,
    because tags are ASCII.
    """
    mark = next((mark for mark in _MARKS if data.startswith(mark)), b"")
    declared = _CHARSET.search(data[:1024])
    if mark:
        name = _MARKS[mark]
    else:
        name = _known(document, declared[1].decode()) if declared and exact else "utf-8"
    if name == "utf-8" and not exact:
        return data.removeprefix(mark)
    try:
        return data.decode(name).removeprefix("\ufeff").encode()
    except UnicodeDecodeError as error:
        if not mark and not declared:
            return data.decode("cp1252", errors="replace").encode()
        raise _undecoded(document, data, error) from None


def _known(document: Document, name: str) -> str:
    try:
        known = codecs.lookup(name).name
    except LookupError:
        raise document.error(
            f"the page declares the encoding {name!r}, which is unknown", hint="convert it to UTF-8"
        ) from None
    return _READ_AS.get(known, known)


def _undecoded(document: Document, data: bytes, error: UnicodeDecodeError) -> ParseError:
    before = data[: error.start]
    return document.error(
        f"the text is not {error.encoding}, although the page says so",
        hint="correct the declaration, or convert the page to UTF-8",
        line=before.count(b"\n") + 1,
        column=len(before) - before.rfind(b"\n"),
    )


def _has_controls(data: bytes) -> bool:
    """Return whether a page may have one of the characters of CONTROLS."""
    return any(mark.encode() in data for mark in CONTROLS) or bool(_CONTROL.search(data))


def _check_depth(document: Document, data: bytes) -> None:
    """Raise ParseError if parsing takes too long: a step for each level above each element."""
    if data.count(b"<") - data.count(b"</") <= _FEW_TAGS:
        return
    steps = 0
    for level in _levels(data):
        steps += level
        if level > _DEEPEST or steps > _MOST_STEPS:
            raise document.error(
                f"elements are nested too deeply: {level:,} levels",
                hint=f"at most {_DEEPEST:,} are read; is this really HTML?",
            )


def _levels(data: bytes) -> Iterator[int]:
    """Yield the level of each element, or a larger number where the tags alone do not tell."""
    level = 0
    is_foreign = False
    n_open: dict[bytes, int] = defaultdict(int)
    for found in _TAGS.finditer(data):
        tag = found[1].lower()
        if tag.startswith(b"/"):
            is_foreign = is_foreign and tag[1:] not in _FOREIGN
            if n_open[tag[1:]]:
                n_open[tag[1:]] -= 1
                level -= 1
            continue
        is_foreign = tag in _FOREIGN or (is_foreign and tag not in _BREAKOUT)
        if tag not in _FLAT and not (is_foreign and _SELF_CLOSING.search(found[2])):
            n_open[tag] += 1
            level += 1
        yield level


def _tree(root: Any, options: Options, notation: Notation) -> bytes:
    """Return the tree below an element in bracket notation."""
    pieces: list[str] = []
    write, close = pieces.append, notation.close
    opening = Openings(notation, str)
    attributes, text = options.attributes, options.text
    of_attributes = AttributeOpenings(notation, str, attributes)
    write_attributes = attribute_writer(notation, of_attributes, write)
    write_text = text_writer(notation, text, write)
    depth = 0
    node = root
    while True:
        tag = node.tag or "-"  # None for <?name>, which HTML takes for a comment
        if tag[0] != "-":  # an element
            write(opening[tag])
            if attributes:
                write_attributes(node.attributes.items())
            below = None if tag in _UNREAD else node.child
            if below is not None:
                node = below
                depth += 1
                continue
            write(close)
        elif text and tag == "-text":
            write_text(node.text(deep=False))
        following = None
        while depth and (following := node.next) is None:
            node = node.parent
            depth -= 1
            write(close)
        if following is None:
            return notation.brackets(pieces)
        node = following

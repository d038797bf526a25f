"""XML documents as trees of their elements.

``<p class="x">Hi <b>there</b></p>`` is ``(p b)``. With ``attributes=True`` it is
``(p (@class x) b)``, and with ``text="whole"`` it is ``(p (#text Hi) (b (#text there)))``. Comments
and processing instructions are dropped.

Documents are not trusted: no entity is expanded in text, no DTD is loaded and nothing is fetched.
In documents with a DTD, references to entities are text, such as ``&version;``. In the values of
attributes, the parser replaces references to entities that the document itself declares as text. It
refuses bombs and external entities there.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from lxml import etree

from filbert.errors import InvalidParameterError, ParseError
from filbert.read.documents import Document, TreeRecord
from filbert.read.escape import CONTROLS
from filbert.read.markup import (
    SPACE,
    AttributeOpenings,
    Attributes,
    Openings,
    Text,
    attribute_writer,
    check_options,
    text_writer,
)
from filbert.read.preorder import children_of

_SLICE = 1 << 20  # bytes that are parsed at a time
_SAFE: dict[str, Any] = {
    "load_dtd": False,
    "no_network": True,
    "remove_comments": True,
    "remove_pis": True,
}
_DECLARED_ENCODING = re.compile(
    rb"""(?:\xef\xbb\xbf)?<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)["']"""
)
_REFERENCE = re.compile(rb"&(?!amp;|lt;|gt;|quot;|apos;|#)")  # to a declared entity
_UNKNOWN_ENCODING = 32
_HINTS = {  # by libxml2's numbers of errors
    4: "is this an XML file?",
    9: "is the declared encoding right?",
    26: "declare the entity, or write its character",
    _UNKNOWN_ENCODING: "convert the file to UTF-8",
    67: "write & as &amp;",
    68: "write & as &amp; and < as &lt;",
    76: "close each element; for HTML, pass format='html'",
    81: "is the declared encoding right?",
    114: "documents with a DTD have limits: remove the DOCTYPE",
}


@dataclass(frozen=True)
class Options:
    """Options of XML.

    Parameters
    ----------
    attributes : bool or list of str
        Add a child ``(@name value)`` for each attribute, or for those with these names.
    text : {False, "tokens", "whole"}
        Add a child ``#text`` for each piece of text that is not blank. Its children are the words
        (``"tokens"``), or the whole text without white space at both ends (``"whole"``).
    namespaces : bool
        Write names with their namespaces, ``{http://www.w3.org/2000/svg}path`` instead of ``path``.
    each : str, optional
        Give one tree per element of this name, such as ``"article"``, instead of one tree for the
        whole document. An element inside another one of this name is part of its tree.
    """

    attributes: Attributes = False
    text: Text = False
    namespaces: bool = False
    each: str | None = None

    def __post_init__(self) -> None:
        check_options(self.attributes, self.text)
        if not isinstance(self.namespaces, bool):
            raise InvalidParameterError(f"namespaces must be a bool, got {self.namespaces!r}")
        if self.each is not None and not (isinstance(self.each, str) and self.each):
            raise InvalidParameterError(f"each must be the name of an element, got {self.each!r}")


def read(document: Document, options: Options) -> Iterator[TreeRecord]:
    """Yield the tree of the document's root element, or of each element of a name."""
    encoding = "utf-8" if document.is_text else None
    if options.each is None:
        yield TreeRecord(_whole(document, document.read_bytes(), encoding, options)[0])
        return
    number = -1
    for number, text in enumerate(_each(document, encoding, options)):
        yield TreeRecord(text, {"item": str(number)})
    if number < 0:
        raise document.error(f"there is no element {options.each!r}", hint="check each=")


def _each(document: Document, encoding: str | None, options: Options) -> Iterator[bytes]:
    """Yield the trees of the elements of a name, as they arrive.

    A document with a DTD, or in an encoding that only Python knows, is held in memory as a whole.
    """
    target = _EachTarget(options, stop_at_dtd=True)
    parser = _streaming_parser(target, encoding)
    beginning = b""  # up to the first element
    try:
        for piece in document.pieces():
            if not target.has_begun:
                beginning += piece
            parser.feed(piece)
            yield from target.taken()
        parser.close()
    except (_DoctypeError, etree.XMLSyntaxError) as error:
        if target.has_begun:
            yield from target.taken()
            raise _located(document, error) from None
        yield from _whole(document, beginning + document.read_bytes(), encoding, options)


def _whole(document: Document, data: bytes, encoding: str | None, options: Options) -> list[bytes]:
    if not data.strip():
        raise document.error("the document is empty", line=1)
    try:
        return _trees(data, encoding, options)
    except etree.XMLSyntaxError as error:
        raise _located(document, error) from None


def _trees(data: bytes, encoding: str | None, options: Options) -> list[bytes]:
    try:
        return _parsed(data, encoding, options)
    except etree.XMLSyntaxError as error:
        if error.code != _UNKNOWN_ENCODING:
            raise
        decoded = _decoded(data)  # Python knows more names of encodings
        if decoded is None:
            raise
    return _parsed(decoded.encode(), "utf-8", options)


def _parsed(data: bytes, encoding: str | None, options: Options) -> list[bytes]:
    """Return the trees of a document in bracket notation.

    Without entities but ``&amp;`` and the like, no limits are needed, and no tree is built.
    """
    try:
        return _streamed(data, encoding, _target(options, stop_at_dtd=True))
    except _DoctypeError:
        if _has_no_entities(data):
            return _streamed(data, encoding, _target(options))
    parser = etree.XMLParser(encoding=encoding, resolve_entities=False, **_SAFE)
    return _walked(etree.fromstring(data, parser), _target(options))


def _streamed(data: bytes, encoding: str | None, target: "_Target") -> list[bytes]:
    parser = _streaming_parser(target, encoding)
    for begin in range(0, len(data), _SLICE):
        parser.feed(data[begin : begin + _SLICE])
    texts: list[bytes] = parser.close()
    return texts


def _streaming_parser(target: "_Target", encoding: str | None) -> Any:
    return etree.XMLParser(
        target=target, encoding=encoding, huge_tree=True, resolve_entities="internal", **_SAFE
    )


def _has_no_entities(data: bytes) -> bool:
    """Return whether a document with a DTD surely declares nothing and refers to nothing."""
    declared = _DECLARED_ENCODING.match(data)
    if not data.lstrip().startswith((b"<", codecs.BOM_UTF8)) or b"\0" in data[:4]:
        return False
    if declared and declared[1].lower() not in (b"utf-8", b"iso-8859-1", b"us-ascii"):
        return False
    return b"<!ENTITY" not in data and not _REFERENCE.search(data)


class _DoctypeError(Exception):
    """The document has a DTD."""


class _Target:
    """Gets the events of a parser and writes the tree.

    Parsers call `start`, `end` and `data` for all that a document has. They are closures, which
    cost less than methods.
    """

    def __init__(self, options: Options, *, stop_at_dtd: bool = False) -> None:
        self._pieces: list[str] = []
        self._characters: list[str] = []  # of the text that has not ended yet
        self._write_text = text_writer(CONTROLS, options.text, self._pieces.append)
        self.start, self.end = self._starter(options), self._ender()
        if options.text:
            self.data = self._characters.append
        if stop_at_dtd:
            self.doctype = self._stop

    def _starter(self, options: Options) -> Any:
        write, write_text, characters = self._pieces.append, self._write_text, self._characters
        label = str if options.namespaces else _local
        opening = Openings(CONTROLS, label)
        wanted = options.attributes
        of_attributes = AttributeOpenings(CONTROLS, label, wanted)
        write_attributes = attribute_writer(CONTROLS, of_attributes, write)

        def start(name: str, attributes: Any) -> None:
            if characters:
                write_text("".join(characters))
                characters.clear()
            write(opening[name])
            if wanted and attributes:
                write_attributes(attributes.items())

        return start

    def _ender(self) -> Any:
        write, write_text, characters = self._pieces.append, self._write_text, self._characters
        close = CONTROLS.close

        def end(_: str) -> None:
            if characters:
                write_text("".join(characters))
                characters.clear()
            write(close)

        return end

    def _stop(self, *_: object) -> None:
        raise _DoctypeError

    def close(self) -> list[bytes]:
        return [self._tree()]

    def _tree(self) -> bytes:
        """Return what has been written, and begin anew."""
        text = CONTROLS.brackets(self._pieces)
        self._pieces.clear()
        return text


class _EachTarget(_Target):
    """Writes only the elements of a name, and what is in them."""

    def __init__(self, options: Options, *, stop_at_dtd: bool = False) -> None:
        super().__init__(options, stop_at_dtd=stop_at_dtd)
        self._each = options.each
        self.has_begun = False  # the first element
        self._level = 0  # of the elements that are written
        self._texts: list[bytes] = []
        self._write_start, self._write_end = self.start, self.end
        self.start, self.end = self._start, self._end

    def _start(self, name: str, attributes: Any) -> None:
        self.has_begun = True
        if self._level or self._each in (name, _local(name)):
            if not self._level:
                self._characters.clear()
            self._level += 1
            self._write_start(name, attributes)

    def _end(self, name: str) -> None:
        if self._level:
            self._write_end(name)
            self._level -= 1
            if not self._level:
                self._texts.append(self._tree())

    def taken(self) -> list[bytes]:
        """Return the trees that are complete, and forget them."""
        texts, self._texts = self._texts, []
        return texts

    def close(self) -> list[bytes]:
        return self._texts


def _target(options: Options, *, stop_at_dtd: bool = False) -> _Target:
    kind = _Target if options.each is None else _EachTarget
    return kind(options, stop_at_dtd=stop_at_dtd)


def _walked(root: Any, target: _Target) -> list[bytes]:
    """Return the trees of a parsed document with a DTD."""
    say = getattr(target, "data", lambda text: None)
    for event, node in etree.iterwalk(root, events=("start", "end")):
        is_entity = node.tag is etree.Entity
        if event == "start":
            if not is_entity:
                target.start(node.tag, node.attrib)
            say(node.text or "")
        else:
            if not is_entity:
                target.end(node.tag)
            say(node.tail or "")
    return target.close()


def _local(name: str) -> str:
    """Return a name without its namespace; lxml writes ``{namespace}name``."""
    return name.rpartition("}")[2]


def _decoded(data: bytes) -> str | None:
    """Decode a document by the encoding that it declares; None if Python cannot."""
    declared = _DECLARED_ENCODING.match(data)
    if declared is None:
        return None
    try:
        return data.decode(declared[1].decode())
    except (LookupError, UnicodeError):
        return None


def _located(document: Document, error: Any) -> ParseError:
    reason = re.sub(r",? ?line \d+, column \d+$", "", (error.msg or str(error)).strip())
    return document.error(
        f"not well-formed XML: {reason.strip()}",
        hint=_HINTS.get(error.code, ""),
        line=error.lineno or 1,
        column=max(0, error.offset or 0) + 1,
    )


# ---------------------------------------------------------------- writing


def write(labels: list[str], parents: list[int], options: Options) -> str:
    """Return a tree as an XML document. Nodes ``@name`` and ``#text`` become what they stand for.

    Raises
    ------
    InvalidParameterError
        If :func:`read` could not give the tree back.
    """
    return XMLWriter(labels, parents).document()


_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
_XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace"
_NO_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class XMLWriter:
    """Writes one tree, given in preorder."""

    def __init__(self, labels: list[str], parents: list[int]) -> None:
        self._labels = labels
        self._parents = parents
        self._children = children_of(parents)
        self._namespaces = [""] * len(labels)  # of elements, as they are reached

    def document(self) -> str:
        """Return the document."""
        pieces = [_DECLARATION]
        stack: list[int | str] = [0]  # nodes to write, and text that is ready
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                pieces.append(item)
            elif self._labels[item] == "#text" and item:
                pieces.append(self._text(item))
            else:
                name, start, content = self._element(item)
                pieces.append(f"<{start}>" if content else f"<{start}/>")
                if content:
                    stack.append(f"</{name}>")
                    stack.extend(reversed(content))
        return "".join(pieces)

    def _element(self, node: int) -> tuple[str, str, list[int]]:
        """Return an element's name, its start tag and the nodes of its content."""
        namespace, name = _name(self._labels[node])
        self._namespaces[node] = namespace
        outer = self._namespaces[self._parents[node]] if node else ""
        start = [name]
        if namespace != outer:
            start.append(f"xmlns={quoteattr(namespace)}")
        below = self._children[node]
        n = next((i for i, c in enumerate(below) if self._labels[c][0] != "@"), len(below))
        seen: set[tuple[str, str]] = set()
        for number, child in enumerate(below[:n]):
            start += self._attribute(child, f"n{number}", seen)
        content = below[n:]
        texts = [self._labels[child] == "#text" for child in content]
        if any(a and b for a, b in pairwise(texts)):
            raise InvalidParameterError(f"below {name!r}, two nodes '#text' follow each other")
        return name, " ".join(start), content

    def _attribute(self, node: int, prefix: str, seen: set[tuple[str, str]]) -> list[str]:
        label = self._labels[node]
        namespace, name = _name(label[1:])
        values = self._leaves(node)
        if len(values) > 1 or (namespace, name) in seen:
            raise InvalidParameterError(f"the attribute {label!r} has more than one value")
        seen.add((namespace, name))
        value = quoteattr(_characters(values[0]) if values else "")
        if not namespace:
            return [f"{name}={value}"]
        if namespace == _XML_NAMESPACE:
            return [f"xml:{name}={value}"]
        return [f"xmlns:{prefix}={quoteattr(namespace)}", f"{prefix}:{name}={value}"]

    def _text(self, node: int) -> str:
        words = self._leaves(node)
        whole = " ".join(words)
        has_space = [any(c.isspace() for c in word) for word in words]
        if not words or whole != whole.strip(SPACE) or (len(words) > 1 and any(has_space)):
            raise InvalidParameterError(
                "a node '#text' needs one child without white space at both ends, or several words"
            )
        return escape(_characters(whole), {"\r": "&#13;"})

    def _leaves(self, node: int) -> list[str]:
        """Return the labels of a node's children, which must be leaves."""
        for child in self._children[node]:
            if self._children[child]:
                raise InvalidParameterError(
                    f"in XML, the children of {self._labels[node]!r} must be leaves"
                )
        return [self._labels[child] for child in self._children[node]]


@lru_cache(1 << 12)
def _name(label: str) -> tuple[str, str]:
    """Return the namespace and the name of an element or attribute."""
    try:
        name = etree.QName(label)
    except ValueError:
        raise InvalidParameterError(
            f"{label!r} is no name in XML: rename the labels first, or choose another format"
        ) from None
    return _characters(name.namespace or ""), name.localname


def _characters(text: str) -> str:
    if found := _NO_CHARACTER.search(text):
        raise InvalidParameterError(f"XML cannot have the character {found[0]!r}")
    return text

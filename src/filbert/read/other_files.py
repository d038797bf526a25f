"""Files that are no document of a tree format, and texts that are no trees, by how they begin.

Without these checks some files would be read as trees, because any text is a page of HTML.
"""

import re

from filbert.errors import ParseError
from filbert.read.binary_files import binary_of

_PAGE = re.compile(rb"\s*(?:<!doctype\s+html|<html[\s>])", re.IGNORECASE)
_LABELLED = re.compile(rb"[^()\s][^()\t\n]*\t\s*\(")
_MARK = b"\xef\xbb\xbf"  # a byte order mark

# What texts look like that are given in the place of trees in brackets.
_NOTATIONS = {
    "html": re.compile(rb"\s*<(?!\?xml)"),
    "xml": re.compile(rb"\s*<\?xml"),
    "json": re.compile(rb"\s*(?:\{\s*[\"}]|\[\s*[\"{\[\]])"),
    "newick": re.compile(rb"\s*\(.*\)[^()]*;\s*", re.DOTALL),
    "dot-bracket": re.compile(rb"\s*[.(][.()\[\]&]*\.[.()\[\]&]*\s*"),
    "iupac": re.compile(rb"\s*[A-Za-z][^()\s]*\([ab?][\d?]+-[^()\s]*\)[^\s]*\s*"),
}
_TUPLE = re.compile(rb"""\s*\(\s*(['"])[^'"()\s]+\1,\s+[('"]""")
_WHOLE = ("newick", "dot-bracket", "iupac")  # patterns of whole texts


def check_is_document(start: bytes, format: str | None, name: str) -> None:
    """Raise ParseError if the first bytes of a file show that it has no trees of its format.

    The format is None if nothing but the bytes shows it.
    """
    text = start.removeprefix(_MARK)
    binary = binary_of(start)
    if binary.name and not binary.name.startswith("text"):  # documents may be in UTF-16
        raise _not_a_document(binary.name, binary.hint, name)
    if format not in (None, "html", "xml") and _PAGE.match(text):
        hint = "if it is the error page of a server, download the file again; to read HTML, pass "
        raise _not_a_document("an HTML page", f"{hint}format='html'", name)
    if format == "html" and text.strip() and b"<" not in text:
        hint = "check the file; texts in memory are read by Forest.from_texts"
        raise _not_a_document("a text without any tag", hint, name)
    if format == "brackets" and _LABELLED.match(text):
        hint = "use read_examples for labelled trees"
        raise _not_a_document("a table of labels and trees", hint, name)


def _not_a_document(what: str, hint: str, name: str) -> ParseError:
    return ParseError(f"this is {what}", hint=hint, source=name)


def check_not_printed(text: bytes | str, sample: int) -> None:
    """Raise ParseError for a printed tuple, which is a tree in brackets with odd labels."""
    data = text.encode(errors="replace") if isinstance(text, str) else text
    if _TUPLE.match(data):
        raise ParseError(
            "this looks like a tuple that Python has printed",
            hint="pass the tuples themselves to Forest.from_nested",
            sample=sample,
        )


def notation_of(text: bytes | str) -> str:
    """Return the format that a text, which is no tree in brackets, seems to have, or nothing."""
    data = text.encode(errors="replace") if isinstance(text, str) else text
    for name, pattern in _NOTATIONS.items():
        if pattern.fullmatch(data) if name in _WHOLE else pattern.match(data):
            return name
    return ""


def notation_hint(text: bytes) -> str:
    """Return what to do about a text that is no tree in brackets, or nothing."""
    if name := notation_of(text):
        return f"to read this notation, use Forest.from_texts(texts, format={name!r})"
    if _LABELLED.match(text):
        return "pass the trees without their labels; to read a table, use filbert.read_examples"
    if text.lstrip()[:2] in (b'"(', b"'("):
        return "remove the quotes around the tree"
    return ""

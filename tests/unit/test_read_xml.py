"""XML as trees: what is kept, documents that nobody should trust, and writing."""

import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from filbert import Forest, read_trees, write_trees
from filbert.errors import InvalidParameterError, ParseError
from filbert.read.escape import escape_label
from filbert.read.xml import Options, write

ALL: dict[str, Any] = {"attributes": True, "text": "whole", "namespaces": True}


def tree(document: str | bytes, **options: Any) -> str:
    return str(Forest.from_texts([document], format="xml", **options)[0])


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ('<p class="x">Hi <b>there</b></p>', {}, "(p b)"),
        ('<p class="x">Hi <b>you</b></p>', {"attributes": True}, "(p (@class x) b)"),
        ('<p a="1" b="2" c=""/>', {"attributes": ["c", "b"]}, "(p (@b 2) @c)"),
        ("<p>Hi  you <b>there</b> !</p>", {"text": "tokens"},
         "(p (#text Hi you) (b (#text there)) (#text !))"),
        ("<p>Hi  you\n<b> there</b>\n</p>", {"text": "whole"},
         r"(p (#text Hi\ \ you) (b (#text there)))"),
        ("<a><!-- c --><?pi x?><b/><!-- d --></a>", {}, "(a b)"),
        ("<a>x<!-- c -->y<![CDATA[<z>]]></a>", {"text": "whole"}, "(a (#text xy<z>))"),
        ("<a>&lt;&amp;&#65;&quot;</a>", {"text": "whole"}, '(a (#text <&A"))'),
        ('<a b="&lt;&amp;&#65;&#10;"/>', {"attributes": True}, r"(a (@b <&A\n))"),
        ('<s:a xmlns:s="u" s:b="1"><c xmlns="v"/></s:a>', {"attributes": True}, "(a (@b 1) c)"),
        ('<s:a xmlns:s="u" s:b="1"><c xmlns="v"/></s:a>',
         {"attributes": True, "namespaces": True}, "({u}a (@{u}b 1) {v}c)"),
        ('<a s:b="1" c="2" xmlns:s="u"/>', {"attributes": ["b"]}, "(a (@b 1))"),
        ("<a/>", {}, "(a)"),
        ("\ufeff \n<a/>".strip(), {}, "(a)"),
        ("<a.b-c><_d/></a.b-c>", {}, "(a.b-c _d)"),
    ],
)  # fmt: skip
def test_what_is_kept(text: str, options: Any, expected: str) -> None:
    assert tree(text, **options) == expected
    declared = ("", "[<!ATTLIST p added CDATA 'x'>]", "[<!ENTITY e 'f'>]")
    for dtd in (f"<!DOCTYPE x {subset}>" for subset in declared):  # some are read in another way
        with_dtd = f"\ufeff{dtd}{text[1:]}" if text[0] == "\ufeff" else dtd + text
        assert tree(with_dtd, **options) == expected


@pytest.mark.parametrize("encoding", ["latin-1", "iso-8859-1", "utf-16", "utf-8", "cp1252"])
def test_declared_encodings(encoding: str, tmp_path: Path) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><ä>é</ä>'
    assert tree(text.encode(encoding), text="whole") == "(ä (#text é))"
    assert tree(text, text="whole") == "(ä (#text é))"  # characters need no encoding
    (tmp_path / "a").write_bytes(text.encode(encoding))
    assert len(read_trees(tmp_path / "a")) == 1  # the format is detected, too


def test_a_byte_order_mark() -> None:
    assert tree("<ä/>".encode("utf-8-sig")) == "(ä)"
    assert tree("<ä/>".encode("utf-16")) == "(ä)"


@pytest.mark.parametrize("dtd", ["", "<!DOCTYPE l>", "<!DOCTYPE l [<!ENTITY e 'f'>]>"])
def test_one_tree_per_element_of_a_name(dtd: str, tmp_path: Path) -> None:
    text = '<l>0<x/><a i="1">1<b/></a>2<y><s:a xmlns:s="u"><a/></s:a>3</y></l>'
    (tmp_path / "l.xml").write_text(dtd + text)
    X: Any = read_trees(tmp_path / "l.xml", each="a", text="whole", attributes=True)
    assert [str(node) for node in X["tree"]] == ["(a (@i 1) (#text 1) b)", "(a a)"]
    assert X.columns["item"].tolist() == ["0", "1"]
    X = read_trees(tmp_path / "l.xml", each="{u}a", namespaces=True)
    assert [str(node) for node in X["tree"]] == ["({u}a a)"]
    with pytest.raises(ParseError, match=r"l\.xml: there is no element 'z'"):
        read_trees(tmp_path / "l.xml", each="z")


# ---------------------------------------------------------------- documents not to be trusted

BOMB = (
    "<!DOCTYPE l [<!ENTITY a0 'lol'>"
    + "".join(f"<!ENTITY a{i + 1} '{f'&a{i};' * 10}'>" for i in range(9))
    + "]>"
)


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("SECRET")
    external = f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]><a>1&x;2<b/></a>'
    assert tree(external) == "(a b)"
    assert tree(external, text="whole") == "(a (#text 1&x;2) b)"
    internal = '<!DOCTYPE a [<!ENTITY x "<b/>y">]><a>1&x;2</a>'
    assert tree(internal) == "(a)"
    assert tree(internal, text="whole") == "(a (#text 1&x;2))"


def test_entities_in_attributes(tmp_path: Path) -> None:
    """The parser replaces those that the document declares, and no others."""
    (tmp_path / "secret").write_text("SECRET")
    internal = '<!DOCTYPE a [<!ENTITY x "zz">]><a k="1&x;"/>'
    assert tree(internal, attributes=True) == "(a (@k 1zz))"
    external = f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]><a k="&x;"/>'
    with pytest.raises(ParseError, match="external entity"):
        tree(external, attributes=True)


@pytest.mark.parametrize("use", ["<l>&a9;</l>", '<l x="&a9;"/>'])
def test_a_billion_laughs(use: str) -> None:
    with pytest.raises(ParseError, match=r"amplification|loop|limit"):
        tree(BOMB + use, **ALL)
    assert tree(f"{BOMB}<l>ha</l>") == "(l)"


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(socket, "socket", None)
    dtd = tmp_path / "a.dtd"
    dtd.write_text('<!ENTITY x "loaded"><!ATTLIST a b CDATA "loaded">')
    for system in (str(dtd), f"file://{dtd}", "http://127.0.0.1:9/a.dtd"):
        assert tree(f'<!DOCTYPE a SYSTEM "{system}"><a>&x;</a>', **ALL) == "(a (#text &x;))"
    include = '<a xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="/etc/hosts"/></a>'
    assert tree(include) == "(a include)"


def test_no_limit_on_depth() -> None:
    n = 100_000
    text = write(["a"] * n, list(range(-1, n - 1)), Options())
    assert Forest.from_texts([text], format="xml")[0].depth == n
    with pytest.raises(ParseError, match=r"depth.*remove the DOCTYPE"):
        tree("<!DOCTYPE a [<!ENTITY x 'y'>]>" + "<a>" * n + "</a>" * n)


def test_wide_and_long() -> None:
    assert Forest.from_texts([f"<a>{'<b/>' * 100_000}</a>"], format="xml").n_nodes == 100_001
    long = "x" * 11_000_000  # libxml2 has a limit of 10 MB by default
    assert len(tree(f"<a>{long}</a>", text="whole")) > len(long)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the document is empty"),
        (" \n", "the document is empty"),
        ("hello", "column 1: .*is this an XML file"),
        ('{"a": 1}', "is this an XML file"),
        (b"\x00\x01\x02\xff", "not well-formed"),
        ("<a><b></a>", "mismatch.*format='html'"),
        ("<a>\n<b>\n</c></b></a>", "line 3, column 5"),
        ("<a", "not well-formed"),
        ("<a>", "not well-formed"),
        ("<a/><b/>", "column 5: .*[Ee]xtra content"),
        ("<a>R & D</a>", "write & as &amp;"),
        ("<a>&nbsp;</a>", "'nbsp' not defined.*write its character"),
        ("<a b=1/>", "column 6"),
        ('<a b="1" b="2"/>', "redefined"),
        (b"<a>\xff</a>", "encoding"),
        ("<a>\x01</a>", "not well-formed"),
        ("<a>\ud800</a>", "not well-formed"),
        (b'<?xml version="1.0" encoding="banana"?><a/>', "banana.*convert the file to UTF-8"),
        (b'<?xml version="1.0" encoding="cp1252"?><a>\x81</a>', "not well-formed"),
    ],
)
def test_what_is_not_xml(text: str | bytes, message: str) -> None:
    with pytest.raises(ParseError, match=f"sample 0.*{message}"):
        tree(text, text="whole")


@pytest.mark.parametrize(
    "options",
    [{"attributes": "class"}, {"attributes": 7}, {"text": True}, {"text": "words"},
     {"namespaces": "keep"}, {"each": 7}, {"each": ""}, {"comments": True}],
)  # fmt: skip
def test_bad_options(options: Any) -> None:
    with pytest.raises(InvalidParameterError, match=next(iter(options))):
        tree("<a/>", **options)


# ---------------------------------------------------------------- there and back

CHARACTERS = st.characters(
    exclude_categories=["Cs", "Cc", "Cn"], include_characters="\t\n\r<>&\"'()\\ "
)
NAMES = st.sampled_from(["a", "b", "é", "x-1", "_", "{u}a", "{v&w}b"])
TEXTS = st.text(CHARACTERS, min_size=1).map(lambda text: text.strip(" \t\r\n\f")).filter(bool)


@st.composite
def elements(draw: Any, depth: int = 3) -> str:
    """An element as the reader gives it with all options, in bracket notation."""
    names = draw(st.lists(NAMES, unique=True, max_size=2))
    values = [draw(st.text(CHARACTERS, max_size=5)) for _ in names]
    parts = [
        f"(@{name} {escape_label(value)})" if value else f"(@{name})"
        for name, value in zip(names, values, strict=True)
    ]
    for _ in range(draw(st.integers(0, 3)) if depth else 0):
        is_after_text = bool(parts) and parts[-1].startswith("(#text")
        if not is_after_text and draw(st.booleans()):
            parts.append(f"(#text {escape_label(draw(TEXTS))})")
        else:
            parts.append(draw(elements(depth - 1)))
    return f"({draw(NAMES)} {' '.join(parts)})"


@given(elements())
def test_trees_there_and_back(text: str) -> None:
    [node] = Forest([text])
    written = write(*node.to_parents(), Options())
    assert tree(written, **ALL) == str(node)
    etree.fromstring(written.encode())  # another way to read it


@given(st.lists(st.text(CHARACTERS, min_size=1).filter(lambda w: w.split() == [w]), min_size=1))
def test_words_there_and_back(words: list[str]) -> None:
    [node] = Forest([f"(a (#text {' '.join(map(escape_label, words))}))"])
    assert tree(write(*node.to_parents(), Options()), text="tokens") == str(node)


def test_files_there_and_back(tmp_path: Path) -> None:
    text = '<a xml:lang="en"><b>x &amp; y</b>\u00a0</a>'
    forest = Forest.from_texts([text], format="xml", **ALL)
    write_trees(forest, tmp_path / "a.xml.gz")
    assert read_trees(tmp_path / "a.xml.gz", **ALL) == forest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(1)", "'1' is no name"),
        ("(a -LRB-)", "'-LRB-' is no name"),
        ("(a b:c)", "'b:c' is no name"),
        ("(a (b c) (@x y))", "'@x' is no name"),
        ("(#text x)", "'#text' is no name"),
        ("(a (@x y z))", "'@x' has more than one value"),
        ("(a (@x y) (@x z))", "'@x' has more than one value"),
        ("(a (@x (y z)))", "'@x' must be leaves"),
        ("(a (#text x) (#text y))", "two nodes '#text'"),
        ("(a (#text (x y)))", "'#text' must be leaves"),
        ("(a #text)", "'#text' needs"),
        (r"(a (#text \ x))", "'#text' needs"),
        (r"(a (#text x\ y z))", "'#text' needs"),
        ("(a (#text \x01))", r"character '\\x01'"),
    ],
)
def test_trees_that_xml_cannot_have(text: str, message: str) -> None:
    [node] = Forest([text])
    with pytest.raises(InvalidParameterError, match=message):
        write(*node.to_parents(), Options())

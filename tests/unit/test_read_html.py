"""HTML pages as trees, however bad they are."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert import Forest
from filbert.errors import InvalidParameterError, ParseError


def tree(page: str | bytes, **options: Any) -> str:
    return str(Forest.from_texts([page], format="html", **options)[0])


@pytest.mark.parametrize(
    ("page", "options", "body"),
    [
        ("<p class=x>Hi", {}, "(body p)"),
        ("<p class=x id=y hidden>Hi", {"attributes": ["class", "hidden"]},
         "(body (p (@class x) @hidden))"),
        ("<p id=y title='a (b)'>Hi", {"attributes": True}, r"(body (p (@id y) (@title a\ \(b\))))"),
        ("<p>Hi  you<br>!", {"text": "tokens"}, "(body (p (#text Hi you) br (#text !)))"),
        ("<p> Hi  you <br>!", {"text": "whole"}, r"(body (p (#text Hi\ \ you) br (#text !)))"),
        ("<p>a &lt;&eacute;", {"text": "tokens"}, "(body (p (#text a <é)))"),
        ("<p>x<script>if (a<b) '<p>'</script><style>p>b{}</style>", {"text": "tokens"},
         "(body (p (#text x) script style))"),
        ("<!-- c --><p><!-- <b> --></p>", {"text": "tokens"}, "(body p)"),
        ("<template><i>x</i></template><p>", {}, None),
        ("<ul><li>a<li>b</ul>", {}, "(body (ul li li))"),
        ("<b><p>x</b>y</p>", {}, "(body b (p b))"),
        ("<table><tr><td>x<table><td>y", {}, None),
        ("<i></p></b></nothing>", {}, "(body (i p))"),
        ("<svg viewBox=1><linearGradient/></svg>", {"attributes": True},
         "(body (svg (@viewBox 1) linearGradient))"),
        ("<x-y><a:b>", {}, "(body (x-y a:b))"),
        ("<P><DIV>", {}, "(body p div)"),
        ("<a(b>x</a(b>", {}, r"(body a\(b)"),
        ("just text", {"text": "whole"}, r"(body (#text just\ text))"),
        ("<textarea><b></textarea>", {"text": "whole"}, "(body (textarea (#text <b>)))"),
    ],
)  # fmt: skip
def test_what_is_kept(page: str, options: Any, body: str | None) -> None:
    found = tree(page, **options)
    assert found.startswith("(html ")
    assert body is None or found.endswith(f" {body})")


@given(st.text(alphabet=st.sampled_from("<>/abp !-'\"=&;\n"), max_size=60))
def test_soup_is_one_page(page: str) -> None:
    if page.strip():
        assert tree(page, attributes=True, text="whole").startswith("(html ")


@pytest.mark.parametrize(
    "page",
    [
        "<meta charset=utf-8><p>é€".encode(),
        "<p>é€".encode(),
        "<p>é€".encode("utf-8-sig"),
        "<p>é€".encode("utf-16"),
        "<p>é€".encode("cp1252"),  # without a declaration, as browsers read it
        '<meta charset="ISO-8859-1"><p>é€'.encode("cp1252"),
        '<meta http-equiv="Content-Type" content="text/html; charset=cp1252"><p>é€'.encode(
            "cp1252"
        ),
        '<meta charset="iso-8859-15"><p>é€'.encode("iso-8859-15"),
        "<meta charset=latin-1><p>é€",  # characters need no encoding
    ],
)
def test_encodings(page: str | bytes) -> None:
    assert tree(page, text="whole").endswith("(body (p (#text é€))))")
    assert tree(page).endswith("(body p))")


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (b"<meta charset=utf-8>\n<p>h\xe9", "line 2, column 5: the text is not utf-8, although"),
        (b"<meta charset=banana><p>", "'banana', which is unknown"),
        ("", "the document is empty"),
        (b" \n ", "the document is empty"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is this a binary file"),
    ],
)
def test_what_is_not_a_page(page: str | bytes, message: str) -> None:
    with pytest.raises(ParseError, match=f"sample 0.*{message}"):
        tree(page, text="whole")


def test_drawings_are_not_deep() -> None:
    """In SVG, a slash closes an element."""
    page = '<svg><path d="M 0 0"/><g><rect/></g></svg>' * 10_000
    assert Forest.from_brackets([tree(page)])[0].depth == 5


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 100_000,
        "<DIV></x>" * 100_000,
        "<b><div>" * 9000,
        "<div/>" * 100_000,
        "<svg>" + "<g x=a/>" * 100_000,
        "<svg>" + "<g x='/>'>" * 100_000,
        "<svg><div>" + "<path/>" * 100_000,
        "<svg></svg>" + "<path/>" * 100_000,
    ],
    ids=lambda page: page[:20],
)
def test_depth_has_a_limit(page: str) -> None:
    with pytest.raises(ParseError, match="nested too deeply: 5,001 levels"):
        tree(page)


def test_what_is_long_but_not_deep() -> None:
    assert Forest.from_texts(["<p>x<br><td>" * 20_000], format="html").n_nodes == 40_003
    chain = Forest.from_texts(["<span>" * 4000], format="html")[0]
    assert chain.depth == 4002


@pytest.mark.parametrize("options", [{"attributes": "class"}, {"text": True}, {"namespaces": True}])
def test_bad_options(options: Any) -> None:
    with pytest.raises(InvalidParameterError, match=next(iter(options))):
        tree("<p>", **options)


@pytest.mark.parametrize(
    ("mark", "text"),
    [
        ("\x01", "\x01"), ("\x02(\x03", "\x02(\x03"), ("&#1;", "\x01"), ("&#x02;", "\x02"),
        ("&#003;", "\x03"), ("&#31;", "\x1f"), ("&#x1F600;", "\U0001f600"), ("é (\\)", "é (\\)"),
    ],
)  # fmt: skip
def test_control_characters_are_text(mark: str, text: str) -> None:
    page = f"<p title='a{mark}b'>x {mark} y</p>"
    trees = Forest.from_texts([page], format="html", attributes=True, text="whole")
    assert trees[0].leaves() == ["head", f"a{text}b", f"x {text} y"]

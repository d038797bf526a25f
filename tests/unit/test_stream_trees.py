"""Documents in batches: what reading them as a whole gives, and each tree when it has arrived."""

import io
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert import Forest, read_trees, stream_trees
from filbert.errors import InvalidParameterError, MissingFileError, ParseError, SkippedInputWarning
from filbert.read.catalogue import TREE_FORMATS
from filbert.read.documents import Document
from tests.profiles import n_examples

SENTENCE = "# sent_id = {0}\n1\tw{0}\t_\tN\tN\t_\t0\troot\t_\t_\n\n"

# For each format and its options: a good record, a bad one, and what begins, separates and ends
# records. Records of JSON and XML cannot be skipped.
CASES: dict[str, tuple[dict[str, Any], str, str, tuple[str, str, str]]] = {
    "conllu": ({}, SENTENCE, "1\tw\t_\tN\tN\t_\t7\troot\t_\t_\n\n", ("", "", "")),
    "newick": ({}, "(a,'b''\n;{0}')c[;\n];", "(a b;", ("", "\n", "\n")),
    "dot-bracket": ({}, ">n{0}\nGGAC\n(..)", "((.)", ("", "\n", "\n")),
    "iupac": ({}, "Gal(b1-{0})GlcNAc", "Gal(b1-4 Glc", ("", "\n", "\n")),
    "json": ({"items": True}, '{{"a{0}": [1.5, "]}}\\"ü", {{}}]}}', "", ("[", ", ", "]")),
    "xml": ({"each": "p"}, "<b><p n='{0}'>x<p/></p>\n</b>", "", ("<a>", "", "</a>")),
}


class Arriving(io.RawIOBase):
    """A pipe into which the pieces of a document are written one after another."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces
        self.n_taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.n_taken == len(self._pieces):
            return 0
        piece = self._pieces[self.n_taken]
        self.n_taken += 1
        buffer[: len(piece)] = piece
        return len(piece)


def batches(source: Any, size: int, format: str) -> tuple[list[Any], list[ParseError]]:
    """All batches, and the errors of what was skipped."""
    options = CASES[format][0]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = list(stream_trees(source, size, format=format, on_error="skip", **options))
    skipped = [one.message for one in caught if isinstance(one.message, SkippedInputWarning)]
    return found, [error for one in skipped for error in one.errors]


def brackets(X: Any) -> list[str]:
    return [str(tree) for tree in (X if isinstance(X, Forest) else X["tree"])]


def said(errors: Any) -> list[tuple[Any, ...]]:
    return [(one.sample, one.line, one.column, one.reason, one.hint) for one in errors]


@pytest.mark.parametrize("format", CASES)
@n_examples(60)
@given(st.data())
def test_batches_are_the_whole(format: str, data: st.DataObject) -> None:
    options, good, bad, (begin, between, end) = CASES[format]
    is_good = data.draw(st.lists(st.booleans() if bad else st.just(True), min_size=1, max_size=8))
    records = [good.format(i) if fine else bad for i, fine in enumerate(is_good)]
    document = (begin + between.join(records) + end).encode()
    document = document[: data.draw(st.integers(1, len(document)) | st.just(len(document)))]
    cuts = data.draw(st.lists(st.integers(0, len(document)), max_size=12))
    pieces = [document[a:b] for a, b in pairwise(sorted({0, *cuts, len(document)}))]
    size = data.draw(st.integers(1, 4))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole: Any = read_trees(io.BytesIO(document), format=format, on_error="skip", **options)
    found, errors = batches(io.BufferedReader(Arriving(pieces)), size, format)
    assert [tree for X in found for tree in brackets(X)] == brackets(whole)
    assert said(errors) == said(whole.skipped)
    for name, column in getattr(whole, "columns", {}).items():
        parts = [value for X in found for value in X.columns.get(name, [""] * len(X))]
        assert parts == column.tolist()


@pytest.mark.parametrize("format", CASES)
def test_a_tree_is_there_when_it_has_arrived(format: str) -> None:
    options, good, _, (begin, between, end) = CASES[format]
    text = [good.format(i) + between for i in range(19)] + [good.format(19) + end]
    pipe = Arriving([piece.encode() for piece in [begin + text[0], *text[1:]]])
    for n, X in enumerate(stream_trees(io.BufferedReader(pipe), 1, format=format, **options), 1):
        assert len(X) == 1
        # The end of a record may show only at the beginning of the next one.
        assert pipe.n_taken <= n + (format == "xml")
    assert n == 20


@pytest.mark.parametrize("format", [name for name, case in CASES.items() if case[2]])
def test_an_error_comes_after_the_trees_before_it(format: str) -> None:
    _, good, bad, (begin, between, end) = CASES[format]
    text = begin + between.join([good.format(1), good.format(2), bad, good.format(3)]) + end
    stream = stream_trees(io.BytesIO(text.encode()), 10, format=format)
    assert len(next(stream)) == 2
    with pytest.raises(ParseError) as caught:
        next(stream)
    assert caught.value.sample == 2
    assert list(stream) == []


def test_files_give_their_names_and_columns_stay(tmp_path: Path) -> None:
    (tmp_path / "a.dbn").write_text("(.)\n>n\n(..)\n")
    (tmp_path / "b.dbn").write_text("(...)\n")
    found: list[Any] = list(stream_trees(tmp_path, 1))
    assert [sorted(X.columns) for X in found] == [["file"], ["file", "name"], ["file", "name"]]
    assert [X.columns["file"][0] for X in found] == [
        str(tmp_path / name) for name in ("a.dbn", "a.dbn", "b.dbn")
    ]


def test_what_cannot_be_streamed(tmp_path: Path) -> None:
    (tmp_path / "a.mrg").write_text("(S a)\n")
    with pytest.raises(InvalidParameterError, match="use read_trees"):
        next(stream_trees(tmp_path / "a.mrg", 1))
    with pytest.raises(MissingFileError):
        next(stream_trees(tmp_path / "b.nwk", 1))
    with pytest.raises(InvalidParameterError, match="batch_size must be a positive"):
        stream_trees(tmp_path / "a.nwk", 0)


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [(b"ab\xff", 1, 3), (b"\xef\xbb\xbfa\n\xc3\xa9\xff", 2, 2), (b"a\n\xc3", 2, 1)],
)
def test_text_that_is_not_utf8(data: bytes, line: int, column: int) -> None:
    pieces = [data[i : i + 1] for i in range(len(data))]
    document = Document("d", io.BufferedReader(Arriving(pieces)))
    with pytest.raises(ParseError, match="not UTF-8") as caught:
        list(document.text_pieces())
    assert (caught.value.line, caught.value.column) == (line, column)


def test_long_quotes_take_linear_time() -> None:
    """An open quote is not read again for each line that seems to close it."""
    kind = TREE_FORMATS["newick"]
    text = "('" + "''\n" * 300_000
    [row] = kind.read(Document("d", io.BytesIO(text.encode())), kind.options({}))
    assert isinstance(row, ParseError)
    assert row.reason == "the quote is not closed"

"""Batches of examples from files and pipes."""

import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from filbert import Examples, Forest, TreePerceptron, merge_streams, read_examples, stream
from filbert.errors import (
    InputTypeError,
    InvalidParameterError,
    MissingFileError,
    ParseError,
    SkippedInputWarning,
)
from filbert.kernels import Polynomial, SubsetTree

TSV = "".join(f"{'x' if i % 3 else 'y z'}\t(S (A a{i}) (B b))\n" for i in range(10))
TK = "# made up\n" + "".join(
    f"{1 if i % 3 else -1} |BT| (S (A a{i}) b) |ET| {i + 1}:0.5 20:{i}\n\n" for i in range(10)
)
TWO_TREES = "".join(f"1 |BT| (a b{i}) |BT| (c d) |ET| 1:1 |BV| 2:{i}\n" for i in range(10))
JSONL = "".join(
    f'{{"label": {i % 2}, "trees": {{"p": "(a b{i})", "q": "(c)"}}, "features": [0, {i}]}}\n'
    for i in range(10)
)
FORMATS = [
    ("e.tsv", TSV, {}),
    ("e.dat", TK, {"n_features": 30}),
    ("e.dat", TWO_TREES, {"n_features": 3}),
    ("e.jsonl", JSONL, {"n_features": 2}),
]


def parts_of(X: Any) -> dict[str, Any]:
    parts = X.parts if isinstance(X, Examples) else {"tree": X}
    return {
        name: [str(tree) for tree in part] if isinstance(part, Forest) else part.toarray().tolist()
        for name, part in parts.items()
    }


def joined(batches: list[tuple[Any, Any]]) -> tuple[dict[str, Any], list[Any]]:
    """All batches one after the other."""
    names = parts_of(batches[0][0]).keys()
    each = [parts_of(X) for X, _ in batches]
    parts = {name: [row for part in each for row in part[name]] for name in names}
    return parts, [label for _, y in batches for label in y.tolist()]


@pytest.mark.parametrize(("name", "text", "options"), FORMATS)
@pytest.mark.parametrize("batch_size", [1, 3, 5, 10, 100])
def test_batches_are_what_the_file_holds(
    tmp_path: Path, name: str, text: str, options: dict[str, Any], batch_size: int
) -> None:
    path = tmp_path / name
    path.write_text(text)
    X, y = read_examples(path, **options)
    batches = list(stream(path, batch_size, **options))
    assert [len(y) for _, y in batches][:-1] == [batch_size] * (len(batches) - 1)
    assert joined(batches) == (parts_of(X), y.tolist())
    assert {y.dtype.kind for _, y in batches} == {y.dtype.kind}


@pytest.mark.parametrize("how", ["list", "pattern", "folder"])
def test_several_files_are_one_stream(tmp_path: Path, how: str) -> None:
    paths = [tmp_path / "a.tsv", tmp_path / "b.tsv"]
    paths[0].write_text(TSV)
    paths[1].write_text("id\tlabel\ttree\nq1\tx\t(a b)\n")
    source: Any = {"list": paths, "pattern": str(tmp_path / "*.tsv"), "folder": tmp_path}[how]
    batches = list(stream(source, 4))
    assert [len(y) for _, y in batches] == [4, 4, 2, 1]
    X, y = read_examples(source)
    assert joined(batches) == (parts_of(X), y.tolist())
    files = [name for X, _ in batches for name in X["file"]]
    assert files == X["file"].tolist() == [str(paths[0])] * 10 + [str(paths[1])]
    assert batches[-1][0]["id"].tolist() == ["q1"]


def test_files_with_other_trees_do_not_match(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"label": 1, "tree": "(a b)"}\n')
    (tmp_path / "b.jsonl").write_text('{"label": 1, "trees": {"p": "(a b)", "q": "(c)"}}\n')
    batches = stream([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], 4)
    next(batches)
    with pytest.raises(ParseError, match="has the trees p, q, but the first one has tree"):
        next(batches)


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_compressed_files(tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / f"e.tsv{suffix}"
    path.write_bytes(pack(TSV.encode()))
    _, labels = joined(list(stream(path, 4)))
    assert len(labels) == 10


def test_open_files_are_left_open(tmp_path: Path) -> None:
    path = tmp_path / "e"
    path.write_text(TSV)
    expected = joined(list(stream(path, 4)))
    for buffering in (-1, 0):
        with path.open("rb", buffering=buffering) as file:
            assert joined(list(stream(file, 4))) == expected
            assert not file.closed
    assert joined(list(stream(io.BytesIO(TSV.encode()), 4))) == expected
    assert joined(list(stream(TSV.encode().splitlines(), 4))) == expected


def test_an_empty_stream_has_no_batches() -> None:
    assert list(stream([], 3, format="tsv")) == []
    assert list(stream([b"\n", b"# x\n"], 3, format="svmlight-tk")) == []


def test_a_stream_may_be_left_early(tmp_path: Path) -> None:
    path = tmp_path / "e.tsv"
    path.write_text(TSV)
    batches = stream(path, 2)
    next(batches)
    batches.close()  # type: ignore[attr-defined]
    assert list(batches) == []


# ---------------------------------------------------------------- pipes


def test_a_batch_comes_as_soon_as_its_lines_are_there() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as sink:
        batches = stream(source, 2)
        for start in range(0, 6, 2):
            sink.write(b"".join(b"x\t(a b%d)\n" % i for i in (start, start + 1)))
            X, _ = next(batches)  # would wait for ever if it needed a line more
            assert [str(tree) for tree in X] == [f"(a b{start})", f"(a b{start + 1})"]
        sink.write(b"x\t(last)")
        sink.close()
        [(X, _)] = batches
        assert str(X[0]) == "(last)"


def test_standard_input_and_the_output_of_a_program() -> None:
    program = "[print(f'{i % 2}\\t(a b{i})') for i in range(1000)]"
    reader = (
        "from filbert import stream; "
        "print(sum(y.sum() for _, y in stream('-', 64, labels='numbers')))"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as writer:
        done = subprocess.run(
            [sys.executable, "-c", reader], stdin=writer.stdout, capture_output=True, check=True
        )
    assert done.stdout.split() == [b"500"]
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert sum(len(y) for _, y in stream(writer.stdout, 64)) == 1000


def test_named_pipes(tmp_path: Path) -> None:
    path = tmp_path / "examples.tsv"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_text(TSV))
    writer.start()
    batches = list(stream(path, 3))
    writer.join()
    assert [len(y) for _, y in batches] == [3, 3, 3, 1]


def test_lines_are_taken_one_batch_at_a_time() -> None:
    taken = 0

    def endless() -> Iterator[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield b"1 |BT| (a b%d) |ET| %d:1\n" % (taken, taken)

    batches = stream(endless(), 50, n_features=10_000)
    for n in range(1, 11):
        next(batches)
        assert taken == 50 * n


def test_memory_is_that_of_a_batch() -> None:
    def peak(n: int) -> int:
        lines = (b"%d\t(a (b c%d) (d e))\n" % (i % 2, i) for i in range(n))
        tracemalloc.start()
        for _ in stream(lines, 100, format="tsv"):
            pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(200)  # what is made once
    assert peak(20_000) < 2 * peak(1_000)


# ---------------------------------------------------------------- several streams


def test_turns() -> None:
    assert list(merge_streams([1, 4, 6], [2, 5], [], [3])) == [1, 2, 3, 4, 5, 6]
    assert list(merge_streams()) == []


def test_streams_of_different_formats_merge(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("1\t(a b)\n-1\t(a c)\n1\t(a d)\n")
    (tmp_path / "b.jsonl").write_text('{"label": 1, "tree": "(e f)"}\n')
    both = merge_streams(stream(tmp_path / "a.tsv", 1), stream(tmp_path / "b.jsonl", 1))
    assert [str(X[0]) for X, _ in both] == ["(a b)", "(e f)", "(a c)", "(a d)"]


def test_turns_are_lazy_and_wait_for_nobody_before_time() -> None:
    taken: list[str] = []

    def noted(name: str) -> Iterator[str]:
        for i in range(3):
            taken.append(f"{name}{i}")
            yield taken[-1]

    both = merge_streams(noted("a"), noted("b"))
    assert next(both) == "a0"
    assert taken == ["a0"]
    assert next(both) == "b0"


def test_ready_does_not_wait_for_a_slow_stream() -> None:
    go_on = threading.Event()

    def slow() -> Iterator[str]:
        go_on.wait()
        yield "slow"

    both = merge_streams(slow(), iter(["a", "b", "c"]), order="ready")
    assert [next(both) for _ in range(3)] == ["a", "b", "c"]
    go_on.set()
    assert list(both) == ["slow"]


def test_ready_passes_nobody_over() -> None:
    counts = {"a": 0, "b": 0}

    def endless(name: str) -> Iterator[str]:
        while True:
            yield name

    both = merge_streams(endless("a"), endless("b"), order="ready")
    for _ in range(100_000):  # how soon a thread gets its turn depends on the machine's load
        counts[next(both)] += 1
        if min(counts.values()) > 20:
            break
    assert min(counts.values()) > 20


def test_ready_reads_one_batch_ahead_at_most() -> None:
    taken = 0

    def counted() -> Iterator[int]:
        nonlocal taken
        for i in range(1000):
            taken += 1
            yield i

    both = merge_streams(counted(), order="ready")
    for n in range(1, 20):
        assert next(both) == n - 1
        assert taken <= n + 1


def test_threads_end_when_nobody_listens_any_more() -> None:
    before = {*threading.enumerate()}

    def endless() -> Iterator[int]:
        yield from iter(int, 1)

    both = merge_streams(endless(), endless(), order="ready")
    next(both)
    readers = {*threading.enumerate()} - before
    both.close()  # type: ignore[attr-defined]
    for reader in readers:
        reader.join(timeout=30)
    assert len(readers) == 2
    assert not any(reader.is_alive() for reader in readers)


@pytest.mark.parametrize("order", ["turns", "ready"])
def test_an_error_in_one_stream_is_raised(order: Any) -> None:
    bad = stream([b"x\t(a)\n", b"x\t(a\n"], 1, format="tsv")
    with pytest.raises(ParseError, match="line 2"):
        list(merge_streams(bad, stream([b"x\t(b)\n"] * 5, 1, format="tsv"), order=order))


def test_unknown_orders_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="order must be 'turns' or 'ready'"):
        merge_streams([1], order="fair")  # type: ignore[arg-type]


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("lines", "options", "reason"),
    [
        ([b"x\t(a b)", b"x\t(a c)", b"x\t(a (b"], {"format": "tsv"}, "never closed"),
        ([b"1 |BT| a |ET|", b"1 |BT| b |ET|", b"1 |BT| (a (b"], {}, "the trees have no end"),
        ([b"1 |BT| a |ET|", b"1 |BT| b |ET|", b"1 |BT| (a (b |ET|"], {}, "never closed"),
        ([b'{"label":1,"tree":"(a)"}', b'{"label":1,"tree":"(b)"}', b'{"label":1,"tr'], {}, "JSON"),
        (
            [b"1 |BT| a |ET| 1:1", b"1 |BT| b |ET| 2:1", b"1 |BT| c |ET| 2:1 3"],
            {"n_features": 5},
            "'3' is not a feature",
        ),
        (
            [b"1 |BT| a |ET| 1:1", b"1 |BT| b |ET| 2:1", b"1 |BT| c |ET| 6:1"],
            {"n_features": 5},
            "feature 6 is beyond n_features=5",
        ),
        (
            [b"1 |BT| a |ET| 1:1", b"1 |BT| b |ET| 2:1", b"1 |BT| c |ET| -1:1"],
            {"n_features": 5},
            "'-1:1' is not a feature",
        ),
        (
            [b"1 |BT| a |ET| 1:1", b"1 |BT| b |ET| 2:1", b"1 |BT| c |ET| 1:nan"],
            {"n_features": 5},
            "not a finite number",
        ),
        (
            [b"1\t(a)", b"-1\t(b)", b"x\t(c)"],
            {"labels": "numbers"},
            "the label 'x' is not a number",
        ),
    ],
)
@pytest.mark.parametrize("batch_size", [1, 2, 3, 100])
def test_all_before_a_bad_line_is_given(
    lines: list[bytes], options: dict[str, Any], reason: str, batch_size: int
) -> None:
    given: list[tuple[Any, Any]] = []
    with pytest.raises(ParseError, match=reason) as caught:
        given.extend(stream(lines, batch_size, **options))
    assert (caught.value.line, caught.value.sample) == (3, 2)
    assert joined(given) == joined(list(stream(lines[:2], 2, **options)))


def test_a_model_has_learnt_what_came_before_the_end_of_a_torn_stream() -> None:
    lines = [line.encode() for line in TK.splitlines()]
    kernel = SubsetTree(part="tree") + Polynomial(2, part="features")

    def learn(model: TreePerceptron, lines: list[bytes]) -> None:
        for X, y in stream(lines, 4, n_features=30):
            model.partial_fit(X, y, classes=[-1, 1])

    torn, whole = TreePerceptron(kernel), TreePerceptron(kernel)
    learn(whole, lines)
    with pytest.raises(ParseError) as caught:
        learn(torn, [*lines, b"1 |BT| (S (A a"])
    assert caught.value.sample == 10
    assert torn.n_seen_ == whole.n_seen_ == 10
    X, _ = next(stream(lines, 10, n_features=30))
    assert torn.decision_function(X).tolist() == whole.decision_function(X).tolist()


def test_lines_and_examples_are_counted_apart() -> None:
    lines = [b"# one", b"1 |BT| a |ET|", b"", b"1 |BT| b |ET|", b"1 |BT| (c |ET|"]
    with pytest.raises(ParseError) as caught:
        list(stream(lines, 2))
    assert (caught.value.line, caught.value.sample) == (5, 2)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_compressed_file_that_is_cut_short(tmp_path: Path, pack: Any) -> None:
    lines = [f"x\t(a b{i} {np.random.default_rng(i).bytes(40).hex()})" for i in range(3000)]
    whole = pack("\n".join(lines).encode())
    path = tmp_path / ("e.tsv.gz" if pack is gzip.compress else "e.tsv.xz")
    path.write_bytes(whole[: len(whole) // 2])
    given: list[tuple[Any, Any]] = []
    with pytest.raises(ParseError, match="cut short") as caught:
        given.extend(stream(path, 100))
    trees = [str(tree) for X, _ in given for tree in X]
    n = len(trees)
    assert trees == [line[2:] for line in lines[:n]]
    assert 0 < n < 3000
    assert (caught.value.line, caught.value.sample) == (n + 1, n)


def test_bad_lines_can_be_skipped() -> None:
    lines = [b"1\t(a)", b"1\t(b", b"0\t(c)", b"1\t)", b"1\t("]
    with pytest.warns(SkippedInputWarning) as caught:
        batches = list(stream(lines, 2, format="tsv", on_error="skip"))
    assert joined(batches) == ({"tree": ["(a)", "(c)"]}, ["1", "0"])
    assert [[(e.line, e.sample) for e in X.skipped] for X, _ in batches] == [[(2, 1)], [(4, 3)]]
    assert len(caught) == 3, "also for the batch of which nothing is left"
    assert {warning.filename for warning in caught} == {__file__}, "they point at the caller"


def test_features_need_a_width() -> None:
    with pytest.raises(InvalidParameterError, match="pass n_features"):
        list(stream([b"1 |BT| a |ET| 1:1"], 1))
    with pytest.raises(InvalidParameterError, match="pass n_features"):
        list(stream([b"1 |BT| a |ET|", b"1 |BT| a |ET| 1:1"], 1))


def test_all_batches_have_the_parts_of_the_first() -> None:
    lines = [b"1 |BT| a |ET|", b"1 |BT| b |ET| 2:1", b"1 |BT| (c d) |ET| "]
    shapes = [X["features"].shape for X, _ in stream(lines, 1, n_features=3)]
    assert shapes == [(1, 3)] * 3
    with pytest.raises(ParseError, match="this example has the trees tree_1, tree_2") as caught:
        list(stream([b"1 |BT| a |ET|", b"1 |BT| a |BT| b |ET|"], 1))
    assert caught.value.line == 2
    two = b"1 |BT| a |ET| 1:1 |BV| 1:1"
    with pytest.raises(ParseError, match="has the vector 'features'"):
        list(stream([two, b"1 |BT| a |ET| 1:1"], 1, n_features=3))


def test_text_labels() -> None:
    lines = [b"1\t(a)", b"x\t(b)", b"2\t(c)"]
    labels = [y.tolist() for _, y in stream(lines, 1)]
    assert labels == [["1"], ["x"], ["2"]]
    assert [y.tolist() for _, y in stream(lines[2:], 1, labels="numbers")] == [[2]]
    with pytest.raises(ParseError, match=r"the label 'x' is not a number.*labels='text'"):
        list(stream(lines, 1, labels="numbers"))


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("1", '"x"', "line 2.*'x' is a text.*first label of the stream is a number"),
        ('"x"', "1", "line 2.*1 is a number.*is a text"),
        ('"1"', "1", "line 2.*1 is a number.*is a text"),
        ("true", "1", "line 2.*1 is a number.*is a bool"),
        ("0.5", "false", "line 2.*False is a bool.*is a number"),
    ],
)
def test_labels_of_json_keep_the_type_of_the_first(
    size: int, first: str, second: str, told: str
) -> None:
    lines = [f'{{"label": {y}, "tree": "(a)"}}'.encode() for y in (first, second)]
    batches = stream(lines, size)
    assert len(next(batches)[1]) == 1
    with pytest.raises(ParseError, match=told + ".*labels='text'"):
        next(batches)
    texts = [y for _, ys in stream(lines, size, labels="text") for y in ys.tolist()]
    assert texts == [str(json.loads(y)) for y in (first, second)]


def test_numbers_of_json_may_be_whole_or_not() -> None:
    lines = [f'{{"label": {y}, "tree": "(a)"}}'.encode() for y in ("1", "2.5")]
    assert [y.tolist() for _, y in stream(lines, 1)] == [[1], [2.5]]


@pytest.mark.parametrize(
    ("source", "options", "error", "reason"),
    [
        ([], {"batch_size": 0}, InvalidParameterError, "batch_size"),
        ([], {"batch_size": 2.5}, InvalidParameterError, "batch_size"),
        ([], {"batch_size": True}, InvalidParameterError, "batch_size"),
        ([], {"n_features": 0}, InvalidParameterError, "n_features"),
        ([], {"on_error": "ignore"}, InvalidParameterError, "on_error"),
        ("no/such/file", {}, MissingFileError, "no file"),
        (io.StringIO("x\t(a)"), {}, InputTypeError, "not from StringIO"),
        (3, {}, InputTypeError, "not from int"),
        (["x\t(a)"], {}, InputTypeError, "pass lines as bytes"),
        ([b"x (a)"], {}, ParseError, "the format cannot be detected"),
        ([b"x"], {"format": "xml"}, InvalidParameterError, "format must be"),
    ],
)
def test_bad_arguments(source: Any, options: dict[str, Any], error: Any, reason: str) -> None:
    with pytest.raises(error, match=reason):
        list(stream(source, **{"batch_size": 1, **options}))


def test_arguments_are_checked_at_once() -> None:
    with pytest.raises(InvalidParameterError):
        stream([], 0)

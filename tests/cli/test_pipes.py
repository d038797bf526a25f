"""Standard input and pipes give what the same bytes in a regular file give, byte by byte."""

import gzip
import io
import json
import lzma
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from threading import Thread
from typing import NamedTuple
from unittest.mock import patch

import pytest

from filbert import Forest, load, read_examples, stream
from filbert.cli import main

WORDS = "abcdefgh"


def trees(n: int) -> list[str]:
    return [f"(S (NP {WORDS[i % 8]}) (VP (V {WORDS[i // 8 % 8]}) w{i % 97}))" for i in range(n)]


def labelled(n: int, format: str) -> bytes:
    lines = []
    for i, tree in enumerate(trees(n)):
        label = 1 if i % 8 < 4 else -1
        lines.append(
            {
                "tsv": f"{label}\t{tree}",
                "jsonl": json.dumps({"label": label, "tree": tree}),
                "svmlight-tk": f"{label} |BT| {tree} |ET|",
                "brackets": tree,
            }[format]
        )
    return "".join(f"{line}\n" for line in lines).encode()


BEYOND_A_MIB = 45_000
assert len(labelled(BEYOND_A_MIB, "brackets")) > 1 << 20
SIZES = [1, 3_000, pytest.param(BEYOND_A_MIB, marks=pytest.mark.product)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("pipes")
    (folder / "train.tsv").write_bytes(labelled(200, "tsv"))
    path = str(folder / "model")
    run(["train", str(folder / "train.tsv"), "-o", path, "--jobs", "1"])
    return path


class Done(NamedTuple):
    """What a command gives."""

    code: int
    stdout: bytes
    stderr: bytes


@contextmanager
def standard_input(data: bytes) -> Iterator[None]:
    """A real pipe as the standard input, into which somebody writes."""
    reading, writing = os.pipe()

    def write() -> None:
        with os.fdopen(writing, "wb") as sink:
            sink.write(data)

    writer = Thread(target=write, daemon=True)
    writer.start()
    with os.fdopen(reading) as source, patch.object(sys, "stdin", source):
        yield
    writer.join()


def run(arguments: list[str], given: bytes | None = None) -> Done:
    """Run a command as a process would: with its streams, and to its exit code."""
    out, err = (io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in range(2))
    with ExitStack() as stack:
        if given is not None:
            stack.enter_context(standard_input(given))
        stack.enter_context(patch.object(sys, "argv", ["filbert", *arguments]))
        stack.enter_context(patch("warnings.showwarning"))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        with pytest.raises(SystemExit) as stop:
            main()
    code = stop.value.code or 0
    assert isinstance(code, int)
    return Done(code, out.buffer.getvalue(), err.buffer.getvalue())


def outcome(done: Done, name: str) -> Done:
    """All that a command says, with the name of its data left out."""
    return done._replace(stderr=done.stderr.replace(name.encode(), b"DATA"))


def fed(path: Path, data: bytes) -> Thread:
    """A named pipe into which somebody writes."""
    os.mkfifo(path)
    writer = Thread(target=path.write_bytes, args=(data,), daemon=True)
    writer.start()
    return writer


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("format", ["brackets", "tsv", "jsonl", "svmlight-tk"])
def test_predicting_from_pipes(model: str, tmp_path: Path, format: str, n: int) -> None:
    data = labelled(n, format)
    path = tmp_path / "data"
    path.write_bytes(data)
    command = ["predict", model, "--scores", "--jobs", "1"]
    expected = outcome(run([*command, str(path)]), str(path))
    assert expected[0] == 0
    assert expected[1].count(b"\n") == n
    assert outcome(run([*command, "-"], data), "standard input") == expected
    pipe = tmp_path / "pipe"
    writer = fed(pipe, data)
    assert outcome(run([*command, str(pipe)]), str(pipe)) == expected
    writer.join()


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "MODEL", "DATA", "--json"],
        ["explain", "MODEL", "DATA", "--top", "3", "--examples", "3"],
        ["train", "DATA", "-o", "OUT", "--quiet"],
    ],
    ids=lambda arguments: arguments[0],
)
@pytest.mark.parametrize("format", ["tsv", "jsonl"])
def test_other_commands_read_pipes(
    model: str, tmp_path: Path, arguments: list[str], format: str
) -> None:
    data = labelled(3_000, format)
    path, pipe = tmp_path / f"data.{format}", tmp_path / f"pipe.{format}"
    path.write_bytes(data)
    written: list[bytes] = []

    def of(name: str, given: bytes | None = None) -> Done:
        out = tmp_path / f"out{len(written)}"
        words = {"MODEL": model, "DATA": name, "OUT": str(out)}
        done = run([words.get(word, word) for word in arguments], given)
        shown = "standard input" if name == "-" else name
        written.append(load(out).decision_function(trees(30)).tobytes() if out.exists() else b"")
        return outcome(done, shown)

    expected = of(str(path))
    assert expected[0] == 0
    assert of("-", data) == expected
    writer = fed(pipe, data)
    assert of(str(pipe)) == expected
    writer.join()
    assert len(set(written)) == 1


@pytest.mark.parametrize("format", ["brackets", "tsv"])
@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_packed_data_needs_no_name(model: str, format: str, pack: Callable[[bytes], bytes]) -> None:
    data = labelled(3_000, format)
    expected = run(["predict", model, "-"], data).stdout
    assert expected.count(b"\n") == 3_000
    assert run(["predict", model, "-"], pack(data)).stdout == expected


@pytest.mark.product
def test_processes(model: str, tmp_path: Path) -> None:
    """The standard input and process substitution of a real shell."""
    path = tmp_path / "data"
    path.write_bytes(labelled(3_000, "brackets"))
    expected = run(["predict", model, str(path)]).stdout
    filbert = f"{sys.executable} -m filbert predict {model}"
    for command in (f"cat {path} | {filbert} -", f"{filbert} <(gzip -c {path})"):
        done = subprocess.run(["bash", "-c", command], capture_output=True, check=True)
        assert done.stdout == expected


@pytest.mark.parametrize("command", ["predict", "evaluate", "explain"])
@pytest.mark.parametrize("data", [b"", b"\n\n", b"label\ttree\n"], ids=repr)
def test_no_examples_are_an_error_everywhere(
    model: str, tmp_path: Path, command: str, data: bytes
) -> None:
    path = tmp_path / "data"
    path.write_bytes(data)
    expected = outcome(run([command, model, str(path)]), str(path))
    assert expected[:2] == (2, b"")
    assert b"filbert: DATA has no examples" in expected[2]
    assert outcome(run([command, model, "-"], data), "standard input") == expected


def test_errors_in_pipes_have_a_place(model: str) -> None:
    data = labelled(3_000, "tsv") + b"1\t(S\n"
    done = run(["predict", model, "-"], data)
    assert (done.code, done.stdout[-2:], done.stdout.count(b"\n")) == (1, b"?\n", 3_001)
    assert b"standard input, line 3001, column 3: " in done.stderr
    stopped = run(["predict", model, "-", "--on-error", "raise"], data)
    assert (stopped.code, stopped.stdout) == (2, b"")


def test_each_line_is_answered_before_the_next(model: str) -> None:
    """Also a line that cannot be read: whoever writes may wait for the answer."""
    reading, writing = os.pipe()
    answers, printing = os.pipe()

    def command() -> None:
        arguments = ["filbert", "predict", model, "-", "--batch", "1"]
        with ExitStack() as stack:
            out = stack.enter_context(os.fdopen(printing, "w"))
            source = stack.enter_context(os.fdopen(reading))
            stack.enter_context(patch.object(sys, "argv", arguments))
            stack.enter_context(patch.object(sys, "stdin", source))
            stack.enter_context(redirect_stdout(out))
            stack.enter_context(redirect_stderr(io.StringIO()))
            stack.enter_context(pytest.raises(SystemExit))
            main()

    thread = Thread(target=command, daemon=True)
    thread.start()
    with os.fdopen(answers, "rb") as out, os.fdopen(writing, "wb", buffering=0) as sink:
        good = labelled(1, "tsv")
        for line, answer in (
            (good, b"1\n"),
            (b"1\t(S\n", b"?\n"),
            (b"1\tx\n", b"?\n"),
            (good, b"1\n"),
        ):
            sink.write(line)
            assert out.readline() == answer
        sink.close()
        assert out.read() == b""
    thread.join()


def test_headers_and_words_on_the_command_line(model: str) -> None:
    data = b"label\ttree\n" + labelled(5, "tsv")
    expected = run(["predict", model, "-"], labelled(5, "tsv")).stdout
    assert run(["predict", model, "-"], data).stdout == expected
    assert run(["predict", model, "-", "--header"], data).stdout == expected
    assert (
        b"a word without brackets: tree" in run(["predict", model, "-", "--no-header"], data).stderr
    )
    words = ["predict", model, "-", "--bare-words"]
    assert run(words, b"x\tdog\nx\tcat\n").stdout.count(b"\n") == 2
    assert run([*words, "--format", "brackets"], b"dog\n(cat)\n").stdout.count(b"\n") == 2


# ---------------------------------------------------------------- the library


@pytest.mark.parametrize("format", ["tsv", "jsonl", "svmlight-tk"])
def test_a_file_is_opened_once(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"data.{format}"
    path.write_bytes(labelled(3_000, format))
    bad = tmp_path / f"bad.{format}"
    bad.write_bytes(labelled(3_000, format) + b"?\n")
    program = (
        "import sys, warnings; from filbert import read_examples\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args: event == 'open' and opened.append(str(args[0])))\n"
        "warnings.simplefilter('ignore')\n"
        "for path in sys.argv[1:]:\n"
        "    X, y = read_examples(path, on_error='skip')\n"
        "    assert len(y) == 3000\n"
        "    print(opened.count(path))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path), str(bad)], capture_output=True, check=True
    )
    assert done.stdout.split() == [b"1", b"1"]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("last", [b"", b"maybe |BT| (a b) |ET|\n"], ids=["usual", "unusual"])
def test_pipes_in_the_library(tmp_path: Path, n: int, last: bytes) -> None:
    """Also where what is unusual comes only at the end, when much has been read by the core."""
    data = labelled(n, "svmlight-tk") + last
    path, pipe = tmp_path / "data.dat", tmp_path / "pipe.dat"
    path.write_bytes(data)
    expected, y = read_examples(path, labels="text")
    assert len(y) == n + bool(last)
    writer = fed(pipe, data)
    X, of_pipe = read_examples(pipe, labels="text")
    writer.join()
    assert list(X) == list(expected)
    assert of_pipe.tolist() == y.tolist()
    pipe.unlink()
    writer = fed(pipe, labelled(n, "brackets"))
    assert Forest.from_brackets(pipe) == expected[:n]
    writer.join()


def test_slow_writers_are_waited_for(tmp_path: Path) -> None:
    """Pieces that end anywhere, also within the first line."""
    data = labelled(100, "tsv")
    reading, writing = os.pipe()

    def write() -> None:
        with os.fdopen(writing, "wb", buffering=0) as sink:
            for i in range(0, len(data), 7):
                sink.write(data[i : i + 7])

    writer = Thread(target=write, daemon=True)
    writer.start()
    with os.fdopen(reading, "rb") as source:
        X, _ = read_examples(source)
    writer.join()
    assert [str(tree) for tree in X] == trees(100)


def batches(path: Path) -> Iterator[str]:
    for X, _ in stream(path, 64):
        yield from map(str, X)


def test_streams_of_packed_pipes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    writer = fed(pipe, gzip.compress(labelled(1_000, "tsv")))
    assert list(batches(pipe)) == trees(1_000)
    writer.join()

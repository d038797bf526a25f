"""Predictions for documents of trees: one line per tree, in its place."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import Run, write

# Four records of each format, of which the second is bad. `K` is the class of a record.
DOCUMENTS = {
    "iupac": ["Gal(b1-4)GlcNAc", "Gal(b1-4 Glc", "Man(a1-3)Man", "Man(a1-6)Man"],
    "nwk": ["(Gal)GlcNAc;", "(Gal));", "(Man)Man;", "(Man)Man;"],
    "dbn": ["(.)", "(.))", "()", "()"],
    "conllu": [
        "1\tGal\t_\tN\tN\t_\t0\tr\t_\t_\n",
        "1\tGal\t_\tN\tN\t_\t1\tr\t_\t_\n",
        "1\tMan\t_\tN\tN\t_\t0\tr\t_\t_\n",
        "1\tMan\t_\tN\tN\t_\t0\tr\t_\t_\n",
    ],
}
TRAINING = {
    "iupac": ["a\t(GlcNAc Gal/b1-4)", "b\t(Man Man/a1-3)", "b\t(Man Man/a1-6)"],
    "nwk": ["a\t(GlcNAc Gal)", "b\t(Man Man)"],
    "dbn": ["a\t(RNA (pair .))", "b\t(RNA pair)"],
    "conllu": ["a\t(r (N Gal))", "b\t(r (N Man))"],
}


@pytest.fixture(params=DOCUMENTS)
def case(request: pytest.FixtureRequest, run: Run, tmp_path: Path) -> tuple[Path, Path]:
    """A model, and a document with a bad record."""
    suffix = request.param
    training = write(tmp_path / "train.tsv", TRAINING[suffix] * 4)
    model = tmp_path / "model"
    kernel = ("--kernel", "ptk")
    assert run("train", training, "-o", model, *kernel, "--jobs", "1").code == 0
    return model, write(tmp_path / f"data.{suffix}", DOCUMENTS[suffix])


def test_a_bad_tree_has_the_placeholder_in_its_place(run: Run, case: tuple[Path, Path]) -> None:
    done = run("predict", *case)
    assert (done.code, done.out.split()) == (1, ["a", "?", "b", "b"])
    assert "line" in done.err


@pytest.mark.parametrize("batch", ["1", "2", "3"])
def test_numbers_count_bad_trees(run: Run, case: tuple[Path, Path], batch: str) -> None:
    done = run("predict", *case, "--number", "--json", "--batch", batch)
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [(row["number"], row["label"]) for row in rows] == [
        (1, "a"), (2, None), (3, "b"), (4, "b"),
    ]  # fmt: skip
    assert "error" in rows[1]


def test_parts_keep_the_places(run: Run, case: tuple[Path, Path], tmp_path: Path) -> None:
    assert run("predict", *case, "--parts", "1", "-o", tmp_path / "out").code == 1
    assert (tmp_path / "out/part-1-of-1.tsv").read_text().split() == ["a", "?", "b", "b"]


def test_on_error_raise_stops_there(run: Run, case: tuple[Path, Path]) -> None:
    done = run("predict", *case, "--on-error", "raise", "--batch", "1")
    assert (done.code, done.out.split()) == (2, ["a"])


def test_files_without_functions(run: Run, tmp_path: Path) -> None:
    training = write(tmp_path / "train.tsv", ["a\t(FunctionDef f)", "b\t(FunctionDef g)"] * 4)
    run("train", training, "-o", tmp_path / "model", "--kernel", "ptk", "--jobs", "1")
    write(tmp_path / "code/__init__.py", [])
    write(tmp_path / "code/bad.py", ["def f(:"])
    write(tmp_path / "code/good.py", ["def f(): pass", "def g(): pass"])
    options = ("--format", "python", "--set", "unit=function", "--jobs", "1")
    command = ("predict", tmp_path / "model", tmp_path / "code", *options)
    done = run(*command, "--id", "name", "--line")
    assert done.code == 1
    assert [line.split("\t")[:2] for line in done.out.splitlines()] == [
        ["", "1"], ["f", "1"], ["g", "2"],
    ]  # fmt: skip
    assert "bad.py, line 1" in done.err
    done = run(*command, "--id", "title")
    assert done.code == 2
    assert "--id title: there is no such column; there are name, line, end_line, file" in done.err


def test_many_bad_lines_end_in_a_summary(run: Run, tmp_path: Path) -> None:
    training = write(tmp_path / "train.tsv", ["a\t(S a)", "b\t(S b)"] * 4)
    run("train", training, "-o", tmp_path / "model", "--kernel", "ptk", "--jobs", "1")
    swapped = write(tmp_path / "swapped.tsv", ["(S a)\ta"] * 30)
    done = run("predict", tmp_path / "model", swapped, "--batch", "7")
    assert (done.code, done.out.split()) == (1, ["?"] * 30)
    *messages, more, summary = done.err.splitlines()
    assert len(messages) == 10
    assert all("--label 1, --tree 0" in message for message in messages)
    assert "only the number" in more
    assert summary == (
        "filbert: 30 of 30 could not be read: check the columns (--label, --tree) and --format"
    )
    mixed = write(tmp_path / "mixed.tsv", ["(S a)\ta"] * 12 + ["a\t(S a)"])
    done = run("predict", tmp_path / "model", mixed)
    assert done.err.splitlines()[-1] == "filbert: 12 of 13 could not be read"
    few = write(tmp_path / "few.tsv", ["(S a)\ta"] * 10)
    assert len(run("predict", tmp_path / "model", few).err.splitlines()) == 10


def test_labels_that_are_ignored_may_be_empty(run: Run, tmp_path: Path) -> None:
    training = write(tmp_path / "train.tsv", ["a\t(S a)", "b\t(S b)"] * 4)
    run("train", training, "-o", tmp_path / "model", "--kernel", "ptk", "--jobs", "1")
    data = write(tmp_path / "data.tsv", ["a\t(S a)", "\t(S b)"])
    assert run("predict", tmp_path / "model", data).out.split() == ["a", "b"]
    assert run("fragments", tmp_path / "model").code == 0
    done = run("evaluate", tmp_path / "model", data)
    assert (done.code, "line 2: the label is empty" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["train", "t.tsv", "-o", "none/m"], "there is no folder"),
        (
            ["train", "t.tsv", "-o", "m", "-C", "-1"],
            "filbert: -C must be positive and finite, got -1.0",
        ),
        (["train", "t.tsv", "-o", "m", "--decay", "3"], "filbert: --decay must be in (0, 1]"),
        (["describe", "m.gz"], "the compressed file is damaged"),
        (["convert", "t.tsv", "--to", "svmlight-tk"], "pass --map yes=1 --map no=-1"),
        (["convert", "t.tsv", "--to", "svmlight-tk", "--map", "a=1"], "--map has no entry for"),
        (["convert", "t.tsv", "-o", "x"], "--to must be one of"),
        (["convert", "t.tsv", "-o", "x.xml"], "make a folder and name it with -o"),
        (["convert", "t.tsv", "--from", "text", "--to", "klp"], "--format must be"),
        (["convert", "mixed.jsonl", "--to", "klp"], "or pass --set labels=text"),
        (["convert", "knot.dbn", "--to", "brackets"], "use --set pseudoknots=drop"),
        (["describe", "a.txt"], "the format cannot be detected"),
        (["describe", "array.json", "--set", "items=1"], "items must be a bool"),
    ],
)
def test_messages_in_words_of_the_command_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "t.tsv", ["a\t(S a)", "b\t(S b)"])
    write(
        tmp_path / "mixed.jsonl", ['{"label": 1, "tree": "(a)"}', '{"label": "1", "tree": "(a)"}']
    )
    write(tmp_path / "knot.dbn", ["([)]"])
    write(tmp_path / "a.txt", ["nothing"])
    write(tmp_path / "array.json", ["[1]"])
    (tmp_path / "m.gz").write_bytes(b"\x1f\x8b")
    done = run(*command)
    assert done.code == 2
    assert message in done.err
    for word in ("read_trees", "read_examples", "filbert.", "write X", "label_map", "=,", "Tree:"):
        assert word not in done.err


def test_a_model_is_no_data(run: Run, tmp_path: Path) -> None:
    training = write(tmp_path / "train.tsv", ["a\t(S a)", "b\t(S b)"] * 4)
    run("train", training, "-o", tmp_path / "model", "--kernel", "ptk", "--jobs", "1")
    done = run("describe", tmp_path / "model")
    assert done.code == 2
    assert "if it is a model, name it before the data" in done.err
    assert len(done.err.splitlines()) == 1

"""Odd input and output: nothing is lost or misread in silence, and each error has one line."""

import io
import sys
from pathlib import Path

import pytest

from tests.cli.commands import Run, write

LINES = ["a\t(S (NP (D the) (N dog)) (VP runs))", "b\t(S (VP go) (NP (N home)))"] * 6
TREES = [line.partition("\t")[2] for line in LINES]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a table, trees, a model and an index."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "t.tsv", LINES)
    write(tmp_path / "t.mrg", TREES)
    pages = ["page\tlabel\ttree", f"1\t{LINES[0]}", f"\t{LINES[1]}"]
    write(tmp_path / "groups.tsv", pages)
    (tmp_path / "empty").mkdir()
    return tmp_path


@pytest.fixture
def model(data: Path, run: Run) -> Path:
    assert run("train", "t.tsv", "-o", "m", "--kernel", "stk").code == 0
    return data / "m"


@pytest.mark.parametrize(
    "command",
    [
        "train t.tsv -o t.tsv",
        "train t.* --tree 1 --label 0 -o t.tsv",
        "cv t.tsv --kernel stk -C 1 -o t.tsv",
        "convert t.tsv -o t.tsv",
        "convert t.tsv t.mrg -o link.tsv",
        "predict m t.tsv -o t.tsv",
        "predict m t.tsv -o m",
        "recurring t.mrg -o t.mrg",
        "clones t.mrg -o t.mrg",
        "fragments m -o m",
    ],
)
def test_no_command_overwrites_what_it_reads(
    run: Run, data: Path, model: Path, command: str
) -> None:
    (data / "link.tsv").symlink_to(data / "t.tsv")
    before = {path: path.read_bytes() for path in data.iterdir() if path.is_file()}
    done = run(*command.split())
    assert done.code == 2
    assert "is a file that this command reads" in done.err
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("train t.tsv -o empty", "empty is a folder: name a file in it"),
        ("predict m t.tsv -o empty", "empty is a folder: name a file in it"),
        ("train t.tsv -o -", "a model is a file: name it"),
        ("cv t.tsv --kernel stk -C 1 -o -", "a model is a file: name it"),
        ("index t.mrg -o -", "an index is a folder: name it"),
        ("search t.tsv (S)", "this is a file, not an index"),
        ("predict m - -", "standard input can be read only once"),
        ("convert - t.tsv - --to jsonl", "standard input can be read only once"),
        ("cv groups.tsv --kernel stk -C 1 --groups page", "example 2 has no group, its page is"),
        ("similar - -", "the query or the data, not both"),
        ("train t.tsv -o n --label 1 --tree 1", "column 1 is chosen twice"),
        ("train t.tsv -o n --label 0 --set features=0", "column 0 is chosen twice"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    run: Run, data: Path, model: Path, command: str, told: str
) -> None:
    done = run(*command.split())
    assert done.code == 2
    assert told in done.err
    assert done.err.count("\n") == 1
    assert not (data / "n").exists()
    assert not (data / "-").exists()


@pytest.mark.parametrize("options", [["--tree", "0"], ["--label", "1"], ["--tree", "-2"]])
def test_the_other_of_two_columns_is_the_label_or_the_tree(
    run: Run, data: Path, options: list[str]
) -> None:
    write(data / "turned.tsv", ["\t".join(line.split("\t")[::-1]) for line in LINES])
    done = run("convert", "turned.tsv", "--to", "tsv", *options)
    assert done.out.splitlines()[1:] == LINES


def test_a_file_that_is_named_twice_is_told(run: Run, data: Path) -> None:
    done = run("train", "t.tsv", "t.*v", "-o", "m")
    assert (done.code, done.out.split()[0]) == (0, "24")
    assert "t.tsv: named more than once" in done.err


def test_a_query_from_standard_input(run: Run, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("index", "t.mrg", "-o", "i").code == 0
    expected = run("search", "i", TREES[0], "-k", "1").out
    for command in ("search i - -k 1", "similar - t.mrg --top 1"):
        typed = io.TextIOWrapper(io.BytesIO(TREES[0].encode()))
        monkeypatch.setattr(sys, "stdin", typed)
        assert run(*command.split()).out == expected


def test_kernels_are_shown_as_python_writes_them(run: Run, data: Path) -> None:
    write(data / "two.dat", [f"{k % 2} |BT| (S a{k % 2}) |BT| (S b) |ET|" for k in range(8)])
    assert run("train", "two.dat", "-o", "m").code == 0
    done = run("fragments", "m")
    assert "LocalPatterns(labels=True, " in done.err
    assert "train with --kernel stk, st or ptk" in done.err


def test_numbers_of_examples_are_whole(run: Run, data: Path, model: Path) -> None:
    write(data / "new.tsv", [f"other {line}" for line in LINES])
    done = run("evaluate", "m", "new.tsv")
    assert [line.split()[-1] for line in done.out.splitlines()[5:9]] == ["0", "0", "6", "6"]


@pytest.mark.parametrize("order", ["le", "be"])
@pytest.mark.parametrize("bits", [16, 32])
def test_wide_encodings_are_named(run: Run, data: Path, bits: int, order: str) -> None:
    text = "\ufeff" + "\n".join(LINES)
    (data / "wide.tsv").write_bytes(text.encode(f"utf-{bits}-{order}"))
    done = run("describe", "wide.tsv")
    assert done.code == 2
    assert f"text in UTF-{bits}, not text in UTF-8 (convert it to UTF-8)" in done.err


TURNED = "(S\n(NP a)\n(VP go))\n(S\n(NP (N b))\n(VP go))\n"


def test_trees_may_go_on_in_the_first_column(run: Run, data: Path, model: Path) -> None:
    (data / "column.mrg").write_text(TURNED)
    (data / "lines.mrg").write_text(TURNED.replace("\n(NP", " (NP").replace("\n(VP", " (VP"))
    for command in ("predict m {} --scores", "describe {} --on-error skip"):
        done, expected = (
            run(*command.format(f"{name}.mrg").split()) for name in ("column", "lines")
        )
        assert done == expected
        assert (done.code, done.err) == (0, "")


def test_a_missing_bracket_spoils_one_tree(run: Run, data: Path, model: Path) -> None:
    (data / "bad.mrg").write_text(TREES[0] + "\n(S (NP a)\n" + TREES[1] + "\n")
    done = run("predict", "m", "bad.mrg")
    assert (done.code, done.out) == (1, "a\n?\nb\n")
    assert "bad.mrg, line 2, column 1: the tree that begins here is never closed" in done.err


def sentence(genre: str, verb: str) -> str:
    comment = f"# genre = {genre}\n" if genre else ""
    words = [("1", "dogs", "NOUN", "2", "nsubj"), ("2", verb, "VERB", "0", "root")]
    rows = [(i, w, w, p, "_", "_", head, rel, "_", "_") for i, w, p, head, rel in words]
    return comment + "".join("\t".join(row) + "\n" for row in rows) + "\n"


def test_a_comment_of_a_sentence_is_its_label(run: Run, data: Path) -> None:
    pairs = [("news", "said"), ("tales", "fly"), ("news", "told")] * 3
    (data / "s.conllu").write_text("".join(sentence(*pair) for pair in pairs))
    done = run("train", "s.conllu", "--label", "genre", "-o", "genres")
    assert (done.code, done.out.split()[:4]) == (0, ["9", "examples,", "2", "classes,"])
    done = run("evaluate", "genres", "s.conllu", "--label", "genre", "--json")
    assert '"accuracy": 1.0' in done.out
    for options, told in (
        ([], "has no labels that are known"),
        (["--label", "x"], "columns genre"),
    ):
        done = run("train", "s.conllu", *options, "-o", "n")
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert told in done.err
    (data / "s.conllu").write_text(sentence("news", "said") + sentence("", "fly"))
    assert "tree 2 has no genre" in run("train", "s.conllu", "--label", "genre", "-o", "n").err


NOTHING_IN_COMMON = "no tree with anything in common with the trees that the model was trained on"


@pytest.mark.parametrize("options", [[], ["--kernel", "ptk"], ["--loss", "logistic"]])
def test_trees_of_another_kind_are_told(run: Run, data: Path, options: list[str]) -> None:
    """A model predicts something for any tree, also for one that shares nothing with its own."""
    assert run("train", "t.tsv", "-o", "m", *options).code == 0
    write(data / "other.nwk", ["(x:0.1,y:0.2);", "((x,z),y);"])
    done = run("predict", "m", "other.nwk")
    assert (done.code, len(done.out.splitlines())) == (0, 2)
    assert f"warning: other.nwk has {NOTHING_IN_COMMON}" in done.err
    assert run("predict", "m", "other.nwk", "--quiet").err == ""
    write(data / "other.tsv", ["a\t(X y)", "b\t(X z)"])
    assert NOTHING_IN_COMMON in run("evaluate", "m", "other.tsv").err
    write(data / "mixed.mrg", ["(X y)", TREES[0]])
    for command in ("predict m mixed.mrg", "predict m t.tsv --batch 1", "evaluate m t.tsv"):
        assert NOTHING_IN_COMMON not in run(*command.split()).err


def test_numbers_for_trees_of_another_kind_are_told(run: Run, data: Path) -> None:
    write(data / "n.tsv", [f"{i}\t(X {w})" for i, w in enumerate("abcdef")])
    assert run("train", "n.tsv", "--task", "regress", "-o", "m").code == 0
    assert NOTHING_IN_COMMON in run("predict", "m", "t.mrg").err
    assert NOTHING_IN_COMMON not in run("predict", "m", "n.tsv").err


def test_a_table_of_ids_and_trees_has_no_labels(run: Run, data: Path, model: Path) -> None:
    write(data / "ids.tsv", ["id\ttree", f"q1\t{TREES[0]}", f"q2\t{TREES[1]}"])
    done = run("train", "ids.tsv", "-o", "n")
    assert done.code == 2
    assert "the column of the label is not certain: pass --label" in done.err
    assert run("predict", "m", "ids.tsv").out == "q1\ta\nq2\tb\n"


def test_trees_that_were_read_in_another_way_are_told(run: Run, data: Path) -> None:
    """The model is of functions, and the new files are read as modules."""
    for name, body in (("a", "return x"), ("b", "x.append(1)"), ("c", "return x")):
        write(data / "src" / name / f"{name}.py", [f"def {name}(x):", f"    {body}"])
    functions = ["--format", "python", "--set", "unit=function"]
    assert run("train", "src", *functions, "--label", "folder", "-o", "m").code == 0
    told = "src has trees with the root Module, but the model was trained on trees with the root "
    modules = ["--set", "unit=module"]
    done = run("predict", "m", "src", *modules)
    assert f"{told}FunctionDef: read both with the same --format" in done.err
    assert told in run("evaluate", "m", "src", "--label", "folder", *modules).err
    assert run("predict", "m", "src", *functions).err == ""


def test_roots_of_many_labels_are_no_sign(run: Run, data: Path) -> None:
    write(data / "words.tsv", [f"{'ab'[i % 2]}\t(w{i} (S x) {'yz'[i % 2]})" for i in range(24)])
    assert run("train", "words.tsv", "-o", "m").code == 0
    write(data / "new.mrg", ["(other (S x) y)"])
    assert run("predict", "m", "new.mrg").err == ""


def test_classes_in_folders_of_other_classes_are_told(run: Run, data: Path) -> None:
    for folder, tag in (("one", "p"), ("two", "b"), ("one/tests", "i")):
        write(data / "pages" / folder / "a.html", [f"<{tag}>x</{tag}>"])
    done = run("train", "pages", "--label", "folder", "-o", "m")
    assert done.code == 0
    assert "folder pages/one/tests is inside pages/one: the label of its files is tests" in done.err
    (data / "pages/one/tests/a.html").unlink()
    assert run("train", "pages", "--label", "folder", "-o", "m").err == ""


def test_labels_that_a_format_cannot_have_are_told(run: Run, data: Path) -> None:
    done = run("convert", "t.tsv", "-o", "out.mrg")
    assert done.code == 0
    assert "the labels of t.tsv are left out: out.mrg has only trees" in done.err
    assert "left out" not in run("convert", "t.mrg", "-o", "out.nwk").err
    assert "left out" not in run("convert", "t.tsv", "-o", "out.jsonl").err

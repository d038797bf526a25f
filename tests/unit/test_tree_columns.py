"""Tables whose trees are in another notation than brackets."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from filbert import Examples, Forest, read_examples, stream
from filbert.cli import app
from filbert.errors import InvalidParameterError, ParseError, SkippedInputWarning

GLYCANS = ["Gal(b1-4)GlcNAc", "Man(a1-3)[Man(a1-6)]Man", "GlcNAc"]
FOREST = Forest.from_texts(GLYCANS, format="iupac")
ROWS = [f"g{i}{{0}}{'yes' if i % 2 else 'no'}{{0}}{text}" for i, text in enumerate(GLYCANS)]


@pytest.mark.parametrize(("format", "tab"), [("tsv", "\t"), ("csv", ",")])
def test_a_column_of_glycans(format: Any, tab: str) -> None:
    lines = [row.format(tab).encode() for row in ["id{0}binds{0}glycan", *ROWS]]
    X, y = read_examples(lines, format=format, label="binds", tree="glycan", tree_format="iupac")
    assert X["tree"] == FOREST
    assert X["id"].tolist() == ["g0", "g1", "g2"]
    assert y.tolist() == ["no", "yes", "no"]
    options = {"label": 1, "tree": 2, "header": False}
    batches = list(stream(lines[1:], 2, format=format, tree_format="iupac", **options))
    assert [str(tree) for X, _ in batches for tree in X["tree"]] == [str(tree) for tree in FOREST]


def test_options_of_the_notation() -> None:
    lines = [b'{"label": "a", "tree": "<p id=\'x\'>Hi</p>"}', b'{"label": "b", "tree": "<p/>"}']
    X, _ = read_examples(lines, format="jsonl", tree_format="xml", attributes=True, text="whole")
    assert [str(tree) for tree in X] == ["(p (@id x) (#text Hi))", "(p)"]
    pages = [b"a,<p>Hi</p>", b"b,<b>"]  # a row without brackets is no header
    X, y = read_examples(pages, format="csv", tree_format="html")
    assert (len(X), y.tolist()) == (2, ["a", "b"])
    several = [b'{"label": 1, "p": "(a,b);", "q": "c;"}']
    X, _ = read_examples(several, format="jsonl", tree=["p", "q"], tree_format="newick")
    assert isinstance(X, Examples)
    assert [str(X[name][0]) for name in ("p", "q")] == ["(_ a b)", "(c)"]


def test_empty_trees_and_brackets() -> None:
    lines = [b"yes\t(a,b);", b"no\t"]
    X, _ = read_examples(lines, format="tsv", tree_format="newick", empty="placeholder")
    assert [str(tree) for tree in X] == ["(_ a b)", "(∅)"]
    assert read_examples([b"yes\t(a b)"], tree_format="brackets")[0] == Forest(["(a b)"])


@pytest.mark.parametrize(
    ("line", "format", "tree_format", "told"),
    [
        ("né\tMan(a1-3", "tsv", "iupac", "line 2, column 7: the linkage 'a1-3' has no residue"),
        ("n\t(a,b);c;", "tsv", "newick", "line 2, column 3: this text has 2 trees"),
        ("n\t<é><b></é>", "tsv", "xml", "line 2, column"),
        ('n,"x = 1\ny = ("', "csv", "python", "line 2, column 1: line 2, column 5 of the tree: "),
        ('{"label": "n", "tree": "Man(a1-3"}', "jsonl", "iupac", "line 2, column 4: the linkage"),
    ],
)
def test_errors_have_their_place(line: str, format: Any, tree_format: str, told: str) -> None:
    good = {"iupac": "Gal", "newick": "a;", "xml": "<a/>", "python": "x"}[tree_format]
    first = {"tsv": f"y\t{good}", "csv": f"y,{good}"}.get(
        format, f'{{"label": "y", "tree": "{good}"}}'
    )
    lines = [first.encode(), *(part.encode() for part in line.splitlines(keepends=True))]
    with pytest.raises(ParseError) as raised:
        read_examples(lines, format=format, tree_format=tree_format)
    assert told in str(raised.value)
    with pytest.warns(SkippedInputWarning):
        X, _ = read_examples(lines, format=format, tree_format=tree_format, on_error="skip")
    assert len(X) == 1


@pytest.mark.parametrize(
    ("lines", "options", "told"),
    [
        ([b"y\tGal"], {"tree_format": "sugar"}, "there is no tree format 'sugar'"),
        ([b"y\tGal"], {"tree_format": "iupac", "text": "whole"}, "iupac has no option 'text'"),
        ([b"y\t(a)"], {"tree_format": "brackets", "text": 1}, "brackets have no option 'text'"),
        ([b"1 |BT| (a) |ET|"], {"tree_format": "xml"}, "svmlight-tk files are in brackets"),
    ],
)
def test_options_that_do_not_fit(lines: list[bytes], options: Any, told: str) -> None:
    with pytest.raises(InvalidParameterError, match=told):
        read_examples(lines, **options)


def test_the_command_line(tmp_path: Path) -> None:
    data, bad, model, out = (tmp_path / name for name in ("good.csv", "bad.csv", "m", "out.tsv"))
    rows = ["id,binds,glycan", *(row.format(",") for row in ROWS)]
    data.write_text("\n".join(rows), encoding="utf-8")
    bad.write_text("\n".join([*rows, "g3,yes,Man(a1-3"]), encoding="utf-8")
    reading = ["--tree", "glycan", "--tree-format", "iupac"]
    run = CliRunner().invoke
    train = ["train", str(data), *reading, "--label", "binds", "-o", str(model), "--kernel", "ptk"]
    assert run(app, train).exit_code == 0
    predict = ["predict", str(model), str(bad), *reading, "--line", "-o", str(out)]
    assert run(app, predict).exit_code == 1
    assert [line.split("\t")[:2] for line in out.read_text().splitlines()] == [
        ["g0", "2"], ["g1", "3"], ["g2", "4"], ["", "5"],
    ]  # fmt: skip
    pages = tmp_path / "pages.csv"
    pages.write_text("label,tree\na,<p>x</p>\nb,<b>y</b>\n", encoding="utf-8")
    shown = run(app, ["describe", str(pages), "--tree-format", "html", "--set", "text=whole"])
    assert shown.exit_code == 0, shown.output


@pytest.mark.parametrize("name", ["glycans.csv", "glycans.tsv", "glycans.jsonl"])
def test_trees_in_another_notation_are_recognised_as_such(tmp_path: Path, name: str) -> None:
    """Without tree_format, the error names it. Trees in brackets get no such hint."""
    glycan = "Neu5Ac(a2-3)Gal(b1-4)Glc"
    path = tmp_path / name
    for tree, hinted in ((glycan, True), ("(a (b c)) (d)", False)):
        if name.endswith("jsonl"):
            path.write_text(json.dumps({"label": "x", "tree": tree}) + "\n")
        else:
            cells = ("label", "tree"), ("x", tree)
            separator = "," if name.endswith("csv") else "\t"
            path.write_text("".join(separator.join(row) + "\n" for row in cells))
        with pytest.raises(ParseError, match="text after the end of the tree") as raised:
            read_examples(path, label="label", tree="tree")
        assert ("one tree is expected here" in str(raised.value)) != hinted
        assert ("tree_format='iupac'" in str(raised.value)) == hinted

"""From a folder or file of one's own to a model, as four kinds of users begin: few commands."""

from pathlib import Path

import pytest

from tests.cli.commands import Run, write

WORDS = ["one", "two", "three", "four", "five", "six"]


def parses(folder: Path) -> list[list[str]]:
    """Constituency parses with labels, in a table with a header."""
    rows = [f"who\t(S (WP who) (V {w}))" for w in WORDS] + [
        f"what\t(S (WDT what) (NN {w}))" for w in WORDS
    ]
    data = str(write(folder / "questions.tsv", ["label\ttree", *rows]))
    new = str(write(folder / "new.mrg", ["(S (WP who) (V seven))", "(S (WDT what) (NN seven))"]))
    return [["train", data, "-o", "own.model"], ["predict", "own.model", new]]


def code(folder: Path) -> list[list[str]]:
    """Source files in one folder per class."""
    for w in WORDS:
        write(folder / "src/who" / f"{w}.py", [f"def {w}(x):", "    return x.name"])
        write(folder / "src/what" / f"{w}.py", [f"def {w}(x):", "    x.append(1)"])
    write(folder / "new/seven.py", ["def seven(y):", "    return y.name"])
    write(folder / "new/zero.py", ["def zero(y):", "    y.append(1)"])
    reading = ["--format", "python", "--set", "unit=function"]
    train = ["train", str(folder / "src"), *reading, "--label", "folder", "-o", "own.model"]
    return [train, ["predict", "own.model", str(folder / "new"), *reading, "--id", "name"]]


def pages(folder: Path) -> list[list[str]]:
    """HTML pages in one folder per class."""
    for w in WORDS:
        write(folder / "pages/who" / f"{w}.html", [f"<h1>{w}</h1><p>a<p>b"])
        write(folder / "pages/what" / f"{w}.html", [f"<ul><li>{w}<li>{w}</ul>"])
    write(folder / "new/a.html", ["<h1>seven</h1><p>c"])
    write(folder / "new/b.html", ["<ul><li>seven</ul>"])
    train = ["train", str(folder / "pages"), "--label", "folder", "-o", "own.model"]
    return [train, ["predict", "own.model", str(folder / "new"), "--id", "file"]]


def glycans(folder: Path) -> list[list[str]]:
    """A table with a column of glycans."""
    tails = ["Gal", "GlcNAc", "Man", "Glc", "GalNAc", "Xyl"]
    rows = [f"who,Neu5Ac(a2-3)Gal(b1-4){t}" for t in tails] + [
        f"what,Fuc(a1-2)Man(b1-4){t}" for t in tails
    ]
    data = str(write(folder / "binding.csv", ["binds,glycan", *rows]))
    new = str(write(folder / "new.iupac", ["Neu5Ac(a2-3)Gal(b1-4)Ara", "Fuc(a1-2)Man(b1-4)Ara"]))
    columns = ["--label", "binds", "--tree", "glycan", "--tree-format", "iupac"]
    return [["train", data, *columns, "-o", "own.model"], ["predict", "own.model", new]]


@pytest.mark.parametrize("user", [parses, code, pages, glycans])
def test_from_own_data_to_a_model(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: object
) -> None:
    monkeypatch.chdir(tmp_path)
    assert callable(user)
    commands = [*user(tmp_path), ["explain", "own.model"], ["inspect", "own.model"]]
    assert len(commands) <= 5
    outputs = [run(*command) for command in commands]
    assert [(done.code, done.err) for done in outputs] == [(0, "")] * len(commands)
    predicted = [line.split("\t")[-1] for line in outputs[1].out.splitlines()]
    assert predicted == ["who", "what"]

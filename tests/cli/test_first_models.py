"""From one's own files to an evaluated model, as four kinds of users begin.

Each walk begins after Filbert and the libraries of all formats are installed, with what the
section "Your own files" of the README names. It has at most five commands: train, predict, evaluate
if there are labels to compare with, explain, and inspect. None of them may print a warning.

* An NLP researcher has parses with labels: a table, files of KeLP or SVM-light-TK, or CoNLL-U with
  a comment that is the label.
* A software engineer has a folder of sources, in one folder per class.
* For documents and security, there are folders of HTML pages or of XML files, one per class.
* A bioinformatician has a table with a column of glycans, of RNA in dot-bracket notation or of
  Newick trees.
"""

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


def kelp(folder: Path) -> list[list[str]]:
    """KeLP's files."""
    rows = [f"who |BT:parse| (S(WP who)(V {w})) |ET|" for w in WORDS]
    rows += [f"what |BT:parse| (S(WDT what)(NN {w})) |ET|" for w in WORDS]
    data = str(write(folder / "questions.klp", rows))
    new = str(write(folder / "new.klp", [rows[0], rows[-1]]))
    return [["train", data, "-o", "own.model"], ["predict", "own.model", new],
            ["evaluate", "own.model", new]]  # fmt: skip


def svmlight(folder: Path) -> list[list[str]]:
    """SVM-light-TK's files, whose labels are numbers."""
    rows = [f"-1 |BT| (S (WP who) (V {w})) |ET|" for w in WORDS]
    rows += [f"+1 |BT| (S (WDT what) (NN {w})) |ET|" for w in WORDS]
    data = str(write(folder / "train.dat", rows))
    new = str(write(folder / "test.dat", [rows[0], rows[-1]]))
    return [["train", data, "-o", "own.model"], ["predict", "own.model", new],
            ["evaluate", "own.model", new]]  # fmt: skip


def conllu(folder: Path) -> list[list[str]]:
    """Dependency parses, with the label in a comment."""

    def sentence(label: str, word: str, relation: str) -> list[str]:
        words = [("1", word, "PRON", "2", relation), ("2", "is", "AUX", "0", "root")]
        rows = [f"{i}\t{w}\t{w}\t{p}\t_\t_\t{head}\t{rel}\t_\t_" for i, w, p, head, rel in words]
        return [f"# kind = {label}", *rows, ""]

    one, two = ("who", "he", "nsubj"), ("what", "that", "obj")
    lines = [line for _ in WORDS for kind in (one, two) for line in sentence(*kind)]
    data = str(write(folder / "train.conllu", lines))
    new = str(write(folder / "new.conllu", sentence(*one) + sentence(*two)))
    return [["train", data, "--label", "kind", "-o", "own.model"], ["predict", "own.model", new],
            ["evaluate", "own.model", new, "--label", "kind"]]  # fmt: skip


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


def xml(folder: Path) -> list[list[str]]:
    """XML files in one folder per class."""
    for w in WORDS:
        write(folder / "files/who" / f"{w}.xml", [f"<a><who>{w}</who><x/></a>"])
        write(folder / "files/what" / f"{w}.xml", [f"<a><what><y/>{w}</what></a>"])
    write(folder / "new/a.xml", ["<a><who/></a>"])
    write(folder / "new/b.xml", ["<a><what/></a>"])
    train = ["train", str(folder / "files"), "--label", "folder", "-o", "own.model"]
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


def rna(folder: Path) -> list[list[str]]:
    """A table with a column of structures in dot-bracket notation."""
    rows = [f"who,{'(' * n}....{')' * n}.." for n in range(3, 9)]
    rows += [f"what,{'.' * n}((..))..((...))" for n in range(3, 9)]
    data = str(write(folder / "families.csv", ["family,structure", *rows]))
    new = str(write(folder / "new.dbn", ["((((....))))..", "..((..))..((...))"]))
    columns = ["--label", "family", "--tree", "structure", "--tree-format", "dot-bracket"]
    return [["train", data, *columns, "-o", "own.model"], ["predict", "own.model", new]]


def newick(folder: Path) -> list[list[str]]:
    """A table with a column of Newick trees."""
    rows = [f"who\t((a:{n},b:1):0.5,(c,d));" for n in range(6)]
    rows += [f"what\t(a,(b:{n},(c,d)));" for n in range(6)]
    data = str(write(folder / "shapes.tsv", ["class\ttree", *rows]))
    new = str(write(folder / "new.nwk", ["((a,b),(c:2,d));", "(a,(b,(c:2,d)));"]))
    train = ["train", data, "--tree-format", "newick", "-o", "own.model"]
    return [train, ["predict", "own.model", new]]


@pytest.mark.parametrize(
    "user", [parses, kelp, svmlight, conllu, code, pages, xml, glycans, rna, newick]
)
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
    assert predicted in (["who", "what"], ["-1", "1"])
    measured = outputs[2].out if commands[2][0] == "evaluate" else ""
    assert not measured or "accuracy  100.00%" in measured

"""Every command: what it prints, its exit code, and what it makes of bad input."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from filbert import Forest, TreeIndex, TreeSVC, __version__, explain, load, read_examples, save
from filbert.cli import _COMMANDS, app
from filbert.fragments import mine, recurring_fragments
from filbert.kernels import EachPart, Linear, LocalPatterns, PartialTree, SubsetTree, Subtree
from filbert.predictors import SupportVectorClassifier
from filbert.search.segments import Notes
from tests.cli.commands import Run, write

TREES = [f"(S (NP {a}) (VP {b}))" for a in "abcd" for b in "xyz"]
LABELS = ["q" if "a" in tree or "b" in tree else "s" for tree in TREES]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, trees and a model."""
    folder = tmp_path_factory.mktemp("commands")
    write(folder / "train.tsv", [f"{c}\t{t}" for c, t in zip(LABELS, TREES, strict=True)])
    write(folder / "trees.mrg", TREES)
    save(
        TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(TREES, LABELS),
        folder / "model",
    )
    return folder


# ---------------------------------------------------------------- help


@pytest.mark.parametrize("name", _COMMANDS)
def test_every_command_has_help(name: str) -> None:
    result = CliRunner().invoke(app, [name, "--help"], catch_exceptions=False)
    assert result.exit_code == 0
    assert f"filbert {name}" in result.output
    assert not re.search("<(bool|str|list)", result.output)  # types that say nothing


def test_help_imports_nothing_that_takes_long() -> None:
    """In a fresh interpreter: this one has imported everything."""
    program = (
        "import sys; from filbert.cli import main\n"
        "try: main()\n"
        "finally: print(sorted({'numpy', 'sklearn', 'scipy', 'tqdm'} & set(sys.modules)))\n"
    )
    for arguments in (["--help"], ["predict", "--help"]):
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-1] == "[]"
        assert done.stderr == ""


def test_the_version_imports_nothing_of_the_command_line() -> None:
    program = (
        "import sys; from filbert.__main__ import main; main()\n"
        "print(sorted({'numpy', 'typer'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [f"filbert {__version__}", "[]"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["predict"], "Missing argument 'MODEL' (see filbert predict --help)"),
        (["tran"], "No such command 'tran'"),
        (["predict", "m", "d", "--score"], "No such option: --score"),
        (["predict", "m", "d", "--batch", "0"], "--batch"),
        (["cv", "d", "-C", "1,x"], "-C takes numbers separated by commas, got '1,x'"),
        (["convert", "d"], "name the format to write: --to"),
    ],
)
def test_wrong_use_takes_one_line(run: Run, arguments: list[str], told: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert err.startswith("filbert: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("filbert ev", ["evaluate"]),
        ("filbert train --depth", ["--depth-decay"]),
        ("filbert train --kernel s", ["stk", "sst", "st"]),
    ],
)
def test_shells_complete_commands_options_and_values(words: str, expected: list[str]) -> None:
    environment = {
        "_FILBERT_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    result = CliRunner().invoke(app, [], env=environment, prog_name="filbert")
    assert result.output.split() == expected


def test_the_model_comes_first(run: Run, folder: Path) -> None:
    code, out, err = run("predict", folder / "train.tsv", folder / "model")
    assert (code, out) == (2, "")
    assert "this is not a model file (name the file of the model first, then the data)" in err


def test_debug_shows_the_traceback(run: Run) -> None:
    code, _, err = run("describe", "missing.tsv", "--debug")
    assert code == 2
    assert "Traceback" in err
    assert err.splitlines()[-1].startswith("filbert: there is no file 'missing.tsv'")


def test_messages_use_the_words_of_the_command_line(run: Run, folder: Path) -> None:
    swapped = write(folder / "swapped.tsv", ["(S a)\tyes", "(S b)\tno"])
    code, _, err = run("train", swapped, "-o", folder / "m")
    assert (code, err) == (
        2,
        f"filbert: {swapped}, line 1, column 1: column 0 is a tree, and column 1 is not "
        "(pass --label 1, --tree 0)\n",
    )
    assert run("train", swapped, "-o", folder / "m", "--label", "1", "--tree", "0").code == 0
    three = write(folder / "three.csv", ["a,b,c", "1,2,3"])
    assert (
        "the column of trees is not certain: pass --tree; the columns"
        in run("train", three, "-o", folder / "m", "--label", "a").err
    )


@pytest.mark.parametrize("command", [["describe"], ["convert", "--to", "json"], ["recurring"]])
def test_options_that_brackets_do_not_have_are_refused(
    run: Run, folder: Path, command: list[str]
) -> None:
    code, _, err = run(*command, folder / "trees.mrg", "--set", "unit=function")
    assert code == 2
    assert "brackets has no option 'unit': it has bare_words" in err


# ---------------------------------------------------------------- predict


BAD = ["q\t(S (NP a) (VP x))", "q\t(S", "s\t(S (NP d) (VP z))", "s\tword", "s\t(S (NP d) (VP y))"]


def test_bad_lines_keep_their_places(run: Run, folder: Path, tmp_path: Path) -> None:
    data = write(tmp_path / "bad.tsv", BAD)
    code, out, err = run("predict", folder / "model", data, "--number")
    assert code == 1
    assert out == "1\tq\n2\t?\n3\ts\n4\t?\n5\ts\n"
    assert [line.split(": ")[1] for line in err.splitlines()] == [
        f"{data}, line 2, column 3",
        f"{data}, line 4, column 3",
    ]
    for size in ("1", "2", "4"):
        assert run("predict", folder / "model", data, "--number", "--batch", size).out == out
    quiet = run("predict", folder / "model", data, "--quiet", "--placeholder", "NONE")
    assert quiet == (1, "q\nNONE\ns\nNONE\ns\n", err)  # what is lost is told in any case


def test_a_failed_prediction_leaves_the_old_output(run: Run, folder: Path, tmp_path: Path) -> None:
    out = write(tmp_path / "out", ["old"])
    bad = write(tmp_path / "bad.tsv", BAD)
    stopped = run("predict", folder / "model", bad, "-o", out, "--on-error", "raise")
    assert (stopped.code, stopped.out) == (2, "")
    assert out.read_text() == "old\n"
    assert run("predict", folder / "model", bad, "-o", out).code == 1
    assert out.read_text() == "q\n?\ns\n?\ns\n"


def test_bad_lines_can_be_left_out(run: Run, tmp_path: Path) -> None:
    data = write(tmp_path / "d.tsv", ["a\t(S a)", "b\t(S", "b\t(S b)"])
    code, out, err = run("train", data, "-o", tmp_path / "m", "--on-error", "skip")
    assert code == 1
    assert out.startswith("2 examples")
    assert err.startswith("filbert: skipped 1, read 2")


def test_only_bad_lines(run: Run, folder: Path, tmp_path: Path) -> None:
    data = write(tmp_path / "bad.tsv", ["q\t(S", "q\t)"] * 3)
    code, out, err = run("predict", folder / "model", data, "--batch", "2")
    assert (code, out) == (1, "?\n" * 6)
    assert err.count("\n") == 6


def test_trees_over_several_lines(run: Run, folder: Path, tmp_path: Path) -> None:
    lines = ["( (S (NP a)", "     (VP x)))", "", "(S (NP d)", "(S (NP d) (VP z)) (S (NP a) (VP x))",
             r"(S (NP \()", "   (VP x))"]  # fmt: skip
    data = write(tmp_path / "trees.mrg", lines)
    code, out, err = run("predict", folder / "model", data)
    assert (code, out.splitlines()[:4]) == (1, ["q", "?", "s", "q"])
    assert out.count("\n") == 5
    assert f"{data}, line 4, column 1: the tree that begins here is never closed" in err


def test_lines_of_the_data(run: Run, folder: Path, tmp_path: Path) -> None:
    data = write(tmp_path / "gaps.tsv", ["", *BAD[:2], "", "", *BAD[2:]])
    command = ["predict", folder / "model", data, "--quiet", "--line"]
    for size in ("1", "2", "4096"):
        assert run(*command, "--batch", size).out == "2\tq\n3\t?\n6\ts\n7\t?\n8\ts\n"
    rows = map(json.loads, run(*command, "--json", "--number").out.splitlines())
    assert [(row["number"], row["line"]) for row in rows] == [
        (1, 2),
        (2, 3),
        (3, 6),
        (4, 7),
        (5, 8),
    ]
    header = write(
        tmp_path / "h.tsv", ["label\tid\ttree", *(row.replace("\t", "\t7\t") for row in BAD)]
    )
    out = run("predict", folder / "model", header, "--line", "--quiet").out
    assert out.splitlines()[:3] == ["7\t2\tq", "\t3\t?", "7\t4\ts"]


def test_lines_of_trees(run: Run, folder: Path, tmp_path: Path) -> None:
    lines = ["", "(S (NP a)", "   (VP x))", "(S (NP d)", "(S (NP d) (VP z)) (S (NP a) (VP x))"]
    out = run("predict", folder / "model", write(tmp_path / "t.mrg", lines), "--line", "-q").out
    assert out == "2\tq\n4\t?\n5\ts\n5\tq\n"
    code = write(tmp_path / "code.py", ["x = 1", "def f():", "    return 2", "def g(): pass"])
    functions = ["--format", "python", "--set", "unit=function", "--line"]
    out = run("predict", folder / "model", code, *functions).out
    assert [line.split("\t")[0] for line in out.splitlines()] == ["2", "4"]
    whole = run("predict", folder / "model", write(tmp_path / "x.xml", ["<a/>"]), "--line")
    assert (whole.code, whole.out) == (2, "")
    assert "have no lines of their own: use --number, or --id file" in whole.err


def test_json_lines(run: Run, folder: Path, tmp_path: Path) -> None:
    data = write(tmp_path / "bad.tsv", BAD[:2])
    code, out, _ = run("predict", folder / "model", data, "--json", "--scores", "--number")
    first, second = map(json.loads, out.splitlines())
    score = float(load(folder / "model").decision_function([TREES[0]])[0])
    assert code == 1
    assert first == {"number": 1, "label": "q", "scores": {"s": score}}
    assert second["label"] is None
    assert "line 2" in second["error"]


@pytest.mark.parametrize("size", ["1", "4096"])
def test_ids_come_back(run: Run, folder: Path, tmp_path: Path, size: str) -> None:
    lines = [f"{i:03}\t{line}" for i, line in enumerate(BAD)]
    data = write(tmp_path / "ids.tsv", ["id\tlabel\ttree", *lines])
    command = ["predict", folder / "model", data, "--batch", size, "--quiet"]
    assert run(*command).out == "000\tq\n\t?\n002\ts\n\t?\n004\ts\n"
    rows = map(json.loads, run(*command, "--json", "--id", "label").out.splitlines())
    assert [(row["id"], row["label"]) for row in rows] == [
        ("q", "q"), ("", None), ("s", "s"), ("", None), ("s", "s"),
    ]  # fmt: skip


def test_a_header_row_is_no_example(run: Run, folder: Path, tmp_path: Path) -> None:
    lines = (folder / "train.tsv").read_text().splitlines()
    data = write(tmp_path / "header.tsv", ["label\ttree", *lines])
    assert run("predict", folder / "model", data) == run(
        "predict", folder / "model", folder / "train.tsv"
    )
    assert "12 examples" in run("train", data, "-o", tmp_path / "m").out


def test_a_list_of_file_names_is_no_data(run: Run, folder: Path, tmp_path: Path) -> None:
    names = write(tmp_path / "names.txt", ["train.tsv", "trees.mrg"])
    code, out, err = run("predict", folder / "model", names)
    assert (code, out) == (2, "")
    assert "the format cannot be detected" in err
    assert "--format" in err


def test_a_folder_of_folders(run: Run, tmp_path: Path) -> None:
    for name in ("one", "two"):
        body = "return x" if name == "one" else "print(x)"
        for i in range(3):
            write(tmp_path / "src" / "x", [])
            write(tmp_path / "src" / name / f"{i}.py", [f"def f{i}(x):", f"    {body}"])
    source, model = tmp_path / "src", tmp_path / "m"
    refused = run("train", source, "-o", model, "--format", "python")
    assert (refused.code, "--label folder" in refused.err) == (2, True)
    command = ["train", source, "-o", model, "--format", "python", "--label", "folder", "-q"]
    assert run(*command) == (0, "", "")
    done = run("predict", model, source / "one", "--id", "file")
    assert done.out.splitlines() == [f"{source}/one/{i}.py\tone" for i in range(3)]
    measured = run("evaluate", model, source, "--format", "python", "--label", "folder", "--json")
    assert json.loads(measured.out)["accuracy"] == 1.0
    write(source / "one" / "1.py", ["def f(:"])
    code, out, err = run("predict", model, source / "one")
    assert (code, out) == (1, "one\n?\none\n")
    assert "1.py, line 1" in err


def test_the_file_as_id(run: Run, folder: Path, tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path / f"{name}.mrg", TREES[:2])
    done = run("predict", folder / "model", tmp_path / "*.mrg", "--id", "file")
    assert done == (0, "".join(f"{tmp_path / n}.mrg\tq\n" for n in "aabb"), "")
    unknown = run("predict", folder / "model", tmp_path / "a.mrg", "--id", "name")
    assert unknown.code == 2
    assert "--id name: there is no such column" in unknown.err


def test_equal_trees_are_scored_once(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write(tmp_path / "trees.mrg", TREES * 20)
    expected = run("predict", folder / "model", data, "--scores").out
    scored = []
    score = SupportVectorClassifier.decision_function

    def counted(self: SupportVectorClassifier, X: Forest) -> np.ndarray:
        scored.append(len(X))
        return score(self, X)

    monkeypatch.setattr(SupportVectorClassifier, "decision_function", counted)
    assert run("predict", folder / "model", data, "--scores", "--batch", "7").out == expected
    assert sum(scored) == len(TREES)
    monkeypatch.setattr("filbert.cli.predictor._MOST_TREES", 5)
    assert run("predict", folder / "model", data, "--scores", "--batch", "7").out == expected


def test_large_trees_are_not_remembered(run: Run, folder: Path, tmp_path: Path) -> None:
    chain = "(S " * 20_000 + "a" + ")" * 20_000
    data = write(tmp_path / "trees.mrg", [chain, TREES[0], chain])
    code, out, err = run("predict", folder / "model", data)
    assert (code, out.count("\n"), err) == (0, 3, "")


def test_probabilities_need_a_model_that_has_them(run: Run, folder: Path) -> None:
    code, out, err = run("predict", folder / "model", folder / "trees.mrg", "--proba")
    assert (code, out) == (2, "")
    assert "this model has no probabilities: use --scores" in err


# ---------------------------------------------------------------- evaluate, train, cv


def test_unknown_labels_warn(run: Run, folder: Path, tmp_path: Path) -> None:
    data = write(tmp_path / "test.tsv", [f"q\t{TREES[0]}", f"other\t{TREES[1]}"])
    code, out, err = run("evaluate", folder / "model", data, "--json")
    assert code == 0
    assert json.loads(out)["unknown"] == ["other"]
    assert "labels that the model does not know: 'other'. The model knows 'q', 's'" in err
    assert run("evaluate", folder / "model", data, "--json", "--quiet") == (0, out, "")


def test_several_files_are_one_set(run: Run, folder: Path, tmp_path: Path) -> None:
    lines = (folder / "train.tsv").read_text().splitlines()
    for i in range(3):
        write(tmp_path / f"part{i}.tsv", lines[4 * i : 4 * i + 4])
    parts = [tmp_path / "part0.tsv", tmp_path / "part[12].tsv"]
    assert run("train", *parts, "-o", tmp_path / "m", "--quiet") == (0, "", "")
    X = TreeSVC(random_state=0).fit(TREES, LABELS).decision_function(TREES)
    assert load(tmp_path / "m").decision_function(TREES).tobytes() == X.tobytes()
    missing = run("train", tmp_path / "no*.tsv", "-o", tmp_path / "m")
    assert missing.code == 2
    assert "no*.tsv" in missing.err


def test_settings_of_tables(run: Run, folder: Path, tmp_path: Path) -> None:
    lines = [f"{i % 2}\t{tree}\t{i}\t{i % 2}" for i, tree in enumerate(TREES)]
    data = write(tmp_path / "d.tsv", ["label\ttree\tlength\tflag", *lines])
    run("train", data, "-o", tmp_path / "m", "-q")
    assert load(tmp_path / "m").classes_.tolist() == ["0", "1"]
    run("train", data, "-o", tmp_path / "m", "-q", "--set", "labels=numbers")
    assert load(tmp_path / "m").classes_.tolist() == [0, 1]
    for arguments in (["predict", folder / "model", data], ["describe", data]):
        unknown = run(*arguments, "--set", "colour=red")
        assert unknown.code == 2
        assert "--set colour: labelled formats have no such option" in unknown.err


def test_features_with_names(run: Run, tmp_path: Path) -> None:
    lines = [
        f"{c}\t{tree}\t{i}\t{i % 2}" for i, (c, tree) in enumerate(zip(LABELS, TREES, strict=True))
    ]
    data = write(tmp_path / "d.tsv", ["label\ttree\tlength\tflag", *lines])
    reading = ["--set", "features=length,flag"]
    model = tmp_path / "m"
    assert run("train", data, "-o", model, "--vectors", "linear", *reading).code == 0
    X, y = read_examples(data, features=["length", "flag"])
    expected = pytest.approx(load(model).decision_function(X).tolist(), rel=1e-12)
    for size in ("5", "4096"):
        out = run("predict", model, data, *reading, "--scores", "--batch", size).out
        assert [float(line.split("\t")[1]) for line in out.splitlines()] == expected
    swapped = run("predict", model, data, "--set", "features=flag,length", "--scores").out
    assert [float(line.split("\t")[1]) for line in swapped.splitlines()] == expected
    accuracy = float((load(model).predict(X) == y).mean())
    measured = json.loads(run("evaluate", model, data, *reading, "--json").out)
    assert measured["accuracy"] == accuracy


def test_a_folder_of_tables(run: Run, folder: Path, tmp_path: Path) -> None:
    lines = (folder / "train.tsv").read_text().splitlines()
    for i in range(2):
        write(tmp_path / "data" / f"{i}.tsv", lines[6 * i : 6 * i + 6])
    assert "12 examples" in run("train", tmp_path / "data", "-o", tmp_path / "m").out
    assert run("predict", folder / "model", tmp_path / "data").out.split() == LABELS
    empty = tmp_path / "empty"
    empty.mkdir()
    nothing = run("predict", folder / "model", empty)
    assert (nothing.code, str(empty) in nothing.err) == (2, True)


def test_several_trees_and_vectors(run: Run, tmp_path: Path) -> None:
    lines = [
        f"{1 if c == 'q' else -1} |BT| {t} |BT| (P (N {i % 5})) |ET| {i % 3 + 1}:0.5"
        for i, (c, t) in enumerate(zip(LABELS, TREES, strict=True))
    ]
    data, model = write(tmp_path / "pairs.dat", lines), tmp_path / "m"
    both = EachPart(LocalPatterns(decay=0.7, leaves=3), ("tree_1", "tree_2"))
    code, _, err = run("train", data, "-o", model)
    assert code == 0
    assert "features of" in err
    assert "ignored: use --vectors" in err
    assert load(model).kernel == both
    assert run("train", data, "-o", model, "--vectors", "linear").err == ""
    assert load(model).kernel == both + Linear().on("features")
    predicted = run("predict", model, data, "--scores").out.splitlines()
    X, _ = read_examples(data)
    scores = load(model).decision_function(X).tolist()
    assert [float(line.split("\t")[1]) for line in predicted] == scores


def test_progress_in_files_is_plain(run: Run, folder: Path, tmp_path: Path) -> None:
    done = run("train", folder / "train.tsv", "-o", tmp_path / "m", "--verbose")
    assert done.code == 0
    assert "training" in done.err
    assert "\r" not in done.err
    planes = run("train", folder / "train.tsv", "-o", tmp_path / "m", "-v", "--strategy", "sdag")
    assert "cutting planes" in planes.err
    assert "\r" not in planes.err


def test_cross_validation_searches(run: Run, folder: Path, tmp_path: Path) -> None:
    options = ["--kernel", "stk,ptk", "--decay", "0.2,0.4", "-C", "0.001,1", "--folds", "3"]
    best = tmp_path / "best"
    code, out, err = run("cv", folder / "train.tsv", *options, "--json", "-o", best)
    result = json.loads(out)
    assert (code, err) == (0, "")
    assert [(row["kernel"], row["decay"], row["C"]) for row in result["settings"]] == [
        (kernel, decay, C) for kernel in ("stk", "ptk") for decay in (0.2, 0.4) for C in (0.001, 1)
    ]
    assert result["best"]["accuracy"] == max(row["accuracy"] for row in result["settings"])
    chosen = {"stk": SubsetTree, "ptk": PartialTree}[result["best"]["kernel"]]
    assert load(best).kernel == chosen(result["best"]["decay"])
    assert result["best"]["C"] == load(best).C
    table = run("cv", folder / "train.tsv", *options).out.splitlines()
    assert len(table) == 9
    assert sum(line.endswith("best") for line in table) == 1


def test_cross_validation_tries_what_is_trained_by_default(run: Run, folder: Path) -> None:
    rows = json.loads(run("cv", folder / "train.tsv", "--folds", "3", "--json").out)["settings"]
    assert [(row["kernel"], row["decay"], row["C"]) for row in rows] == [
        ("patterns", 0.7, 1.0),
        ("patterns", 0.7, 10.0),
    ]
    assert TreeSVC().C == "auto"  # 1 or 10
    options = ["--kernel", "patterns,stk", "--folds", "3", "--loss", "logistic", "--json"]
    rows = json.loads(run("cv", folder / "train.tsv", *options).out)["settings"]
    assert [(row["kernel"], row["decay"], row["C"]) for row in rows] == [
        ("patterns", 0.7, 1.0),
        ("stk", 0.4, 1.0),
    ]


def test_cross_validation_may_choose_all(run: Run, folder: Path, tmp_path: Path) -> None:
    best = tmp_path / "best"
    options = ["--kernel", "auto", "--folds", "2", "-C", "1,10"]
    code, out, err = run("cv", folder / "train.tsv", *options, "--json", "-o", best)
    result = json.loads(out)
    assert (code, err) == (0, "")
    found = load(best)
    assert result["best"] == {**found.best_params_, "kernel": repr(found.best_params_["kernel"])}
    assert result["n_searched"] == result["n_examples"]
    assert result["settings"][0]["folds"] == 2
    table = run("cv", folder / "train.tsv", *options).out.splitlines()
    assert table[1].endswith(result["settings"][0]["kernel"])
    refused = run("cv", folder / "train.tsv", *options, "--decay", "0.4")
    assert refused.code != 0
    assert "--decay is for kernels that you name" in refused.err


def test_figures_of_cross_validation(run: Run, tmp_path: Path) -> None:
    """Of classes that differ in size, and no tree tells which: all are predicted to be "a"."""
    data = write(tmp_path / "d.tsv", ["a\t(S x)"] * 8 + ["b\t(S x)"] * 4)
    result = json.loads(run("cv", data, "--folds", "2", "--json").out)
    assert result["best"]["accuracy"] == pytest.approx(8 / 12)
    assert result["best"]["deviation"] == pytest.approx(0.0)
    assert result["best"]["macro_f1"] == pytest.approx((16 / 20 + 0) / 2)


# ---------------------------------------------------------------- looking inside


def test_patterns_take_the_place_of_fragments(run: Run, tmp_path: Path) -> None:
    """A model of local patterns, the default, lists those of an explanation."""
    lines = [f"{k % 3}\t(S (A a{k % 3}) (B b{k % 2}))" for k in range(30)]
    data, model = write(tmp_path / "d.tsv", lines), tmp_path / "m"
    assert run("train", data, "-o", model).code == 0
    told = explain(load(model), top=100, min_frequency=3)
    found = json.loads(run("fragments", model, "--top", "4", "--json").out)
    assert [own["class"] for own in found] == [problem.positive for problem in told.problems]
    for own, problem in zip(found, told.problems, strict=True):
        known = {one.text: (one.weight, one.frequency) for one in problem.for_ + problem.against}
        listed = {one["fragment"]: (one["weight"], one["frequency"]) for one in own["fragments"]}
        heaviest = sorted((abs(weight) for weight, _ in known.values()), reverse=True)
        assert [abs(weight) for weight, _ in listed.values()] == heaviest[:4]
        assert listed.items() <= known.items()
        assert 0 < own["norm_share"] <= 1
    assert ": 20 patterns, " in run("fragments", model, "--class", "1").out
    refused = run("fragments", model, "--criterion", "chi2")
    assert (refused.code, "all weights are known" in refused.err) == (2, True)


def test_fragments_are_those_of_the_library(run: Run, folder: Path) -> None:
    found = mine(load(folder / "model"), n_fragments=3)
    command = ["fragments", folder / "model", "--top", "3"]
    code, out, _ = run(*command, "--to", "tsv")
    rows = [line.split("\t") for line in out.splitlines()]
    assert code == 0
    assert rows[0] == ["class", "weight", "frequency", "fragment"]
    assert [float(row[1]) for row in rows[1:]] == found.weight.tolist()
    assert [row[3] for row in rows[1:]] == found.fragments.texts()
    [of_s] = json.loads(run(*command, "--json").out)
    assert of_s["class"] == "s"
    assert [row["fragment"] for row in of_s["fragments"]] == found.fragments.texts()
    assert "s: 3 fragments" in run(*command).out
    wrong = run(*command, "--class", "x")
    assert (wrong.code, "--class must be one of s, got 'x'" in wrong.err) == (2, True)


def test_similar_trees_by_text_and_by_number(run: Run, folder: Path) -> None:
    code, out, err = run("similar", TREES[4], folder / "trees.mrg", "--top", "3")
    assert (code, err) == (0, "")
    values = SubsetTree()([TREES[4]], TREES)[0]
    assert out.splitlines()[0] == f"1.0000\t5\t{TREES[4]}"
    assert [float(line.split("\t")[0]) for line in out.splitlines()] == pytest.approx(
        sorted(values, reverse=True)[:3], abs=1e-4
    )
    assert run("similar", "5", folder / "trees.mrg", "--top", "3").out == out
    first = json.loads(run("similar", "5", folder / "train.tsv", "--json").out)[0]
    assert (first["number"], first["similarity"], first["tree"]) == (5, 1.0, TREES[4])
    (folder / "query.mrg").write_text(TREES[4])
    assert run("similar", folder / "query.mrg", folder / "trees.mrg", "--top", "3").out == out
    several = run("similar", folder / "trees.mrg", folder / "trees.mrg")
    assert "QUERY must be one tree, but" in several.err
    pairs = run("similar", folder / "trees.mrg", "--top", "2").out.splitlines()
    K = SubsetTree()(TREES) - np.eye(len(TREES))
    assert [line.split("\t")[0] for line in pairs] == [f"{K.max():.4f}"] * 2
    assert pairs[0].split("\t")[1:] == ["1", str(int(K[0].argmax()) + 1)]
    [pair] = json.loads(run("similar", folder / "trees.mrg", "--top", "1", "--json").out)
    assert [one["tree"] for one in pair["trees"]] == [TREES[0], TREES[int(K[0].argmax())]]
    beyond = run("similar", "13", folder / "trees.mrg")
    assert (beyond.code, "from 1 to 12" in beyond.err) == (2, True)


def test_indexes_are_built_and_searched(run: Run, folder: Path) -> None:
    index = folder / "trees.index"
    code, out, err = run("index", folder / "trees.mrg", "-o", index)
    assert (code, err) == (0, "")
    assert out == f"12 trees in {index}\n"
    found = run("search", index, TREES[4], "-k", "3").out
    assert found == run("similar", TREES[4], folder / "trees.mrg", "--top", "3").out
    assert run("search", index, "5", "--top", "3").out == found
    write(folder / "two.mrg", [TREES[4], TREES[0]])
    both = run("search", index, folder / "two.mrg", "-k", "3").out
    assert both.startswith(f"query 1:\n{found}query 2:\n1.0000\t1\t")
    [one] = json.loads(run("search", index, "5", "--min-similarity", "0.99", "--json").out)
    assert one["query"] == TREES[4]
    assert [row["number"] for row in one["results"]] == [5]
    assert one["results"][0] == {
        "similarity": 1.0, "number": 5, "columns": {}, "tree": TREES[4]
    }  # fmt: skip
    beyond = run("search", index, "13")
    assert beyond.code == 2
    assert "from 1 to 12" in beyond.err
    assert "no file" in run("search", folder / "none.index", "1").err
    assert "other files" in run("index", folder / "trees.mrg", "-o", folder).err


def test_indexes_of_code_are_searched_by_code(run: Run, folder: Path) -> None:
    (folder / "src").mkdir()
    (folder / "src" / "sums.py").write_text(
        "def add(a, b):\n    return a + b\n\n\ndef show(x):\n    print(x)\n    print(x)\n"
    )
    for format in ([], ["--format", "python", "--set", "labels=abstract"]):
        run("index", folder / "src", "-o", folder / "src.index", "--kernel", "ptk", *format)
        out = run("search", folder / "src.index", "def add(a, b): return a + b", "-k", "1").out
        similarity, number, place, tree = out.rstrip("\n").split("\t")
        assert (similarity, number) == ("1.0000", "1")
        assert "add 1 2" in place
        assert place.endswith("sums.py")
        assert tree.startswith("(FunctionDef")
    bad = run("search", folder / "src.index", "def add(a, b: return")
    assert bad.code == 2


def test_search_by_local_patterns(run: Run, folder: Path) -> None:
    trees, index = folder / "trees.mrg", folder / "patterns.index"
    run("index", trees, "-o", index, "--kernel", "patterns")
    kernel = TreeIndex.load(index).kernel
    assert kernel == LocalPatterns(decay=0.7, leaves=3)
    values, ids = TreeIndex(kernel).fit(TREES).kneighbors(TREES[:1], 3)
    rows = json.loads(run("search", index, "1", "-k", "3", "--json").out)
    [one] = rows if isinstance(rows, list) else [rows]
    assert [row["number"] - 1 for row in one["results"]] == ids[0].tolist()
    np.testing.assert_allclose([row["similarity"] for row in one["results"]], values[0])
    assert run("similar", "1", trees, "--kernel", "patterns").code == 0


def test_texts_of_an_index_stay_on_their_line(run: Run, folder: Path) -> None:
    index = TreeIndex().fit(["(S a\x1b[2Jb)"])
    index._segments.notes = Notes(
        {"columns": ["name"]},
        {"0.bytes": np.frombuffer(b"c\n\x9b", np.uint8), "0.ends": np.array([3], np.int64)},
    )
    index.save(folder / "hostile.index")
    assert run("search", folder / "hostile.index", "1").out == (
        "1.0000\t1\tc\\n\ufffd\t(S a\\x1b[2Jb)\n"
    )


@pytest.mark.parametrize(
    "values",
    [
        {"reading": 7},
        {"reading": {"code": "x"}},
        {"reading": {"settings": {"a": 1}}},
        {"reading": {"settings": [1]}},
        {"reading": {"format": ["brackets"]}},
        {"columns": 7},
        {"columns": ["name", "other"]},
        {"columns": ["name"]},
    ],
)
def test_damaged_notes_of_an_index_are_refused(
    run: Run, folder: Path, values: dict[str, Any]
) -> None:
    index = TreeIndex().fit(TREES)
    columns = {"0.bytes": np.zeros(3), "0.ends": np.array(["a", "b"])}
    index._segments.notes = Notes(values, columns)
    index.save(folder / "hostile.index")
    code, out, err = run("search", folder / "hostile.index", TREES[0])
    assert (code, out) == (2, "")
    assert "does not say how its data were read" in err or "the columns of the index" in err


def test_recurring_fragments_as_a_table(run: Run, folder: Path) -> None:
    code, out, err = run("recurring", folder / "trees.mrg", "--min-count", "3")
    assert (code, err) == (0, "")
    rows = [line.split("\t") for line in out.splitlines()]
    found = recurring_fragments(TREES, min_count=3)
    assert len(found) > 3
    assert rows[0] == ["count", "size", "fragment"]
    assert [(int(n), int(size)) for n, size, _ in rows[1:]] == list(
        zip(found.count.tolist(), found.size.tolist(), strict=True)
    )
    assert [row[2] for row in rows[1:]] == found.fragments.texts()
    one = run("recurring", folder / "train.tsv", "--root", "NP", "--kernel", "st", "--no-names")
    wanted = recurring_fragments(TREES, kernel=Subtree(), root="NP").fragments.texts()
    assert [line.split("\t")[2] for line in one.out.splitlines()] == wanted


def test_an_index_is_inspected(run: Run, folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "trees.index"
    run("index", folder / "trees.mrg", "-o", index)
    shown = json.loads(run("inspect", index, "--json").out)
    assert shown["kind"] == "TreeIndex"
    assert shown["trees"] == len(TREES)
    assert shown["kernel"] == repr(SubsetTree())
    assert f"trees    {len(TREES)}" in run("inspect", index).out
    refused = run("predict", index, folder / "trees.mrg")
    assert (refused.code, "is a folder" in refused.err) == (2, True)


def test_similar_trees_of_tables_need_no_labels(run: Run, tmp_path: Path) -> None:
    plain = write(tmp_path / "plain.jsonl", [json.dumps({"tree": tree}) for tree in TREES])
    wanted = run("similar", write(tmp_path / "trees.mrg", TREES), "--top", "3")
    assert (wanted.code, len(wanted.out.splitlines())) == (0, 3)
    assert run("similar", plain, "--top", "3") == wanted


def test_clones_say_if_all_trees_are_too_small(run: Run, folder: Path) -> None:
    done = run("clones", folder / "train.tsv", "--min-size", "1000")
    assert done.out == ""
    assert "fewer than 1000 nodes" in done.err
    assert "--min-size" in done.err


def test_clones_of_functions(run: Run, folder: Path) -> None:
    """Functions of a folder of source code, with file and line of each."""
    code_folder = folder / "code"
    code_folder.mkdir()
    body = "def {}(x, y):\n    z = x + y * {}\n    return [z, x, {}]\n"
    (code_folder / "a.py").write_text(body.format("f", 1, "x") + "\n" + body.format("g", 1, "y"))
    (code_folder / "b.py").write_text("import os\n\n" + body.format("f", 1, "x"))
    equal = run("clones", code_folder, "--min-similarity", "1", "--min-size", "5")
    assert (equal.code, equal.err) == (0, "")
    assert equal.out.splitlines()[0].startswith("2 trees, ")
    assert equal.out.splitlines()[0].endswith(", equal")
    assert [line.strip() for line in equal.out.splitlines()[1:]] == [
        f"{code_folder / 'a.py'}:1 f",
        f"{code_folder / 'b.py'}:3 f",
    ]
    near = json.loads(run("clones", code_folder, "--min-similarity", ".1", "--json").out)
    assert near == []  # all are smaller than the default of --min-size
    options = ["--min-similarity", ".1", "--min-size", "5", "--json"]
    [near] = json.loads(run("clones", code_folder, *options).out)
    assert [(one["name"], one["line"]) for one in near["members"]] == [
        ("f", "1"), ("g", "5"), ("f", "3"),
    ]  # fmt: skip
    drawn = run("clones", code_folder, *options[:-1], "--shared", "1").out
    assert "body" in drawn
    inner = run("clones", code_folder, "--inner", "--min-size", "5").out
    assert inner.splitlines()[0].startswith("2 places, ")
    assert inner.splitlines()[1].endswith("a.py:1 f node 0")


# ---------------------------------------------------------------- data and model files


def test_labelled_formats_are_converted(run: Run, folder: Path, tmp_path: Path) -> None:
    source = folder / "train.tsv"
    formats = ["klp", "csv", "jsonl", "parquet", "tsv.gz"]
    for name in formats:
        target = tmp_path / f"train.{name}"
        done = run("convert", source, "-o", target)
        assert (done.code, done.out) == (0, f"12 examples written to {target}\n")
        X, y = read_examples(target)
        trees = X if isinstance(X, Forest) else X["tree"]
        assert ([str(tree) for tree in trees], y.tolist()) == (TREES, LABELS)
        source = target
    command = ["convert", source, "--to", "svmlight-tk", "--map", "q=1", "--map", "s=-1"]
    code, out, err = run(*command)
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == f"1 |BT| {TREES[0]} |ET|"
    assert run("convert", folder / "train.tsv", "--to", "brackets").out.splitlines() == TREES


def test_trees_are_converted_without_labels(run: Run, folder: Path, tmp_path: Path) -> None:
    code, out, err = run("convert", folder / "trees.mrg", "--to", "jsonl")
    assert (code, err) == (0, "")
    assert [json.loads(line)["tree"] for line in out.splitlines()] == TREES
    sources = write(tmp_path / "code.py", ["def f(x):", "    return x"])
    options = ["--set", "unit=function", "--to", "tsv"]
    code, out, err = run("convert", sources, *options)
    assert (code, err) == (0, "")
    assert "FunctionDef" in out
    unknown = run("convert", sources, "--set", "colour=red", "--to", "tsv")
    assert (unknown.code, "python has no option 'colour'" in unknown.err) == (2, True)
    wrong = run("convert", sources, "--set", "red", "--to", "tsv")
    assert (wrong.code, "--set takes NAME=VALUE, got 'red'" in wrong.err) == (2, True)


def test_labels_of_any_language_are_described_as_they_are(run: Run, tmp_path: Path) -> None:
    data = write(tmp_path / "d.tsv", ["ja\t(S ツ)", "né\t(S ツ)"])
    for options in ([], ["--json"]):
        assert "né" in run("describe", data, *options).out


def test_describe_and_inspect(run: Run, folder: Path) -> None:
    code, out, err = run("describe", folder / "train.tsv")
    assert (code, err) == (0, "")
    assert out.startswith("examples  12\nlabels    q (6), s (6)\n\n12 trees, 12 distinct\n")
    plain = json.loads(run("describe", folder / "train.tsv", "--json").out)
    assert (plain["labels"], plain["trees"]["tree"]["n_trees"]) == ({"q": 6, "s": 6}, 12)
    assert run("inspect", folder / "train.tsv").out == out
    assert "labels" not in run("describe", folder / "trees.mrg").out.partition("\n\n")[0]
    model = run("inspect", folder / "model")
    assert (model.code, model.err) == (0, "")
    assert "TreeSVC" in model.out
    header = json.loads(run("inspect", folder / "model", "--json").out)
    assert header["content"]["classes"] == ["q", "s"]


# ---------------------------------------------------------------- quiet


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "train.tsv", "-o", "m"],
        ["predict", "model", "train.tsv"],
        ["evaluate", "model", "train.tsv"],
        ["cv", "train.tsv"],
        ["explain", "model", "train.tsv"],
        ["fragments", "model", "--top", "500"],  # warns of too few
        ["similar", "1", "train.tsv"],
        ["recurring", "train.tsv"],
        ["clones", "train.tsv", "--min-size", "1", "--min-similarity", "0.01"],
        ["describe", "train.tsv"],
        ["convert", "train.tsv", "--to", "jsonl"],
        ["inspect", "model"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_quiet_prints_only_results(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(folder)
    code, out, err = run(*arguments, "--quiet")
    assert (code, err) == (0, "")
    assert (out == "") == (arguments[0] == "train")

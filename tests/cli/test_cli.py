"""The command line: from files to models, predictions and figures."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import f1_score
from typer.testing import CliRunner, Result

from filbert import Explanation, TreeSVC, __version__, explain, load, read_examples
from filbert.cli import app, main
from filbert.kernels import LocalPatterns, PartialTree, SubsetTree, Subtree, TreeKernel
from filbert.model import SupportVectorModel

TREES = [f"(S (NP {a}) (VP {b}))" for a in "abcd" for b in "xyz"]
LABELS = ["q" if "a" in tree or "b" in tree else "s" for tree in TREES]


def write(path: Path, lines: list[str]) -> str:
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


@pytest.fixture
def tsv(tmp_path: Path) -> str:
    pairs = zip(LABELS, TREES, strict=True)
    return write(tmp_path / "train.tsv", [f"{label}\t{tree}" for label, tree in pairs])


@pytest.fixture
def bare(tmp_path: Path) -> str:
    return write(tmp_path / "trees.txt", TREES)


@pytest.fixture
def model(tmp_path: Path, tsv: str) -> str:
    path = str(tmp_path / "model.filbert")
    run("train", tsv, "-o", path)
    return path


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def run_main(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str]:
    """The exit code and what is on the error stream."""
    monkeypatch.setattr(sys, "argv", ["filbert", *arguments])
    monkeypatch.setattr("warnings.showwarning", None)  # which main sets: put it back afterwards
    with pytest.raises(SystemExit) as stop:
        main()
    code = stop.value.code
    return (code if isinstance(code, int) else 0), capsys.readouterr().err


def python(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "filbert", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, **options
    )


# ---------------------------------------------------------------- train, predict, evaluate


def lines_of(format: str) -> list[str]:
    pairs = list(zip(LABELS, TREES, strict=True))
    if format == "tsv":
        return [f"{label}\t{tree}" for label, tree in pairs]
    if format == "jsonl":
        return [json.dumps({"label": label, "tree": tree}) for label, tree in pairs]
    return [f"{1 if label == 'q' else -1} |BT| {tree} |ET|" for label, tree in pairs]


@pytest.mark.parametrize("format", ["tsv", "jsonl", "svmlight-tk"])
def test_the_whole_way(tmp_path: Path, format: str) -> None:
    data = write(tmp_path / "data", lines_of(format))  # the format is known by the content
    model, out = str(tmp_path / "model"), tmp_path / "out"
    summary = run("train", data, "-o", model)
    assert summary.stdout.startswith("12 examples, 2 classes, ")
    assert summary.stderr == ""
    run("predict", model, data, "-o", str(out))
    X, y = read_examples(data)
    assert out.read_text().split() == [str(label) for label in y]
    figures = json.loads(run("evaluate", model, data, "--json").stdout)
    assert figures["accuracy"] == 1.0
    assert [row["class"] for row in figures["classes"]] == sorted(set(y.tolist()))
    expected = TreeSVC(random_state=0).fit(X, y)
    assert load(model).decision_function(X).tobytes() == expected.decision_function(X).tobytes()


def test_options_reach_the_learner(tmp_path: Path, tsv: str) -> None:
    path = str(tmp_path / "model")
    options = (
        "--kernel sst --decay 0.2 --include-leaves --no-normalize -C 3 --class-weight balanced "
        "--loss squared_hinge --tol 0.01 --max-iter 500 --no-intercept --jobs 1 --seed 7"
    )
    run("train", tsv, "-o", path, *options.split())
    expected = TreeSVC(
        SubsetTree(0.2, include_leaves=True, normalize=False), C=3, class_weight="balanced",
        loss="squared_hinge", tol=0.01, max_iter=500, fit_intercept=False, n_jobs=1, random_state=7,
    )  # fmt: skip
    assert load(path).get_params() == expected.get_params()
    run("train", tsv, "-o", path, "--kernel", "st")
    assert load(path).kernel == Subtree()
    options = "--kernel ptk --depth-decay 0.3 --penalty gaps --max-subsequence 3 --engine rows"
    assert "training, by rows" in run("train", tsv, "-o", path, *options.split()).output
    assert load(path).kernel == PartialTree(0.4, 0.3, penalty="gaps", max_subsequence=3)


@pytest.mark.parametrize(
    ("options", "kernel"),
    [
        ("", LocalPatterns(decay=0.7, leaves=3)),
        ("--kernel patterns", LocalPatterns(decay=0.7, leaves=3)),
        ("--decay 0.5 --no-normalize", LocalPatterns(decay=0.5, leaves=3, normalize=False)),
        ("--kernel stk", SubsetTree()),
        ("--strategy sdag", SubsetTree()),
        ("--loss logistic", SubsetTree()),
        ("--task regress", SubsetTree()),
        ("--task rank", SubsetTree()),
    ],
)
def test_the_defaults_are_those_of_the_learners(
    tmp_path: Path, options: str, kernel: TreeKernel
) -> None:
    data = write(tmp_path / "data.tsv", [f"{i % 2}\t{tree}" for i, tree in enumerate(TREES)])
    run("train", data, "-o", str(tmp_path / "model"), *options.split())
    model = load(tmp_path / "model")
    own = type(model)(kernel=kernel, random_state=0)
    if "sdag" in options:
        own.set_params(strategy="sdag")
    assert model.get_params() == own.get_params()


def test_planes(tmp_path: Path, tsv: str) -> None:
    path = str(tmp_path / "model")
    for strategy in ("usvm", "sdag", "sdag+"):
        options = ["--strategy", strategy, "--sample-size", "50", "--seed", "3"]
        assert "training, by planes" in run("train", tsv, "-o", path, *options).output
        expected = TreeSVC(SubsetTree(), strategy=strategy, sample_size=50, random_state=3)
        assert load(path).get_params() == expected.get_params()
        assert load(path).sample_size_ == len(TREES)
        assert json.loads(run("evaluate", path, tsv, "--json").stdout)["accuracy"] == 1.0
    verbose = run("train", tsv, "-o", path, "--strategy", "sdag+", "--verbose")
    assert verbose.stdout.count("\n") == 1
    assert "planes: sdag+ with samples of 12 of 12 examples" in verbose.stderr
    assert "cutting planes" in verbose.stderr


def test_quiet_says_nothing(tmp_path: Path, tsv: str) -> None:
    result = run("train", tsv, "-o", str(tmp_path / "model"), "--quiet")
    assert result.output == ""


def test_progress_goes_to_the_error_stream(tmp_path: Path, tsv: str) -> None:
    result = run("train", tsv, "-o", str(tmp_path / "model"), "--verbose")
    assert result.stdout.count("\n") == 1
    assert "training" in result.stderr


def test_columns_and_keys(tmp_path: Path) -> None:
    pairs = list(zip(LABELS, TREES, strict=True))
    model = str(tmp_path / "model")
    columns = write(tmp_path / "c.tsv", [f"{i}\t{t}\t{c}" for i, (c, t) in enumerate(pairs)])
    run("train", columns, "-o", model, "--label", "-1", "--tree", "1")
    assert load(model).classes_.tolist() == ["q", "s"]
    objects = [json.dumps({"kind": c, "trees": {"a": t, "b": "(x y)"}}) for c, t in pairs]
    keys = write(tmp_path / "k.jsonl", objects)
    run("train", keys, "-o", model, "--label", "kind", "--tree", "trees.a")
    assert load(model).classes_.tolist() == ["q", "s"]


def test_bare_trees_are_predicted(model: str, bare: str) -> None:
    assert run("predict", model, bare).stdout.split() == LABELS
    assert run("predict", model, bare, "--format", "brackets").stdout.split() == LABELS


@pytest.mark.parametrize(
    ("name", "line", "options"),
    [
        ("t.tsv", "{}", []),
        ("t.tsv", "never seen\t{}", []),
        ("t.tsv", "{}\tnote", ["--tree", "0"]),
        ("t.jsonl", '{{"tree": "{}"}}', []),
        ("t.jsonl", '{{"label": null, "tree": "{}"}}', []),
        ("t", '{{"trees": {{"a": "{}", "b": "(x y)"}}}}', ["--tree", "trees.a"]),
        ("t.dat", "0 |BT| {} |ET|", []),
    ],
)
def test_predicting_needs_no_labels(
    tmp_path: Path, model: str, name: str, line: str, options: list[str]
) -> None:
    data = write(tmp_path / name, [line.format(tree) for tree in TREES])
    assert run("predict", model, data, *options).stdout.split() == LABELS


def test_trees_are_scored_once(model: str, bare: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    score = SupportVectorModel.decision_function

    def counted(self: SupportVectorModel, X: Any, **options: Any) -> Any:
        calls.append(len(X))
        return score(self, X, **options)

    monkeypatch.setattr(SupportVectorModel, "decision_function", counted)
    rows = run("predict", model, bare, "--scores").stdout.splitlines()
    assert [row.split("\t")[0] for row in rows] == LABELS
    assert calls == [len(TREES)]


def test_scores_are_exact(model: str, bare: str) -> None:
    rows = [line.split("\t") for line in run("predict", model, bare, "--scores").stdout.split("\n")]
    assert [float(row[1]) for row in rows[:-1]] == load(model).decision_function(TREES).tolist()


def test_many_classes_have_a_score_each(tmp_path: Path, bare: str) -> None:
    data = write(tmp_path / "d.tsv", [f"{i % 3}\t{tree}" for i, tree in enumerate(TREES)])
    model = str(tmp_path / "model")
    run("train", data, "-o", model)
    [first, *_] = run("predict", model, bare, "--scores").stdout.split("\n")
    assert len(first.split("\t")) == 4


def test_figures_are_those_of_scikit_learn(tmp_path: Path, model: str) -> None:
    wrong = ["s", *LABELS[1:-1], "q"]
    data = write(tmp_path / "t.tsv", [f"{c}\t{t}" for c, t in zip(wrong, TREES, strict=True)])
    figures = json.loads(run("evaluate", model, data, "--json").stdout)
    assert figures["macro_f1"] == f1_score(wrong, LABELS, average="macro")
    assert figures["confusion"] == [[5, 1], [1, 5]]
    table = run("evaluate", model, data).stdout
    assert "accuracy  83.33%" in table
    assert "confusion" in table


def test_the_mean_over_classes_does_not_weigh_them(tmp_path: Path, model: str) -> None:
    """Nine of class q, one of them wrong, and two of class s: 16 / 17 and 4 / 5."""
    trees = [*TREES[:6], *TREES[:2], TREES[6], *TREES[6:8]]
    true = ["q"] * 9 + ["s"] * 2
    data = write(tmp_path / "t.tsv", [f"{c}\t{t}" for c, t in zip(true, trees, strict=True)])
    figures = json.loads(run("evaluate", model, data, "--json").stdout)
    assert [row["f1"] for row in figures["classes"]] == pytest.approx([16 / 17, 4 / 5])
    assert figures["macro_f1"] == pytest.approx((16 / 17 + 4 / 5) / 2)
    assert f"macro F1  {(16 / 17 + 4 / 5) / 2:.2%}" in run("evaluate", model, data).stdout


def test_labels_that_look_like_numbers_in_one_file_only(tmp_path: Path, bare: str) -> None:
    model = str(tmp_path / "model")
    names = ["1", "2", "x"] * 4
    data = write(tmp_path / "d.tsv", [f"{c}\t{t}" for c, t in zip(names, TREES, strict=True)])
    run("train", data, "-o", model, "-C", "100")
    numbers = write(tmp_path / "n.tsv", [f"1\t{TREES[0]}", f"2\t{TREES[1]}"])
    assert json.loads(run("evaluate", model, numbers, "--json").stdout)["accuracy"] == 1.0


def test_labels_stay_on_their_line(tmp_path: Path, bare: str) -> None:
    odd = {"q": "a\nb", "s": "c\td"}
    objects = [json.dumps({"label": odd[c], "tree": t}) for c, t in zip(LABELS, TREES, strict=True)]
    model = str(tmp_path / "model")
    run("train", write(tmp_path / "d.jsonl", objects), "-o", model)
    assert run("predict", model, bare).stdout.splitlines()[0] == r"a\nb"


# ---------------------------------------------------------------- explain


def test_explain_in_the_terminal(model: str, tsv: str, bare: str) -> None:
    alone = run("explain", model).output
    assert "s against q" in alone
    assert "fragments found, with" in alone
    assert "Example" not in alone
    labelled = run("explain", model, tsv, "--top", "3", "--examples", "2").output
    assert "Accuracy 100.0%" in labelled
    assert "Example 0: q, right" in labelled
    unlabelled = run("explain", model, bare).output
    assert "Accuracy" not in unlabelled
    assert "Example 0: q" in unlabelled


@pytest.mark.parametrize("format", ["tsv", "jsonl"])
def test_explain_knows_labels_from_no_labels(model: str, tmp_path: Path, format: str) -> None:
    path = write(tmp_path / f"data.{format}", lines_of(format))
    out = tmp_path / "out.json"
    run("explain", model, path, "-o", str(out), "--top", "0")
    metrics = json.loads(out.read_text())["metrics"]
    assert metrics["accuracy"] == 1.0
    bare = [json.dumps({"tree": tree}) for tree in TREES] if format == "jsonl" else TREES
    run("explain", model, write(tmp_path / "bare", bare), "-o", str(out), "--top", "0")
    assert json.loads(out.read_text())["metrics"] is None


def test_explain_writes_what_the_ending_says(model: str, tsv: str, tmp_path: Path) -> None:
    for ending, expected in ((".json", "{"), (".txt", "A title"), (".html", "<!doctype html>")):
        out = tmp_path / f"report{ending}"
        run("explain", model, tsv, "-o", str(out), "--title", "A title")
        content = out.read_text("utf-8")
        assert content.lower().startswith(expected.lower())
        assert "A title" in content
    explanation = Explanation.from_json((tmp_path / "report.json").read_text("utf-8"))
    assert explanation == explain(
        load(model).set_params(n_jobs=None), *read_examples(tsv), title="A title"
    )


def test_explain_refuses_before_long_work(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, error = run_main(monkeypatch, capsys, "explain", model, "-o", str(tmp_path / "a.pdf"))
    assert code == 2
    assert ".html" in error
    code, error = run_main(monkeypatch, capsys, "explain", model, "-o", "no/such/folder/a.html")
    assert code == 2
    assert "folder" in error
    code, error = run_main(monkeypatch, capsys, "explain", model, "--top", "-1")
    assert code == 2
    assert "top must be" in error


# ---------------------------------------------------------------- what users can mend


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["train", "missing.tsv", "-o", "m"], "there is no file 'missing.tsv'"),
        (["train", "TSV", "-o", "nowhere/m"], "nowhere"),
        (
            ["train", "TSV", "-o", "m", "--kernel", "x"],
            "'x' is not one of 'patterns', 'stk', 'sst', 'st', 'ptk'",
        ),
        (
            ["train", "TSV", "-o", "m", "--penalty", "gaps"],
            "--penalty is for ptk, not for patterns: use --kernel ptk",
        ),
        (["train", "TSV", "-o", "m", "--decay", "2"], "decay must be in"),
        (["train", "TSV", "-o", "m", "--kernel", "st", "--include-leaves"], "is for stk"),
        (["train", "TSV", "-o", "m", "--strategy", "magic"], "'--strategy': 'magic' is not one of"),
        (["train", "TSV", "-o", "m", "--sample-size", "9"], "'exact' takes no samples"),
        (
            ["train", "TSV", "-o", "m", "--strategy", "sdag", "--sample-size", "0"],
            "--sample-size must be",
        ),
        (["train", "TSV", "-o", "m", "--strategy", "sdag", "--engine", "rows"], "for strategy"),
        (["train", "TSV", "-o", "m", "--loss", "square"], "'square' is not one of 'hinge'"),
        (["train", "TSV", "-o", "m", "--max-iter", "0"], "--max-iter must be a positive"),
        (
            ["train", "TSV", "-o", "m", "--class-weight", "heavy"],
            "'--class-weight': 'heavy' is not",
        ),
        (["train", "TSV", "-o", "m", "--on-error", "hide"], "'--on-error': 'hide' is not one of"),
        (["train", "TSV", "-o", "m", "--format", "xyz"], "format must be"),
        (["train", "TSV", "-o", "m", "--label", "kind"], "there is no header"),
        (["train", "TSV", "-o", "m", "--engine", "magic"], "'--engine': 'magic' is not one of"),
        (["train", "missing.tsv", "-o", "m", "-C", "0"], "C must be positive"),  # not read at all
        (["train", "BAD", "-o", "m"], "bad.tsv, line 2"),
        (["train", "EMPTY", "-o", "m"], "no examples"),
        (["similar", "1", "PAIRS"], "several trees, tree_1, tree_2"),
        (["predict", "BARE", "BARE"], "not a model"),
        (["predict", "MODEL", "missing"], "there is no file 'missing'"),
        (["predict", "MODEL", "BARE", "-o", "nowhere/out"], "nowhere"),
        (["evaluate", "MODEL", "BARE"], "has trees without labels"),
        (["evaluate", "FOLDER", "BARE"], "is a folder, not a model file"),
    ],
)
def test_errors_take_one_line(
    arguments: list[str],
    told: str,
    tmp_path: Path,
    tsv: str,
    bare: str,
    model: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files = {
        "TSV": tsv,
        "BARE": bare,
        "MODEL": model,
        "FOLDER": str(tmp_path),
        "EMPTY": write(tmp_path / "empty.tsv", []),
        "BAD": write(tmp_path / "bad.tsv", ["a\t(S a)", "b\t(S"]),
        "PAIRS": write(tmp_path / "pairs.dat", ["1 |BT| (a b) |BT| (c d) |ET|"]),
    }
    monkeypatch.chdir(tmp_path)
    code, err = run_main(monkeypatch, capsys, *(files.get(word, word) for word in arguments))
    assert code == 2
    assert told in err
    assert err.startswith("filbert: ")
    assert err.count("\n") == 1
    assert not (tmp_path / "m").exists()


# ---------------------------------------------------------------- as a process


def test_the_version_and_usage() -> None:
    assert run("--version").stdout == f"filbert {__version__}\n"
    assert python("train").returncode == 2


@pytest.mark.product
def test_a_closed_pipe_is_no_error(model: str, bare: str, tmp_path: Path) -> None:
    many = write(tmp_path / "many.txt", TREES * 5000)
    command = [sys.executable, "-m", "filbert", "predict", model, many, "--scores"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.product
def test_an_interrupt_ends_with_130(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.tsv"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "filbert", "train", str(pipe), "-o", str(tmp_path / "m")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        with open(pipe, "w") as writer:
            # More than the pipe holds: this returns when the command has read some of it.
            capacity = fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ)
            writer.write("a\t(S a)\n" * capacity)
            writer.flush()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)
        assert process.returncode == 130
        assert b"Traceback" not in err


def test_missing_data_names_the_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["filbert", "predict", "some.model"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert (
        "Missing argument 'DATA': name a file, or - for standard input" in capsys.readouterr().err
    )

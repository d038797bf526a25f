"""Commands on data in parts."""

import gzip
import json
from pathlib import Path

import pytest

from filbert import load
from tests.cli.commands import Run, write

ROWS = [
    ("q" if i % 2 else "s", f"(S (NP n{i % 2 if i % 5 else 2}) (VP v{i % 7}))") for i in range(60)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tables of 20 examples each."""
    folder = tmp_path_factory.mktemp("parts")
    for i in range(3):
        write(folder / f"d{i}.tsv", [f"{y}\t{x}" for y, x in ROWS[20 * i : 20 * i + 20]])
        with gzip.open(folder / f"z{i}.tsv.gz", "wb") as stream:
            stream.write((folder / f"d{i}.tsv").read_bytes())
    return folder


@pytest.mark.parametrize("pattern", ["d*.tsv", "z*.tsv.gz"])
def test_training_and_prediction_by_parts(
    run: Run, folder: Path, tmp_path: Path, pattern: str
) -> None:
    data, model, out = folder / pattern, tmp_path / "m", tmp_path / "out"
    kept = ("--parts", 4, "--checkpoint", tmp_path / "kept")
    done = run("train", data, "-o", model, "-v", *kept)
    assert done.code == 0
    n = 4 if pattern == "d*.tsv" else 3
    assert done.out.startswith(f"{n} parts, 2 classes")
    assert "round 1" in done.err
    again = run(
        "train", data, "-o", tmp_path / "n", "--parts", 4, "--checkpoint", tmp_path / "kept"
    )
    assert again.code == 0
    assert model.read_bytes() == (tmp_path / "n").read_bytes()
    for _ in range(2):  # files are written again
        assert run("predict", model, data, "--parts", 4, "--scores", "-o", out) == (0, "", "")
        files = sorted(out.iterdir())
        assert [file.name for file in files] == [f"part-{i + 1}-of-{n}.tsv" for i in range(n)]
        whole = run("predict", model, data, "--scores").out
        rows = [line.split("\t") for file in files for line in file.read_text().splitlines()]
        expected = [line.split("\t") for line in whole.splitlines()]
        assert [row[0] for row in rows] == [row[0] for row in expected]
        scores = [float(row[1]) for row in expected]
        assert [float(row[1]) for row in rows] == pytest.approx(scores)


def test_lines_that_cannot_be_read_keep_their_places(run: Run, tmp_path: Path) -> None:
    lines = [f"{i}\t{y}\t{x}" for i, (y, x) in enumerate(ROWS)]
    lines[33] = "33\tq\t(S"
    data = write(tmp_path / "data.tsv", ["id\tlabel\ttree", *lines])
    done = run("train", data, "-o", tmp_path / "m", "--parts", 3)
    assert done.code == 2
    assert "data.tsv, line 35" in done.err
    done = run("train", data, "-o", tmp_path / "m", "--parts", 3, "--on-error", "skip")
    assert done.code == 1
    assert "skipped 1, read 59" in done.err
    done = run("predict", tmp_path / "m", data, "--parts", 3, "-o", tmp_path / "out")
    assert done.code == 1
    assert "data.tsv, line 35" in done.err
    files = sorted((tmp_path / "out").iterdir())
    rows = [line.split("\t") for file in files for line in file.read_text().splitlines()]
    assert [row[0] for row in rows] == [str(i) if i != 33 else "" for i in range(60)]
    assert [i for i, row in enumerate(rows) if row[1] == "?"] == [33]
    done = run("predict", tmp_path / "m", data, "--parts", 3, "-o", tmp_path / "j", "--json")
    records = [
        json.loads(line)
        for file in sorted((tmp_path / "j").iterdir())
        for line in file.read_text().splitlines()
    ]
    assert records[33]["label"] is None
    assert records[34]["id"] == "34"


def test_predictions_in_other_parts_are_neither_mixed_nor_deleted(
    run: Run, folder: Path, tmp_path: Path
) -> None:
    data, out = folder / "d*.tsv", tmp_path / "out"
    assert run("train", folder / "d0.tsv", "-o", tmp_path / "m").code == 0
    out.mkdir()
    notes = [write(out / name, ["mine"]) for name in ("notes.tsv", "part-1-of-2.tsv.old")]
    assert run("predict", tmp_path / "m", data, "--parts", 3, "-o", out).code == 0
    there = {file: file.read_bytes() for file in out.iterdir()}
    assert there.keys() > {*notes}
    for others in (("--parts", 2), ("--parts", 3, "--json")):
        done = run("predict", tmp_path / "m", data, *others, "-o", out)
        assert done.code == 2
        assert "predictions in other parts, part-1-of-3.tsv and 2 more files" in done.err
    assert {file: file.read_bytes() for file in out.iterdir()} == there


def test_trees_without_labels(run: Run, folder: Path, tmp_path: Path) -> None:
    assert run("train", folder / "d0.tsv", "-o", tmp_path / "m").code == 0
    trees = write(tmp_path / "trees.mrg", [x for _, x in ROWS])
    assert run("predict", tmp_path / "m", trees, "--parts", 2, "-o", tmp_path / "out").code == 0
    text = "".join(file.read_text() for file in sorted((tmp_path / "out").iterdir()))
    assert text == run("predict", tmp_path / "m", trees).out
    done = run("train", trees, "-o", tmp_path / "m", "--parts", 2)
    assert done.code == 2
    assert "label" in done.err


def test_vectors_are_added_or_their_absence_is_told(run: Run, tmp_path: Path) -> None:
    lines = [
        f"{1 if y == 'q' else -1} |BT| {x} |ET| {i % 2 + 1}:1" for i, (y, x) in enumerate(ROWS)
    ]
    data = write(tmp_path / "data.dat", lines)
    done = run("train", data, "-o", tmp_path / "m", "--parts", 2)
    assert done.code == 0
    assert "features of" in done.err
    done = run("train", data, "-o", tmp_path / "m", "--parts", 2, "--vectors", "linear")
    assert done.code == 2
    assert "--set n_features=N" in done.err
    arguments = ("--parts", 2, "--vectors", "linear", "--set", "n_features=2")
    assert run("train", data, "-o", tmp_path / "m", *arguments).code == 0
    assert "features" in load(tmp_path / "m").model_.support.parts
    assert run("predict", tmp_path / "m", data, "--parts", 2, "-o", tmp_path / "out").code == 0
    text = "".join(file.read_text() for file in sorted((tmp_path / "out").iterdir()))
    assert text == run("predict", tmp_path / "m", data).out


def test_named_features_that_no_kernel_takes(run: Run, tmp_path: Path) -> None:
    rows = [f"{y},{x},{i}" for i, (y, x) in enumerate(ROWS)]
    data, model = write(tmp_path / "data.csv", ["label,tree,size", *rows]), tmp_path / "m"
    done = run("train", data, "-o", model, "--parts", 3, "--set", "features=size")
    assert done.code == 0
    assert done.err.count("features of") == 1  # a warning, told once
    known = run("predict", model, data).out
    answers = run(
        "predict", model, data, "--parts", 3, "--set", "features=size", "-o", tmp_path / "p"
    )
    assert answers.code == 0
    files = sorted((tmp_path / "p").iterdir())
    assert "".join(file.read_text() for file in files) == known


def test_folders_of_classes(run: Run, tmp_path: Path) -> None:
    for y in "qs":
        write(tmp_path / "data" / "x.mrg", []).unlink()
        write(tmp_path / "data" / y / "a.mrg", [x for own, x in ROWS if own == y])
    data = tmp_path / "data"
    assert run("train", data, "--label", "folder", "-o", tmp_path / "m", "--parts", 2).code == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-"], "name a folder with -o"),
        (["out", "--number"], "--number is for data in one piece"),
        (["out", "--line"], "--line is for data in one piece"),
        (["out", "--id", "file"], "--id file is for data in one piece"),
        (["out/x/y"], "there is no folder"),
        (["m"], "is a file"),
    ],
)
def test_options_that_need_one_piece(
    run: Run, folder: Path, tmp_path: Path, arguments: list[str], told: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run("train", folder / "d0.tsv", "-o", "m").code == 0
    done = run("predict", "m", folder / "d0.tsv", "--parts", 2, "-o", *arguments)
    assert done.code == 2
    assert told in done.err


def test_standard_input_and_bad_schedulers(run: Run, folder: Path, tmp_path: Path) -> None:
    done = run("train", "-", "-o", tmp_path / "m", "--parts", 2)
    assert done.code == 2
    assert "name files" in done.err
    pytest.importorskip("distributed", reason="distributed is not installed")
    done = run("train", folder / "d0.tsv", "-o", tmp_path / "m", "--scheduler", "nowhere")
    assert done.code == 2
    assert "no Dask scheduler at 'nowhere'" in done.err
    assert done.err.count("\n") == 1

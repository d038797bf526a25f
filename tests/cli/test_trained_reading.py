"""Commands read documents with the options that a model was trained with."""

import json
from pathlib import Path
from typing import Any

import pytest

from filbert import TreeSVC, inspect, load, save
from filbert.errors import InvalidParameterError, ModelFileError
from filbert.persist import reading_of
from tests.cli.commands import Run, write

# The classes differ in an attribute only.
PAGES = {"yes": '<a><b kind="x"/><c/></a>', "no": '<a><b kind="y"/><c/></a>'}


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    for label, text in PAGES.items():
        for number in range(6):
            write(tmp_path / "pages" / label / f"{number}.xml", [text])
    return tmp_path / "pages"


@pytest.fixture
def model(run: Run, pages: Path, tmp_path: Path) -> Path:
    """A model that was trained with attributes."""
    path = tmp_path / "pages.model"
    options = ("--label", "folder", "--set", "attributes=true", "--jobs", "1")
    done = run("train", pages, "-o", path, "--kernel", "ptk", *options)
    assert done.code == 0, done.err
    return path


@pytest.mark.parametrize("parts", [(), ("--parts", "2")])
def test_prediction_reads_as_training_did(
    run: Run, model: Path, pages: Path, tmp_path: Path, parts: tuple[str, ...]
) -> None:
    for label in PAGES:
        out = tmp_path / f"out-{label}" if parts else tmp_path / f"{label}.tsv"
        done = run("predict", model, pages / label, "-o", out, *parts)
        assert (done.code, done.err) == (0, "")
        files = sorted(out.iterdir()) if parts else [out]
        assert {word for file in files for word in file.read_text().split()} == {label}


def test_evaluation_and_explanation_read_as_training_did(
    run: Run, model: Path, pages: Path, tmp_path: Path
) -> None:
    done = run("evaluate", model, pages, "--label", "folder", "--json")
    assert json.loads(done.out)["accuracy"] == 1.0
    page = tmp_path / "page.json"
    assert run("explain", model, pages / "yes", "-o", page).code == 0
    assert "@kind" in page.read_text()


def test_other_options_are_kept_with_a_warning(run: Run, model: Path, pages: Path) -> None:
    done = run("predict", model, pages / "yes", "--set", "attributes=false")
    assert "was trained with --set attributes=true" in done.err
    assert "read with --set attributes=false" in done.err


def test_options_that_training_did_not_have(run: Run, pages: Path, tmp_path: Path) -> None:
    path = tmp_path / "plain.model"
    run("train", pages, "-o", path, "--kernel", "ptk", "--label", "folder", "--jobs", "1")
    done = run("predict", path, pages / "yes", "--set", "attributes=true")
    assert "was trained without --set" in done.err
    assert "warning" not in run("predict", path, pages / "yes").err


def test_data_in_another_format_are_left_alone(run: Run, model: Path, tmp_path: Path) -> None:
    data = write(tmp_path / "data.tsv", ["yes\t(a (b (@kind x)) c)", "no\t(a (b (@kind y)) c)"])
    done = run("predict", model, data)
    assert (done.code, done.out.split(), done.err) == (0, ["yes", "no"], "")


def test_the_options_of_a_table_are_not_those_of_its_trees(run: Run, tmp_path: Path) -> None:
    lines = [f"{label}\t{text}" for label, text in PAGES.items()] * 3
    data, path = write(tmp_path / "train.tsv", lines), tmp_path / "m"
    of_trees = ("--tree-format", "xml", "--set", "attributes=true")
    done = run("train", data, "-o", path, *of_trees, "--set", "labels=text", "--jobs", "1")
    assert done.code == 0, done.err
    assert reading_of(path) == {"format": "xml", "settings": ["attributes=true"]}
    done = run("predict", path, data, "--tree-format", "xml")
    assert done.out.split() == ["yes", "no"] * 3


def test_the_file_says_how_trees_were_read(run: Run, model: Path) -> None:
    assert inspect(model).reading == {"format": "xml", "settings": ["attributes=true"]}
    assert "trees read as xml --set attributes=true" in run("inspect", model).out
    assert load(model).predict(["(a (b (@kind x)) c)"]) == ["yes"]


def test_a_file_from_python_says_nothing(tmp_path: Path) -> None:
    save(TreeSVC().fit(["(S (A a))", "(S (B b))"], ["yes", "no"]), tmp_path / "m")
    assert reading_of(tmp_path / "m") is None
    assert inspect(tmp_path / "m").reading is None


@pytest.mark.parametrize("name", ["format", "on_error", "source"])
def test_what_is_no_option_of_a_format(run: Run, pages: Path, tmp_path: Path, name: str) -> None:
    labels = ("--label", "folder")
    done = run("train", pages, *labels, "--set", f"{name}=x", "-o", tmp_path / "m")
    assert (done.code, "no option of a format" in done.err) == (2, True)


@pytest.mark.parametrize(
    "reading",
    [[], {"format": "xml"}, {"format": 1, "settings": []}, {"format": "xml", "settings": [1]},
     {"format": "xml", "settings": "attributes=true"}, {"format": "xml", "settings": ["x"]},
     {"format": "xml\x1b[2J", "settings": []}, {"format": "xml", "settings": ["text=\x1b[2J"]}],
)  # fmt: skip
def test_other_notes_are_refused(reading: Any, tmp_path: Path) -> None:
    clf = TreeSVC().fit(["(S (A a))", "(S (B b))"], ["yes", "no"])
    with pytest.raises(InvalidParameterError, match="a list of settings"):
        save(clf, tmp_path / "m", reading=reading)
    assert not (tmp_path / "m").exists()


def test_a_file_with_other_notes_is_refused(
    model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("filbert.persist.files.checked_reading", lambda reading, _: {"format": 1})
    save(load(model), tmp_path / "bad", reading={})
    monkeypatch.undo()
    for read in (reading_of, inspect):
        with pytest.raises(ModelFileError, match=r"bad.*a list of settings"):
            read(tmp_path / "bad")

"""What `inspect` says about files."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from filbert import Examples, Forest, FragmentVectorizer, TreePerceptron, TreeSVC, save
from filbert.errors import InputTypeError, MissingFileError, ModelFileError
from filbert.kernels import PartialTree, SubsetTree
from filbert.persist import inspect
from filbert.testing.tools import sentences
from tests.unit.test_persist import change_header

X, CODES = sentences(30, 3)
Y = np.array(["o\u00f9", "what", "who"])[CODES]


def inspected(model: Any, path: Path) -> Any:
    save(model, path)
    return inspect(path)


def test_a_model_is_described(tmp_path: Path) -> None:
    model = TreeSVC(PartialTree(0.3), C=2.0, random_state=0, loss="hinge").fit(X, Y)
    found = inspected(model, tmp_path / "a")
    assert found.n_bytes == (tmp_path / "a").stat().st_size
    assert (found.format_version, found.can_be_loaded) == (1, True)
    assert found.content.kind == "TreeSVC"
    assert found.content.kernel == repr(model.model_.kernel)
    assert found.content.classes == model.classes_.tolist()
    assert found.content.parameters["C"] == 2.0
    assert found.content.counts["support vectors"] == len(model.support_)
    coef = next(array for array in found.arrays if array.name == "coef")
    assert (coef.dtype, coef.shape, coef.n_bytes) == (
        "float64",
        model.dual_coef_.shape,
        model.dual_coef_.nbytes,
    )
    assert json.loads(json.dumps(found.to_dict()))["content"]["kind"] == "TreeSVC"
    for text in ("TreeSVC", "PartialTree(decay=0.3,", "3: o\u00f9, what, who", "C=2.0", "float64"):
        assert text in str(found)


@pytest.mark.parametrize(
    ("model", "counts"),
    [
        (X[:7], {"trees": 7}),
        (Examples(tree=X, rows=np.eye(30)), {"columns": 0}),
        (TreePerceptron().fit(X, Y), {}),
        (FragmentVectorizer(n_fragments=4).fit(X), {"fragments": 4}),
    ],
    ids=["forest", "examples", "perceptron", "fragments"],
)
def test_counts_are_those_of_the_content(model: Any, counts: Any, tmp_path: Path) -> None:
    found = inspected(model, tmp_path / "a")
    assert counts.items() <= found.content.counts.items()
    assert type(model).__name__ in str(found)


def test_steps_are_described(tmp_path: Path) -> None:
    pipeline = make_pipeline(FragmentVectorizer(n_fragments=4), LinearSVC(C=0.5))
    search = GridSearchCV(pipeline, {"linearsvc__C": [0.1]}, cv=2).fit(X, Y)
    found = inspected(search, tmp_path / "a")
    [best] = found.content.steps
    assert [(step.name, step.kind) for step in best.steps] == [
        ("fragmentvectorizer", "FragmentVectorizer"),
        ("linearsvc", "LinearSVC"),
    ]
    assert best.steps[1].classes == search.classes_.tolist()
    assert best.steps[1].parameters == {"C": 0.1}
    assert found.content.counts["candidates"] == 1
    assert "GridSearchCV" in str(found)


def test_calibrated_models_are_described(tmp_path: Path) -> None:
    model = CalibratedClassifierCV(
        TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge"), cv=2, ensemble=False
    ).fit(X, Y)
    content = inspected(model, tmp_path / "a").content
    assert (content.kind, content.classes) == ("CalibratedClassifierCV", model.classes_.tolist())
    assert [(step.name, step.kind) for step in content.steps] == [("model 0", "TreeSVC")]


def test_parts_are_described(tmp_path: Path) -> None:
    found = inspected(Examples(tree=X, rows=np.eye(30)), tmp_path / "a")
    trees, rows = found.content.steps
    assert (trees.name, trees.kind, trees.counts["trees"]) == ("tree", "forest", 30)
    assert (rows.name, rows.kind, rows.counts) == ("rows", "dense", {"rows": 30})


def test_only_the_header_is_read(tmp_path: Path) -> None:
    save(Forest(X), tmp_path / "a")
    content = bytearray((tmp_path / "a").read_bytes())
    place = content.index(b"NUMPY")
    content[place] ^= 1
    (tmp_path / "a").write_bytes(content)
    assert inspect(tmp_path / "a").content.counts["trees"] == 30


def test_files_of_later_versions_are_described(tmp_path: Path) -> None:
    save(TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(X, Y), tmp_path / "a")
    change_header(tmp_path / "a", lambda h: h.update(version=7, filbert="9.0", kind="New"))
    change_header(tmp_path / "a", lambda h: h["content"]["kernel"].update(name="Newer"))
    found = inspect(tmp_path / "a")
    assert (found.format_version, found.filbert_version, found.can_be_loaded) == (7, "9.0", False)
    assert found.content.kernel == "Newer"
    assert "update Filbert" in str(found)


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    labels = np.where(CODES == 1, "\x1b[31mred", "a\nb")
    save(TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(X, labels), tmp_path / "a")
    change_header(tmp_path / "a", lambda h: h.update(filbert="\x1b[2J"))
    text = str(inspect(tmp_path / "a"))
    assert "\x1b" not in text
    assert "red" in text


def test_what_is_no_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError):
        inspect(tmp_path / "none")
    with pytest.raises(InputTypeError, match="path"):
        inspect(3)  # type: ignore[arg-type]
    (tmp_path / "a").write_bytes(b"(S a)")
    with pytest.raises(ModelFileError, match="not a model"):
        inspect(tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr("header.json", json.dumps({"format": "filbert-model", "version": 1}))
    with pytest.raises(ModelFileError, match="arrays"):
        inspect(tmp_path / "a")
    save(X, tmp_path / "a")
    change_header(tmp_path / "a", lambda h: h.update(content=None))
    with pytest.raises(ModelFileError, match="what the file holds"):
        inspect(tmp_path / "a")

"""Files of the transformers that clean up trees."""

from pathlib import Path
from typing import Any

import pytest
from sklearn.pipeline import make_pipeline

from filbert import TreeSVC, load, save
from filbert.errors import InputTypeError, ModelFileError
from filbert.kernels import SubsetTree
from filbert.persist import transformers
from filbert.testing.tools import sentences
from tests.unit.test_save_pipelines import change, check_comes_back

transform = pytest.importorskip("filbert.transform")

X, Y = sentences(20, 2)


def test_all_transformers_can_be_saved() -> None:
    assert sorted(transformers.NAMES) == sorted(transform.__all__)


def examples() -> list[Any]:
    return [
        transform.StripFunctionTags(),
        transform.DropLabels({"NP", "PP", "Ä"}),
        transform.MapLabels({"NP": "XP", "\ud800": "y"}, unknown="?"),
        transform.MapLeaves({("saw", "VBD"): "see"}, by_parent=True),
        transform.CutDepth(None),
        transform.Binarise("left", n_siblings=2),
    ]


@pytest.mark.parametrize("place", range(6))
def test_a_transformer_comes_back(place: int, tmp_path: Path) -> None:
    transformer = examples()[place]
    save(transformer, tmp_path / "a")
    again = load(tmp_path / "a")
    assert type(again) is type(transformer)
    assert again.get_params() == transformer.get_params()
    save(again, tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == (tmp_path / "a").read_bytes()


def test_a_pipeline_with_transformers_comes_back(tmp_path: Path) -> None:
    steps = [transform.StripFunctionTags("-"), transform.DropLabels(("VP",)), transform.CutDepth(4)]
    check_comes_back(
        make_pipeline(*steps, TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge")).fit(X, Y),
        tmp_path,
    )


def test_functions_are_refused(tmp_path: Path) -> None:
    pipeline = make_pipeline(
        transform.MapLabels(str.lower), TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge")
    ).fit(X, Y)
    told = "step 'maplabels': MapLabels: mapping: a function cannot be saved, .* Use labels or a"
    with pytest.raises(InputTypeError, match=told):
        save(pipeline, tmp_path / "a")


@pytest.mark.parametrize(
    ("told", "parameters"),
    [
        ("no parameter 'new'", {"labels": ["NP"], "new": 1}),
        ("lacks 'labels'", {}),
        ("labels must be", {"labels": 3}),
        ("not a JSON object", []),
        ("a parameter cannot be", {"labels": {"function": "eval"}}),
    ],
)
def test_damage_is_told(told: str, parameters: Any, tmp_path: Path) -> None:
    save(transform.DropLabels(["NP"]), tmp_path / "a")
    change(tmp_path / "a", lambda c, a: c.update(parameters=parameters))
    with pytest.raises(ModelFileError, match=told):
        load(tmp_path / "a")

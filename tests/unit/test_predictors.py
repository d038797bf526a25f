"""The part of a saved model that predicts, loaded alone."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline

from filbert import Examples, Forest, TreePerceptron, TreeSVC, save
from filbert.errors import ModelFileError
from filbert.kernels import Linear, PartialTree, SubsetTree
from filbert.persist import load_predictor
from filbert.transform import LowerCaseLeaves
from tests.unit.test_persist import change_header

TREES = [f"(S (NP {a}) (VP {b} (PP {c})))" for a in "abc" for b in "xyz" for c in "uvw"]
NEW = [f"(S (VP {b} (PP {a})) (NP {b}))" for a in "abcd" for b in "uvwxyz"]
Y2 = np.arange(len(TREES)) % 2 == 1
Y3 = np.array(["no", "yes", "perhaps"])[np.arange(len(TREES)) % 3]
MIXED = SubsetTree().on("tree") + 0.5 * Linear().on("features")


def with_features(texts: list[str]) -> Examples:
    return Examples(tree=Forest(texts), features=np.arange(3.0 * len(texts)).reshape(-1, 3) % 5)


@pytest.mark.parametrize("y", [Y2, Y3], ids=["two classes", "three classes"])
@pytest.mark.parametrize(
    "learner",
    [
        TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge"),
        TreeSVC(PartialTree(0.3), engine="rows", random_state=0, C=1.0, loss="hinge"),
        TreePerceptron(),
        TreePerceptron(average=False, engine="online"),
        TreePerceptron(vote=True, n_epochs=2),
    ],
    ids=["factors", "rows", "averaged", "last weights", "votes"],
)
def test_it_predicts_the_same_to_the_last_bit(learner: Any, y: Any, tmp_path: Path) -> None:
    save(learner.fit(TREES, y), tmp_path / "model")
    predictor = load_predictor(tmp_path / "model", n_jobs=2)
    assert not hasattr(predictor, "fit")
    assert predictor.n_jobs == 2
    for X in (NEW, NEW[:1], []):
        expected = learner.decision_function(X)
        assert predictor.decision_function(X).tobytes() == expected.tobytes()
        assert predictor.predict(X).tolist() == learner.predict(X).tolist()
    assert predictor.classes_.tolist() == learner.classes_.tolist()


@pytest.mark.parametrize(
    "learner", [TreeSVC(MIXED, C=1.0, loss="hinge"), TreePerceptron(MIXED)], ids=["svm", "online"]
)
def test_it_predicts_examples_of_several_parts(learner: Any, tmp_path: Path) -> None:
    save(learner.fit(with_features(TREES), Y2), tmp_path / "model")
    X = with_features(NEW)
    found = load_predictor(tmp_path / "model").decision_function(X)
    assert found.tobytes() == learner.decision_function(X).tobytes()


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(LowerCaseLeaves(), TreeSVC(SubsetTree(), C=1.0, loss="hinge")),
        CalibratedClassifierCV(TreeSVC(SubsetTree(), C=1.0, loss="hinge"), cv=2),
    ],
    ids=["pipeline", "calibrated"],
)
def test_other_models_are_loaded_as_they_are(model: Any, tmp_path: Path) -> None:
    save(model.fit(Forest(TREES), Y2), tmp_path / "model")
    loaded = load_predictor(tmp_path / "model", n_jobs=1)
    assert type(loaded) is type(model)
    assert loaded.predict(Forest(NEW)).tolist() == model.predict(Forest(NEW)).tolist()


@pytest.mark.parametrize(
    "learner",
    [TreeSVC(SubsetTree(), C=1.0, loss="hinge"), TreePerceptron()],
    ids=["svm", "perceptron"],
)
@pytest.mark.parametrize("missing", ["engine", "classes_are_objects", "kernel"])
def test_a_file_with_gaps_is_told(learner: Any, missing: str, tmp_path: Path) -> None:
    path = tmp_path / "model"
    save(learner.fit(TREES, Y2), path)
    change_header(path, lambda header: header["content"].update({missing: 3}))
    with pytest.raises(ModelFileError, match="model"):
        load_predictor(path)


def test_a_perceptron_must_say_which_weights_predict(tmp_path: Path) -> None:
    path = tmp_path / "model"
    save(TreePerceptron().fit(TREES, Y2), path)
    change_header(path, lambda header: header["content"].pop("parameters"))
    with pytest.raises(ModelFileError, match="which weights predict"):
        load_predictor(path)

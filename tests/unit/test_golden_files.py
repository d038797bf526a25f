"""Files that earlier versions wrote: they load, and predict what they predicted then."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from filbert import Examples, Forest, load

GOLDEN = Path(__file__).parent.parent / "golden"
VERSIONS = [1]


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def opened(version: int, name: str) -> Any:
    return load(GOLDEN / f"v{version}-{name}.filbert")


def then(version: int) -> dict[str, Any]:
    """What was computed when the files were written."""
    expected: dict[str, Any] = json.loads((GOLDEN / f"v{version}.json").read_text("utf-8"))
    return expected


@pytest.mark.parametrize("name", ["svc", "svc-parts", "perceptron"])
def test_models_predict_the_same(version: int, name: str) -> None:
    expected = then(version)
    X: Any = Forest(expected["trees"])
    if name == "svc-parts":
        X = Examples(tree=X, features=np.array(expected["features"]))
    model = opened(version, name)
    assert model.classes_.tolist() == expected[name]["classes"]
    assert_allclose(model.decision_function(X), expected[name]["scores"], rtol=1e-12)


def test_vectorizers_transform_the_same(version: int) -> None:
    expected = then(version)
    vectorizer = opened(version, "vectorizer")
    assert vectorizer.get_feature_names_out().tolist() == expected["vectorizer"]["names"]
    rows = vectorizer.transform(expected["trees"][:2]).toarray()
    assert_allclose(rows, expected["vectorizer"]["row"], rtol=1e-12)


def test_forests_have_the_same_trees(version: int) -> None:
    assert [str(tree) for tree in opened(version, "forest")] == then(version)["trees"][:5]

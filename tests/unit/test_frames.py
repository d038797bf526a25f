"""Examples from a pandas DataFrame."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from filbert import Examples, Forest
from filbert.errors import InputTypeError, InvalidParameterError, ParseError

FRAME = pd.DataFrame(
    {
        "text": ["(a b)", "(a (b c))", "(d)"],
        "hypothesis": [*Forest(["(x)", "(y z)", "(x)"])],
        "length": [1, 0, 3],
        "score": [0.5, 0.0, -1.0],
        "is_long": [True, False, True],
        "word": pd.arrays.SparseArray([0.0, 0.0, 2.0]),
        "day": ["mon", "tue", "wed"],
    },
    index=[7, 3, 5],
)


def test_one_column_of_trees() -> None:
    X = Examples.from_frame(FRAME, trees="text")
    assert list(X.parts) == ["tree"]
    assert [str(tree) for tree in X["tree"]] == ["(a b)", "(a (b c))", "(d)"]


def test_several_columns_of_trees_and_numbers() -> None:
    X = Examples.from_frame(
        FRAME, trees=["text", "hypothesis"], features=["score", "length", "is_long"]
    )
    assert list(X.parts) == ["text", "hypothesis", "features"]
    assert [str(tree) for tree in X["hypothesis"]] == ["(x)", "(y z)", "(x)"]
    assert isinstance(X["features"], np.ndarray)
    assert X["features"].tolist() == [[0.5, 1, 1], [0, 0, 0], [-1, 3, 1]]


def test_names_of_parts() -> None:
    X = Examples.from_frame(
        FRAME, trees={"t": "text"}, features={"one": "score", "two": ["length", "score"]}
    )
    assert {name: part.shape for name, part in X.parts.items()} == {
        "t": (3,),
        "one": (3, 1),
        "two": (3, 2),
    }


def test_sparse_columns_stay_sparse() -> None:
    X = Examples.from_frame(FRAME, trees="text", features=["length", "word", "is_long"])
    assert sp.issparse(X["features"])
    assert X["features"].nnz == 5
    assert X["features"].toarray().tolist() == [[1, 0, 1], [0, 0, 0], [3, 2, 1]]
    dummies = pd.get_dummies(FRAME["day"], sparse=True)
    assert Examples.from_frame(dummies, trees=(), features=[*dummies])["features"].nnz == 3


def test_sparse_columns_that_are_mostly_something_else() -> None:
    frame = pd.DataFrame({"a": pd.arrays.SparseArray([1, 1, 5], fill_value=1)})
    X = Examples.from_frame(frame, trees=(), features="a")
    assert X["features"].toarray().tolist() == [[1], [1], [5]]


def test_trees_and_brackets_mixed() -> None:
    frame = pd.DataFrame({"t": [Forest(["(a b)"])[0], "(a c)"]})
    assert [str(t) for t in Examples.from_frame(frame, trees="t")["tree"]] == ["(a b)", "(a c)"]


@pytest.mark.parametrize(
    ("frame", "options", "error", "reason"),
    [
        (FRAME, {"trees": "parse"}, InvalidParameterError, "no column 'parse'; there are 'text'"),
        (FRAME, {"trees": "day"}, ParseError, "column 'day', sample 0.*a word without brackets"),
        (FRAME, {"trees": "length"}, InputTypeError, "column 'length', sample 0: 1 is not a tree"),
        (
            FRAME,
            {"trees": "text", "features": "day"},
            InputTypeError,
            "'day' holds .*, not numbers",
        ),
        (FRAME, {"trees": ()}, InvalidParameterError, "at least one part"),
        (FRAME, {"trees": "text", "features": {"f": []}}, InvalidParameterError, "one column"),
        (FRAME, {"trees": "text", "features": {"tree": "score"}}, InvalidParameterError, "both"),
        ([1, 2], {"trees": "text"}, InputTypeError, "expected a pandas DataFrame, got list"),
        (
            pd.DataFrame({"t": ["(a)", None]}),
            {"trees": "t"},
            InputTypeError,
            "sample 1: .* not a tree",
        ),
        (pd.DataFrame({"t": ["(a)", "(b"]}), {"trees": "t"}, ParseError, "'t', sample 1.*closed"),
        (
            pd.DataFrame({"x": [1.0, np.nan]}),
            {"trees": (), "features": "x"},
            InvalidParameterError,
            "'x' has missing or infinite values",
        ),
        (
            pd.DataFrame({"x": pd.array([1, None], dtype="Int64")}),
            {"trees": (), "features": "x"},
            InvalidParameterError,
            "'x' has missing or infinite values",
        ),
        (
            pd.DataFrame({"x": pd.arrays.SparseArray([0.0, np.inf], fill_value=0.0)}),
            {"trees": (), "features": "x"},
            InvalidParameterError,
            "'x' has missing or infinite values",
        ),
        (
            pd.DataFrame([[1, 2]], columns=["x", "x"]),
            {"trees": (), "features": "x"},
            InvalidParameterError,
            "2 columns are called 'x'",
        ),
    ],
)
def test_bad_frames(frame: Any, options: dict[str, Any], error: Any, reason: str) -> None:
    with pytest.raises(error, match=reason):
        Examples.from_frame(frame, **options)

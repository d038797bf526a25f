"""Inputs that fuzzing found."""

import io
from pathlib import Path

import pytest

from benchmarks.fault_sections import model_files
from filbert import Explanation, Forest, read_examples, read_trees
from filbert.errors import CorruptForestError, ModelFileError, ParseError
from filbert.persist import load


def test_processing_instructions_in_html_are_comments() -> None:
    with_one = b"<!DOCTYPE html><p>a</p><?html><?p x?>"
    found, same = (
        read_trees(io.BytesIO(page), format="html") for page in (with_one, with_one[:23])
    )
    assert [str(tree) for tree in found] == [str(tree) for tree in same]


def test_half_a_surrogate_pair_in_broken_json_lines() -> None:
    line = b'{"\xed\xa0\x80label": "yes'
    with pytest.raises(ParseError, match="not JSON: Unterminated string"):
        read_examples(io.BytesIO(line), format="jsonl")


def test_a_number_of_many_digits_in_an_explanation() -> None:
    with pytest.raises(ParseError, match="this is not JSON"):
        Explanation.from_json('{"format": ' + "1" * 5000 + "}")


def test_a_text_type_that_numpy_does_not_have(tmp_path: Path) -> None:
    content = model_files.unpacked(model_files.small_model())
    array = next(name for name in content if name != "header")
    (tmp_path / "file").write_bytes(model_files._declared(content, array, dtype="<U999999999"))
    with pytest.raises(ModelFileError, match="which is not allowed"):
        load(tmp_path / "file")


def test_features_of_other_trees(tmp_path: Path) -> None:
    content = model_files.unpacked(model_files.small_model("TreeFeatures"))
    content["0.columns"] = content["0.columns"][::-1].copy()
    (tmp_path / "file").write_bytes(model_files.packed(content))
    features = load(tmp_path / "file")
    with pytest.raises(CorruptForestError, match="stored features are not those of the stored"):
        features.transform(Forest(["(a (b u))"]))

"""Encode scikit-learn's Pipeline and FeatureUnion, part by part, and decode them."""

from collections.abc import Iterable
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.pipeline import FeatureUnion, Pipeline

from filbert.errors import FilbertError, InputTypeError, InvalidParameterError, ModelFileError
from filbert.persist import plain
from filbert.persist.archive import Arrays, DecodePart, EncodePart
from filbert.persist.checked import arrays_of

_LEFT_OUT = ("passthrough", "drop", None)  # what may stand in the place of an estimator


def encode_pipeline(pipeline: Pipeline, part: EncodePart) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for the steps of a pipeline.

    The cache of a pipeline (`memory`) belongs to one machine and is not kept.
    """
    entries, arrays = _encoded(pipeline.steps, part)
    return {"steps": entries, "verbose": bool(pipeline.verbose)}, arrays


def decode_pipeline(header: dict[str, Any], arrays: Arrays, part: DecodePart) -> Pipeline:
    """Return the pipeline; inconsistent content raises ModelFileError."""
    steps = _decoded(header.get("steps"), arrays, part)
    return Pipeline(steps, verbose=header.get("verbose") is True)


def encode_union(union: FeatureUnion, part: EncodePart) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for the transformers of a union."""
    entries, arrays = _encoded(union.transformer_list, part)
    weights = plain.to_json(union.transformer_weights)
    return {"steps": entries, "weights": weights, "n_jobs": union.n_jobs}, arrays


def decode_union(header: dict[str, Any], arrays: Arrays, part: DecodePart) -> FeatureUnion:
    """Return the union; inconsistent content raises ModelFileError."""
    steps = _decoded(header.get("steps"), arrays, part)
    weights, n_jobs = plain.from_json(header.get("weights")), header.get("n_jobs")
    names = {name for name, _ in steps}
    if weights is not None and not (isinstance(weights, dict) and weights.keys() <= names):
        raise ModelFileError("the weights of a union are not those of its transformers")
    if n_jobs is not None and type(n_jobs) is not int:
        raise ModelFileError("'n_jobs' is not a number")
    return FeatureUnion(steps, transformer_weights=weights, n_jobs=n_jobs)


def _encoded(
    steps: Iterable[tuple[str, Any]], part: EncodePart
) -> tuple[list[dict[str, Any]], Arrays]:
    entries: list[dict[str, Any]] = []
    arrays: Arrays = {}
    for number, (name, step) in enumerate(steps):
        if step is None or isinstance(step, str):
            entries.append({"name": name, "left_out": step})
            continue
        try:
            entry, own = part(step)
        except (InputTypeError, InvalidParameterError, NotFittedError) as error:
            raise type(error)(f"step {name!r}: {error}") from None
        entries.append({"name": name, **entry})
        arrays |= {f"{number}.{key}": array for key, array in own.items()}
    return entries, arrays


def _decoded(entries: Any, arrays: Arrays, part: DecodePart) -> list[tuple[str, Any]]:
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ModelFileError("the header does not list the steps of the pipeline")
    steps: list[tuple[str, Any]] = []
    for number, entry in enumerate(entries):
        name = entry.get("name")
        if not isinstance(name, str) or name in dict(steps) or "__" in name:
            raise ModelFileError("a step of the pipeline has no unique name")
        if "left_out" in entry:
            if entry["left_out"] not in _LEFT_OUT:
                raise ModelFileError(f"step {name!r:.60} cannot be {entry['left_out']!r:.60}")
            steps.append((name, entry["left_out"]))
            continue
        try:
            steps.append((name, part(entry, arrays_of(arrays, f"{number}."))))
        except FilbertError as error:
            reason = error.reason if isinstance(error, ModelFileError) else str(error)
            raise ModelFileError(f"step {name!r:.60}: {reason}") from None
    if not steps:
        raise ModelFileError("the pipeline has no steps")
    return steps

"""Encode a perceptron's support vectors and its log of updates, and decode them.

Replaying the log gives the same model to the last bit, so learning can continue after loading.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert.errors import FilbertError, InvalidParameterError, ModelFileError
from filbert.kernels.algebra import n_examples
from filbert.kernels.inputs import rows_for
from filbert.learners.perceptron_classifier import PerceptronClassifier
from filbert.learners.perceptron_model import ERROR_BLOCK, Log, PerceptronModel, State
from filbert.persist import parameters, rows
from filbert.persist.archive import Arrays
from filbert.persist.checked import (
    array_of,
    arrays_of,
    checked_classes,
    floats_of,
    storable_classes,
)

_SUPPORT = "support."  # prefix of the names of the support vectors' arrays
_NUMBERS = ("n_seen", "n_errors", "n_forgotten")


def encode(model: PerceptronModel) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for a model."""
    state = model.state()
    log = state.log
    if not np.isfinite(log.amount).all():
        raise InvalidParameterError("the model has weights that are not finite: train it again")
    classes, are_objects = storable_classes(model.classes)
    header: dict[str, Any] = {
        "kernel": parameters.kernel_to_json(model.kernel),
        "intercept": bool(model.intercept),
        "classes_are_objects": are_objects,
        "n_seen": log.n_seen,
        "n_errors": log.n_errors,
        "n_forgotten": state.n_forgotten,
        "widths": dict(model.widths),
    }
    arrays: Arrays = {
        "classes": classes,
        "updates.support": log.support,
        "updates.problem": log.problem,
        "updates.amount": log.amount,
        "updates.time": log.time,
        "errors": log.errors,
    }
    header["support"], parts = rows.encode(state.support, _SUPPORT)
    return header, arrays | parts


def decode(header: dict[str, Any], arrays: Arrays) -> PerceptronModel:
    """Return the model; inconsistent content raises ModelFileError."""
    try:
        kernel = parameters.kernel_from_json(header.get("kernel"))
        support = rows_for(kernel, rows.decode(header.get("support"), arrays_of(arrays, _SUPPORT)))
    except ModelFileError:
        raise
    except FilbertError as error:
        raise ModelFileError(str(error)) from None
    classes = checked_classes(array_of(arrays, "classes"), header.get("classes_are_objects"))
    n_problems = 1 if len(classes) == 2 else len(classes)
    intercept = header.get("intercept")
    if not isinstance(intercept, bool):
        raise ModelFileError("the header does not say whether there is an intercept")
    numbers = {name: _count(header, name) for name in _NUMBERS}
    log = _log(arrays, numbers["n_seen"], numbers["n_errors"])
    _check_log(log, n_problems, n_examples(support))
    state = State(support, log, numbers["n_forgotten"])
    model = PerceptronModel.of_state(kernel, classes, state, intercept=intercept)
    model.widths = _widths(header)
    return model


def decode_classifier(
    header: dict[str, Any], arrays: Arrays, n_jobs: int | None = None
) -> PerceptronClassifier:
    """Return the part that predicts; inconsistent content raises ModelFileError."""
    given = header.get("parameters")
    average, vote = map((given if isinstance(given, dict) else {}).get, ("average", "vote"))
    if not isinstance(average, int) or not isinstance(vote, int):  # True, or 1
        raise ModelFileError("the parameters do not say which weights predict")
    model = decode(header, arrays)
    return PerceptronClassifier(model, engine_of(header), bool(average), bool(vote), n_jobs)


def engine_of(header: dict[str, Any]) -> str:
    """Return the engine that trained the model."""
    engine = header.get("engine")
    if engine not in ("factors", "online"):
        raise ModelFileError("the header does not say which engine trained the model")
    return str(engine)


def _widths(header: dict[str, Any]) -> dict[str, int]:
    widths = header.get("widths")
    if not isinstance(widths, dict) or not all(type(n) is int and n >= 0 for n in widths.values()):
        raise ModelFileError("the header does not say how many features dense vectors have")
    return widths


def _count(header: dict[str, Any], name: str) -> int:
    value = header.get(name)
    if type(value) is not int or not 0 <= value < 2**63:
        raise ModelFileError(f"{name!r} is not a number of examples")
    return value


def _log(arrays: Arrays, n_seen: int, n_errors: int) -> Log:
    amount = array_of(arrays, "updates.amount")
    n = len(amount)
    n_blocks = -(-n_seen // ERROR_BLOCK)
    return Log(
        _unsigned(arrays, "updates.support", n, np.uint32),
        _unsigned(arrays, "updates.problem", n, np.uint32),
        floats_of(arrays, "updates.amount", (n,)),
        _unsigned(arrays, "updates.time", n, np.uint64),
        _unsigned(arrays, "errors", n_blocks, np.uint32),
        n_seen,
        n_errors,
    )


def _unsigned(arrays: Arrays, name: str, n: int, dtype: Any) -> NDArray[Any]:
    array = array_of(arrays, name)
    if array.dtype != dtype or array.shape != (n,):
        raise ModelFileError(f"the array {name!r} does not have {n:,} numbers from 0")
    return array


def _check_log(log: Log, n_problems: int, n_support: int) -> None:
    """Check that the log adds support vectors one after another, at times that never decrease."""
    time = log.time.astype(np.float64)
    right = (
        np.array_equal(np.unique(log.support), np.arange(n_support))
        and (np.diff(np.maximum.accumulate(log.support.astype(np.int64)), prepend=-1) <= 1).all()
        and (log.problem < n_problems).all()
        and (log.amount != 0).all()
        and (np.diff(time, prepend=1.0) >= 0).all()
        and (time <= log.n_seen).all()
        and int(log.errors.sum(dtype=np.uint64)) == log.n_errors <= log.n_seen
    )
    if not right:
        raise ModelFileError("the log of updates does not fit the support vectors")

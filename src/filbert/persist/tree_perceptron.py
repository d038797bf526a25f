"""Encode a fitted TreePerceptron as a header and arrays, and decode it."""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from filbert.errors import FilbertError, ModelFileError
from filbert.learners.perceptron import TreePerceptron
from filbert.persist import parameters, perceptrons
from filbert.persist.archive import Arrays
from filbert.persist.checked import kernel_error_of


def encode(perceptron: TreePerceptron) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for a fitted estimator."""
    check_is_fitted(perceptron)
    own = {"parameters": parameters.to_json(perceptron)}
    perceptron.check_parameters()
    header, arrays = perceptrons.encode(perceptron.model_)
    names = ("engine", "engine_reason", "kernel_error")
    training = {name: getattr(perceptron, f"{name}_") for name in names}
    return header | own | training, arrays


def decode(header: dict[str, Any], arrays: Arrays) -> TreePerceptron:
    """Return the estimator; inconsistent content raises ModelFileError."""
    try:
        perceptron = TreePerceptron(
            **parameters.from_json(TreePerceptron, header.get("parameters"))
        )
        perceptron.check_parameters()
    except FilbertError as error:
        raise ModelFileError(str(error)) from None
    reason = header.get("engine_reason")
    if not isinstance(reason, str):
        raise ModelFileError("the reason for the engine is not text")
    model = perceptrons.decode(header, arrays)
    perceptron._take(model, perceptrons.engine_of(header), reason, kernel_error_of(header))
    return perceptron

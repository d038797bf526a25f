"""Encode a fitted KernelMatrix as a header and arrays, and decode it."""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from filbert.errors import FilbertError, ModelFileError
from filbert.examples import feature_names_of
from filbert.kernels.algebra import n_examples
from filbert.kernels.inputs import rows_for
from filbert.learners.kernel_matrix import KernelMatrix
from filbert.persist import parameters, rows
from filbert.persist.archive import Arrays
from filbert.persist.checked import arrays_of

_EXAMPLES = "examples."  # prefix of the names of the training examples' arrays


def encode(matrix: KernelMatrix) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for a fitted transformer."""
    check_is_fitted(matrix)
    matrix.check_parameters()
    entries, arrays = rows.encode(matrix.examples_, _EXAMPLES)
    header = {
        "parameters": parameters.to_json(matrix),
        "kernel": parameters.kernel_to_json(matrix.kernel_),
        "examples": entries,
    }
    return header, arrays


def decode(header: dict[str, Any], arrays: Arrays) -> KernelMatrix:
    """Return the transformer; inconsistent content raises ModelFileError."""
    try:
        matrix = KernelMatrix(**parameters.from_json(KernelMatrix, header.get("parameters")))
        matrix.check_parameters()
        kernel = parameters.kernel_from_json(header.get("kernel"))
        examples = rows.decode(header.get("examples"), arrays_of(arrays, _EXAMPLES))
        rows_for(kernel, examples)
    except ModelFileError:
        raise
    except FilbertError as error:
        raise ModelFileError(str(error)) from None
    if n_examples(examples) == 0:
        raise ModelFileError("there are no training examples")
    matrix._take(kernel, examples, feature_names_of(examples))
    return matrix

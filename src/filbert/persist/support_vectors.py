"""Encode weighted support vectors and their kernel as a header and arrays, and decode them."""

from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from filbert.engine.plan import EngineName
from filbert.errors import FilbertError, InvalidParameterError, ModelFileError
from filbert.examples import Examples
from filbert.forest import Forest
from filbert.kernels import Kernel, TreeKernel
from filbert.kernels.algebra import n_examples
from filbert.kernels.inputs import rows_for
from filbert.model import SupportVectorModel
from filbert.persist import parameters, rows
from filbert.persist.archive import Arrays
from filbert.persist.checked import array_of, arrays_of, checked_classes, floats_of
from filbert.predictors import LogisticClassifier, SupportVectorClassifier, SupportVectorRegressor

_SUPPORT = "support."  # prefix of the names of the support vectors' arrays


def encode(model: SupportVectorModel) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for weighted support vectors and their kernel."""
    kernel: Any = model.kernel
    if not isinstance(kernel, Kernel):
        raise InvalidParameterError(
            f"a model with the kernel {kernel!r} cannot be saved: a file holds no code. "
            "Use Filbert's kernels, or sums or products of them."
        )
    if not (np.isfinite(model.coef).all() and np.isfinite(model.intercept).all()):
        raise InvalidParameterError("the model has weights that are not finite: train it again")
    header: dict[str, Any] = {"kernel": parameters.kernel_to_json(kernel)}
    arrays = {"coef": model.coef, "intercept": model.intercept}
    if isinstance(kernel, TreeKernel) and model.is_of_trees:
        forest = kernel.trees_of(model.support).to_arrays()
        return header, arrays | {_SUPPORT + name: array for name, array in forest.items()}
    header["support"], parts = rows.encode(model.support, _SUPPORT)
    return header, arrays | parts


def decode(header: dict[str, Any], arrays: Arrays) -> SupportVectorModel:
    """Return the weighted support vectors; inconsistent content raises ModelFileError."""
    try:
        kernel = parameters.kernel_from_json(header.get("kernel"))
        support = _support(kernel, header, arrays)
        n_problems = len(array_of(arrays, "intercept"))
        intercept = floats_of(arrays, "intercept", (n_problems,))
        coef = floats_of(arrays, "coef", (n_problems, n_examples(support)))
        return SupportVectorModel(kernel, support, coef, intercept)
    except ModelFileError:
        raise
    except FilbertError as error:  # such as norms beyond float64
        raise ModelFileError(str(error)) from None


def decode_classifier(
    header: dict[str, Any], arrays: Arrays, n_jobs: int | None = None
) -> SupportVectorClassifier:
    """Return the part of a TreeSVC that predicts; inconsistent content raises ModelFileError."""
    return SupportVectorClassifier(*_predictor_parts(header, arrays, n_jobs))


def decode_logistic(
    header: dict[str, Any], arrays: Arrays, n_jobs: int | None = None
) -> LogisticClassifier:
    """Return the part of a TreeLogisticRegression that predicts."""
    return LogisticClassifier(*_predictor_parts(header, arrays, n_jobs))


def decode_regressor(
    header: dict[str, Any], arrays: Arrays, n_jobs: int | None = None
) -> SupportVectorRegressor:
    """Return the part of a TreeSVR or TreeRanker that predicts."""
    model = decode(header, arrays)
    if len(model.intercept) != 1:
        raise ModelFileError(f"a regression does not have {len(model.intercept)} models")
    return SupportVectorRegressor(model, _engine_of(header), n_jobs)


def _engine_of(header: dict[str, Any]) -> EngineName:
    engine: EngineName = header.get("engine", "factors")
    if engine not in get_args(EngineName):
        raise ModelFileError("the header does not say how kernels were computed")
    return engine


def _predictor_parts(
    header: dict[str, Any], arrays: Arrays, n_jobs: int | None
) -> tuple[SupportVectorModel, EngineName, int | None, NDArray[Any]]:
    """Return the attributes of a SupportVectorClassifier."""
    model = decode(header, arrays)
    n_classes = len(array_of(arrays, "classes"))
    if len(model.intercept) != (1 if n_classes == 2 else n_classes):
        raise ModelFileError(f"{n_classes} classes do not have {len(model.intercept)} models")
    classes = checked_classes(array_of(arrays, "classes"), header.get("classes_are_objects"))
    return model, _engine_of(header), n_jobs, classes


def _support(kernel: Kernel, header: dict[str, Any], arrays: Arrays) -> Any:
    if isinstance(kernel, TreeKernel) and kernel.capabilities.tree_in_core:
        trees = Forest.from_arrays(arrays_of(arrays, _SUPPORT))
        part = kernel.part
        return trees if part is None else Examples._of({part: trees})
    return rows_for(kernel, rows.decode(header.get("support"), arrays_of(arrays, _SUPPORT)))

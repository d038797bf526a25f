"""The scikit-learn estimators that files may hold. This module does not import scikit-learn."""

from importlib import import_module
from typing import Any, NamedTuple


class Part(NamedTuple):
    """Where an estimator is defined, and the axes of its fitted arrays."""

    module: str
    arrays: dict[str, tuple[str, ...]]
    has_classes: bool = False


_LINEAR = {"coef_": ("problems", "features"), "intercept_": ("problems",)}

# Files name an estimator. The name is looked up only in this table.
PARTS = {
    "LinearSVC": Part("sklearn.svm", _LINEAR, has_classes=True),
    "LogisticRegression": Part("sklearn.linear_model", _LINEAR, has_classes=True),
    "StandardScaler": Part(
        "sklearn.preprocessing", dict.fromkeys(("mean_", "var_", "scale_"), ("features",))
    ),
    "MinMaxScaler": Part(
        "sklearn.preprocessing",
        dict.fromkeys(("min_", "scale_", "data_min_", "data_max_", "data_range_"), ("features",)),
    ),
    "MaxAbsScaler": Part(
        "sklearn.preprocessing", dict.fromkeys(("scale_", "max_abs_"), ("features",))
    ),
    "Normalizer": Part("sklearn.preprocessing", {}),
    "Binarizer": Part("sklearn.preprocessing", {}),
    "TfidfTransformer": Part("sklearn.feature_extraction.text", {"idf_": ("features",)}),
    "TruncatedSVD": Part(
        "sklearn.decomposition",
        {
            "components_": ("components", "features"),
            "explained_variance_": ("components",),
            "explained_variance_ratio_": ("components",),
            "singular_values_": ("components",),
        },
    ),
    "SelectKBest": Part(
        "sklearn.feature_selection", dict.fromkeys(("scores_", "pvalues_"), ("features",))
    ),
    "SelectPercentile": Part(
        "sklearn.feature_selection", dict.fromkeys(("scores_", "pvalues_"), ("features",))
    ),
    "VarianceThreshold": Part("sklearn.feature_selection", {"variances_": ("features",)}),
}


def is_known(model: Any) -> bool:
    """Return whether a model is exactly one of the estimators in the table."""
    kind = type(model)
    return kind.__name__ in PARTS and kind is class_of(kind.__name__)


def class_of(name: str) -> Any:
    """Return the class of an estimator in the table."""
    return getattr(import_module(PARTS[name].module), name)

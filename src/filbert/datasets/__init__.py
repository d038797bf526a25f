"""Data sets of labelled trees, made from installed or given sources."""

from filbert.datasets.one_hot import OneHotColumns
from filbert.datasets.srl import load_srl, srl_boundary
from filbert.datasets.srl_features import StandardFeatures
from filbert.datasets.stdlib import (
    DEFAULT_VERBS,
    load_stdlib_functions,
    python_function_to_brackets,
)

__all__ = [
    "DEFAULT_VERBS",
    "OneHotColumns",
    "StandardFeatures",
    "load_srl",
    "load_stdlib_functions",
    "python_function_to_brackets",
    "srl_boundary",
]

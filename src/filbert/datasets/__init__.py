"""Ready data sets: trees with labels, from what is at hand."""

from filbert.datasets.srl import load_srl, srl_boundary
from filbert.datasets.stdlib import (
    DEFAULT_VERBS,
    load_stdlib_functions,
    python_function_to_brackets,
)

__all__ = [
    "DEFAULT_VERBS",
    "load_srl",
    "load_stdlib_functions",
    "python_function_to_brackets",
    "srl_boundary",
]

"""Checks of the parameters of TreePerceptron, alone and in combination."""

from numbers import Integral
from typing import Any, NoReturn

import numpy as np

from filbert.errors import InvalidParameterError
from filbert.kernels import Kernel, SubsetTree
from filbert.kernels.algebra import is_number
from filbert.kernels.terms import check_expression, is_sum, tree_kernels
from filbert.learners.perceptron_terms import check_is_online
from filbert.learners.tolerance import check_kernel_tol
from filbert.threads import n_threads

_CHOICES = {"forget": ("oldest", "lightest"), "engine": ("auto", "online", "factors")}


def check_parameters(values: dict[str, Any]) -> None:
    """Raise InvalidParameterError if a parameter has an invalid value."""
    for name, choices in _CHOICES.items():
        if not isinstance(values[name], str) or values[name] not in choices:
            listed = ", ".join(map(repr, choices[:-1]))
            _refuse(name, values[name], f"{listed} or {choices[-1]!r}")
    for name in ("average", "vote", "fit_intercept", "shuffle"):
        if name == "shuffle" and values[name] is None:
            continue
        if not isinstance(values[name], bool | np.bool_):
            _refuse(name, values[name], "True or False")
    if not is_number(values["n_epochs"], Integral) or not 1 <= values["n_epochs"] < 2**32:
        _refuse("n_epochs", values["n_epochs"], "a positive integer")
    if not is_number(values["margin"]) or not 0 <= values["margin"] < np.inf:
        _refuse("margin", values["margin"], "a number that is not negative")
    check_kernel_tol("TreePerceptron", values["kernel_tol"])
    n_threads(values["n_jobs"])
    kernel = SubsetTree() if values["kernel"] is None else values["kernel"]
    _check_kernel(kernel)
    if values["max_nodes"] is not None:
        _check_bound(values["max_nodes"], kernel, values["engine"])


def _check_kernel(kernel: Any) -> None:
    if not isinstance(kernel, Kernel):
        _refuse("kernel", kernel, "a kernel of filbert.kernels, such as SubsetTree()")
    check_expression(kernel)
    if not is_sum(kernel):  # so it has no factors
        check_is_online(kernel)


def _check_bound(max_nodes: Any, kernel: Kernel, engine: str) -> None:
    if not is_number(max_nodes, Integral) or not 1 <= max_nodes < 2**63:
        _refuse("max_nodes", max_nodes, "a positive integer")
    if engine == "factors":
        raise InvalidParameterError(
            "TreePerceptron: max_nodes limits a model that grows online; with engine 'factors' "
            "no model grows. Use engine='auto' or 'online'."
        )
    if not tree_kernels(kernel):
        raise InvalidParameterError(
            f"TreePerceptron: max_nodes is a number of tree nodes, but {kernel!r} has no trees. "
            "Leave it at None."
        )


def _refuse(name: str, value: Any, wanted: str) -> NoReturn:
    raise InvalidParameterError(f"TreePerceptron: {name} must be {wanted}, got {value!r}")

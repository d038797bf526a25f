"""Checks of the parameters that learners in the dual have in common."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from filbert.errors import InvalidParameterError
from filbert.kernels import Kernel
from filbert.kernels.capabilities import capabilities_of
from filbert.kernels.terms import check_expression, check_is_sum
from filbert.learners.tolerance import check_kernel_tol

ENGINES = ("auto", "factors", "rows")


def check_common(owner: str, values: dict[str, Any]) -> None:
    """Raise InvalidParameterError if one of these parameters has an invalid value.

    `values` has a learner's parameters by name. Those that it does not have are not checked.
    """
    check_cost(owner, values["C"])
    check_choice(owner, "engine", values.get("engine", "auto"), ENGINES)
    if not _is_real(values["tol"]) or not 0 < values["tol"] < 1:
        raise InvalidParameterError(f"{owner}: tol must be in (0, 1), got {values['tol']!r}")
    if values["kernel_tol"] is not None:
        check_kernel_tol(owner, values["kernel_tol"])
    for name, most in (("max_iter", 2**32), ("max_memory", 2**63)):
        check_positive(owner, name, values[name], most)
    for name in ("fit_intercept", "warm_start"):
        if name in values and not isinstance(values[name], bool | np.bool_):
            raise InvalidParameterError(
                f"{owner}: {name} must be True or False, got {values[name]!r}"
            )


def check_cost(owner: str, C: Any) -> None:
    """Raise InvalidParameterError for a C that is not positive and finite."""
    if not _is_real(C) or not 0 < C < np.inf:
        raise InvalidParameterError(f"{owner}: C must be positive and finite, got {C!r}")


def check_not_negative(owner: str, name: str, value: Any) -> None:
    """Raise InvalidParameterError for a value that is not a finite number from 0."""
    if not _is_real(value) or not 0 <= value < np.inf:
        raise InvalidParameterError(f"{owner}: {name} must be 0 or positive, got {value!r}")


def check_choice(owner: str, name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise InvalidParameterError for a value that is none of the choices."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices[:-1])
        raise InvalidParameterError(
            f"{owner}: {name} must be {listed} or {choices[-1]!r}, got {value!r}"
        )


def check_positive(owner: str, name: str, value: Any, most: int) -> None:
    """Raise InvalidParameterError for a value that is neither None nor a positive integer."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if value is not None and (not whole or not 1 <= value < most):
        raise InvalidParameterError(f"{owner}: {name} must be a positive integer, got {value!r}")


def check_is_kernel(owner: str, kernel: Any) -> bool:
    """Raise InvalidParameterError for what is no kernel. Return whether it is one of Filbert's."""
    known = capabilities_of(kernel)
    if isinstance(kernel, type):
        raise InvalidParameterError(
            f"{owner}: kernel must be a kernel, but {kernel!r} is a class. Call it to get one."
        )
    if isinstance(kernel, Kernel) and (known.of != "trees" or known.in_core):
        check_expression(kernel)
        return True
    if not callable(kernel):
        raise InvalidParameterError(
            f"{owner}: kernel must be LocalPatterns, SubsetTree, Subtree or PartialTree, an "
            f"expression of kernels, or a function kernel(X, Y), got {kernel!r}"
        )
    return False


def check_kernel(owner: str, kernel: Any, engine: str) -> None:
    """Raise InvalidParameterError for a kernel that the engine does not accept."""
    if engine == "rows" and kernel is not None:
        check_is_kernel(owner, kernel)
        if capabilities_of(kernel).of == "trees" and not capabilities_of(kernel).in_core:
            raise InvalidParameterError(
                f"{owner}: {kernel!r} is not a sum over tree nodes. Wrap it in a function "
                "kernel(X, Y)."
            )
    elif kernel is not None:
        check_has_factors(
            owner,
            kernel,
            "Use engine='rows', which computes the whole kernel matrix of some thousands of "
            "examples.",
        )


def check_has_factors(owner: str, kernel: Any, way_out: str) -> None:
    """Raise InvalidParameterError for a kernel that is not a sum of kernels with factors."""
    if kernel is None:
        return
    if not check_is_kernel(owner, kernel):
        raise InvalidParameterError(
            f"{owner}: the function {kernel!r} has no factors, because only its values are known. "
            + way_out
        )
    if not kernel.capabilities.tree_in_core:
        try:
            check_is_sum(kernel, way_out)
        except InvalidParameterError as error:
            raise InvalidParameterError(f"{owner}: {error}") from None


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)

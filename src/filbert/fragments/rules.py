"""Checks of the parameters of mining."""

from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from filbert.errors import InvalidParameterError
from filbert.kernels.algebra import is_number

Search = Literal["greedy", "complete"]


def check_rules(
    *,
    max_ratio: Any,
    n_fragments: Any,
    norm_share: Any,
    criterion: Any,
    min_frequency: Any,
    search: Any,
    max_fragments: Any,
) -> None:
    """Raise InvalidParameterError if a parameter of :func:`mine` is invalid.

    Parameters
    ----------
    max_ratio, n_fragments, norm_share, criterion, min_frequency, search, max_fragments
        The parameters of :func:`mine`.

    Examples
    --------
    >>> rules = {"n_fragments": None, "norm_share": None, "criterion": "gradient"}
    >>> rules |= {"min_frequency": 3, "search": "greedy", "max_fragments": 100}
    >>> check_rules(max_ratio=0, **rules)
    Traceback (most recent call last):
        ...
    filbert.errors.InvalidParameterError: max_ratio must be a positive number, got 0
    """
    _check_choice("criterion", criterion, ("gradient", "chi2"))
    _check_choice("search", search, ("greedy", "complete"))
    if not is_number(max_ratio, Real) or not 0 < max_ratio < np.inf:
        raise InvalidParameterError(f"max_ratio must be a positive number, got {max_ratio!r}")
    if n_fragments is not None and norm_share is not None:
        raise InvalidParameterError("pass n_fragments or norm_share, not both")
    _check_count("min_frequency", min_frequency)
    _check_count("max_fragments", max_fragments)
    if n_fragments is not None:
        _check_count("n_fragments", n_fragments)
        if n_fragments > max_fragments:
            raise InvalidParameterError(
                f"n_fragments={n_fragments!r} exceeds max_fragments={max_fragments!r}"
            )
    if norm_share is not None and not (is_number(norm_share, Real) and 0 < norm_share <= 1):
        raise InvalidParameterError(f"norm_share must be in (0, 1], got {norm_share!r}")


def _check_count(name: str, value: Any) -> None:
    if not is_number(value, Integral) or not 1 <= value < 2**31:
        raise InvalidParameterError(f"{name} must be a positive integer, got {value!r}")


def _check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        known = " or ".join(repr(choice) for choice in choices)
        raise InvalidParameterError(f"{name} must be {known}, got {value!r}")

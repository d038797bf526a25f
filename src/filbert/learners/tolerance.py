"""The parameter `kernel_tol` of learners on factors: the largest error of kernel values."""

from typing import Any

from filbert.errors import InvalidParameterError
from filbert.kernels.algebra import is_number


def check_kernel_tol(owner: str, value: Any) -> None:
    """Raise InvalidParameterError if a value is not a relative error in [0, 1)."""
    if not is_number(value) or not 0 <= value < 1:
        raise InvalidParameterError(f"{owner}: kernel_tol must be in [0, 1), got {value!r}")

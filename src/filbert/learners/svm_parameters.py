"""Checks of the parameters of TreeSVC, alone and in combination."""

from typing import Any

from filbert.errors import InvalidParameterError
from filbert.kernels import Kernel
from filbert.kernels.capabilities import capabilities_of
from filbert.kernels.terms import check_is_sum
from filbert.learners.chosen_cost import AUTO, USUAL
from filbert.learners.dual_parameters import (
    check_choice,
    check_common,
    check_is_kernel,
    check_positive,
)

_CHOICES = {
    "strategy": ("exact", "usvm", "sdag", "sdag+"),
    "loss": ("auto", "hinge", "squared_hinge"),
}


def check_parameters(values: dict[str, Any]) -> None:
    """Raise InvalidParameterError if a parameter has an invalid value."""
    chooses = isinstance(values["C"], str) and values["C"] == AUTO
    check_common("TreeSVC", {**values, "C": USUAL if chooses else values["C"]})
    for name, choices in _CHOICES.items():
        check_choice("TreeSVC", name, values[name], choices)
    check_positive("TreeSVC", "sample_size", values["sample_size"], 2**32)
    _check_kernel(values["kernel"], values["strategy"], values["engine"])
    _check_together(values)


def _check_kernel(kernel: Any, strategy: str, engine: str) -> None:
    if kernel is None:
        return
    if check_is_kernel("TreeSVC", kernel):
        _check_strategy(kernel, strategy, engine)
    elif capabilities_of(kernel).of == "trees" or not _takes_any(strategy, engine):
        raise InvalidParameterError(
            f"TreeSVC: strategy {strategy!r} needs a kernel that is a sum over tree nodes, which "
            f"SubsetTree(), Subtree() and PartialTree() are; {kernel!r} is not one. "
            + ("Wrap it in a" if strategy == "usvm" else "Use strategy='usvm', which takes any")
            + " function kernel(X, Y); with engine='rows' strategy 'exact' takes one too."
        )


def _takes_any(strategy: str, engine: str) -> bool:
    """Return whether any kernel is accepted, because only its values are needed."""
    return strategy == "usvm" or engine == "rows"


def _check_strategy(kernel: Kernel, strategy: str, engine: str) -> None:
    """Raise an error that names suitable strategies if this one does not accept the kernel."""
    if kernel.capabilities.tree_in_core or _takes_any(strategy, engine):
        return
    try:
        check_is_sum(
            kernel,
            "Use strategy='usvm', which accepts any kernel; or, for some thousands of examples, "
            "engine='rows', which computes the whole kernel matrix.",
        )
    except InvalidParameterError as error:
        raise InvalidParameterError(f"TreeSVC: strategy {strategy!r}: {error}") from None
    if strategy != "exact":
        raise InvalidParameterError(
            f"TreeSVC: strategy {strategy!r} is for one tree kernel, SubsetTree, Subtree or "
            f"PartialTree; {kernel!r} is not one. Use strategy='exact' or 'usvm'."
        )


def _check_together(values: dict[str, Any]) -> None:
    strategy = values["strategy"]
    if strategy == "exact":
        if values["sample_size"] is not None:
            raise InvalidParameterError(
                "TreeSVC: strategy 'exact' takes no samples. Leave sample_size at None, or use "
                "strategy='sdag+'."
            )
        return
    only = {"engine": "auto", "warm_start": False, "kernel_tol": None}
    if values["loss"] != "auto":
        only["loss"] = "hinge"
    for name, value in only.items():
        if values[name] != value:
            raise InvalidParameterError(
                f"TreeSVC: {name}={values[name]!r} is for strategy 'exact'; {strategy!r} allows "
                f"only {name}={value!r}. Use strategy='exact'."
            )

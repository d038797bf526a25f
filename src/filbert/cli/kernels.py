"""Kernels from the options of the command line."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from filbert.cli.options import KERNEL
from filbert.errors import InvalidParameterError

if TYPE_CHECKING:
    from filbert.kernels import Kernel, TreeKernel

LearningKernel = Annotated[
    Literal["patterns", "stk", "sst", "st", "ptk"] | None,
    typer.Option(
        "--kernel",
        help="Tree kernel: local patterns (patterns), subset trees (stk, also called sst), "
        "subtrees (st) or partial trees (ptk). By default patterns for classes, and stk for "
        "--loss logistic, for other tasks and for cutting planes.",
        rich_help_panel=KERNEL,
        show_default=False,
    ),
]
Decay = Annotated[
    float | None,
    typer.Option(
        "--decay",
        help="Weight of large fragments, above 0 and at most 1. By default 0.7 for patterns, 0.4 "
        "for the others.",
        rich_help_panel=KERNEL,
        show_default=False,
    ),
]
KernelName = Annotated[
    Literal["patterns", "stk", "sst", "st", "ptk"],
    typer.Option(
        "--kernel",
        help="Tree kernel: local patterns (patterns), subset trees (stk, also called sst), "
        "subtrees (st) or partial trees (ptk).",
        rich_help_panel=KERNEL,
    ),
]
Vectors = Annotated[
    Literal["ignore", "linear", "poly"],
    typer.Option(
        "--vectors",
        help="Kernel of the feature vectors, which is added to that of the trees.",
        rich_help_panel=KERNEL,
    ),
]


@dataclass(frozen=True)
class KernelDetails:
    """The parameters of a tree kernel besides its name and decay."""

    include_leaves: Annotated[
        bool | None,
        typer.Option(
            "--include-leaves/--no-include-leaves",
            help="Count leaves as fragments (stk). By default they do not count.",
            rich_help_panel=KERNEL,
        ),
    ] = None
    depth_decay: Annotated[
        float | None,
        typer.Option(
            help="Decay per node, above 0 and at most 1 (ptk). 0.4 by default.",
            rich_help_panel=KERNEL,
        ),
    ] = None
    penalty: Annotated[
        Literal["span", "gaps"] | None,
        typer.Option(
            help="Penalty for gaps between children (ptk): span, that of the paper and the "
            "default, or gaps, that of SVM-light-TK.",
            rich_help_panel=KERNEL,
        ),
    ] = None
    max_subsequence: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Longest subsequence of children to count (ptk). Without a limit by default.",
            rich_help_panel=KERNEL,
        ),
    ] = None
    normalize: Annotated[
        bool,
        typer.Option(
            "--normalize/--no-normalize",
            help="Divide by the norms of both trees, so that equal trees have the kernel 1.",
            rich_help_panel=KERNEL,
        ),
    ] = True


def tree_kernel(name: str, decay: float | None, details: KernelDetails) -> "TreeKernel":
    """Return the kernel of a name, and set those of its other parameters that are given."""
    kinds = _kinds()
    if name not in kinds:
        raise InvalidParameterError(f"--kernel must be one of {', '.join(kinds)}, got {name!r}")
    return _with_details(kinds[name], decay, details)


def own_kernel(learner: Any, decay: float | None, details: KernelDetails) -> "TreeKernel":
    """Return the kernel that a learner has by default, with the parameters that are given."""
    return _with_details(learner._default_kernel(), decay, details)


def short_name(kernel: "TreeKernel") -> str:
    """Return the name of a kernel on the command line."""
    return next(name for name, kind in _kinds().items() if type(kind) is type(kernel))


def _kinds() -> dict[str, "TreeKernel"]:
    from filbert.kernels import LocalPatterns, PartialTree, SubsetTree, Subtree

    return {
        "patterns": LocalPatterns(decay=0.7, leaves=3),  # as in TreeSVC
        "stk": SubsetTree(),
        "sst": SubsetTree(),
        "st": Subtree(),
        "ptk": PartialTree(),
    }


def _with_details(
    kernel: "TreeKernel", decay: float | None, details: KernelDetails
) -> "TreeKernel":
    kernel.set_params(normalize=details.normalize)
    if decay is not None:
        kernel.set_params(decay=decay)
    for parameter in ("include_leaves", "depth_decay", "penalty", "max_subsequence"):
        value = getattr(details, parameter)
        if value is None:
            continue
        if not hasattr(kernel, parameter):
            owner = "stk" if parameter == "include_leaves" else "ptk"
            option = parameter.replace("_", "-")
            raise InvalidParameterError(
                f"--{option} is for {owner}, not for {short_name(kernel)}: use --kernel {owner}"
            )
        kernel.set_params(**{parameter: value})
    return kernel


def kernel_of_parts(kernel: "TreeKernel", X: Any, vectors: str) -> "Kernel":
    """Return the sum of a tree kernel over all trees of the examples, and of their vectors."""
    from filbert.examples import Examples
    from filbert.forest import Forest
    from filbert.kernels import EachPart, Kernel, Linear, Polynomial

    if not isinstance(X, Examples):
        return kernel
    trees = [name for name, part in X.parts.items() if isinstance(part, Forest)]
    whole: Kernel = EachPart(kernel, tuple(trees)) if len(trees) > 1 else kernel.on(trees[0])
    for name in X.parts:
        if name not in trees:
            own = Linear() if vectors == "linear" else Polynomial()
            whole = whole + own.on(name)
    return whole

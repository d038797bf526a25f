"""The kernels of the paper by its names, for examples with the parts `tree` and `features`."""

from filbert.kernels import Kernel, Linear, Polynomial, SubsetTree

VECTORS: dict[str, Kernel] = {
    "LINEAR": Linear(part="features"),
    "POLY2": Polynomial(2, part="features"),
    "POLY3": Polynomial(3, part="features"),
}
NAMES = ["TK", *VECTORS, *(f"TK+{name}" for name in VECTORS)]
DECAYS = [round(0.1 * i, 1) for i in range(1, 11)]


def has_trees(name: str) -> bool:
    """Whether the kernel depends on the decay."""
    return name.startswith("TK")


def kernel(name: str, decay: float) -> Kernel:
    """Return one of them: terms are normalised, and count the same."""
    tree = SubsetTree(decay, part="tree")
    if name == "TK":
        return tree
    return tree + VECTORS[name.removeprefix("TK+")] if has_trees(name) else VECTORS[name]

"""What a section of the benchmark gives, and how much of it is asked for."""

from benchmarks.sections import Options, Row, Section

__all__ = [
    "COMPOSITIONS",
    "DECAYS",
    "MODULE",
    "SIGNS",
    "WAYS",
    "D",
    "Options",
    "Row",
    "Section",
    "chosen",
]

MODULE = "benchmarks.paper_zanzotto2012"  # what processes of their own run

D = 8192
DECAYS = (0.2, 0.4, 0.6, 0.8, 1.0)
COMPOSITIONS = ("product", "convolution")
SIGNS = "product, signs"  # labels' vectors of random signs, which are not the paper's
WAYS = ("product", SIGNS, "convolution")


def chosen(way: str) -> dict[str, str]:
    """The parameters of an embedding that a way stands for."""
    composition, _, signs = way.partition(", ")
    return {"composition": composition, "label_vectors": signs or "normal"}

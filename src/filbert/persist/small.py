"""Encode what needs few lines: kernels, single trees, single fragments, and results of tests."""

from dataclasses import asdict, fields
from typing import Any

from filbert.errors import FilbertError, ModelFileError
from filbert.forest import Forest
from filbert.fragments import Fragment
from filbert.kernels import Kernel
from filbert.metrics.randomization import RandomizationResult
from filbert.persist import forests, parameters, plain
from filbert.persist.archive import Arrays
from filbert.tree import Tree


def encode_kernel(kernel: Kernel) -> tuple[dict[str, Any], Arrays]:
    """Return the header for a kernel."""
    return {"kernel": parameters.kernel_to_json(kernel)}, {}


def decode_kernel(header: dict[str, Any], arrays: Arrays) -> Kernel:
    """Return the kernel; inconsistent content raises ModelFileError."""
    try:
        return parameters.kernel_from_json(header.get("kernel"))
    except FilbertError as error:
        raise ModelFileError(str(error)) from None


def encode_tree(tree: Tree) -> tuple[dict[str, Any], Arrays]:
    """Return the arrays of a forest of one tree."""
    return forests.encode(Forest.from_trees([tree]))


def decode_tree(header: dict[str, Any], arrays: Arrays) -> Tree:
    """Return the tree; inconsistent content raises ModelFileError."""
    forest = forests.decode(header, arrays)
    if len(forest) != 1:
        raise ModelFileError(f"it holds {len(forest):,} trees, not one")
    return forest[0]


def encode_fragment(fragment: Fragment) -> tuple[dict[str, Any], Arrays]:
    """Return the header for one fragment."""
    return {name: list(values) for name, values in asdict(fragment).items()}, {}


def decode_fragment(header: dict[str, Any], arrays: Arrays) -> Fragment:
    """Return the fragment; inconsistent content raises ModelFileError."""
    labels, parents, open = (header.get(name) for name in ("labels", "parents", "open"))
    if not (isinstance(labels, list) and isinstance(parents, list) and isinstance(open, list)):
        raise ModelFileError("the header does not have the nodes of a fragment")
    right = (
        len(labels) == len(parents) == len(open) > 0
        and all(isinstance(label, str) for label in labels)
        and all(isinstance(flag, bool) for flag in open)
        and all(type(p) is int and (0 <= p < i or p == -1 == i - 1) for i, p in enumerate(parents))
    )
    if not right:
        raise ModelFileError("the nodes of the fragment are inconsistent")
    return Fragment(tuple(labels), tuple(parents), tuple(open))


def encode_test(result: RandomizationResult) -> tuple[dict[str, Any], Arrays]:
    """Return the header for the result of a randomization test."""
    return {name: plain.to_json(value) for name, value in asdict(result).items()}, {}


def decode_test(header: dict[str, Any], arrays: Arrays) -> RandomizationResult:
    """Return the result; inconsistent content raises ModelFileError."""
    values: dict[str, Any] = {}
    for field in fields(RandomizationResult):
        value = plain.from_json(header.get(field.name))
        if not isinstance(value, int | float):
            raise ModelFileError(f"{field.name!r} is not a number")
        values[field.name] = bool(value) if field.name == "exact" else value
    return RandomizationResult(**values)

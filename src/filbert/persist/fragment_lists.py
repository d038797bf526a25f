"""Encode Fragments and MinedFragments as a header and arrays, and decode them."""

from typing import Any, get_args

import numpy as np

from filbert.errors import FilbertError, ModelFileError
from filbert.forest import Forest
from filbert.fragments import Criterion, Fragments, MinedFragments
from filbert.kernels import TreeKernel
from filbert.persist import parameters
from filbert.persist.archive import Arrays
from filbert.persist.checked import array_of, arrays_of, floats_of, integers_of

_FOREST = "fragments."  # prefix of the names of the fragments' arrays


def encode(fragments: Fragments) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for fragments and their kernel."""
    forest = {_FOREST + name: array for name, array in fragments.trees.to_arrays().items()}
    header = {"kernel": parameters.kernel_to_json(fragments.kernel)}
    return header, {**forest, "open": fragments.open}


def decode(header: dict[str, Any], arrays: Arrays) -> Fragments:
    """Return the fragments; inconsistent content raises ModelFileError."""
    try:
        kernel = parameters.kernel_from_json(header.get("kernel"))
        if not isinstance(kernel, TreeKernel):
            raise ModelFileError("the kernel of the fragments is not a tree kernel")
        trees = Forest.from_arrays(arrays_of(arrays, _FOREST))
        return Fragments(kernel, trees, array_of(arrays, "open"))
    except ModelFileError:
        raise
    except FilbertError as error:
        raise ModelFileError(str(error)) from None


def encode_mined(mined: MinedFragments) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for fragments with weights."""
    header, arrays = encode(mined.fragments)
    header["criterion"] = mined.criterion
    values = {name: getattr(mined, name) for name in ("weight", "relevance", "frequency")}
    figures = np.array([mined.base, mined.threshold, mined.norm])
    return header, {**arrays, **values, "figures": figures}


def decode_mined(header: dict[str, Any], arrays: Arrays) -> MinedFragments:
    """Return fragments with weights; inconsistent content raises ModelFileError."""
    fragments, criterion = decode(header, arrays), header.get("criterion")
    if criterion is None or criterion not in get_args(Criterion):
        raise ModelFileError("the header does not say how the fragments were chosen")
    base, threshold, norm = floats_of(arrays, "figures", (3,)).tolist()
    n = len(fragments)
    return MinedFragments(
        fragments,
        floats_of(arrays, "weight", (n,)),
        floats_of(arrays, "relevance", (n,)),
        integers_of(arrays, "frequency", n),
        base=base,
        threshold=threshold,
        norm=norm,
        criterion=criterion,
    )

"""Join the examples of several parts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from filbert.arrays import is_sparse
from filbert.errors import InvalidParameterError
from filbert.examples import Examples, check_feature_names
from filbert.forest import Forest


def joined(blocks: Sequence[Any]) -> Any:
    """Return the rows of all blocks, in order: forests, examples, arrays or sparse matrices."""
    first = blocks[0]
    if len(blocks) == 1:
        return first
    if isinstance(first, Forest):
        return Forest.concat(blocks)
    if isinstance(first, Examples):
        return _joined_examples(first, blocks)
    widths = sorted({block.shape[1:] for block in blocks})
    if len(widths) > 1:
        shown = " and ".join(str(width[0]) for width in widths[:2])
        raise InvalidParameterError(
            f"some parts of the corpus have {shown} columns: give all parts the same columns, "
            "such as by n_features="
        )
    if is_sparse(first):
        from scipy.sparse import vstack  # noqa: PLC0415

        return vstack(blocks, format="csr")
    return np.concatenate(blocks)


def _joined_examples(first: Examples, blocks: Sequence[Any]) -> Examples:
    for block in blocks:
        if block.parts.keys() != first.parts.keys():
            raise InvalidParameterError(
                f"some parts of the corpus have {', '.join(first.parts)}, others "
                f"{', '.join(block.parts)}: read all with the same columns"
            )
        check_feature_names(first.feature_names, block)
    parts = {name: joined([block[name] for block in blocks]) for name in first.parts}
    return Examples._of(parts, None, first.feature_names)

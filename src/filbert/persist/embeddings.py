"""Encode a DistributedTreeEmbedding, which is only its parameters, as a header, and decode it."""

from typing import Any

import numpy as np

from filbert.errors import FilbertError, ModelFileError
from filbert.learners.embedding import DistributedTreeEmbedding
from filbert.persist import parameters
from filbert.persist.archive import Arrays


def encode(embedding: DistributedTreeEmbedding) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for an embedding."""
    embedding.check_parameters()
    values = embedding.get_params()
    named = DistributedTreeEmbedding(**{**values, "dtype": np.dtype(embedding.dtype).name})
    return {"parameters": parameters.to_json(named)}, {}


def decode(header: dict[str, Any], arrays: Arrays) -> DistributedTreeEmbedding:
    """Return the embedding; inconsistent content raises ModelFileError."""
    try:
        values = parameters.from_json(DistributedTreeEmbedding, header.get("parameters"))
        embedding = DistributedTreeEmbedding(**values)
        embedding.check_parameters()
    except FilbertError as error:
        raise ModelFileError(str(error)) from None
    embedding._take_gamma()
    return embedding

"""Types of arrays, and sparse matrices.

SciPy imports ``scipy.sparse`` when it is first used. Filbert writes ``import scipy`` and
``scipy.sparse.csr_array``, so that programs without sparse matrices do not wait for it.
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.uint32]


def is_sparse(X: Any) -> bool:
    """Return whether X is a sparse matrix or array of SciPy."""
    sparse = sys.modules.get("scipy.sparse")  # without it, there are no sparse matrices
    return sparse is not None and bool(sparse.issparse(X))

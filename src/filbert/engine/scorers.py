"""What scores the terms of a kernel: each in the way that is best for it."""

from typing import Any

from sklearn.base import clone

from filbert.arrays import FloatArray
from filbert.engine.matrix_scorer import MatrixScorer
from filbert.engine.tree_scorer import TreeScorer
from filbert.engine.vector_scorer import ConstantScorer, VectorScorer
from filbert.kernels.terms import Kind, Term

Scorer = TreeScorer | VectorScorer | ConstantScorer | MatrixScorer

_SCORERS: dict[Kind, Any] = {
    "trees": TreeScorer,
    "vectors": VectorScorer,
    "constant": ConstantScorer,
    "matrix": MatrixScorer,
}


def scorer_of(term: Term, support: Any, coef: FloatArray) -> Scorer:
    """Return what scores by one term of a kernel.

    Parameters
    ----------
    term : Term
        Of the support vectors.
    support : the support vectors
    coef : ndarray of shape (n_problems, n)
    """
    scale = term.scale.reshape(max(1, len(term.parts)), -1)
    own = (coef[:, None, :] * scale).reshape(len(coef), scale.size)
    kernel = term.kernel
    if term.kind in ("trees", "vectors") and kernel.part is not None:
        kernel = clone(kernel).set_params(part=None)
    scorer: Scorer = _SCORERS[term.kind](kernel, term.rows_of(support), own)
    return scorer

"""The result of mining: fragments with their weights."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from filbert.arrays import FloatArray
from filbert.fragments.data import Fragments

Criterion = Literal["gradient", "chi2"]


@dataclass(frozen=True)
class MinedFragments:
    """The heaviest fragments of a model, sorted by relevance, then by text.

    Attributes
    ----------
    fragments : Fragments
    weight : ndarray of shape (n,)
        The component of the model's weight vector (Pighin & Moschitti 2010, Eq. 6).
    relevance : ndarray of shape (n,)
        The criterion of the choice: the weight, or chi-square.
    frequency : ndarray of int of shape (n,)
        The number of nodes of the support vectors at which the fragment is rooted.
    base : float
        The paper's B: the relevance of the best base fragment.
    threshold : float
        B / L: less relevant fragments were left out.
    norm : float
        The norm of the model's weight vector over all existing fragments.

    Examples
    --------
    >>> from filbert import TreeSVC
    >>> from filbert.kernels import SubsetTree
    >>> X = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q (VP b) (NP a))", "(Q (VP c) (NP d))"]
    >>> clf = TreeSVC(SubsetTree(), C=1.0, loss="hinge", random_state=0).fit(X, [0, 0, 1, 1])
    >>> from filbert.fragments import mine
    >>> mined = mine(clf, n_fragments=2, min_frequency=2)
    >>> mined.n, mined.frequency
    (2, array([2, 2]))
    """

    fragments: Fragments
    weight: FloatArray
    relevance: FloatArray
    frequency: NDArray[np.int64]
    base: float
    threshold: float
    norm: float
    criterion: Criterion = "gradient"

    @property
    def n(self) -> int:
        """The number of fragments."""
        return len(self.fragments)

    @property
    def norm_in(self) -> float:
        """The norm of the part of the weight vector that these fragments span."""
        return float(np.sqrt(np.sum(self.weight**2)))

    @property
    def norm_share(self) -> float:
        """The share of the norm in these fragments; 1 if the norm is 0."""
        return self.norm_in / self.norm if self.norm > 0 else 1.0

    @property
    def bounds(self) -> tuple[float, float]:
        """The paper's bounds of `norm_in`: B/L and B, times the root of the number of fragments.

        The upper bound assumes, as the paper does, that no fragment is heavier than the best base
        fragment. Chi-square has no such bounds: then they are 0 and `norm`.
        """
        if self.criterion == "chi2":
            return 0.0, self.norm
        root = float(np.sqrt(self.n))
        return self.threshold * root, self.base * root

    def first(self, n: int) -> "MinedFragments":
        """Return the `n` most relevant fragments.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        MinedFragments
            All of them if there are fewer than `n`.
        """
        return MinedFragments(
            self.fragments[:n],
            self.weight[:n],
            self.relevance[:n],
            self.frequency[:n],
            self.base,
            self.threshold,
            self.norm,
            self.criterion,
        )

    def __repr__(self) -> str:
        head = f"{self.n:,} fragments with {self.norm_share:.1%} of the norm {self.norm:.6g}"
        texts = self.fragments[:10].texts()
        rows = [
            f"  {weight:+.4g}  {n:,}x  {text}"
            for weight, n, text in zip(self.weight, self.frequency, texts, strict=False)
        ]
        return "\n".join([head, *rows, *(["  …"] if self.n > 10 else [])])

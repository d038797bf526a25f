"""The model that learners produce: weighted support vectors that score examples."""

from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from filbert.arrays import FloatArray
from filbert.engine.contributions import Contributions
from filbert.engine.patterns import PatternScorer
from filbert.engine.rows import KernelFunction
from filbert.engine.score_bounds import ScoreBounds
from filbert.engine.scorers import NodeScorer, Scorer, scorer_of
from filbert.engine.tree_scorer import Method, TreeScorer
from filbert.errors import InvalidParameterError
from filbert.examples import check_feature_names, feature_names_of
from filbert.kernels import Kernel
from filbert.kernels.algebra import n_examples
from filbert.kernels.capabilities import capabilities_of
from filbert.kernels.inputs import rows_for, without_others
from filbert.kernels.terms import Term, terms_to_score


@dataclass(frozen=True)
class TermScores:
    """The scores that one term of a sum adds for one part of some examples.

    Attributes
    ----------
    part : str or None
        The part's name, if it has one.
    values : ndarray of shape (n, n_problems)
    nodes : Contributions or None
        For a term of trees, the contributions of the trees' nodes to `values`.
    """

    part: str | None
    values: FloatArray
    nodes: Contributions | None = None


@dataclass(frozen=True)
class SupportVectorModel:
    """Decision functions ``sum_i coef_i K(support_i, x) + intercept``, one for each problem.

    Each term of a sum of kernels has its own scoring method. A single kernel is a sum of one term.
    Any other kernel or function scores by its matrix.

    Attributes
    ----------
    kernel : Kernel, or callable that returns an array of shape (len(X), len(Y))
    support : Forest, Examples, array or sparse matrix of n support vectors
        If Examples, only the parts that the kernel needs.
    coef : ndarray of shape (n_problems, n)
    intercept : ndarray of shape (n_problems,)
    """

    kernel: Kernel | KernelFunction
    support: Any
    coef: FloatArray
    intercept: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "support", without_others(self.kernel, self.support))
        terms = terms_to_score(self.kernel, self.support)
        scorers = [scorer_of(term, self.support, self.coef) for term in terms]
        object.__setattr__(self, "_scorers", scorers)

    @property
    def is_of_trees(self) -> bool:
        """Whether the kernel is a single tree kernel of the core, not an expression."""
        return capabilities_of(self.kernel).tree_in_core

    def decision_function(
        self, X: Any, *, method: Method = "auto", n_jobs: int | None = None
    ) -> FloatArray:
        """Score examples exactly: shape (len(X), n_problems).

        Parameters
        ----------
        X : examples of the same kind as in training
        method : {"auto", "rows", "factors", "pairs"}
            "rows" compares each tree with all support vectors at once, for few trees. "factors"
            factorises the trees together with the support vectors, for many trees. "pairs" computes
            the plain kernel matrix in blocks. All give the same values up to rounding. "auto" uses
            the fastest for the kernel and the number of trees. For many trees with PartialTree it
            tries to factorise for a part of the time that rows may take.
        n_jobs : int, optional
            Threads; the values do not depend on it.
        """
        X = self._rows(X)
        if method not in get_args(Method):
            raise InvalidParameterError(
                f"method must be 'auto', 'rows', 'pairs' or 'factors', got {method!r}"
            )
        values = np.tile(self.intercept, (n_examples(X), 1))
        if self.coef.shape[1] == 0 or len(values) == 0:
            return values
        for term, scorer in self._scored_terms(X, n_jobs):
            scores = scorer.scores(term.rows_of(X), method, n_jobs)
            scores *= term.scale.reshape(-1, 1)
            if term.parts:
                scores = scores.reshape(len(term.parts), *values.shape).sum(axis=0)
            values += scores
        return values

    def score_bounds(self, X: Any, *, n_jobs: int | None = None) -> ScoreBounds:
        """Bound the scores of examples, in less time than `decision_function` where possible.

        Many trees are scored by pruned factors if the kernel is a PartialTree. The bounds are then
        close to the scores. Otherwise they are the scores.
        """
        if not self.is_of_trees or self.coef.shape[1] == 0 or n_examples(X) == 0:
            scores = self.decision_function(X, n_jobs=n_jobs)
            return ScoreBounds(scores, scores)
        X = self._rows(X)
        [(term, scorer)] = self._scored_terms(X, n_jobs)
        assert isinstance(scorer, TreeScorer)
        return scorer.bounds(term.rows_of(X), n_jobs).shifted(self.intercept)

    def contributions(self, X: Any, *, n_jobs: int | None = None) -> Contributions:
        """Split the scores of trees exactly into contributions of nodes, for one tree kernel.

        Parameters
        ----------
        X : Forest, or sequence of trees or bracket strings
        n_jobs : int, optional
            Threads; the values do not depend on it.

        Returns
        -------
        Contributions
            They satisfy ``decision_function(X) == contributions(X).sums() + intercept`` up to
            rounding.
        """
        if capabilities_of(self.kernel).of != "trees":
            raise InvalidParameterError(
                f"contributions of nodes need a single tree kernel, but the kernel is "
                f"{self.kernel!r}: use term_scores"
            )
        X = self._rows(X)
        [(term, scorer)] = self._scored_terms(X, n_jobs)
        assert isinstance(scorer, NodeScorer)
        return scorer.contributions(term.rows_of(X), n_jobs)

    def term_scores(self, X: Any, *, n_jobs: int | None = None) -> list[TermScores]:
        """Split scores by term and part, and scores of trees also by node.

        The values and the intercept sum to ``decision_function(X)``, up to rounding.
        """
        X = self._rows(X)
        if self.coef.shape[1] == 0 or n_examples(X) == 0:
            return []
        scores = []
        for term, scorer in self._scored_terms(X, n_jobs):
            scales = term.scale.reshape(-1, n_examples(X))
            if not term.parts:
                part = getattr(term.kernel, "part", None)
                rows = term.rows_of(X)
                scores.append(_part_scores(part, scorer, rows, scales[0], n_jobs))
            for part, scale in zip(term.parts, scales, strict=bool(term.parts)):
                rows = replace(term, parts=(part,)).rows_of(X)
                scores.append(_part_scores(part, scorer, rows, scale, n_jobs))
        return scores

    def _rows(self, X: Any) -> Any:
        X = rows_for(self.kernel, X)
        check_feature_names(feature_names_of(self.support), X)
        return X

    def tree_models(self) -> list[tuple[tuple[str | None, ...], "SupportVectorModel"]]:
        """Return a model for each term of trees, together with the parts it applies to.

        The support vectors of a model of several parts are ordered by part.
        """
        if self.is_of_trees and self.kernel.part is None:  # type: ignore[union-attr]
            return [((None,), self)]
        return [
            (parts, SupportVectorModel(s.kernel, s.support, s.coef, np.zeros(len(self.coef))))
            for parts, s in self._node_scorers()
            if isinstance(s, TreeScorer)
        ]

    def pattern_scorers(self) -> list[tuple[tuple[str | None, ...], PatternScorer]]:
        """Return the scorer of each term of local patterns, together with the parts it applies to.

        The support vectors of a scorer of several parts are ordered by part.
        """
        return [(parts, s) for parts, s in self._node_scorers() if isinstance(s, PatternScorer)]

    def _node_scorers(self) -> list[tuple[tuple[str | None, ...], Any]]:
        alone = capabilities_of(self.kernel).of == "trees"
        return [
            ((None,) if alone else term.parts or (term.kernel.part,), scorer)
            for term, scorer in self._scored_terms(self.support, None)
            if isinstance(scorer, NodeScorer)
        ]

    def _scored_terms(self, X: Any, n_jobs: int | None) -> list[tuple[Term, Scorer]]:
        terms = terms_to_score(self.kernel, X, n_jobs=n_jobs)
        return list(zip(terms, self.__dict__["_scorers"], strict=True))


def _part_scores(
    part: str | None, scorer: Scorer, rows: Any, scale: FloatArray, n_jobs: int | None
) -> TermScores:
    if not isinstance(scorer, NodeScorer):
        values = scorer.scores(rows, "auto", n_jobs)
        return TermScores(part, values * scale[:, None])
    nodes = scorer.contributions(rows, n_jobs)
    nodes = replace(nodes, value=nodes.value * scale[nodes.tree][:, None])
    return TermScores(part, nodes.sums(), nodes)

"""Examples of fragments for the columns of a feature space, found when they are asked for."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from filbert import _core
from filbert.engine.feature_space import FeatureSpace, Limits
from filbert.engine.pattern_space import PatternSpace, patterns_of_columns
from filbert.engine.tree_factors import factorize
from filbert.errors import InvalidParameterError
from filbert.forest import Forest
from filbert.fragments import Fragments
from filbert.kernels.terms import Term, terms_of
from filbert.threads import n_threads
from filbert.tree import Tree


@dataclass(frozen=True)
class FeatureExamples:
    """Finds fragments for the columns of a space.

    The fragments of a training set are not kept, so its trees are factorised again.
    """

    space: FeatureSpace
    limits: Limits

    def names(self, n_columns: int) -> NDArray[np.object_]:
        """Return the names of the first columns, which may include the private ones."""
        terms = self._terms()
        found = [name for k, term in enumerate(terms) for name in self._names_of(k, term)]
        if n_columns > self.space.n_shared:
            found += self._names_of_private(terms)
        return np.array(found, dtype=object)

    def tree(self, column: int) -> Tree:
        """Return the fragment of one column as a tree."""
        terms = self._terms()
        if column >= self.space.n_shared:
            trees = self._first_trees(terms)
            if trees is None:
                raise _no_trees(column)
            return trees[column - self.space.n_shared]
        first = 0
        for k, term in enumerate(terms):
            n = self.space.terms[k].n_columns
            if column < first + n:
                if term.kind == "patterns":
                    space, patterns = self._patterns(k, term)
                    return space.tree(int(patterns[column - first]))
                if term.kind != "trees":
                    raise _no_trees(column)
                [tree] = self._fragments(k, term, np.array([column - first])).trees
                return tree
            first += n
        raise AssertionError("the terms have all shared columns")

    def _terms(self) -> list[Term]:
        return terms_of(self.space.kernel, self.space.examples, n_jobs=self.limits.n_jobs)

    def _names_of(self, k: int, term: Term) -> list[str]:
        n = self.space.terms[k].n_columns
        if term.kind == "constant":
            return ["1"] * n
        if term.kind == "vectors":
            return [f"{_part_of(term) or 'vector'}[{column}]" for column in range(n)]
        part = _part_of(term)
        if term.kind == "patterns":
            space, patterns = self._patterns(k, term)
            texts = space.names(patterns)
        else:
            texts = self._fragments(k, term, np.arange(n)).texts()
        return [f"{part}: {text}" for text in texts] if part else texts

    def _names_of_private(self, terms: list[Term]) -> list[str]:
        trees = self._first_trees(terms)
        if trees is None:
            return [f"private[{i}]" for i in range(len(self.space))]
        return [f"only {tree}" for tree in trees]

    def _patterns(self, k: int, term: Term) -> tuple[PatternSpace, NDArray[np.uint32]]:
        """Return a pattern for each column of a term of local patterns."""
        trees = term.rows_of(self.space.examples)
        own = self.space.terms[k]
        alone = _core.SumFactors(len(trees), [(own, np.ones(len(trees)))])
        begins, columns, values = _core.feature_rows(
            alone, False, self.limits.max_bytes, n_threads(self.limits.n_jobs), None
        )
        rows = (values, columns.astype(np.int64), begins.astype(np.int64))
        matrix = sp.csr_array(rows, shape=(len(trees), own.n_columns))
        return patterns_of_columns(term.kernel, trees, matrix.tocsc(), n_jobs=self.limits.n_jobs)

    def _fragments(self, k: int, term: Term, columns: NDArray[Any]) -> Fragments:
        trees = term.rows_of(self.space.examples)
        factors = factorize(
            term.kernel,
            trees,
            max_memory=self.limits.max_memory,
            kernel_tol=self.limits.kernel_tol,
            budget=np.inf,
            keep_nodes=True,
            n_jobs=self.limits.n_jobs,
        )
        whole = term.kernel.capabilities.children != "some"
        dag, roots, open = _core.common_fragments(
            factors,
            self.space.terms[k],
            columns.astype(np.uint32),
            whole,
            n_threads(self.limits.n_jobs),
            None,
        )
        return Fragments(term.kernel.whole(), Forest._of(dag, roots), open.view(np.bool_))

    def _first_trees(self, terms: list[Term]) -> Forest | None:
        """Return one tree of each training example, or None if they have no trees."""
        for term in terms:
            if term.kind in ("trees", "patterns"):
                trees: Forest = term.rows_of(self.space.examples)
                return trees[: len(self.space)]
        return None


def _part_of(term: Term) -> str | None:
    return ", ".join(term.parts) or getattr(term.kernel, "part", None)


def _no_trees(column: int) -> InvalidParameterError:
    return InvalidParameterError(
        f"TreeFeatures: column {column} is of vectors, so it has no fragment"
    )

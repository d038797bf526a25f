"""What all tree transformers have in common."""

from copy import copy
from typing import Any, Self
from uuid import uuid4

from sklearn.base import BaseEstimator, TransformerMixin

from filbert.corpus.parts import Parts
from filbert.errors import InputTypeError, NotATreeError
from filbert.examples import Examples
from filbert.forest import Forest, as_forest
from filbert.node_arrays import NodeArrays


class TreeTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base class of transformers that rewrite each tree by itself.

    Nothing is learnt, so `transform` may be called without `fit`, also batch by batch. Row ``i`` of
    the result is row ``i`` of the input. Each distinct subtree is rewritten once, however many
    trees contain it.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters; nothing is learnt.

        Parameters
        ----------
        X, y : ignored
        """
        self.check_parameters()
        return self

    def transform(self, X: Any) -> Any:
        """Rewrite trees.

        Parameters
        ----------
        X : Forest, Examples, sequence of trees or bracket strings, or Parts

        Returns
        -------
        Forest, Examples or Parts
            Examples for Examples: all their forests are rewritten, and everything else is kept. The
            trees of a corpus in parts are rewritten whenever a part is loaded.
        """
        self.check_parameters()
        if isinstance(X, Parts):
            return X.then(self.transform, self._token())
        if isinstance(X, Examples):
            return self._transform_examples(X)
        return self._transform_forest(as_forest(X))

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""

    def _token(self) -> str:
        """Return what tells transformers apart. Functions cannot be compared, so each is new."""
        text = f"{type(self).__name__}({sorted(self.get_params().items())!r})"
        return f"{text} {uuid4()}" if " at 0x" in text else text

    def _rewrite(self, nodes: NodeArrays) -> NodeArrays:
        raise NotImplementedError

    def _transform_forest(self, forest: Forest) -> Forest:
        nodes = self._rewrite(NodeArrays.of(forest._dag, forest._roots))
        return Forest._of(*nodes.to_dag(), forest.skipped)

    def _transform_examples(self, X: Examples) -> Examples:
        check_has_trees(X, type(self).__name__)
        parts = X.parts
        for name, part in X.parts.items():
            if isinstance(part, Forest):
                try:
                    parts = {**parts, name: self._transform_forest(part)}
                except NotATreeError as error:
                    raise error.located(name) from None
        return with_parts(X, parts)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.requires_fit = False
        return tags


def with_parts(X: Examples, parts: Any) -> Examples:
    """Return the same examples, including their columns, with other parts."""
    changed = copy(X)
    changed._parts = dict(parts)
    return changed


def check_has_trees(X: Examples, name: str) -> None:
    """Raise an error if examples have no part of trees."""
    if not any(isinstance(part, Forest) for part in X.parts.values()):
        raise InputTypeError(
            f"{name} rewrites trees, but these examples have only {', '.join(X.parts)}: pass "
            "examples with a part of trees"
        )


def shown_tree(nodes: NodeArrays, sample: int) -> str:
    """Return the beginning of a tree in brackets, for a message."""
    dag, roots = nodes.to_dag()
    return dag.brackets(int(roots[sample]), 60)

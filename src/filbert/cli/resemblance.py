"""Whether data are of the kind that a model was trained on.

A model predicts something for any tree: also for one in another notation, or read with other
options. Such data are told, if all of their trees show it.
"""

from typing import Any

import numpy as np

from filbert.forest import Forest

_MOST_ROOTS = 3  # labels. More of them, such as words or sugars, are no sign of a kind of trees


class Resemblance:
    """Compares scored rows with the support vectors of a model, which may have none."""

    def __init__(self, model: Any) -> None:
        trained = getattr(model, "model_", None)
        intercept = getattr(trained, "intercept", None)  # a perceptron's is no array
        self._intercept = intercept if isinstance(intercept, np.ndarray) else None
        self._own_roots = _root_labels(getattr(trained, "support", None))
        self._roots: set[str] = set()
        self._resembles = self._shares_root = self._has_rows = False

    def note(self, X: Any, scores: Any) -> None:
        """Note rows and their scores. The intercept is the score of a row that matches nothing."""
        if self._intercept is None or not len(X):
            return
        self._has_rows = True
        if not self._resembles:
            values = np.asarray(scores).reshape(len(X), -1)
            same_shape = values.shape[1] == len(self._intercept)
            self._resembles = not same_shape or bool((values != self._intercept).any())
        if not self._shares_root:
            roots = _root_labels(X)
            self._shares_root = not roots or not roots.isdisjoint(self._own_roots)
            self._roots |= roots

    def problem(self) -> str:
        """Return what is wrong with all rows, or nothing."""
        if not self._has_rows:
            return ""
        if not self._resembles:
            return (
                "has no tree with anything in common with the trees that the model was trained on: "
                "check that both are of one kind, and read with the same --format, --tree-format "
                "and --set"
            )
        if self._shares_root or not 0 < len(self._own_roots) <= _MOST_ROOTS:
            return ""
        return (
            f"has trees with the root {_listed(self._roots)}, but the model was trained on trees "
            f"with the root {_listed(self._own_roots)}: read both with the same --format and --set"
        )


def _root_labels(X: Any) -> set[str]:
    """Return labels of roots, of a forest of at most some kinds of roots all of them."""
    found: set[str] = set()
    if isinstance(X, Forest):
        for root in np.unique(X._roots).tolist():
            found.add(X._dag.label(root))
            if len(found) > _MOST_ROOTS:
                break
    return found


def _listed(labels: set[str]) -> str:
    listed = sorted(labels)
    return ", ".join(listed[:3]) + (", ..." if len(listed) > 3 else "")

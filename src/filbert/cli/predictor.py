"""Predictions as lines of text, with a memory of the trees that were scored before."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from filbert.cli.data import label_text, only_forest
from filbert.cli.resemblance import Resemblance
from filbert.errors import InvalidParameterError
from filbert.examples import Examples, feature_names_of
from filbert.forest import Forest
from filbert.predictors import classes_by_score

_MOST_TREES = 1 << 17  # in memory
_MOST_CHARACTERS = 1 << 24
_LARGEST_TREE = 1 << 10  # nodes of a tree that is kept in memory


class Predictor:
    """Predicts a text for each tree. Equal trees are scored once, within bounds of memory.

    Parameters
    ----------
    model : learner
    scores, proba : bool
        Add the scores or the probabilities of the classes.
    as_json : bool
        Write the members of a JSON object instead of values separated by tabs.
    """

    def __init__(self, model: Any, *, scores: bool, proba: bool, as_json: bool) -> None:
        if proba and not hasattr(model, "predict_proba"):
            raise InvalidParameterError("--proba: this model has no probabilities: use --scores")
        self._model = model
        self._scores = scores
        self._proba = proba
        self._as_json = as_json
        self._predicts_numbers = not hasattr(model, "classes_")
        if scores and self._predicts_numbers:
            raise InvalidParameterError("--scores: the predictions of this model are its scores")
        self._names = [] if self._predicts_numbers else [label_text(c) for c in model.classes_]
        self.resemblance = Resemblance(model)
        self._known: dict[str, str] = {}
        self._n_characters = 0

    def predict(self, X: Any) -> list[str]:
        """Return a text for each row."""
        if not isinstance(X, Forest):
            return self.texts(X)
        roots, places = np.unique(X._roots, return_inverse=True)
        if X._dag.sizes(roots).max(initial=0) > _LARGEST_TREE:
            return self.texts(X)
        keys = [X._dag.brackets(root, -1) for root in roots.tolist()]
        found = [self._known.get(key, "") for key in keys]
        new = [i for i, text in enumerate(found) if not text]
        if new:
            texts = self.texts(Forest._of(X._dag, roots[new]))
            for i, text in zip(new, texts, strict=True):
                found[i] = text
            self._keep([keys[i] for i in new], texts)
        return [found[place] for place in places.tolist()]

    def _keep(self, keys: list[str], texts: list[str]) -> None:
        self._n_characters += sum(map(len, keys)) + sum(map(len, texts))
        if len(self._known) > _MOST_TREES or self._n_characters > _MOST_CHARACTERS:
            self._known, self._n_characters = {}, 0
        self._known.update(zip(keys, texts, strict=True))

    def texts(self, X: Any) -> list[str]:
        """Return a text for each row, without the memory."""
        if self._predicts_numbers:
            predicted = self._model.predict(X)
            self.resemblance.note(X, predicted)
            numbers = map(repr, predicted.tolist())
            return [f'"label": {number}' if self._as_json else number for number in numbers]
        values = np.asarray(self._model.decision_function(X))
        self.resemblance.note(X, values)
        classes = np.arange(len(self._names))
        chosen = classes_by_score(classes, values).tolist()
        proba = self._model.predict_proba(X).tolist() if self._proba else [[]] * len(chosen)
        rows = values.reshape(len(chosen), -1).tolist() if self._scores else [[]] * len(chosen)
        if self._as_json:
            return [self._json(*one) for one in zip(chosen, rows, proba, strict=True)]
        return [
            "\t".join([self._names[c], *map(repr, row), *map(repr, shares)])
            for c, row, shares in zip(chosen, rows, proba, strict=True)
        ]

    def _json(self, chosen: int, scores: list[float], proba: list[float]) -> str:
        classes = self._model.classes_.tolist()
        members: dict[str, Any] = {"label": classes[chosen]}
        if scores:
            two = len(scores) == 1  # the score of the second class
            members["scores"] = dict(
                zip(map(str, classes[1:] if two else classes), scores, strict=True)
            )
        if proba:
            members["proba"] = dict(zip(map(str, classes), proba, strict=True))
        return json.dumps(members, ensure_ascii=False)[1:-1]


def support_of(model: Any) -> Any:
    """Return the support vectors of a support vector machine, or None."""
    return getattr(getattr(model, "model_", None), "support", None)


def vocabulary_of(model: Any) -> Mapping[str, Any] | None:
    """Return the names of features that the model knows by part, or None if it knows none."""
    return feature_names_of(support_of(model)) or None


def rows_for_model(model: Any, X: Any) -> Any:
    """Return examples as the model takes them: with all parts, or only their trees."""
    if isinstance(support_of(model), Examples) or not isinstance(X, Examples):
        return X
    return only_forest(X, "the data")

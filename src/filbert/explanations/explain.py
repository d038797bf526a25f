"""Explain a model and its decisions."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from filbert.errors import InvalidParameterError
from filbert.examples import Examples
from filbert.explanations.data import (
    DataSummary,
    ExplainedExample,
    Explanation,
    Metrics,
    ModelSummary,
)
from filbert.explanations.fragments import summarized_problems
from filbert.explanations.measures import measures
from filbert.explanations.nodes import check_sums, node_scores
from filbert.explanations.support import Support, neighbours
from filbert.explanations.view import ModelView, view_of
from filbert.forest import Forest
from filbert.kernels.algebra import n_examples
from filbert.predictors import classes_by_score
from filbert.unpack import unpacked

_SHOWN_VALUE = 200  # characters of a parameter's value


def explain(
    model: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    top: int = 50,
    max_examples: int | None = 100,
    n_nearest: int = 5,
    min_frequency: int | None = None,
    title: str | None = None,
    n_jobs: int | None = None,
) -> Explanation:
    r"""Explain what a model has learnt and how it decides.

    For the model, the explanation has the fragments that count most for and against each class
    (Pighin & Moschitti 2010). For each example, it has the exact contribution of every node to the
    score. A kernel is a sum over pairs of nodes, so

    .. math:: \text{score} = \sum_u (\Delta f)(u) / \|x\| + b

    over the nodes `u` of the example, where :math:`\Delta` is the function of two nodes and `f` are
    the weights that the support vectors give to their nodes. `explain` checks this equation for
    each example.

    Parameters
    ----------
    model : TreeSVC, TreeLogisticRegression, TreeSVR or TreePerceptron, or the model of one
        Fitted, or from :func:`filbert.load`. It may also be a fitted search, or a Pipeline that
        ends with such a learner and whose other steps transform X. The kernel must be SubsetTree,
        Subtree, PartialTree or LocalPatterns, or a sum of these and of Linear and Polynomial.
    X : any input that the model can predict, optional
        Examples to explain.
    y : array of labels, optional
        Their classes. With y, the explanation also has metrics over all of X. Leave it out for
        learners that predict numbers: "higher" and "lower" are the sides of the score 0.
    top : int
        The maximum number of fragments for a class, and of fragments against it. With 0, no
        fragments are mined.
    max_examples : int, optional
        The maximum number of examples that are shown in detail. Up to half of them are wrong
        predictions, those with the highest score for a wrong class first. The others are taken
        evenly from X. None shows all.
    n_nearest : int
        The number of support vectors that are shown for each example.
    min_frequency : int, optional
        Fragments that occur less often in the support vectors are left out. The default is 3, or 1
        if there are fewer than 100 support vectors.
    title : str, optional
        The heading of the report.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.

    Returns
    -------
    Explanation
        It can be printed, shown in a notebook, or written with ``to_html`` and ``to_json``.

    Examples
    --------
    >>> from filbert import TreeSVC
    >>> from filbert.kernels import SubsetTree
    >>> X = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q (VP b) (NP a))", "(Q (VP c) (NP d))"]
    >>> y = ["statement", "statement", "question", "question"]
    >>> clf = TreeSVC(SubsetTree(), C=1.0, loss="hinge", random_state=0).fit(X, y)
    >>> explanation = explain(clf, ["(S (NP e) (VP b))"])
    >>> explanation.problems[0].positive, explanation.problems[0].for_[0].text
    ('statement', '(S (NP …) (VP …))')
    >>> [example] = explanation.examples
    >>> print(example.tree.draw(example.contributions[0]))
    +0.581 █████  S
                  ├─ NP ─ e
    -0.007 ░      └─ VP ─ b
    """
    before, learner = unpacked(model)
    view = view_of(learner)
    _check_options(top, max_examples, n_nearest, y, X)
    if view.predicts_numbers and y is not None:
        raise InvalidParameterError(
            f"y has classes to compare with, but a {view.learner} predicts numbers: leave y out"
        )
    support = Support(view)
    problems = summarized_problems(view, support, top, min_frequency, n_jobs)
    data, metrics = None, None
    examples: tuple[ExplainedExample, ...] = ()
    if X is not None:
        for step in before:
            X = step.transform(X)
        applied = _Applied(view, support, X, y, n_jobs)
        data, metrics = applied.summary(), applied.metrics()
        examples = applied.examples(max_examples, n_nearest)
    return Explanation(
        title=title or f"{view.learner} with {view.model.kernel!r}",
        model=_summary(view),
        data=data,
        problems=problems,
        trees=tuple(support.trees),
        examples=examples,
        metrics=metrics,
    )


def _check_options(top: Any, max_examples: Any, n_nearest: Any, y: Any, X: Any) -> None:
    for name, value in (("top", top), ("n_nearest", n_nearest), ("max_examples", max_examples)):
        if value is None and name == "max_examples":
            continue
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 0:
            raise InvalidParameterError(f"{name} must be a non-negative integer, got {value!r}")
    if y is not None and X is None:
        raise InvalidParameterError("y was given without X: pass the examples too")


def _summary(view: ModelView) -> ModelSummary:
    parameters = [] if view.estimator is None else view.estimator.get_params(deep=False).items()
    return ModelSummary(
        learner=view.learner,
        kernel=repr(view.model.kernel),
        parameters=tuple(
            (name, repr(value)[:_SHOWN_VALUE]) for name, value in parameters if name != "kernel"
        ),
        classes=view.names,
        n_support=view.n_support,
        intercept=tuple(view.model.intercept.tolist()),
        convergence=view.curves,
    )


def _labels(y: ArrayLike, view: ModelView, n: int) -> list[str]:
    """Return labels as text. A number that equals a class, such as 1.0 for 1, gets its name.

    A label that is written like a class, such as the number 1 of JSON Lines and the text 1 of a
    table, is that class too.
    """
    array = np.asarray(y)
    if array.shape != (n,):
        raise InvalidParameterError(
            f"y must have one label for each of the {n:,} examples, got shape {array.shape}"
        )
    names = dict(zip(view.classes.tolist(), view.names, strict=True))
    labels = [names.get(label, str(label)) for label in array.tolist()]
    if n and names and set(view.names).isdisjoint(labels):
        raise InvalidParameterError(
            f"no label in y is a class of the model: y has {array[0]!s:.40} first, the classes are "
            f"{', '.join(view.names[:5])}"
        )
    return labels


class _Applied:
    """A model applied to examples."""

    def __init__(
        self, view: ModelView, support: Support, X: Any, y: ArrayLike | None, n_jobs: int | None
    ) -> None:
        self.view = view
        self.support = support
        self.n_jobs = n_jobs
        self.X = view.rows(X)
        self.n = n_examples(self.X)
        self.scores = view.scores(self.X, n_jobs)
        values = self.scores[:, 0] if len(view.classes) == 2 else self.scores
        self.predicted = list(map(str, classes_by_score(view.classes, values).tolist()))
        self.actual = None if y is None else _labels(y, view, self.n)

    def summary(self) -> DataSummary:
        parts = self.X.parts.values() if isinstance(self.X, Examples) else [self.X]
        labels, counts = np.unique(np.array(self.actual or [], dtype=str), return_counts=True)
        return DataSummary(
            self.n,
            sum(part.n_nodes for part in parts if isinstance(part, Forest)),
            tuple(zip(map(str, labels), counts.tolist(), strict=True)),
        )

    def metrics(self) -> Metrics | None:
        if self.actual is None or self.n == 0:
            return None
        return measures(self.actual, self.predicted, self.scores, self.view.problems())

    def examples(self, most: int | None, n_nearest: int) -> tuple[ExplainedExample, ...]:
        chosen = self._chosen(self.n if most is None else min(most, self.n))
        rows = self.X[chosen]
        terms = self.view.term_scores(rows, self.n_jobs)
        nearest = neighbours(self.support, rows, n_nearest, self.n_jobs)
        explained = []
        for i, nodes, near in zip(
            chosen.tolist(), node_scores(terms, len(chosen)), nearest, strict=True
        ):
            check_sums(nodes, self.view.model.intercept, self.scores[i], i)
            explained.append(
                ExplainedExample(
                    index=i,
                    tree=nodes.tree,
                    scores=tuple(self.scores[i].tolist()),
                    predicted=self.predicted[i],
                    actual=None if self.actual is None else self.actual[i],
                    contributions=tuple(map(tuple, nodes.values.T.tolist())),
                    support=near,
                )
            )
        return tuple(explained)

    def _chosen(self, most: int) -> NDArray[np.intp]:
        """Choose the worst errors, and others evenly; return them in ascending order."""
        if most in (self.n, 0):
            return np.arange(most)
        errors: list[int] = []
        if self.actual is not None:
            pairs = zip(self.actual, self.predicted, strict=True)
            errors = [i for i, (a, b) in enumerate(pairs) if a != b]
            sure = np.abs(self.scores[:, 0]) if len(self.view.classes) == 2 else self.scores.max(1)
            errors = sorted(errors, key=lambda i: (-sure[i], i))[: most // 2]
        others = np.setdiff1d(np.arange(self.n), errors)
        evenly = np.linspace(0, len(others) - 1, most - len(errors)).round().astype(np.intp)
        return np.sort(np.concatenate([np.array(errors, dtype=np.intp), others[evenly]]))

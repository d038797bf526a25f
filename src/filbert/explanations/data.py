"""The data of an explanation: plain data that can be shown and stored."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filbert.drawing.picture import check_arrays
from filbert.drawing.text import draw_arrays
from filbert.errors import InvalidParameterError, ParseError
from filbert.explanations.plain import from_plain, parsed_json, to_plain
from filbert.report.terminal import render_terminal

FORMAT = "filbert-explanation"
VERSION = 1


@dataclass(frozen=True)
class TrainingCurve:
    """The course of the training of one problem: the objective and the relative gap after `x`."""

    problem: str
    x_name: str
    x: tuple[float, ...]
    objective: tuple[float, ...]
    gap: tuple[float, ...]
    objective_name: str = "objective"


@dataclass(frozen=True)
class ModelSummary:
    """The model, and how it was trained."""

    learner: str
    kernel: str
    parameters: tuple[tuple[str, str], ...]
    classes: tuple[str, ...]
    n_support: int
    intercept: tuple[float, ...]
    convergence: tuple[TrainingCurve, ...]


@dataclass(frozen=True)
class DataSummary:
    """The data that the model was applied to; `class_counts` is empty if there are no labels."""

    n_examples: int
    n_nodes: int
    class_counts: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class PlainTree:
    """A tree as the labels of its nodes in preorder, and the numbers of their parents."""

    labels: tuple[str, ...]
    parents: tuple[int, ...]

    def draw(self, values: tuple[float, ...] | None = None, *, max_lines: int = 100) -> str:
        """Draw the tree with lines."""
        return draw_arrays(self.labels, self.parents, values=values, max_lines=max_lines)


@dataclass(frozen=True)
class SupportTree(PlainTree):
    """A support vector that other entries refer to, with a caption."""

    note: str


@dataclass(frozen=True)
class ExplainedFragment(PlainTree):
    """A fragment that counts for or against a class.

    Attributes
    ----------
    text : str
        The fragment in brackets; nodes whose children are cut off end in an ellipsis.
    open : tuple of bool
        Whether the children of each node are cut off.
    weight : float
        What one occurrence of the fragment adds to a score, times the fragment's own weight in the
        kernel.
    frequency : int
        The number of its occurrences in the support vectors.
    examples : tuple of int
        Support vectors in which it occurs, as numbers in `Explanation.trees`.
    occurrences : tuple of tuples of int
        For each of `examples`, the nodes of the first occurrence in that tree. It is empty for a
        tree whose listed nodes do not contain an occurrence, and in files of older versions.
    """

    text: str
    open: tuple[bool, ...]
    weight: float
    frequency: int
    examples: tuple[int, ...]
    occurrences: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class ProblemSummary:
    """One class against another, or against the rest, with its most important fragments.

    Attributes
    ----------
    positive, negative : str
        The meaning of a positive and of a negative score.
    norm : float
        The norm of the weight vector.
    norm_share : float
        The share of the norm in all fragments that were mined.
    n_mined : int
    for_, against : tuple of ExplainedFragment
        The heaviest first. In JSON, `for_` is called "for".
    """

    positive: str
    negative: str
    norm: float
    norm_share: float
    n_mined: int
    for_: tuple[ExplainedFragment, ...]
    against: tuple[ExplainedFragment, ...]


@dataclass(frozen=True)
class Neighbour:
    """A support vector that is similar to an example.

    Attributes
    ----------
    tree : int
        Its number in `Explanation.trees`.
    similarity : float
        The normalised kernel, at most 1.
    contributions : tuple of float
        What it adds to the score of each problem.
    label : str or None
        Its class, or None if the model does not determine it.
    """

    tree: int
    similarity: float
    contributions: tuple[float, ...]
    label: str | None


@dataclass(frozen=True)
class ExplainedExample:
    """One example: its scores, and what each node adds to them.

    Attributes
    ----------
    index : int
        Its number in X.
    tree : PlainTree
        If examples have several parts, the root stands for the example, with one child per part
        and the tree of a part below that child.
    scores : tuple of float
        For each problem, the sum of the contributions and the intercept.
    predicted : str
    actual : str or None
    contributions : tuple of tuples of float
        The contribution of each node to the score of each problem, indexed by problem and node.
    support : tuple of Neighbour
        The nearest first.
    """

    index: int
    tree: PlainTree
    scores: tuple[float, ...]
    predicted: str
    actual: str | None
    contributions: tuple[tuple[float, ...], ...]
    support: tuple[Neighbour, ...]


@dataclass(frozen=True)
class ClassFigures:
    """The metrics of one class; `support` is the number of its examples."""

    label: str
    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True)
class Confusion:
    """The number of examples of each true class (rows) by predicted class (columns)."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class PrecisionRecall:
    """Precision against recall for all thresholds of a problem's score."""

    positive: str
    recall: tuple[float, ...]
    precision: tuple[float, ...]
    average_precision: float


@dataclass(frozen=True)
class Metrics:
    """The agreement of predictions and labels over all of X."""

    accuracy: float
    classes: tuple[ClassFigures, ...]
    confusion: Confusion
    curves: tuple[PrecisionRecall, ...]


@dataclass(frozen=True, repr=False)
class Explanation:
    """An explanation of a model and its decisions, as :func:`filbert.explain` returns it.

    ``print(explanation)`` shows it in a terminal, notebooks display it, and :meth:`to_html` writes
    a self-contained page.

    Attributes
    ----------
    title : str
    model : ModelSummary
    data : DataSummary or None
    problems : tuple of ProblemSummary
        For two classes, one problem: the second class against the first. For more classes, each
        class against the rest.
    trees : tuple of SupportTree
        The support vectors that other entries refer to.
    examples : tuple of ExplainedExample
    metrics : Metrics or None

    Examples
    --------
    >>> from filbert import TreeSVC
    >>> from filbert.kernels import SubsetTree
    >>> X = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q (VP b) (NP a))", "(Q (VP c) (NP d))"]
    >>> clf = TreeSVC(SubsetTree(), C=1.0, loss="hinge", random_state=0).fit(X, [0, 0, 1, 1])
    >>> from filbert import explain
    >>> explanation = explain(clf, X)
    >>> [problem] = explanation.problems
    >>> print(problem.for_[0].text)
    (Q (VP …) (NP …))
    >>> Explanation.from_json(explanation.to_json()) == explanation
    True
    """

    title: str
    model: ModelSummary
    data: DataSummary | None
    problems: tuple[ProblemSummary, ...]
    trees: tuple[SupportTree, ...]
    examples: tuple[ExplainedExample, ...]
    metrics: Metrics | None

    # ---------------------------------------------------------------- storage

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as dictionaries, lists, texts and finite numbers.

        Returns
        -------
        dict
            All facts of the explanation.
        """
        return {"format": FORMAT, "version": VERSION, **to_plain(self)}

    def to_json(self) -> str:
        """Return the explanation as JSON, for :meth:`from_json` and for other programs.

        Returns
        -------
        str
            The text.
        """
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> "Explanation":
        """Read what :meth:`to_json` wrote; any defect raises ParseError.

        Parameters
        ----------
        text : str
            What `to_json` gave.
        """
        value = parsed_json(text)
        if not isinstance(value, dict) or value.get("format") != FORMAT:
            raise ParseError("this is not an explanation by Filbert")
        if value.get("version") != VERSION:
            raise ParseError(
                f"the explanation has version {str(value.get('version'))[:20]}, but this Filbert "
                f"reads version {VERSION}",
                hint="update Filbert, or explain the model again",
            )
        explanation: Explanation = from_plain(cls, value, "explanation")
        explanation._check()
        return explanation

    def _check(self) -> None:
        """Raise ParseError if numbers are inconsistent."""
        n, k = len(self.trees), len(self.problems)
        fragments = [f for p in self.problems for f in (*p.for_, *p.against)]
        neighbours = [s for example in self.examples for s in example.support]
        references = [i for f in fragments for i in f.examples] + [s.tree for s in neighbours]
        if not all(0 <= i < n for i in references):
            raise ParseError(f"there is a reference to a support vector beyond the {n} trees")
        if not all(len(s.contributions) == k for s in neighbours):
            raise ParseError(f"a support vector must have {k} contributions, one per problem")
        try:
            for tree in self.trees:
                check_arrays(tree.labels, tree.parents, None, None)
            for fragment in fragments:
                check_arrays(fragment.labels, fragment.parents, fragment.open, None)
                self._check_occurrences(fragment)
            for example in self.examples:
                labels, parents = example.tree.labels, example.tree.parents
                if not len(example.scores) == len(example.contributions) == k:
                    raise ParseError(
                        f"example {example.index} must have {k} scores, one per problem"
                    )
                for values in example.contributions:
                    check_arrays(labels, parents, None, values)
        except InvalidParameterError as error:
            raise ParseError(str(error)) from None

    def _check_occurrences(self, fragment: ExplainedFragment) -> None:
        if len(fragment.occurrences) not in (0, len(fragment.examples)):
            raise ParseError(f"{fragment.text[:40]} must have one occurrence for each of its trees")
        for tree, nodes in zip(fragment.examples, fragment.occurrences, strict=False):
            n = len(self.trees[tree].labels)
            if not all(0 <= node < n for node in nodes):
                raise ParseError(
                    f"{fragment.text[:40]} occurs at a node beyond the {n} nodes of tree {tree}"
                )

    # ---------------------------------------------------------------- display

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the explanation as one page of HTML that needs no network.

        Parameters
        ----------
        path : path, optional
            A file to which the page is also written.

        Returns
        -------
        str
            The page.
        """
        # Importing Jinja2 takes a tenth of a second, so it is imported only when needed.
        from filbert.report.html import render  # noqa: PLC0415

        page = render(self.to_dict())
        if path is not None:
            Path(path).write_text(page, encoding="utf-8", errors="backslashreplace")
        return page

    def _repr_html_(self) -> str:
        from filbert.report.notebook import render_notebook  # noqa: PLC0415  as above

        return render_notebook(self.to_dict())

    def __str__(self) -> str:
        return render_terminal(self.to_dict())

    def __repr__(self) -> str:
        n_fragments = sum(len(p.for_) + len(p.against) for p in self.problems)
        return (
            f"<Explanation of {self.model.learner}: {len(self.problems)} "
            f"problem{'' if len(self.problems) == 1 else 's'}, {n_fragments} fragments, "
            f"{len(self.examples)} examples>"
        )

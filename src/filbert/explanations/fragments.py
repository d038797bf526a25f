"""The fragments that count for and against each class."""

from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from filbert.errors import FewFragmentsWarning
from filbert.explanations.data import ExplainedFragment, PlainTree, ProblemSummary
from filbert.explanations.patterns import WeightedPatterns
from filbert.explanations.support import Support, chosen_examples, prefix_of
from filbert.explanations.view import ModelView
from filbert.fragments import MinedFragments, mine, weight_norm
from filbert.model import SupportVectorModel

_FIRST_THRESHOLD = 5.0  # the paper's L, which is doubled until enough fragments are found
_MINED_FOR_EACH = 20  # fragments that are mined for each fragment that is shown
_LEAST_MINED = 1000
_FEW = 100  # support vectors; with fewer, a fragment that occurs once may matter


def summarized_problems(
    view: ModelView, support: Support, top: int, min_frequency: int | None, n_jobs: int | None
) -> tuple[ProblemSummary, ...]:
    """Mine the fragments of each problem, or none if `top` is 0."""
    if min_frequency is None:
        min_frequency = 1 if view.n_support < _FEW else 3
    options: dict[str, Any] = {
        "n_fragments": max(_LEAST_MINED, _MINED_FOR_EACH * top),
        "max_ratio": _FIRST_THRESHOLD,
        "min_frequency": min_frequency,
        "n_jobs": n_jobs,
    }
    return tuple(
        _summary(view, support, problem, names, top, options)
        for problem, names in enumerate(view.problems())
    )


def _summary(
    view: ModelView,
    support: Support,
    problem: int,
    names: tuple[str, str],
    top: int,
    options: dict[str, Any],
) -> ProblemSummary:
    squared_norm = squared_share = 0.0
    n_mined = 0
    heavy: list[ExplainedFragment] = []
    light: list[ExplainedFragment] = []
    for parts, model in view.model.tree_models():
        if top == 0 or view.n_support == 0:
            own = SupportVectorModel(
                model.kernel, model.support, model.coef[[problem]], model.intercept[[problem]]
            )
            squared_norm += weight_norm(own, n_jobs=options["n_jobs"]) ** 2
            continue
        mined = _mined(model, problem, options)
        squared_norm += mined.norm**2
        squared_share += mined.norm_in**2
        n_mined += mined.n
        shown = _Shown(mined, model, support, parts, problem, options["n_jobs"])
        heavy += shown.heaviest(top, negative=False)
        light += shown.heaviest(top, negative=True)
    for parts, scorer in view.model.pattern_scorers():
        weighted = WeightedPatterns(scorer, problem, options["min_frequency"], options["n_jobs"])
        squared_norm += weighted.norm**2
        if top > 0:
            squared_share += weighted.norm_in**2
            n_mined += weighted.n
            heavy += weighted.heaviest(top, support, parts, negative=False)
            light += weighted.heaviest(top, support, parts, negative=True)
    share = float(np.sqrt(squared_share / squared_norm)) if squared_norm > 0 else 1.0
    return ProblemSummary(
        *names,
        norm=float(np.sqrt(squared_norm)),
        norm_share=min(1.0, share) if top > 0 else 0.0,
        n_mined=n_mined,
        for_=_first(heavy, top),
        against=_first(light, top),
    )


def _mined(model: SupportVectorModel, problem: int, options: dict[str, Any]) -> MinedFragments:
    with catch_warnings():
        simplefilter("ignore", FewFragmentsWarning)  # the explanation shows the number found
        return mine(model, problem=problem, **options)


def _first(fragments: list[ExplainedFragment], top: int) -> tuple[ExplainedFragment, ...]:
    """Return the `top` heaviest fragments of several terms."""
    return tuple(sorted(fragments, key=lambda f: (-abs(f.weight), f.text))[:top])


class _Shown:
    """Mined fragments, and the support vectors in which they occur."""

    def __init__(
        self,
        mined: MinedFragments,
        model: SupportVectorModel,
        support: Support,
        parts: tuple[str | None, ...],
        problem: int,
        n_jobs: int | None,
    ) -> None:
        self.mined = mined
        self.model = model
        self.support = support
        self.parts = parts
        self.problem = problem
        self.n_jobs = n_jobs

    def heaviest(self, top: int, *, negative: bool) -> list[ExplainedFragment]:
        """Return the heaviest fragments of one sign."""
        weight, coef = self.mined.weight, self.model.coef[self.problem]
        if negative:
            weight, coef = -weight, -coef
        chosen = np.flatnonzero(weight > 0)
        chosen = chosen[np.argsort(-weight[chosen], kind="stable")][:top]
        if len(chosen) == 0:
            return []
        fragments = self.mined.fragments[chosen]
        counts = fragments.count(self.model.support, n_jobs=self.n_jobs).tocsc()
        shown = []
        for place, (i, text) in enumerate(zip(chosen, fragments.texts(), strict=True)):
            fragment = fragments[place]
            rows = counts.indices[counts.indptr[place] : counts.indptr[place + 1]]
            trees = chosen_examples(self.support, self.parts, rows, coef)
            plain = PlainTree(fragment.labels, fragment.parents)
            shown.append(
                ExplainedFragment(
                    fragment.labels,
                    fragment.parents,
                    prefix_of(self.parts) + text,
                    fragment.open,
                    float(self.mined.weight[i]),
                    int(self.mined.frequency[i]),
                    trees,
                    tuple(
                        self.support.searched(tree).first(fragments.kernel, plain) for tree in trees
                    ),
                )
            )
        return shown

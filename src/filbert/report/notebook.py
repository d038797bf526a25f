"""Show an explanation in a notebook: the heaviest fragments and a few examples, without scripts.

Notebooks remove scripts from untrusted output, so this output has none. The report has everything.
"""

from typing import Any

from markupsafe import Markup

from filbert.drawing.svg import tree_svg
from filbert.report.html import checked, environment

_MOST_PROBLEMS = 12
_MOST_FRAGMENTS = 4  # for and against each class
_MOST_EXAMPLES = 3


def render_notebook(explanation: dict[str, Any]) -> str:
    """Return HTML for `_repr_html_`, in a notebook's own colours."""
    checked(explanation)
    problems = explanation["problems"][:_MOST_PROBLEMS]
    return (
        environment()
        .get_template("notebook.html")
        .render(
            title=explanation["title"],
            model=explanation["model"],
            metrics=explanation["metrics"],
            is_binary=len(explanation["problems"]) == 1,
            problems=[_problem(problem) for problem in problems],
            n_problems_left=len(explanation["problems"]) - len(problems),
            examples=[
                _example(one, explanation["problems"])
                for one in explanation["examples"][:_MOST_EXAMPLES]
            ],
            n_examples=len(explanation["examples"]),
        )
    )


def _problem(problem: dict[str, Any]) -> dict[str, Any]:
    sides = {
        side: [
            {**fragment, "drawing": _drawn(fragment, open=fragment["open"], max_width=260)}
            for fragment in problem[side][:_MOST_FRAGMENTS]
        ]
        for side in ("for", "against")
    }
    return {"positive": problem["positive"], "negative": problem["negative"], "sides": sides}


def _example(one: dict[str, Any], problems: list[dict[str, Any]]) -> dict[str, Any]:
    shown = next((i for i, p in enumerate(problems) if p["positive"] == one["predicted"]), 0)
    return {
        **one,
        "class": problems[shown]["positive"],
        "score": one["scores"][shown],
        "drawing": _drawn(one["tree"], values=one["contributions"][shown], max_nodes=120),
    }


def _drawn(tree: dict[str, Any], **how: Any) -> Markup:
    """Draw a tree; all text in a drawing is escaped."""
    return Markup(tree_svg(tree["labels"], tree["parents"], **how))

"""Turn an explanation into what the page shows: order, lengths of bars, drawings."""

from typing import Any

from filbert.report.charts import convergence_chart, objective_chart, precision_recall_chart
from filbert.report.trees import (
    MOST_DRAWN,
    MOST_DRAWN_SUPPORT,
    Drawings,
    drawn_nodes,
    leaves,
    level,
)
from filbert.report.wording import plain

Explanation = dict[str, Any]

_MOST_CHARTS = 24
_MOST_ROWS = 60  # classes of a confusion matrix


def view_of(explanation: Explanation) -> dict[str, Any]:
    """Return the data for the templates."""
    problems = explanation["problems"]
    drawings, support_drawings = Drawings(MOST_DRAWN), Drawings(MOST_DRAWN_SUPPORT)
    fragments = [
        _fragment(fragment, i, side)
        for i, problem in enumerate(problems)
        for side in ("for", "against")
        for fragment in problem[side]
    ]
    heaviest = max((abs(fragment["weight"]) for fragment in fragments), default=0.0)
    for fragment in fragments:
        fragment["share"] = _share(fragment["weight"], heaviest)
    return {
        "title": explanation["title"],
        "model": explanation["model"],
        "data": explanation["data"],
        "problems": problems,
        "is_binary": len(problems) == 1,
        "classes": _classes(explanation),
        "metrics": _metrics(explanation["metrics"]),
        "convergence": _convergence(explanation["model"]["convergence"]),
        "fragments": fragments,
        "has_open": any(any(f["open"]) for p in problems for f in (*p["for"], *p["against"])),
        "examples": [
            _example(i, explanation, drawings) for i in range(len(explanation["examples"]))
        ],
        "trees": [_tree(tree, support_drawings) for tree in explanation["trees"]],
    }


def numbers_of(explanation: Explanation, view: dict[str, Any]) -> dict[str, Any]:
    """Return the data for the page's script: only numbers, so that no text can break out."""
    return {
        "intercept": _rounded(explanation["model"]["intercept"]),
        "examples": [
            _numbers_of_example(one, drawn_nodes(shown["drawing"]))
            for one, shown in zip(explanation["examples"], view["examples"], strict=True)
        ],
    }


def _numbers_of_example(one: dict[str, Any], nodes: list[int]) -> dict[str, Any]:
    """Return the numbers of the nodes that are drawn, in the order of the drawing."""
    places = {node: place for place, node in enumerate(nodes)}
    parents = one["tree"]["parents"]
    return {
        "parents": [places.get(int(parents[node]), -1) for node in nodes],
        "contributions": [
            _rounded([values[node] for node in nodes]) for values in one["contributions"]
        ],
        "sums": _rounded([sum(values) for values in one["contributions"]]),
        "support": [_rounded(near["contributions"]) for near in one["support"]],
        "largest": _largest(one["contributions"]),
    }


def _rounded(values: list[float]) -> list[float]:
    """Round numbers to slightly more digits than the page shows."""
    return [_short(float(value)) if value else 0 for value in values]


def _short(value: float) -> float:
    return round(value, 4) if abs(value) >= 0.001 else float(f"{value:.2g}")


def _largest(contributions: list[list[float]]) -> float:
    return max((abs(float(value)) for values in contributions for value in values), default=0.0)


def _share(value: float, largest: float) -> int:
    """Return the length of a bar in percent."""
    return min(100, round(100 * abs(value) / largest)) if largest > 0 else 0


# ---------------------------------------------------------------- fragments


def _fragment(fragment: dict[str, Any], i: int, side: str) -> dict[str, Any]:
    return {
        "problem": i,
        "side": side,
        "text": fragment["text"],
        "weight": float(fragment["weight"]),
        "frequency": int(fragment["frequency"]),
        "size": len(fragment["labels"]),
        "drawing": Drawings.fragment(fragment),
        "trees": fragment["examples"],
    }


def _tree(tree: dict[str, Any], drawings: Drawings) -> dict[str, Any]:
    labels, parents = tree["labels"], tree["parents"]
    return {
        "note": tree["note"],
        "leaves": leaves(labels, parents),
        "drawing": drawings.tree(labels, parents),
    }


# ---------------------------------------------------------------- examples


def _example(number: int, explanation: Explanation, drawings: Drawings) -> dict[str, Any]:
    one = explanation["examples"][number]
    classes = explanation["model"]["classes"]
    problems = explanation["problems"]
    labels, parents = one["tree"]["labels"], one["tree"]["parents"]
    shown = next((i for i, p in enumerate(problems) if p["positive"] == one["predicted"]), 0)
    values = one["contributions"][shown]
    largest = _largest(one["contributions"])
    return {
        "number": number,
        "index": one["index"],
        "leaves": leaves(labels, parents),
        "predicted": one["predicted"],
        "actual": one["actual"],
        "is_wrong": one["actual"] is not None and one["actual"] != one["predicted"],
        "classes": [
            i for i, name in enumerate(classes) if name in (one["predicted"], one["actual"])
        ],
        "shown": shown,
        "scores": _scores(one["scores"], problems, _longest_bar(number, explanation)),
        "sum": sum(values),
        "intercept": explanation["model"]["intercept"][shown],
        "score": one["scores"][shown],
        "drawing": drawings.tree(labels, parents, values, largest),
        "n_nodes": len(labels),
        "support": [
            {
                **near,
                "share": _share(near["similarity"], 1.0),
                "leaves": leaves(
                    explanation["trees"][near["tree"]]["labels"],
                    explanation["trees"][near["tree"]]["parents"],
                    200,
                ),
                "contribution": near["contributions"][shown],
            }
            for near in one["support"]
        ],
    }


def _longest_bar(number: int, explanation: Explanation) -> float:
    """Return the score with the longest bar: of this example, or of all if each has one score."""
    examples = explanation["examples"]
    compared = [examples[number]] if len(explanation["problems"]) > 1 else examples
    return max((abs(score) for one in compared for score in one["scores"]), default=0.0)


def _scores(
    scores: list[float], problems: list[dict[str, Any]], largest: float
) -> list[dict[str, Any]]:
    """Return the classes with their scores, best first."""
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    return [
        {
            "problem": i,
            "class": problems[i]["positive"],
            "score": scores[i],
            "share": _share(scores[i], largest),
        }
        for i in order
    ]


# ---------------------------------------------------------------- summary


def _classes(explanation: Explanation) -> list[dict[str, Any]]:
    """Return all classes, including those unknown to the model, with their figures."""
    metrics, data, problems = (explanation[name] for name in ("metrics", "data", "problems"))
    counts = dict(data["class_counts"]) if data else {}
    measured = {row["label"]: row for row in metrics["classes"]} if metrics else {}
    learnt = {problem["positive"]: problem for problem in problems} if len(problems) > 1 else {}
    names = dict.fromkeys([*explanation["model"]["classes"], *counts, *measured])
    return [
        {
            "name": name,
            "count": counts.get(name),
            "metrics": measured.get(name),
            "problem": learnt.get(name),
        }
        for name in names
    ]


def _metrics(metrics: dict[str, Any] | None) -> dict[str, Any] | None:
    if metrics is None:
        return None
    f1 = [row["f1"] for row in metrics["classes"]]
    charts = [
        {
            "class": curve["positive"],
            "average_precision": curve["average_precision"],
            "chart": precision_recall_chart(curve["recall"], curve["precision"]),
        }
        for curve in metrics["curves"]
        if curve["recall"]
    ]
    return {
        "accuracy": metrics["accuracy"],
        "macro_f1": sum(f1) / len(f1) if f1 else 0.0,
        "confusion": _confusion(metrics["confusion"]),
        "charts": charts[:_MOST_CHARTS],
        "n_left_out": max(0, len(charts) - _MOST_CHARTS),
    }


def _confusion(confusion: dict[str, Any]) -> dict[str, Any] | None:
    """Return the rows, with a colour level for each cell by its share of the row."""
    labels, counts = confusion["labels"], confusion["counts"]
    if not labels or len(labels) > _MOST_ROWS:
        return None
    rows = []
    for i, row in enumerate(counts):
        total = sum(row)
        levels = [level(n if i == j else -n, total) for j, n in enumerate(row)]
        rows.append(
            {"label": labels[i], "total": total, "cells": list(zip(row, levels, strict=True))}
        )
    return {"labels": labels, "rows": rows}


def _convergence(curves: list[dict[str, Any]]) -> dict[str, Any]:
    charts = [_curve(curve) for curve in curves[:_MOST_CHARTS] if curve["x"]]
    return {
        "charts": charts,
        "has_gaps": any(curve["gap"] for curve in curves),
        "n_left_out": max(0, len(curves) - _MOST_CHARTS),
    }


def _curve(curve: dict[str, Any]) -> dict[str, Any]:
    """Draw the gap, or the objective if there is no gap, as for perceptrons."""
    x, x_name = curve["x"], curve["x_name"]
    if curve["gap"]:
        figure = f"gap {curve['gap'][-1]:.1e}"
        chart = convergence_chart(x, curve["gap"], x_name)
    else:
        name = curve.get("objective_name", "objective")
        figure = f"{name} {plain(curve['objective'][-1])}"
        chart = objective_chart(x, curve["objective"], x_name, name)
    after = f"{figure} after {plain(x[-1])} {x_name}"
    return {"problem": curve["problem"], "after": after, "chart": chart}

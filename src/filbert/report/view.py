"""Turn an explanation into what the templates show: order, lengths of bars, charts."""

from typing import Any

from filbert.report.charts import convergence_chart, objective_chart, precision_recall_chart
from filbert.report.wording import plain

Explanation = dict[str, Any]

_LEVELS = 5  # of colour, on each side of zero
_FAINT = 0.02  # of the largest value: smaller values have no colour
_MOST_CHARTS = 24
_MOST_ROWS = 60  # classes of a confusion matrix


def view_of(explanation: Explanation, data: dict[str, Any]) -> dict[str, Any]:
    """Return what the templates show; `data` is for the script."""
    problems = explanation["problems"]
    return {
        "title": explanation["title"],
        "model": explanation["model"],
        "data": explanation["data"],
        "problems": problems,
        "is_binary": len(problems) == 1,
        "classes": _classes(explanation),
        "metrics": _metrics(explanation["metrics"]),
        "convergence": _convergence(explanation["model"]["convergence"]),
        "fragments": [_fragment(fragment, data) for fragment in data["fragments"]],
        "has_open": any("open" in fragment["drawing"] for fragment in data["fragments"]),
        "has_words": any(fragment["isWord"] for fragment in data["fragments"]),
        "examples": data["examples"],
        "has_wrong": any(one["isWrong"] for one in data["examples"]),
        "has_support": any(one["support"] for one in data["examples"]),
    }


def _fragment(fragment: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """Return a row of the table of fragments; the link is the sentence of the first tree."""
    words = [data["trees"][tree]["words"] for tree, _ in fragment["trees"][:1]]
    return {**fragment, "link": words[0] if words else ""}


def level(value: float, largest: float) -> int:
    """Return the level of a value, from -5 to 5 in equal steps; 0 for very small values."""
    share = abs(value) / largest if largest > 0 else 0.0
    if share < _FAINT:
        return 0
    steps = min(_LEVELS, 1 + int(share * _LEVELS))
    return steps if value > 0 else -steps


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

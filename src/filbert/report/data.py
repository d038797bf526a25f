"""What the script of the page shows: fragments, trees and examples as plain data."""

import math
from typing import Any

from filbert.report.trees import Drawings, leaves
from filbert.report.wording import bare

Explanation = dict[str, Any]

_EXAMPLE_WIDTH = 760  # pixels: what fits on a screen of usual size
_DIALOG_WIDTH = 960
_MOST_NODES = 400  # of one tree that is drawn
_LEAST_NODES = 60  # if the page has many trees
_LINKED_NODES = 80_000  # of all trees that fragments link to: about 0.8 MB
_VALUES = 1_500_000  # of all nodes of the examples, by class, and of their drawings
_DRAWING = 6  # a node's drawing takes as much as its values for so many classes
_LONGEST_NAME = 40  # characters of a class
_LONGEST_TEXT = 1000  # of a fragment
_LONGEST_LINK = 120  # of a sentence that links to its tree


def data_of(explanation: Explanation) -> dict[str, Any]:
    """Return the data of the page. Texts are printable, and numbers are finite."""
    drawings = Drawings()
    problems = explanation["problems"]
    # Entries in the order of the rows of the page.
    fragments = [
        _fragment(fragment, i, side, drawings)
        for i, problem in enumerate(problems)
        for side in ("for", "against")
        for fragment in problem[side]
    ]
    trees, places = _trees(explanation, drawings)
    for fragment in fragments:
        fragment["trees"] = [
            [tree, [places[tree][node] for node in nodes if node in places[tree]]]
            for tree, nodes in fragment["trees"]
        ]
    return {
        "positive": [bare(problem["positive"], _LONGEST_NAME) for problem in problems],
        "negative": [bare(problem["negative"], _LONGEST_NAME) for problem in problems],
        "intercept": explanation["model"]["intercept"],
        "fragments": fragments,
        "trees": trees,
        "examples": [_example(one, explanation, drawings) for one in explanation["examples"]],
        "labels": drawings.labels,
        "widths": drawings.widths,
        "whole": drawings.whole,
    }


def is_word(fragment: dict[str, Any]) -> bool:
    """Return whether a fragment is only a pre-terminal with its word, such as (N dog)."""
    return list(fragment["parents"]) == [-1, 0] and not any(fragment["open"])


def _fragment(
    fragment: dict[str, Any], problem: int, side: str, drawings: Drawings
) -> dict[str, Any]:
    occurrences = fragment.get("occurrences") or [[]] * len(fragment["examples"])
    return {
        "problem": problem,
        "side": side,
        "text": bare(fragment["text"], _LONGEST_TEXT),
        "weight": _short(fragment["weight"]),
        "frequency": int(fragment["frequency"]),
        "size": len(fragment["labels"]),
        "isWord": is_word(fragment),
        "drawing": drawings.fragment(fragment),
        "trees": list(zip(fragment["examples"], occurrences, strict=True)),
    }


def _trees(
    explanation: Explanation, drawings: Drawings
) -> tuple[list[dict[str, Any]], list[dict[int, int]]]:
    """Return the support vectors, and for each where its nodes are in the drawing.

    Nodes of occurrences are drawn even if the tree is large.
    """
    most = _most_nodes(_LINKED_NODES, len(explanation["trees"]))
    marked: list[set[int]] = [set() for _ in explanation["trees"]]
    for problem in explanation["problems"]:
        for fragment in (*problem["for"], *problem["against"]):
            for tree, nodes in zip(
                fragment["examples"], fragment.get("occurrences", []), strict=False
            ):
                marked[tree].update(nodes)
    trees, places = [], []
    for tree, nodes in zip(explanation["trees"], marked, strict=True):
        values = [float(node in nodes) for node in range(len(tree["labels"]))]
        drawing, numbers = drawings.tree(tree, values, most, _DIALOG_WIDTH)
        words = bare(leaves(tree), _LONGEST_LINK)
        trees.append({"note": bare(tree["note"], 200), "words": words, "drawing": drawing})
        places.append({node: place for place, node in enumerate(numbers) if node >= 0})
    return trees, places


def _example(one: dict[str, Any], explanation: Explanation, drawings: Drawings) -> dict[str, Any]:
    problems, classes = explanation["problems"], explanation["model"]["classes"]
    contributions = one["contributions"]
    largest = [max(map(abs, values), default=0.0) for values in zip(*contributions, strict=True)]
    values = len(explanation["examples"]) * (len(problems) + _DRAWING)
    most = _most_nodes(_VALUES, values)
    drawing, nodes = drawings.tree(one["tree"], largest, most, _EXAMPLE_WIDTH)
    unit = _unit(max(largest, default=0.0))
    return {
        "index": one["index"],
        "nNodes": len(one["tree"]["labels"]),
        "words": leaves(one["tree"], 240),
        "predicted": bare(one["predicted"], _LONGEST_NAME),
        "actual": None if one["actual"] is None else bare(one["actual"], _LONGEST_NAME),
        "isWrong": one["actual"] is not None and one["actual"] != one["predicted"],
        "classes": [
            i for i, name in enumerate(classes) if name in (one["predicted"], one["actual"])
        ],
        "shown": next((i for i, p in enumerate(problems) if p["positive"] == one["predicted"]), 0),
        "scores": list(map(_short, one["scores"])),
        "sums": [_short(math.fsum(values)) for values in contributions],
        "unit": unit,
        "contributions": [
            [round(values[node] / unit) if node >= 0 else 0 for node in nodes]
            for values in contributions
        ],
        "drawing": drawing,
        "support": [_near(near) for near in one["support"]],
    }


def _most_nodes(total: int, n: int) -> int:
    """Return how many nodes of each tree are drawn, so that the page can be sent by mail."""
    return max(_LEAST_NODES, min(_MOST_NODES, total // max(n, 1)))


def _near(near: dict[str, Any]) -> dict[str, Any]:
    return {
        "tree": near["tree"],
        "similarity": round(near["similarity"], 3),
        "label": "" if near["label"] is None else bare(near["label"], 24),
        "contributions": list(map(_short, near["contributions"])),
    }


def _unit(largest: float) -> float:
    """Return the unit of contributions: at most 0.0001, and four digits of the largest."""
    if largest == 0:
        return 1.0
    return 10.0 ** min(-4, max(-300, math.floor(math.log10(largest)) - 3))


def _short(value: float) -> float:
    """Round a number to slightly more digits than the page shows."""
    return round(value, 4) if abs(value) >= 0.001 else float(f"{value:.2g}")

"""What the columns of results measure, and how a row is told from the others."""

import re
from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]

_TIME = re.compile(r"\bcpu|\bwall|second|\bms\b|\bus\b|\(s\)|\b(us|ms)_")
_NO_TIME = re.compile(r"per_|limit|times")
_RATIO = re.compile(r"times|speed.?up|/|\bq \(")
_DIFFERENCE = re.compile(r" - |less|difference|gain")
_BYTES = {"kb": 1e3, "kib": 2**10, "mb": 1e6, "mib": 2**20, "gb": 1e9, "bytes": 1}
# Numbers that are settings: they name a row, and are no figures.
_SETTING = re.compile(
    r"lambda|decay|C|C of OPT|L|j|r|d|n|n_train|n_trees|threads|examples|epochs|nodes|n_lines|"
    r"vectors|trained on|share of symbols|min_frequency|at most|fragments|n_workers"
)
_NO_FIGURE = re.compile(r"runs|repeat|paper.*|.*\breported\b.*")


def shown_values(value: Any, kind: str, column: str) -> Iterator[float]:
    """Yield a value as a figure of a kind in its basic unit, if the column has such figures."""
    if isinstance(value, bool) or not isinstance(value, int | float) or _NO_FIGURE.match(column):
        return
    key = column.lower()
    words = set(re.split(r"[\W_]+", key))
    is_time = bool(_TIME.search(key)) and not _NO_TIME.search(key)
    if kind == "memory":
        yield from (value * size for unit, size in _BYTES.items() if unit in words)
    elif kind == "time" and is_time:
        yield value * (1e-3 if "ms" in words else 1e-6 if words & {"us", "microseconds"} else 1)
    elif kind == "difference" and _DIFFERENCE.search(key):
        yield abs(value)
    elif kind == "ratio" and _RATIO.search(key) and not is_time:
        yield value
    elif kind == "score" and not (is_time or words & _BYTES.keys()):
        yield from (abs(value), 100 * abs(value)) if abs(value) <= 1 else (abs(value),)


def row_name(row: Row, rows: list[Row]) -> str:
    """Name a row by as few of its texts and settings as tell it from the others."""
    labels = [key for key in row if isinstance(row[key], str) or _SETTING.fullmatch(key)]
    others = [other for other in rows if other is not row]
    chosen: list[str] = []
    for key in labels:
        left = [other for other in others if other.get(key) == row[key]]
        if len(left) < len(others):
            chosen.append(key)
            others = left
    name = "; ".join(f"{key}={row[key]}" for key in chosen)
    if not others:
        return name
    place = next(i for i, other in enumerate(rows) if other is row)
    return f"{name}; row {place}" if chosen else f"row {place}"

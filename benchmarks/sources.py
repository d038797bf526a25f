"""Which result a figure in the documentation comes from.

A paragraph, list or table with a measured figure links to its results, as in
``[figures](../benchmarks/RESULTS.md#exact_svm)``; the link may also stand in the block before or
after. Each figure must then be found in these results, rounded as it is shown. A block whose
figures are limits, settings, examples or other people's reports says so in a comment:
``<!-- not measured: limits -->``.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Result = dict[str, Any]

# Seconds, bytes, and shares: what a figure with this unit is a multiple of.
UNITS = {
    "time": {
        **{"s": 1, "second": 1, "seconds": 1, "ms": 1e-3, "µs": 1e-6, "us": 1e-6},
        **{"min": 60, "minute": 60, "minutes": 60, "hour": 3600, "hours": 3600},
    },
    "memory": {"kB": 1e3, "KiB": 2**10, "MB": 1e6, "MiB": 2**20, "GB": 1e9, "GiB": 2**30},
    "share": {"point": 1, "points": 1},
    "ratio": {"times": 1},
}
_KINDS = {unit: kind for kind, units in UNITS.items() for unit in units}
_FIGURE = re.compile(rf"(?<![\w.^-])(\d[\d,]*(?:\.\d+)?) ?({'|'.join(_KINDS)})(?![\w/])")
_LINK = re.compile(r"RESULTS\.md#(\w+)")
_EXEMPT = re.compile(r"<!-- (not measured: [^>]+|[\w: ]*made by benchmarks[^>]*)-->")
_FENCE = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Figure:
    """A number with a unit, as a page shows it."""

    number: str
    unit: str

    @property
    def value(self) -> float:
        """The number in seconds, bytes, percent or as a ratio."""
        return float(self.number.replace(",", "")) * UNITS[_KINDS[self.unit]][self.unit]

    @property
    def rounding(self) -> float:
        """By how much the shown number may differ from the measured one."""
        _, _, decimals = self.number.partition(".")
        return 0.501 * 10 ** -len(decimals) * UNITS[_KINDS[self.unit]][self.unit]

    def is_in(self, result: Result) -> bool:
        """Whether a result has this figure, or two figures whose difference or ratio it is."""
        values = [*_values(result["figures"], _KINDS[self.unit])]
        if any(abs(self.value - value) <= self.rounding for value in values):
            return True
        return any(abs(self.value - other) <= self.rounding for other in self._derived(values))

    def _derived(self, values: list[float]) -> Iterator[float]:
        pairs = ((a, b) for a in values for b in values if a > b)
        if self.unit in ("point", "points"):
            return (a - b for a, b in pairs)
        return (a / b for a, b in pairs if b > 0) if self.unit == "times" else iter(())


def problems(page: Path, results: dict[str, Result]) -> list[str]:
    """Say which figures of a page have no source, or are not what the source says."""
    blocks = _blocks(page.read_text())
    links = [_LINK.findall(block) for _, block in blocks]
    found = []
    for i, (line, block) in enumerate(blocks):
        names = {name for near in links[max(i - 1, 0) : i + 2] for name in near}
        for figure in _figures(block):
            shown = f"{page.name}:{line}: {figure.number} {figure.unit}"
            if not names:
                found.append(f"{shown} has no link to its result")
            elif not any(figure.is_in(results[name]) for name in names if name in results):
                found.append(f"{shown} is not in {', '.join(sorted(names))}")
    return found


def _figures(block: str) -> list[Figure]:
    if _EXEMPT.search(block):
        return []
    text = re.sub(r"`[^`]*`|<!--.*?-->|\]\([^)]*\)", " ", block, flags=re.DOTALL)
    return [Figure(number.rstrip(","), unit) for number, unit in _FIGURE.findall(text)]


def _blocks(text: str) -> list[tuple[int, str]]:
    """Split a page at its empty lines, without its code; each block with its first line."""
    text = _FENCE.sub(lambda code: "\n" * code.group().count("\n"), text)
    found: list[tuple[int, str]] = []
    start, lines = 1, text.split("\n")
    for number, line in enumerate([*lines, ""], start=1):
        if not line.strip():
            if number > start:
                found.append((start, "\n".join(lines[start - 1 : number - 1])))
            start = number + 1
    return found


def _values(rows: Any, kind: str, key: str = "") -> Iterator[float]:
    """Yield the numbers below a key that can be of a kind, in its basic unit."""
    if isinstance(rows, dict):
        for name, value in rows.items():
            yield from _values(value, kind, f"{key} {name}")
    elif isinstance(rows, list):
        for value in rows:
            yield from _values(value, kind, key)
    elif isinstance(rows, int | float) and not isinstance(rows, bool):
        yield from _in_basic_units(float(rows), kind, key.lower())


def _in_basic_units(value: float, kind: str, key: str) -> Iterator[float]:
    words = set(re.split(r"[\W_]+", key))
    if kind == "memory":
        units = {"kb": 1e3, "kib": 2**10, "mb": 1e6, "mib": 2**20, "gb": 1e9, "bytes": 1}
        yield from (value * size for unit, size in units.items() if unit in words)
    elif kind == "time":
        small = 1e-3 if "ms" in words else 1e-6 if words & {"us", "microseconds"} else 1
        yield value * small
    elif kind == "share":
        yield from (value, 100 * value)
    else:
        yield value

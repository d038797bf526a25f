"""Small line charts as SVG, coloured by the page's style sheet."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from filbert.report.wording import plain

_WIDTH, _HEIGHT = 220.0, 150.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 34.0, 8.0, 8.0, 30.0
_MOST_POINTS = 160

Points = list[tuple[float, float]]


@dataclass(frozen=True)
class Axis:
    """An axis of a chart: maps data to positions.

    Attributes
    ----------
    low, high : float
        The ends, as logarithms if `log` is true.
    ticks : list of (value, text)
    name : str
    log : bool
    """

    low: float
    high: float
    ticks: list[tuple[float, str]]
    name: str
    log: bool = False

    def share(self, value: float) -> float:
        """Return the position of a value along the axis, from 0 to 1."""
        place = math.log10(value) if self.log else value
        return (place - self.low) / ((self.high - self.low) or 1.0)


def precision_recall_chart(recall: Sequence[float], precision: Sequence[float]) -> Markup:
    """Draw precision against recall, both from 0 to 1."""
    ticks = [(0.0, "0"), (0.5, "0.5"), (1.0, "1")]
    points = sorted(zip(recall, precision, strict=True), key=lambda point: (point[0], -point[1]))
    x, y = Axis(0, 1, ticks, "recall"), Axis(0, 1, ticks, "precision")
    return _chart(points, x, y, filled=True)


def convergence_chart(x: Sequence[float], gap: Sequence[float], x_name: str) -> Markup:
    """Draw the gap on a logarithmic scale; steps without a gap are left out."""
    points = [(a, b) for a, b in zip(x, gap, strict=True) if b > 0]
    if not points:
        return Markup("")
    low = math.floor(math.log10(min(b for _, b in points)))
    high = max(math.ceil(math.log10(max(b for _, b in points))), low + 1)
    step = max(1, math.ceil((high - low) / 4))
    powers = range(low, high + 1, step)
    y = Axis(low, high, [(10.0**p, f"1e{p}" if p else "1") for p in powers], "gap", log=True)
    return _chart(points, _between_ends(x, x_name), y)


def objective_chart(
    x: Sequence[float], objective: Sequence[float], x_name: str, name: str
) -> Markup:
    """Draw an objective, or another measure of training."""
    points = list(zip(x, objective, strict=True))
    return _chart(points, _between_ends(x, x_name), _between_ends([0.0, *objective], name))


def _between_ends(values: Sequence[float], name: str) -> Axis:
    low, high = min(values), max(values)
    return Axis(low, high, [(value, plain(value)) for value in sorted({low, high})], name)


def _chart(points: Points, x: Axis, y: Axis, *, filled: bool = False) -> Markup:
    places = [
        (
            _LEFT + x.share(a) * (_WIDTH - _LEFT - _RIGHT),
            _HEIGHT - _BOTTOM - y.share(b) * (_HEIGHT - _TOP - _BOTTOM),
        )
        for a, b in _thinned(points)
    ]
    line = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in places)
    parts = [_grid(x, y)]
    if filled:
        base = _HEIGHT - _BOTTOM
        area = f"{line}L{places[-1][0]:.1f} {base}L{places[0][0]:.1f} {base}Z"
        parts.append(Markup('<path class="area" d="{}"/>').format(area))
    parts.append(Markup('<path class="line" d="{}"/>').format(line))
    if len(places) == 1:
        a, b = places[0]
        parts.append(Markup('<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="3"/>').format(a, b))
    name = f"{y.name} against {x.name}, from {plain(points[0][1])} to {plain(points[-1][1])}"
    return Markup(
        '<svg class="chart" viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}">{}</svg>'
    ).format(_WIDTH, _HEIGHT, name, Markup("").join(parts))


def _grid(x: Axis, y: Axis) -> Markup:
    right, base = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    parts = []
    for value, text in y.ticks:
        at = base - y.share(value) * (base - _TOP)
        parts.append(
            Markup(
                '<path class="rule" d="M{:.0f} {:.1f}H{:.0f}"/>'
                '<text x="{:.0f}" y="{:.1f}" class="end">{}</text>'
            ).format(_LEFT, at, right, _LEFT - 5, at + 3.5, text)
        )
    for value, text in x.ticks:
        at = _LEFT + x.share(value) * (right - _LEFT)
        side = "end" if at > right - 5 else "start" if at < _LEFT + 5 else "middle"
        parts.append(
            Markup('<text x="{:.1f}" y="{:.0f}" class="{}">{}</text>').format(
                at, base + 13, side, text
            )
        )
    middle = (_LEFT + right) / 2
    parts.append(
        Markup('<text x="{:.1f}" y="{:.0f}" class="middle name">{}</text>').format(
            middle, _HEIGHT - 4, x.name
        )
    )
    return Markup("").join(parts)


def _thinned(points: Points) -> Points:
    """Keep the first point, the last, and as many in between as are visible."""
    step = math.ceil(len(points) / _MOST_POINTS)
    return points[:: step or 1] + ([points[-1]] if (len(points) - 1) % step else [])

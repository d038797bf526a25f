"""The charts and figures of the report: what is drawn is what was measured."""

import re
from copy import deepcopy

import pytest

from filbert.report.charts import convergence_chart, objective_chart, precision_recall_chart
from filbert.report.view import _metrics
from filbert.report.wording import label
from tests.report.explanations import explanation


def points(chart: str) -> list[tuple[float, float]]:
    """Return the places of a chart's line, in pixels from the left and from the top."""
    [line] = re.findall('class="line" d="M([^"]*)"', chart)
    return [(float(x), float(y)) for x, y in (place.split() for place in line.split("L"))]


def test_precision_falls_as_recall_grows() -> None:
    """Recall goes from left to right, and a high precision is at the top."""
    chart = points(precision_recall_chart([1.0, 0.5, 0.0], [0.4, 0.9, 1.0]))
    assert chart == [(34.0, 8.0), (123.0, 19.2), (212.0, 75.2)]


def test_points_of_equal_recall_go_down() -> None:
    chart = points(precision_recall_chart([1.0, 1.0, 0.0], [0.2, 0.6, 1.0]))
    assert [y for _, y in chart] == sorted(y for _, y in chart)


def test_gaps_fall_on_a_logarithmic_scale() -> None:
    chart = points(convergence_chart([1, 2, 3, 4], [1.0, 0.1, 0.01, 0.0], "sweeps"))
    assert [y for _, y in chart] == pytest.approx([8.0, 64.0, 120.0])
    assert [x for x, _ in chart] == pytest.approx([34.0, 93.3, 152.7])


@pytest.mark.parametrize(
    ("least", "marks"),
    [
        (1e-4, ["1e-4", "1e-3", "1e-2", "1e-1", "1"]),
        (1e-9, ["1e-9", "1e-6", "1e-3", "1"]),
    ],
)
def test_a_logarithmic_scale_has_few_marks(least: float, marks: list[str]) -> None:
    chart = str(convergence_chart([1, 2], [1.0, least], "sweeps"))
    assert re.findall(r">(1|1e-\d)<", chart)[: len(marks)] == marks


def test_objectives_begin_at_zero() -> None:
    chart = points(objective_chart([1, 3], [2.0, 4.0], "sweeps", "objective"))
    assert chart == [(34.0, 64.0), (212.0, 8.0)]


def test_charts_of_many_points_keep_both_ends() -> None:
    recall = [i / 1000 for i in range(1001)]
    chart = points(precision_recall_chart(recall, [1 - r / 2 for r in recall]))
    assert len(chart) <= 161
    assert (chart[0], chart[-1]) == ((34.0, 8.0), (212.0, 64.0))


@pytest.mark.parametrize(("n", "is_cut"), [(60, False), (61, True)])
def test_labels_are_cut_after_sixty_characters(n: int, is_cut: bool) -> None:
    assert ("title=" in label("x" * n)) == is_cut
    assert f">{'x' * n}<" in label("x" * n) or is_cut


def test_the_mean_over_classes_does_not_weigh_them() -> None:
    metrics = deepcopy(explanation()["metrics"])
    for row, f1, n in zip(metrics["classes"], (0.9, 0.3, 0.0), (97, 2, 1), strict=True):
        row.update(f1=f1, support=n)
    shown = _metrics(metrics)
    assert shown is not None
    assert shown["macro_f1"] == pytest.approx(0.4)

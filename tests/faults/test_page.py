"""docs/reliability.md shows the figures that were measured."""

from benchmarks.fault_sections import page


def test_the_page_has_the_figures_of_the_results() -> None:
    text = page.PAGE.read_text("utf-8")
    assert page.filled(text) == text
    assert page.table().count("\n") > 2

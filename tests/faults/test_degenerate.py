"""Degenerate data end with finite numbers or with a clear error: see fault_sections."""

from benchmarks.fault_sections import degenerate


def test_degenerate_sets() -> None:
    """A third of all sets, with every learner, every kind of data and every parameter."""
    sets = degenerate.all_sets()
    some = sets[::3]
    for field in range(3):
        assert {one[field] for one in some} == {one[field] for one in sets}
    found = degenerate.run(some)
    assert found["examples_of_bad"] == []
    assert found["end"] > found["clear_errors"] > 0

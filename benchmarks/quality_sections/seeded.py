"""The tasks by name and seed."""

from functools import cache

from benchmarks.quality_sections.held_out import HELD_OUT
from benchmarks.quality_sections.tasks import TASKS, Task

N_SEEDS = 3


@cache
def task(name: str, seed: int) -> Task:
    """Return a task. All systems share its forest."""
    return (TASKS | HELD_OUT)[name](seed)


def n_seeds(name: str) -> int:
    """Return how many seeds give different training trees or folds. All pairs of RTE are used."""
    return 1 if name == "RTE" else N_SEEDS

"""The tasks by name and seed."""

from functools import cache

from benchmarks.quality_sections.held_out import HELD_OUT
from benchmarks.quality_sections.tasks import TASKS, Task


@cache
def task(name: str, seed: int) -> Task:
    """Return a task. All systems share its forest."""
    return (TASKS | HELD_OUT)[name](seed)

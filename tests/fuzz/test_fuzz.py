"""A short, deterministic part of fuzzing. The long part: ``python -m tests.fuzz.long``."""

from random import Random

import pytest

from benchmarks.fault_sections import fuzzing
from tests.fuzz.mutate import mutated
from tests.fuzz.targets import TARGETS

N = 150  # inputs per target
SLOW = {"explanation": 15, "load": 60, "parquet": 60, "arrow": 60}


@pytest.mark.parametrize("name", TARGETS)
def test_mutated_bytes_are_read_or_refused(name: str) -> None:
    """Whatever else is raised fails the test. The seeds themselves are accepted."""
    target, rng = TARGETS[name], Random(name)
    assert target.seeds
    if name not in ("arguments", "forest-arrays"):
        assert all(map(target, target.seeds))
    for _ in range(SLOW.get(name, N)):
        target(mutated(rng, rng.choice(target.seeds), target.seeds))


def test_a_process_of_its_own_counts_what_it_gets() -> None:
    row = fuzzing.run("brackets", 3000)
    assert row["bytes"] >= 3000
    assert 0 < row["accepted"] < row["inputs"]
    assert row["reports"] == 0


def test_mutations_are_deterministic() -> None:
    seeds = TARGETS["brackets"].seeds
    first, second = ([mutated(Random(k), seeds[0], seeds) for k in range(50)] for _ in range(2))
    assert first == second
    assert len(set(first)) > 40

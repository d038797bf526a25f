"""Allocations that fail in the core: a MemoryError each, and all objects stay usable.

`python -m benchmarks.fault_sections.memory` runs with shim.cpp preloaded, see `run`.
"""

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fault_sections.shim import faults, run_with_faults
from benchmarks.fault_sections.subjects import LEARNERS, data, digest, trained, values_of
from filbert import _core
from filbert.engine.sums import constant_factors
from filbert.kernels import SubsetTree


def run(folder: Path, name: str, n: int) -> dict[str, Any]:
    """Fail each of the first n allocations of a learner's training in turn, or n spread ones."""
    found: dict[str, Any] = run_with_faults(
        "benchmarks.fault_sections.memory", folder, name, str(n)
    )
    if "crash" in found:
        return {"learner": name, "crashes": 1, "told": found}
    return found


def _failing(name: str, n: int) -> dict[str, Any]:
    X, y = data(12, depth=2)
    expected = digest(trained(LEARNERS[name](), X, y))
    faults().fail_allocation_at(2**60, 0)
    trained(LEARNERS[name](), X, y)
    n_all = faults().n_allocations()
    faults().fail_allocation_at(-1, 0)
    counts = {"memory_errors": 0, "ended": 0, "wrong_errors": 0, "unusable": 0}
    places = range(min(n_all, n)) if n >= 2000 else range(0, n_all, max(1, n_all // n))
    told = ""
    for number, place in enumerate(places):
        print(f"allocation {place}", flush=True)  # the last line tells where a crash was
        learner = LEARNERS[name]()
        faults().fail_allocation_at(place, number % 2)
        try:
            trained(learner, X, y)
            outcome = "ended"
        except MemoryError:
            outcome = "memory_errors"
        except BaseException as error:
            outcome, told = "wrong_errors", f"allocation {place}: {type(error).__name__}: {error}"
        finally:
            faults().fail_allocation_at(-1, 0)
        counts[outcome] += 1
        counts["unusable"] += digest(trained(learner, X, y)) != expected
    values_of(trained(LEARNERS[name](), X, y), X)
    figures = {"learner": name, "allocations": n_all, "failed": len(places), **counts}
    return {**figures, "crashes": 0, "told": told}


def with_lists(folder: Path) -> dict[str, Any]:
    """Fail each allocation of the core's functions that take lists."""
    found: dict[str, Any] = run_with_faults("benchmarks.fault_sections.memory", folder)
    return found


def _failing_lists() -> dict[str, int]:
    spec, texts = SubsetTree()._spec(), [f"label number {i}" for i in range(100)]
    term = constant_factors(3), np.ones(3)
    calls = {
        "rooted_in": lambda: spec.rooted_in([[text] for text in texts], by_production=False),
        "SumFactors": lambda: _core.SumFactors(3, [term] * 100),
        "OnlinePerceptron": lambda: _core.OnlinePerceptron(2, [spec] * 100),
        "fragment_text": lambda: _core.fragment_text(texts, [0] * 100, [False] * 100),
    }
    counts = {}
    for name, call in calls.items():
        counts[name] = 0
        call()  # nanobind's table of objects grows here, where it would end the process
        for place in range(100):
            print(f"{name}, allocation {place}", flush=True)
            faults().fail_allocation_at(place, 0)
            try:
                call()
                break
            except MemoryError:
                counts[name] += 1
            finally:
                faults().fail_allocation_at(-1, 0)
    return counts


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    given = sys.argv[1:]
    print(json.dumps(_failing(given[0], int(given[1])) if given else _failing_lists()))

"""Allocations that fail in the core: a MemoryError each, and all objects stay usable.

`python -m benchmarks.fault_sections.memory` runs with shim.cpp preloaded, see `run`.
"""

import json
import sys
import warnings
from pathlib import Path
from typing import Any

from benchmarks.fault_sections.shim import faults, run_with_faults
from benchmarks.fault_sections.subjects import LEARNERS, data, digest, trained, values_of


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


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(_failing(sys.argv[1], int(sys.argv[2]))))

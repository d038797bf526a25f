"""Encode the convergence of the training as arrays, and decode it."""

import numpy as np
from numpy.typing import NDArray

from filbert.errors import ModelFileError
from filbert.learners.problems import Convergence
from filbert.persist.archive import Arrays

_PREFIX = "convergence."


def encode(convergence: list[Convergence]) -> Arrays:
    """Return the concatenated figures of all problems, or {} if one of them is not finite."""
    if not convergence:
        return {}
    objective = np.concatenate([problem.objective for problem in convergence])
    gap = np.concatenate([problem.gap for problem in convergence])
    if not np.isfinite([objective, gap]).all():
        return {}
    steps = np.concatenate([problem.steps for problem in convergence])
    ends = np.cumsum([len(problem.steps) for problem in convergence])
    arrays = {"steps": steps, "ends": ends, "objective": objective, "gap": gap}
    return {_PREFIX + name: array for name, array in arrays.items()}


def decode(arrays: Arrays, n_problems: int) -> list[Convergence]:
    """Return the figures of each problem, or an empty list if a file has none."""
    own = {k.removeprefix(_PREFIX): a for k, a in arrays.items() if k.startswith(_PREFIX)}
    if not own:
        return []
    for name in ("steps", "ends", "objective", "gap"):
        if name not in own:
            raise ModelFileError(f"the array '{_PREFIX}{name}' is missing")
    steps, ends, objective, gap = own["steps"], own["ends"], own["objective"], own["gap"]
    n = len(steps) if steps.ndim == 1 else -1
    right = (
        steps.dtype == ends.dtype == np.int64
        and ends.shape == (n_problems,)
        and _are_finite(objective, n)
        and _are_finite(gap, n)
        and (np.diff(ends, prepend=0) >= 0).all()
        and ends[-1] == n
        and (steps >= 0).all()
    )
    if not right:
        raise ModelFileError("the figures of the training's convergence are inconsistent")
    parts = (np.split(array, ends[:-1]) for array in (steps, objective, gap))
    return [Convergence(*figures) for figures in zip(*parts, strict=True)]


def _are_finite(array: NDArray[np.float64], n: int) -> bool:
    return array.dtype == np.float64 and array.shape == (n,) and bool(np.isfinite(array).all())

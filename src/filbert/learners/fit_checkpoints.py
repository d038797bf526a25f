"""Checkpoints of training on examples in one piece: where a solver is, kept every so often.

Preparing, such as factorising, is repeated after an interruption. It gives the same numbers again.
The state of a solver is stored, so that it goes on as if it had not been interrupted.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib.metadata import version
from numbers import Integral
from typing import Any

import numpy as np

from filbert.corpus.checkpoints import Checkpoint
from filbert.errors import CheckpointError, InvalidParameterError
from filbert.kernels import Kernel

SECONDS = 30.0  # between two checkpoints
OF_TIME = 20  # storing takes at most one part in so many of the time
_LARGEST = 2**30  # units of work between two looks at the clock

# Parameters that do not change the result, or that the description has in another form.
_NOT_DESCRIBED = ("kernel", "n_jobs", "verbose", "random_state", "warm_start")


class Pace:
    """How much work to do before the next look at the clock, and whether it is time to store.

    The results do not depend on it, because a solver goes on from a pause as without one.
    """

    def __init__(self, size: int) -> None:
        self.size = self._least = size
        self._looked = self._stored = time.monotonic()
        self._wait = SECONDS

    def is_time(self) -> bool:
        """Whether to store now. Later pieces of work are longer or shorter, as time passes."""
        now = time.monotonic()
        took = now - self._looked
        self._looked = now
        if took < SECONDS / 10:
            self.size = min(2 * self.size, _LARGEST)
        elif took > SECONDS:
            self.size = max(self._least, self.size // 2)
        return now - self._stored >= self._wait

    def stored(self) -> None:
        """Say that storing has ended. If it takes long, it is done less often."""
        now = time.monotonic()
        self._wait = max(SECONDS, OF_TIME * (now - self._looked))
        self._looked = self._stored = now


@contextmanager
def fit_checkpoint(
    learner: Any,
    folder: str | os.PathLike[str],
    kernel: Any,
    examples: Any,
    **arrays: Any,
) -> Iterator[Checkpoint]:
    """Yield the checkpoint in a folder, which must belong to the same training.

    Parameters
    ----------
    learner : estimator
    kernel : Kernel
    examples
        X in the form that the kernel needs.
    arrays
        Whatever else the result depends on, by name: y, sample_weight.
    """
    check_is_described(kernel)
    given = learner.random_state
    is_free = not isinstance(given, Integral)
    from sklearn.utils import check_random_state  # noqa: PLC0415, as in targets.py

    seed = int(check_random_state(given).randint(2**31)) if is_free else int(given)
    parameters = learner.get_params(deep=False)
    description = {
        "filbert": _version(folder),
        "learner": type(learner).__name__,
        "kernel": repr(kernel),
        "examples": _hash_of_examples(examples),
        **{name: hash_of(values) for name, values in arrays.items()},
        **{n: repr(value) for n, value in parameters.items() if n not in _NOT_DESCRIBED},
    }
    kept = Checkpoint(folder, description, seed, keeps_seed=is_free)
    try:
        yield kept
    finally:
        with suppress(OSError):  # of the lock, which says nothing about the training
            kept.close()


def _version(folder: str | os.PathLike[str]) -> str:
    try:
        return version("filbert")
    except OSError as error:
        reason = f"the version of Filbert cannot be read: {error.strerror}"
        raise CheckpointError(os.fspath(folder), reason) from None


def check_is_described(kernel: Any) -> None:
    """Raise InvalidParameterError for a function in place of a kernel."""
    if not isinstance(kernel, Kernel):
        raise InvalidParameterError(
            f"a checkpoint cannot tell whether the function {kernel!r} has changed: use "
            "Filbert's kernels, or no checkpoint"
        )


def hash_of(values: Any) -> str | None:
    """Return a hash of an array-like, or None for None."""
    if values is None:
        return None
    array = np.asarray(values)
    content = repr(array.tolist()).encode() if array.dtype == object else array.tobytes()
    return sha256(f"{array.dtype}{array.shape}".encode() + content).hexdigest()


def _hash_of_examples(examples: Any) -> str:
    from filbert.persist import rows  # noqa: PLC0415, loads much

    header, arrays = rows.encode(examples, "")
    found = sha256(repr(header).encode())
    for name, array in sorted(arrays.items()):
        found.update(f"{name}{hash_of(array)}".encode())
    return found.hexdigest()

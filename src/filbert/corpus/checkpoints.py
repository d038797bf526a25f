"""Checkpoints of work over parts: results are kept, so that work can go on after a failure.

Tasks are pure functions, so a stored result is as good as a new one. A folder belongs to one piece
of work, which ``checkpoint.json`` describes. Files are replaced atomically and hold no code.
"""

import json
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from hashlib import sha256
from typing import Any, TypeVar
from warnings import warn

from filbert.atomic import replacing
from filbert.corpus.pieces import Piece
from filbert.corpus.stored import read_result, write_result
from filbert.corpus.tasks import Runner, Work
from filbert.errors import CheckpointError, CheckpointWarning, ModelFileError
from filbert.locks import exclusive_lock

_MANIFEST = "checkpoint.json"
_LOCK = "lock"
_T = TypeVar("_T")


class Checkpoint:
    """Keeps the results of work in a folder, or keeps nothing.

    Parameters
    ----------
    folder : path or None
        It is made if it does not exist. None: keep nothing.
    description : dict
        What the results depend on, as JSON. A folder with another description is refused.
    seed : int
        The seed of the work, kept with it.
    keeps_seed : bool
        Whether the seed of the folder is used in place of `seed`, because any seed will do.

    Attributes
    ----------
    seed : int
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None,
        description: dict[str, Any],
        seed: int,
        *,
        keeps_seed: bool,
    ) -> None:
        self.seed = seed
        self._folder = None if folder is None else os.fspath(folder)
        self._work = ""  # a hash of the description and the seed
        self._is_full = False
        self._lock = ExitStack()
        if self._folder is None:
            return
        try:
            os.makedirs(self._folder, exist_ok=True)
            self._lock.enter_context(exclusive_lock(os.path.join(self._folder, _LOCK)))
            self._claim(self._folder, description, keeps_seed)
            self._work = sha256(self._manifest(description).encode()).hexdigest()
        except BlockingIOError:
            raise CheckpointError(self._folder, "another process or thread is using it") from None
        except OSError as error:
            self.close()
            raise CheckpointError(self._folder, f"it cannot be used: {error.strerror}") from None
        except BaseException:
            self.close()
            raise

    def map(
        self,
        runner: Runner,
        step: str,
        kind: type[_T],
        work: Work,
        pieces: Sequence[Piece],
        own: Sequence[tuple[Any, ...]],
        verbose: int = 0,
    ) -> list[_T]:
        """Return the results of all parts. Those that are stored are not computed again."""
        results: dict[int, _T] = {}
        for i in range(len(pieces)):
            stored = self._get(f"{step}-{i}", kind)
            if stored is not None:
                results[i] = stored
        missing = [i for i in range(len(pieces)) if i not in results]
        computed = runner.map(
            work, [pieces[i] for i in missing], [own[i] for i in missing], verbose
        )
        for i, result in zip(missing, computed, strict=True):
            results[i] = result
            self._put(f"{step}-{i}", result)
        return [results[i] for i in range(len(pieces))]

    def once(self, step: str, kind: type[_T], compute: Callable[[], _T]) -> _T:
        """Return a stored result, or compute and store it."""
        stored = self._get(step, kind)
        if stored is not None:
            return stored
        result = compute()
        self._put(step, result)
        return result

    def latest(self, step: str, kind: type[_T]) -> _T | None:
        """Return the stored state of a step that is not finished, or None."""
        return self._get(step, kind)

    def store(self, step: str, state: Any) -> bool:
        """Store the state of a step, in place of an earlier one. Return whether that was done."""
        self._put(step, state)
        return self._folder is not None and not self._is_full

    def remove(self, begin: str, but: Sequence[str]) -> None:
        """Remove the results of all steps whose names begin so, apart from some."""
        if self._folder is None:
            return
        with suppress(OSError):  # they only take room
            for name in os.listdir(self._folder):
                step, end = os.path.splitext(name)
                if step.startswith(f"{begin}-") and end == ".result" and step not in but:
                    os.unlink(os.path.join(self._folder, name))

    def close(self) -> None:
        """Let others use the folder."""
        self._lock.close()

    # ---------------------------------------------------------------- the folder

    def _claim(self, folder: str, description: dict[str, Any], keeps_seed: bool) -> None:
        """Check that the folder belongs to this work, or make it so if it is empty."""
        path = os.path.join(folder, _MANIFEST)
        _remove_leftovers(folder)
        if not os.path.exists(path):
            others = sorted(name for name in os.listdir(folder) if name != _LOCK)
            if others:
                raise CheckpointError(
                    folder, f"it has other files, such as {others[0]}: name a new folder"
                )
            with replacing(path) as stream:
                stream.write(self._manifest(description).encode())
            return
        found = _read_manifest(folder, path)
        seed = found.pop("seed", None)
        if keeps_seed and isinstance(seed, int):
            self.seed = seed
        elif seed != self.seed:
            raise CheckpointError(folder, "it was made with another random_state")
        _compare(folder, found, json.loads(json.dumps(description)))

    def _manifest(self, description: dict[str, Any]) -> str:
        return json.dumps({**description, "seed": self.seed}, indent=1, sort_keys=True)

    def _owner(self, name: str) -> str:
        """Return what a result is stored with, so that one that was put here is not taken."""
        return f"{name} of {self._work}"

    def _path(self, name: str) -> str:
        assert self._folder is not None
        return os.path.join(self._folder, f"{name}.result")

    def _get(self, name: str, kind: type[_T]) -> _T | None:
        if self._folder is None or not os.path.exists(self._path(name)):
            return None
        try:
            with open(self._path(name), "rb") as stream:
                return read_result(kind, stream, self._owner(name))
        except (ModelFileError, OSError) as error:
            warn(CheckpointWarning(f"{self._path(name)} is computed again: {error}"), stacklevel=2)
            return None

    def _put(self, name: str, result: Any) -> None:
        """Store a result. If that fails, as on a full disk, work goes on without storing."""
        if self._folder is None or self._is_full:
            return
        try:
            with replacing(self._path(name)) as stream:
                write_result(result, stream, self._owner(name))
        except OSError as error:
            self._is_full = True
            warn(
                CheckpointWarning(
                    f"the checkpoint {self._folder} gets no more results ({error.strerror}): "
                    "training goes on, but would begin here again after a failure"
                ),
                stacklevel=2,
            )


def _remove_leftovers(folder: str) -> None:
    """Remove files whose writing was cut short."""
    for name in os.listdir(folder):
        if name.startswith(".") and name.endswith(".part"):
            os.unlink(os.path.join(folder, name))


def _read_manifest(folder: str, path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as stream:
            found = json.loads(stream.read(1 << 24))
    except (UnicodeDecodeError, RecursionError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise CheckpointError(folder, f"{_MANIFEST} is damaged: remove the folder, or name another")
    return found


def _compare(folder: str, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    for name in sorted({*found, *wanted}):
        before, now = found.get(name), wanted.get(name)
        if before != now:
            shown = f" ({before!r} there, {now!r} here)" if _is_short(before, now) else ""
            raise CheckpointError(
                folder,
                f"it belongs to another training, with another value of {name}{shown}: name "
                "another folder, or remove this one",
            )


def _is_short(*values: Any) -> bool:
    return all(len(repr(value)) <= 80 for value in values)

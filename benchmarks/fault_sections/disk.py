"""A disk that fails: every call that writes a model or an index fails once, each in several ways.

`python -m benchmarks.fault_sections.disk` runs with shim.cpp preloaded, see `run`.
"""

import errno
import json
import sys
import warnings
from pathlib import Path
from typing import Any

from benchmarks.fault_sections.index_update import IndexUpdate
from benchmarks.fault_sections.shim import faults, run_with_faults
from benchmarks.fault_sections.subjects import bytes_of, data, fitted
from filbert import TreeSVC, load, save
from filbert.errors import CheckpointError, CheckpointWarning
from filbert.kernels import PartialTree
from filbert.learners import fit_checkpoints

_MOST = 10_000  # calls
WAYS = {
    "the disk is full": errno.ENOSPC,
    "an input/output error": errno.EIO,
    "a read-only file system": errno.EROFS,
    "quota exceeded": errno.EDQUOT,
    "a short write": 0,
}


def run(folder: Path, during: str, *ways: str) -> list[dict[str, Any]]:
    """Return a row of figures for each way to fail, during one of `WORK`."""
    found = run_with_faults("benchmarks.fault_sections.disk", folder, str(folder), during, *ways)
    if "crash" in found:
        raise RuntimeError(f"the process ended: {found}")
    rows: list[dict[str, Any]] = found["rows"]
    return rows


def _saving(folder: Path, way: str) -> dict[str, Any]:
    """Fail each call of a save in turn."""
    X, y = data(30)
    old, new = fitted("TreeSVC", X, y), fitted("TreeSVC of partial trees", X, y)
    expected = {"old": bytes_of(old), "new": bytes_of(new)}
    path = folder / "model.filbert"
    counts = {"errors": 0, "saved": 0, "lost": 0, "left_over": 0}
    for n in range(_MOST):
        save(old, path)
        faults().fail_file_call_at(n, WAYS[way])
        try:
            save(new, path)
            state = "new"
        except OSError as error:
            state = "old" if error.errno == WAYS[way] else "wrong error"
        n_calls = faults().n_file_calls()
        faults().fail_file_call_at(-1, 0)
        counts["errors" if state == "old" else "saved"] += 1
        now = path.read_bytes()
        # An error after the file was replaced, such as in closing its folder, leaves the new one.
        whole = now in expected.values() if state == "old" else now == expected.get(state)
        counts["lost"] += not whole
        load(path)
        counts["left_over"] += len([*folder.glob(".*.part")])
        if n_calls <= n:
            return {"fault": way, "during": "save", "calls": n, **counts}
    raise RuntimeError("a save has no end")


def _checkpointing(folder: Path, way: str) -> dict[str, Any]:
    """Fail each call of a training with a checkpoint in turn, except those that open the folder."""
    model = TreeSVC(C=10.0, tol=1e-5, random_state=0, n_jobs=1)
    return {"fault": way, "during": "fit with a checkpoint", **_stored(folder, way, model)}


def _checkpointing_rows(folder: Path, way: str) -> dict[str, Any]:
    """Do the same with a training that stores rows of the kernel matrix."""
    model = TreeSVC(PartialTree(), engine="rows", C=10.0, tol=1e-6, random_state=0, n_jobs=1)
    return {"fault": way, "during": "fit on rows with a checkpoint", **_stored(folder, way, model)}


def _stored(folder: Path, way: str, model: TreeSVC) -> dict[str, int]:
    # A state as often as possible; this process does nothing else.
    fit_checkpoints.SECONDS, fit_checkpoints.OF_TIME = 0.0, 0
    X, y = data(40)
    expected = bytes_of(model.fit(X, y))
    counts = {"warnings": 0, "refused": 0, "os_errors": 0, "same_model": 0, "lost": 0}
    for n in range(_MOST):
        own = folder / f"{model.engine}-{errno.errorcode.get(WAYS[way], 'short')}-{n}"
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            faults().fail_file_call_at(n, WAYS[way])
            try:
                model.fit(X, y, checkpoint=own)
                outcome = ""
            except CheckpointError:
                outcome = "refused"
            except OSError:  # no error of Filbert
                outcome = "os_errors"
            n_calls = faults().n_file_calls()
            faults().fail_file_call_at(-1, 0)
            counts[outcome or ("same_model" if bytes_of(model) == expected else "lost")] += 1
        counts["warnings"] += any(issubclass(one.category, CheckpointWarning) for one in told)
        if n_calls <= n:
            return {"calls": n, **counts}
    raise RuntimeError("a training has no end")


def _indexing(folder: Path, way: str) -> dict[str, Any]:
    """Fail each call of a save of an index in turn, and save it again after that."""
    subject = IndexUpdate(folder)
    counts = {"errors": 0, "saved": 0, "lost": 0, "left_over": 0, "unusable": 0}
    for n in range(_MOST):
        changed = subject.begin()
        faults().fail_file_call_at(n, WAYS[way])
        try:
            changed.save(subject.path)
            state = "new"
        except OSError as error:
            state = "old" if error.errno == WAYS[way] else "wrong error"
        n_calls = faults().n_file_calls()
        faults().fail_file_call_at(-1, 0)
        counts["errors" if state == "old" else "saved"] += 1
        now = subject.state()
        # An error after the list was replaced, such as in closing its folder, leaves the new one.
        counts["lost"] += now not in ("old", "new") if state == "old" else now != state
        counts["left_over"] += subject.n_left_over()
        changed.save(subject.path)
        counts["unusable"] += subject.state() != "new"
        if n_calls <= n:
            return {"fault": way, "during": "save of an index", "calls": n, **counts}
    raise RuntimeError("a save has no end")


WORK = {
    "save": _saving,
    "checkpoint": _checkpointing,
    "rows": _checkpointing_rows,
    "index": _indexing,
}

if __name__ == "__main__":
    target = Path(sys.argv[1])
    work = WORK[sys.argv[2]]
    print(json.dumps({"rows": [work(target, way) for way in sys.argv[3:]]}))

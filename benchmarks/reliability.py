"""Filbert under faults: the figures of docs/reliability.md.

Each section is one kind of fault and one table: `python -m benchmarks.reliability --only disk`. The
faults are in `benchmarks/fault_sections`. Tests run the same code on less (`tests/faults`).
"""

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.fault_sections import (
    degenerate,
    disk,
    fuzzing,
    interrupts,
    kills,
    labels,
    leaks,
    memory,
    model_files,
    races,
    service,
    threads,
)
from benchmarks.fault_sections.page import write_page
from benchmarks.fault_sections.subjects import LEARNERS
from benchmarks.sections import Row, Section, results_folder, write_sections

Measure = Callable[[Path, float], list[Row]]


def _some(n: int, share: float) -> int:
    """Return a share of n, at least two."""
    return max(2, round(n * share))


def _kills(folder: Path, share: float) -> list[Row]:
    return [kills.during_save(folder, _some(200, share))]


def _index_kills(folder: Path, share: float) -> list[Row]:
    (folder / "steps").mkdir()
    n = _some(200, share)
    return [
        kills.during_index_update(folder, n),
        kills.at_steps_of_index_update(folder / "steps", n),
    ]


def _resumes(folder: Path, share: float) -> list[Row]:
    names = kills.trainings()
    return [kills.during_fit(folder, _some(-(-200 // len(names)), share), name) for name in names]


def _disk(folder: Path, share: float) -> list[Row]:
    ways = [*disk.WAYS][: _some(len(disk.WAYS), share)]
    return [row for what in disk.WORK for row in disk.run(folder, what, *ways)]


def _memory(folder: Path, share: float) -> list[Row]:
    return [memory.run(folder, name, _some(2000, share)) for name in LEARNERS]


def _interrupts(folder: Path, share: float) -> list[Row]:
    return [interrupts.run(name, _some(100, share)) for name in LEARNERS]


def _model_files(folder: Path, share: float) -> list[Row]:
    model, step = model_files.small_model(), round(1 / share)
    places = range(0, min(len(model), 1 << 16), step)
    files = {
        "one byte changed": (model_files.changed_bytes(model, places), model),
        "truncated": (model_files.truncations(model, step), model),
        "made to deceive": (model_files.hand_made(step), None),
    }
    return [
        {"files_that_are": name, **model_files.run(some, original=original)}
        for name, (some, original) in files.items()
    ]


def _threads(folder: Path, share: float) -> list[Row]:
    rows = [
        {
            **threads.same_bytes(name),
            "same_after_fork": threads.after_fork(name),
            "same_in_a_new_process": threads.in_spawned(name),
        }
        for name in [*LEARNERS][: _some(len(LEARNERS), share)]
    ]
    return [*rows, {"learner": "all, used from 8 threads", **threads.free_use(8, 60 * share)}]


def _degenerate(folder: Path, share: float) -> list[Row]:
    return [degenerate.run(degenerate.all_sets()[:: round(1 / share)])]


def _leaks(folder: Path, share: float) -> list[Row]:
    names = [name for name in LEARNERS if name != "TreeSVC"]
    rows = [leaks.run("TreeSVC", _some(10_000, share), folder)]
    return rows + [leaks.run(name, _some(1000, share), folder) for name in names]


def _service(folder: Path, share: float) -> list[Row]:
    return [service.run(folder, 600 * share)]


def _fuzzing(folder: Path, share: float) -> list[Row]:
    each = 5e7 * share / (len(fuzzing.names()) - 1)
    return [
        fuzzing.run(name, 5e7 * share if name == fuzzing.CORE else each) for name in fuzzing.names()
    ]


def _model_fuzzing(folder: Path, share: float) -> list[Row]:
    n = _some(50_000, share)
    return [fuzzing.run(name, 0, n) for name in fuzzing.OF_MODELS]


def _races(folder: Path, share: float) -> list[Row]:
    return [races.run()]


def _labels(folder: Path, share: float) -> list[Row]:
    return [labels.run(_some(200, share))]


SECTIONS: dict[str, tuple[Measure, str]] = {
    # First, because they fork, which is not safe once there are threads.
    "kills": (_kills, "kill -9 during save leaves the old or the new file, whole"),
    "index_kills": (_index_kills, "kill -9 during an update of an index leaves the old or the new"),
    "resumes": (_resumes, "training with a checkpoint that is killed resumes to the same bytes"),
    "disk": (_disk, "a disk that fails gives a clear error and leaves the previous file"),
    "memory": (_memory, "an allocation that fails is a MemoryError, and objects stay usable"),
    "model_files": (_model_files, "hostile model files are refused"),
    "degenerate": (_degenerate, "degenerate data end with finite numbers or a clear error"),
    "interrupts": (_interrupts, "Ctrl-C ends training, and the learner stays usable"),
    "fuzzing": (_fuzzing, "random bytes are read or refused by a typed error"),
    "model_fuzzing": (_model_fuzzing, "mutated model files are refused, or load"),
    "labels": (_labels, "hostile labels stay text in reports, pictures and terminals"),
    "leaks": (_leaks, "memory stays flat over trainings, predictions, saves and loads"),
    "threads": (_threads, "threads, forks and new processes give the same bytes"),
    "races": (_races, "no data races in the core's tests"),
    "service": (_service, "threads predict while another one replaces the model"),
}


def _section(name: str, share: float) -> Section:
    measure, claim = SECTIONS[name]
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = measure(Path(folder), share)
    rows = [{k: v for k, v in row.items() if v not in ([], "")} for row in rows]  # nothing to tell
    notes = ["Wall times are those of single calls on a machine with other work."]
    if share < 1:
        notes.append(f"This is a share of {share:g} of the faults that the whole section has.")
    return Section(claim, rows, notes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=[*SECTIONS], default=[*SECTIONS])
    parser.add_argument("--quick", action="store_true", help="a small part, to build/quick")
    parser.add_argument("--share", type=float, default=1.0, help="the share of faults, below 1")
    chosen = parser.parse_args()
    share = 0.02 if chosen.quick else chosen.share
    measured = {name: partial(_section, name, share) for name in SECTIONS}
    write_sections("reliability", measured, chosen.only, results_folder(quick=chosen.quick))
    if not chosen.quick:
        write_page()


if __name__ == "__main__":
    main()

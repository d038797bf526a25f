"""The figures of docs/reliability.md, from the results of `benchmarks.reliability`."""

import json
import re
from collections.abc import Callable

from benchmarks.fault_sections.fuzzing import CORE
from benchmarks.measure import RESULTS, ROOT
from benchmarks.sections import Row

PAGE = ROOT / "docs" / "reliability.md"
_MARKED = re.compile(r"(<!-- made by benchmarks.reliability -->\n).*(<!-- end -->)", re.DOTALL)


def _sum(rows: list[Row], key: str) -> int:
    return sum(row.get(key) or 0 for row in rows)


def _n_with(rows: list[Row], key: str) -> int:
    return sum(bool(row.get(key)) for row in rows)


def _most(rows: list[Row], key: str) -> float:
    return max((row.get(key) or 0 for row in rows), default=0)


def _kills(rows: list[Row]) -> str:
    [row] = rows
    return f"{row['kills']:,} kills: {row['lost']} files lost"


def _index_kills(rows: list[Row]) -> str:
    return (
        f"{_sum(rows, 'kills'):,} kills, {len(rows)} ways to choose the moments: the old index "
        f"{_sum(rows, 'old'):,} times, the new one {_sum(rows, 'new'):,} times, "
        f"{_sum(rows, 'lost')} lost. {_sum(rows, 'left_by_a_kill'):,} files were left by kills, "
        f"{_sum(rows, 'left_over')} after the next `save`"
    )


def _resumes(rows: list[Row]) -> str:
    return (
        f"{_sum(rows, 'kills'):,} kills of {_sum(rows, 'trainings'):,} trainings of {len(rows)} "
        f"kinds: {_sum(rows, 'lost')} with other bytes at the end"
    )


def _disk(rows: list[Row]) -> str:
    return (
        f"{_sum(rows, 'calls'):,} calls failed in {len({row['fault'] for row in rows})} ways: "
        f"{_sum(rows, 'lost')} files, indexes or models lost, {_sum(rows, 'left_over')} files left "
        f"over, {_sum(rows, 'os_errors')} trainings ended by an error that is not Filbert's"
    )


def _memory(rows: list[Row]) -> str:
    return (
        f"{_sum(rows, 'failed'):,} allocations failed in {_n_with(rows, 'failed')} learners: "
        f"{_sum(rows, 'crashes')} crashes, {_sum(rows, 'wrong_errors')} other errors, "
        f"{_sum(rows, 'unusable')} unusable objects"
    )


def _model_files(rows: list[Row]) -> str:
    each = ", ".join(f"{row['files']:,} {row['files_that_are']}" for row in rows)
    return (
        f"{each}: {_sum(rows, 'bad')} accepted wrongly, crashed or took more; at most "
        f"{_most(rows, 'cpu_longest'):.2f} s and {_most(rows, 'megabytes'):.0f} MB"
    )


def _degenerate(rows: list[Row]) -> str:
    [row] = rows
    return (
        f"{row['sets']} sets: {row['end']} end, {row['clear_errors']} clear errors, "
        f"{row['hangs']} hangs, {row['not_finite']} with numbers that are not finite, "
        f"{row['bad'] - row['hangs'] - row['not_finite']} other errors"
    )


def _interrupts(rows: list[Row]) -> str:
    return (
        f"{_sum(rows, 'interrupts'):,} interrupts of {_n_with(rows, 'interrupts')} learners: "
        f"{_sum(rows, 'unusable')} unusable, the slowest after {_most(rows, 'wall_longest'):.2f} s"
    )


def _fuzzing(rows: list[Row]) -> str:
    [core] = [row for row in rows if row["target"] == CORE]
    return (
        f"{_sum(rows, 'bytes') / 1e6:.1f} MB in {_sum(rows, 'inputs'):,} inputs to {len(rows)} "
        f"targets: {_sum(rows, 'reports')} reports. Of these, {core['bytes'] / 1e6:.1f} MB went "
        "to the readers of the core, under the address and undefined-behaviour sanitizers"
    )


def _model_fuzzing(rows: list[Row]) -> str:
    whole, members = rows
    return (
        f"{whole['inputs']:,} files of {whole['bytes'] / 1e6:.0f} MB, and {members['inputs']:,} of "
        f"{members['bytes'] / 1e6:.0f} MB whose checksums were made right: "
        f"{_sum(rows, 'reports')} reports"
    )


def _races(rows: list[Row]) -> str:
    [row] = rows
    return (
        f"{row['programs']} programs of tests under the thread sanitizer: {row['failed']} failed, "
        f"{row['reports']} reports"
    )


def _labels(rows: list[Row]) -> str:
    [row] = rows
    return (
        f"{row['labels']} labels in {row['pages']} reports, {row['pictures']} pictures and "
        f"{row['texts']:,} texts: {row['obeyed']} obeyed"
    )


def _leaks(rows: list[Row]) -> str:
    longest = max(rows, key=lambda row: row["turns"])
    return (
        f"{longest['turns']:,} turns of {longest['learner']}: {longest['megabytes_more']} MB more. "
        f"Other learners, {min(row['turns'] for row in rows):,} turns each: at most "
        f"{_most([row for row in rows if row is not longest], 'megabytes_more')} MB more"
    )


def _threads(rows: list[Row]) -> str:
    *learners, used = rows
    forks = sum(not row["same_after_fork"] for row in learners)
    spawns = sum(not row["same_in_a_new_process"] for row in learners)
    return (
        f"{len(learners)} learners with 1, 2, 3 and 8 threads: {_sum(learners, 'different_bytes')} "
        f"differ. After a fork {forks} differ, in new processes {spawns}. {used['calls']:,} calls "
        f"from 8 threads: {used['wrong']} wrong"
    )


def _service(rows: list[Row]) -> str:
    [row] = rows
    return (
        f"{row['predictions']:,} predictions, {row['reloads']:,} reloads, "
        f"{row['explanations']:,} explanations: {row['errors']} errors. p99 of a request of 20 "
        f"trees {row['p99_ms']:.0f} ms, in both halves {row['p99_ms_first_half']:.0f} and "
        f"{row['p99_ms_second_half']:.0f} ms, of an explanation {row['p99_ms_explaining']:.0f} ms"
    )


_ROWS: dict[str, tuple[str, str, Callable[[list[Row]], str]]] = {
    "kills": ("kill -9 during `save`", "the old or the new file, whole", _kills),
    "index_kills": (
        "kill -9 during `TreeIndex.save` into an index",
        "the old or the new index, whole",
        _index_kills,
    ),
    "resumes": (
        "kill -9 during `fit` with a checkpoint",
        "training resumes to the same bytes",
        _resumes,
    ),
    "disk": (
        "disk full, input/output errors, read-only, quota, short writes",
        "a clear error and the previous file; training goes on without a checkpoint",
        _disk,
    ),
    "memory": (
        "allocations of at least 128 bytes that fail in the core",
        "`MemoryError`; all objects stay usable",
        _memory,
    ),
    "interrupts": (
        "Ctrl-C at random moments",
        "training ends within 0.5 s; the learner stays usable",
        _interrupts,
    ),
    "model_files": ("hostile model files", "refused within 1 s and 200 MB", _model_files),
    "fuzzing": (
        "random and mutated bytes to readers, `load` and the core's functions",
        "a typed error or the right tree",
        _fuzzing,
    ),
    "model_fuzzing": (
        "mutated model files",
        "`ModelFileError`, or they load",
        _model_fuzzing,
    ),
    "threads": ("threads, forks, new processes", "the same bytes, no deadlock", _threads),
    "races": ("data races in the core", "none", _races),
    "degenerate": (
        "degenerate data and parameters",
        "finite numbers or a clear error",
        _degenerate,
    ),
    "leaks": (
        "training, predicting, saving and loading again and again",
        "at most 2 MB more memory",
        _leaks,
    ),
    "service": (
        "8 threads predict and explain while another one replaces the model",
        "no error, steady latency",
        _service,
    ),
    "labels": (
        "hostile labels in reports, pictures and terminals",
        "nothing runs, nothing moves the cursor",
        _labels,
    ),
}


def table() -> str:
    """Return the table of all sections that have results."""
    lines = ["| fault | promise | measured |", "|---|---|---|"]
    for name, (fault, promise, figures) in _ROWS.items():
        path = RESULTS / f"reliability_{name}.json"
        if path.exists():
            result = json.loads(path.read_text())
            parts = [note for note in result["notes"] if note.startswith("This is a share")]
            told = ". ".join([figures(result["figures"]), *parts]).removesuffix(".")
            lines.append(f"| {fault} | {promise} | {told} |")
    return "\n".join(lines)


def filled(text: str) -> str:
    """Return the page with the table between its marks."""
    return _MARKED.sub(lambda match: f"{match[1]}{table()}\n{match[2]}", text)


def write_page() -> None:
    """Fill in the page."""
    PAGE.write_text(filled(PAGE.read_text()))

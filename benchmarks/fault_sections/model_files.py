"""Hostile model files: changed bytes, truncations, and files made to deceive.

Every file is loaded in one child process. It must be refused by a ModelFileError, or load. What
loads must predict finite numbers. `run` says how many files did which, the longest time, and how
much memory the child took beyond what it had before.
"""

import io
import json
import pickle
import resource
import time
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from copy import deepcopy
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.fault_sections.subjects import bytes_of, data, fitted, values_of
from filbert import Forest, load
from filbert.errors import FilbertError, ModelFileError

Content = dict[str, Any]  # a header as "header", and arrays by name
_FEW = ["(S (A a))", "(S (A b) (B b))"]
KINDS = ("TreeSVC", "TreePerceptron online", "TreeFeatures", "FragmentVectorizer")


def small_model(name: str = "TreeSVC") -> bytes:
    """Return the file of a model of some trees."""
    n = 6 if name == "FragmentVectorizer" else 14
    X, y = data(n, depth=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bytes_of(fitted(name, X, y))


# ---------------------------------------------------------------- files


def changed_bytes(model: bytes, places: Iterable[int], seed: int = 0) -> Iterator[bytes]:
    """Yield the file with another value for one byte."""
    rng = Random(seed)
    for place in places:
        changed = bytearray(model)
        changed[place] ^= rng.randrange(1, 256)
        yield bytes(changed)


def truncations(model: bytes, step: int = 1) -> Iterator[bytes]:
    """Yield the beginnings of a file."""
    for size in range(0, len(model), step):
        yield model[:size]


def unpacked(model: bytes) -> Content:
    """Return the header and the arrays of a file."""
    with zipfile.ZipFile(io.BytesIO(model)) as archive:
        header = json.loads(archive.read("header.json"))
        arrays = {
            name.removesuffix(".npy"): np.load(io.BytesIO(archive.read(name)))
            for name in archive.namelist()
            if name.endswith(".npy")
        }
    return {"header": header, **arrays}


def packed(content: Content, *, declare: bool = True, compress: bool = False) -> bytes:
    """Return a file with right checksums, whatever its content."""
    header, arrays = dict(content["header"]), {k: v for k, v in content.items() if k != "header"}
    if declare:
        header["arrays"] = {
            name: {"dtype": a.dtype.str, "shape": list(a.shape)} for name, a in arrays.items()
        }
    out = io.BytesIO()
    kind = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(out, "w", kind) as archive:
        archive.writestr("header.json", json.dumps(header))
        for name, array in arrays.items():
            member = io.BytesIO()
            np.save(member, array, allow_pickle=True)
            archive.writestr(f"{name}.npy", member.getvalue())
    return out.getvalue()


def hand_made(every: int = 1) -> Iterator[bytes]:
    """Yield files whose checksums are right and whose content is not, more than a thousand.

    Of those that differ from a model in one entry or array, take one of `every`.
    """
    yield from _archives()
    for name in KINDS:
        content = unpacked(small_model(name))
        yield from islice(_with_other_arrays(content), 0, None, every)
        yield from islice(_with_other_headers(content), 0, None, every)


def _with_other_arrays(content: Content) -> Iterator[bytes]:
    """Replace one array at a time: by other numbers, types, shapes, or by nothing."""
    for name, array in content.items():
        if name == "header":
            continue
        for other in _hostile_arrays(array):
            yield packed({**content, name: other})
        yield packed({key: value for key, value in content.items() if key != name})


def _hostile_arrays(array: np.ndarray[Any, Any]) -> Iterator[np.ndarray[Any, Any]]:
    yield array[:0]
    yield array[:-1]
    yield np.concatenate([array, array])
    yield array[::-1]
    yield array.astype(object)
    yield np.asfortranarray(np.atleast_2d(array))
    if array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        for value in (0, limits.max, limits.max // 2 + 1, len(array)):
            yield np.full_like(array, value)
            changed = array.copy()
            changed[len(changed) // 2 :] = value  # cycles, where the numbers are those of children
            yield changed
        yield array + 1
        yield array.astype(np.float64)
    if array.dtype.kind == "f":
        for value in (np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324):
            yield np.full_like(array, value)
        yield array.astype(np.int64)
    if array.dtype.kind == "U":
        yield np.full(array.shape, "x" * 10_000)
        yield np.full(array.shape, "\x00")
        yield np.full(array.shape, "\x1b[2J")


_HOSTILE_VALUES: tuple[Any, ...] = (
    None, -1, 2**70, 1e308, True, "", "x" * 10_000, "os.system", [], [[]], {}, {"x": {}}, "NaN",
)  # fmt: skip


def _with_other_headers(content: Content) -> Iterator[bytes]:
    """Replace or leave out one entry of the header at a time, wherever it is."""
    for path in _paths(content["header"]):
        for number, value in enumerate((*_HOSTILE_VALUES, ...)):
            if (number + len(path)) % 3 and value is not ...:
                continue  # a third of the values at each place
            header = deepcopy(content["header"])
            place = header
            for key in path[:-1]:
                place = place[key]
            if value is ...:
                del place[path[-1]]
            else:
                place[path[-1]] = value
            yield packed({**content, "header": header}, declare=path[0] != "arrays")


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else ()
    for key, own in items:
        yield from _paths(own, (*path, key))


def _archives() -> Iterator[bytes]:
    """Yield files that are no archives, or archives that deceive."""
    model = small_model()
    content = unpacked(model)
    yield b""
    yield b"PK\x05\x06" + bytes(18)
    yield pickle.dumps({"model": 1})
    yield pickle.dumps(_Dangerous())
    yield model + b"more"
    yield b"#!/bin/sh\n" + model
    yield model + model
    yield packed(content, compress=True)
    yield from _bombs(content)
    for name in ("../outside.npy", "/tmp/outside.npy", "C:\\outside.npy", "header.json/", "\x00"):
        yield _with_member(model, name, b"x")
    yield _with_member(model, "header.json", b"{}")
    yield _with_member(model, "alpha.npy", b"x")
    yield _with_member(model, "header.json", pickle.dumps(_Dangerous()))
    array = next(name for name in content if name != "header")
    for text in _PREFIXES:
        yield _with_prefix(content, array, text)
    for declared in ("|O", "<f9", "V8", "<M8[s]", "<U999999999", "O", "<i16", ">i4", "x" * 99):
        yield _declared(content, array, dtype=declared)
    for shape in ([2**40], [2**62, 2**62], [-1], [], [1, 1, 1], ["1"], [1e9], None, [True]):
        yield _declared(content, array, shape=shape)


_PREFIXES = (
    "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }",
    "__import__('os').getpid()",
    "(" * 2000,
    "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }",
    "9" * 4000,
)


class _Dangerous:
    """Stops the process if it is unpickled."""

    def __reduce__(self) -> Any:
        return (exit, (3,))


def _bombs(content: Content) -> Iterator[bytes]:
    """Yield small files that would unpack to large ones."""
    zeros = {**content, "bomb": np.zeros(2**24)}
    yield packed(zeros, compress=True)
    yield packed({**content, "header": {**content["header"], "nested": _nested(500)}})
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", b'{"format": "' + b" " * 2**27 + b'"}')
    yield out.getvalue()
    for deep in ("[" * 100_000, '{"a":' * 100_000, "[" * 10_000 + "]" * 10_000, "1" * 100_000):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("header.json", deep)
        yield out.getvalue()


def _nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def _with_member(model: bytes, name: str, text: bytes) -> bytes:
    out = io.BytesIO(model)
    with warnings.catch_warnings(), zipfile.ZipFile(out, "a") as archive:
        warnings.simplefilter("ignore")  # of names that are there twice
        archive.writestr(zipfile.ZipInfo(name), text)
    return out.getvalue()


def _with_prefix(content: Content, array: str, text: str) -> bytes:
    """Return a file in which the prefix of an array is another text."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(packed(content))) as source, zipfile.ZipFile(out, "w") as to:
        for info in source.infolist():
            read = source.read(info)
            if info.filename == f"{array}.npy":
                prefix = text.encode() + b"\n"
                size = len(prefix).to_bytes(2, "little")
                read = b"\x93NUMPY\x01\x00" + size + prefix + read[-8 * len(content[array]) :]
            to.writestr(info.filename, read)
    return out.getvalue()


def _declared(content: Content, array: str, **changes: Any) -> bytes:
    header = deepcopy(content["header"])
    header["arrays"][array].update(changes)
    return packed({**content, "header": header}, declare=False)


# ---------------------------------------------------------------- loading


def outcome(path: Path, original: bytes | None) -> str:
    """Load a file, and say what became of it."""
    try:
        model = load(path)
    except ModelFileError:
        return "refused"
    except Exception as error:
        return f"wrong error: {type(error).__name__}: {error}"
    if original is not None:
        return "the same model" if bytes_of(model) == original else "another model"
    return _use(model)


def _use(model: Any) -> str:
    try:
        values = values_of(model, Forest(_FEW))
    except FilbertError:  # such as for a kernel of another part of the examples
        return "loads"
    except Exception as error:
        return f"wrong error in use: {type(error).__name__}: {error}"
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        return "loads with numbers that are not finite"
    return "loads"


def _load_all(pipe: Connection, folder: str, original: bytes | None) -> None:
    """Load the files whose names come through the pipe; send what became of each."""
    warnings.simplefilter("ignore")
    load(Path(folder) / "good")  # imports
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    while (name := pipe.recv()) is not None:
        start = time.process_time()
        told = outcome(Path(folder) / name, original)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
        pipe.send((told, time.process_time() - start, grown / 1024))


def run(files: Iterable[bytes], *, original: bytes | None = None) -> dict[str, Any]:
    """Load files in a process of its own.

    With `original`, what loads has to be the same model as the original file. The counts that are
    called `bad` are of other outcomes: another error than ModelFileError, a crash, another model, a
    model whose values are not finite, more than a second, more than 200 MB.
    """
    counts: dict[str, int] = {}
    bad: list[str] = []
    longest, grown, n = 0.0, 0.0, 0
    processes = get_context("forkserver")
    processes.set_forkserver_preload([__name__])  # each process then starts at once
    with TemporaryDirectory() as folder:
        (Path(folder) / "good").write_bytes(small_model())
        ours, theirs = processes.Pipe()
        child = processes.Process(target=_load_all, args=(theirs, folder, original), daemon=True)
        child.start()
        theirs.close()
        for number, content in enumerate(files):
            n += 1
            (Path(folder) / "file").write_bytes(content)
            try:
                ours.send("file")
                told, seconds, memory = ours.recv()
            except (EOFError, OSError):
                bad.append(f"file {number}: the process ended")
                break
            longest, grown = max(longest, seconds), max(grown, memory)
            counts[told.partition(":")[0]] = counts.get(told.partition(":")[0], 0) + 1
            if told not in ("refused", "loads", "the same model"):
                bad.append(f"file {number}: {told}")
            if seconds > 1 or memory > 200:
                bad.append(f"file {number}: {seconds:.1f} s, {memory:.0f} MB")
        else:
            ours.send(None)
        child.join()
    return {
        "files": n,
        "refused": counts.get("refused", 0),
        "load": counts.get("loads", 0) + counts.get("the same model", 0),
        "bad": len(bad),
        "cpu_longest": round(longest, 3),
        "megabytes": round(grown),
        "examples_of_bad": bad[:10],
    }

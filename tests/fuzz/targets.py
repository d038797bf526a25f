"""What is fuzzed: every reader, `load`, the bracket parser and the argument checks of the core.

A target takes bytes. It may raise the errors that are listed with it, and nothing else. A crash
ends the process.
"""

import io
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from filbert import Forest, TreeSVC, _core, explain, load, read_examples, read_trees
from filbert.errors import FilbertError, MissingLibraryError
from filbert.explanations.data import Explanation
from filbert.read.catalogue import TREE_FORMATS, TreeFormat
from filbert.read.formats import Format

CORPUS = Path(__file__).with_name("corpus")


@dataclass(frozen=True)
class Target:
    """A function of bytes, the errors that it may raise, and texts to begin with."""

    run: Callable[[bytes], Any]
    seeds: tuple[bytes, ...]
    errors: tuple[type[Exception], ...] = (FilbertError,)

    def __call__(self, data: bytes) -> bool:
        """Run on some bytes; return whether they were accepted."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.run(data)
            except self.errors:
                return False
        return True


def _seeds(name: str) -> tuple[bytes, ...]:
    """Return the files of the corpus for a target: NAME, or NAME--something."""
    paths = sorted(path for path in CORPUS.iterdir() if path.name.split("--")[0] == name)
    return tuple(path.read_bytes() for path in paths)


def _models() -> tuple[bytes, ...]:
    """Return the stored model files that are also those of tests/golden."""
    golden = (CORPUS.parents[1] / "golden").glob("*.filbert")
    paths = sorted(path for path in golden if path.is_file())  # an index is a folder
    return tuple(path.read_bytes() for path in paths)


# ---------------------------------------------------------------- model files, in parts

_BETWEEN = b"\n--%%--\n"


def _taken_apart(model: bytes) -> bytes:
    """Return the names and contents of a file's members."""
    with zipfile.ZipFile(io.BytesIO(model)) as archive:
        parts = [info.filename.encode() + b"\0" + archive.read(info) for info in archive.infolist()]
    return _BETWEEN.join(parts)


def _put_together(data: bytes) -> bytes:
    """Return a file of such members. Its checksums are right, so that `load` reads them."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for part in data.split(_BETWEEN):
            name, _, content = part.partition(b"\0")
            archive.writestr(zipfile.ZipInfo(name.decode("latin-1")), content)
    return out.getvalue()


def _load_members(data: bytes) -> None:
    _load(_put_together(data))


def _explained() -> bytes:
    X = Forest(["(S (A a))", "(S (A b) (B b))", "(T (A a))", "(T (B b))"])
    model = TreeSVC(random_state=0, n_jobs=1).fit(X, ["x", "x", "y", "y"])
    return explain(model, X).to_json().encode()


# ---------------------------------------------------------------- brackets, in pieces


def _brackets(data: bytes) -> None:
    """Read text at once and in pieces, and write it: all give the same trees."""
    text = data.decode("utf-8", "replace")
    forest = Forest.from_brackets([text])
    again = Forest.from_brackets([str(forest[0])])
    assert str(again[0]) == str(forest[0])


def _bracket_file(data: bytes) -> None:
    forest = read_trees(io.BytesIO(data), format="brackets")
    texts = [str(tree) for tree in forest]
    assert [str(tree) for tree in Forest(texts)] == texts


# ---------------------------------------------------------------- readers


def _is_installed(format: TreeFormat) -> bool:
    """Whether there is the library that a format needs."""
    try:
        format.options({})
    except MissingLibraryError:
        return False
    return True


def _tree_reader(format: str) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        read_trees(io.BytesIO(data), format=format)

    return run


def _table_reader(format: str) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        read_examples(io.BytesIO(data), format=format, n_jobs=1)

    return run


def _detected(data: bytes) -> None:
    """Read a file whose format is not known."""
    read_examples(io.BytesIO(data), n_jobs=1)


def _in_file(read: Callable[[str], Any]) -> Callable[[bytes], None]:
    """Read from a file instead of bytes."""

    def run(data: bytes) -> None:
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            read(file.name)

    return run


_compressed = _in_file(lambda path: read_examples(path, n_jobs=1))
_load = _in_file(load)


def _explanation(data: bytes) -> None:
    Explanation.from_json(data).to_html()


def _forest_arrays(data: bytes) -> None:
    """Take bytes as the arrays of a forest."""
    arrays = Forest(["(S (A a) (B b))", "(S (A a))"]).to_arrays()
    names = sorted(arrays)
    for number, name in enumerate(names):
        own = data[number :: len(names)]
        if not own:
            continue
        kind = arrays[name].dtype
        n = len(own) // kind.itemsize * kind.itemsize
        small = np.frombuffer(own, np.uint8).astype(kind) if kind.kind in "iu" else None
        arrays[name] = np.frombuffer(own[:n], kind) if small is None or own[0] % 4 == 0 else small
    forest = Forest.from_arrays(arrays)
    for tree in forest[:3]:
        assert tree.n_nodes >= 1


# ---------------------------------------------------------------- arguments of the core

_DAG = Forest(["(S (A a) (B b))", "(S (A a) (B c))", "(T (A a))"])
_VALUES: tuple[Any, ...] = (
    None, 0, 1, -1, 2**31, 2**63, 2**70, 1.5, float("nan"), float("inf"), "", "x", b"x", [], [1],
    (), {}, True, _DAG._dag, _DAG._roots, _DAG, np.zeros(3), np.zeros((2, 3)), np.zeros(0),
    np.zeros(3, np.int8), np.ones((2, 3), np.int8), np.zeros(3, np.uint32),
    np.full(3, 2**32 - 1, np.uint32), np.arange(3, dtype=np.uint64), np.full((3, 1), np.nan),
    np.ones((3, 3)), np.zeros((2, 3), order="F"), np.zeros(6)[::2], np.array(["a"]), np.array(1.0),
    np.zeros((0, 3), np.int8), np.full(3, np.inf), np.zeros(3, object), lambda *_: None,
)  # fmt: skip


def _callables() -> list[Callable[..., Any]]:
    """Return every function, class and method of the core, in a fixed order."""
    found: list[Callable[..., Any]] = []
    for name in sorted(dir(_core)):
        value = getattr(_core, name)
        if name.startswith("_") or not callable(value):
            continue
        found.append(value)
        if isinstance(value, type):
            methods = [one for one in sorted(dir(value)) if not one.startswith("_")]
            found += [m for one in methods if callable(m := getattr(value, one))]
    return found


_CALLABLES = _callables()


def _arguments(data: bytes) -> None:
    """Call a function of the core with any values: bytes choose which."""
    if not data:
        return
    function = _CALLABLES[int.from_bytes(data[:2], "little") % len(_CALLABLES)]
    function(*(_VALUES[byte % len(_VALUES)] for byte in data[2:14]))


_OF_ARGUMENTS = (
    FilbertError, TypeError, ValueError, IndexError, OverflowError, MemoryError, RuntimeError,
    KeyError, AttributeError,
)  # fmt: skip

TARGETS: dict[str, Target] = {
    "brackets": Target(_brackets, _seeds("brackets")),
    "bracket-file": Target(_bracket_file, _seeds("brackets")),
    **{
        name: Target(_tree_reader(name), _seeds(name))
        for name, kind in TREE_FORMATS.items()
        if name != "brackets" and _is_installed(kind)
    },
    **{name: Target(_table_reader(name), _seeds(name)) for name in get_args(Format)},
    "detected": Target(_detected, _seeds("tsv") + _seeds("jsonl")),
    "compressed": Target(_compressed, _seeds("gzip")),
    "load": Target(_load, _models()),
    "load-members": Target(_load_members, tuple(map(_taken_apart, _models()))),
    "explanation": Target(_explanation, (_explained(),)),
    "forest-arrays": Target(_forest_arrays, (bytes(range(64)),)),
    "arguments": Target(_arguments, (bytes(14), bytes(range(14))), _OF_ARGUMENTS),
}

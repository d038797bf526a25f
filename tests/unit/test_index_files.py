"""The folder of a TreeIndex: nothing is lost and nothing is mixed, whoever else uses it."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from filbert import TreeIndex, atomic
from filbert.errors import (
    ConcurrentSaveError,
    CorruptForestError,
    MissingFileError,
    ModelFileError,
)
from filbert.kernels import SubsetTree
from filbert.locks import exclusive_lock
from filbert.search import files, lists
from filbert.search.segments import Notes, Segments

A = ["(S (A a) (B b))", "(S (A a))", "(T (B c))"]
B = ["(Q (X x) (Y y))", "(Q (X z))", "(R (Y c))", "(R (X c))"]
GOLDEN = Path(__file__).parent.parent / "golden"


def texts(index: TreeIndex) -> list[str]:
    return [str(tree) for tree in index.trees(index.ids_)]


def on_disk(folder: Path) -> list[str]:
    return texts(TreeIndex.load(folder))


def inodes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in folder.glob("*-*.filbert")}


def patch_once(patch: pytest.MonkeyPatch, owner: Any, name: str, first: Callable[[], Any]) -> None:
    """Call `first` before the next call of a function."""
    own = getattr(owner, name)

    def called(*args: Any, **kwargs: Any) -> Any:
        patch.setattr(owner, name, own)
        first()
        return own(*args, **kwargs)

    patch.setattr(owner, name, called)


# ---------------------------------------------------------------- several objects, one folder


def test_an_index_that_another_one_replaced_is_not_written_over_it(tmp_path: Path) -> None:
    folder = tmp_path / "a.index"
    a, b = TreeIndex().fit(A), TreeIndex().fit(B)
    a.save(folder)
    b.save(folder)
    with pytest.raises(ConcurrentSaveError, match="has changed since this one was loaded") as error:
        a.save(folder)
    assert error.value.path == os.path.realpath(folder)
    assert on_disk(folder) == B
    a.save(tmp_path / "b.index")
    assert on_disk(tmp_path / "b.index") == A
    assert texts(a) == A


def test_additions_of_two_objects_are_not_lost(tmp_path: Path) -> None:
    folder = tmp_path / "a.index"
    TreeIndex().fit(A).save(folder)
    one, two = TreeIndex.load(folder), TreeIndex.load(folder)
    one.partial_fit(B[:1]).save(folder)
    two.partial_fit(B[1:2])
    with pytest.raises(ConcurrentSaveError, match="Load it and make your changes again"):
        two.save(folder)
    assert on_disk(folder) == A + B[:1]
    TreeIndex.load(folder).partial_fit(B[1:2]).save(folder)
    assert on_disk(folder) == A + B[:2]
    one.partial_fit(B[2:])
    with pytest.raises(ConcurrentSaveError):
        one.save(folder)


def test_removals_of_others_are_changes_too(tmp_path: Path) -> None:
    folder = tmp_path / "a.index"
    index = TreeIndex().fit(A)
    index.save(folder)
    TreeIndex.load(folder).remove([0]).save(folder)
    with pytest.raises(ConcurrentSaveError):
        index.save(folder)
    assert on_disk(folder) == A[1:]


def test_an_index_that_was_fitted_again_replaces_what_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "a.index"
    index = TreeIndex().fit(A)
    index.save(folder)
    TreeIndex().fit(B).save(folder)
    index.fit(A[:2]).save(folder)
    assert on_disk(folder) == A[:2]


@pytest.mark.parametrize("mapped", [False, True])
def test_a_folder_that_was_deleted_is_written_again(tmp_path: Path, mapped: bool) -> None:
    folder = tmp_path / "a.index"
    TreeIndex().fit(A).save(folder)
    index = TreeIndex.load(folder).remove([0]) if mapped else TreeIndex().fit(A[1:])
    index.save(folder)
    shutil.rmtree(folder)
    index.save(folder)
    assert on_disk(folder) == A[1:]
    for path in folder.glob("segment-*"):
        path.unlink()
    index.save(folder)
    assert on_disk(folder) == A[1:]


def test_a_folder_that_was_deleted_and_written_by_others_keeps_theirs(tmp_path: Path) -> None:
    folder = tmp_path / "a.index"
    a = TreeIndex().fit(A)
    a.save(folder)
    shutil.rmtree(folder)
    TreeIndex().fit(B[:3]).save(folder)
    with pytest.raises(ConcurrentSaveError):
        a.save(folder)
    assert on_disk(folder) == B[:3]


def test_files_of_one_folder_are_not_taken_for_those_of_another(tmp_path: Path) -> None:
    index = TreeIndex().fit(A)
    for name in ("a.index", "b.index"):
        index.save(tmp_path / name)
    loaded = TreeIndex.load(tmp_path / "a.index").partial_fit(B)
    loaded.save(tmp_path / "b.index")
    loaded.save(tmp_path / "c.index")
    os.rename(tmp_path / "a.index", tmp_path / "moved.index")
    loaded.save(tmp_path / "a.index")
    for name in ("a.index", "b.index", "c.index"):
        assert on_disk(tmp_path / name) == A + B
    assert on_disk(tmp_path / "moved.index") == A


def test_what_is_there_is_not_written_again(tmp_path: Path) -> None:
    folder = tmp_path / "a.index"
    segments = TreeIndex().fit(A * 20).remove([3])._segments
    segments.notes = Notes({"columns": ["name"]}, {"0.bytes": np.zeros(9, np.uint8)})
    files.save_segments(segments, folder)
    before = inodes(folder)
    assert len(before) == 3
    files.save_segments(segments, folder)
    TreeIndex.load(folder).save(folder)
    assert inodes(folder) == before
    TreeIndex.load(folder).partial_fit(B).save(folder)
    assert before.items() < inodes(folder).items()


# ---------------------------------------------------------------- at the same time


def test_two_processes_do_not_save_at_the_same_time(tmp_path: Path) -> None:
    folder = tmp_path / "a.index"
    index = TreeIndex().fit(A)
    index.save(folder)
    program = (
        "import sys; from filbert.locks import exclusive_lock\n"
        "with exclusive_lock(sys.argv[1]):\n"
        "    print('locked', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", program, folder / lists.LOCK],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(ConcurrentSaveError, match="saved there at this moment"):
            index.partial_fit(B).save(folder)
        assert on_disk(folder) == A
        other.kill()
    index.save(folder)  # the lock ended with the process
    assert on_disk(folder) == A + B


def test_a_save_within_a_save_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a signal handler, which must not wait for its own thread."""
    folder = tmp_path / "a.index"
    index = TreeIndex().fit(A)

    def save_within() -> None:
        with pytest.raises(ConcurrentSaveError):
            index.save(folder)

    patch_once(monkeypatch, os, "replace", save_within)
    index.save(folder)
    assert on_disk(folder) == A


def test_a_folder_that_is_replaced_during_a_save_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a.index"
    index = TreeIndex().fit(A)
    index.save(folder)
    index.partial_fit(B)

    def replace_folder() -> None:
        shutil.rmtree(folder)
        TreeIndex().fit(B).save(folder)

    patch_once(monkeypatch, files, "_written", replace_folder)
    with pytest.raises(ConcurrentSaveError, match="deleted meanwhile"):
        index.save(folder)
    assert on_disk(folder) == B


def test_a_lock_can_be_taken_again_and_says_whether_its_file_is_there(tmp_path: Path) -> None:
    path = os.fspath(tmp_path / "lock")
    for _ in range(2):
        with exclusive_lock(path), pytest.raises(BlockingIOError), exclusive_lock(path):
            raise AssertionError
    assert os.listdir(tmp_path) == ["lock"]


def test_an_open_index_does_not_change(tmp_path: Path) -> None:
    """Its files are mapped and deleted, and their names never come back."""
    folder = tmp_path / "a.index"
    trees = [f"(S (A w{i}) (B w{i % 7}))" for i in range(3000)]
    TreeIndex().fit(trees).save(folder)
    reader = TreeIndex.load(folder)
    names = {*inodes(folder)}
    before = reader.kneighbors(trees[:9], 5)
    for _ in range(3):
        TreeIndex.load(folder).partial_fit(trees).save(folder)  # one segment takes in the other
        TreeIndex().fit(B).save(folder)
        assert not names & {*inodes(folder)}
    for a, b in zip(before, reader.kneighbors(trees[:9], 5), strict=True):
        assert a.tobytes() == b.tobytes()
    shutil.rmtree(folder)
    for a, b in zip(before, reader.kneighbors(trees[:9], 5), strict=True):
        assert a.tobytes() == b.tobytes()
    reader.save(tmp_path / "b.index")
    assert on_disk(tmp_path / "b.index") == trees


def test_an_index_may_be_replaced_while_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Again and again: the list was read, and then its files are gone."""
    folder = tmp_path / "a.index"
    TreeIndex().fit(A).save(folder)
    own, n_opened = files._opened, 0

    def opened_late(*args: Any) -> Any:
        nonlocal n_opened
        n_opened += 1
        if n_opened <= 8:
            TreeIndex().fit(B[: n_opened % 2 + 1]).save(folder)
        return own(*args)

    monkeypatch.setattr(files, "_opened", opened_late)
    assert texts(TreeIndex.load(folder)) == B[:1]
    assert n_opened == 9


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "a.index"
    TreeIndex().fit(A).save(folder)
    [name] = inodes(folder)
    (folder / name).unlink()
    with pytest.raises(MissingFileError, match=name):
        TreeIndex.load(folder)


# ---------------------------------------------------------------- interrupted saves


def test_what_killed_and_failed_saves_left_is_deleted(tmp_path: Path) -> None:
    folder = tmp_path / "a.index"
    index = TreeIndex().fit(A)
    index.save(folder)
    kept = {*os.listdir(folder), "mine.part", "readme.txt"}
    leftovers = [f".{'0a' * 8}.part", f"segment-{'1b' * 16}.filbert", f"notes-{'2' * 32}.filbert"]
    for name in ["mine.part", "readme.txt", *leftovers]:
        (folder / name).write_bytes(b"x" * 1000)
    index.save(folder)
    assert {*os.listdir(folder)} == kept


@pytest.mark.parametrize("first", [True, False])
def test_a_save_that_fails_leaves_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bool
) -> None:
    folder = tmp_path / "a.index"
    index = TreeIndex().fit(A)
    if not first:
        index.save(folder)
        index.partial_fit(B * 9).remove([0])
    before = {*os.listdir(folder)} if not first else {lists.LOCK}

    def fail(*_: Any) -> None:
        raise OSError("no space")

    with monkeypatch.context() as patch:
        patch.setattr(files, "_check_claim", lambda *_: patch.setattr(os, "replace", fail))
        with pytest.raises(OSError, match="no space"):
            index.save(folder)
    assert {*os.listdir(folder)} == before
    index.save(folder)
    assert on_disk(folder) == texts(index)


def test_after_an_interrupt_at_the_very_end_the_index_can_be_saved_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list is new already, and the index knows that it is its own."""
    folder = tmp_path / "a.index"
    TreeIndex().fit(A).save(folder)
    index = TreeIndex.load(folder).partial_fit(B[:2])
    n_syncs = 0

    def interrupt(_: str) -> None:
        nonlocal n_syncs
        n_syncs += 1
        if n_syncs == 2:  # of the segment, of the list
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(atomic, "_sync_folder", interrupt)
        with pytest.raises(KeyboardInterrupt):
            index.save(folder)
    assert on_disk(folder) == A + B[:2]
    index.partial_fit(B[2:]).save(folder)
    assert on_disk(folder) == A + B


def test_removing_may_be_interrupted_at_every_line() -> None:
    n = 0
    outcomes: list[str] = []
    while outcomes[-1:] != ["ended"]:
        n += 1
        index = TreeIndex().fit(A * 9).partial_fit(A)
        left = n

        def line(frame: Any, event: str, argument: Any) -> Any:
            nonlocal left
            left -= event == "line"
            if left == 0:
                raise KeyboardInterrupt
            return line

        before = sys.gettrace()
        sys.settrace(lambda frame, *_: line if frame.f_code.co_name == "remove" else None)
        try:
            index.remove([1, 28])
            outcomes.append("ended")
        except KeyboardInterrupt:
            outcomes.append("interrupted")
        finally:
            sys.settrace(before)
        assert index.n_trees_ in (28, 30)  # both or neither
    assert len(outcomes) > 10


# ---------------------------------------------------------------- what is in the folder


def test_a_file_with_the_content_of_another_one_is_refused(tmp_path: Path) -> None:
    for name, trees in (("a", A), ("b", B)):
        TreeIndex().fit(trees).save(tmp_path / name)
    [ours], [theirs] = (tmp_path / "a").glob("seg*"), (tmp_path / "b").glob("seg*")
    index = TreeIndex.load(tmp_path / "a")
    os.replace(theirs, ours)
    with pytest.raises(ModelFileError, match="content of another one"):
        TreeIndex.load(tmp_path / "a")
    with pytest.raises(ModelFileError, match="content of another one"):
        index.save(tmp_path / "a")


@pytest.mark.parametrize("text", ["{}", "[1", '{"format": "filbert-index", "version": 3}'])
def test_a_list_that_is_not_ours_is_not_replaced(tmp_path: Path, text: str) -> None:
    path = tmp_path / lists.LIST
    path.write_text(text)
    with pytest.raises(ModelFileError, match="delete the folder, or choose another name"):
        TreeIndex().fit(A).save(tmp_path)
    assert path.read_text() == text


@pytest.mark.parametrize("key", ["segments", "notes", "kernel", "next_id"])
@pytest.mark.parametrize("value", [None, 7, [7], {"values": {}, "file": "../../secret"}, [{}]])
def test_damaged_lists_are_refused(tmp_path: Path, key: str, value: Any) -> None:
    folder = tmp_path / "a.index"
    TreeIndex().fit(A).save(folder)
    path = folder / lists.LIST
    content = json.loads(path.read_text())
    del content["checksum"]  # somebody may have made the list by hand
    path.write_text(json.dumps({**content, key: value}))
    if key == "notes" and not isinstance(value, dict):
        assert on_disk(folder) == A  # without notes
        return
    if (key, value) == ("next_id", 7):
        assert on_disk(folder) == A
        return
    with pytest.raises(ModelFileError):
        TreeIndex.load(folder)


@pytest.mark.parametrize(
    ("name", "values"),
    [("positions", [0, 1, 3]), ("positions", [0, 1, 2**32 - 1]), ("position_ends", [2, 1, 3])],
)
def test_damaged_positions_are_found(tmp_path: Path, name: str, values: list[int]) -> None:
    [segment] = TreeIndex().fit(A)._segments.segments
    arrays = {**segment.arrays, name: np.array(values, dtype=segment.arrays[name].dtype)}
    damaged = Segments(SubsetTree(), [replace(segment, arrays=arrays)], len(A))
    files.save_segments(damaged, tmp_path / "a")
    index = TreeIndex.load(tmp_path / "a")
    with pytest.raises(CorruptForestError, match="damaged: build it again"):
        index.radius_neighbors(A, -1.0)
    with pytest.raises(CorruptForestError, match="damaged: build it again"):
        index.trees([0])
    with pytest.raises(CorruptForestError, match="damaged: build it again"):
        index.partial_fit(B)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("name", ["list", "segment"])
def test_a_pipe_in_the_folder_is_not_waited_for(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "a.index"
    TreeIndex().fit(A).save(folder)
    [segment] = inodes(folder)
    path = folder / (lists.LIST if name == "list" else segment)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ModelFileError, match="this is not a file"):
        TreeIndex.load(folder)


def test_lists_do_not_grow_with_removals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of which every second tree was removed have many ranges of ids."""
    folder = tmp_path / "a.index"
    index = TreeIndex().fit(A * 200).remove(range(0, 600, 2)).partial_fit(A * 200)
    assert len(index._segments.segments) == 1
    monkeypatch.setattr(lists, "_LONGEST", 2000)
    index.save(folder)
    assert TreeIndex.load(folder).ids_.tolist() == [*range(1, 600, 2), *range(600, 1200)]


@pytest.mark.parametrize("ids", [[], [0], [5], [0, 1, 2], [0, 2, 3, 7], [*range(3, 9), 2**61]])
def test_ids_are_stored_as_ranges(ids: list[int]) -> None:
    array = np.array(ids, dtype=np.int64)
    found = lists.ids_of(lists.ranges_of(array), len(ids))
    assert found is not None
    assert found.tolist() == ids


@pytest.mark.parametrize(
    "ranges",
    [
        np.array([[0, 1]], dtype=np.int64),
        np.array([[0, 2**62]], dtype=np.int64),
        np.array([[-1, 1]], dtype=np.int64),
        np.array([[2, 2], [0, 1]], dtype=np.int64),
        np.array([[0, 1], [1, 1]], dtype=np.int64),
        np.array([[0, 2**62 - 1], [2**62 - 1, 2**62 - 1]], dtype=np.int64),
        np.array([[0, 2]], dtype=np.int32),
        np.array([0, 2], dtype=np.int64),
        np.array([[0, 1, 2]], dtype=np.int64),
    ],
)
def test_damaged_ranges_are_no_ids(ranges: Any) -> None:
    assert lists.ids_of(ranges, 3) is None


def test_notes_go_with_their_index(tmp_path: Path) -> None:
    segments = TreeIndex().fit(A)._segments
    segments.notes = Notes({"columns": ["name"]}, {"0.bytes": np.arange(9, dtype=np.uint8)})
    files.save_segments(segments, tmp_path / "a")
    TreeIndex.load(tmp_path / "a").partial_fit(B).save(tmp_path / "b")
    notes = files.open_segments(tmp_path / "b").notes
    assert notes.values == {"columns": ["name"]}
    assert notes.columns["0.bytes"].tolist() == [*range(9)]
    TreeIndex().fit(B).save(tmp_path / "b")  # another index, which has none
    assert files.open_segments(tmp_path / "b").notes.values == {}
    assert not [*(tmp_path / "b").glob("notes-*")]


def test_folders_of_version_1_are_read_and_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "v1-index.filbert"
    shutil.copytree(GOLDEN / "v1-index.filbert", folder)
    then = json.loads((GOLDEN / "v1-index.json").read_text("utf-8"))
    index = TreeIndex.load(folder)
    for _ in range(2):
        values, ids = index.kneighbors(then["trees"], 3)
        np.testing.assert_allclose(values, then["values"], rtol=1e-12)
        assert ids.tolist() == then["ids"]
        assert index._segments.next_id == then["next_id"]
        assert index._segments.notes.values["columns"] == ["name"]
        assert bytes(index._segments.notes.columns["0.bytes"]) == b"abcde"
        index.save(folder)
        assert all(len(name) > len("segment-1.filbert") for name in inodes(folder))
        index = TreeIndex.load(folder)
    content = json.loads((GOLDEN / "v1-index.filbert" / lists.LIST).read_text("utf-8"))
    damaged: list[Any] = [7, [[0]], [[0, "1"]], [[0, 2**70]], [[0, 1]]]
    for listed in damaged:
        content["segments"][0]["ids"] = listed
        shutil.copytree(GOLDEN / "v1-index.filbert", folder, dirs_exist_ok=True)
        (folder / lists.LIST).write_text(json.dumps(content))
        with pytest.raises(ModelFileError, match="ids of a segment"):
            TreeIndex.load(folder)


# Damage and settings


def test_a_flipped_bit_is_found_by_a_check(tmp_path: Path) -> None:
    """Also in arrays that are mapped, whose checksums are not compared otherwise."""
    folder = tmp_path / "a.index"
    trees = [f"(S (A a{i % 500}) (B (C c{i % 311}) (D d{i % 701})))" for i in range(20_000)]
    TreeIndex().fit(trees).remove([3]).save(folder)
    assert TreeIndex.load(folder, check=True).n_trees_ == 19_999
    assert files.index_summary(folder, check=True)["trees"] == 19_999
    rng = Random(1)
    for file in sorted(folder.glob("*.filbert")):
        whole = file.read_bytes()
        for place in _content_places(file, rng):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << rng.randrange(8)
            file.write_bytes(damaged)
            with pytest.raises(ModelFileError):
                TreeIndex.load(folder, check=True)
        file.write_bytes(whole)
    assert TreeIndex.load(folder, check=True).n_trees_ == 19_999


def _content_places(file: Path, rng: Random) -> list[int]:
    """Return two places in the content of each member of an archive."""
    content, found = file.read_bytes(), []
    with zipfile.ZipFile(file) as archive:
        members = [info for info in archive.infolist() if info.file_size]
    for info in members:
        names = content[info.header_offset + 26 : info.header_offset + 30]
        lengths = int.from_bytes(names[:2], "little") + int.from_bytes(names[2:], "little")
        begin = info.header_offset + 30 + lengths
        found += [begin + rng.randrange(info.file_size) for _ in range(2)]
    return found


def test_damage_of_the_list_is_always_found(tmp_path: Path) -> None:
    folder = tmp_path / "a.index"
    TreeIndex(SubsetTree(0.4)).fit(["(S (A a))"]).save(folder)
    text = (folder / "index.json").read_text()
    assert '"decay": 0.4' in text
    (folder / "index.json").write_text(text.replace('"decay": 0.4', '"decay": 0.6'))
    with pytest.raises(ModelFileError, match="checksum"):
        TreeIndex.load(folder)


def test_metric_and_number_of_neighbours_are_saved(tmp_path: Path) -> None:
    index = TreeIndex(metric="distance", n_neighbors=1).fit(["(S (A a))", "(S (A b))"])
    index.save(tmp_path / "a.index")
    loaded = TreeIndex.load(tmp_path / "a.index")
    assert (loaded.metric, loaded.n_neighbors) == ("distance", 1)
    for a, b in zip(index.kneighbors(), loaded.kneighbors(), strict=True):
        assert a.tolist() == b.tolist()
    for wrong in ({"metric": "cosine"}, {"n_neighbors": 0}):
        loaded._segments.settings = wrong
        files.save_segments(loaded._segments, tmp_path / "b.index")
        with pytest.raises(ModelFileError):
            TreeIndex.load(tmp_path / "b.index")
        shutil.rmtree(tmp_path / "b.index")

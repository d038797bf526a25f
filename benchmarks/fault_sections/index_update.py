"""An index on disk that is changed and saved again, and what became of it."""

import shutil
from pathlib import Path
from typing import Any

from benchmarks.fault_sections.subjects import random_trees
from filbert import TreeIndex
from filbert.errors import FilbertError
from filbert.search.lists import LIST, LOCK, read_list

_OLD, _MORE = random_trees(100), random_trees(30, seed=1)


class IndexUpdate:
    """Trees are added to an index and removed from it, again and again from the same beginning."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "trees.index"
        self._before = folder / "before.index"
        TreeIndex(n_jobs=1).fit(_OLD).remove([3]).save(self._before)
        self._states = {_answers(self._before): "old"}
        self.begin().save(self.path)
        self._states[_answers(self.path)] = "new"
        assert len(self._states) == 2

    def begin(self) -> TreeIndex:
        """Return the index with its changes, which are not saved."""
        shutil.rmtree(self.path, ignore_errors=True)
        shutil.copytree(self._before, self.path)
        return TreeIndex.load(self.path, n_jobs=1).partial_fit(_MORE).remove([0, 110])

    def state(self) -> str:
        """Whether the index on disk is the "old" one, the "new" one, or another: ""."""
        try:
            return self._states.get(_answers(self.path), "")
        except FilbertError:
            return ""

    def n_left_over(self) -> int:
        """Return the number of files that the index does not need."""
        needed = {LIST, LOCK, *read_list(str(self.path)).files()}
        return len({path.name for path in self.path.iterdir()} - needed)


def _answers(path: Path) -> tuple[Any, ...]:
    index = TreeIndex.load(path, n_jobs=1)
    trees = tuple(map(str, index.trees(index.ids_)))
    return (trees, *(found.tobytes() for found in index.kneighbors(_MORE[:5], 3)))

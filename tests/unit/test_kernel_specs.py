"""The core's kernels are named; a name that it does not know is an error and no other kernel."""

import pytest

from filbert import _core


@pytest.mark.parametrize("name", ["subtree", "subset_tree", "partial_tree"])
def test_known_names_are_taken(name: str) -> None:
    _core.KernelSpec(name, decay=0.4)


@pytest.mark.parametrize("name", ["", "sub_tree", "SubsetTree", "partial_trees"])
def test_unknown_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"no tree kernel '{name}'"):
        _core.KernelSpec(name, decay=0.4)


def test_unknown_penalties_are_refused() -> None:
    with pytest.raises(ValueError, match="no penalty 'gap'"):
        _core.KernelSpec("partial_tree", decay=0.4, penalty="gap")

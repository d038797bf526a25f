"""The core's kernels are named; a name that it does not know is an error and no other kernel."""

import numpy as np
import pytest

from filbert import Forest, _core
from filbert.kernels import PartialTree


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


def test_what_a_kernel_does_not_have_is_refused() -> None:
    X = Forest.from_brackets(["(S (A a) (B b))", "(S (A a))"])
    with pytest.raises(ValueError, match="rows are for subtrees and subset trees"):
        _core.RowScorer(PartialTree()._spec(), X._dag, X._roots, np.ones((1, 2)), True, 1, None)

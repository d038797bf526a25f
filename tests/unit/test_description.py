"""What `Forest.describe` says about forests."""

import json
from collections import Counter
from statistics import mean, median

import numpy as np
import pytest
from hypothesis import given

from filbert import Forest
from tests.reference.trees import Node, depth, nodes, size, write
from tests.strategies import forests


@given(forests())
def test_figures(some: list[Node]) -> None:
    found = Forest(map(write, some)).describe()
    everything = [node for tree in some for node in nodes(tree)]
    inner = [node for node in everything if node.children]
    leaves = [node for node in everything if not node.children]
    assert (found.n_trees, found.n_distinct_trees) == (len(some), len(set(some)))
    assert (found.n_nodes, found.n_leaves) == (len(everything), len(leaves))
    assert found.n_subtrees == len(set(everything))
    assert found.stored_share == found.n_subtrees / found.n_nodes
    assert found.depth_counts == Counter(map(depth, some))
    assert found.branching_counts == Counter(len(node.children) for node in inner)
    assert found.label_counts == Counter(node.label for node in inner)
    assert found.leaf_counts == Counter(node.label for node in leaves)
    for spread, numbers in (
        (found.size, list(map(size, some))),
        (found.depth, list(map(depth, some))),
        (found.branching, [len(node.children) for node in inner] or [0]),
    ):
        assert (spread.min, spread.max) == (min(numbers), max(numbers))
        assert spread.median == median(numbers)
        assert spread.mean == pytest.approx(mean(numbers), rel=1e-12)
    for counts in (found.label_counts, found.leaf_counts):
        assert list(counts) == sorted(counts, key=lambda label: (-counts[label], label))
    again = json.loads(json.dumps(found.to_dict()))
    assert again == found.to_dict()
    assert str(found).startswith(f"{len(some)} tree")


def test_only_the_trees_of_the_forest_count() -> None:
    forest = Forest(["(S (A a))", "(T (B b) (B b))"])
    assert forest[1:].describe() == Forest(["(T (B b) (B b))"]).describe()


def test_nothing_to_describe() -> None:
    found = Forest().describe()
    assert (found.n_trees, found.n_nodes, found.stored_share, found.size.max) == (0, 0, 0.0, 0)
    assert "0 trees" in str(found)
    assert json.dumps(found.to_dict())


def test_long_lists_are_shortened_in_the_text() -> None:
    chains = ["(a " * i + f"w{i}" + ")" * i for i in range(1, 100)]
    lines = str(Forest(chains).describe()).splitlines()
    assert len(lines) < 30
    assert max(map(len, lines)) < 100
    bars = [line for line in lines if line.endswith("#")]
    assert [line.split()[0] for line in bars][:2] == ["2-10", "11-19"]
    assert sum(int(line.split()[1]) for line in bars) == 99


def test_more_nodes_than_numbers_have_bits() -> None:
    n = 100
    found = Forest.from_arrays(
        {
            "label_bytes": np.frombuffer(b"a", dtype=np.uint8),
            "label_ends": np.array([1], dtype=np.uint64),
            "node_labels": np.zeros(n, dtype=np.uint32),
            "child_ends": 2 * np.arange(n, dtype=np.uint64),
            "children": np.repeat(np.arange(n - 1, dtype=np.uint32), 2),
            "roots": np.array([n - 1], dtype=np.uint32),
        }
    ).describe()
    assert found.n_nodes == 2**n - 1
    assert found.leaf_counts == {"a": 2 ** (n - 1)}
    assert str(found)

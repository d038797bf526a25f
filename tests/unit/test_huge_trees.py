"""Trees of a million nodes: as deep, as wide and as bushy as can be, under a small stack.

Each shape has a process of its own with a stack of 256 kB, which all of its threads then have. Run
as a program, this file is such a process.
"""

import gc
import json
import math
import pickle
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from filbert import Forest
from filbert.kernels import SubsetTree, Subtree

pytestmark = pytest.mark.product

N = 10**6
N_CYCLING = N // 4
STACK = 256  # kB
TIME_LIMIT = 600  # seconds, so that a hang ends some day; nothing here takes so long


# ---------------------------------------------------------------- pairs of trees, hardly different


def chain(labels: Sequence[str]) -> str:
    return "".join(f"({label} " for label in labels[:-1]) + labels[-1] + ")" * (len(labels) - 1)


def cycling_chains() -> tuple[str, str]:
    labels = [f"L{i % 1000}" for i in range(N_CYCLING)]
    return chain([*labels[:-1], "x"]), chain([*labels[3:-1], "x", "y", "z", "x"])


def uniform_chains() -> tuple[str, str]:
    return chain(["a"] * N), chain(["a"] * (N - 1) + ["b"])


def stars() -> tuple[str, str]:
    """Every other child has a child itself; in one of them the second tree differs."""
    children = [f"(T w{i})" if i % 2 else f"w{i}" for i in range(N)]
    other = [*children[:-1], "(T z)"]
    return f"(S {' '.join(children)})", f"(S {' '.join(other)})"


def binary_trees() -> tuple[str, str]:
    """Random shape, 30 labels; in the second tree one leaf in the middle is another."""
    rng = Random(2012)
    tokens: list[str] = []
    sizes = [N + 1]  # of the subtrees that are still to be written; 0 for a closing bracket
    while sizes:
        n = sizes.pop()
        if n == 0:
            tokens.append(")")
            continue
        label = f"L{rng.randrange(30)}"
        if n == 1:
            tokens.append(f" {label}")
            continue
        tokens.append(f" ({label}")
        left = 1 + 2 * rng.randrange(n // 2)
        sizes += [0, n - 1 - left, left]
    middle = next(i for i in range(len(tokens) // 2, len(tokens)) if "(" not in tokens[i])
    while tokens[middle] == ")":
        middle += 1
    other = [*tokens[:middle], " other", *tokens[middle + 1 :]]
    return "".join(tokens), "".join(other)


# With the decay that is tried.
PAIRS: dict[str, tuple[Callable[[], tuple[str, str]], float]] = {
    "cycling-chain": (cycling_chains, 0.4),
    "uniform-chain": (uniform_chains, 1.0),
    "star": (stars, 0.4),
    "binary": (binary_trees, 1.0),
}


# ---------------------------------------------------------------- the program


def work(shape: str) -> dict[str, Any]:
    """Do everything that can be done with a tree; return what can be checked outside."""
    pair, decay = PAIRS[shape]
    text, other_text = pair()
    forest = Forest.from_brackets([text])
    tree = forest[0]
    figures = {"n_nodes": tree.n_nodes, "depth": tree.depth, "n_children": len(tree.children)}

    assert Forest.from_brackets([str(tree)]) == forest, "printed and read again"
    assert pickle.loads(pickle.dumps(tree)) == tree, "pickled"
    drawing = tree.draw().splitlines()
    assert len(drawing) <= 101
    assert len(repr(tree)) < 100
    assert len(repr(forest)) < 200
    assert sum(1 for _ in zip(tree.nodes(), range(1000), strict=False)) == 1000

    other = Forest.from_brackets([other_text])
    assert other != forest
    figures["stk"] = SubsetTree(decay)(forest, other)[0, 0]
    figures["st"] = Subtree(decay)(forest, other)[0, 0]
    both = Forest.concat([forest, other])
    assert both[:1] == forest
    assert both[1:] == other
    figures["drawing"] = drawing[:3]

    del forest, tree, other, both  # freed, and the next ones live in the same memory
    gc.collect()
    small = Forest(["(a (b c))", "(a (b d))"])
    figures["afterwards"] = SubsetTree(1.0, normalize=False)(small).tolist()
    return figures


def figures_of(shape: str) -> dict[str, Any]:
    """Run the program; return what it found."""
    program = shlex.join([sys.executable, __file__, shape])
    done = subprocess.run(
        ["bash", "-c", f"ulimit -s {STACK}; exec {program}"],
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figures: dict[str, Any] = json.loads(done.stdout)
    assert 0 <= figures["stk"] <= 1 + 1e-12
    assert 0 <= figures["st"] <= 1 + 1e-12
    assert figures["afterwards"] == [[3, 1], [1, 3]]
    return figures


# ---------------------------------------------------------------- the tests


def test_a_chain_of_many_labels() -> None:
    figures = figures_of("cycling-chain")
    assert figures["n_nodes"] == figures["depth"] == N_CYCLING
    assert figures["n_children"] == 1
    assert figures["drawing"] == ["L0", "└─ L1", "   └─ L2"]
    assert 0.99 < figures["stk"] < 1  # all but the ends is alike
    assert figures["st"] == 0  # no complete subtree is shared


def test_a_chain_of_a_million_equal_labels() -> None:
    """Its nodes are all of one production: 10^12 pairs, if one took them one by one."""
    figures = figures_of("uniform-chain")
    assert (figures["n_nodes"], figures["depth"]) == (N, N)
    m = np.arange(1, N, dtype=float)  # how many productions two nodes have in common: Delta is m
    # Pairs of nodes with m in common: two to the side of each end, and the ends themselves. In the
    # second tree the last production is another one.
    k_aa = math.fsum((2 * (N - 1 - m) + 1) * m)
    k_ab = math.fsum((2 * (N - 2 - m[:-1]) + 2) * m[:-1])
    k_bb = math.fsum((2 * (N - 2 - m[:-1])) * m[:-1]) + math.fsum(m)
    assert figures["stk"] == pytest.approx(k_ab / math.sqrt(k_aa * k_bb), rel=1e-9)
    assert figures["st"] == 0


def test_a_node_with_a_million_children() -> None:
    decay, figures = PAIRS["star"][1], figures_of("star")
    assert (figures["n_nodes"], figures["depth"]) == (N + N // 2 + 1, 3)
    assert figures["n_children"] == N
    # Beside the (1 + decay)^500,000 fragments of the root nothing else counts, and one of the
    # factors is missing between the two.
    assert figures["stk"] == pytest.approx(1 / (1 + decay), rel=1e-8)
    n = N // 2  # children that are subtrees; the root's subtree weighs next to nothing
    assert figures["st"] == pytest.approx((n - 1) / n, rel=1e-5)


def test_a_binary_tree_of_a_million_nodes() -> None:
    figures = figures_of("binary")
    assert figures["n_nodes"] == N + 1
    assert figures["n_children"] == 2
    assert 30 < figures["depth"] < 200
    assert 0.1 < figures["stk"] < 1
    assert 0.99 < figures["st"] < 1


if __name__ == "__main__":
    print(json.dumps(work(sys.argv[1])))

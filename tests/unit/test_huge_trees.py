"""Trees of a million nodes: as deep, as wide and as bushy as can be, under small stacks.

Each shape is worked on in processes of their own, one with the usual stack of 8 MB and one with
256 kB, which all of its threads then have. Run as a program, this file is such a process.
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
STACKS = {8192: 1.0, 256: 0.4}  # kB, and the decay that is tried with it
TIME_LIMIT = 600  # seconds, so that a hang ends some day; nothing here takes so long


# ---------------------------------------------------------------- pairs of trees, hardly different


def chain(labels: Sequence[str]) -> str:
    return "".join(f"({label} " for label in labels[:-1]) + labels[-1] + ")" * (len(labels) - 1)


def cycling_chains() -> tuple[str, str]:
    labels = [f"L{i % 1000}" for i in range(N)]
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


PAIRS: dict[str, Callable[[], tuple[str, str]]] = {
    "cycling-chain": cycling_chains,
    "uniform-chain": uniform_chains,
    "star": stars,
    "binary": binary_trees,
}


# ---------------------------------------------------------------- the program


def work(shape: str, decay: float) -> dict[str, Any]:
    """Do everything that can be done with a tree; return what can be checked outside."""
    text, other_text = PAIRS[shape]()
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


def figures_of(shape: str) -> list[tuple[float, dict[str, Any]]]:
    """Run the program under both stacks at the same time; their decays and what they found."""
    program = [sys.executable, __file__, shape]
    processes = [
        subprocess.Popen(
            ["bash", "-c", f"ulimit -s {stack}; exec {shlex.join([*program, str(decay)])}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for stack, decay in STACKS.items()
    ]
    found = []
    try:
        for (stack, decay), process in zip(STACKS.items(), processes, strict=True):
            out, err = process.communicate(timeout=TIME_LIMIT)
            assert process.returncode == 0, f"stack of {stack} kB: {process.returncode}\n{err}"
            found.append((decay, json.loads(out)))
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    return found


# ---------------------------------------------------------------- the tests


def check_any(figures: dict[str, Any]) -> None:
    """What holds for every shape."""
    assert 0 <= figures["stk"] <= 1 + 1e-12
    assert 0 <= figures["st"] <= 1 + 1e-12
    assert figures["afterwards"] == [[3, 1], [1, 3]]


def test_a_chain_of_a_million_nodes() -> None:
    for _, figures in figures_of("cycling-chain"):
        check_any(figures)
        assert (figures["n_nodes"], figures["depth"], figures["n_children"]) == (N, N, 1)
        assert figures["drawing"] == ["L0", "└─ L1", "   └─ L2"]
        assert 0.99 < figures["stk"] < 1  # all but the ends is alike
        assert figures["st"] == 0  # no complete subtree is shared


def test_a_chain_of_a_million_equal_labels() -> None:
    """Its nodes are all of one production: 10^12 pairs, if one took them one by one."""
    m = np.arange(1, N, dtype=float)  # how many productions two nodes have in common
    for decay, figures in figures_of("uniform-chain"):
        check_any(figures)
        assert (figures["n_nodes"], figures["depth"]) == (N, N)
        delta = m if decay == 1 else decay * (1 - decay**m) / (1 - decay)
        # Pairs of nodes with m in common: two to the side of each end, and the ends themselves. In
        # the second tree the last production is another one.
        k_aa = math.fsum((2 * (N - 1 - m) + 1) * delta)
        k_ab = math.fsum((2 * (N - 2 - m[:-1]) + 2) * delta[:-1])
        k_bb = math.fsum((2 * (N - 2 - m[:-1])) * delta[:-1]) + math.fsum(delta)
        assert figures["stk"] == pytest.approx(k_ab / math.sqrt(k_aa * k_bb), rel=1e-9)
        assert figures["st"] == 0


def test_a_node_with_a_million_children() -> None:
    for decay, figures in figures_of("star"):
        check_any(figures)
        assert (figures["n_nodes"], figures["depth"]) == (N + N // 2 + 1, 3)
        assert figures["n_children"] == N
        # Beside the (1 + decay)^500,000 fragments of the root nothing else counts, and one of the
        # factors is missing between the two.
        assert figures["stk"] == pytest.approx(1 / (1 + decay), rel=1e-8)
        n = N // 2  # children that are subtrees; the root's subtree weighs next to nothing
        weight = decay ** (n + 1)
        expected = (n - 1) * decay / (n * decay + weight)
        assert figures["st"] == pytest.approx(expected, rel=1e-5)


def test_a_binary_tree_of_a_million_nodes() -> None:
    for _, figures in figures_of("binary"):
        check_any(figures)
        assert figures["n_nodes"] == N + 1
        assert figures["n_children"] == 2
        assert 30 < figures["depth"] < 200
        assert 0.1 < figures["stk"] < 1
        assert 0.99 < figures["st"] < 1


if __name__ == "__main__":
    print(json.dumps(work(sys.argv[1], float(sys.argv[2]))))

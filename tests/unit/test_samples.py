"""Real sentences for everybody: what is tested on treebanks, on a few sentences of tests/data."""

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from filbert import Forest, TreeSVC
from filbert.datasets import srl_boundary
from filbert.fragments import recurring_fragments
from filbert.kernels import Kernel, PartialTree, SubsetTree, Subtree
from filbert.metrics import count_brackets
from tests.fragments import nodes_of
from tests.reference.matrix import reference_matrix
from tests.reference.recurring import common
from tests.reference.trees import Node, nodes, parse
from tests.unit.test_srl_features import seen_in_tree

DATA = Path(__file__).parents[1] / "data"
KERNELS: list[Kernel] = [
    SubsetTree(),
    SubsetTree(0.4, include_leaves=True, normalize=False),
    Subtree(0.4, normalize=False),
    PartialTree(),
    PartialTree(0.4, 0.4, penalty="gaps", normalize=False),
]


def read(name: str) -> list[dict[str, Any]]:
    with (DATA / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("name", ["sentences", "tags"])
def test_kernels_of_sentences(kernel: Kernel, name: str) -> None:
    texts = [sentence["tree"] for sentence in read(name) if len(sentence["tree"]) < 330][:8]
    assert len(texts) == 8
    trees = [parse(text) for text in texts]
    np.testing.assert_allclose(kernel(texts), reference_matrix(kernel, trees, trees), rtol=1e-10)


def spans(tree: str, words: bool) -> list[tuple[int, int]]:
    """The first and the last token of each node that is not a word."""
    found, above, n = [], [], 0
    for symbol in re.findall(r"\(|\)|[^() ]+", tree):
        if symbol == "(":
            above.append(-1)
        elif symbol == ")":
            found.append((above.pop(), n))
        elif above[-1] == -1:
            above[-1] = n
        else:
            n += 1
            found += [] if words else [(n - 1, n)]
    return found


@pytest.mark.parametrize(("name", "leaves"), [("sentences", "words"), ("tags", "tags")])
def test_examples_of_argument_boundaries(name: str, leaves: Any) -> None:
    """All nodes for all predicates. The positive ones cover exactly an argument."""
    sentences = read(name)
    labels = [label for label, _ in srl_boundary(sentences, rule="A", leaves=leaves)]
    wanted = [
        span in {(start, end) for _, start, end in proposition["args"]}
        for sentence in sentences
        for proposition in sentence["props"]
        for span in spans(sentence["tree"], words=leaves == "words")
    ]
    assert (len(labels), labels.count(1)) == (len(wanted), sum(wanted))
    assert labels.count(1) > 100


def test_features_are_what_the_trees_show() -> None:
    n = 0
    for _, tree, found in srl_boundary(read("sentences"), features=True):
        shown = found.phrase_type, found.predicate_word, found.position, found.path
        assert shown == seen_in_tree(tree)
        assert f" {found.head_word})" in tree
        n += 1
    assert n > 500


def test_boundaries_are_learnt() -> None:
    """Two ways to train, one optimum; and it tells most examples apart."""
    examples = list(srl_boundary(read("sentences"), rule="VB"))
    y, X = np.array([label for label, _ in examples]), Forest([tree for _, tree in examples])
    options: dict[str, Any] = {"tol": 1e-6, "max_iter": 10**6, "random_state": 0}
    factors, rows = (TreeSVC(engine=e, **options).fit(X, y) for e in ("factors", "rows"))
    assert rows.objective_ == pytest.approx(factors.objective_, rel=2e-6)
    np.testing.assert_allclose(rows.decision_function(X), factors.decision_function(X), atol=1e-2)
    assert (factors.predict(X) == y).mean() > 0.9


def test_recurring_fragments_of_sentences() -> None:
    """Counts are those of the matcher, and what two nodes share is listed."""
    texts = [sentence["tree"] for sentence in read("sentences")]
    forest = Forest(texts)
    found = recurring_fragments(forest)
    np.testing.assert_array_equal(found.fragments.count(forest).sum(axis=0), found.count)
    fragments = set(nodes_of(found.fragments))
    alike: dict[tuple[str, ...], list[Node]] = {}
    for node in (node for text in texts for node in nodes(parse(text)) if node.children):
        production = (node.label, *(child.label for child in node.children))
        alike.setdefault(production, []).append(node)
    pairs = [pair for group in alike.values() for pair in combinations(group[:10], 2)]
    assert len(pairs) > 100
    assert all(common(a, b) in fragments for a, b in pairs)


def test_brackets_of_a_parser() -> None:
    """The numbers of brackets that another program has counted."""
    found = [(s, c) for s in read("candidates") for c in s["candidates"]]
    punctuation = (",", ":", "``", "''", ".", "HYPH", "NFP")
    counts = count_brackets(
        [s["gold"] for s, _ in found], [c["tree"] for _, c in found], punctuation=punctuation
    )
    assert len(found) > 20
    assert counts.matched.tolist() == [c["match"] for _, c in found]
    assert counts.guessed.tolist() == [c["guess"] for _, c in found]
    assert counts.gold.tolist() == [s["n_gold"] for s, _ in found]

"""Fragments and explanations of models with approximate kernels: only chosen nodes are roots."""

import numpy as np
import pytest

from filbert import Forest, FragmentVectorizer, TreeSVC, explain
from filbert.kernels import ApproximateTree, PartialTree, SubsetTree, Subtree, TreeKernel

TEXTS = [
    f"(S (NP (D {d}) (N {n})) (VP (V {v}) (NP (D {e}) (N cat))))"
    for d, n, v, e in zip("abab", ("dog", "cat", "dog", "cat"), "ssrr", "abba", strict=True)
]
KERNELS = [SubsetTree(), SubsetTree(include_leaves=True), Subtree(), PartialTree()]


@pytest.mark.parametrize("symbols", [["NP"], ["VP", "D", "cat"]])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_fragments_make_up_the_model(kernel: TreeKernel, symbols: list[str]) -> None:
    X, y = Forest(TEXTS), [0, 0, 1, 1]
    model = TreeSVC(ApproximateTree(kernel, symbols), C=1.0, loss="hinge").fit(X, y)
    everything = {"max_ratio": 1e9, "min_frequency": 1, "search": "complete"}
    vectorizer = FragmentVectorizer(model, **everything).fit(X, y)
    roots = {fragment.labels[0] for fragment in vectorizer.fragments_}
    assert roots <= set(symbols)
    assert roots
    values = vectorizer.transform(X) @ vectorizer.coef_[0] + vectorizer.intercept_
    np.testing.assert_allclose(values, model.decision_function(X), atol=1e-12)


def test_only_chosen_nodes_contribute() -> None:
    model = TreeSVC(ApproximateTree(SubsetTree(), ["NP"]), C=1.0, loss="hinge").fit(
        TEXTS, [0, 0, 1, 1]
    )
    example = explain(model, TEXTS[:1], min_frequency=1).examples[0]
    shares = zip(example.tree.labels, example.contributions[0], strict=True)
    assert {label for label, share in shares if share != 0} == {"NP"}

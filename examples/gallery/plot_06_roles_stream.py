"""
Semantic roles from a stream
============================

Who did what to whom? An *argument* of a verb is a phrase that fills a role. This example learns
from a stream which nodes of a parse are arguments. It never holds more than a batch and the model.
"""

# %%
# Annotated sentences, without an end
# -----------------------------------
#
# A generator writes one sentence after another, with its arguments. A phrase with "with" belongs to
# the verb or to the noun before it, and only some verbs have a role for it. So the model has to
# look at the tree and at the verb.

import itertools
import random
from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

from filbert import Forest, TreePerceptron
from filbert.datasets import srl_boundary
from filbert.kernels import SubsetTree

NOUNS = ["dog", "cat", "girl", "man", "book", "hat", "ball", "letter"]
VERBS = ["saw", "found", "gave", "sold", "hid", "wrote", "hit", "cut", "filled", "opened"]
WITH = {"hit", "cut", "filled", "opened", "wrote"}  # verbs with an instrument among their roles


def sentences(seed: int) -> Iterator[dict[str, object]]:
    """Yield parses with the arguments of their verb, as in PropBank."""
    draw = random.Random(seed)
    while True:
        one, two, three, verb = (draw.choice(words) for words in (NOUNS, NOUNS, NOUNS, VERBS))
        subject = f"(NP (DT the) (NN {one}))"
        pp = f"(PP (IN with) (NP (DT a) (NN {three})))"
        adverb = draw.random() < 0.3
        often = "(ADVP (RB often)) " if adverb else ""
        start = 3 if adverb else 2
        if draw.random() < 0.5:  # the phrase belongs to the verb
            objects = f"(NP (DT a) (NN {two})) {pp}"
            spans = [["ARG1", start + 1, start + 3]]
            if verb in WITH:
                spans.append(["ARG2", start + 3, start + 6])
        else:  # the phrase belongs to the noun
            objects = f"(NP (NP (DT a) (NN {two})) {pp})"
            spans = [["ARG1", start + 1, start + 6]]
        args = [["ARG0", 0, 2], *([["ARGM-TMP", 2, 3]] if adverb else []), *spans]
        tree = f"(S {subject} (VP {often}(VBD {verb}) {objects}))"
        yield {"tree": tree, "props": [{"pred": [start], "args": args}]}


# %%
# :func:`~filbert.datasets.srl_boundary` makes an example from each pair of a verb and a node.
# ``-P`` marks the verb and ``-B`` the candidate.

for label, tree in itertools.islice(srl_boundary(sentences(0)), 4):
    print(f"{label:+d}", tree)

# %%
# Learn online
# ------------
#
# Each batch is predicted before it is learnt from. So the error is measured on new examples.

clf = TreePerceptron(SubsetTree(decay=0.4))
stream = srl_boundary(sentences(1))
seen, errors, support, nodes = [], [], [], []
for number in range(40):
    labels, trees = zip(*itertools.islice(stream, 50), strict=True)
    X, y = Forest(trees), np.array(labels)
    if number:
        seen.append(clf.n_seen_)
        errors.append(np.mean(clf.predict(X) != y))
        support.append(clf.n_support_vectors_)
        nodes.append(clf.n_nodes_)
    clf.partial_fit(X, y, classes=[-1, 1])

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
left.plot(seen, 100 * np.array(errors), "o-", ms=3)
left.set(xlabel="examples", ylabel="wrong, %", title="errors on the next batch", ylim=(0, None))
right.plot(seen, support, label="support vectors")
right.plot(seen, nodes, label="distinct nodes of the model")
right.set(xlabel="examples", title="the model")
right.legend()
print(f"{clf.n_seen_:,} examples, {clf.n_support_vectors_} of them in the model")

# %%
# :func:`filbert.stream` reads batches from files and pipes in the same way.

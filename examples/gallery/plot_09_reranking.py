"""
Re-rank the parses of a parser
==============================

A parser gives several parses of a sentence, with scores. :class:`~filbert.TreeRanker` learns from
the trees which one is right. Here a simulated parser guesses where a prepositional phrase belongs.
"""

# %%
# Lists of parses
# ---------------
#
# "I saw the man with the hat": the phrase belongs to the verb or to the noun. The right answer
# depends on the words. The parser's score knows a little about it.

import matplotlib.pyplot as plt
import numpy as np

from filbert import Examples, Forest, TreeRanker
from filbert.kernels import Linear, SubsetTree
from filbert.metrics import mean_reciprocal_rank

rng = np.random.default_rng(0)
TOOLS, CLOTHES = ["telescope", "camera", "lens"], ["hat", "coat", "scarf"]
VERBS, MEN = ["saw", "watched", "found"], ["man", "girl", "king"]


def candidates(verb: str, man: str, thing: str) -> list[str]:
    """Write both parses of a sentence, and a third one that is always wrong."""
    subject, pp = "(NP (PRP I))", f"(PP (IN with) (NP (DT the) (NN {thing})))"
    noun = f"(NP (DT the) (NN {man}))"
    return [
        f"(S {subject} (VP (VBD {verb}) {noun} {pp}))",
        f"(S {subject} (VP (VBD {verb}) (NP {noun} {pp})))",
        f"(S (S {subject} (VP (VBD {verb}) {noun})) {pp})",
    ]


trees, right, group = [], [], []
for number in range(120):
    thing = rng.choice(TOOLS + CLOTHES)
    trees += candidates(rng.choice(VERBS), rng.choice(MEN), thing)
    best = 0 if thing in TOOLS else 1
    right += [int(place == best) for place in range(3)]
    group += [number] * 3
right, group = np.array(right), np.array(group)
score = right + rng.normal(0, 1, len(right))  # the parser's own opinion
X = Examples(tree=Forest(trees), score=score[:, np.newaxis])

# %%
# Learn to rank
# -------------
#
# The kernel adds the parser's score to the trees. The first 60 sentences are for training.

kernel = SubsetTree(decay=0.4).on("tree") + Linear(normalize=False).on("score")
train, test = group < 60, group >= 60
rankers = {
    "the parser's score": score[test],
    "trees": TreeRanker(SubsetTree(0.4).on("tree"), random_state=0)
    .fit(X[train], right[train], group=group[train])
    .predict(X[test]),
    "both": TreeRanker(kernel, random_state=0)
    .fit(X[train], right[train], group=group[train])
    .predict(X[test]),
}
names = list(rankers)
first = [
    np.mean(
        [
            right[test][group[test] == g][np.argmax(s[group[test] == g])]
            for g in np.unique(group[test])
        ]
    )
    for s in rankers.values()
]
for name, s in rankers.items():
    print(f"{name:20} mean reciprocal rank {mean_reciprocal_rank(right[test], s, group[test]):.3f}")
figure, axes = plt.subplots(figsize=(6, 2.8))
axes.barh(names[::-1], [100 * value for value in first[::-1]])
axes.set(xlabel="sentences whose first parse is right, %", xlim=(0, 100))

# %%
# :func:`filbert.metrics.count_brackets` measures labelled F1 of real parses, as EVALB does.

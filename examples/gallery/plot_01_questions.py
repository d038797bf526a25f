"""
Kinds of questions
==================

Which kind of answer does a question ask for: a person, a place, a number or a time? The questions
are made by a small grammar. Their parses go to a :class:`~filbert.TreeSVC`, and
:func:`~filbert.explain` shows what it has learnt.
"""

# %%
# The trees
# ---------
#
# A grammar writes 240 questions with their parses. Some words occur with several kinds, so words
# alone do not decide: "what" asks for all kinds.

import random

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import cross_val_predict

from filbert import Forest, TreeSVC, explain
from filbert.kernels import SubsetTree

NOUNS = ["river", "city", "king", "writer", "bridge", "war", "company", "song", "team", "lake"]
VERBS = ["build", "paint", "win", "cross", "found", "visit", "name", "own"]
STARTS = {
    "person": [
        "(WP who)",
        "(WHNP (WDT what) (NN person))",
        "(WHNP (WP$ whose) (NN team))",
    ],
    "place": [
        "(WHADVP (WRB where))",
        "(WHNP (WDT what) (NN city))",
        "(WHPP (IN in) (WHNP (WDT what) (NN country)))",
    ],
    "number": [
        "(WHADJP (WRB how) (JJ many) (NNS people))",
        "(WHADJP (WRB how) (JJ long))",
        "(WHNP (WDT what) (NN number))",
    ],
    "time": [
        "(WHADVP (WRB when))",
        "(WHNP (WDT what) (NN year))",
        "(WHPP (IN on) (WHNP (WDT what) (NN day)))",
    ],
}


def question(kind: str, draw: random.Random) -> str:
    """Write a question of a kind, as a parse in brackets."""
    noun, other, verb = draw.choice(NOUNS), draw.choice(NOUNS), draw.choice(VERBS)
    subject = f"(NP (DT the) (NN {noun}))"
    if draw.random() < 0.5:
        subject = f"(NP {subject} (PP (IN of) (NP (DT the) (NN {other}))))"
    return f"(SBARQ {draw.choice(STARTS[kind])} (SQ (VBD did) {subject} (VP (VB {verb}))) (. ?))"


draw = random.Random(0)
kinds = np.array(list(STARTS) * 60)
questions = Forest(question(kind, draw) for kind in kinds)
print(questions)
print(questions[0].draw())

# %%
# Accuracy
# --------
#
# A tenth of the labels are replaced by random ones, as annotators do.

noise = np.random.default_rng(0)
labels = np.where(noise.random(len(kinds)) < 0.1, noise.choice(list(STARTS), len(kinds)), kinds)
clf = TreeSVC(SubsetTree(decay=0.3), C=1, random_state=0)
predicted = cross_val_predict(clf, questions, labels, cv=5)
print(f"accuracy against the clean labels: {np.mean(predicted == kinds):.1%}")
figure, axes = plt.subplots(figsize=(4.8, 4.2))
ConfusionMatrixDisplay.from_predictions(kinds, predicted, ax=axes, cmap="Blues", colorbar=False)
axes.grid(visible=False)

# %%
# What the model has learnt
# -------------------------
#
# The fragments with the largest weights, for each kind. A dash … marks where a fragment ends and
# the tree goes on.

clf.fit(questions, labels)
explanation = explain(clf, questions, labels)
figure, grid = plt.subplots(2, 2, figsize=(9.5, 5.2))
for axes, problem in zip(grid.flat, explanation.problems, strict=True):
    best = problem.for_[:5][::-1]
    axes.barh([fragment.text for fragment in best], [fragment.weight for fragment in best])
    axes.set_title(problem.positive, fontsize=10)
    axes.tick_params(axis="y", labelsize=7)

# %%
# ``explanation.to_html("report.html")`` writes a page with all fragments, all examples and the
# contribution of every node.

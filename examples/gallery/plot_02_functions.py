"""
Which function is this?
=======================

Functions of Python's standard library, with their names hidden: is this one called ``get_...``,
``set_...`` or ``is_...``? The trees are Python's own syntax trees, so there is nothing to download.
"""

# %%
# The data
# --------

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GroupShuffleSplit

from filbert import TreeSVC, explain
from filbert.datasets import load_stdlib_functions
from filbert.kernels import SubsetTree

data = load_stdlib_functions(verbs=["get", "is", "set"])
print(data.data)

# %%
# No module is both in training and in test, because functions of one module resemble each other.

modules = [name.split(".")[0] for name in data.names]
[(train, test)] = GroupShuffleSplit(1, test_size=0.3, random_state=0).split(
    data.target, groups=modules
)
clf = TreeSVC(SubsetTree(decay=0.2), C=3, random_state=0).fit(data.data[train], data.target[train])
print(f"accuracy on {len(test)} functions: {clf.score(data.data[test], data.target[test]):.1%}")
frequent = np.unique(data.target[train], return_counts=True)[1].max() / len(train)
print(f"the most frequent verb has {frequent:.1%} of the training functions")

# %%
# Explain one prediction
# ----------------------
#
# A score is the sum of what the nodes of the tree contribute, and of the intercept. This is exact.

explanation = explain(clf, data.data[test], data.target[test], max_examples=200)
example = next(
    e for e in explanation.examples if e.predicted == "is" and 15 < len(e.tree.labels) < 30
)
which = list(clf.classes_).index(example.predicted)
values = example.contributions[which]
print(f"predicted: {example.predicted}")
print(example.tree.draw(values))
intercept = explanation.model.intercept[which]
print(f"{sum(values):+.4f} {intercept:+.4f} (intercept) = {example.scores[which]:+.4f}")

# %%
# The nodes with the largest contributions, as a picture:

order = np.argsort(np.abs(values))[-8:]
names = [example.tree.labels[i] for i in order]
colours = ["#2a67b0" if values[i] > 0 else "#c2691c" for i in order]
figure, axes = plt.subplots(figsize=(7, 3.4))
axes.barh(range(len(order)), [values[i] for i in order], color=colours)
axes.set_yticks(range(len(order)), names)
axes.set_xlabel(f"contribution to the score of '{example.predicted}'")

# %%
# What the model has learnt as a whole
# ------------------------------------

for problem in explanation.problems:
    print(f"for {problem.positive}:")
    for fragment in problem.for_[:4]:
        print(f"  {fragment.weight:+.3f}  {fragment.text}")

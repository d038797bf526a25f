"""
A map of a treebank
===================

Kernel PCA of trees, without a kernel matrix: :class:`~filbert.TreeFeatures` gives the kernel's own
space as a sparse matrix, and ``TruncatedSVD`` finds its main directions.
"""

# %%
# A small treebank
# ----------------
#
# Sentences of four patterns, made by a grammar. Adverbs and adjectives come and go.

import random

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD

from filbert import Forest, TreeFeatures
from filbert.kernels import SubsetTree

draw = random.Random(0)


def noun_phrase() -> str:
    """Write a noun phrase."""
    adjective = f"(JJ {draw.choice(['old', 'red', 'small'])}) " if draw.random() < 0.4 else ""
    noun = draw.choice(["dog", "cat", "king"])
    return f"(NP (DT {draw.choice(['a', 'the'])}) {adjective}(NN {noun}))"


def sentence(pattern: str) -> str:
    """Write a sentence of a pattern."""
    verb = f"(VBD {draw.choice(['saw', 'liked', 'fed'])})"
    if pattern == "passive":
        agent = f"(PP (IN by) {noun_phrase()})"
        return f"(S {noun_phrase()} (VP (VBD was) (VP (VBN seen) {agent})))"
    if pattern == "question":
        return f"(SQ (VBD did) {noun_phrase()} (VP (VB see) {noun_phrase()}))"
    if pattern == "relative":
        clause = f"(SBAR (WHNP (WDT that)) (S (VP {verb} {noun_phrase()})))"
        return f"(S (NP {noun_phrase()} {clause}) (VP (VBD slept)))"
    return f"(S {noun_phrase()} (VP {verb} {noun_phrase()}))"


patterns = np.array(["active", "passive", "question", "relative"] * 60)
treebank = Forest(sentence(pattern) for pattern in patterns)
print(treebank)

# %%
# The kernel's space
# ------------------

A = TreeFeatures(SubsetTree(decay=0.4)).fit_transform(treebank)
print(f"{A.shape[0]} trees, {A.shape[1]} columns, {A.nnz / A.shape[0]:.0f} entries per tree")
print(
    "largest difference from the kernel:", f"{abs((A @ A.T) - SubsetTree(0.4)(treebank)).max():.0e}"
)

# %%
# The map
# -------

svd = TruncatedSVD(3, random_state=0)
points = svd.fit_transform(A)
figure, axes = plt.subplots(figsize=(6.4, 4.4))
for pattern in np.unique(patterns):
    axes.scatter(*points[patterns == pattern, 1:].T, s=16, label=pattern)
axes.set(xlabel="second component", ylabel="third component")
axes.legend()

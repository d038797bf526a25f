"""
A corpus in parts
=================

More trees than fit into memory are read part by part. The result is not an approximation: training
goes on until the duality gap *over all examples* is small enough.
"""

# %%
# Some files
# ----------
#
# Here are eight small files. Yours may be any number of large ones, compressed or not.

import random
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import filbert

draw = random.Random(0)
folder = Path(tempfile.mkdtemp())


def line() -> str:
    """Write a label and a tree: plus, if most signs are."""
    signs = [draw.choice("+-") for _ in range(draw.randint(2, 6))]
    label = "plus" if signs.count("+") > len(signs) / 2 else "other"
    if draw.random() < 0.05:
        label = draw.choice(["plus", "other"])
    return f"{label}\t(SUM " + " ".join(f"(T ({s} {draw.randint(0, 3)}))" for s in signs) + ")"


for part in range(8):
    (folder / f"part-{part}.tsv").write_text("\n".join(line() for _ in range(250)) + "\n")

# %%
# Train over parts
# ----------------
#
# :func:`filbert.parts` reads nothing but the first lines yet. ``fit`` works as always. With a
# checkpoint, the same call goes on after a failure.

corpus = filbert.parts(f"{folder}/*.tsv", n_parts=8)
print(f"{len(corpus):,} examples in {corpus.n_parts} parts")
clf = filbert.TreeSVC(random_state=0).fit(corpus, checkpoint=folder / "kept")
for number, step in enumerate(clf.rounds_, 1):
    print(
        f"round {number}: trained on {step.n_candidates} candidates, "
        f"{step.n_violators} violators, gap {step.gaps[0]:.1e}"
    )
print(f"gap over all examples: {clf.duality_gap_:.1e} (tol {clf.tol})")

# %%
# The same optimum
# ----------------
#
# Training in one piece gives the same model, up to ``tol``:

X, y = filbert.read_examples(f"{folder}/*.tsv")
whole = filbert.TreeSVC(random_state=0).fit(X, y)
a, b = clf.decision_function(X), whole.decision_function(X)
figure, axes = plt.subplots(figsize=(4.6, 4.4))
axes.scatter(b, a, s=8, alpha=0.5)
axes.plot([-2, 2], [-2, 2], color="#5f6b76", lw=1)
axes.set(xlabel="score, trained in one piece", ylabel="score, trained in 8 parts")
print(f"objective {clf.objective_:.3f} in parts, {whole.objective_:.3f} in one piece")
print(f"same predictions: {np.mean(clf.predict(X) == whole.predict(X)):.1%}")

# %%
# On a Dask cluster, the same lines run on its workers: see :doc:`/scaling`.

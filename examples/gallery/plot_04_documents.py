"""
XML and HTML documents
======================

Tell kinds of documents apart by their structure alone. The documents are written by Python itself:
pages of :mod:`html` in three layouts. No text is used, only elements.
"""

# %%
# Documents
# ---------
#
# A function writes small web pages: an article, a catalogue of goods, or a form.

import random

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.model_selection import StratifiedKFold, cross_val_score

from filbert import Forest, TreeSVC
from filbert.kernels import PartialTree, SubsetTree


def block(kind: str, draw: random.Random) -> str:
    """Write the main part of a page of a kind."""
    if kind == "article":
        return "".join(
            f"<p>text{'<em>x</em>' * draw.randint(0, 2)}</p>" for _ in range(draw.randint(2, 6))
        )
    if kind == "catalogue":
        prices = ["<p>price</p>", "<p><b>price</b></p>", "<p><em>price</em></p>"]
        return "".join(
            f"<div><img><h2>n</h2>{draw.choice(prices)}</div>" for _ in range(draw.randint(2, 6))
        )
    rows = ["<p><label>l</label><input></p>", "<p><label>l</label><em>x</em><input></p>"]
    return "<div>" + "".join(draw.choices(rows, k=draw.randint(2, 6))) + "</div>"


def page(kind: str, draw: random.Random) -> str:
    """Write a page: a menu, the main part, and often a smaller part of another kind."""
    menu = "<ul>" + "<li><a>m</a></li>" * draw.randint(2, 5) + "</ul>"
    other = draw.choice(["article", "catalogue", "form"])
    aside = f"<section>{block(other, draw)}</section>" if draw.random() < 0.8 else ""
    parts = [menu, f"<section>{block(kind, draw)}{block(kind, draw)}</section>", aside]
    draw.shuffle(parts)
    return f"<html><head><title>t</title></head><body>{''.join(parts)}</body></html>"


draw = random.Random(1)
kinds = np.array(["article", "catalogue", "form"] * 40)
pages = [page(kind, draw) for kind in kinds]
forest = Forest.from_texts(pages, format="html")
print(forest)
print(forest[1].draw(max_lines=14))

# %%
# Which kernel?
# -------------
#
# A page has any number of items. Subset trees match whole lists of children, partial trees any of
# them. Neither is always better, so cross-validate both:

folds = StratifiedKFold(5, shuffle=True, random_state=0)
for kernel in (SubsetTree(), PartialTree()):
    scores = cross_val_score(TreeSVC(kernel, random_state=0), forest, kinds, cv=folds)
    print(f"{type(kernel).__name__:12} accuracy {scores.mean():.3f}")

# %%
# A map of the documents
# ----------------------

points = KernelPCA(2, kernel="precomputed").fit_transform(PartialTree()(forest))
figure, axes = plt.subplots(figsize=(6, 4))
for kind in np.unique(kinds):
    axes.scatter(*points[kinds == kind].T, s=18, label=kind)
axes.set(xlabel="first component", ylabel="second component")
axes.legend()

# %%
# For files, ``filbert.read_examples("pages", format="html", label="folder")`` reads a folder of
# pages for each class.

"""
Similar code: a search for clones
=================================

Find functions that are copies of each other, or nearly so, in a folder of sources. Names are made
abstract first, so a copy with other names is still a copy.
"""

# %%
# Read functions
# --------------
#
# :func:`~filbert.read_trees` reads a folder. The columns say where each function is.

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import filbert
from filbert.clones import clone_classes, shared_fragment
from filbert.kernels import SubsetTree

folder = Path(filbert.__file__).parent
X = filbert.read_trees(folder, format="python", unit="function", labels="abstract")
names, files = X.columns["name"], X.columns["file"]
print(f"{len(X)} functions of Filbert's own sources")

# %%
# Groups of similar functions
# ---------------------------

groups = clone_classes(X["tree"], min_similarity=0.85, min_size=40)
print(f"{len(groups)} groups")
for group in groups[:5]:
    print(f"{group.similarity:.2f}", ", ".join(str(names[i]) for i in group.members))

# %%
# What the members of a group have in common:

print(shared_fragment(X["tree"][list(groups[0].members)]))

# %%
# The most similar functions to a query
# -------------------------------------
#
# The value of a normalised kernel is 1 for equal trees. Here are the neighbours of one function.

query = int(groups[0].members[0])
similarity = SubsetTree()(X["tree"][[query]], X["tree"])[0]
nearest = np.argsort(-similarity, kind="stable")[1:9]
figure, axes = plt.subplots(figsize=(7, 3.4))
axes.barh([f"{Path(files[i]).stem}.{names[i]}" for i in nearest][::-1], similarity[nearest][::-1])
axes.set(xlim=(0, 1), xlabel=f"similarity to {names[query]}")

# %%
# The command line does the same: ``filbert clones src --min-similarity 0.85 --min-size 40`` and
# ``filbert similar query.py src --format python --set unit=function``.

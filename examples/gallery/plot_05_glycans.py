"""
Glycans
=======

Sugars on the surface of cells are trees of monosaccharides. Which features of a glycan does a
protein bind to? The glycans here are generated, and the binding follows a rule, so we can check
whether the model finds it.
"""

# %%
# Trees in IUPAC notation
# -----------------------

import random

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_predict

from filbert import Forest, TreeSVR, explain
from filbert.kernels import SubsetTree

CORE = "Man(b1-4)GlcNAc(b1-4)GlcNAc"
ARMS = [
    "",
    "GlcNAc(b1-2)",
    "Gal(b1-4)GlcNAc(b1-2)",
    "Neu5Ac(a2-3)Gal(b1-4)GlcNAc(b1-2)",
    "Neu5Ac(a2-6)Gal(b1-4)GlcNAc(b1-2)",
]


def glycan(draw: random.Random) -> str:
    """Write an N-glycan with two arms."""
    left, right = draw.choice(ARMS), draw.choice(ARMS)
    fucose = "[Fuc(a1-6)]" if draw.random() < 0.4 else ""
    core = CORE if not fucose else f"Man(b1-4)GlcNAc(b1-4){fucose}GlcNAc"
    return f"{left}Man(a1-3)[{right}Man(a1-6)]{core}"


draw = random.Random(0)
texts = sorted({glycan(draw) for _ in range(400)})
forest = Forest.from_texts(texts, format="iupac")
print(texts[0])
print(forest[0].draw())

# %%
# Binding
# -------
#
# The protein binds sialic acid in the linkage a2-6, twice as strongly on two arms. Measurements are
# noisy.

sites = np.array([text.count("Neu5Ac(a2-6)") for text in texts])
binding = sites + np.random.default_rng(0).normal(0, 0.3, len(texts))
model = TreeSVR(SubsetTree(decay=0.4), C=10, epsilon=0.1, random_state=0)
predicted = cross_val_predict(model, forest, binding, cv=5)

sugars = ["Gal", "GlcNAc", "Man", "Fuc", "Neu5Ac"]
counts = np.array([[text.count(sugar) for sugar in sugars] for text in texts])
baseline = cross_val_predict(Ridge(1.0), counts, binding, cv=5)
figure, both = plt.subplots(1, 2, figsize=(8.5, 3.8), sharey=True)
for axes, values, title in zip(
    both, (predicted, baseline), ("TreeSVR", "ridge on counts of sugars"), strict=True
):
    axes.scatter(binding, values, s=14, alpha=0.7)
    axes.set(
        xlabel="measured binding", title=f"{title}: Spearman {spearmanr(binding, values)[0]:.2f}"
    )
both[0].set_ylabel("predicted binding")

# %%
# The rule is found
# -----------------
#
# A model of strong and weak binders, explained: the heaviest fragments have the linkage a2-6.

from filbert import TreeSVC

strong = np.where(sites > 0, "strong", "weak")
[problem] = explain(TreeSVC(random_state=0).fit(forest, strong), forest, strong).problems
print(f"against {problem.positive}:" if problem.positive == "weak" else f"for {problem.positive}:")
for fragment in (problem.against if problem.positive == "weak" else problem.for_)[:4]:
    print(f"  {fragment.weight:+.3f}  {fragment.text}")

"""Makes questions.png: questions in two components of TruncatedSVD, coloured by class.

Needs the data sets beside the clone and matplotlib: ``pip install ".[bench]"``. Run it from the
root: ``python docs/images/questions.py``.
"""

import sys
from pathlib import Path

from matplotlib.figure import Figure
from sklearn.decomposition import TruncatedSVD
from sklearn.pipeline import make_pipeline

from filbert import TreeFeatures
from filbert.kernels import SubsetTree

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.loss_sections.questions import questions

TARGET = Path(__file__).with_suffix(".png")

if __name__ == "__main__":
    X, y = questions("train")
    points = make_pipeline(TreeFeatures(SubsetTree(0.4)), TruncatedSVD(3, random_state=0))
    points = points.fit_transform(X)[:, 1:]  # the first component is the mean
    figure = Figure(figsize=(7, 5), layout="constrained")
    axes = figure.subplots()
    for label in sorted(set(y)):
        own = points[y == label]
        axes.scatter(own[:, 0], own[:, 1], s=4, alpha=0.5, label=label)
    axes.set(xlabel="second component", ylabel="third component")
    axes.legend(markerscale=4)
    figure.savefig(TARGET, dpi=80, metadata={"Software": None})

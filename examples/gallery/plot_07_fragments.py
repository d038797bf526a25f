"""
From a kernel to fragments to a linear model
============================================

A kernel model has weights for more fragments than anyone could list.
:class:`~filbert.FragmentVectorizer` finds the heaviest ones and turns them into columns, so that a
plain linear model can use them and people can read them.
"""

# %%
# A kernel model
# --------------

import matplotlib.pyplot as plt
from sklearn.model_selection import GroupShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from filbert import FragmentVectorizer, TreeSVC
from filbert.datasets import load_stdlib_functions
from filbert.fragments import mine
from filbert.kernels import SubsetTree

data = load_stdlib_functions(verbs=["get", "set"])
modules = [name.split(".")[0] for name in data.names]
[(train, test)] = GroupShuffleSplit(1, test_size=0.3, random_state=1).split(
    data.target, groups=modules
)
X, y, X_test, y_test = data.data[train], data.target[train], data.data[test], data.target[test]
clf = TreeSVC(SubsetTree(decay=0.2), C=3, random_state=0).fit(X, y)
print(f"kernel: {clf.score(X_test, y_test):.1%}, {len(clf.support_)} support vectors")

# %%
# Its heaviest fragments
# ----------------------
#
# ``norm_share`` says how much of the model the fragments hold. The squares of the weights of *all*
# fragments sum to the squared norm, which the kernel knows without listing them.

mined = mine(clf, n_fragments=200, min_frequency=1, search="complete")
for fragment, weight in list(zip(mined.fragments, mined.weight, strict=True))[:6]:
    print(f"{weight:+.3f}  {fragment}")
print(f"{mined.n} fragments hold {mined.norm_share:.0%} of the norm")

# %%
# A linear model on fragments
# ---------------------------

numbers = [10, 30, 100, 300, 1000, 3000]
accuracies = []
for number in numbers:
    vectorizer = FragmentVectorizer(clf, n_fragments=number, min_frequency=1)
    linear = make_pipeline(vectorizer, LinearSVC(C=1, random_state=0)).fit(X, y)
    accuracies.append(linear.score(X_test, y_test))
figure, axes = plt.subplots(figsize=(6.4, 3.8))
axes.semilogx(numbers, accuracies, "o-", label="LinearSVC on fragments")
axes.axhline(clf.score(X_test, y_test), color="#c2691c", ls="--", label="kernel")
axes.set(xlabel="fragments", ylabel=f"accuracy on {len(test)} functions")
axes.legend()

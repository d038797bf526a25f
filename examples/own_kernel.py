"""Train with your own kernel, trees times features, by cutting planes.

The product of a tree kernel with another kernel is not a sum over tree nodes, so it does not
factorise. The strategy "usvm" needs only a function that computes kernel values.
"""

import numpy as np
from sklearn.metrics import f1_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split

from filbert import Examples, TreeSVC
from filbert.datasets import load_stdlib_functions
from filbert.kernels import SubsetTree

TREES = SubsetTree(decay=0.4)


def trees_times_sizes(A: Examples, B: Examples) -> np.ndarray:
    """Compare functions by their trees and their sizes."""
    return TREES(A["tree"], B["tree"]) * rbf_kernel(A["size"], B["size"], gamma=0.5)


def main() -> None:
    data = load_stdlib_functions(verbs=["get", "is", "read", "set", "write"])
    sizes = np.log([[tree.n_nodes, tree.depth] for tree in data.data])
    X = Examples(tree=data.data, size=sizes)
    y = data.target == "is"
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, random_state=0, stratify=y
    )
    clf = TreeSVC(trees_times_sizes, strategy="usvm", random_state=0, C=1.0)
    clf.fit(X_train, y_train)
    print(f"{clf.engine_}: {clf.n_iter_} iterations, {len(clf.support_)} support vectors")
    print(f"is this function a predicate? F1 {f1_score(y_test, clf.predict(X_test)):.3f}")

    # The kernel of the trees alone is a sum over nodes, so faster strategies exist.
    for strategy in ("sdag+", "exact"):
        clf = TreeSVC(TREES, strategy=strategy, random_state=0, C=1.0)
        clf.fit(X_train["tree"], y_train)
        f1 = f1_score(y_test, clf.predict(X_test["tree"]))
        calls = "" if clf.delta_calls_ is None else f", {clf.delta_calls_:.1e} calls of Delta"
        print(f"{strategy:5} {clf.n_iter_:3} iterations, F1 {f1:.3f}{calls}")


if __name__ == "__main__":
    main()

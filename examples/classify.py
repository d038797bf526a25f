"""Classify trees with scikit-learn's SVM and a tree kernel, and choose its parameters.

The data set is the functions of Python's standard library: predict the verb of a function's name
from its syntax tree.
"""

from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.svm import SVC

from filbert.datasets import load_stdlib_functions
from filbert.kernels import SubsetTree


def main() -> None:
    data = load_stdlib_functions(verbs=["get", "is", "read", "set", "write"])
    print(data.data)

    # A Forest splits like an array; the parts share their subtrees.
    X_train, X_test, y_train, y_test = train_test_split(
        data.data, data.target, test_size=0.3, random_state=0, stratify=data.target
    )
    search = GridSearchCV(
        SVC(kernel=SubsetTree()), {"kernel__decay": [0.1, 0.2, 0.4], "C": [1, 10]}, cv=3
    )
    search.fit(X_train, y_train)
    print("chosen:", search.best_params_)
    print(f"accuracy on {len(X_test)} test functions: ", end="")
    print(f"{accuracy_score(y_test, search.predict(X_test)):.1%}")


if __name__ == "__main__":
    main()

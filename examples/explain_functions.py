"""See what a model has learnt: the heaviest fragments, and what each node adds to a score.

The data set is the functions of Python's standard library: is a function called get_... or
set_...? The page written at the end shows everything; open it in a browser.
"""

import tempfile
from pathlib import Path

from sklearn.model_selection import train_test_split

from filbert import TreeSVC, explain
from filbert.datasets import load_stdlib_functions
from filbert.kernels import SubsetTree


def main() -> None:
    data = load_stdlib_functions(verbs=["get", "set"])
    X_train, X_test, y_train, y_test = train_test_split(
        data.data, data.target, test_size=0.3, random_state=0, stratify=data.target
    )
    clf = TreeSVC(SubsetTree(decay=0.2), C=3, random_state=0, loss="hinge").fit(X_train, y_train)
    explanation = explain(clf, X_test, y_test, top=20, max_examples=30, title="get or set?")

    [problem] = explanation.problems
    print(f"for {problem.positive}:")
    for fragment in problem.for_[:5]:
        print(f"  {fragment.weight:+.3f}  {fragment.text}")
    print(f"for {problem.negative}:")
    for fragment in problem.against[:5]:
        print(f"  {fragment.weight:+.3f}  {fragment.text}")

    # What the nodes of one function add to its score. With the intercept they sum to the score.
    example = min(explanation.examples, key=lambda e: abs(len(e.tree.labels) - 20))
    values = example.contributions[0]
    print(f"\nexample {example.index} is '{example.predicted}':")
    print(example.tree.draw(values))
    intercept = explanation.model.intercept[0]
    print(f"{sum(values):+.4f} {intercept:+.4f} (intercept) = {example.scores[0]:+.4f}")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        explanation.to_html(path)
        print(f"\na report of {path.stat().st_size / 1000:,.0f} kB")


if __name__ == "__main__":
    main()

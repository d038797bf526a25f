"""Learn online from pipes: two other processes write examples, and only the model is kept.

The examples are the functions of Python's standard library: is a function a predicate, called
``is_...`` or ``has_...``? Each batch is predicted before it is learnt from, so the printed error
is measured on new examples.
"""

import subprocess
import sys
from random import Random

from filbert import TreePerceptron, merge_streams, stream
from filbert.datasets import load_stdlib_functions
from filbert.kernels import SubsetTree

N_WRITERS = 2


def write(part: int) -> None:
    """Print every second function, in random order, as label<TAB>tree."""
    data = load_stdlib_functions(
        verbs=["check", "find", "get", "has", "is", "read", "set", "write"]
    )
    order = Random(0).sample(range(len(data.data)), len(data.data))
    for i in order[part::N_WRITERS]:
        print("query" if data.target[i] in ("is", "has") else "other", data.data[i], sep="\t")


def learn() -> None:
    writers = [
        subprocess.Popen([sys.executable, __file__, str(part)], stdout=subprocess.PIPE)
        for part in range(N_WRITERS)
    ]
    # One batch of each in turn gives the same result every time; order="ready" would not wait.
    batches = merge_streams(*(stream(writer.stdout, batch_size=50) for writer in writers))
    clf = TreePerceptron(SubsetTree(decay=0.4))
    n_seen = n_wrong = 0
    for number, (X, y) in enumerate(batches, 1):
        if number > 1:
            n_wrong += int((clf.predict(X) != y).sum())
            n_seen += len(y)
        clf.partial_fit(X, y, classes=["other", "query"])
        if number % 8 == 0:
            print(
                f"{n_seen:5,} examples, {n_wrong / n_seen:.1%} wrong; "
                f"{clf.n_support_vectors_:3} support vectors, "
                f"{clf.n_tree_nodes_:,} nodes stored as {clf.n_nodes_:,}"
            )
    for writer in writers:
        writer.wait()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        write(int(sys.argv[1]))
    else:
        learn()

"""Find the trees most similar to a given one by three kernels, and see how these differ."""

import numpy as np

from filbert import Forest
from filbert.kernels import PartialTree, SubsetTree, Subtree

SENTENCES = Forest.from_brackets(
    [
        "(S (NP (D the) (N dog)) (VP (V chased) (NP (D a) (N cat))))",
        "(S (NP (D the) (N dog)) (VP (V slept)))",
        "(S (NP (D a) (N cat)) (VP (V chased) (NP (D the) (N dog))))",
        "(S (NP (D the) (A big) (N dog)) (VP (V chased) (NP (D a) (A small) (N cat))))",
        "(S (NP (N rain)) (VP (V fell)))",
    ]
)


def main() -> None:
    print(SENTENCES[0].draw(), "\n")
    for kernel in (Subtree(), SubsetTree(), PartialTree()):
        similarity = kernel(SENTENCES[:1], SENTENCES)[0]
        print(kernel)
        for i in np.argsort(-similarity, kind="stable")[1:]:
            words = [node.label for node in SENTENCES[int(i)].nodes() if node.is_leaf]
            print(f"  {similarity[i]:.3f}  {' '.join(words)}")


if __name__ == "__main__":
    main()

"""Find the functions of Python's standard library that are most similar to one of them.

A kernel compares the syntax trees of two functions exactly: it counts the fragments they share.
Run it with a name to ask for another function: ``python similar_functions.py ftplib.FTP.close``.
"""

import sys

import numpy as np

from filbert.datasets import load_stdlib_functions
from filbert.kernels import SubsetTree


def main(wanted: str = "ftplib.FTP.close") -> None:
    data = load_stdlib_functions()
    chosen = next((i for i, name in enumerate(data.names) if name.startswith(wanted)), None)
    if chosen is None:
        sys.exit(f"no function of the data set is called {wanted}; one is {data.names[0]}")
    print(data.data[chosen].draw(max_lines=20), "\n")
    similarity = SubsetTree()(data.data[[chosen]], data.data)[0]
    for i in np.argsort(-similarity, kind="stable")[1:11]:
        print(f"{similarity[i]:.3f}  {data.names[i]}")


if __name__ == "__main__":
    main(*sys.argv[1:2])

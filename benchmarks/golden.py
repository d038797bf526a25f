"""Claim: kernel values equal those that SVM-Light-TK computed.

The largest relative difference to the golden values, for each kernel that has them.
"""

import numpy as np

from benchmarks.measure import shared_data, write
from filbert import read_examples
from filbert.kernels import PartialTree, SubsetTree, Subtree

KERNELS = {
    "st": Subtree(0.4, normalize=False),
    "sst": SubsetTree(0.4, normalize=False),
    "sst_leaves": SubsetTree(0.4, include_leaves=True, normalize=False),
    "ptk_gaps": PartialTree(0.4, 0.4, penalty="gaps", normalize=False),
}


def main() -> None:
    data = shared_data()
    X, _ = read_examples(data / "srl-5000" / "dataset_5000.dat.xz")
    golden = np.load(data.parent / "golden" / "srl5000_first100.npz")
    figures = []
    for name, kernel in KERNELS.items():
        values, expected = kernel(X["tree"][:100]), golden[name]
        zeros = expected == 0
        error = np.abs(values - expected)[~zeros] / expected[~zeros]
        figures.append(
            {
                "kernel": repr(kernel),
                "pairs": expected.size,
                "largest_relative_difference": float(error.max()),
                "zeros_agree": bool((values[zeros] == 0).all()),
            }
        )
    write("golden", "kernel values equal SVM-Light-TK's to 1e-12", figures)


if __name__ == "__main__":
    main()

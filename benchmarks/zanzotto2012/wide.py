"""Beyond the paper: norms of the vectors of nodes with very many children.

A node over leaves is one composition of its label and all their labels. Its norm should be 1.
"""

import numpy as np

from benchmarks.zanzotto2012.section import SIGNS, Options, Row, Section, chosen
from filbert import DistributedTreeEmbedding

N_SEEDS = 5
# Products of normal numbers leave the range of a double soon.
CASES = [
    ("convolution", 1024, "float64", [100, 1_000, 10_000]),
    ("product", 8192, "float64", [100]),
    (SIGNS, 8192, "float32", [100, 1_000, 10_000]),
]


def measured(way: str, d: int, dtype: str, n_children: int) -> Row:
    tree = f"({' '.join(f'v{i}' for i in range(n_children + 1))})"
    squared = []
    for seed in range(N_SEEDS):
        embedding = DistributedTreeEmbedding(
            d, normalize=False, random_state=seed, dtype=dtype, **chosen(way)
        )
        vector = embedding.transform([tree])[0].astype(np.float64)
        squared.append(float(vector @ vector))
    return {
        "composition": way,
        "d": d,
        "dtype": dtype,
        "children": n_children,
        "log of the squared norm": round(float(np.mean(np.log(squared))), 1) + 0.0,
        "norm farthest from 1 by": float(f"{max(abs(np.sqrt(s) - 1) for s in squared):.1e}"),
    }


def section(options: Options) -> Section:
    result = Section("Norms of the vectors of nodes with many children")
    for way, d, dtype, sizes in CASES:
        for n_children in sizes[:1] if options.quick else sizes:
            result.rows.append(measured(way, d, dtype, n_children))
    result.notes = [
        f"A node over so many different leaves. Natural logarithms, their mean over {N_SEEDS} "
        "seeds; the last column is the largest of them."
    ]
    return result

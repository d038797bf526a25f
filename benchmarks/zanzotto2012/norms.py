"""Fig. 2: norms of composed vectors, and products of compositions that differ in one vector.

A node over leaves has one fragment, so its tree's vector is the composition of all its labels'.
"""

import numpy as np

from benchmarks.zanzotto2012.section import WAYS, D, Options, Row, Section, chosen
from filbert import DistributedTreeEmbedding

N_SAMPLES = 100
SIZES = (2, 4, 6, 8, 10, 12, 14, 16, 18, 20)


def _trees(sample: int, size: int) -> list[str]:
    """A composition, one with another first vector, and one with another last vector."""
    labels = [f"v{sample}.{i}" for i in range(size)]
    others = [["first", *labels[1:]], [*labels[:-1], "last"]]
    return [f"({' '.join(each)})" for each in (labels, *others)]


def measured(way: str, size: int, n_samples: int) -> Row:
    embedding = DistributedTreeEmbedding(D, normalize=False, dtype="float64", **chosen(way))
    rows = embedding.transform([tree for i in range(n_samples) for tree in _trees(i, size)])
    whole, first, last = rows[0::3], rows[1::3], rows[2::3]
    norms = np.linalg.norm(whole, axis=1)
    by_first, by_last = (whole * first).sum(axis=1), (whole * last).sum(axis=1)
    return {
        "composition": way,
        "vectors": size,
        "norm": round(float(norms.mean()), 4),
        "norm's deviation": round(float(norms.std()), 4),
        "product, first differs": float(f"{by_first.mean():.2e}"),
        "variance, first differs": float(f"{by_first.var():.2e}"),
        "product, last differs": float(f"{by_last.mean():.2e}"),
        "variance, last differs": float(f"{by_last.var():.2e}"),
    }


def section(options: Options) -> Section:
    result = Section(
        "Fig. 2: compositions of unit vectors keep the norm 1, and those that differ in one vector "
        "are nearly orthogonal (d = 8192)"
    )
    sizes = SIZES[:3] if options.quick else SIZES
    n_samples = 20 if options.quick else N_SAMPLES
    for way in WAYS:
        result.rows += [measured(way, size, n_samples) for size in sizes]
    result.notes = [
        f"Averages over {n_samples} samples. 'product, signs' has label vectors of random signs, "
        "which are not the paper's: products of signs are signs, and keep the norm. Signs that two "
        "compositions share cancel, so that it is the same for all sizes if the first differs."
    ]
    return result

"""Random forests: no kernel of pruned factors is farther from the exact one than its bound.

Each forest has 2 to 12 small trees over few labels, so that they share much. Kernel and errors are
drawn: both penalties, decays up to 1, bounded lengths, `kernel_tol` from 1e-6 to 0.3. The factors
are compared with the exact kernel of all pairs of trees, and of the pairs with one tree on each
side if the factors serve to score one part of the forest by the other.

`error over bound` is the largest quotient of an error and its bound, over the pairs whose bound is
far above rounding. `above bound` counts the pairs whose error exceeds bound and rounding.
`eigenvalue` is the smallest one of the factors' matrix over the largest one. If blocks of nodes
were compared pair by pair, what makes the matrix positive semi-definite is added to its diagonal
first (docs/certified-factors.md).
"""

from random import Random
from typing import Any

import numpy as np

from benchmarks.measure import write
from filbert import Forest
from filbert.engine.tree_factors import factorize
from filbert.kernels import PartialTree

Row = dict[str, Any]

N_FORESTS = 2_000  # for each row
ROUNDING = 1e-12  # of values around 1
FAR_ABOVE_ROUNDING = 1e-9
BUDGETS = {"never": 1e9, "sometimes": 0.003, "always": 0.0}


def random_tree(rng: Random, n_nodes: int) -> str:
    """A tree in brackets; inner nodes and leaves may have the same labels."""
    children: list[list[int]] = [[] for _ in range(n_nodes)]
    reach = rng.choice([1, 2, n_nodes])  # chains, narrow trees, any trees
    for i in range(1, n_nodes):
        children[rng.randint(max(0, i - reach), i - 1)].append(i)
    texts = [""] * n_nodes
    for i in reversed(range(n_nodes)):
        inside = " ".join([rng.choice("abc"), *(texts[k] for k in children[i])])
        texts[i] = f"({inside})"
    return texts[0]


def random_forest(rng: Random) -> Forest:
    """Trees of which some are equal or have equal subtrees."""
    trees = [random_tree(rng, rng.randint(1, 20)) for _ in range(rng.randint(2, 12))]
    for _ in range(rng.randint(0, 3)):
        trees[rng.randrange(len(trees))] = f"(a {rng.choice(trees)} {rng.choice(trees)})"
    return Forest(trees)


def random_kernel(rng: Random, penalty: str) -> PartialTree:
    return PartialTree(
        rng.choice([0.05, 0.3, 0.4, 0.7, 1.0]),
        rng.choice([0.05, 0.4, 0.8, 1.0]),
        penalty=penalty,
        max_subsequence=rng.choice([None, 1, 2, 4]),
        normalize=rng.random() < 0.5,
    )


def compared(rng: Random, penalty: str, budget: float, *, sides: bool) -> Row:
    """Compare the factors of one forest with the exact kernel."""
    forest, kernel = random_forest(rng), random_kernel(rng, penalty)
    n = len(forest)
    n_first = rng.randint(1, n - 1) if sides else 0
    factors = factorize(
        kernel,
        forest,
        budget=budget,
        n_first=n_first,
        kernel_tol=10.0 ** rng.uniform(-6.0, -0.5),
        n_jobs=1,
    )
    exact, own = kernel(forest, n_jobs=1), factors.scores(np.eye(n), 1)
    errors = factors.kernel_errors if len(factors.kernel_errors) else np.zeros(n)
    root_errors, size = np.sqrt(errors), np.sqrt(np.diag(exact))
    scale = np.maximum(np.outer(size, size), 1e-300)
    lacking = np.abs(exact - own) / scale
    bound = np.outer(root_errors, root_errors) / scale
    pairs = np.triu(np.ones((n, n), dtype=bool), 1)
    if sides:
        pairs[:n_first, :n_first] = pairs[n_first:, n_first:] = False
    is_pruned = pairs & (bound > FAR_ABOVE_ROUNDING)
    row = {
        "forests with errors": bool(errors.any()),
        "pairs": int(pairs.sum()),
        "pairs with errors": int((pairs & (lacking > FAR_ABOVE_ROUNDING)).sum()),
        "above bound": int((pairs & (lacking > bound + ROUNDING)).sum()),
        "largest error": float(lacking[pairs].max()),
        "error over bound": float((lacking[is_pruned] / bound[is_pruned]).max(initial=0.0)),
    }
    if not sides:
        shift = 0.0 if factors.errors_have_sign else root_errors * root_errors.sum()
        eigenvalues = np.linalg.eigvalsh(own + np.diag(shift + np.zeros(n)))
        row["eigenvalue"] = float(eigenvalues[0] / max(1e-300, eigenvalues[-1]))
    return row


def many(penalty: str, by_pairs: str, *, sides: bool) -> Row:
    """Compare many forests, always the same ones."""
    rng = Random(f"{penalty} {by_pairs} {sides}")
    rows = [compared(rng, penalty, BUDGETS[by_pairs], sides=sides) for _ in range(N_FORESTS)]
    counts = ("forests with errors", "pairs", "pairs with errors", "above bound")
    total = {
        "penalty": penalty,
        "compared pair by pair": by_pairs,
        "two sides": sides,
        "forests": len(rows),
        **{key: sum(row[key] for row in rows) for key in counts},
    }
    for key in ("largest error", "error over bound"):
        total[key] = float(f"{max(row[key] for row in rows):.4g}")
    if not sides:
        total["eigenvalue"] = float(f"{min(row['eigenvalue'] for row in rows):.2g}")
    return total


def main() -> None:
    figures = [
        many(penalty, by_pairs, sides=sides)
        for penalty in ("span", "gaps")
        for by_pairs in BUDGETS
        for sides in (False, True)
    ]
    n_forests, n_pairs = (sum(row[key] for row in figures) for key in ("forests", "pairs"))
    write(
        "certified_factors",
        "random forests: errors of pruned factors beside their bounds",
        figures,
        notes=[f"{n_forests:,} forests and {n_pairs:,} pairs of trees in all."],
    )


if __name__ == "__main__":
    main()

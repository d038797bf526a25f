"""Claim: trees are read at more than 150 MB/s (small file) and 40 MB/s (a million trees).

Predicate-argument trees of the English Web Treebank, one a line, on one core: the first 5,000 as a
small file, and all of them; the benchmark file of the SDAG program beside them.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.datasets import DATASETS
from benchmarks.measure import shared_data, timed, write
from filbert import Forest, read_examples


def measured(title: str, trees: list[str], folder: Path, repeat: int) -> dict[str, object]:
    path = folder / "trees.txt"
    path.write_text("\n".join(trees) + "\n")
    megabytes = path.stat().st_size / 1e6
    times = timed(lambda: Forest.from_brackets(path), repeat=repeat)
    forest = Forest.from_brackets(path)
    return {
        "trees": title,
        "n_trees": len(forest),
        "megabytes": round(megabytes, 2),
        "distinct_subtrees": forest.n_subtrees,
        "megabytes_per_cpu_second": round(megabytes / times["cpu_seconds"], 1),
        "bytes_per_distinct_subtree": round(forest.nbytes / forest.n_subtrees, 1),
        **times,
    }


def main() -> None:
    data = shared_data()
    trees = list(DATASETS["srl-ewt"](data))
    sdag, _ = read_examples(data / "srl-5000" / "dataset_5000.dat.xz")
    with TemporaryDirectory() as folder:
        figures = [
            measured("srl-5000", [str(t) for t in sdag["tree"]], Path(folder), 101),
            measured("srl-ewt, first 5,000", trees[:5000], Path(folder), 101),
            measured("srl-ewt, all", trees, Path(folder), 5),
        ]
    write("reading", "150 MB/s small, 40 MB/s for a million trees, 64 bytes a subtree", figures)


if __name__ == "__main__":
    main()

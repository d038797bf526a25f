"""Goal: `filbert predict` on a million lines, in bounded memory.

A model of the first 5,000 predicate-argument trees of `srl-ewt` (rule VB), with subset trees,
predicts a million lines of its standard input, in a process of its own: the first 100,000 lines ten
times over, so that trees repeat, and the first million lines. Seconds until the first and the last
line of the output.
"""

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.datasets import first_lines, write_boundary
from benchmarks.measure import program_alone, shared_data, used, write

N_TRAIN, N_LINES, N_REPEATED = 5_000, 1_000_000, 100_000


def main() -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        data = write_boundary(shared_data(), "train", folder / "srl.tsv")
        repeated, model = folder / "repeated.tsv", folder / "srl.model"
        repeated.write_bytes(first_lines(data, N_REPEATED).read_bytes() * (N_LINES // N_REPEATED))
        train = ["train", str(first_lines(data, N_TRAIN)), "-o", str(model), "--quiet"]
        kernel = ["--kernel", "stk", "-C", "1", "--loss", "hinge"]
        subprocess.run([sys.executable, "-m", "filbert", *train, *kernel], check=True)
        figures = [
            predicted(model, f"{N_REPEATED:,} lines, ten times over", repeated),
            predicted(model, "each line once", first_lines(data, N_LINES)),
        ]
    write("predicting", "100,000 lines/s for repeated trees, 300 MB, first output in 1 s", figures)


def predicted(model: Path, title: str, path: Path) -> dict[str, Any]:
    """Run the command, and note what it takes."""
    report = model.with_name("used.json")
    command = [sys.executable, "-m", "filbert", "predict", str(model), "-"]
    start = time.perf_counter()
    with path.open("rb") as lines:
        process = subprocess.Popen(
            program_alone(command, report), stdin=lines, stdout=subprocess.PIPE
        )
    assert process.stdout is not None
    n = int(bool(process.stdout.readline()))
    first = time.perf_counter() - start
    n += sum(1 for _ in process.stdout)
    wall = time.perf_counter() - start
    assert (process.wait(), n) == (0, N_LINES)
    return {
        "lines": title,
        "n_lines": n,
        "wall_seconds": round(wall, 2),
        "lines_per_second": round(n / wall),
        "seconds_to_first_line": round(first, 2),
        **used(report),
        "runs": 1,
    }


if __name__ == "__main__":
    main()

"""Makes benchmarks/RESULTS.md and the README's table from benchmarks/results/*.json.

So no figure of ours is typed in.
"""

import json
import re
from typing import Any

from benchmarks.measure import RESULTS, ROOT

# Seconds of these programs for the same half of the matrix, on one core: reported to us, not
# measured in the run that gave our figures.
OTHERS = {
    "subset trees (STK, SST)": ("SubsetTree(decay=0.4, include_leaves=False", 11, 47),
    "partial trees (PTK)": ("PartialTree(decay=0.4, depth_decay=0.4, penalty='gaps'", 40, 98),
}


def table(rows: list[dict[str, object]]) -> str:
    names = list(rows[0])
    lines = [names, ["---"] * len(names), *([_cell(row.get(n, "")) for n in names] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(value: object) -> str:
    if isinstance(value, float) and (value >= 1e5 or 0 < value < 1e-3):
        return f"{value:.1e}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def readme_table() -> str:
    figures = json.loads((RESULTS / "kernel_matrix.json").read_text())["figures"]
    seconds = {row["kernel"]: row["cpu_seconds_one_thread"] for row in figures}
    rows = []
    for title, (prefix, svm_light, kelp) in OTHERS.items():
        ours = next(value for kernel, value in seconds.items() if kernel.startswith(prefix))
        rows.append({"": title, "Filbert": f"{ours:.1f} s", "SVM-Light-TK": f"{svm_light} s"})
        rows[-1]["KeLP"] = f"{kelp} s"
    return table(rows)


def fill_readme() -> None:
    path = ROOT / "README.md"
    marked = r"(<!-- made by benchmarks/page.py -->\n).*(<!-- end -->)"
    filled = re.sub(marked, rf"\g<1>{readme_table()}\n\g<2>", path.read_text(), flags=re.DOTALL)
    path.write_text(filled)


def remarks(result: dict[str, Any]) -> str:
    notes = [f"- {note}\n" for note in result.get("notes", [])]
    plots = [f"![{name}](results/{name})\n" for name in result.get("plots", [])]
    return "".join(f"{''.join(part)}\n" for part in (notes, plots) if part)


def main() -> None:
    fill_readme()
    parts = ["# Results\n\nMade by `python -m benchmarks.page` from `benchmarks/results/`.\n"]
    for path in sorted(RESULTS.glob("*.json")):
        result = json.loads(path.read_text())
        where, command = result["machine"], result.get("command", path.stem)
        parts.append(
            f"## {path.stem}\n\n{result['claim']} (`python -m benchmarks.{command}`)\n\n"
            f"{table(result['figures'])}\n\n{remarks(result)}"
            f"{result['date']}, {where['processor']}, "
            f"{where['cores']} cores, Python {where['python']}, Filbert {where['filbert']}\n"
        )
    (RESULTS.parent / "RESULTS.md").write_text("\n".join(parts))


if __name__ == "__main__":
    main()

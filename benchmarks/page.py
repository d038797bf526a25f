"""Makes benchmarks/RESULTS.md from benchmarks/results/*.json, so that no figure is typed in."""

import json

from benchmarks.measure import RESULTS


def table(rows: list[dict[str, object]]) -> str:
    names = list(rows[0])
    lines = [names, ["---"] * len(names), *([_cell(row.get(n, "")) for n in names] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(value: object) -> str:
    if isinstance(value, float) and (value >= 1e5 or 0 < value < 1e-3):
        return f"{value:.1e}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def main() -> None:
    parts = ["# Results\n\nMade by `python -m benchmarks.page` from `benchmarks/results/`.\n"]
    for path in sorted(RESULTS.glob("*.json")):
        result = json.loads(path.read_text())
        where = result["machine"]
        parts.append(
            f"## {path.stem}\n\n{result['claim']} (`python -m benchmarks.{path.stem}`)\n\n"
            f"{table(result['figures'])}\n\n{result['date']}, {where['processor']}, "
            f"{where['cores']} cores, Python {where['python']}, Filbert {where['filbert']}\n"
        )
    (RESULTS.parent / "RESULTS.md").write_text("\n".join(parts))


if __name__ == "__main__":
    main()

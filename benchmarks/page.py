"""Makes RESULTS.md, papers.md and the README's table from benchmarks/results/*.json.

So no figure of ours is typed in. With ``--plots``, the page is also written to build/benchmarks,
with plots; they need matplotlib: pip install ".[bench]".
"""

import argparse
import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import papers, peers
from benchmarks.goals import TITLES, verdicts
from benchmarks.measure import RESULTS, ROOT, has_times, n_runs
from benchmarks.stamp import squashed
from benchmarks.summary import HEADLINES, SINGLE, UNKNOWN

PAGE = ROOT / "benchmarks" / "RESULTS.md"
WITH_PLOTS = ROOT / "build" / "benchmarks"

LEVEL = 0.05  # of significance

Result = dict[str, Any]


def load_results() -> dict[str, Result]:
    """Read all results, by name."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))}


# ------------------------------------------------------------------ tables


def table(rows: list[dict[str, object]]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [names, ["---"] * len(names)]
    lines += [[_cell(name, row.get(name, "")) for name in names] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(name: str, value: object) -> str:
    if name in ("runs", "repeat") and value == 1:
        return "single run"
    if isinstance(value, float) and (value >= 1e5 or 0 < value < 1e-3):
        return f"{value:.1e}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def readme_table(results: dict[str, Result]) -> str:
    figures = results["kernel_matrix"]["figures"]
    seconds = {row["kernel"]: row["cpu_seconds_one_thread"] for row in figures}
    rows: list[dict[str, object]] = []
    for peer in peers.MATRICES:
        ours = next(value for kernel, value in seconds.items() if kernel.startswith(peer.ours))
        rows.append({"": peer.title, "Filbert": f"{ours:.1f} s"})
        rows[-1] |= {"SVM-Light-TK": f"{peer.svm_light_tk:.0f} s", "KeLP": f"{peer.kelp:.0f} s"}
    return table(rows)


def quality_table(results: dict[str, Result]) -> str:
    rows = []
    for own in results["quality_tasks"]["figures"]:
        row: dict[str, object] = {"accuracy in %": own["task"]}
        row["best plain baseline"] = f"{own['best baseline']:.1f}"
        for system in ("TreeSVC()", "TreeSVCCV()"):
            differs = own[f"p of {system}"] < LEVEL
            better = own[system] > own["best baseline"]
            mark = (" +" if better else " −") if differs else ""
            row[f"`{system}`"] = f"{own[system]:.1f}{mark}"
        rows.append(row)
    return table(rows)


def filled_readme(text: str, results: dict[str, Result]) -> str:
    marked = r"(<!-- made by benchmarks/page.py -->\n).*(<!-- end -->)"
    text = re.sub(marked, rf"\g<1>{readme_table(results)}\n\g<2>", text, flags=re.DOTALL)
    return filled_accuracy(text, results)


def filled_accuracy(text: str, results: dict[str, Result]) -> str:
    """Fill in the table of accuracy, which the README and the first page of the site have."""
    if "quality_tasks" not in results:
        return text
    marked = r"(<!-- quality: made by benchmarks/page.py -->\n).*(<!-- end of quality -->)"
    return re.sub(marked, rf"\g<1>{quality_table(results)}\n\g<2>", text, flags=re.DOTALL)


def ablation_table(results: dict[str, Result]) -> str:
    names = ("setting", "mean", "difference", "standard error")
    return table(
        [{name: r[name] for name in names} for r in results["quality_ablation"]["figures"]]
    )


# Kernels, the beginning of their names in the matrix result, and their training end to end.
_COSTS = (
    ("`LocalPatterns`", None, "patterns", {}),
    ("`SubsetTree`", "SubsetTree(decay=0.4, include_leaves=False", "exact_svm", {"threads": 1}),
    ("`Subtree`", "Subtree(", None, {}),
    (
        "`PartialTree`",
        "PartialTree(decay=0.4, depth_decay=0.4, penalty='span'",
        "exact_ptk_srl",
        {},
    ),
)


def costs_table(results: dict[str, Result]) -> str:
    """Return what each kernel costs: a matrix, and training on a million trees."""
    matrices = results["kernel_matrix"]["figures"]
    rows: list[dict[str, object]] = []
    for kernel, prefix, name, wanted in _COSTS:
        row: dict[str, object] = {"kernel": kernel, "matrix (s)": "", "training (s)": ""}
        if prefix is not None:
            own = next(r for r in matrices if r["kernel"].startswith(prefix))
            row["matrix (s)"] = f"{own['cpu_seconds_one_thread']:.2f}"
        row["memory (MiB)"] = ""
        if name is not None:
            figures = [r for r in results[name]["figures"] if wanted.items() <= r.items()]
            own = max(figures, key=lambda r: r.get("n_train", r.get("n_trees", 0)))
            row["training (s)"], row["memory (MiB)"] = f"{own['cpu_seconds']:.0f}", own["peak_mib"]
        rows.append(row)
    return table(rows)


def filled_choosing(text: str, results: dict[str, Result]) -> str:
    costs = r"(<!-- costs: made by benchmarks/page.py -->\n).*(<!-- end of costs -->)"
    text = re.sub(costs, rf"\g<1>{costs_table(results)}\n\g<2>", text, flags=re.DOTALL)
    if "quality_ablation" not in results:
        return text
    marked = r"(<!-- ablation: made by benchmarks/page.py -->\n).*(<!-- end of ablation -->)"
    return re.sub(marked, rf"\g<1>{ablation_table(results)}\n\g<2>", text, flags=re.DOTALL)


# ------------------------------------------------------------------ the page


def summary(results: dict[str, Result]) -> str:
    lines: list[dict[str, object]] = [
        {"": title, "measured": headline(results[name]["figures"]), "table": f"[{name}](#{name})"}
        for name, (title, headline) in HEADLINES.items()
        if name in results
    ]
    unstamped = sum("stamp" not in result for result in results.values())
    judged = [verdict for name in results for verdict in verdicts(name, results[name]["figures"])]
    missed = sum("**missed**" in verdict for verdict in judged)
    remarks = [
        f"Of {len(judged)} goals, {missed} are missed, at least in part. Each table says which.",
        "Seconds are CPU seconds, on one core unless the table says otherwise. They are medians of "
        f"several runs, except: {SINGLE} a single run; {UNKNOWN} the number of runs was not "
        "recorded.",
    ]
    if unstamped:
        remarks.append(
            f"{unstamped} of {len(results)} results were measured before results recorded the "
            "commit that they are of. They are marked *unstamped*."
        )
    return f"{table(lines)}\n\n" + "\n\n".join(remarks) + "\n"


def section(name: str, result: Result, plots: list[str]) -> str:
    figures = result["figures"]
    notes = [*result.get("notes", []), *peers.NOTES.get(name, [])]
    if any(has_times(row) and n_runs(row) is None for row in figures) and not any(
        "median" in note for note in notes
    ):
        notes.append("The number of runs was not recorded.")
    images = [f"![{plot}]({plot})" for plot in plots]
    title = TITLES.get(name, result["claim"])
    parts = [
        f"## {name}",
        f"{title} (`python -m benchmarks.{command(name, result)}`)",
        "\n".join(f"- Goal: {verdict}" for verdict in verdicts(name, figures)),
        table(_without_short_runs(figures)),
        "\n".join(f"- {note}" for note in notes),
        "\n".join(images),
        origin(result),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _without_short_runs(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Leave out ratios of times that were taken over a few iterations only."""
    least = 20

    def shown(row: dict[str, object]) -> dict[str, object]:
        iterations = row.get("timed iterations")
        if not isinstance(iterations, int) or iterations >= least:
            return row
        return row | {key: "" for key in row if key.startswith("t/t_")}

    return [shown(row) for row in rows]


def command(name: str, result: Result) -> str:
    """What was run, or for a result without a stamp, what is to be run."""
    if "stamp" in result:
        return " ".join([result["stamp"]["script"], *result["stamp"]["options"]])
    return str(result.get("command", name))


def origin(result: Result) -> str:
    where = result["machine"]
    stamp = result.get("stamp")
    commit = f"commit {stamp['commit'][:12]}" if stamp else "*unstamped*"
    if stamp and stamp["commit"] in squashed():
        commit += " (squashed)"
    return (
        f"{result['date']}, {commit}, {where['processor']}, {where['cores']} cores, "
        f"Python {where['python']}, Filbert {where['filbert']}"
    )


def page(results: dict[str, Result], plots: dict[str, list[str]]) -> str:
    drawn = "" if plots else " The same page with plots: `python -m benchmarks.page --plots`."
    intro = f"# Results\n\nMade by `python -m benchmarks.page` from `benchmarks/results/`.{drawn}\n"
    tables = [section(name, result, plots.get(name, [])) for name, result in results.items()]
    return "\n".join([intro, summary(results), *tables])


def drawn_plots(results: dict[str, Result], folder: Path) -> dict[str, list[str]]:
    """Draw all plots into a folder; return the names of the files, by result."""
    plots = import_module("benchmarks.plots")  # needs matplotlib, which the page without does not
    folder.mkdir(parents=True, exist_ok=True)
    return {name: plots.draw(name, result["figures"], folder) for name, result in results.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--plots", action="store_true", help="also to build/benchmarks, with plots")
    arguments = parser.parse_args()
    results = load_results()
    readme = ROOT / "README.md"
    readme.write_text(filled_readme(readme.read_text(), results))
    first = ROOT / "docs" / "index.md"
    first.write_text(filled_accuracy(first.read_text(), results))
    choosing = ROOT / "docs" / "choosing.md"
    choosing.write_text(filled_choosing(choosing.read_text(), results))
    PAGE.write_text(page(results, {}))
    papers.PAGE.write_text(papers.page(results))
    if arguments.plots:
        plots = drawn_plots(results, WITH_PLOTS)
        (WITH_PLOTS / "RESULTS.md").write_text(page(results, plots))
        print(WITH_PLOTS / "RESULTS.md")


if __name__ == "__main__":
    main()

"""``filbert describe``: what is in a data file."""

import json
from typing import TYPE_CHECKING, Any

import typer

from filbert.cli.options import AsJson, DataFiles, General, OnError, Reading

if TYPE_CHECKING:
    from filbert.cli.data import DataFiles as Files

_MOST_LABELS = 20


def describe(
    data: DataFiles,
    *,
    as_json: AsJson = False,
    reading: Reading,
    on_error: OnError = "raise",
    general: General,
) -> None:
    """Describe the trees of a data file: labels, columns, sizes, depths, and what compresses.

    [bold]Examples[/bold]

      filbert describe train.tsv

      filbert describe 'parses/*.mrg' --json
    """
    from filbert.cli.data import DataFiles as Files

    text = description(Files(data, reading, on_error, general.jobs), as_json=as_json)
    typer.echo(text.encode(errors="backslashreplace"))


def description(files: "Files", *, as_json: bool) -> str:
    """Return what is in data files, as text or JSON."""
    X, y = files.trees_and_labels()
    return json.dumps(_plain(X, y), indent=1, ensure_ascii=False) if as_json else _text(X, y)


def _forests(X: Any) -> dict[str, Any]:
    from filbert.forest import Forest

    parts = {"tree": X} if isinstance(X, Forest) else X.parts
    return {name: part for name, part in parts.items() if isinstance(part, Forest)}


def _labels(y: Any) -> dict[str, int]:
    """Return how often each label occurs, the most frequent first."""
    import numpy as np

    labels, counts = np.unique(y, return_counts=True)
    pairs = sorted(
        zip(map(str, labels.tolist()), counts.tolist(), strict=True), key=lambda p: -p[1]
    )
    return dict(pairs)


def _plain(X: Any, y: Any) -> dict[str, Any]:
    from filbert.cli.data import columns_of

    return {
        "n_examples": len(X),
        "labels": None if y is None else _labels(y),
        "columns": sorted(columns_of(X)),
        "trees": {name: trees.describe().to_dict() for name, trees in _forests(X).items()},
    }


def _text(X: Any, y: Any) -> str:
    from filbert.cli.data import columns_of, label_text

    lines = [f"examples  {len(X):,}"]
    if y is not None:
        labels = _labels(y)
        shown = [f"{label_text(label)} ({n:,})" for label, n in list(labels.items())[:_MOST_LABELS]]
        more = [f"and {len(labels) - _MOST_LABELS:,} more"] if len(labels) > _MOST_LABELS else []
        lines.append(f"labels    {', '.join([*shown, *more])}")
    if columns_of(X):
        lines.append(f"columns   {', '.join(columns_of(X))}")
    forests = _forests(X)
    for name, trees in forests.items():
        lines += ["", f"{name}:"] if len(forests) > 1 else [""]
        lines.append(str(trees.describe()))
    return "\n".join(lines)

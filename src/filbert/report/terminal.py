"""Show an explanation as text."""

from collections.abc import Iterator
from typing import Any

from filbert.drawing.labels import number, printable, shortened
from filbert.drawing.text import draw_arrays

_WIDTH = 96
_FRAGMENTS = 10  # for and against a class
_ALL_FRAGMENTS = 36  # for all classes together, but at least 3 for each
_EXAMPLES = 3
_NEIGHBOURS = 3
_LINES = 40  # of a tree
_CLASSES = 12  # of a table


def render_terminal(explanation: dict[str, Any]) -> str:
    """Return what ``print(explanation)`` shows.

    Parameters
    ----------
    explanation : dict
        The result of ``Explanation.to_dict()``.
    """
    return "\n".join(
        line.rstrip()
        for section in (_model, _data, _metrics, _problems, _examples, _end)
        for line in section(explanation)
    )


def _title(text: str) -> Iterator[str]:
    text = shortened(printable(text), _WIDTH)
    yield from (text, "─" * len(text))


# ---------------------------------------------------------------- the model


def _model(explanation: dict[str, Any]) -> Iterator[str]:
    model = explanation["model"]
    yield from _title(explanation["title"])
    classes = ", ".join(map(printable, model["classes"]))
    rows = [
        ("learner", model["learner"]),
        ("kernel", model["kernel"]),
        ("classes", f"{len(model['classes'])}: {classes}"),
        ("support", f"{model['n_support']:,} support vectors"),
        *((name, value) for name, value in model["parameters"] if name in ("C", "strategy")),
    ]
    for curve in model["convergence"][:1]:
        rows.append(("training", _curve(curve, len(model["convergence"]))))
    for name, value in rows:
        yield f"{name:10}{shortened(value, _WIDTH - 10)}"


def _curve(curve: dict[str, Any], n: int) -> str:
    what = f"{curve['x'][-1]:,.0f} {curve['x_name']}, {curve['objective_name']} "
    what += f"{curve['objective'][-1]:.4g}"
    if curve["gap"]:
        what += f", gap {curve['gap'][-1]:.1e}"
    return what + (f" (first of {n} problems)" if n > 1 else "")


def _data(explanation: dict[str, Any]) -> Iterator[str]:
    data = explanation["data"]
    if data is None:
        return
    counts = ", ".join(f"{printable(name)} {n:,}" for name, n in data["class_counts"])
    yield shortened(f"data      {data['n_examples']:,} examples, {data['n_nodes']:,} nodes", _WIDTH)
    if counts:
        yield shortened(f"          {counts}", _WIDTH)


# ---------------------------------------------------------------- how good it is


def _metrics(explanation: dict[str, Any]) -> Iterator[str]:
    metrics = explanation["metrics"]
    if metrics is None:
        return
    yield ""
    yield from _title(f"Accuracy {metrics['accuracy']:.1%}")
    shown = metrics["classes"][:_CLASSES]
    width = max(len(_name(row["label"])) for row in shown)
    average = {curve["positive"]: curve["average_precision"] for curve in metrics["curves"]}
    yield f"{'':{width}}  precision   recall       F1  examples  average precision"
    for row in shown:
        figures = f"{row['precision']:9.1%}{row['recall']:9.1%}{row['f1']:9.1%}"
        own = f"{average[row['label']]:19.1%}" if row["label"] in average else ""
        yield f"{_name(row['label']):{width}}  {figures}{row['support']:10,}{own}"
    if len(metrics["classes"]) > len(shown):
        yield f"… {len(metrics['classes']) - len(shown)} more classes"
    if len(metrics["classes"]) <= _CLASSES:
        yield from _confusion(metrics["confusion"], width)


def _confusion(confusion: dict[str, Any], width: int) -> Iterator[str]:
    names = [_name(label) for label in confusion["labels"]]
    column = max(5, *map(len, names), *(len(f"{n:,}") for row in confusion["counts"] for n in row))
    if width + (column + 2) * len(names) > _WIDTH:
        return
    yield ""
    yield f"{'':{width}}  " + "  ".join(f"{name:>{column}}" for name in names) + "   (predicted)"
    for name, row in zip(names, confusion["counts"], strict=True):
        yield f"{name:{width}}  " + "  ".join(f"{n:{column},}" for n in row)


def _name(label: str) -> str:
    return shortened(printable(label), 20)


# ---------------------------------------------------------------- fragments


def _problems(explanation: dict[str, Any]) -> Iterator[str]:
    problems = explanation["problems"]
    most = min(_FRAGMENTS, max(3, _ALL_FRAGMENTS // max(1, len(problems))))
    for problem in problems:
        yield ""
        yield from _title(f"{problem['positive']} against {problem['negative']}")
        if not problem["n_mined"]:
            yield f"norm {problem['norm']:.4g}"
            continue
        yield (
            f"{problem['n_mined']:,} fragments found, with {problem['norm_share']:.1%} of the norm "
            f"{problem['norm']:.4g}"
        )
        for what in ("for", "against"):
            yield from _fragments(what, _name(problem["positive"]), problem[what], most)


def _fragments(what: str, name: str, fragments: list[dict[str, Any]], most: int) -> Iterator[str]:
    yield ""
    yield f"   weight  times  {what} {name}"
    for fragment in fragments[:most]:
        text = shortened(printable(fragment["text"]), _WIDTH - 18)
        yield f"{number(fragment['weight']):>9}{fragment['frequency']:7,}  {text}"
    if not fragments:
        yield f"{'none':>9}"
    elif len(fragments) > most:
        yield f"{'…':>9}{'':9}{len(fragments) - most} more"


# ---------------------------------------------------------------- examples


def _examples(explanation: dict[str, Any]) -> Iterator[str]:
    for example in explanation["examples"][:_EXAMPLES]:
        yield ""
        yield from _example(explanation, example)
    n = len(explanation["examples"])
    if n > _EXAMPLES:
        yield ""
        yield f"… {n - _EXAMPLES} more examples"


def _example(explanation: dict[str, Any], example: dict[str, Any]) -> Iterator[str]:
    problem = _decisive(example)
    positive, negative = (
        explanation["problems"][problem]["positive"],
        explanation["problems"][problem]["negative"],
    )
    title = f"Example {example['index']}: {printable(example['predicted'])}"
    if example["actual"] is not None:
        right = example["actual"] == example["predicted"]
        title += ", right" if right else f", but it is {printable(example['actual'])}"
    yield from _title(title)
    values = example["contributions"][problem]
    intercept = explanation["model"]["intercept"][problem]
    yield (
        f"score {number(example['scores'][problem])} for {_name(positive)} against "
        f"{_name(negative)} = {number(sum(values))} (nodes) {number(intercept)} (intercept)"
    )
    yield ""
    tree = example["tree"]
    yield from draw_arrays(
        tree["labels"], tree["parents"], values=values, max_lines=_LINES
    ).splitlines()
    if example["support"]:
        yield ""
        yield "similar  adds      support vector"
    for near in example["support"][:_NEIGHBOURS]:
        note = printable(explanation["trees"][near["tree"]]["note"])
        adds = number(near["contributions"][problem])
        yield f"{near['similarity']:7.3f}  {adds:9} {shortened(note, _WIDTH - 20)}"


def _decisive(example: dict[str, Any]) -> int:
    """Return the problem that decided: with several, that of the predicted class."""
    scores = example["scores"]
    return max(range(len(scores)), key=scores.__getitem__) if len(scores) > 1 else 0


def _end(explanation: dict[str, Any]) -> Iterator[str]:
    yield ""
    yield "to_html(path) writes the whole explanation as a page."

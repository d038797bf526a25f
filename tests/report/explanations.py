"""Explanations made by hand, in the format of Explanation.to_dict()."""

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any

from filbert import Forest

TREES = [
    "(S (NP (D the) (N dog)) (VP (V barks)))",
    "(S (NP (D a) (N cat)) (VP (V sleeps)))",
    "(Q (V is) (NP (D the) (N dog)) (A asleep))",
    "(Q (V does) (NP (D a) (N cat)) (VP (V bark)))",
    "(X (V go) (ADV home))",
    "(X (V look) (PP (P at) (NP (D the) (N dog))))",
]
CLASSES = ["statement", "question", "order"]


def arrays(brackets: str) -> dict[str, Any]:
    """Labels and parents of a tree's nodes, in preorder."""
    labels: list[str] = []
    parents: list[int] = []
    stack = [(Forest.from_brackets([brackets])[0], -1)]
    while stack:
        tree, parent = stack.pop()
        stack.extend((child, len(labels)) for child in reversed(tree.children))
        labels.append(tree.label)
        parents.append(parent)
    return {"labels": labels, "parents": parents}


def chain(labels: Sequence[str]) -> dict[str, Any]:
    """A tree of many labels: three below the root, three below the last of these, and so on."""
    return {"labels": list(labels), "parents": [-1, *(i - i % 3 for i in range(len(labels) - 1))]}


def fragment(tree: dict[str, Any], weight: float, frequency: int, text: str) -> dict[str, Any]:
    n = len(tree["labels"])
    leaf = n - 1  # the last node has no children
    opened = [i == leaf and text.endswith("…))") for i in range(n)]
    return {
        **tree,
        "open": opened,
        "text": text,
        "weight": weight,
        "frequency": frequency,
        "examples": [0, 1],
        "occurrences": [[7, 8], []] if text == "(V barks)" else [],
    }


def problem(positive: str, negative: str, size: int) -> dict[str, Any]:
    def some(sign: int) -> list[dict[str, Any]]:
        texts = ["(NP (D …))", "(V barks)", "(S (NP …) (VP (V sleeps)))", "(PP (P at) (NP …))"]
        trees = ["(NP D)", "(V barks)", "(S NP (VP (V sleeps)))", "(PP (P at) NP)"]
        return [
            fragment(arrays(tree), sign * size / (1 + i), 3 + 7 * i, text)
            for i, (tree, text) in enumerate(zip(trees, texts, strict=True))
        ]

    return {
        "positive": positive,
        "negative": negative,
        "norm": 12.5,
        "norm_share": 0.61,
        "n_mined": 1234,
        "for": some(1),
        "against": some(-1),
    }


def example(index: int, tree: dict[str, Any], classes: Sequence[str], n: int) -> dict[str, Any]:
    """An example with `n` problems, of which every third is wrong."""
    nodes = len(tree["labels"])
    values = [[((7 * i + 3 * p + index) % 11 - 5) / 10 for i in range(nodes)] for p in range(n)]
    predicted = classes[index % len(classes)]
    return {
        "index": index,
        "tree": tree,
        "scores": [sum(row) + 0.25 for row in values],
        "predicted": predicted,
        "actual": classes[(index + 1) % len(classes)] if index % 3 == 2 else predicted,
        "contributions": values,
        "support": [
            {
                "tree": i,
                "similarity": 0.9 - 0.3 * i,
                "contributions": [0.5 - i + p for p in range(n)],
                "label": classes[i % len(classes)],
            }
            for i in range(2)
        ],
    }


def explanation(
    classes: Sequence[str] = CLASSES,
    trees: Sequence[dict[str, Any]] | None = None,
    title: str = "Questions, statements and orders",
) -> dict[str, Any]:
    """Everything that an explanation can have, small."""
    trees = [arrays(tree) for tree in TREES] if trees is None else trees
    if len(classes) == 2:
        problems = [problem(classes[1], classes[0], 2)]
    else:
        problems = [problem(name, "the rest", 1 + i) for i, name in enumerate(classes)]
    examples = [example(i, tree, classes, len(problems)) for i, tree in enumerate(trees)]
    curve = {"recall": [0.0, 0.5, 1.0], "precision": [1.0, 0.9, 0.4], "average_precision": 0.81}
    steps = {"x_name": "sweeps", "x": [1, 2, 3], "objective": [9.0, 8.5, 8.4], "gap": [1, 0.1, 0]}
    return {
        "format": "filbert-explanation",
        "version": 1,
        "title": title,
        "model": {
            "learner": "TreeSVC",
            "kernel": "SubsetTree(decay=0.4)",
            "parameters": [["C", "3.0"], ["loss", "'hinge'"]],
            "classes": list(classes),
            "n_support": 4321,
            "intercept": [0.25] * len(problems),
            "convergence": [{"problem": one["positive"], **steps} for one in problems],
        },
        "data": {
            "n_examples": len(trees),
            "n_nodes": sum(len(tree["labels"]) for tree in trees),
            "class_counts": [[name, 2] for name in classes],
        },
        "problems": problems,
        "trees": [{**tree, "note": f"training example {i}"} for i, tree in enumerate(trees)],
        "examples": examples,
        "metrics": {
            "accuracy": 2 / 3,
            "classes": [
                {"label": name, "precision": 0.5, "recall": 0.75, "f1": 0.6, "support": 2}
                for name in classes
            ],
            "confusion": {
                "labels": list(classes),
                "counts": [[2 * (a == b) for b in classes] for a in classes],
            },
            "curves": [{"positive": one["positive"], **curve} for one in problems],
        },
    }


# ---------------------------------------------------------------- hostile text

_RUN = "window.hit=1"
_PAYLOADS = [
    f"<script>{_RUN}</script>",
    f"</script><script>{_RUN}</script>",
    f"</style><script>{_RUN}</script>",
    f"</title><script>{_RUN}</script>",
    f"</textarea></pre></code><script>{_RUN}</script>",
    f"--><script>{_RUN}</script><!--",
    f"]]><script>{_RUN}</script>",
    f"<script type=module>{_RUN}</script>",
    "<script src=http://example.invalid/x.js></script>",
    f"<img src=x onerror={_RUN}>",
    f'"><img src=x onerror={_RUN}>',
    f"'><img src=x onerror={_RUN}>",
    f"`><img src=x onerror={_RUN}>",
    f"<svg onload={_RUN}>",
    f"<svg/onload={_RUN}//",
    f"</svg><svg onload={_RUN}>",
    f"</text></g></svg><img src=x onerror={_RUN}>",
    f"<svg><script>{_RUN}</script></svg>",
    f"<svg><foreignObject><body onload={_RUN}></foreignObject></svg>",
    f"<animate onbegin={_RUN} attributeName=x dur=1s>",
    f'<set attributeName="onmouseover" to="{_RUN}"/>',
    f'<use href="data:image/svg+xml,<svg id=x onload={_RUN}>#x"/>',
    f'<a xlink:href="javascript:{_RUN}"><text>x</text></a>',
    f'" onfocus="{_RUN}" autofocus tabindex="0',
    f"' onmouseover='{_RUN}",
    f'" data-level="5" onclick="{_RUN}',
    f"javascript:{_RUN}",
    f"<a href=javascript:{_RUN}>x</a>",
    f"<iframe srcdoc='<script>parent.{_RUN[7:]}</script>'></iframe>",
    "<iframe src=http://example.invalid/></iframe>",
    "<object data=http://example.invalid/></object>",
    "<embed src=http://example.invalid/>",
    "<link rel=stylesheet href=http://example.invalid/x.css>",
    "<base href=http://example.invalid/>",
    '<meta http-equiv=refresh content="0;url=http://example.invalid/">',
    "<style>@import url(http://example.invalid/x.css);</style>",
    "<style>body{display:none}</style>",
    'x" style="position:fixed;inset:0;background:url(http://example.invalid/)',
    "<form action=http://example.invalid/><button>x</button></form>",
    f"<details open ontoggle={_RUN}>",
    f"<video><source onerror={_RUN}></video>",
    f"<body onload={_RUN}>",
    f"<input autofocus onfocus={_RUN}>",
    f"<marquee onstart={_RUN}>",
    f"<math><mtext><img src=x onerror={_RUN}></mtext></math>",
    f"<template><script>{_RUN}</script></template>",
    f"<noscript><p title='</noscript><img src=x onerror={_RUN}>'>",
    "<!--", "-->", "<!DOCTYPE html>", "<![CDATA[", "<?xml version='1.0'?>", "</", "<", ">", "&",
    "&lt;script&gt;", "&#60;script&#62;", "&#x3c;img src=x onerror=window.hit=1&#x3e;", "&amp;amp;",
    '"', "'", "`", '"""', "\\", "\\'", '\\"', "\\u003cscript\\u003e", "\\x3cscript\\x3e",
    "{{ 7 * 7 }}", "{% for i in range(9) %}{{ i }}{% endfor %}", "{# gone #}", "{{ config }}",
    "${window.hit=1}", "#{window.hit=1}", "<%= 7 * 7 %>", "%s %d {0} {}", "$1 \\1 \\g<1>",
    "__proto__", "constructor", "toString", "null", "undefined", "NaN", "true", "[object Object]",
    "numbers", "example-0", "tree-0", "#content",
    "\x00", "a\x00b", "\x01\x02\x1b[31m", "\x7f\x80\x9f", "\r\n\r\n", "\t", " ", "", "\ufeff",
    "\u202eesrever\u202c", "\u2066\u2067\u2069", "\u200f\u200e", "\u2028\u2029", "\ud800", "\udfff",
    "שלום עולם", "مرحبا بالعالم", "\u0301\u0301\u0301", "👩\u200d💻", "Z" + "\u0310" * 300,
    "x" * 10_000, "<b>" * 3_000, "W " * 5_000, "界" * 10_000,
]  # fmt: skip


def hostile_labels() -> list[str]:
    """At least a hundred texts that must stay texts."""
    return _PAYLOADS


def hostile() -> dict[str, Any]:
    """An explanation in which every text is hostile."""
    texts = cycle(_PAYLOADS)
    trees = [chain(_PAYLOADS[i::3]) for i in range(3)]
    trees += [chain([label, *_PAYLOADS[:2]]) for label in _PAYLOADS[::8]]
    made = explanation(_PAYLOADS[:12], trees, next(texts))
    return _replaced(made, texts, set(_PAYLOADS[:12]))


_KEPT = {"format", "labels", "predicted", "actual", "positive", "classes", "label", "class_counts"}


def _replaced(part: Any, texts: Iterator[str], classes: set[str]) -> Any:
    """Put hostile texts in the place of all others; classes are hostile already."""
    if isinstance(part, dict):
        return {
            key: value if key in _KEPT else _replaced(value, texts, classes)
            for key, value in part.items()
        }
    if isinstance(part, list):
        return [_replaced(value, texts, classes) for value in part]
    if isinstance(part, str) and part not in classes:
        return next(texts)
    return part

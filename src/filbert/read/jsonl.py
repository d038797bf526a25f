"""JSON Lines: one object per line, such as ``{"label": "LOC", "tree": "(S ...)"}``."""

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from filbert.errors import ParseError
from filbert.read.record import EMPTY_TREE, Label, Record, SparseVector, TreeText, Written


def parse_line(
    line: bytes,
    *,
    label: str | None,
    tree: str | Sequence[str] | None,
    features: str | Sequence[str] | None,
    empty: bool,
) -> Record | None:
    """Read one line; return None for a blank line.

    Keys may lead into nested objects: ``trees.grct``. If `tree` is None, the tree is at the key
    ``tree``, or the trees are all entries of the object ``trees``. A feature vector is a number, a
    list of numbers, or an object that maps feature numbers (from 1) or names to values. Other
    texts, numbers and bools of the line's object are columns. `empty` says whether trees may be
    empty.
    """
    if not line.strip():
        return None
    item = _loaded(line)
    fields = _tree_fields(item, tree)
    trees = {name: _tree(text, name, empty) for name, text in fields.items()}
    keys = [features] if isinstance(features, str) else features
    if keys is None:
        keys = ["features"] if "features" in item else []
    vectors = {_last(key): _vector(_at(item, key), key) for key in keys}
    if trees.keys() & vectors.keys():
        raise ParseError(
            f"a tree and a feature vector are both called {min(trees.keys() & vectors.keys())!r}",
            hint="choose one with tree= and features=",
            column=1,
        )
    tree_keys = [tree] if isinstance(tree, str) else tree or ["tree"]
    columns = _columns(item, {label, *keys, *tree_keys})
    if "tree" in columns and isinstance(tree, str):  # as in table_columns.py
        trees = {_last(tree): trees["tree"]}
    for name in columns.keys() & (trees.keys() | vectors.keys()):
        raise ParseError(
            f"{name!r} is the name of a part and of another entry", hint="rename one", column=1
        )
    value = None if label is None else _label(_at(item, label), label)
    return Record(value, trees, vectors, columns)


def _columns(item: dict[str, Any], used: set[str | None]) -> dict[str, str]:
    """Return the other texts, numbers and bools of an object as text."""
    return {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in item.items()
        if key not in used and isinstance(value, str | int | float)
    }


def _loaded(line: bytes) -> dict[str, Any]:
    try:
        item = json.loads(line, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        before = error.doc[: error.pos].encode(errors="surrogatepass")  # JSON may have half a pair
        column = len(before) + 1  # in bytes, as in all formats
        raise ParseError(f"not JSON: {error.msg}", column=column) from None
    except ParseError:
        raise
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        raise ParseError(f"this JSON cannot be read: {error}", column=1) from None
    if not isinstance(item, dict):
        raise ParseError(
            "not a JSON object", hint='write {"label": ..., "tree": "(S ...)"}', column=1
        )
    return item


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. Python's json takes the last one of equal keys in silence."""
    item = dict(pairs)
    if len(item) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ParseError(
            f"the key {twice!r:.40} occurs twice in an object", hint="remove one", column=1
        )
    return item


def _tree_fields(item: dict[str, Any], tree: str | Sequence[str] | None) -> dict[str, Any]:
    if isinstance(tree, str):
        return {"tree": _at(item, tree)}
    if tree is not None:
        return {_last(key): _at(item, key) for key in tree}
    if "tree" in item:
        return {"tree": item["tree"]}
    if isinstance(item.get("trees"), dict) and item["trees"]:
        return dict(item["trees"])
    raise ParseError("a line without a tree", hint=_keys_hint(item, "tree="), column=1)


def _at(item: dict[str, Any], key: str) -> Any:
    value: Any = item
    for step in key.split("."):
        if not isinstance(value, dict) or step not in value:
            raise ParseError(
                f"there is no {key!r}", hint=_keys_hint(item, "label= or tree="), column=1
            )
        value = value[step]
    return value


def _keys_hint(item: dict[str, Any], parameters: str) -> str:
    return f"choose with {parameters} among {', '.join(map(repr, list(item)[:12]))}"


def _last(key: str) -> str:
    return key.rpartition(".")[2]


def _tree(value: Any, name: str, empty: bool) -> TreeText:
    if empty and (value is None or value == ""):
        return TreeText(EMPTY_TREE, None)
    if not isinstance(value, str):
        raise ParseError(f"the tree {name!r} is not a string", hint="write brackets", column=1)
    return TreeText(value, None)


def _label(value: Any, key: str) -> Label:
    if not isinstance(value, str | int | float) or not (
        isinstance(value, str) or _is_finite(value)
    ):
        raise ParseError(
            f"the label {key!r} is {json.dumps(value)[:40]}",
            hint="a label is a string, a number or a bool",
            column=1,
        )
    return value


def _vector(value: Any, key: str) -> SparseVector:
    if isinstance(value, dict) and not all(map(str.isdecimal, value)):
        _check_values(value.values(), key)
        return SparseVector([], [float(v) for v in value.values()], 0, list(value))
    if isinstance(value, dict):
        pairs = sorted(
            ((_feature_number(number, key), v) for number, v in value.items()),
            key=lambda pair: pair[0],
        )
        if len({i for i, _ in pairs}) < len(pairs):
            raise ParseError(
                f"{key!r} has a feature twice", hint="give each its own number", column=1
            )
        width = pairs[-1][0] + 1 if pairs else 0
    else:
        values = value if isinstance(value, list) else [value]
        pairs = [(i, v) for i, v in enumerate(values) if v != 0]
        width = len(values)
    _check_values((v for _, v in pairs), key)
    return SparseVector([i for i, _ in pairs], [float(v) for _, v in pairs], width)


def _check_values(values: Iterable[Any], key: str) -> None:
    for v in values:
        if isinstance(v, bool) or not isinstance(v, int | float) or not _is_finite(v):
            raise ParseError(f"{key!r} has the value {json.dumps(v)[:40]}, not a number", column=1)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond float64
        return False


def _feature_number(text: str, key: str) -> int:
    if not (text.isdecimal() and len(text) < 11 and 1 <= int(text) < 2**31):
        raise ParseError(
            f"{key!r} has the feature {text[:40]!r}",
            hint="number the features from 1, or give all of them names",
            column=1,
        )
    return int(text) - 1


def write_line(example: Written) -> str:
    """Return the line of an example; content that the format cannot hold raises ValueError."""
    if isinstance(example.label, tuple):
        raise ValueError("several labels need a KeLP file")
    item: dict[str, Any] = {} if example.label is None else {"label": example.label}
    alone = list(example.trees) == ["tree"]
    item |= example.trees if alone else {"trees": example.trees}
    item |= {name: dict(features) for name, features in example.vectors.items()}
    for name, text in example.columns.items():
        if name in item or name in ("label", "tree", "trees", "features"):
            raise ValueError(f"column {name!r} has the name of another entry: rename it")
        item[name] = text
    return json.dumps(item, ensure_ascii=False)

"""The functions of Python's standard library, a data set that every installation has.

The task is to predict the verb of a function's name (``get``, ``set``, ``is``, ``read``, ...) from
the arguments and the body of the function. The name is hidden.
"""

import ast
import copy
import os
import re
import sysconfig
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
from numpy.random import RandomState
from sklearn.utils import Bunch, check_random_state

from filbert.errors import ParseError
from filbert.forest import Forest
from filbert.read.python_ast import ast_to_brackets
from filbert.read.python_units import Function, find_units, parse_module

DEFAULT_VERBS = ("add", "check", "close", "find", "get", "is", "parse", "read", "set", "write")

HIDDEN_NAME = "<name>"

# Installed packages are not part of the standard library. Tests are named after what they test.
_SKIPPED_FOLDERS = {"__pycache__", "dist-packages", "idle_test", "site-packages", "test", "tests"}

# The first word of snake_case, camelCase or PascalCase.
_FIRST_WORD = re.compile(r"_*([A-Za-z][a-z]*)")

_DESCR = """\
Functions of the Python standard library
----------------------------------------

Task: predict the verb of a function's name from its arguments and body.

An example is a function of a module or a method of a class. Definitions inside a function belong
to the tree of that function. These are left out: tests, special methods such as __add__, functions
with an empty body (pass, ..., a docstring), and trees of more than max_nodes nodes. If several
functions have the same tree, only the first is kept, so no tree is in two folds of a
cross-validation. At most max_per_verb functions of a verb are kept, chosen at random.

The tree is Python's abstract syntax tree without decorators and docstring. Identifiers are leaves,
constants are leaves that name their kind. The name of the function, with or without underscores
around it, is replaced by {hidden} everywhere.

The examples come from the running Python, so they differ slightly between versions.

Source: {root}
Limits: max_nodes={max_nodes}, max_per_verb={max_per_verb}
Examples: {counts}
"""


class _Example(NamedTuple):
    verb: str
    name: str
    tree: str


def load_stdlib_functions(
    verbs: Collection[str] = DEFAULT_VERBS,
    *,
    max_per_verb: int | None = 250,
    max_nodes: int | None = 300,
    random_state: int | RandomState | None = 0,
    root: str | os.PathLike[str] | None = None,
) -> Bunch:
    """Load the functions of the standard library, labelled with the verb of their name.

    Parameters
    ----------
    verbs : collection of str
        The classes: functions whose name starts with another word are left out.
    max_per_verb : int or None
        Keep at most this many functions of a verb, chosen at random; None keeps all.
    max_nodes : int or None
        Leave out functions with larger trees; None keeps all.
    random_state : int, RandomState or None
        Seed of the random choice.
    root : path, optional
        Folder of Python sources to read instead of the standard library of the running Python.

    Returns
    -------
    Bunch
        ``data`` (a Forest of n trees), ``target`` (n verbs), ``names`` (n times
        ``module.qualname:line``), ``target_names`` (the verbs that occur, sorted) and ``DESCR``.

    Raises
    ------
    ParseError
        If no function is left, for example if Python is installed without its sources.

    Examples
    --------
    >>> import json
    >>> from pathlib import Path
    >>> data = load_stdlib_functions(["load", "dump"], root=Path(json.__file__).parent)
    >>> data.names[0].split(":")[0], str(data.target[0])
    ('__init__.dump', 'dump')
    """
    folder = Path(sysconfig.get_paths()["stdlib"] if root is None else root)
    examples = list(_distinct_examples(folder, frozenset(verbs), max_nodes))
    if not examples:
        raise ParseError(
            f"no function starts with one of the verbs {', '.join(sorted(verbs))}",
            hint="pass root=, a folder with Python sources, or other verbs",
            source=str(folder),
        )
    if max_per_verb is not None:
        examples = _sample(examples, max_per_verb, check_random_state(random_state))
    target = np.array([example.verb for example in examples])
    target_names, counts = np.unique(target, return_counts=True)
    return Bunch(
        data=Forest.from_brackets([example.tree for example in examples]),
        target=target,
        names=[example.name for example in examples],
        target_names=target_names,
        DESCR=_DESCR.format(
            max_nodes=max_nodes,
            max_per_verb=max_per_verb,
            hidden=HIDDEN_NAME,
            root=folder,
            counts=", ".join(f"{v} {n}" for v, n in zip(target_names, counts, strict=True)),
        ),
    )


def python_function_to_brackets(function: Function, hidden_name: str) -> str:
    """Convert a function to bracket notation, without decorators, docstring and name.

    ``hidden_name`` is also hidden if it has other underscores around it, because ``_read`` often
    only calls ``self.read``.

    Parameters
    ----------
    function : ast.FunctionDef or ast.AsyncFunctionDef
        The function, as Python's parser returns it.
    hidden_name : str
        The name to replace by ``<name>`` wherever it occurs.

    Returns
    -------
    str
        The tree in bracket notation.

    Examples
    --------
    >>> import ast
    >>> [function] = ast.parse("def get_size(self): return self.size").body
    >>> print(python_function_to_brackets(function, "get_size"))
    (FunctionDef <name> (arguments (arg self)) (body (Return (Attribute (Name self) size))))
    """
    bare = hidden_name.strip("_")
    anonymous = copy.copy(function)
    anonymous.decorator_list = []
    anonymous.body = _body_without_docstring(function)
    return ast_to_brackets(
        anonymous, rename=lambda name: HIDDEN_NAME if name.strip("_") == bare else name
    )


def _distinct_examples(
    folder: Path, verbs: Collection[str], max_nodes: int | None
) -> Iterator[_Example]:
    """Yield the labelled functions below a folder, each distinct tree once, in a fixed order."""
    seen: set[str] = set()
    for path in _source_files(folder):
        module = _module_name(path.relative_to(folder))
        for qualname, function in _functions(path):
            verb = _verb(function.name)
            if verb not in verbs or _is_stub(function):
                continue
            tree = python_function_to_brackets(function, function.name)
            # Identifiers contain no white space, so each node except the root follows one blank.
            if tree in seen or (max_nodes is not None and tree.count(" ") >= max_nodes):
                continue
            seen.add(tree)
            yield _Example(verb, f"{module}.{qualname}:{function.lineno}", tree)


def _sample(examples: Sequence[_Example], max_per_verb: int, random: RandomState) -> list[_Example]:
    """Keep at most ``max_per_verb`` examples of each verb, in their original order."""
    target = np.array([example.verb for example in examples])
    kept: list[int] = []
    for verb in np.unique(target):
        members = np.flatnonzero(target == verb)
        if len(members) > max_per_verb:
            members = random.choice(members, size=max_per_verb, replace=False)
        kept.extend(members.tolist())
    return [examples[i] for i in sorted(kept)]


def _source_files(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - _SKIPPED_FOLDERS)
        yield from (Path(where, file) for file in sorted(files) if file.endswith(".py"))


def _module_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def _functions(path: Path) -> Iterator[tuple[str, Function]]:
    """Yield the outermost functions of a file with their qualified names, or nothing.

    Standard libraries contain templates and files broken on purpose, which this Python cannot
    parse. Such files are skipped silently.
    """
    try:
        module = parse_module(path.read_bytes())
    except (ParseError, OSError):
        return
    for qualname, function in find_units(module, "function", nested=False):
        yield qualname, cast(Function, function)


def _verb(name: str) -> str:
    """Return the first word of a name, or an empty string for special methods (``__add__``).

    ``read`` and ``read_line`` have the verb ``read``; ``readline`` is another word.
    """
    match = _FIRST_WORD.match(name)
    is_special = name.startswith("__") and name.endswith("__")
    return match[1].lower() if match and not is_special else ""


def _is_stub(function: Function) -> bool:
    """Return whether the body is empty: only ``pass``, ``...`` or a docstring."""
    return all(
        isinstance(statement, ast.Pass)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in function.body
    )


def _body_without_docstring(function: Function) -> list[ast.stmt]:
    has_docstring = ast.get_docstring(function, clean=False) is not None
    return function.body[1:] if has_docstring else function.body

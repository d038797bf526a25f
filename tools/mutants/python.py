"""Small changes of Python sources, found by their syntax trees.

Changes are drawn from all modules alike: first one of each module, then another, until there are
enough. The choice depends on the seed, on the names of modules and on their
sources. A change of one module leaves the choice in the others as it is.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*",
    ast.Pow: "*", ast.BitAnd: "|", ast.BitOr: "&", ast.LShift: ">>", ast.RShift: "<<",
}  # fmt: skip
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "zeros": "ones", "ones": "zeros"}
# What users never see, or see as words only. `strict` of zip checks what always holds.
_LEFT_OUT_KEYWORDS = {"strict", "show", "verbose"}
_LEFT_OUT_CALLS = {"warn", "format", "join", "Field", "Option", "Argument", "TypeVar"}
_LEFT_OUT_NAMES = {"__repr__", "__str__", "__dir__", "_repr_html_", "__hash__", "__sizeof__"}


@dataclass(frozen=True)
class PythonMutant:
    """A change of one place of one file.

    Attributes
    ----------
    file : str
        Relative to ``src/filbert``.
    line, begin, end : int
        The line, and the part of the text that is replaced.
    original, changed : str
    """

    file: str
    line: int
    begin: int
    end: int
    original: str
    changed: str

    def apply(self, text: str) -> str:
        """Return the changed text of the file."""
        if text[self.begin : self.end] != self.original:
            raise ValueError(f"{self.file} has changed")
        return text[: self.begin] + self.changed + text[self.end :]


def python_mutants(package: Path, n: int, seed: int = 0) -> list[PythonMutant]:
    """Draw `n` changes of the modules of a package."""
    files = [path for path in package.rglob("*.py") if "testing" not in path.parts]
    draws = {path: Random(f"{seed} {path.relative_to(package)}") for path in files}
    by_file = []
    for path in sorted(files, key=lambda path: draws[path].random()):
        changes = list(_changes(path, package))
        draws[path].shuffle(changes)
        by_file.append(changes)
    drawn: list[PythonMutant] = []
    while len(drawn) < n and any(by_file):
        drawn += [changes.pop() for changes in by_file if changes]
    return drawn[:n]


def _changes(path: Path, package: Path) -> Iterator[PythonMutant]:
    text = path.read_text(encoding="utf-8")
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    lines = text.splitlines()

    def place(row: int, column: int) -> int:
        return starts[row - 1] + len(lines[row - 1].encode()[:column].decode())

    for node, changed in _found(ast.parse(text)):
        assert isinstance(node, ast.expr)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        begin = place(node.lineno, node.col_offset)
        end = place(node.end_lineno, node.end_col_offset)
        yield PythonMutant(
            str(path.relative_to(package)), node.lineno, begin, end, text[begin:end], changed
        )


def _found(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Walk functions, and yield expressions with what they become."""
    stack: list[ast.AST] = [
        node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    while stack:
        node = stack.pop()
        if _is_left_out(node):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            stack += node.body  # not annotations, defaults and decorators
            continue
        if isinstance(node, ast.ClassDef):
            stack += [own for own in node.body if isinstance(own, ast.FunctionDef | ast.ClassDef)]
            continue
        if isinstance(node, ast.AnnAssign):
            stack += [node.value] if node.value is not None else []
            continue
        stack += list(ast.iter_child_nodes(node))
        if isinstance(node, ast.expr):
            changed = _changed(node)
            if changed is not None:
                yield node, changed


def _is_left_out(node: ast.AST) -> bool:
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Assert | ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    if isinstance(node, ast.FunctionDef) and node.name in _LEFT_OUT_NAMES:
        return True
    if isinstance(node, ast.keyword):
        return node.arg in _LEFT_OUT_KEYWORDS
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func).rpartition(".")[2]
        return name in _LEFT_OUT_CALLS or name.endswith(("Error", "Warning", "warn"))
    return False


def _changed(node: ast.expr) -> str | None:
    for kind, change in _CHANGES.items():
        if isinstance(node, kind):
            return change(node)
    return None


def _compare(node: ast.Compare) -> str | None:
    if len(node.ops) > 1:
        return None
    left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
    return f"({left}) {_COMPARISONS[type(node.ops[0])]} ({right})"


def _operation(node: ast.BinOp) -> str | None:
    sides = ast.unparse(node.left), ast.unparse(node.right)
    if type(node.op) not in _OPERATORS or any(side[:1] in "'\"[" for side in sides):
        return None  # text or lists
    return f"(({sides[0]}) {_OPERATORS[type(node.op)]} ({sides[1]}))"


def _and_or(node: ast.BoolOp) -> str:
    name = " or " if isinstance(node.op, ast.And) else " and "
    return "(" + name.join(f"({ast.unparse(value)})" for value in node.values) + ")"


def _not(node: ast.UnaryOp) -> str | None:
    return f"bool({ast.unparse(node.operand)})" if isinstance(node.op, ast.Not) else None


def _choice(node: ast.IfExp) -> str:
    test, body, other = map(ast.unparse, (node.test, node.body, node.orelse))
    return f"(({other}) if ({test}) else ({body}))"


def _constant(node: ast.Constant) -> str | None:
    if type(node.value) is bool:
        return str(not node.value)
    return str(node.value + 1) if type(node.value) is int else None


def _call(node: ast.Call) -> str | None:
    prefix, dot, last = ast.unparse(node.func).rpartition(".")
    if last not in _CALLS or prefix == "self":
        return None
    arguments = ast.unparse(ast.Call(ast.Name("f"), node.args, node.keywords))[1:]
    return f"{prefix}{dot}{_CALLS[last]}{arguments}"


_CHANGES: dict[type[ast.expr], Any] = {
    ast.Compare: _compare,
    ast.BinOp: _operation,
    ast.BoolOp: _and_or,
    ast.UnaryOp: _not,
    ast.IfExp: _choice,
    ast.Constant: _constant,
    ast.Call: _call,
}


_LISTED = [
    (
        "explanations/measures.py",
        "«precision, recall, _ =» precision_recall_curve",
        "recall, precision, _ =",
    ),
    (
        "report/charts.py",
        "_HEIGHT - _BOTTOM - «y.share(b)» * (_HEIGHT - _TOP - _BOTTOM),",
        "(1 - y.share(b))",
    ),
    (
        "cli/evaluate.py",
        '"macro_f1": float(«columns[2].mean()»)',
        "np.average(columns[2], weights=columns[3])",
    ),
    ("cli/cv.py", 'average=«"macro"»', '"weighted"'),
    ("cli/naming.py", 'average=«"macro"»', '"weighted"'),
    (
        "report/view.py",
        '"macro_f1": «sum(f1) / len(f1)» if f1',
        'sum(f * row["support"] for f, row in zip(f1, metrics["classes"]))'
        ' / sum(row["support"] for row in metrics["classes"])',
    ),
    ("datasets/head_words.py", '"VP": [_rule(«"first"», _VERBS)', '"last"'),
    # What attacks found once.
    (
        "learners/perceptron_model.py",
        "if last is None or «last.log.n_seen != growing.core.n_seen»:",
        "False",
    ),
    (
        "learners/perceptron_model.py",
        "left = «State(state.support[kept], log.kept(kept), state.n_forgotten + n_support - n)»",
        '(setattr(self._growing, "n_forgotten", state.n_forgotten + n_support - n),'
        " State(state.support[kept], log.kept(kept), state.n_forgotten + n_support - n))[1]",
    ),
    (
        "kernels/matrices.py",
        "n = «max(1, math.isqrt(_STEPS // max(1, a.shape[1])))»",
        "max(1, a.shape[0], b.shape[0])",
    ),
    (
        "learners/dual.py",
        "self.support_ = «np.flatnonzero(solution.coef.any(axis=0))»",
        "np.flatnonzero(solution.coef.any(axis=0))[::-1]",
    ),
    # Modules of which few changes were drawn.
    (
        "learners/cascade.py",
        "is_stuck = «fitted.gap.max() > self._tol_in(len(rounds) - 1)»",
        "False",
    ),
    ("learners/cascade.py", "counts[np.searchsorted(classes, own)] «+=» n", "="),
    ("learners/certificate.py", "«scale * self.rows»", "self.rows"),
    ("learners/certificate.py", "while self.excess(scale) > «_LATER * tol»", "tol"),
    ("clones/classes.py", "if «known.nnz == len(own) * (len(own) - 1) // 2»", "True"),
    ("clones/classes.py", "-c.size * «(len(c.members) - 1)»", "len(c.members)"),
    ("clones/subtrees.py", "inside = «(n_edges == 1) & ~is_root»", "n_edges == 1"),
    ("clones/alignment.py", "key=lambda pairs: («-len(pairs), pairs[0]»)", "pairs[0],"),
    ("report/clones.py", 'shown["n_left_out"] = «len(others) - len(shown["pairs"])»', "0"),
    ("search/index.py", "progress(min(«first + done», n), n)", "done"),
    ("search/segments.py", "np.lexsort((«ids», -values, query))", "-ids"),
    ("search/segments.py", "and «len(segments[-1].ids) < 2 * len(ids)»", "False"),
    (
        "search/over_parts.py",
        "None if excluded is None else «_places(numbers, excluded)»",
        "excluded",
    ),
    ("read/iupac.py", "column = «(error.column or 1)» + line", "1"),
    ("read/conllu_trees.py", 'return "" if «"newdoc" in metadata» else before', "False"),
    ("read/html.py", 'data.decode(name)«.removeprefix("\\ufeff")»', ""),
]


def listed_mutants(package: Path) -> list[PythonMutant]:
    """Return changes that no test had caught once. Marks surround what changes, as in the core."""
    mutants = []
    for file, place, changed in _LISTED:
        before, _, rest = place.partition("«")
        part, _, after = rest.partition("»")
        text = (package / file).read_text(encoding="utf-8")
        if text.count(before + part + after) != 1:
            raise ValueError(f"{file} should have this once: {place}")
        begin = text.index(before + part + after) + len(before)
        line = text.count("\n", 0, begin) + 1
        mutants.append(PythonMutant(file, line, begin, begin + len(part), part, changed))
    return mutants

"""Imports go one way: each stage of the package knows only the stages before it."""

import ast
import subprocess
import sys
from collections import defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import filbert
from docs.site.public import public_modules

PACKAGE = Path(filbert.__file__).parent

# The order of stages. A name stands for a module or for all modules of a folder, save those that
# are named themselves; those of one stage may import each other. Some are still to come.
STAGES = [
    ["_core"],
    ["errors", "arrays", "labels"],
    ["skipped"],
    ["threads", "progress", "unpack", "atomic", "locks"],
    ["read"],
    ["node_arrays", "description"],
    [
        *("drawing", "tree", "given", "objects", "forest", "frames", "examples", "reading"),
        *("merging", "reading_trees", "several_files", "streaming", "streaming_trees"),
        *("writing", "writing_trees"),
    ],
    ["persist.archive", "persist.checked", "persist.texts", "persist.rows"],
    ["corpus"],
    ["transform"],
    ["kernels"],
    ["engine"],
    ["model"],
    ["predictors"],
    ["fragments"],
    ["learners"],
    ["metrics"],
    ["explanations", "report"],
    ["datasets"],
    ["persist"],
    ["search"],
    ["clones", "report.clones"],
    ["testing"],
    ["cli"],
]
STAGE_OF = {name: number for number, names in enumerate(STAGES) for name in names}

# Nobody imports these, save their own modules.
ENDS = {"cli"}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(["filbert", *(parts[:-1] if parts[-1] == "__init__" else parts)])


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
KNOWN = {*MODULES, "filbert._core"}


def imported_modules(source: str, module: str, is_package: bool) -> set[str]:
    """The modules of the package that a source imports anywhere, also within functions."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                anchor = module.split(".")
                anchor = anchor[: len(anchor) - node.level + is_package]
                base = ".".join([*anchor, base] if base else anchor)
            names = {f"{base}.{alias.name}" for alias in node.names}
            found |= {name if name in KNOWN else base for name in names}
    return {name for name in found if name.split(".")[0] == "filbert"}


@cache
def imports() -> dict[str, set[str]]:
    """The modules that each module imports."""
    return {
        name: imported_modules(path.read_text("utf-8"), name, path.name == "__init__.py")
        for name, path in MODULES.items()
    }


def stage_name(module: str) -> str:
    """`read` for `filbert.read.tsv`; empty for the package itself."""
    inside = module.partition(".")[2]
    name = inside if inside in STAGE_OF else inside.partition(".")[0]
    return "cli" if name == "__main__" else name  # `python -m filbert` is the command line


def faults(imports: dict[str, set[str]]) -> list[str]:
    """What breaks the order, in words."""
    found = []
    for module, targets in imports.items():
        own = stage_name(module)
        if not own:
            continue  # the package itself only gathers the public names
        if own not in STAGE_OF:
            found.append(f"{module} is in no stage")
            continue
        for target in sorted(targets):
            if target.startswith(f"{module}."):
                continue  # a folder's own module gathers what it holds, as the package does
            other = stage_name(target)
            if not other:
                if own not in ENDS:
                    found.append(f"{module} imports the package itself: name the module")
            elif other not in STAGE_OF:
                found.append(f"{module} imports {target}, which is in no stage")
            elif STAGE_OF[other] > STAGE_OF[own]:
                found.append(f"{module} imports {target} of a later stage")
            elif other in ENDS and other != own:
                found.append(f"{module} imports {target}, which nobody may")
    return found


def test_each_stage_imports_only_earlier_ones() -> None:
    assert faults(imports()) == []


def test_every_module_is_in_a_stage() -> None:
    assert {stage_name(module) for module in MODULES} - {""} <= STAGE_OF.keys()


def test_nobody_imports_the_command_line() -> None:
    importers = defaultdict(set)
    for module, targets in imports().items():
        for target in targets:
            importers[stage_name(target)].add(stage_name(module))
    for end in ENDS:
        assert importers[end] <= {end}


def test_no_modules_import_each_other_in_a_circle() -> None:
    below = {  # a folder's own module gathers what it holds, as the package does
        module: {t for t in targets - {"filbert"} if not t.startswith(f"{module}.")}
        for module, targets in imports().items()
    }
    TopologicalSorter(below).prepare()  # raises CycleError, naming the circle


def test_public_names_are_there() -> None:
    assert sorted(filbert.__all__) == sorted(set(filbert.__all__))
    for name in filbert.__all__:
        assert getattr(filbert, name) is not None


def test_public_names_come_from_where_type_checkers_see_them() -> None:
    """Names are imported when they are used. Type checkers read imports that are never run."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    seen = {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("filbert.")
        for alias in node.names
    }
    homes = {
        name: (f"filbert.{module}", own or name)
        for name, home in filbert._HOMES.items()
        for module, _, own in [home.partition(":")]
    }
    assert homes == seen
    assert {*homes, "__version__"} == set(filbert.__all__)


def test_the_modules_of_the_reference_are_attributes_from_the_start() -> None:
    """In a fresh interpreter: here, other tests have imported them."""
    names = public_modules()[1:]
    shown = ", ".join(f"{name}.__name__" for name in names)
    program = [sys.executable, "-c", f"import filbert; print({shown})"]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    assert done.stdout.split() == names
    assert {"filbert.clones", "filbert.persist"} <= {*names}


def test_names_are_found_and_unknown_names_are_not() -> None:
    assert {*filbert.__all__, *filbert._MODULES} <= set(dir(filbert))
    for name in filbert._MODULES:
        assert getattr(filbert, name).__name__ == f"filbert.{name}"
    with pytest.raises(AttributeError, match="module 'filbert' has no attribute 'Tres'"):
        _ = filbert.Tres


# ---------------------------------------------------------------- the check itself


@pytest.mark.parametrize(
    ("source", "module", "is_package", "expected"),
    [
        ("import numpy, filbert.forest as f", "filbert.kernels", False, {"filbert.forest"}),
        ("from filbert.read import tsv, jsonl", "filbert.examples", False,
         {"filbert.read.tsv", "filbert.read.jsonl"}),
        ("from filbert.read.record import Record", "filbert.examples", False,
         {"filbert.read.record"}),
        ("from filbert import _core, Forest", "filbert.tree", False,
         {"filbert._core", "filbert"}),
        ("from . import errors", "filbert.tree", False, {"filbert.errors"}),
        ("from .record import Record", "filbert.read.tsv", False, {"filbert.read.record"}),
        ("from ..errors import ParseError", "filbert.read.tsv", False, {"filbert.errors"}),
        ("from . import tsv", "filbert.read", True, {"filbert.read.tsv"}),
        ("def f():\n  if x:\n    from filbert.cli import app", "filbert.tree", False,
         {"filbert.cli"}),
        ("import filbertine", "filbert.tree", False, set()),
    ],
)  # fmt: skip
def test_imports_are_found(source: str, module: str, is_package: bool, expected: set[str]) -> None:
    assert imported_modules(source, module, is_package) == expected


@pytest.mark.parametrize(
    ("module", "target", "fault"),
    [
        ("filbert.read.tsv", "filbert.forest", "of a later stage"),
        ("filbert.errors", "filbert.read.tsv", "of a later stage"),
        ("filbert.read.tsv", "filbert.reading", "of a later stage"),
        ("filbert.forest", "filbert.kernels", "of a later stage"),
        ("filbert.kernels", "filbert.learners.svm", "of a later stage"),
        ("filbert.datasets.srl", "filbert.cli.demo", "of a later stage"),
        ("filbert.kernels", "filbert", "the package itself"),
        ("filbert.newcomer", "filbert.errors", "is in no stage"),
        ("filbert.kernels", "filbert.newcomer", "is in no stage"),
    ],
)
def test_faults_are_found(module: str, target: str, fault: str) -> None:
    [found] = faults({module: {target}})
    assert fault in found


# ---------------------------------------------------------------- kernels


def asked_kernels(text: str) -> set[str]:
    """The classes of kernels that code tells apart, by isinstance or by type()."""
    concrete = {"SubsetTree", "Subtree", "PartialTree", "ApproximateTree", "LocalPatterns"}
    concrete |= {"Linear", "Polynomial", "RBF"}  # Sequence is also a name of collections.abc
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        tests: list[ast.expr] = []
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
            tests = node.args[1:]
        elif isinstance(node, ast.Compare) and "type(" in ast.unparse(node.left):
            tests = node.comparators
        found |= {
            name.id for test in tests for name in ast.walk(test) if isinstance(name, ast.Name)
        }
    return found & concrete


def test_only_kernels_ask_which_kernel_it_is() -> None:
    """All others read capabilities, so that a new kernel needs no change elsewhere."""
    asking = {
        str(path.relative_to(PACKAGE)): asked
        for path in PACKAGE.rglob("*.py")
        if "kernels" not in path.relative_to(PACKAGE).parts
        and (asked := asked_kernels(path.read_text("utf-8")))
    }
    assert asking == {}


@pytest.mark.parametrize(
    ("code", "asked"),
    [
        ("isinstance(kernel, Subtree)", {"Subtree"}),
        ("isinstance(k, (SubsetTree, Subtree | PartialTree))",
         {"SubsetTree", "Subtree", "PartialTree"}),
        ("type(kernel) not in (SubsetTree, Subtree)", {"SubsetTree", "Subtree"}),
        ("isinstance(kernel, Kernel) and SubsetTree()", set()),
    ],
)  # fmt: skip
def test_asking_for_a_kernel_is_found(code: str, asked: set[str]) -> None:
    assert asked_kernels(code) == asked

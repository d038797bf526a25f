"""Includes of the core go one way: each folder knows only the folders before it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "core"

# In the order of the data. A folder includes its own files and those of folders before it.
FOLDERS = [
    "base",
    "forest",
    "kernels",
    "rows",
    "patterns",
    "factors",
    "scoring",
    "learn",
    "embed",
    "fragments",
    "features",
    "search",
    "catalogue",
]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)

pytestmark = pytest.mark.skipif(not CORE.is_dir(), reason="the core's sources are not here")


def included(source: str) -> list[str]:
    return INCLUDE.findall(source)


def sources() -> dict[str, str]:
    """Texts of the core's files by path, without those that stand above all folders."""
    files = (path for path in CORE.rglob("*") if path.suffix in {".hpp", ".cpp", ".inc"})
    return {
        path.relative_to(CORE).as_posix(): path.read_text("utf-8")
        for path in sorted(files)
        if path.parent != CORE
    }


def faults(texts: dict[str, str]) -> list[str]:
    """What breaks the order, in words."""
    found = []
    for path, text in texts.items():
        own = path.partition("/")[0]
        if own not in FOLDERS:
            found.append(f"{path} is in no known folder")
            continue
        for target in included(text):
            other = target.partition("/")[0]
            if other not in FOLDERS:
                found.append(f"{path} includes {target}, which is in no known folder")
            elif FOLDERS.index(other) > FOLDERS.index(own):
                found.append(f"{path} includes {target} of a later folder")
    return found


def test_each_folder_includes_only_earlier_ones() -> None:
    assert faults(sources()) == []


def test_every_folder_is_in_the_order() -> None:
    assert {path.name for path in CORE.iterdir() if path.is_dir()} == set(FOLDERS)


def test_no_code_asks_which_tree_kernel_it_has() -> None:
    """Kernels are told apart by name in one place; all others ask what a kernel declares."""
    names = re.compile(r'"(subtree|subset_tree|partial_tree)"')
    casts = re.compile(r"dynamic_cast<[^>]*(Kernel|Tree)|typeid")
    telling = {path for path, text in sources().items() if names.search(text)}
    assert telling == {"catalogue/tree_kernels.cpp"}
    assert [path for path, text in sources().items() if casts.search(text)] == []


def declarations(text: str) -> list[str]:
    """What a header declares, without comments, white space and default arguments."""
    code = re.sub(r"//.*|^\s*#.*", "", text, flags=re.MULTILINE)
    code = re.sub(r" = [^,();]+(\(\))?(?=[,)])", "", code)
    return [" ".join(part.split()) for part in re.split(r"[;{}]", code)]


def test_the_overview_of_the_core_is_up_to_date() -> None:
    """core/filbert.hpp declares again, word by word, what the headers of the folders declare."""
    known = {
        d for path, text in sources().items() if path.endswith("hpp") for d in declarations(text)
    }
    overview = (CORE / "filbert.hpp").read_text("utf-8")
    shown = [d for d in declarations(overview) if d and d != "namespace filbert"]
    assert len(shown) > 40
    assert [d for d in shown if d not in known and not is_defined(d, known)] == []
    assert len(overview.splitlines()) <= 130


def is_defined(declaration: str, known: set[str]) -> bool:
    """A class that has bases."""
    return any(other.startswith(f"{declaration} final :") for other in known)


@pytest.mark.parametrize(
    ("path", "include", "fault"),
    [
        ("base/hash.hpp", "forest/dag.hpp", "of a later folder"),
        ("rows/matrix.cpp", "factors/factors.hpp", "of a later folder"),
        ("kernels/subtree.hpp", "catalogue/tree_kernels.hpp", "of a later folder"),
        ("rows/matrix.cpp", "matrix.hpp", "in no known folder"),
        ("newcomer/new.hpp", "base/hash.hpp", "in no known folder"),
    ],
)
def test_faults_are_found(path: str, include: str, fault: str) -> None:
    [found] = faults({path: f'#pragma once\n#include "{include}"\n'})
    assert fault in found


def test_includes_are_found() -> None:
    assert included('#include <vector>\n#include "rows/lanes.hpp"\n  // #include "x"\n') == [
        "rows/lanes.hpp"
    ]

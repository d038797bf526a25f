"""A copy of the core that contains all its mutants. An environment variable turns one of them on.

So one build serves all mutants: ``FILBERT_MUTANT=7`` makes the bug number 7, and without the
variable the core is as it should be.
"""

import os
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from tools.mutants.core_list import CORE_MUTANTS, CoreMutant

VARIABLE = "FILBERT_MUTANT"
_HEADER = f"""\
#pragma once
#include <cstdlib>
namespace filbert {{
inline const int the_mutant =
    std::getenv("{VARIABLE}") != nullptr ? std::atoi(std::getenv("{VARIABLE}")) : 0;
inline bool is_mutant(int number) {{ return the_mutant == number; }}
}}  // namespace filbert
"""


def with_mutants(text: str, mutants: dict[int, CoreMutant]) -> str:
    """Return the text of a file with all its mutants, which are given by number."""
    places: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, mutant in mutants.items():
        before, _, rest = mutant.place.partition("«")
        part, _, after = rest.partition("»")
        if text.count(before + part + after) != 1:
            raise ValueError(f"{mutant.file} should have this once: {mutant.place}")
        begin = text.index(before + part + after) + len(before)
        places[begin, begin + len(part)].append(number)
    for (begin, end), numbers in sorted(places.items(), reverse=True):
        part = text[begin:end]
        for number in numbers:
            part = _switched(part, mutants[number].changed, f"::filbert::is_mutant({number})")
        text = text[:begin] + part + text[end:]
    return text


def _switched(part: str, changed: str, condition: str) -> str:
    if "@" in changed:
        return changed.replace("@", condition)
    if part.endswith(";"):
        return f"if ({condition}) {{ {changed} }} else {{ {part} }}"
    return f"({condition} ? ({changed}) : ({part}))"


def _write_sources(root: Path, source: Path) -> None:
    """Copy the sources with all mutants. Files that stay the same are not compiled again."""
    by_file: dict[str, dict[int, CoreMutant]] = defaultdict(dict)
    for number, mutant in enumerate(CORE_MUTANTS, 1):
        by_file[mutant.file][number] = mutant
    texts = {"CMakeLists.txt": (root / "CMakeLists.txt").read_text(), "mutants.hpp": _HEADER}
    for folder in ("core", "bindings"):
        for ending in ("cpp", "hpp", "inc"):
            for path in (root / folder).rglob(f"*.{ending}"):
                texts[str(path.relative_to(root))] = path.read_text()
    for file, mutants in by_file.items():
        texts[f"core/{file}"] = with_mutants(texts[f"core/{file}"], mutants)
    for name, text in texts.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def build(root: Path, folder: Path, n_jobs: int = 2) -> Path:
    """Build the core with all mutants below `folder`, and return the folder of the module."""
    source = folder / "source"
    _write_sources(root, source)
    options = [
        "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None", f"-DPython_EXECUTABLE={sys.executable}",
        "-DFILBERT_UNITY=ON",
        f"-DCMAKE_CXX_FLAGS=-O1 -DNDEBUG -w -include {source / 'mutants.hpp'}",
    ]  # fmt: skip
    if shutil.which("ccache"):
        options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    nanobind = [sys.executable, "-m", "nanobind", "--cmake_dir"]
    where = subprocess.run(nanobind, check=True, capture_output=True, text=True).stdout.strip()
    options.append(f"-Dnanobind_DIR={where}")
    made = folder / "made"
    subprocess.run(["cmake", "-S", source, "-B", made, *options], check=True)
    subprocess.run(
        ["cmake", "--build", made, "--target", "_core", "--parallel", str(n_jobs)],
        check=True,
        env={**os.environ, "CCACHE_BASEDIR": str(folder), "CCACHE_NOHASHDIR": "1"},
    )
    return made

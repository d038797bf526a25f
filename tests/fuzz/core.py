"""Fuzz the readers of the core under sanitizers: ``python -m tests.fuzz.core --bytes 1e7``.

``core_readers.cpp`` is built with clang's libFuzzer and the address and undefined-behaviour
sanitizers. It begins with the corpus of the formats that the core reads. An input that does what it
must not is written to ``build/fuzz``.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOUND = ROOT / "build" / "fuzz"
_SOURCES = ["core/base/parallel.cpp", "core/base/hash_seed.cpp", "core/forest"]
_COMPILERS = ("clang++", *(f"clang++-{version}" for version in range(30, 13, -1)))
_OPTIONS = [
    "-std=c++20", "-O1", "-g1", "-fno-omit-frame-pointer", "-pthread",
    "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all",
]  # fmt: skip
# The first byte of an input chooses the reader, the second one the length of pieces.
_READERS = {"brackets": b"\x00 \x40`\x01", "tsv": b"\x02\x22\x42", "svmlight-tk": b"\x03"}


def build() -> Path:
    """Build the target, and return the program."""
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    if compiler is None:
        sys.exit("this needs clang++ with libFuzzer: apt-get install clang libclang-rt-14-dev")
    FOUND.mkdir(parents=True, exist_ok=True)
    program = FOUND / "core_readers"
    sources = [Path(__file__).with_name("core_readers.cpp")]
    for name in _SOURCES:
        path = ROOT / name
        sources += sorted(path.glob("*.cpp")) if path.is_dir() else [path]
    command = [compiler, *_OPTIONS, "-I", str(ROOT / "core"), *map(str, sources)]
    subprocess.run([*command, "-o", str(program)], check=True)
    return program


def seeds() -> Path:
    """Write the files to begin with, and return their folder."""
    folder = FOUND / "core.corpus"
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((ROOT / "tests/fuzz/corpus").iterdir()):
        for first in _READERS.get(path.name.split("--")[0], b""):
            (folder / f"{path.name}-{first}").write_bytes(bytes([first, 2]) + path.read_bytes())
    (folder / "arrays").write_bytes(bytes([4, 0, *range(60)]))
    return folder


def run(n_bytes: float, seed: int) -> str:
    """Fuzz with so many bytes, and return what the target says, or end with its report."""
    options = [f"-seed={seed}", "-max_len=8192", "-verbosity=0", "-print_funcs=0"]
    options.append(f"-artifact_prefix={FOUND}/core-")
    done = subprocess.run(
        [str(build()), *options, str(seeds())],
        env={**os.environ, "FILBERT_FUZZ_BYTES": str(n_bytes)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"core: failed, see {FOUND}")
    return done.stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=float, default=1e6)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    print(run(chosen.bytes, chosen.seed))


if __name__ == "__main__":
    main()

"""Fuzzing for as long as one likes: ``python -m tests.fuzz.long --bytes 1e6 [--only NAME ...]``.

With atheris (``pip install atheris``), each target gets a process of its own with libFuzzer's
mutations, guided by the coverage of the Python code. Without it, or with ``--plain``, the mutations
of `mutate` are used. An input that does what it must not is written to ``build/fuzz/NAME``, and the
target's process ends.
"""

import argparse
import gc
import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from types import FunctionType

from tests.fuzz.mutate import mutated
from tests.fuzz.targets import CORPUS, TARGETS

FOUND = CORPUS.parents[2] / "build" / "fuzz"


class Counted:
    """A target that counts what it gets, until it has had enough."""

    def __init__(self, name: str, n_bytes: float, n_inputs: int = 0) -> None:
        self.name = name
        self.target = TARGETS[name]
        self.fewest_bytes, self.fewest_inputs = n_bytes, n_inputs
        self.n_inputs = self.n_bytes = self.n_accepted = 0

    def __call__(self, data: bytes) -> None:
        """Run on some bytes; keep them if they do what they must not."""
        FOUND.mkdir(parents=True, exist_ok=True)
        last = FOUND / f"{self.name}.last"
        last.write_bytes(data)  # if the process ends here, this is why
        self.n_inputs += 1
        self.n_bytes += len(data)
        try:
            self.n_accepted += self.target(data)
        except BaseException:
            last.rename(FOUND / self.name)
            raise

    @property
    def is_done(self) -> bool:
        """Whether it has had enough."""
        return self.n_bytes >= self.fewest_bytes and self.n_inputs >= self.fewest_inputs


def plain(counted: Counted, seed: int) -> None:
    """Use the mutations of `mutate`. Inputs that were accepted are mutated further."""
    rng = Random(seed)
    pool = list(counted.target.seeds)
    while not counted.is_done:
        data = mutated(rng, rng.choice(pool), counted.target.seeds)
        before = counted.n_accepted
        counted(data)
        if counted.n_accepted > before and rng.random() < 0.05:
            pool[rng.randrange(len(pool))] = data
            if len(pool) < 50:
                pool.append(data)
            if rng.random() < 0.2:
                pool[: len(counted.target.seeds)] = counted.target.seeds


def with_atheris(counted: Counted) -> None:
    """Use libFuzzer's mutations."""
    import atheris  # noqa: PLC0415

    for own in gc.get_objects():  # without this, it sees no coverage
        if isinstance(own, FunctionType) and str(own.__module__).startswith("filbert"):
            atheris.instrument_func(own)

    def one(data: bytes) -> None:
        counted(data)
        if counted.is_done:
            report(counted)
            os._exit(0)  # libFuzzer takes an exception for a report

    seeds = FOUND / f"{counted.name}.corpus"
    seeds.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(counted.target.seeds):
        (seeds / str(number)).write_bytes(seed)
    options = ["-max_len=8192", "-verbosity=0", f"-artifact_prefix={FOUND}/"]
    atheris.Setup([sys.argv[0], str(seeds), *options], one)
    atheris.Fuzz()


def report(counted: Counted) -> None:
    """Say what a target got."""
    print(
        f"{counted.name}: {counted.n_bytes:,} bytes in {counted.n_inputs:,} inputs, "
        f"{counted.n_accepted:,} accepted, 0 reports",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=float, default=1e6, help="for each target")
    parser.add_argument("--inputs", type=int, default=0, help="the fewest, for each target")
    parser.add_argument("--only", nargs="+", choices=TARGETS, default=[*TARGETS])
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--plain", action="store_true", help="without atheris")
    chosen = parser.parse_args()
    if len(chosen.only) == 1:
        counted = Counted(chosen.only[0], chosen.bytes, chosen.inputs)
        if chosen.plain:
            plain(counted, chosen.seed)
            report(counted)
        else:
            with_atheris(counted)
        return
    failed = []
    for name in chosen.only:
        options = ["--bytes", str(chosen.bytes), "--inputs", str(chosen.inputs), "--only", name]
        command = [sys.executable, "-m", "tests.fuzz.long", *options, "--seed", str(chosen.seed)]
        command += ["--plain"] * chosen.plain
        root = Path(__file__).resolve().parents[2]
        if subprocess.run(command, check=False, cwd=root).returncode != 0:
            failed.append(name)
    print(f"failed: {', '.join(failed) or 'none'}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()

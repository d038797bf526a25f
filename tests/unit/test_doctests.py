"""The examples in the docstrings do what they show."""

import doctest
import importlib
from importlib.util import find_spec
from pathlib import Path

import pytest

import filbert

PACKAGE = Path(filbert.__file__).parent
MODULES = {
    ".".join(["filbert", *path.relative_to(PACKAGE).with_suffix("").parts]): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.name != "__init__.py"
} | {
    ".".join(["filbert", *path.parent.relative_to(PACKAGE).parts]): path
    for path in sorted(PACKAGE.rglob("__init__.py"))
}
# The extra `test` leaves these out.
ABSENT = [library for library in ("networkx",) if find_spec(library) is None]
WITH_EXAMPLES = [name for name, path in MODULES.items() if ">>>" in path.read_text("utf-8")]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_in_docstrings(name: str) -> None:
    runner = doctest.DocTestRunner(verbose=False)
    for example in doctest.DocTestFinder().find(importlib.import_module(name)):
        if not any(f"import {library}" in example.docstring for library in ABSENT):
            runner.run(example)
    assert runner.tries > 0, "the examples are not where doctest looks"
    assert runner.failures == 0


def test_what_users_meet_first_has_examples() -> None:
    assert {"filbert.forest", "filbert.tree", "filbert.kernels", "filbert.examples"} <= {
        *WITH_EXAMPLES
    }

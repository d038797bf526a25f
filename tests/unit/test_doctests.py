"""The examples in the docstrings do what they show."""

import doctest
import importlib
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
WITH_EXAMPLES = [name for name, path in MODULES.items() if ">>>" in path.read_text("utf-8")]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_in_docstrings(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), raise_on_error=False)
    assert result.attempted > 0, "the examples are not where doctest looks"
    assert result.failed == 0


def test_what_users_meet_first_has_examples() -> None:
    assert {"filbert.forest", "filbert.tree", "filbert.kernels", "filbert.examples"} <= {
        *WITH_EXAMPLES
    }

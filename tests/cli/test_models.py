"""What commands make of files that hold no learner."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from filbert import Forest, save
from filbert.cli import app
from filbert.errors import InputTypeError


@pytest.mark.parametrize("command", ["predict", "evaluate", "explain"])
def test_a_file_of_trees_is_no_model(command: str, tmp_path: Path) -> None:
    trees = tmp_path / "trees.filbert"
    save(Forest(["(S a)"]), trees)
    data = tmp_path / "data.tsv"
    data.write_text("yes\t(S (A a))\n", encoding="utf-8")
    more = ["-o", str(tmp_path / "page.html")] if command == "explain" else []
    with pytest.raises(InputTypeError, match="holds a Forest, which cannot predict"):
        CliRunner().invoke(app, [command, str(trees), str(data), *more], catch_exceptions=False)

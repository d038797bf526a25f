"""What commands load of model files, and what they make of files that hold no learner."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from filbert import Forest, TreePerceptron, TreeSVC, save
from filbert.cli import app
from filbert.errors import InputTypeError
from filbert.kernels import SubsetTree


@pytest.mark.parametrize("command", ["predict", "evaluate", "explain"])
def test_a_file_of_trees_is_no_model(command: str, tmp_path: Path) -> None:
    trees = tmp_path / "trees.filbert"
    save(Forest(["(S a)"]), trees)
    data = tmp_path / "data.tsv"
    data.write_text("yes\t(S (A a))\n", encoding="utf-8")
    more = ["-o", str(tmp_path / "page.html")] if command == "explain" else []
    with pytest.raises(InputTypeError, match="holds a Forest, which cannot predict"):
        CliRunner().invoke(app, [command, str(trees), str(data), *more], catch_exceptions=False)


@pytest.mark.parametrize(
    "learner",
    [TreeSVC(SubsetTree(), C=1.0, loss="hinge"), TreePerceptron()],
    ids=["svm", "perceptron"],
)
def test_predicting_needs_no_slow_imports(learner: Any, tmp_path: Path) -> None:
    """In a fresh interpreter: this one has imported everything."""
    texts = ["(S (A a) (B c))", "(S (B b) (A c))"] * 3
    model, data = tmp_path / "m.filbert", tmp_path / "t.tsv"
    save(learner.fit(texts, ["yes", "no"] * 3), model)
    data.write_text("".join(f"?\t{text}\n" for text in texts), encoding="utf-8")
    program = (
        "import sys; from filbert.cli import main\n"
        f"sys.argv = ['filbert', 'predict', {str(model)!r}, {str(data)!r}]\n"
        "try: main()\n"
        "finally: print({'sklearn', 'scipy.sparse', 'joblib', 'pandas'} & set(sys.modules))\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.stdout.split("\n")[:-1] == ["yes", "no"] * 3 + ["set()"], done.stderr

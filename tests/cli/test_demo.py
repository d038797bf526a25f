"""The demo on a few functions; CI runs it on the standard library."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.utils import Bunch

from filbert import Forest, datasets
from filbert.cli.demo import demo
from filbert.cli.naming import Contender, Task
from filbert.errors import InvalidParameterError

MODULE = """
def get_{0}(self): return self.{0}.value
def set_{0}(self, value):
    self.{0} = value
    self.n = {0}
def is_{0}(self): return self.{0} == len(self.{0})
"""


@pytest.fixture(autouse=True)
def few_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "lib"
    folder.mkdir()
    for name in (
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "iota",
        "mu",
    ):
        (folder / f"{name}_module.py").write_text(MODULE.format(name))
    load = partial(datasets.load_stdlib_functions, ("get", "is", "set"), root=folder)
    monkeypatch.setattr(datasets, "load_stdlib_functions", load)
    monkeypatch.chdir(tmp_path)


def test_the_mean_over_classes_does_not_weigh_them() -> None:
    """The most frequent of 25 and 5 examples: F1 is 50 / 55 and 0."""
    y = np.array((["get"] * 5 + ["is"]) * 5)
    names = [f"m{i // 6}.f{i}" for i in range(30)]
    task = Task(Bunch(data=Forest(["(a b)"] * 30), target=y, names=names), seed=0)
    result = task.result(Contender("most frequent", task.X, DummyClassifier(), {}))
    assert result.accuracy == pytest.approx(25 / 30)
    assert result.macro_f1 == pytest.approx(50 / 55 / 2)


def test_the_demo_shows_accuracies_fragments_similar_functions_and_a_report(
    capsys: pytest.CaptureFixture[str],
) -> None:
    demo(output=Path("page.html"), like="beta_module.get", seed=0)
    printed, errors = capsys.readouterr()
    assert errors == ""  # which is not a terminal
    assert "\r" not in printed
    assert max(map(len, printed.splitlines())) <= 79
    assert "30 functions" in printed
    accuracies = [line for line in printed.splitlines() if "%" in line]
    assert len(accuracies) == 5
    assert "100.0%" in accuracies[-1]
    assert "(p = 1.00)" in printed
    nearest = printed.partition("Similar")[2].splitlines()[2:7]
    assert all("_module.get_" in line for line in nearest)
    assert not any("beta" in line for line in nearest)
    assert "Report: page.html" in printed
    assert "</html>" in Path("page.html").read_text()


def test_a_name_that_no_function_has() -> None:
    with pytest.raises(InvalidParameterError, match=r"'unicorn'.*--like.*alpha_module.get_alpha"):
        demo(output=Path("page.html"), like="unicorn", seed=0)
    assert not Path("page.html").exists()


@pytest.mark.parametrize("name", ["lib", "missing/page.html"])
def test_a_report_that_cannot_be_written_is_refused_at_once(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InvalidParameterError, match=r"cannot be written: pass --output"):
        demo(output=Path(name), like="alpha", seed=0)
    assert capsys.readouterr().out == ""

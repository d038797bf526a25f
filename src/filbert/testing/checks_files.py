"""Checks of what can be saved."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from filbert.persist import load, save
from filbert.testing.tools import assert_same, check, fresh, outputs, sentences


@check("file")
def check_save_and_load(name: str, estimator: Any) -> None:
    """What is loaded is what was saved: its parameters, all that it gives, and its bytes."""
    X, y = sentences()
    fitted = fresh(estimator).fit(X, y)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "first"
        save(fitted, path)
        again = load(path)
        save(again, Path(folder) / "second")
        same = path.read_bytes() == (Path(folder) / "second").read_bytes()
    assert same, f"{name}: what was loaded should be saved to the same bytes"
    assert type(again) is type(fitted), f"{name}: loading gave a {type(again).__name__}"
    assert repr(again) == repr(fitted), f"{name}: loading changed a parameter: {again!r}"
    assert_same(outputs(again, X), outputs(fitted, X), f"{name} from a file")

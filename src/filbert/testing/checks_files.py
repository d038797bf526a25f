"""Checks of saving and loading."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from filbert.persist import load, save
from filbert.testing.tools import assert_same, check, fresh, outputs, sentences


@check("file")
def check_save_and_load(name: str, estimator: Any) -> None:
    """Check that loading restores the parameters, the output and the bytes of the file."""
    X, y = sentences()
    fitted = fresh(estimator).fit(X, y)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "first"
        save(fitted, path)
        again = load(path)
        save(again, Path(folder) / "second")
        same = path.read_bytes() == (Path(folder) / "second").read_bytes()
    assert same, f"{name}: the loaded model should be saved to the same bytes"
    assert type(again) is type(fitted), f"{name}: loading gave a {type(again).__name__}"
    assert repr(again) == repr(fitted), f"{name}: loading changed a parameter: {again!r}"
    assert_same(outputs(again, X), outputs(fitted, X), f"{name} loaded from a file")

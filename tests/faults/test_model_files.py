"""Hostile model files are refused, quickly and without much memory: see fault_sections."""

import pytest

from benchmarks.fault_sections import model_files

MODEL = model_files.small_model()


@pytest.fixture(scope="module")
def outcomes() -> dict[str, dict[str, object]]:
    """What became of the files of each kind; a process for each kind."""
    files = {
        "changed bytes": (model_files.changed_bytes(MODEL, range(0, len(MODEL), 29)), MODEL),
        "truncations": (model_files.truncations(MODEL, 61), MODEL),
        "hand-made": (model_files.hand_made(every=3), None),
    }
    return {
        name: model_files.run(some, original=original) for name, (some, original) in files.items()
    }


@pytest.mark.parametrize("kind", ["changed bytes", "truncations", "hand-made"])
def test_hostile_files_are_refused(outcomes: dict[str, dict[str, object]], kind: str) -> None:
    found = outcomes[kind]
    assert found["examples_of_bad"] == []
    assert found["refused"]
    if kind == "truncations":
        assert found["refused"] == found["files"]


def test_every_hostile_file_with_right_checksums_differs_from_the_model() -> None:
    """The harness would find a file that loads as another model."""
    content = model_files.unpacked(MODEL)
    name = next(name for name, array in content.items() if name.endswith("coef"))
    content[name] = content[name] * 2
    found = model_files.run([MODEL, model_files.packed(content)], original=MODEL)
    assert found["load"] == 1
    assert found["bad"] == 1
    assert "another model" in str(found["examples_of_bad"])

"""Fixtures and settings for all tests."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# A first call may load native code and a shared machine may stall: no time limit per example.
settings.register_profile("filbert", deadline=None)
settings.load_profile("filbert")

# A shell has its background jobs ignore Ctrl-C, and so would the programs that tests start and
# interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of shared data: $FILBERT_SHARED, else `shared` beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    path = Path(os.environ.get("FILBERT_SHARED", beside))
    if not path.is_dir():
        pytest.skip(f"no shared data: {path} is not a folder (set FILBERT_SHARED)")
    return path

"""A service that reloads its model: see fault_sections."""

from pathlib import Path

import pytest

from benchmarks.fault_sections import service


def test_threads_predict_while_the_model_is_replaced(tmp_path: Path) -> None:
    found = service.run(tmp_path, 0.5, n_threads=4)
    assert found["told"] == []
    assert found["reloads"] > 0
    assert found["explanations"] > 0
    assert found["predictions"] > 0


@pytest.mark.slow
def test_a_service_for_a_minute(tmp_path: Path) -> None:
    found = service.run(tmp_path, 60)
    assert found["told"] == []
    assert found["reloads"] > 10

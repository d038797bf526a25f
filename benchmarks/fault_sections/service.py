"""A service: threads predict and explain while another replaces the model and reloads it."""

import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fault_sections.subjects import data, random_trees
from filbert import TreeSVC, explain, load, save

_BATCH = 20  # trees per request
_PER_EXPLANATION = 200  # requests


def run(folder: Path, seconds: float, n_threads: int = 8) -> dict[str, Any]:
    """Return the number of predictions, of errors, and the latency of requests."""
    X, y = data(200)
    models = [TreeSVC(C=C, random_state=0, n_jobs=1).fit(X, y) for C in (0.5, 5.0)]
    path = folder / "model.filbert"
    save(models[0], path)
    requests = [random_trees(_BATCH, seed=seed) for seed in range(20)]
    allowed = [[tuple(model.predict(trees)) for model in models] for trees in requests]
    current = [load(path)]
    errors: list[str] = []
    latencies: list[list[float]] = [[] for _ in range(n_threads)]  # of predictions
    explaining: list[float] = []
    n_reloads = 0
    end = time.monotonic() + seconds

    def answer(number: int) -> None:
        turn = 0
        while time.monotonic() < end or turn < _PER_EXPLANATION + 1:
            turn += 1
            which = (turn * 7 + number) % len(requests)
            start = time.perf_counter()
            try:
                model = current[0]
                if turn % _PER_EXPLANATION == 0:
                    explain(model, requests[which][:2])
                    explaining.append(time.perf_counter() - start)
                    continue
                if tuple(model.predict(requests[which])) not in allowed[which]:
                    errors.append("a prediction of neither model")
            except Exception as error:
                errors.append(f"{type(error).__name__}: {error}")
            latencies[number].append(time.perf_counter() - start)

    def reload() -> None:
        nonlocal n_reloads
        while any(thread.is_alive() for thread in threads):
            try:
                save(models[n_reloads % 2], path)
                current[0] = load(path)
                n_reloads += 1
            except Exception as error:
                errors.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=answer, args=(k,)) for k in range(n_threads)]
    reloader = threading.Thread(target=reload)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for thread in threads:
            thread.start()
        reloader.start()
        for thread in (*threads, reloader):
            thread.join()
    taken = 1000 * np.concatenate([np.array(own) for own in latencies])
    halves = [1000 * np.array(own) for own in latencies]
    first = np.concatenate([own[: len(own) // 2] for own in halves])
    second = np.concatenate([own[len(own) // 2 :] for own in halves])
    return {
        "threads": n_threads,
        "predictions": _BATCH * len(taken),
        "reloads": n_reloads,
        "explanations": len(explaining),
        "errors": len(errors),
        "told": errors[:3],
        "p50_ms": round(float(np.percentile(taken, 50)), 2),
        "p99_ms": round(float(np.percentile(taken, 99)), 2),
        "p99_ms_explaining": round(1000 * float(np.percentile(explaining, 99)), 2),
        "p99_ms_first_half": round(float(np.percentile(first, 99)), 2),
        "p99_ms_second_half": round(float(np.percentile(second, 99)), 2),
    }

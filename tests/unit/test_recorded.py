"""Warnings are recorded for each thread, and the settings of the process are restored."""

import pickle
import threading
import warnings

from filbert.corpus.recorded import Recorded, recorded_warnings


def test_threads_do_not_share_warnings() -> None:
    found: dict[int, list[str]] = {}
    all_record = threading.Barrier(3)
    before = warnings.showwarning, list(warnings.filters)

    def work(number: int) -> None:
        with recorded_warnings() as record:
            all_record.wait()
            for _ in range(2):
                warnings.warn(f"number {number}", UserWarning, stacklevel=1)
            all_record.wait()
        found[number] = [str(one.message) for one in record]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: [f"number {number}"] * 2 for number in range(3)}
    assert (warnings.showwarning, list(warnings.filters)) == before


def test_they_are_restored_after_errors() -> None:
    before = warnings.showwarning
    try:
        with recorded_warnings():
            raise KeyError
    except KeyError:
        pass
    assert warnings.showwarning is before


def test_they_are_shown_as_in_the_thread_that_gave_them() -> None:
    with recorded_warnings() as record:
        warnings.warn("text", UserWarning, stacklevel=1)
    [one] = pickle.loads(pickle.dumps(record))
    assert isinstance(one, Recorded)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        registry: dict[object, object] = {}
        one.show(registry)
        one.show(registry)
    assert [(str(w.message), w.filename, w.lineno) for w in caught] == [
        ("text", record[0].filename, record[0].line)
    ]

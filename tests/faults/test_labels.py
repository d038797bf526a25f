"""Hostile labels stay text: see fault_sections. tests/report opens reports in a browser."""

from benchmarks.fault_sections import labels


def test_hostile_labels_stay_text() -> None:
    found = labels.run(60)
    assert found["told"] == []
    assert found["pages"] >= 3
    assert found["pictures"] == 60
    assert found["texts"] > 200


def test_the_check_finds_what_is_obeyed() -> None:
    tags, handlers = labels.tags_of("<p onload=x><a href='javascript:1'>\x1b[2J")
    assert tags == {"p", "a"}
    assert len(handlers) == 2
    assert labels._OBEYED.search("a\x1b[2J")
    assert not labels._OBEYED.search("plain\ntext")

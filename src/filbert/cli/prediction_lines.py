"""Predictions as lines of output, with placeholders, ids and numbers."""

import json
from typing import TYPE_CHECKING

from filbert.errors import InvalidParameterError

if TYPE_CHECKING:
    from filbert.cli.batches import Batch


class Lines:
    """Puts predictions into lines, with placeholders, ids, numbers and lines of the data."""

    def __init__(
        self, as_json: bool, placeholder: str, id: str | None, *, number: bool, line: bool
    ) -> None:
        from filbert.cli.data import label_text

        self._as_json = as_json
        self._placeholder = label_text(placeholder)
        self._number = number
        self._line = line
        self._id = id
        self._n = 0
        self._has_ids = self._id is not None

    def of(self, batch: "Batch", texts: list[str]) -> str:
        """Return the lines of a batch."""
        if batch.errors:
            texts = self._with_gaps(texts, {i: self._bad(e) for i, e in batch.errors.items()})
        names = self._names(batch)
        first = self._n + 1
        self._n += len(texts)
        if self._line:
            texts = self._before(_lines_of(batch), texts, "line", quoted=False)
        if self._number:
            numbers = map(str, range(first, self._n + 1))
            texts = self._before(list(numbers), texts, "number", quoted=False)
        if names is not None:
            texts = self._before(names, texts, "id", quoted=True)
        if self._as_json:
            texts = [f"{{{text}}}" for text in texts]
        return "\n".join(texts) + "\n" if texts else ""

    def _bad(self, error: Exception) -> str:
        if not self._as_json:
            return self._placeholder
        return f'"label": null, "error": {json.dumps(str(error), ensure_ascii=False)}'

    def _names(self, batch: "Batch") -> list[str] | None:
        from filbert.cli.data import columns_of, shown_name

        columns = columns_of(batch.X)
        name = "id" if self._id is None else self._id
        if name in columns:
            self._has_ids = True
            names = list(map(str, columns[name].tolist()))
            return self._with_gaps(names, dict.fromkeys(batch.errors, ""))
        if name == "file":
            return [shown_name(batch.path)] * len(batch)
        if batch.X is None and self._has_ids:
            return [""] * len(batch)
        if self._id is None or batch.X is None:
            return None
        listed = ", ".join([*columns, "file"])
        raise InvalidParameterError(f"--id {name}: there is no such column; there are {listed}")

    def _before(self, column: list[str], texts: list[str], key: str, *, quoted: bool) -> list[str]:
        from filbert.cli.data import label_text

        if not self._as_json:
            return [f"{label_text(one)}\t{text}" for one, text in zip(column, texts, strict=True)]
        if quoted:
            column = [json.dumps(one, ensure_ascii=False) for one in column]
        return [f'"{key}": {one}, {text}' for one, text in zip(column, texts, strict=True)]

    @staticmethod
    def _with_gaps(values: list[str], gaps: dict[int, str]) -> list[str]:
        """Insert values at the positions of rows that could not be read."""
        if not gaps:
            return values
        rest = iter(values)
        n = len(values) + len(gaps)
        return [gaps[i] if i in gaps else next(rest) for i in range(n)]


def _lines_of(batch: "Batch") -> list[str]:
    """Return the line of each row."""
    from filbert.cli.data import shown_name

    if len(batch.lines) != len(batch):
        raise InvalidParameterError(
            f"--line: the trees of {shown_name(batch.path)} have no lines of their own: use "
            "--number, or --id file"
        )
    return list(map(str, batch.lines))

"""The tree formats by name. A format's module is imported only when it is needed."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from filbert.errors import InvalidParameterError, MissingLibraryError
from filbert.read.documents import Read
from filbert.read.languages import LANGUAGES


@dataclass(frozen=True)
class TreeFormat:
    """A format of documents that hold trees."""

    name: str
    suffixes: tuple[str, ...]
    module: str  # in filbert.read
    extra: str = ""  # the extra that installs its library
    written: bool = False  # whether write_trees can write it
    native: bool = False  # the core reads and writes it: the module has only Options
    one_per_file: bool = False  # a file holds exactly one tree
    language: str = ""  # the option `language` of a module that reads several formats

    def options(self, given: dict[str, Any]) -> Any:
        """Return the module's Options; unknown names raise InvalidParameterError."""
        kind = self._module().Options
        known = [field.name for field in fields(kind) if field.name != "language"]
        for name in given:
            if name not in known:
                listed = f"it has {', '.join(known)}" if known else "it has none"
                raise InvalidParameterError(f"{self.name} has no option {name!r}: {listed}")
        return kind(**given, language=self.language) if self.language else kind(**given)

    @property
    def read(self) -> Read:
        """The module's ``read``."""
        reader: Read = self._module().read
        return reader

    @property
    def write(self) -> Callable[[list[str], list[int], Any], str]:
        """The module's ``write``, if the format is `written` and not `native`."""
        writer: Callable[[list[str], list[int], Any], str] = self._module().write
        return writer

    def _module(self) -> Any:
        try:
            return importlib.import_module(f"filbert.read.{self.module}")
        except ModuleNotFoundError as error:
            if not self.extra or (error.name or "").startswith("filbert"):
                raise
            raise MissingLibraryError(self.name, error.name or "", self.extra) from None


TREE_FORMATS: dict[str, TreeFormat] = {
    one.name: one
    for one in (
        TreeFormat(
            "brackets", (".mrg", ".ptb", ".brackets"), "brackets", written=True, native=True
        ),
        TreeFormat("xml", (".xml",), "xml", "docs", written=True, one_per_file=True),
        TreeFormat("html", (".html", ".htm", ".xhtml"), "html", "docs", one_per_file=True),
        TreeFormat("json", (".json",), "json_values", written=True, one_per_file=True),
        TreeFormat("python", (".py",), "python_source"),
        *(
            TreeFormat(name, language.suffixes, "tree_sitter_code", "code", language=name)
            for name, language in LANGUAGES.items()
        ),
        TreeFormat("conllu", (".conllu", ".conll"), "conllu_trees", "nlp"),
        TreeFormat(
            "newick",
            (".nwk", ".newick", ".nw", ".tree", ".tre", ".treefile", ".dnd"),
            "newick",
            written=True,
        ),
        TreeFormat("dot-bracket", (".dbn", ".db"), "dot_bracket", written=True),
        TreeFormat("iupac", (".iupac",), "iupac", written=True),
    )
}


def known_format(name: str) -> TreeFormat:
    """Return a format by its name."""
    if name not in TREE_FORMATS:
        raise InvalidParameterError(
            f"there is no tree format {name!r}: there are {', '.join(TREE_FORMATS)}. "
            "For files of labelled trees, use read_examples"
        )
    return TREE_FORMATS[name]

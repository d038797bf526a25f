"""The pages of the API reference, from the lists of public names."""

import sys
from importlib import import_module

from docs.site.public import kind, public_modules, public_names, summary

# The package's own names by task.
TASKS = {
    "Trees and examples": ("Forest", "Tree", "Examples", "Parts", "TreeIndex"),
    "Reading and writing": (
        "read_trees", "read_examples", "stream", "stream_trees", "merge_streams", "parts",
        "write_trees", "write_examples", "escape",
    ),
    "Learners": (
        "TreeSVC", "TreeSVCCV", "TreeLogisticRegression", "TreeSVR", "TreeRanker", "TreePerceptron",
    ),
    "Transformers": (
        "TreeFeatures", "PatternVectorizer", "KernelMatrix", "FragmentVectorizer",
        "DistributedTreeEmbedding", "SymbolSelector",
    ),
    "Explanations": ("explain", "Explanation"),
    "Model files": ("save", "load", "inspect"),
}  # fmt: skip


def _title(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}\n\n"


def _table(module: str, names: list[str]) -> str:
    rows = "".join(f"   {name}\n" for name in names)
    options = "   :toctree: generated\n   :nosignatures:\n"
    return f".. currentmodule:: {module}\n\n.. autosummary::\n{options}\n{rows}\n"


def _package() -> str:
    names = public_names("filbert")
    named = {name for group in TASKS.values() for name in group}
    if named != {*names}:
        raise ValueError(f"TASKS and the public names differ in {sorted(named ^ {*names})}")
    text = _title("filbert") + "The names that ``import filbert`` gives.\n\n"
    for task, group in TASKS.items():
        text += _title(task, "-") + _table("filbert", [*group])
    return text


def _module(module: str) -> str:
    found = import_module(module)
    names = public_names(module)
    text = _title(module) + f".. automodule:: {module}\n   :no-members:\n\n"
    for title, wanted in (("Classes", "class"), ("Functions", "function"), ("Data", "data")):
        own = sorted(
            (name for name in names if kind(getattr(found, name)) == wanted), key=str.lower
        )
        if own:
            text += _title(title, "-") + _table(module, own)
    return text


def api_pages() -> dict[str, str]:
    """Return the sources of all pages of the reference, by file name."""
    modules = [module for module in public_modules() if public_names(module)]
    rows = "".join(f"   * - :doc:`{module}`\n     - {_about(module)}\n" for module in modules)
    index = (
        _title("API reference")
        + "Every public class, function and constant. Estimators follow the conventions of\n"
        + "scikit-learn. The examples are run as tests. Six errors and warnings have none: they\n"
        + "would need a cluster, a full disk, a huge forest or a bug.\n\n"
        + f".. list-table::\n   :widths: 30 70\n\n{rows}\n"
        + ".. toctree::\n   :hidden:\n\n"
        + "".join(f"   {module}\n" for module in modules)
    )
    pages = {"api/index.rst": index}
    for module in modules:
        text = _package() if module == "filbert" else _module(module)
        pages[f"api/{module}.rst"] = text
    return pages


def _about(module: str) -> str:
    if module == "filbert":
        return "Trees, reading and writing, learners, explanations, model files."
    return summary(sys.modules[module])

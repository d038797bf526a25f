"""The public names of Filbert, module by module: what the API reference shows."""

import inspect
from importlib import import_module
from types import ModuleType

import filbert


def public_modules() -> list[str]:
    """Return the names of the public modules, the package first."""
    return ["filbert", *(f"filbert.{name}" for name in filbert._MODULES)]


def public_names(module: str) -> list[str]:
    """Return the names that a public module exports and that no module before it does."""
    found = import_module(module)
    names = [name for name in found.__all__ if name != "__version__"]
    if module == "filbert":
        return sorted(names, key=str.lower)
    elsewhere = [getattr(filbert, name) for name in filbert.__all__ if name != "__version__"]
    return [name for name in names if not _is_one_of(getattr(found, name), elsewhere)]


def _is_one_of(value: object, others: list[object]) -> bool:
    return any(value is other for other in others)


def public_objects() -> dict[str, object]:
    """Return every public class, function and constant by its full name."""
    return {
        f"{module}.{name}": getattr(import_module(module), name)
        for module in public_modules()
        for name in public_names(module)
    }


def kind(value: object) -> str:
    """Return "class", "function" or "data"."""
    if inspect.isclass(value):
        return "class"
    return "function" if inspect.isfunction(value) else "data"


def summary(module: ModuleType) -> str:
    """Return the first line of a module's docstring."""
    return (inspect.getdoc(module) or "").partition("\n")[0]

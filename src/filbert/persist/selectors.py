"""Encode a fitted SymbolSelector as a header and arrays, and decode it."""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from filbert.errors import FilbertError, ModelFileError
from filbert.kernels.approximate import checked_symbols
from filbert.kernels.capabilities import capabilities_of
from filbert.learners.symbol_selection import SymbolSelector
from filbert.persist import parameters
from filbert.persist.archive import Arrays
from filbert.persist.checked import floats_of, kernel_error_of


def encode(selector: SymbolSelector) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for a fitted selector."""
    check_is_fitted(selector)
    selector.check_parameters()
    header = {
        "parameters": parameters.to_json(selector),
        "kernel": parameters.kernel_to_json(selector.kernel_),
        "candidates": parameters.symbols_to_json(selector.candidates_),
        "kernel_error": selector.kernel_error_,
    }
    return header, {"gains": selector.gains_, "frequencies": selector.frequencies_}


def decode(header: dict[str, Any], arrays: Arrays) -> SymbolSelector:
    """Return the selector; inconsistent content raises ModelFileError."""
    try:
        selector = SymbolSelector(**parameters.from_json(SymbolSelector, header.get("parameters")))
        selector.check_parameters()
        kernel: Any = parameters.kernel_from_json(header.get("kernel"))
        if capabilities_of(kernel).all_roots:
            raise ModelFileError("the kernel of the chosen symbols is missing")
        candidates = parameters.symbols_from_json("candidates", header.get("candidates"))
        checked_symbols(candidates, kernel.by)
    except ModelFileError:
        raise
    except FilbertError as error:
        raise ModelFileError(str(error)) from None
    n = len(candidates)
    gains, frequencies = (floats_of(arrays, name, (n,)) for name in ("gains", "frequencies"))
    known = set(candidates)
    if n == 0 or len(known) < n or not known.issuperset(kernel.symbols) or (frequencies <= 0).any():
        raise ModelFileError("the chosen symbols do not match the symbols of the trees")
    selector._take(kernel, candidates, gains, frequencies, kernel_error_of(header))
    return selector

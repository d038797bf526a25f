"""The report: one HTML file that needs nothing else.

Labels are untrusted text. Templates escape all that they are given, the page's program gets numbers
alone and never makes mark-up from text, and the page's policy allows no script or style but its
own, which it knows by their hashes, and no request at all.
"""

import base64
import hashlib
import json
import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension
from markupsafe import Markup

from filbert.errors import InvalidParameterError
from filbert.report.view import numbers_of, view_of
from filbert.report.wording import bare, label, percent, plain, signed


def render(explanation: dict[str, Any]) -> str:
    """Return the whole page of an explanation, given as plain data."""
    checked(explanation)
    view = view_of(explanation)
    numbers = json.dumps(numbers_of(explanation, view), separators=(",", ":"), allow_nan=False)
    page = environment().get_template("page.html")
    return page.render(view=view, numbers=Markup(numbers), **_assets())


def checked(explanation: dict[str, Any]) -> None:
    """Raise InvalidParameterError where this is not an explanation that we can show."""
    if not isinstance(explanation, dict) or explanation.get("format") != "filbert-explanation":
        raise InvalidParameterError(
            "this is not an explanation: pass what Explanation.to_dict() returns"
        )
    if explanation.get("version") != 1:
        raise InvalidParameterError(
            f"this explanation has version {explanation.get('version')!r} of the format, and this "
            "Filbert shows version 1: make it again, or install the Filbert that made it"
        )


class _Unindented(Extension):
    """Leaves the templates' indentation out of the page, of which it would be a tenth."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return re.sub(r"(?m)^[ \t]+", "", source)


@cache
def environment() -> Environment:
    """Return what fills in the templates."""
    made = Environment(
        loader=PackageLoader("filbert.report"),
        extensions=[_Unindented],
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "bare": bare,
        "label": label,
        "percent": percent,
        "plain": plain,
        "signed": signed,
    }
    return made


@cache
def _assets() -> dict[str, Markup]:
    """Return style sheet and programs, and the policy that allows these and nothing else."""
    css, early, program = (_source(name) for name in ("report.css", "early.js", "report.js"))
    # The policy forbids styles of single elements, so lengths of bars are classes.
    css += Markup("".join(f".w{i}{{--w:{i}%}}" for i in range(101)))
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src {_hash(css)}; script-src {_hash(early)} {_hash(program)}"
    )
    return {"css": css, "early": early, "program": program, "policy": Markup(policy)}


def _source(name: str) -> Markup:
    loader = environment().loader
    assert loader is not None
    return Markup(loader.get_source(environment(), name)[0].replace("\r\n", "\n"))


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

"""The report: one self-contained HTML file.

Labels are untrusted text. Templates escape all their input. The script of the page gets its data
deflated, in base64, and never makes mark-up from text: the content security policy of the page
forbids this. The policy allows only the page's own script and style, identified by their hashes,
and no requests at all.
"""

import base64
import hashlib
import json
import re
import zlib
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension
from markupsafe import Markup

from filbert.errors import InvalidParameterError
from filbert.report.data import data_of
from filbert.report.view import view_of
from filbert.report.wording import bare, label, percent, plain, signed

_SCRIPTS = ("page", "trees", "fragments", "examples", "start")  # parts of one program, in order


def render(explanation: dict[str, Any]) -> str:
    """Return the page of an explanation that is given as plain data."""
    checked(explanation)
    data = data_of(explanation)
    page = environment().get_template("page.html")
    return page.render(view=view_of(explanation, data), data=packed(data), **_assets())


def packed(data: dict[str, Any]) -> str:
    """Return data as JSON, deflated (RFC 1950), in base64."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def checked(explanation: dict[str, Any]) -> None:
    """Raise InvalidParameterError if this is not an explanation that can be shown."""
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
    """Remove the templates' indentation, which would be a tenth of the page."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return re.sub(r"(?m)^[ \t]+", "", source)


@cache
def environment() -> Environment:
    """Return the environment that fills in the templates."""
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
    """Return the style sheet, the scripts, and the policy that allows only these."""
    css, early = source_of("report.css"), source_of("early.js")
    program = Markup("").join(source_of(f"{name}.js") for name in _SCRIPTS)
    # The policy forbids inline styles, so lengths of bars are classes.
    css += Markup("".join(f".w{i}{{--w:{i}%}}" for i in range(101)))
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'; "
        f"style-src {content_hash(css)}; script-src {content_hash(early)} {content_hash(program)}"
    )
    return {"css": css, "early": early, "program": program, "policy": Markup(policy)}


def source_of(name: str) -> Markup:
    """Return a part of the page that is not a template: a style sheet or a script."""
    loader = environment().loader
    assert loader is not None
    return Markup(loader.get_source(environment(), name)[0].replace("\r\n", "\n"))


def content_hash(text: str) -> str:
    """Return how a policy names this style or script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

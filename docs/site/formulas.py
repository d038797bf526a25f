"""Formulas as MathML, which browsers draw themselves: pages load nothing from elsewhere."""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx

_SHORT_FRACTION = re.compile(r"(\\[dt]?frac)\s*(\d)(\d)")  # docutils would read 12 as a number


def _mathml(text: str, *, block: bool) -> str:
    text = _SHORT_FRACTION.sub(r"\1{\2}{\3}", text)
    return latex2mathml.tex2mathml(text, as_block=block)


def _inline(self: Any, node: nodes.math) -> None:
    self.body.append(f'<span class="math">{_mathml(node.astext(), block=False)}</span>')
    raise nodes.SkipNode


def _block(self: Any, node: nodes.math_block) -> None:
    rows = _mathml(node.astext(), block=True)
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(f"{rows}</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

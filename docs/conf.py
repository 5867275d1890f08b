"""How Sphinx makes the site: `make docs` builds it into build/docs.

The source folder is the project's, not docs/, so that a link such as ../SECURITY.md means the same here and where the
files are read as they are. Nothing is fetched, neither while it is built nor by its pages: formulas become MathML.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "src"))

import byline  # noqa: E402 - of this source tree

project = "Byline"
author = "the Byline developers"
project_copyright = author
version = release = byline.__version__

extensions = ["sphinx.ext.napoleon", "myst_parser", "sphinx.ext.autodoc"]
root_doc = "docs/index"
include_patterns = ["docs/**", "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
exclude_patterns = [".*", "build", "src", "tests", "benchmarks", "dist", "**/node_modules"]
source_suffix = {".md": "markdown"}
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!byline\.[A-Za-z_]+$).*")]  # names of other libraries, and what is not public

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_inherit_docstrings = False
default_role = "code"

html_theme = "furo"
html_title = f"Byline {release}"
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"
html_theme_options = {"top_of_page_buttons": []}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "monokai"
html_static_path = ["site"]
html_css_files = ["byline.css"]


def formula(node: Any, block: bool) -> str:
    """A formula as MathML, which browsers show without a script."""
    return str(tex2mathml(node.astext(), as_block=block))


def visit_inline(writer: Any, node: Any) -> None:
    """A formula in a line."""
    writer.body.append(formula(node, block=False))
    raise nodes.SkipNode


def visit_block(writer: Any, node: Any) -> None:
    """A formula by itself."""
    writer.body.append(f'<div class="math">{formula(node, block=True)}</div>\n')
    raise nodes.SkipNode


def skip_foreign(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out methods that scikit-learn adds to estimators by itself."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def reach_by_keys(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Let the arrow keys scroll what is wider than the page: code and tables can have the focus."""
    body = context.get("body", "")
    for begin in ("<pre", '<div class="table-wrapper'):
        name, space, rest = begin.partition(" ")
        body = body.replace(begin, f'{name} tabindex="0"{space}{rest}')
    context["body"] = body


def lead_to_index(app: Any, failure: Exception | None) -> None:
    """A first page that leads to docs/."""
    if failure is None and app.builder.format == "html":
        lead = '<meta http-equiv="refresh" content="0; url=docs/index.html"><a href="docs/index.html">Byline</a>'
        page = f'<!doctype html><meta charset="utf-8"><title>Byline</title>{lead}\n'
        (Path(app.outdir) / "index.html").write_text(page, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("html-page-context", reach_by_keys, priority=900)  # when the theme has wrapped the tables
    app.connect("build-finished", lead_to_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""A report as one HTML file that holds its own style, script and data and needs no network.

Texts and file names are data: they are escaped here, and the page only ever shows them as text. The page's security
policy allows this style and this script, by their hashes, and no other.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from byline import __version__
from byline.errors import OVERWRITE, AnswersError, RunError
from byline.storage.files import write_files

SCRIPTS = tuple(
    f"{name}.js"
    for name in (
        "elements", "tables", "plots", "graphs", "heatmap", "tips", "texts", "provenance", "views", "verification",
        "attribution", "clustering", "rolling", "start",
    )
)  # fmt: skip
"""In the order of the page: a script uses only those above it."""
STYLES = ("base.css", "report.css")
KINDS = {
    "verification": "author verification",
    "attribution": "authorship attribution",
    "clustering": "clustering by author",
    "rolling": "authorship along a text",
}

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_MARKUP = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
_CONTROLS: dict[int, int | str] = {
    **{code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"},
    0x7F: 0x2421,
    **{code: f"[U+{code:04X}]" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))},
}
"""Visible replacements of invisible characters and of those that change the direction of text."""


def timestamp() -> str:
    """Return the current time as reports show it."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def describe_report(
    source: str, command: Sequence[str], title: str | None = None, /, **provenance: object
) -> dict[str, Any]:
    """Return what a report says of itself: what it is about, when and how it was made."""
    return {
        "title": title or Path(source).resolve().name or source,
        "source": source,
        "byline": __version__,
        "made": timestamp(),
        "provenance": {"command": shlex.join(command), **provenance},
    }


def require_report_path(path: Path, overwrite: bool) -> None:
    """Raise an error, before any work, if a report can't be written to a path."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise RunError("a report is an HTML file", where=path, remedy="Choose a name that ends with .html")
    if path.is_dir():
        raise RunError("is a folder", where=path, remedy=f"Name a file in it, such as {path / 'report.html'}")
    if path.exists() and not overwrite:
        raise AnswersError("exists already", where=path, remedy=OVERWRITE)


def write_report(path: Path, report_data: Mapping[str, Any]) -> None:
    """Write the page of a report, whole or not at all."""
    write_files(path.parent, {path.name: render(report_data).encode("utf-8", "replace")})


def pack(value: object) -> str:
    """Return a value as base64 of gzipped JSON, as the page unpacks it; the same value gives the same text."""
    return base64.b64encode(gzip.compress(_to_json(value).encode(), 9, mtime=0)).decode()


def render(report_data: Mapping[str, Any]) -> str:
    """Return the whole page. Numbers must be finite."""
    assets = files("byline.report") / "assets"
    style = "".join((assets / name).read_text(encoding="utf-8") for name in STYLES)
    script = "\n".join(['"use strict";', *((assets / name).read_text(encoding="utf-8") for name in SCRIPTS)])
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    title, conclusion = _shown(report_data["title"]), _shown(report_data["conclusion"])
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}: {report_data["kind"]}, Byline report</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#s-main">Skip to the contents</a>
<header class="masthead">
<p class="kind">Byline <span>report of {KINDS[report_data["kind"]]}</span></p>
<h1><bdi>{title}</bdi></h1>
<p class="conclusion">{conclusion}</p>
</header>
<main id="s-main" tabindex="-1">
<noscript><p class="note">The tables, charts and texts of this report are drawn by a script that is part of this file.
Allow scripts for it to see them; it loads nothing from elsewhere.</p></noscript>
</main>
<script type="application/json" id="report-data">{_to_json(report_data).translate(_MARKUP)}</script>
<script>{script}</script>
</body>
</html>
"""


def _to_json(value: object) -> str:
    """Return compact JSON. A lone surrogate, which UTF-8 can't hold, becomes U+FFFD, so that offsets stay."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _LONE_SURROGATE.sub("\ufffd", text)


def _shown(text: str) -> str:
    return html.escape(_LONE_SURROGATE.sub("\ufffd", text.translate(_CONTROLS)))


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"

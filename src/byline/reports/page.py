"""A dossier as one HTML file, which holds its own style, script and data and asks nothing of a network.

Whatever comes from texts and file names is data: it is escaped here, and in the page it becomes text and nothing else.
The page's security policy allows this style and this script, by their hashes, and no other.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

SCRIPTS = (
    "elements.js",
    "tables.js",
    "plots.js",
    "graphs.js",
    "heatmap.js",
    "tips.js",
    "texts.js",
    "provenance.js",
    "views.js",
    "verification.js",
    "attribution.js",
    "clustering.js",
    "rolling.js",
    "start.js",
)
"""In the order in which they stand in the page: one uses only what stands above it."""
KINDS = ("verification", "attribution", "clustering", "rolling")

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_MARKUP = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
_CONTROLS: dict[int, int | str] = {
    **{code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"},
    0x7F: 0x2421,
    **{code: f"[U+{code:04X}]" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))},
}
"""Signs that are not seen, or that turn what follows them around, as something that is seen."""


def pack(value: object) -> str:
    """A value as base64 of gzipped JSON, as the page unpacks it; the same value always gives the same text."""
    return base64.b64encode(gzip.compress(_to_json(value).encode(), 9, mtime=0)).decode()


def render(dossier: Mapping[str, Any]) -> str:
    """The whole page; no number may be infinite or not a number."""
    if dossier["kind"] not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {dossier['kind']!r}")
    assets = files("byline.reports") / "assets"
    style = (assets / "report.css").read_text(encoding="utf-8")
    script = "\n".join(['"use strict";', *((assets / name).read_text(encoding="utf-8") for name in SCRIPTS)])
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    title, conclusion = _shown(dossier["title"]), _shown(dossier["conclusion"])
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}: {dossier["kind"]}, Byline report</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#s-main">Skip to the contents</a>
<header class="masthead">
<p class="kind">Byline <span>report of {_NOUNS[dossier["kind"]]}</span></p>
<h1><bdi>{title}</bdi></h1>
<p class="conclusion">{conclusion}</p>
</header>
<main id="s-main" tabindex="-1">
<noscript><p class="note">The tables, charts and texts of this report are drawn by a script that is part of this file.
Allow scripts for it to see them; it loads nothing from elsewhere.</p></noscript>
</main>
<script type="application/json" id="dossier">{_to_json(dossier).translate(_MARKUP)}</script>
<script>{script}</script>
</body>
</html>
"""


_NOUNS = {
    "verification": "author verification",
    "attribution": "authorship attribution",
    "clustering": "clustering by author",
    "rolling": "authorship along a text",
}


def _to_json(value: object) -> str:
    """Compact JSON; half of a surrogate pair, which no UTF-8 can hold, becomes U+FFFD, so that offsets stay."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _LONE_SURROGATE.sub("\ufffd", text)


def _shown(text: str) -> str:
    return html.escape(_LONE_SURROGATE.sub("\ufffd", text.translate(_CONTROLS)))


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"

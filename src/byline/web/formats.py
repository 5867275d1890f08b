"""Which kinds of files can be read here, as people call them, and which would need more to be installed."""

from __future__ import annotations

from importlib.util import find_spec

from byline.formats import FORMATS, Format


def readable_formats() -> tuple[dict[str, str], list[str]]:
    """Suffixes with what they are called, and those for which something would have to be installed."""
    readable = {suffix: form.name for suffix, form in FORMATS.items() if _is_readable(form)}
    return readable, [suffix for suffix in FORMATS if suffix not in readable]


def _is_readable(form: Format) -> bool:
    return all(find_spec(library) is not None for library in form.libraries)

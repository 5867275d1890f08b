"""Diagnostics for `byline doctor`: what is installed, what is missing, whether the engines answer as they should."""

from __future__ import annotations

from collections.abc import Iterator

from byline.diagnostics.installation import Section, look_at_extras, look_at_machine, look_at_packages, look_at_places


def check_installation() -> Iterator[Section]:
    """Yield one section after another, the quick ones first; nothing that needs a broken package is tried."""
    yield look_at_machine()
    packages = look_at_packages()
    yield packages
    yield look_at_extras()
    if not packages.broken:
        from byline.diagnostics import selftest  # needs the packages

        yield look_at_places()
        yield selftest.try_answers()

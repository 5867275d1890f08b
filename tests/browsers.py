"""A real browser for tests, and axe to look at pages with; where they can't be had, tests say so and are skipped.

With BYLINE_BROWSER=required they fail instead, so that nothing passes unseen.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

REQUIRED = os.environ.get("BYLINE_BROWSER") == "required"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
AXE = Path(os.environ.get("BYLINE_AXE", Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"))


def do_without(reason: str, required: bool = REQUIRED) -> NoReturn:
    """Skip what can't be tried, or fail where it has to be."""
    if required:
        pytest.fail(f"{reason}, and BYLINE_BROWSER=required says that it must be")
    pytest.skip(reason)


def axe_script() -> str:
    """What finds faults of accessibility in a page."""
    if not AXE.exists():
        do_without(f"{AXE} is not there: npm install --prefix tests fetches it")
    return AXE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        do_without(f"no browser: none of {', '.join(BROWSERS)} is installed")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        do_without("playwright is not installed")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()

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

from paths import TESTS

REQUIRED = os.environ.get("BYLINE_BROWSER") == "required"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
AXE = Path(os.environ.get("BYLINE_AXE", TESTS / "node_modules" / "axe-core" / "axe.min.js"))


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


# How well words can be read depends on their color, size and weight and on what is painted behind them. Where many are
# alike in all that, the first three are looked at.
MARK_LOOKS = """() => {
  const behind = new Map(), counts = new Map();
  for (const one of document.querySelectorAll("body, body *")) {
    const look = getComputedStyle(one);
    const painted = [look.backgroundColor, look.backgroundImage, look.opacity, look.filter, look.position].join();
    const key = `${behind.get(one.parentElement) ?? ""}/${painted}`;
    behind.set(one, key);
    const written = one.matches("input, select, textarea, button") ||
      [...one.childNodes].some((each) => each.nodeType === Node.TEXT_NODE && each.data.trim());
    const own = [one.localName, one.getAttribute("class"), look.color, look.fill, look.fontSize, look.fontWeight,
                 look.textShadow, look.display, look.visibility, one.getClientRects().length > 0, key].join();
    if (written) counts.set(own, (counts.get(own) ?? 0) + 1);
    one.toggleAttribute("data-look", written && counts.get(own) <= 3);
  }
}"""
AXE_RULES = "axe.run(document, { resultTypes: ['violations'], rules: { 'color-contrast': { enabled: false } } })"
AXE_CONTRAST = """axe.run({ include: [['[data-look]']] },
{ resultTypes: ['violations'], runOnly: ['color-contrast'] })"""


def seriously_wrong(page: Any) -> set[str]:
    """What axe finds in a page, serious or of the order of headings: all rules once, contrast in light and in dark."""
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(axe_script())
    found = page.evaluate(f"{AXE_RULES}.then((all) => all.violations)")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.evaluate(MARK_LOOKS)
        found += page.evaluate(f"{AXE_CONTRAST}.then((all) => all.violations)")
    return {
        f"{one['id']}: {node['html'][:160]} {node['failureSummary']}"
        for one in found
        if one["impact"] in ("serious", "critical") or one["id"] == "heading-order"
        for node in one["nodes"][:3]
    }


class WatchedPages:
    """The pages that a test opens: their errors and dialogs, and requests for anything but `home`."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.errors: list[str] = []
        self.strange: list[str] = []

    def new_page(self, browser: Any, before: str = "", offline: bool = False) -> Any:
        """Return a page that is watched; `before` is run in it before its own scripts."""
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        context.set_offline(offline)
        context.set_default_timeout(10_000)
        page = context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._note_line)
        page.on("dialog", self._dismiss)
        page.on("request", self._note_request)
        if before:
            page.add_init_script(before)
        return page

    def _note_line(self, line: Any) -> None:
        if line.type in ("error", "warning") and not line.text.startswith("Failed to load resource"):
            self.errors.append(line.text)

    def _dismiss(self, dialog: Any) -> None:
        self.errors.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _note_request(self, request: Any) -> None:
        if not request.url.startswith((self.home, "about:", "data:", "blob:")):
            self.strange.append(request.url)


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

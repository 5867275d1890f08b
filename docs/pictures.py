"""Take the pictures of the documentation anew: the report of the demo and the web page, in a real browser.

    python docs/pictures.py          writes docs/images/*.png; wants the extra dev, and chromium

Look at them before they are kept.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parent / "images"
WIDE, NARROW = (1280, 900), (390, 844)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def encoder(browser: Any, address: str, size: tuple[int, int], colors: str) -> Iterator[Any]:
    """A page at an address, light or dark; narrow ones with the density of a telephone."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=colors,
        device_scale_factor=2 if size == NARROW else 1,
    )
    page = context.new_page()
    page.goto(address)
    page.wait_for_load_state("networkidle")
    yield page
    context.close()


def take_report(browser: Any, folder: Path) -> None:
    """Of the built-in problems: all of them, the charts below, one problem opened."""
    subprocess.run([sys.executable, "-m", "byline", "demo"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    address = (folder / "byline-demo.html").as_uri()
    for name, size, colors in (
        ("report-light", (1280, 860), "light"),
        ("report-dark", (1280, 860), "dark"),
        ("report-narrow-light", NARROW, "light"),
    ):
        with encoder(browser, address, size, colors) as page:
            page.screenshot(path=IMAGES / f"{name}.png")
    with encoder(browser, address, (1280, 1000), "light") as page:
        page.locator("figure").first.scroll_into_view_if_needed()
        page.evaluate("document.querySelector('figure').scrollIntoView()")
        page.screenshot(path=IMAGES / "report-charts-light.png")
    for name, size, colors in (
        ("report-problem-light", WIDE, "light"),
        ("report-problem-dark", WIDE, "dark"),
        ("report-problem-narrow-dark", NARROW, "dark"),
    ):
        with encoder(browser, address, size, colors) as page:
            page.get_by_role("link", name="EN002").first.click()
            page.locator(".unknown .w.l5").first.wait_for()
            if size == WIDE:  # the texts, and what is shown of a word
                page.evaluate("document.querySelector('.color-legend').scrollIntoView()")
                page.locator(".unknown .w.l5").nth(4).hover()
            page.wait_for_timeout(500)
            page.screenshot(path=IMAGES / f"{name}.png")


def take_page(browser: Any, folder: Path) -> None:
    """The web page: its first view, a question with its files, the answer to a built-in one."""
    words = [sys.executable, "-m", "byline", "serve", "--no-browser", "--home", str(folder / "home")]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = next(word for line in server.stdout for word in line.split() if word.startswith("http://"))
        with encoder(browser, address, WIDE, "light") as page:
            page.screenshot(path=IMAGES / "web-start-light.png")
            page.get_by_role("button", name="Try it").first.click()
            page.get_by_role("link", name="report").first.wait_for(timeout=120_000)
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=IMAGES / "web-result-light.png")
        texts = Path(__file__).parent.parent / "src/byline/corpora/texts/english/EN002"
        for name, size, colors in (
            ("web-question-light", WIDE, "light"),
            ("web-question-narrow-dark", NARROW, "dark"),
        ):
            with encoder(browser, f"{address}#new=question", size, colors) as page:
                for role, pattern in (("known", "known*.txt"), ("unknown", "unknown.txt")):
                    zone = page.locator(f".zone[data-role={role}]")
                    zone.locator(".pick-files").first.set_input_files(sorted(texts.glob(pattern)))
                    zone.locator(".file.ready").first.wait_for()
                page.wait_for_timeout(800)
                page.evaluate("scrollTo(0, 0)")
                page.screenshot(path=IMAGES / f"{name}.png")
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    """Take them all."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as started, tempfile.TemporaryDirectory() as folder:
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        take_report(browser, Path(folder))
        take_page(browser, Path(folder))
        browser.close()


if __name__ == "__main__":
    main()

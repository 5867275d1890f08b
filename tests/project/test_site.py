"""The site of the documentation: it builds without a warning, its links lead somewhere, and nothing in it is remote."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import byline
from codeblocks import PAGES, ROOT

pytest.importorskip("sphinx", reason="byline[docs] is not installed")

LOADED = {"link": "href", "script": "src", "img": "src", "source": "src", "iframe": "src", "object": "data"}
"""What a browser fetches by itself, and by which attribute."""
FIRST, EXTRA = "index.html", {"genindex.html", "py-modindex.html", "search.html"}


class Page(HTMLParser):
    """What a page leads to, loads and can be led to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.scrolled: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "pre" or "table-wrapper" in values.get("class", "").split():
            self.scrolled.append(values.get("tabindex", ""))
        if tag in LOADED and LOADED[tag] in values:
            self.loaded.append(values[LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built by the words of `make docs`, into another folder."""
    folder = tmp_path_factory.mktemp("site")
    (line,) = re.findall(r"(?m)^\t\$\(BIN\)/python (-m sphinx .*)$", (ROOT / "Makefile").read_text("utf-8"))
    words = [word.replace("build/", f"{folder}/") for word in line.split()]
    assert {"-W", "--keep-going"} <= set(words)
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return folder / "docs"


@cache
def parsed(path: Path) -> Page:
    return Page(path.read_text("utf-8"))


def test_what_scrolls_can_be_reached_by_keys(site: Path) -> None:
    scrolled = [each for path in site.rglob("*.html") for each in parsed(path).scrolled]
    assert len(scrolled) > 100
    assert set(scrolled) == {"0"}


def test_every_page_is_in_the_site_and_reached_from_its_contents(site: Path) -> None:
    made = {path.relative_to(site).as_posix() for path in site.rglob("*.html")} - EXTRA
    assert made == {FIRST, "CHANGELOG.html"} | {page.removesuffix(".md") + ".html" for page in PAGES}
    index = site / "docs" / "index.html"
    linked = {(index.parent / urlsplit(link).path).resolve() for link in parsed(index).links}
    assert {(site / name).resolve() for name in made - {FIRST, "docs/index.html"}} <= linked
    assert "docs/index.html" in (site / FIRST).read_text("utf-8")


def test_links_and_anchors_lead_somewhere(site: Path) -> None:
    lost = []
    for path in site.rglob("*.html"):
        for link in parsed(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            found = target.exists() and (
                not parts.fragment or target.suffix != ".html" or unquote(parts.fragment) in parsed(target).anchors
            )
            if not found and link != "#":
                lost.append(f"{path.relative_to(site)}: {link}")
    assert lost == []


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        for address in parsed(path).loaded:
            parts = urlsplit(address)
            assert not parts.netloc, f"{path.name}: {address}"
            assert parts.scheme in ("", "data"), f"{path.name}: {address}"
            if not parts.scheme:
                assert (path.parent / unquote(parts.path)).exists(), f"{path.name}: {address}"
    for path in site.rglob("*.css"):
        addresses = re.findall(r"(?:url\(|@import)\s*['\"]?([^'\")\s]+)", path.read_text("utf-8"))
        assert not [address for address in addresses if urlsplit(address).netloc], path


def test_formulas_need_no_script(site: Path) -> None:
    text = (site / "docs" / "method.html").read_text("utf-8")
    assert text.count("<math ") >= 10
    assert "MathJax" not in text


def test_the_api_page_has_every_public_name_and_its_public_members(site: Path) -> None:
    anchors = parsed(site / "docs" / "api.html").anchors
    for name in byline.__all__:
        if name == "__version__":
            continue
        assert f"byline.{name}" in anchors, name
        thing = getattr(byline, name)
        if isinstance(thing, type):
            own = [member for member, value in vars(thing).items() if callable(value) or isinstance(value, property)]
            for member in [*getattr(thing, "__dataclass_fields__", ()), *own]:
                if not member.startswith("_") and not re.fullmatch(r"set_\w+_request", member):
                    assert f"byline.{name}.{member}" in anchors, f"{name}.{member}"


@pytest.fixture(scope="module")
def drawings():  # type: ignore[no-untyped-def]
    spec = importlib.util.spec_from_file_location("drawings", ROOT / "docs" / "drawings.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["drawings"] = module  # dataclasses look for it
    spec.loader.exec_module(module)
    return module


def test_the_pictures_of_the_method_are_still_drawn(drawings, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    drawings.main(tmp_path)
    drawn = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    stored = {path.name: path.read_bytes() for path in (ROOT / "docs" / "images").glob("method-*.svg")}
    assert drawn.keys() == stored.keys(), "run: python docs/drawings.py"

    def measures(picture: bytes) -> list[bytes]:
        return re.findall(rb'(?:width|height|viewBox)="[^"]+"', picture[:1500])[:3]

    page = (ROOT / "docs" / "method.md").read_text("utf-8")
    for name, picture in drawn.items():
        assert measures(picture) == measures(stored[name]), name
        assert len(picture) > 5_000, name
        assert f"(images/{name})" in page, name
    drawings.main(tmp_path)
    assert drawn == {path.name: path.read_bytes() for path in tmp_path.iterdir()}

"""docs/architecture.md and its picture are what the source's imports make of them, and they all lead one way."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

from test_layers import ORDER

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def drawing() -> ModuleType:
    spec = importlib.util.spec_from_file_location("architecture", ROOT / "docs" / "architecture.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["architecture"] = module
    spec.loader.exec_module(module)
    return module


def test_picture_and_page_are_what_would_be_drawn_now(drawing: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert drawing.main(["--check"]) == 0, capsys.readouterr().out


def test_stages_are_in_the_order_of_the_way(drawing: ModuleType) -> None:
    names = [stage.name for stage in drawing.STAGES]
    assert [name for name in names if name in drawing.WAY] == list(drawing.WAY)
    way = re.search(r"read -> [a-z >-]+", (ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    assert way
    assert tuple(way[0].split(" -> ")) == drawing.WAY


def test_every_module_of_the_order_has_one_stage(drawing: ModuleType) -> None:
    assert set(drawing.read_imports()) == set(ORDER)
    named = [name for stage in drawing.STAGES for name in stage.modules]
    assert len(named) == len(set(named))
    graph = drawing.draw_graph(drawing.read_imports())
    assert sum(graph.sizes) == len(ORDER)
    assert min(graph.sizes) > 0


def write_source(folder: Path, **modules: str) -> Path:
    for name, body in modules.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body, "utf-8")
    return folder


def test_an_import_against_the_order_is_refused(drawing: ModuleType, tmp_path: Path) -> None:
    stages = (drawing.Stage("first", "", ("one", "two/")), drawing.Stage("second", "", ("three",)))
    source = write_source(tmp_path, one="", two__a="from byline import one\n", three="from byline.two.a import x\n")
    assert drawing.draw_graph(drawing.read_imports(source), stages) == drawing.Graph((2, 1), frozenset({(1, 0)}))
    write_source(tmp_path, two__a="def f():\n    from byline.three import y\n")
    with pytest.raises(drawing.AgainstTheOrder, match=r"^two.a \(first\) imports three \(second\)$"):
        drawing.draw_graph(drawing.read_imports(source), stages)


def test_a_module_without_a_stage_and_a_stage_without_its_module_are_refused(
    drawing: ModuleType, tmp_path: Path
) -> None:
    source = write_source(tmp_path, one="", two="")
    with pytest.raises(drawing.AgainstTheOrder) as refusal:
        drawing.draw_graph(drawing.read_imports(source), (drawing.Stage("only", "", ("one", "gone/")),))
    assert str(refusal.value).splitlines() == ["two: has no stage", "gone/ (only): no such module"]


def test_arrows_that_a_longer_way_makes_needless_are_not_drawn(drawing: ModuleType) -> None:
    graph = drawing.Graph((1, 1, 1, 1), frozenset({(1, 0), (2, 0), (2, 1), (3, 0), (3, 2)}))
    assert drawing.reduce_graph(graph) == [(0, 1), (1, 2), (2, 3)]


def test_the_picture_shows_every_stage_and_stays_within_its_edges(drawing: ModuleType) -> None:
    picture = ElementTree.fromstring(drawing.PICTURE.read_text("utf-8"))
    space = "{http://www.w3.org/2000/svg}"
    words = [element.text for element in picture.iter(f"{space}text")]
    boxes = [box for box in picture.iter(f"{space}rect") if "x" in box.attrib]
    assert words[::3] == [stage.name for stage in drawing.STAGES]
    assert len(boxes) == len(drawing.STAGES)
    corners = {(int(box.attrib["x"]), int(box.attrib["y"])) for box in boxes}
    assert len(corners) == len(boxes)
    for box in boxes:
        assert int(box.attrib["x"]) + int(box.attrib["width"]) <= int(picture.attrib["width"])
        assert int(box.attrib["y"]) + int(box.attrib["height"]) <= int(picture.attrib["height"])
    for element in picture.iter(f"{space}path"):  # all lead down
        for begin, end in re.findall(r"^M\d+ (\d+)C.* \d+ (\d+)$", element.attrib["d"]):
            assert int(begin) < int(end)

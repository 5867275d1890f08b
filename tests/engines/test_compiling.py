"""Kept machine code helps where it can and is never in the way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from numba.core import config

import byline
from byline.engines.compiling import _Files, compiler

SOURCE = Path(byline.__file__).parent


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own."""
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setattr(config, "CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source"
    path.write_text("1")
    return path


def compiled(source: Path) -> Any:
    @compiler(source)
    def twice(number: int) -> int:
        return 2 * number

    return twice


def use(source: Path) -> tuple[int, int]:
    """Calls the function as a new process would; its result for 21, and how often kept code was used."""
    function = compiled(source)
    return function(21), sum(function.stats.cache_hits.values())


def test_code_is_kept_for_the_next_run(cache: Path, source: Path) -> None:
    assert use(source) == (42, 0)
    assert use(source) == (42, 1)


def test_it_is_not_used_once_a_source_has_changed(cache: Path, source: Path) -> None:
    use(source)
    source.write_text("2")
    assert use(source) == (42, 0)
    assert use(source) == (42, 1)


@pytest.mark.parametrize("damage", ["empty", "garbage", "zeros inside"])
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_damaged_file_is_replaced(cache: Path, source: Path, kind: str, damage: str) -> None:
    use(source)
    (path,) = cache.rglob(f"*.{kind}")
    content = path.read_bytes()
    middle = len(content) // 2
    zeros = content[:middle] + bytes(len(content) - middle)
    path.write_bytes({"empty": b"", "garbage": b"garbage\n", "zeros inside": zeros}[damage])
    assert use(source) == (42, 0)
    assert use(source) == (42, 1)


def test_a_full_disk_is_no_error_and_never_leads_to_older_code(
    cache: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    use(source)
    source.write_text("2")
    with monkeypatch.context() as patch:
        patch.setattr(_Files, "_save_data", full)
        assert use(source) == (42, 0)
    assert use(source) == (42, 0)
    assert use(source) == (42, 1)


def test_nowhere_to_write_is_no_error(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    assert use(source) == (42, 0)
    assert use(source) == (42, 0)


def test_a_missing_source_is_no_error(cache: Path, tmp_path: Path) -> None:
    assert use(tmp_path / "nowhere") == (42, 0)
    assert use(tmp_path / "nowhere") == (42, 0)


def compiled_in(tree: ast.Module) -> Iterator[str]:
    """Names that stand in the bodies of compiled functions."""
    for part in tree.body:
        if isinstance(part, ast.FunctionDef) and part.decorator_list:
            for line in part.body:
                yield from (each.id for each in ast.walk(line) if isinstance(each, ast.Name))


@pytest.mark.parametrize("module", ["rnn", "ngram", "profiles", "grammar"])
def test_code_is_stale_once_any_module_changes_that_is_compiled_into_it(module: str) -> None:
    tree = ast.parse((SOURCE / "engines" / module / "kernels.py").read_text(encoding="utf-8"))
    used = set(compiled_in(tree))
    definitions = {
        str(part.module).rpartition(".")[2]
        for part in tree.body
        if isinstance(part, ast.ImportFrom) and str(part.module).count(".") > 2  # names of modules, not modules
        if used & {each.name for each in part.names}
    }
    (call,) = (each for each in ast.walk(tree) if isinstance(each, ast.Call) and ast.unparse(each.func) == "compiler")
    stamped = {ast.unparse(each) for each in call.args}
    assert stamped == {"Path(__file__)", *(f"Path({name}.__file__)" for name in definitions)}


def test_no_other_module_compiles() -> None:
    found = {path.parent.name for path in SOURCE.rglob("*.py") if "= compiler(" in path.read_text(encoding="utf-8")}
    assert found == {"rnn", "ngram", "profiles", "grammar"}

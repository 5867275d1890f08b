"""Only the edges touch the world, and starting loads nothing heavy. import-linter checks the order of packages."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import byline

SOURCE = Path(byline.__file__).parent

MODULES = sorted(SOURCE.rglob("*.py"))


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def test_only_compiling_imports_numba() -> None:
    importers = {name_of(path) for path in MODULES if "numba" in roots_imported(path)}
    assert importers == {"engines.compiling"}


CLOCKS = ("runs.request", "runs.executor", "runs.workers")
"""Spend a time budget, or time their work; what they compute does not depend on it."""


def test_nothing_but_the_ends_prints_or_looks_at_the_clock() -> None:
    for path in MODULES:
        name = name_of(path)
        if name.startswith(("cli", "web.")) or name in ("__main__", "storage.process"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = {
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert "print" not in calls, name
        assert "time" not in roots_imported(path) or name in CLOCKS, name


def roots_imported(path: Path) -> set[str]:
    roots = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            roots |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            roots.add(node.module.split(".")[0])
    return roots


HEAVY = ("numba", "scipy", "sklearn", "matplotlib", "numpy", "pandas")


@pytest.mark.parametrize("start", ["import byline", "from byline.cli import app"])
def test_importing_loads_nothing_heavy(start: str) -> None:
    code = f"{start}\nimport sys\nprint([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_can_be_loaded() -> None:
    for name in byline.__all__:
        assert getattr(byline, name) is not None
    with pytest.raises(AttributeError):
        byline.no_such_name  # noqa: B018


def test_paths_may_be_strings(tmp_path: Path) -> None:
    with byline.builtin_problems("greek") as folder:
        assert byline.read_problems(str(folder)) == byline.read_problems(folder)
        assert byline.read_truth(str(folder)) == byline.read_truth(folder)
        text = next(folder.glob("*/unknown.txt"))
        assert byline.read_document(str(text)) == byline.read_document(text)
    for author in "ab":
        (tmp_path / "authors" / author).mkdir(parents=True)
        (tmp_path / "authors" / author / "1.txt").write_text(f"{author} letter to you, and to {author} " * 9, "utf-8")
    author_corpus = byline.read_author_corpus(str(tmp_path / "authors"), "english")
    assert author_corpus == byline.read_author_corpus([tmp_path / "authors"], "english")
    model = byline.train_authors(author_corpus, [byline.Settings(engine="ngram")])
    byline.write_author_model(str(tmp_path / "m.byline"), model)
    assert byline.read_author_model(str(tmp_path / "m.byline")).authors == ("a", "b")

"""The order of the modules is the order of imports, and only the ends touch the world."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import byline

SOURCE = Path(byline.__file__).parent

ORDER = [
    "errors",
    "memory",
    "stopping",
    "frames",
    "storage",
    "exchange",
    "formats.reading",
    "formats.guessing",
    "formats.encodings",
    "formats.packages",
    "formats.tags",
    "formats.trees",
    "formats.plain",
    "formats.webpage",
    "formats.markdown",
    "formats.symbols",
    "formats.word",
    "formats.opendocument",
    "formats.epub",
    "formats.rtf",
    "formats.tei",
    "formats.lines",
    "formats.pdf",
    "formats",
    "documents",
    "settings",
    "pools",
    "languages",
    "problems",
    "likelihood",
    "calibration",
    "plans",
    "records",
    "truth",
    "normalise",
    "masking",
    "alphabet",
    "passages",
    "views",
    "places",
    "quotations",
    "trials",
    "preparation",
    "questions",
    "reference.authorship",
    "reference.texts",
    "reference.folder",
    "reference.building",
    "reference.suitability",
    "reference",
    "cautions.tongues",
    "cautions.genres",
    "cautions.company",
    "cautions.values",
    "cautions.sentences",
    "cautions.finding",
    "cautions",
    "cohorts",
    "groups",
    "network",
    "compiling",
    "kernels",
    "schedule",
    "training",
    "enrolment",
    "scoring",
    "gains",
    "ngrams",
    "ngram_kernels",
    "profile_kernels",
    "engines",
    "engines.rnn",
    "engines.ngram",
    "engines.vectors",
    "engines.spread",
    "engines.linear",
    "modelfile",
    "matrixfile",
    "memberfiles",
    "runs",
    "cautions.file",
    "keepsakes",
    "testimony",
    "workers",
    "ensemble",
    "attribution.writings",
    "attribution.verdict",
    "attribution.letters",
    "attribution.model",
    "attribution.cautions",
    "attribution.attributing",
    "attribution.tables",
    "attribution.evidence",
    "attribution.likeness",
    "attribution.rolling",
    "attribution.generation",
    "attribution.collections",
    "attribution.file",
    "attribution",
    "answers",
    "ranks",
    "relative",
    "fusion",
    "alone",
    "interpret",
    "metrics",
    "resampling",
    "folds",
    "fitting",
    "evaluation",
    "combination",
    "requests",
    "execution",
    "tally",
    "verification",
    "outputs",
    "cases",
    "calibrating",
    "clustering",
    "affinities",
    "clusterfiles",
    "estimators",
    "reports.page",
    "reports",
    "agreement",
    "evidence",
    "builtin",
    "figures.names",
    "figures.metadata",
    "figures.styles",
    "figures.sources",
    "figures.curves",
    "figures.placement",
    "figures.trees",
    "figures.tables",
    "figures.profiles",
    "figures.along",
    "figures.canvas",
    "figures.graphs",
    "figures.plates",
    "figures.plotting",
    "figures",
    "dossiers.parts",
    "dossiers.words",
    "dossiers.findings",
    "dossiers.worth",
    "dossiers.standing",
    "dossiers.members",
    "dossiers.provenance",
    "dossiers.explanation",
    "dossiers.verification",
    "dossiers.origins",
    "dossiers.models",
    "dossiers.attribution",
    "dossiers.rolling",
    "dossiers.clustering",
    "dossiers",
    "reporting",
    "web.limits",
    "web.home",
    "web.guard",
    "web.connections",
    "web.names",
    "web.layouts",
    "web.archives",
    "web.uploads",
    "web.processes",
    "web.telling",
    "web.reading",
    "web.drafts",
    "web.intake",
    "web.options",
    "web.needs",
    "web.jobs",
    "web.examples",
    "web.sources",
    "web.work",
    "web.results",
    "web.progress",
    "web.tasks",
    "web.worker",
    "web.building",
    "web.populations",
    "web.line",
    "web.downloads",
    "web.refusals",
    "web.formats",
    "web.app",
    "web.server",
    "web",
    "checkup.findings",
    "checkup.installation",
    "checkup.selftest",
    "checkup.speed",
    "checkup",
    "commands.console",
    "commands.progress",
    "commands.cautions",
    "commands.answers",
    "commands.options",
    "commands.work",
    "commands.asking",
    "commands.given",
    "commands.places",
    "commands.report",
    "commands.inspect",
    "commands.train",
    "commands.attribute",
    "commands.rolling",
    "commands.cluster",
    "commands.plot",
    "commands.verify",
    "commands.evaluate",
    "commands.compare",
    "commands.calibrate",
    "commands.prepare",
    "commands.text",
    "commands.reference",
    "commands.presets",
    "commands.combine",
    "commands.runs",
    "commands.demo",
    "commands.serve",
    "commands.doctor",
    "commands.completing",
    "commands",
    "__main__",
]
# Not part of the order: its names are loaded from everywhere, on first use.
ROOT = "__init__"

MODULES = sorted(SOURCE.rglob("*.py"))


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def imports_of(path: Path) -> set[str]:
    """The modules of Byline that a module imports, but for the root and for type checking."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "byline":
            base = node.module.removeprefix("byline").lstrip(".")
            for alias in node.names:
                longer = f"{base}.{alias.name}".lstrip(".")
                found.add(longer if longer in ORDER else base)
    return found - {""}


def test_every_module_has_its_place_in_the_order() -> None:
    assert sorted({name_of(path) for path in MODULES} - {ROOT}) == sorted(ORDER)


@pytest.mark.parametrize("path", [p for p in MODULES if name_of(p) != ROOT], ids=name_of)
def test_a_module_imports_only_from_those_above_it(path: Path) -> None:
    place = ORDER.index(name_of(path))
    assert {name for name in imports_of(path) if ORDER.index(name) >= place} == set()


def test_numba_is_imported_by_compiling_alone() -> None:
    importers = {name_of(path) for path in MODULES if "numba" in roots_imported(path)}
    assert importers == {"compiling"}


CLOCKS = ("ensemble", "workers")
"""Spend a time budget, or time their work; what they compute does not depend on it."""


def test_nothing_but_the_ends_prints_or_looks_at_the_clock() -> None:
    for path in MODULES:
        name = name_of(path)
        if name.startswith(("commands", "web.")) or name in ("__main__", "stopping"):
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


@pytest.mark.parametrize("start", ["import byline", "from byline.commands import app"])
def test_importing_loads_nothing_heavy(start: str) -> None:
    code = f"{start}\nimport sys\nprint([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_names_equal_all() -> None:
    assert sorted(byline.__all__) == sorted([*byline._HOMES, "__version__"])
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
    writings = byline.read_writings(str(tmp_path / "authors"), "english")
    assert writings == byline.read_writings([tmp_path / "authors"], "english")
    model = byline.train_authors(writings, [byline.Settings(engine="ngram")])
    byline.write_author_model(str(tmp_path / "m.byline"), model)
    assert byline.read_author_model(str(tmp_path / "m.byline")).authors == ("a", "b")

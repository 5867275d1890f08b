"""The docs match the program, their code runs, their links lead somewhere."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from typer.testing import CliRunner

import byline
from benchmark_output import printed_by
from byline.cli import app
from byline.errors import RunError
from byline.judgment.calibration import read_calibration
from codeblocks import blocks_of
from paths import ROOT
from samples import phrase

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def generator():  # type: ignore[no-untyped-def]
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["commands.md", "settings.md", "json.md"])
def test_generated_pages_are_up_to_date(page: str) -> None:
    assert (ROOT / "docs" / page).read_text("utf-8") == generator().PAGES[page](), "run: python docs/generate.py"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_to_files_that_exist(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text("utf-8")):
        if not target.startswith("http"):
            assert (path.parent / target).exists(), target


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, english: Path) -> Path:
    """A run's folder."""
    folder = tmp_path_factory.mktemp("formats") / "run"
    byline.verify(english, byline.Settings(hidden=2, sub_epochs=1), output=byline.RunOutput(folder, trace=True))
    return folder


class TestFormats:
    """The page of file formats, against files that the program writes and reads."""

    page = (ROOT / "docs" / "file-formats.md").read_text("utf-8")

    def test_each_file_of_a_run_is_named(self, run: Path) -> None:
        files = {path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file()}
        assert files
        for name in files:
            plain = re.sub(r"sub-epoch-\d+", "sub-epoch-01", name)
            assert plain.rpartition("/")[2] in self.page, name

    def test_each_array_of_a_matrix_is_named(self, run: Path) -> None:
        for key in load_file(run / "members" / "0001" / "matrix.safetensors"):
            assert f"`{re.sub(r'-[0-9]+$', '-w', key)}`" in self.page, key

    def test_keys_of_cautions_and_evidence_are_named(self, run: Path) -> None:
        cautions = json.loads((run / "cautions.json").read_text("utf-8"))
        (first, *_) = json.loads((run / "members" / "0001" / "evidence.json").read_text("utf-8"))
        one = next(iter(cautions["problems"].values()))[0]
        for key in [*cautions, *one, *first]:
            assert key in ("format", "checksum") or f"`{key}`" in self.page, key

    def test_the_examples_of_pan_are_read_and_what_is_shown_is_written(self, tmp_path: Path) -> None:
        listed, problem, truth, answers = (
            json.loads(block.text) for block in blocks_of("docs/file-formats.md") if block.language == "json"
        )
        home = tmp_path / listed[0]["problem-name"]
        names = [author["author-name"] for author in problem["candidate-authors"]]
        for folder in (*names, problem["unknown-folder"]):
            (home / folder).mkdir(parents=True)
        for number, name in enumerate([*names, *names]):
            (home / name / f"known{number:05d}.txt").write_text(phrase(number % 2, 600, salt=number), "utf-8")
        for number, row in enumerate(truth["ground_truth"]):
            (home / problem["unknown-folder"] / row["unknown-text"]).write_text(
                phrase(1, 600, salt=9 + number), "utf-8"
            )
        for path, value in (
            (tmp_path / "collection-info.json", listed),
            (home / "problem-info.json", problem),
            (home / "ground-truth.json", truth),
        ):
            path.write_text(json.dumps(value), "utf-8")
        out = tmp_path / "out"
        for words in (["attribute", tmp_path, "-o", out, "--engines", "vectors"], ["evaluate", out, tmp_path]):
            assert CliRunner().invoke(app, list(map(str, words))).exit_code == 0
        written = json.loads((out / "answers-problem00001.json").read_text("utf-8"))
        assert [row.keys() for row in written] == [row.keys() for row in answers]


class TestTexts:
    """`byline demo --texts`, with which the tutorials begin."""

    def test_the_built_in_texts_can_be_had_as_files(self, tmp_path: Path) -> None:
        place = tmp_path / "texts"
        assert CliRunner().invoke(app, ["demo", "--texts", str(place)]).exit_code == 0
        with byline.builtin_problems("english") as folder:
            for path in filter(Path.is_file, folder.rglob("*")):
                assert (place / "problems" / path.relative_to(folder)).read_bytes() == path.read_bytes()
        assert byline.read_problems(place / "problems").problems
        assert len(set(byline.read_author_corpus([place / "authors"]).authors)) == 12

    def test_a_folder_that_is_there_is_left_alone(self, tmp_path: Path) -> None:
        result = CliRunner().invoke(app, ["demo", "greek", "--texts", str(tmp_path)])
        assert isinstance(result.exception, RunError)
        assert not any(tmp_path.iterdir())

    def test_nothing_is_answered_beside_it(self, tmp_path: Path) -> None:
        assert CliRunner().invoke(app, ["demo", "--texts", str(tmp_path / "x"), "--json"]).exit_code == 2
        assert not (tmp_path / "x").exists()


def test_every_public_name_is_in_the_python_page() -> None:
    page = (ROOT / "docs" / "python-api.md").read_text("utf-8")
    for name in byline.__all__:
        if name != "__version__":
            assert name in page, name


def test_every_command_named_in_the_docs_exists() -> None:
    existing = set(generator().typer.main.get_command(generator().app).list_commands(None))
    named = {word for path in PAGES for word in re.findall(r"`?\bbyline ([a-z]+)\b", path.read_text("utf-8"))}
    commands = {word for path in PAGES for word in re.findall(r"`byline ([a-z]+)", path.read_text("utf-8"))}
    assert commands <= existing
    assert existing <= named


def stored_rows(name: str) -> list[str]:
    """The lines that `benchmarks/pan.py --table --name NAME` prints."""
    return printed("pan.py", "--name", name)


def printed(script: str, *options: str) -> list[str]:
    """The lines that a benchmark prints of what is stored."""
    return printed_by(script, "--table", *options).splitlines()


COMPARED = ("single", "hidden-40", "control", "relu", "tanh", "backward")
"""Results that stand side by side in one table; only the first has one of its own."""
NAMES = sorted(path.stem.removeprefix("pan-") for path in (ROOT / "benchmarks" / "results").glob("pan-*.json"))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in COMPARED[1:]])
def test_the_tables_of_the_evaluation_are_those_that_are_stored(name: str) -> None:
    assert "\n".join(stored_rows(name)) in (ROOT / "docs" / "evaluation.md").read_text("utf-8")


def test_the_tables_of_single_questions_are_those_that_are_stored() -> None:
    page = (ROOT / "docs" / "evaluation.md").read_text("utf-8").splitlines()
    shown = [
        line
        for line in printed_by("fit_single_questions.py", "table").splitlines()
        if line.startswith("|") and not line.startswith(("| long", "| mismatched", "| simulated"))
    ]
    assert len(shown) > 80
    assert set(shown) <= set(page)


def test_the_tables_of_the_gated_unit_are_the_stored_ones() -> None:
    assert "\n".join(printed("gru.py")) in (ROOT / "docs/evaluation.md").read_text("utf-8")


@pytest.mark.parametrize("script", ["fuzz.py", "faults.py", "load.py", "processors.py"])
def test_the_tables_of_reliability_are_the_stored_ones(script: str) -> None:
    assert "\n".join(printed(script)) in (ROOT / "docs" / "reliability.md").read_text("utf-8")


BASE_MB, BYTES_A_CHARACTER = 300, 150
"""What a job of many problems takes at the most, as the page says."""


def test_the_table_of_changes_of_hand_is_the_stored_one() -> None:
    assert "\n".join(printed("rolling.py")) in (ROOT / "docs" / "evaluation.md").read_text("utf-8")


def test_the_tables_of_cautions_are_the_stored_ones() -> None:
    assert "\n".join(printed("cautions.py")) in (ROOT / "docs" / "evaluation.md").read_text("utf-8")


def test_the_table_of_sampled_heads_is_the_stored_one() -> None:
    assert "\n".join(printed("sampling.py")) in (ROOT / "docs" / "evaluation.md").read_text("utf-8")


@pytest.mark.parametrize("script", ["speed.py", "parts.py"])
def test_the_tables_of_the_performance_page_are_those_that_are_stored(script: str) -> None:
    assert "\n".join(printed(script)) in (ROOT / "docs" / "performance.md").read_text("utf-8")


def test_the_readme_quotes_the_speeds_that_have_something_to_compare_with() -> None:
    head, line, *rows = printed("speed.py")
    compared = [row for row in rows if row.split("|")[8].strip() or row.split("|")[10].strip()]
    assert len(compared) >= 6
    assert "\n".join([head, line, *compared]) in (ROOT / "README.md").read_text("utf-8")


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_the_readmes_table_is_the_stored_one() -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    lines = {cells(line)[0]: line for line in page.splitlines() if line.startswith("| ") and line.count("|") > 10}
    networks = {cells(row)[0]: cells(row)[4] for row in stored_rows("rnn")[2:]}
    rivals = printed("rivals.py")
    place = cells(rivals[0]).index("f")
    rival = {cells(row)[0]: cells(row)[place].split("/")[-1] for row in rivals[2:]}
    for row in stored_rows("best")[2:]:
        corpus, _, auc, c_at_1, product, _, _, _, cllr, _, members = cells(row)
        wanted = [corpus, auc, c_at_1, product, cllr, members, networks[corpus], rival[corpus]]
        assert lines[corpus].startswith(f"| {' | '.join(wanted)} |")
    for row in stored_rows("paper")[2:-1]:
        corpus, _, _, _, product, _, _, _, members, _ = cells(row)
        assert f"| {product}, {members} |" in lines[corpus]
    assert f"{cells(stored_rows('placebo')[-1])[2]} for one network" in page
    assert f"{cells(stored_rows('placebo-quick')[-1])[6]} for `best` without networks" in page


@pytest.mark.parametrize("script", ["ablation.py", "rivals.py"])
def test_the_tables_of_parts_and_rivals_are_the_stored_ones(script: str) -> None:
    assert "\n".join(printed(script)) in (ROOT / "docs" / "evaluation.md").read_text("utf-8")


def test_built_in_calibrations_are_fitted_on_enough_and_claim_no_more() -> None:
    for name in ("best", "quick", "ngrams", "cohort"):
        fitted = read_calibration(ROOT / "src" / "byline" / "judgment" / "calibrations" / f"{name}.json")
        assert len(fitted.corpora) >= 8
        assert fitted.problems >= 890
        assert all(0.5 < cap <= np.log10(fitted.problems / 2 + 1) for cap in fitted.caps)
        assert 0 < fitted.cllr <= 1.02


@pytest.mark.parametrize("name", ["attribution", "clustering"])
def test_the_tables_of_attribution_and_clusters_are_those_that_are_stored(name: str) -> None:
    tables = [block for block in printed_by(f"{name}.py", "--table").split("\n\n") if block.startswith("|")]
    assert len(tables[0].splitlines()) > 4
    written = (ROOT / "docs" / "evaluation.md").read_text("utf-8")
    assert all(table in written for table in tables)

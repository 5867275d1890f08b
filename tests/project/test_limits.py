"""The limits that the documentation states are the measured ones, and the program warns where they say so."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import byline
from benchmark_output import printed_by
from byline.corpora.answers import read_truth
from byline.corpora.documents import Document
from byline.corpora.problems import Problem, read_problems
from byline.corpora.reference import Reference, ReferenceText
from byline.judgment.calibration import Caps, read_calibration
from byline.judgment.calibration_fitting import CalibrationLine
from byline.judgment.checks.cautions import SHORT
from byline.judgment.whole_corpora import builtin_corpus_coefficients
from paths import ROOT
from samples import phrase

BENCHMARKS = ROOT / "benchmarks"
LIMITS, ETHICS, JUDGMENT = (ROOT / "docs" / f"{name}.md" for name in ("limits", "ethics", "judgment"))


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The folder of benchmarks is where modules are looked for."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield
    for name in ("limits", "limits_judged", "limits_shown", "pan", "judging", "stored"):
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((BENCHMARKS / "results" / "limits.json").read_text("utf-8"))
    return found


def printed(part: str) -> list[str]:
    """The tables that are printed of a part."""
    return printed_by("limits.py", "--table", "--only", part).split("\n\n")


class TestStored:
    @pytest.mark.parametrize("part", ["length", "networks", "reference", "kinds", "editing"])
    def test_the_tables_of_the_limits_are_those_that_are_stored(self, part: str) -> None:
        page = LIMITS.read_text("utf-8")
        for table in printed(part):
            assert len(table.splitlines()) > 3
            assert table in page

    def test_the_rates_of_error_are_those_that_are_stored(self) -> None:
        page = ETHICS.read_text("utf-8")
        assert all(table in page for table in printed("errors"))

    def test_how_far_ratios_are_borne_out_is_what_is_stored_and_what_the_program_claims(
        self, stored: dict[str, Any]
    ) -> None:
        (table,) = printed("support")
        assert table in JUDGMENT.read_text("utf-8")
        for row in stored["figures"]["support"]:
            if row["preset"] == "cohort":  # of the earlier method of single questions, as the page says
                continue
            path = ROOT / "src" / "byline" / "judgment" / "calibrations" / f"{row['preset']}.json"
            assert getattr(read_calibration(path).caps, row["side"]) == pytest.approx(row["cap"], abs=1e-4)

    def test_pictures_are_there_and_are_drawn_from_what_is_stored(self, stored: dict[str, Any], tmp_path: Path) -> None:
        from limits_shown import draw

        draw(stored["figures"], tmp_path)
        names = sorted(path.name for path in tmp_path.iterdir())
        assert names == ["limits-editing.png", "limits-length.png", "limits-reference.png"]
        for name in names:
            assert f"images/{name}" in LIMITS.read_text("utf-8")
            for path in (tmp_path / name, ROOT / "docs" / "images" / name):
                assert path.read_bytes().startswith(b"\x89PNG")


class TestTheProgramWarns:
    def test_below_the_lengths_that_the_curves_say(self, stored: dict[str, Any]) -> None:
        import limits_judged

        curves = stored["figures"]["length"]
        assert max(limits_judged.find_short(curves[side]["points"]) for side in ("unknown", "known")) == SHORT

    def test_and_the_pages_name_the_length(self) -> None:
        for page in (LIMITS, ETHICS):
            assert f"elow {SHORT:,} characters" in page.read_text("utf-8")


class TestMeasuring:
    def test_texts_are_cut_at_the_end_of_a_word(self) -> None:
        import limits

        assert limits.shorten(Document("a", "one two three"), 8).text == "one two"
        assert limits.shorten(Document("a", "one two three"), 7).text == "one two"
        assert limits.shorten(Document("a", "one two"), 7).text == "one two"
        assert limits.shorten(Document("a", "unbroken"), 4).text == "unbr"

    def test_known_texts_are_taken_in_order_until_they_are_enough(self) -> None:
        import limits

        known = tuple(Document(f"k{number}", "ten chars. " * 10) for number in range(3))
        problem = Problem("P", known, Document("u", "word " * 100), "english")
        cut = limits.cut(problem, 50, 150)
        assert [len(document.text) for document in cut.known] == [110, 36]
        assert cut.unknown.text == "word " * 9 + "word"
        assert limits.cut(problem, limits.WHOLE, limits.WHOLE) == problem

    def test_points_are_answered_and_judged(self, english: Path) -> None:
        import limits
        import limits_judged

        truth = read_truth(english)
        problems = read_problems(english).problems
        corpus = limits.Corpus("english", problems, tuple(truth[problem.id] for problem in problems))
        whole = limits.answer_cut(corpus, limits.WHOLE, limits.WHOLE, limits.quick())
        assert whole.keys() == {"values", "mask topic", "mask none"}
        cut = limits.answer_cut(corpus, 250, 1_000, limits.quick())
        assert cut.keys() == {"values"}
        assert whole["values"] != cut["values"]
        judged = limits_judged.Judged({"english": corpus}, {"english": list(corpus.truth)})
        lines = {
            "english": limits_judged.Learned(
                CalibrationLine(1.0, 0.0), Caps(2.0, 2.0), None, builtin_corpus_coefficients()
            )
        }
        figure = limits_judged.summarize([judged.case("english", whole["values"], lines)])
        assert figure["problems"] == len(problems)
        assert figure["auc_interval"][0] <= figure["auc"] <= figure["auc_interval"][1]
        assert 0 < figure["cllr"] < 1

    def test_people_are_drawn_who_surely_are_different(self) -> None:
        import limits

        texts = tuple(
            ReferenceText(Document(f"{author}-{number}", phrase(author, 300 + 50 * number)), f"author {author}")
            for author in range(6)
            for number in range(2)
        )
        reference = Reference("english", texts, frozenset({frozenset({"author 0", "author 1"})}))
        drawn = limits.draw_people(reference, 5, 0)
        authors = {text.author for text in drawn.texts}
        assert len(drawn.texts) == len(authors) == 5
        assert not {"author 0", "author 1"} <= authors
        assert all(text.document.name.endswith("-1") for text in drawn.texts)  # the longer one
        assert limits.draw_people(reference, 3, 1).texts != limits.draw_people(reference, 3, 2).texts

    def test_texts_are_edited(self) -> None:
        import limits

        text = " ".join(["Brown foxes jump over it."] * 40)
        known = Document("k", " ".join(f"Sentence {number} of the other hand is here." for number in range(60)))
        problem = Problem("P", (known,), Document("u", text), "english")
        assert limits.edit(problem, "as it is", 0, ["the"]) == problem
        exchanged = limits.edit(problem, "words", 0.3, ["the"]).unknown.text.split()
        assert 0.2 < sum(word.startswith("the") for word in exchanged) / len(exchanged) < 0.4
        borrowed = limits.edit(problem, "borrowed", 0.25, []).unknown.text
        taken = sum(len(line) for line in limits.SENTENCE.split(borrowed) if line in known.text)
        assert 0.2 < taken / len(borrowed) < 0.35
        assert limits.copy_edit("“Don't!” -- he said; it’s… late") == '"Do not.", he said, it is. late'


def test_the_page_calls_the_same_texts_short() -> None:
    script = Path(byline.__file__).parent / "web" / "assets" / "file_list.js"
    assert f"const SHORT = {SHORT};" in script.read_text("utf-8")

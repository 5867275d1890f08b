"""Cautions: what is found in which texts, what is stored with a run, and what readers show."""

from __future__ import annotations

import base64
import gzip
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from byline.corpora.documents import Document
from byline.corpora.problems import Problem, ProblemSet
from byline.corpora.reference import Reference, ReferenceText
from byline.errors import RunError
from byline.judgment.checks.cautions import SHORT, Caution, Cautions
from byline.judgment.checks.genre import (
    FEATURES,
    FEWEST_PROBLEMS,
    LIMIT,
    MAX_MEDIAN,
    compare_kinds,
    compare_styles,
    measure_style,
)
from byline.judgment.checks.problem_checks import find_cautions
from byline.report.verification import verification_report
from byline.report.wording import explain_problem
from byline.runs.combine import combine_runs
from byline.runs.executor import Execution
from byline.runs.folder import CAUTIONS, TEXTS, RunOutput, cautions_bytes, cautions_values, read_cautions, read_plan
from byline.settings.settings import Settings
from byline.tasks.verify import verify
from byline.text.languages import WORDS, detect_language
from language_samples import SAID
from paths import ROOT
from samples import phrase, prose

STORED = json.loads((ROOT / "benchmarks/results/cautions.json").read_text("utf-8"))
SAYING = "What is written without effort, someone said, is in general read without pleasure; and he was right in that."
QUICK = Settings(engine="ngram", order=3)


def problem(unknown: str, *known: str, name: str = "P1", language: str = "english") -> Problem:
    documents = tuple(Document(f"{name}/known{number}.txt", text) for number, text in enumerate(known, start=1))
    return Problem(name, documents, Document(f"{name}/unknown.txt", unknown), language)


def said(*problems: Problem) -> list[tuple[str, str]]:
    """Kind and words of each caution of the first problem."""
    return [(each.kind, each.text) for each in find_cautions(problems).of(problems[0].id)]


def long(language: str, times: int = 3) -> str:
    return " ".join([SAID[language]] * times)


class TestLength:
    @pytest.mark.parametrize(("unknown", "known"), [(412, 900), (SHORT - 1, SHORT), (SHORT, SHORT - 1)])
    def test_short_sides_are_named_with_their_lengths(self, unknown: int, known: int) -> None:
        ((kind, text),) = said(problem(prose(1, unknown), prose(2, known - 300), prose(3, 300)))
        assert kind == "short"
        for side, count in (("unknown", unknown), ("known", known)):
            assert (f"the {side} side has {count:,} characters" in text) == (count < SHORT)

    def test_long_sides_are_not(self) -> None:
        assert said(problem(prose(1, SHORT), prose(2, 600), prose(3, 400))) == []


class TestLanguages:
    @pytest.mark.parametrize("language", WORDS)
    def test_a_text_tells_its_language(self, language: str) -> None:
        assert detect_language(SAID[language]) == language

    def test_where_it_is_not_evident_none_is_told(self) -> None:
        assert detect_language(" ".join(SAID["english"].split()[:40])) is None
        assert detect_language(f"{SAID['english']} {SAID['spanish']}") is None
        assert detect_language(prose(1, 3000)) is None
        assert detect_language("Ο άνθρωπος που έμενε στο απέναντι σπίτι δεν είναι πια ο ίδιος. " * 9) is None

    def test_sides_in_two_languages_are_named(self) -> None:
        kind, text = said(problem(long("dutch"), long("english"), long("english", 4)))[0]
        assert kind == "language"
        assert "unknown.txt in Dutch, known1.txt, known2.txt in English" in text

    def test_texts_that_are_not_in_the_language_of_the_corpus_are_named(self) -> None:
        kind, text = said(problem(long("german"), long("german")[:1500] + "!", language="dutch"))[0]
        assert kind == "language"
        assert "seem to be in German, but are taken as Dutch" in text
        assert said(problem(long("german") + "?", SAID["german"] * 5, language="latin"))[0][0] != "language"

    def test_sides_in_two_scripts_are_named(self) -> None:
        greek = "Ο άνθρωπος που έμενε στο απέναντι σπίτι δεν είναι πια ο ίδιος. " * 20
        kind, text = said(problem("o anthropos pou emene sto apenanti spiti " * 30, greek, language="greek"))[0]
        assert kind == "language"
        assert "unknown.txt in latin letters, known1.txt in greek letters" in text

    def test_a_reference_or_control_corpus_in_another_language_is_named(self) -> None:
        ones = [problem(long("english"), prose(1, 2000))]
        control = [Document(f"{n}", long("german") + str(n)) for n in range(3)]
        (caution,) = find_cautions(ones, control=control).run
        assert caution.kind == "language"
        assert "control corpus seems to be in German (3 of 3 texts)" in caution.text
        assert find_cautions(ones, control=[Document("e", long("english"))]).run == ()


class TestShared:
    def test_shared_passages_are_named_quoted_and_placed(self) -> None:
        one = problem(f"{prose(1, 1200)} {SAYING}", prose(2, 1200), f"{SAYING} {prose(3, 1200)}")
        (caution,) = find_cautions([one]).of("P1")
        assert caution.kind == "shared"
        assert "unknown.txt shares 1 passage" in caution.text
        assert f"with known2.txt ({len(SAYING)}" in caution.text
        assert caution.quotes == (SAYING,)
        documents = (one.unknown, *one.known)
        assert [documents[each.document].text[each.begin : each.end] for each in caution.passages] == [SAYING, SAYING]

    def test_a_long_passage_is_quoted_in_part(self) -> None:
        (caution,) = find_cautions([problem(f"{prose(1)} {prose(9, 2000)}", f"{prose(9, 2000)} {prose(2)}")]).of("P1")
        assert len(caution.quotes[0]) <= 201

    def test_known_texts_that_repeat_are_named(self) -> None:
        unknown, known = prose(1, 1200), prose(2, 1200)
        ((kind, text),) = said(problem(unknown, known, unknown + "\n", known, prose(4, 200) + prose(2, 1000)))
        assert kind == "repeated"
        for found in ("known2.txt is the unknown text", "known3.txt is the same text as", "known4.txt is mostly (8"):
            assert found in text


def essay(seed: int) -> str:
    """Long sentences of long words, with brackets, figures and commas."""
    dice = random.Random(seed)
    words = ["consideration", "institutional", "of", "the", "development", "parliamentary", "in", "understanding"]
    long, short = ([" ".join(dice.choices(words, k=count)) for _ in range(25)] for count in (30, 9))
    return " ".join(
        f"The {one}, ({dice.randint(1900, 2000)}), {other}." for one, other in zip(long, short, strict=True)
    )


def play(seed: int) -> str:
    """Short lines of short words, with questions and cries."""
    dice = random.Random(seed)
    words = ["oh", "no", "you", "go", "I", "see", "what", "Tom", "it", "is", "so", "well"]
    return "\n\n".join(
        f"{' '.join(dice.choices(words, k=5)).capitalize()}{dice.choice('!?!')} -- {dice.choice(words)}!"
        for _ in range(160)
    )


class TestKinds:
    def test_a_play_beside_an_essay_is_said_to_be_of_another_kind(self) -> None:
        ((kind, text),) = said(problem(play(1), essay(2), language="latin"))
        assert kind == "kind"
        assert "look like different kinds of text: " in text
        assert text.count(" and of ") + text.count("in a hundred") >= 3

    @pytest.mark.parametrize("make", [essay, play])
    def test_two_of_one_kind_are_not(self, make: object) -> None:
        one, other = [measure_style([make(seed)], "english") for seed in (3, 4)]  # type: ignore[operator]
        assert one is not None
        assert other is not None
        assert compare_styles(one, other).score < LIMIT / 3

    def test_one_feature_is_never_enough(self) -> None:
        plain, cried = (measure_style([essay(5).replace(".", sign)], "english") for sign in (".", "!"))
        assert plain is not None
        assert cried is not None
        found = compare_styles(plain, cried)
        assert 0.9 < found.score < LIMIT
        assert found.strongest == ("0.0 and 2.5 exclamation marks in a hundred words",)

    def test_too_few_words_are_of_no_kind(self) -> None:
        assert measure_style(["Oh! " * 40], "english") is None

    def test_the_constants_are_those_that_were_measured(self) -> None:
        for name, feature in FEATURES.items():
            assert STORED["marks"][name] == {"between": feature.between, "chance": feature.chance}
        assert STORED["limit"] <= LIMIT < STORED["limit"] + 0.1

    def test_corpora_of_one_kind_hardly_raise_an_alarm(self) -> None:
        for row in STORED["cautions"]:
            if row["corpus"] != "pan15-train-dutch":
                assert row["marks"] <= 0.05 * row["problems"]
                assert row["company"] > MAX_MEDIAN
            assert row["language"] == 0

    def test_a_run_whose_sides_are_of_two_subjects_is_told_so_with_its_problems(self) -> None:
        crossed = [problem(topic(n, "sea"), topic(n + 500, "town"), name=f"P{n:02d}") for n in range(FEWEST_PROBLEMS)]
        found = find_cautions(crossed)
        assert "In most problems the known and the unknown texts resemble different other texts" in found.run[0].text
        named = [name for name, own in found.problems.items() if any(each.kind == "kind" for each in own)]
        assert len(named) > 0.9 * FEWEST_PROBLEMS
        plain = [
            problem(topic(n, ("sea", "town")[n % 2]), topic(n + 500, ("sea", "town")[n % 2]), name=f"P{n:02d}")
            for n in range(FEWEST_PROBLEMS)
        ]
        assert find_cautions(plain).run == ()

    def test_of_many_problems_a_sample_tells_and_all_are_looked_at_only_then(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("byline.judgment.checks.genre.MAX_NEIGHBORS", FEWEST_PROBLEMS)
        crossed = [problem(topic(n, "sea"), topic(n + 500, "town"), name=f"P{n:02d}") for n in range(60)]
        found = compare_kinds(crossed)
        assert found is not None
        assert found.mismatched
        assert sum(each < 0 for each in found.correlations) > 50
        plain = [problem(topic(n, "sea"), topic(n + 500, "sea"), name=f"P{n:02d}") for n in range(60)]
        found = compare_kinds(plain)
        assert found is not None
        assert found.correlations.count(0.0) == 20

    @pytest.mark.parametrize("texts", [("same", "other"), ("* * *", "- - -")])
    def test_texts_that_say_nothing_break_nothing(self, texts: tuple[str, str]) -> None:
        ones = [problem(texts[0], texts[1], name=f"P{n}") for n in range(FEWEST_PROBLEMS)]
        found = compare_kinds(ones)
        assert found is not None
        assert not found.mismatched


def topic(seed: int, about: str) -> str:
    """Words of a subject among words that all have."""
    dice = random.Random(f"{seed} {about}")
    words = {"sea": "ship wave sail gull anchor storm harbour", "town": "tram street shop clerk bridge market square"}
    return " ".join(dice.choices(f"{words[about]} the a of and to in was".split(), k=250)) + "."


class TestReference:
    def make(self, count: int) -> Reference:
        texts = (ReferenceText(Document(f"{n}", phrase(n, 1500, salt=n)), f"{n}") for n in range(count))
        return Reference("english", tuple(texts))

    def test_what_the_check_remarks_is_a_caution_of_the_problem_and_kept(self) -> None:
        asked = [
            problem(phrase(1, 9000, 77), phrase(1, 1500, salt), name=name) for salt, name in ((78, "P1"), (79, "P2"))
        ]
        found = find_cautions(asked, self.make(20))
        (text,) = [each.text for each in found.of("P1") if each.kind == "reference"]
        assert "none of 20 people have a text near in length" in text
        assert found.reference is not None
        assert found.reference.problems[0].grade == "poor"
        assert found.run[-1].text.startswith("The reference: 20 texts by 20 people. Of 2 questions")
        assert find_cautions(asked[:1], self.make(20)).run == ()  # of one question it is said once


def corpus() -> ProblemSet:
    """Six problems; the second shares a passage, the third is short."""
    ones = [problem(prose(n, 1500), prose(n + 50, 1500), name=f"P{n}") for n in range(1, 7)]
    ones[1] = problem(f"{prose(2, 1500)} {SAYING}", f"{SAYING} {prose(52, 1500)}", name="P2")
    ones[2] = problem(prose(3, 300), prose(53, 1500), name="P3")
    return ProblemSet(tuple(ones), "folders")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run."""
    folder = tmp_path_factory.mktemp("cautions")
    verify(corpus(), QUICK, output=RunOutput(folder / "run"))
    return folder


class TestKept:
    def test_what_is_written_is_what_is_read(self, home: Path) -> None:
        found = read_cautions(home / "run", read_plan(home / "run"))
        assert found == find_cautions(corpus().problems)
        assert found is not None
        assert list(found.problems) == ["P2", "P3"]

    def test_a_reference_check_comes_back_whole(self, home: Path, tmp_path: Path) -> None:
        reference = TestReference().make(20)
        found = find_cautions(corpus().problems, reference)
        plan = read_plan(home / "run")
        (tmp_path / CAUTIONS).write_bytes(cautions_bytes(found, plan, quotes=True))
        again = read_cautions(tmp_path, plan)
        assert again == found
        assert again is not None
        assert again.reference is not None
        assert again.reference.verdict == found.reference.verdict  # type: ignore[union-attr]

    def test_a_run_of_before_has_none_and_readers_say_so(self, home: Path, tmp_path: Path) -> None:
        folder = copy(home, tmp_path)
        (folder / "run" / CAUTIONS).unlink()
        assert read_cautions(folder / "run", read_plan(folder / "run")) is None
        assert "was not kept with this run" in explain_problem(folder, "P2", 1).warnings[0]
        report_data = verification_report(folder)
        assert any("was not kept with this run" in line for line in report_data["warnings"])
        assert all(row["warnings"] == [] for row in report_data["problems"])

    @pytest.mark.parametrize("damage", ["{}", "no JSON", "null"])
    def test_a_damaged_file_is_refused_with_a_remedy(self, home: Path, tmp_path: Path, damage: str) -> None:
        folder = copy(home, tmp_path)
        (folder / "run" / CAUTIONS).write_text(damage, "utf-8")
        with pytest.raises(RunError, match=r"cautions\.json: "):
            explain_problem(folder, "P2", 1)
        verify(corpus(), QUICK, output=RunOutput(folder / "run", resume=True))
        assert (folder / "run" / CAUTIONS).read_bytes() == (home / "run" / CAUTIONS).read_bytes()

    def test_cautions_of_other_texts_are_refused(self, home: Path, tmp_path: Path) -> None:
        folder = copy(home, tmp_path)
        others = ProblemSet(tuple(problem(prose(n, 900), prose(n + 9, 900), name=f"P{n}") for n in range(6)), "folders")
        verify(others, QUICK, output=RunOutput(tmp_path / "other" / "run"))
        (folder / "run" / CAUTIONS).write_bytes((tmp_path / "other" / "run" / CAUTIONS).read_bytes())
        with pytest.raises(RunError, match="other texts"):
            explain_problem(folder, "P2", 1)

    def test_values_that_are_none_are_refused(self, home: Path, tmp_path: Path) -> None:
        plan = read_plan(home / "run")
        strange = Cautions((Caution("omen", "A black cat."),), {})  # type: ignore[arg-type]
        (tmp_path / CAUTIONS).write_bytes(cautions_bytes(strange, plan, quotes=True))
        with pytest.raises(RunError, match="omen"):
            read_cautions(tmp_path, plan)

    def test_without_evidence_no_word_of_the_texts_is_kept(self, tmp_path: Path) -> None:
        verify(corpus(), QUICK, output=RunOutput(tmp_path / "run", evidence=False))
        assert not (tmp_path / "run" / TEXTS).exists()
        kept = (tmp_path / "run" / CAUTIONS).read_text("utf-8")
        assert "shares 1 passage" in kept
        assert "written without effort" not in kept

    def test_a_joint_run_has_those_of_its_runs(self, home: Path, tmp_path: Path) -> None:
        combine_runs([home], tmp_path / "run")
        assert (tmp_path / "run" / CAUTIONS).read_bytes() == (home / "run" / CAUTIONS).read_bytes()

    def test_a_run_that_is_replaced_keeps_none_of_the_old(self, tmp_path: Path) -> None:
        verify(corpus(), QUICK, output=RunOutput(tmp_path / "run"))
        verify(corpus(), QUICK, execution=Execution(cautions=False), output=RunOutput(tmp_path / "run", overwrite=True))
        assert not (tmp_path / "run" / CAUTIONS).exists()


class TestShown:
    def test_the_report_has_them_by_problem_and_the_places(self, home: Path) -> None:
        report_data = verification_report(home)
        rows = {row["id"]: row for row in report_data["problems"]}
        assert "shares 1 passage" in rows["P2"]["warnings"][0]
        assert "Very short" in rows["P3"]["warnings"][0]
        assert rows["P1"]["warnings"] == []
        assert [line[:3] for line in report_data["warnings"]] == ["P2:", "P3:"]
        texts = unpack(rows["P2"]["packed"])
        shown = [texts["documents"][each["document"]]["text"][each["begin"] : each["end"]] for each in texts["shared"]]
        assert shown == [SAYING, SAYING]
        assert unpack(rows["P1"]["packed"])["shared"] == []

    def test_an_explanation_has_them_and_shows_the_passages(self, home: Path) -> None:
        found = explain_problem(home, "P2", 1)
        assert [each.kind for each in found.cautions] == ["shared"]
        assert [(each.document, each.text) for each in found.shared] == [
            ("P2/unknown.txt", SAYING),
            ("P2/known1.txt", SAYING),
        ]

    def test_many_of_a_kind_are_one_sentence_and_the_most_important_come_first(self) -> None:
        ones = [problem(prose(n, 300), prose(n + 50, 1500), name=f"P{n}") for n in range(5)]
        ones.append(problem(f"{prose(7, 1500)} {SAYING}", f"{SAYING} {prose(57, 1500)}", name="P9"))
        lines = [each.text for each in find_cautions(ones).summarize()]
        assert lines[0].startswith("P9: unknown.txt shares")
        assert len(lines) == 2
        assert lines[1].startswith("5 problems have fewer than 1,000 characters")
        assert lines[1].endswith("(P0, P1, P2 and 2 more).")

    def test_they_are_plain_json_and_name_no_flag(self) -> None:
        written = json.dumps(cautions_values(find_cautions(corpus().problems)))
        assert json.loads(written) == cautions_values(find_cautions(corpus().problems))
        assert " --" not in written


class TestVerify:
    def test_the_result_has_them_unless_they_are_not_wanted(self) -> None:
        assert verify(corpus(), QUICK, execution=Execution(cautions=False)).cautions is None
        result = verify(corpus(), QUICK)
        assert result.cautions == find_cautions(corpus().problems)

    def test_what_was_masked_is_told_recorded_and_asked_for_again(self, tmp_path: Path) -> None:
        result = verify(corpus(), QUICK, mask_shared=True, output=RunOutput(tmp_path / "run"))
        assert result.cautions is not None
        (caution,) = result.cautions.of("P2")
        assert caution.kind == "masked"
        assert caution.quotes == (SAYING,)
        assert "____" in (tmp_path / "run" / TEXTS).read_text("utf-8")
        report_data = verification_report(tmp_path)
        assert "--mask-shared" in report_data["provenance"]["command"]
        with pytest.raises(RunError, match="not the same run"):
            verify(corpus(), QUICK, output=RunOutput(tmp_path / "run", resume=True))
        again = verify(corpus(), QUICK, mask_shared=True, output=RunOutput(tmp_path / "run", resume=True))
        assert again.answers == result.answers


def copy(home: Path, target: Path) -> Path:
    return Path(shutil.copytree(home, target / "copy"))


def unpack(packed: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(packed)))

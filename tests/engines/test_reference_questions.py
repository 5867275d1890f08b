"""Answers beside a reference population: each problem by itself, nothing of the other problems is looked at.

The layout is tested in test_reference_layout.py.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from byline.corpora.documents import Document
from byline.corpora.problems import Problem, ProblemSet, builtin_problems, read_problems
from byline.corpora.reference import Reference, ReferenceText
from byline.corpora.reference_building import build_reference, read_reference
from byline.engines.language_groups import lay_out_groups
from byline.engines.reference_questions import prepare_reference
from byline.errors import CorpusError, SettingsError, TooLittleText
from byline.judgment.calibration import Calibration
from byline.runs.request import JudgmentRequest
from byline.settings.settings import Pool, Settings, kinds_of
from byline.tasks.verify import verify
from samples import MakeCorpus, small_problems

TINY = Settings(hidden=4, sub_epochs=2)
NGRAM = Settings(engine="ngram")
VECTORS = Settings(engine="vectors")
WORDS = Settings(engine="words")
QUICK = Pool("quick", (NGRAM, VECTORS), members=2)
KINDS = [
    TINY,
    TINY.change({"direction": "backward", "mask": "topic"}),
    NGRAM,
    NGRAM.change({"mask": "topic", "direction": "backward"}),
    VECTORS,
    VECTORS.change({"mask": "topic"}),
    WORDS,
    Settings(engine="words", word_order=3, mask="topic"),
    Settings(engine="characters"),
    Settings(engine="characters", mask="topic"),
    Settings(engine="punctuation"),
    Settings(engine="grammar"),
    Settings(engine="grammar", mask="topic"),
]
DICE = random.Random(1)
LEXICON = ["".join(DICE.choices("etaoinshrdlu", k=DICE.randint(2, 9))) for _ in range(2000)]


def prose(author: int, text: int, length: int = 300) -> str:
    """A text of 80 words that an author uses, in an order that no other text has."""
    words = random.Random(author).sample(LEXICON, 80)
    return " ".join(random.Random(f"{author} {text}").choices(words, k=length))[:length]


def chance(number: int, length: int = 300) -> str:
    """A text by nobody."""
    return "".join(random.Random(number).choices("etaoin shrdlu", k=length))


def population(people: int = 12, texts: int = 2, length: int = 300) -> Reference:
    rows = [
        ReferenceText(Document(f"{person}/{text}.txt", prose(person, text, length)), f"person {person}")
        for person in range(people)
        for text in range(texts)
    ]
    return Reference("english", tuple(rows))


def problem(name: str, known: Sequence[str], unknown: str) -> Problem:
    documents = tuple(Document(f"{name}/known{n}", text) for n, text in enumerate(known, start=1))
    return Problem(name, documents, Document(f"{name}/unknown", unknown), "english")


def as_set(*problems: Problem) -> ProblemSet:
    return ProblemSet(problems, "folders")


PROBLEMS = (
    problem("EN001", [prose(100, 1), prose(100, 2)], prose(100, 3)),
    problem("EN002", [prose(101, 1)], prose(102, 1)),
    problem("EN003", [prose(102, 2)], prose(102, 1, 500)),
    problem("EN004", [prose(101, 1)], prose(101, 2)),
)


def scores(problems: Sequence[Problem], settings: Settings | Pool, reference: Reference) -> dict[str, float]:
    answers = verify(as_set(*problems), settings, reference=reference).answers
    assert all(answer.score is not None for answer in answers)
    return {answer.id: float(answer.score or 0) for answer in answers}


class TestByItself:
    @pytest.mark.parametrize("settings", KINDS, ids=lambda settings: f"{settings.engine_name} {settings.direction}")
    def test_a_problem_has_the_same_score_alone_and_among_others(self, settings: Settings) -> None:
        """The first has several known texts, the third shares its unknown text with the second."""
        reference = population()
        together = scores(PROBLEMS, settings, reference)
        assert len(set(together.values())) > 1
        for each in (PROBLEMS[0], PROBLEMS[2]):
            assert scores([each], settings, reference)[each.id] == together[each.id]

    def test_the_whole_preset_gives_the_same_answer_alone_and_among_others(self) -> None:
        """One of the others is long, and made of n-grams that nobody else has."""
        strange = problem("EN009", [chance(1, 900)], "u" * 9 + chance(2, 900))
        together = verify(as_set(*PROBLEMS, strange), "cohort", reference=population()).answers
        assert len({answer.score for answer in together}) == len(together) == 5
        for each in (PROBLEMS[1], strange):
            (alone,) = verify(as_set(each), "cohort", reference=population()).answers
            (answer,) = (answer for answer in together if answer.id == each.id)
            assert replace(alone, interval=None) == replace(answer, interval=None)
            assert alone.interval == (answer.interval and pytest.approx(answer.interval, abs=1e-9))

    def test_its_likelihood_ratio_and_interval_do_not_look_at_others_either(self) -> None:
        line = Calibration(
            1.0, -0.5, 3.0, 0.1, "cohort", kinds_of(QUICK.rows), "quick", 100, 200, ("made up",), cllr=0.7, cllr_min=0.6
        )
        together = verify(
            as_set(*PROBLEMS), QUICK, reference=population(), judgment=JudgmentRequest(calibration=line)
        ).answers
        for each, answer in zip(PROBLEMS, together, strict=True):
            (alone,) = verify(
                as_set(each), QUICK, reference=population(), judgment=JudgmentRequest(calibration=line)
            ).answers
            assert replace(alone, interval=None) == replace(answer, interval=None)
            assert alone.interval == pytest.approx(answer.interval, abs=1e-9)
            assert answer.undecided == (abs((answer.probability or 0) - 0.5) < 0.1)

    @pytest.mark.parametrize("settings", KINDS, ids=lambda settings: f"{settings.engine_name} {settings.direction}")
    def test_known_and_unknown_text_of_one_text_questions_can_be_exchanged(self, settings: Settings) -> None:
        """Nothing changes at all, whether the texts are as long as each other or not."""
        asked = [each for each in PROBLEMS if len(each.known) == 1]
        turned = [replace(each, known=(each.unknown,), unknown=each.known[0]) for each in asked]
        pairs = [replace(each, symmetric=True) for each in turned]
        first, *others = (
            verify(as_set(*problems), settings, reference=population()).answers for problems in (asked, turned, pairs)
        )
        assert len({answer.score for answer in first}) > 1
        assert others == [first, first]

    @pytest.mark.parametrize("settings", [TINY, NGRAM, WORDS], ids=lambda settings: settings.engine_name)
    def test_many_problems_are_laid_out_in_parts_with_the_same_scores(
        self, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = scores(PROBLEMS, settings, population())
        monkeypatch.setattr("byline.engines.reference_questions.MOST_PROBLEMS", 1)
        ways = 1 if settings is WORDS else 2
        assert len(prepare_reference(PROBLEMS, settings, population()).sides) == len(PROBLEMS) * ways
        assert scores(PROBLEMS, settings, population()) == whole

    @pytest.mark.parametrize(
        "settings",
        [TINY, NGRAM, VECTORS.change({"mask": "topic"}), WORDS],
        ids=lambda settings: settings.engine_name,
    )
    def test_names_and_order_of_problems_and_of_reference_texts_change_nothing(self, settings: Settings) -> None:
        plain = scores(PROBLEMS, settings, population())
        new_names = {each.id: f"EN{500 - number}" for number, each in enumerate(PROBLEMS)}
        renamed = [replace(each, id=new_names[each.id]) for each in PROBLEMS]
        texts = [
            ReferenceText(Document(f"text {n}", text.document.text), text.author.replace("person", "somebody"))
            for n, text in enumerate(population().texts)
        ]
        DICE.shuffle(texts)
        other = scores(renamed, settings, Reference("english", tuple(texts)))
        assert other == {new_names[name]: score for name, score in plain.items()}

    def test_its_head_stands_out_from_the_population_where_it_wrote_the_text(self) -> None:
        found = scores(PROBLEMS, QUICK, population())
        assert min(found["EN001"], found["EN003"], found["EN004"]) > found["EN002"] + 1


class TestRefusals:
    def test_fewer_than_ten_people_say_nothing(self) -> None:
        verify(as_set(PROBLEMS[1]), NGRAM, reference=population(10))
        with pytest.raises(TooLittleText, match="texts by 9 authors") as caught:
            verify(as_set(PROBLEMS[1]), NGRAM, reference=population(9))
        assert caught.value.where == "english"
        assert caught.value.remedy

    def test_those_whose_texts_have_to_do_with_the_question_are_no_others(self) -> None:
        asked = problem("EN009", [prose(100, 1)], prose(3, 1))
        with pytest.raises(CorpusError, match=r"EN009: .* by 9 authors"):
            verify(as_set(asked), NGRAM, reference=population(10))
        result = verify(as_set(asked, PROBLEMS[1]), NGRAM, reference=population(10), skip_bad=True)
        assert [(answer.id, answer.score is None) for answer in result.answers] == [("EN002", False), ("EN009", True)]

    def test_a_reference_of_another_language(self) -> None:
        with builtin_problems("greek") as folder:
            greek = build_reference([folder])
        with pytest.raises(CorpusError, match=r"the reference .greek. is of another language") as caught:
            lay_out_groups(as_set(*PROBLEMS), [NGRAM], reference=greek)
        assert caught.value.where == "EN001"
        assert "{language}" in str(caught.value.remedy)

    def test_a_reference_of_another_script_under_the_same_name(self) -> None:
        with builtin_problems("greek") as folder:
            greek = replace(build_reference([folder]), language="english")
        with pytest.raises(CorpusError, match=r"greek letters. .* latin ones") as caught:
            lay_out_groups(as_set(*PROBLEMS), [NGRAM], reference=greek)
        assert "{language}" not in str(caught.value.remedy)

    def test_an_unknown_text_of_another_script(self) -> None:
        hebrew = "בראשית ברא אלהים את השמים ואת הארץ " * 3
        asked = problem("EN009", [prose(100, 1), prose(101, 1)], hebrew)
        with pytest.raises(CorpusError, match=r"another script .hebrew. than .* .latin."):
            verify(as_set(asked), NGRAM, reference=population(12))

    def test_a_control_corpus_beside_it(self) -> None:
        with pytest.raises(SettingsError, match="control"):
            verify(as_set(*PROBLEMS), NGRAM, reference=population(), control=[Document("c", prose(7, 7))])

    @pytest.mark.parametrize("interpret", ["rank", "relative"])
    def test_an_interpretation_that_does_not_look_at_it(self, interpret: str) -> None:
        with pytest.raises(SettingsError, match=interpret):
            verify(as_set(*PROBLEMS), NGRAM, reference=population(), judgment=JudgmentRequest(interpret=interpret))  # type: ignore[arg-type]

    def test_a_cohort_without_one(self) -> None:
        with pytest.raises(SettingsError, match="reference"):
            verify(as_set(*PROBLEMS), NGRAM, judgment=JudgmentRequest(interpret="cohort"))

    def test_a_problem_whose_texts_are_too_short_is_named(self, make_corpus: MakeCorpus) -> None:
        problems = small_problems(2)
        problems["EN002"]["unknown.txt"] = "short"
        with pytest.raises(CorpusError, match=r"EN002/unknown\.txt: 5 characters"):
            verify(read_problems(make_corpus(problems)), NGRAM, reference=population())


class TestPlacebo:
    """What can't be known is not claimed to be."""

    def test_texts_by_nobody_are_not_told_apart(self) -> None:
        """The cases of such a reference say that the scores mean nothing: most of a claim is unlearned."""
        reference = Reference(
            "english", tuple(ReferenceText(Document(str(n), chance(n)), f"person {n}") for n in range(20))
        )
        problems = [problem(f"EN{n:03d}", [chance(100 + n)], chance(200 + n)) for n in range(16)]
        for settings in (TINY, QUICK):
            result = verify(as_set(*problems), settings, reference=reference)
            found = np.array([answer.score for answer in result.answers], np.float64)
            assert found.mean() < 3 * found.std() / np.sqrt(len(found))  # nothing speaks for the same author

    def test_with_known_sets_exchanged_nobody_stands_out(self) -> None:
        own = [problem(f"EN{n:03d}", [prose(100 + n, 1)], prose(100 + n, 2)) for n in range(10)]
        exchanged = [replace(each, known=own[n - 1].known) for n, each in enumerate(own)]
        with_own, with_others = (
            np.array([*scores(each, QUICK, population(20, 1, 600)).values()]) for each in (own, exchanged)
        )
        assert with_own.min() > max(with_others.max(), 0)
        assert with_others.mean() < 0


def test_a_reference_is_read_from_a_folder(tmp_path: Path) -> None:
    for text in population().texts:
        path = tmp_path / text.document.name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.document.text, "utf-8")
    read = verify(as_set(*PROBLEMS), NGRAM, reference=read_reference(tmp_path, "english"))
    assert {answer.id: answer.score for answer in read.answers} == scores(PROBLEMS, NGRAM, population())

"""Relative entropies taken apart: what each symbol speaks for a head adds up to what the matrix says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from byline.corpora.problems import builtin_problems, read_problems
from byline.corpora.reference_building import build_reference
from byline.engines.matrix import find_head_levels, flag_cohort, relative_entropies
from byline.engines.ngram import engine as ngram
from byline.engines.profiles import engine as vectors
from byline.engines.protocol import EngineResult, Runtime
from byline.engines.questions import Question, Questions, ReferencePart, prepare_questions
from byline.engines.reference_questions import prepare_reference
from byline.engines.rnn import engine as rnn
from byline.settings.settings import Settings

WATCH = Runtime(evidence=True, threads=2)
MEMBERS = {
    "ngram": Settings(engine="ngram"),
    "ngram backward, masked": Settings(engine="ngram", direction="backward", mask="topic"),
    "rnn": Settings(hidden=6, sub_epochs=2, train_on="both"),
    "rnn backward": Settings(hidden=5, sub_epochs=2, direction="backward"),
    "rnn without a layer": Settings(hidden=0, sub_epochs=1),
}


def sides_of(settings: Settings) -> tuple[Questions, ...]:
    with builtin_problems("english") as folder:
        problems = read_problems(folder).problems
    return prepare_questions(problems, settings).sides


def fill(questions: Questions, settings: Settings, runtime: Runtime = WATCH) -> EngineResult:
    engine = {"ngram": ngram, "rnn": rnn, "vectors": vectors}[settings.engine]
    return engine.fill_matrix(questions, settings, np.random.default_rng(3), runtime)


def counted(questions: Questions, document: int, skip: int) -> int:
    return sum(len(questions.texts[text]) - max(skip, 1) for text in questions.documents[document])


def require_sums(questions: Questions, settings: Settings) -> None:
    """Gains add up to the relative entropy that the matrix has."""
    filled = fill(questions, settings)
    matrix = filled.matrix
    means = np.nanmean(matrix.comparable, axis=1)  # section 2.6: each document's mean subtracted
    assert len(filled.gains) == len(questions.questions)
    for question, own in zip(questions.questions, filled.gains, strict=True):
        relative = matrix.values[matrix.place(question.document, question.head)] - means[question.document]
        size = counted(questions, question.document, settings.skip)
        assert -own.sum(dtype=np.float64) / size == pytest.approx(relative, abs=2e-6)
        assert len(own) == sum(len(questions.texts[text]) for text in questions.documents[question.document])


@pytest.mark.parametrize("settings", MEMBERS.values(), ids=MEMBERS.keys())
class TestAdditive:
    def test_gains_add_up_to_the_relative_entropy_before_ranking(self, settings: Settings) -> None:
        for questions in sides_of(settings):
            require_sums(questions, settings)

    def test_so_they_do_where_documents_share_texts_and_heads(self, settings: Settings) -> None:
        questions = sides_of(settings)[0]
        documents = ((0, 1), (1, 2), (1,), (3,))
        asked = tuple(Question(0, head, document) for document in (0, 1, 2) for head in (1, 3, 4))
        require_sums(replace(questions, documents=documents, questions=asked), settings.change({"compared": 10}))

    def test_the_matrix_is_the_same_with_and_without(self, settings: Settings) -> None:
        questions = sides_of(settings)[0]
        with_them, without = fill(questions, settings), fill(questions, settings, Runtime())
        np.testing.assert_array_equal(with_them.matrix.values, without.matrix.values)
        assert without.gains == ()

    def test_blocks_of_heads_and_threads_do_not_matter(
        self, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        questions = sides_of(settings)[0]
        whole = fill(questions, settings)
        monkeypatch.setattr("byline.engines.matrix.MOST_VALUES", 9_000)
        for one, two in zip(whole.gains, fill(questions, settings, replace(WATCH, threads=1)).gains, strict=True):
            np.testing.assert_allclose(one, two, atol=0 if settings.engine == "ngram" else 2e-5)

    def test_the_first_characters_say_nothing(self, settings: Settings) -> None:
        (questions, *_) = sides_of(settings)
        looked_at = 0
        for question, own in zip(questions.questions, fill(questions, settings).gains, strict=True):
            assert (own != 0).sum() > 100
            if len(questions.documents[question.document]) > 1:  # each of its texts has first characters of its own
                continue
            first = own[::-1] if settings.direction == "backward" else own
            assert (first[: max(settings.skip, 1)] == 0).all()
            looked_at += 1
        assert looked_at


def test_heads_that_know_the_document_are_not_in_the_cohort() -> None:
    questions = sides_of(Settings(engine="ngram"))[0]
    chosen = np.tile(np.arange(len(questions.heads), dtype=np.int32), (len(questions.documents), 1))
    barred = replace(questions, excluded_pairs=frozenset({(0, 1)}))
    assert flag_cohort(questions, chosen).sum() - flag_cohort(barred, chosen).sum() == 1
    first = len(questions.heads) - 4
    beside = replace(questions, reference=ReferencePart(first, 0))
    assert flag_cohort(beside, chosen)[:, :-4].any() == False  # noqa: E712 - numpy
    assert relative_entropies(fill(questions, MEMBERS["ngram"]).matrix).shape == chosen.shape


class TestVectors:
    def test_what_speaks_for_a_head_outweighs_what_speaks_against_it_where_the_cosine_does(self) -> None:
        questions = sides_of(Settings(engine="vectors"))[0]
        filled = fill(questions, Settings(engine="vectors"))
        texts = ["".join(questions.alphabet.decode(questions.texts[t]) for t in d) for d in questions.documents]
        for question, features in zip(questions.questions, filled.features, strict=True):
            assert 12 <= len(features) <= 24
            weights = [feature.weight for feature in features]
            assert weights[0] == max(weights)
            assert all(feature.name in texts[question.document] for feature in features)
            assert all(2 <= len(feature.name) <= 6 for feature in features)

    @pytest.mark.parametrize("reference", [0, 5])
    @pytest.mark.parametrize("compared", [300, 10])
    def test_all_of_them_add_up_to_the_relative_distance(
        self, monkeypatch: pytest.MonkeyPatch, compared: int, reference: int
    ) -> None:
        monkeypatch.setattr(vectors, "FEATURES", 10**9)
        questions = replace(sides_of(Settings(engine="vectors"))[0], excluded_pairs=frozenset({(0, 1)}))
        if reference:
            questions = replace(questions, reference=ReferencePart(len(questions.heads) - reference, 0))
        filled = fill(questions, Settings(engine="vectors", compared=compared))
        cohort = flag_cohort(questions, filled.matrix.heads)
        assert reference or filled.matrix.full == (compared == 300)
        means = np.nanmean(np.where(cohort, filled.matrix.values, np.nan), axis=1)
        for question, features in zip(questions.questions, filled.features, strict=True):
            own = filled.matrix.values[filled.matrix.place(question.document, question.head)]
            total = sum(feature.weight for feature in features)
            assert total == pytest.approx(means[question.document] - own, abs=1e-9)
            assert all(weight for _, weight in features)

    def test_where_nobody_can_be_compared_nothing_speaks(self) -> None:
        questions = sides_of(Settings(engine="vectors"))[0]
        nobody = replace(questions, excluded_pairs=frozenset((0, head) for head in range(len(questions.heads))))
        for question, features in zip(
            questions.questions, fill(nobody, Settings(engine="vectors")).features, strict=True
        ):
            assert bool(features) == (question.document != 0)


class TestHeadLevels:
    """The usual gain of a question's head, worked out pair by pair."""

    def test_with_sampled_heads(self) -> None:
        settings = Settings(engine="ngram", compared=10)
        questions = sides_of(settings)[0]
        filled = fill(questions, settings)
        assert not filled.matrix.full
        self.check(questions, filled, settings, range(len(questions.heads)), range(len(questions.documents)))

    @pytest.mark.parametrize("settings", [Settings(engine="ngram"), Settings(hidden=5, sub_epochs=2)])
    def test_beside_a_reference_nothing_else_is_compared_with(self, settings: Settings) -> None:
        with builtin_problems("english") as folder:
            problems, others = read_problems(folder).problems[:3], build_reference([folder], language="english")
        questions = prepare_reference(problems, settings, others).sides[0]
        assert questions.reference is not None
        assert questions.reference.layout is not None
        assert len(questions.heads) == len(questions.documents)
        cohort = range(len(questions.heads) - len(questions.reference.layout.cohort), len(questions.heads))
        self.check(questions, fill(questions, settings), settings, cohort, cohort)

    def check(
        self, questions: Questions, filled: EngineResult, settings: Settings, heads: range, documents: range
    ) -> None:
        matrix, asked = filled.matrix, {(each.document, each.head) for each in questions.questions}
        value = {
            (document, int(head)): matrix.values[document, place]
            for document, row in enumerate(matrix.heads)
            for place, head in enumerate(row)
            if not matrix.excluded[document, place] or (document, int(head)) in asked
        }

        def gain(document: int, head: int) -> float:
            cohort = [value[document, other] for other in heads if (document, other) in value]
            return float(np.mean(cohort)) - value[document, head]

        found = find_head_levels(questions, matrix)
        for question, level, own in zip(questions.questions, found, filled.gains, strict=True):
            document, head = question.document, question.head
            usual = [gain(other, head) for other in documents if (other, head) in value and (other, head) not in asked]
            assert len(usual) > 2
            assert level == pytest.approx(np.mean(usual))
            size = counted(questions, document, settings.skip)
            assert own.sum(dtype=np.float64) / size == pytest.approx(gain(document, head), abs=2e-6)

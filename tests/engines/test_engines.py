"""The engines beside the network: by hand, by their definitions, in any order."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import Ridge

from byline.corpora.documents import Document
from byline.corpora.problems import Problem
from byline.engines import frequencies, linear
from byline.engines.grammar import engine as grammar
from byline.engines.matrix import Table, sample_heads
from byline.engines.ngram import counts as ngrams
from byline.engines.ngram import engine as ngram
from byline.engines.profiles import engine as vectors
from byline.engines.protocol import EngineResult, Runtime
from byline.engines.questions import ControlTexts, Question, Questions, ReferencePart, prepare_questions
from byline.engines.rnn import engine as rnn
from byline.settings.settings import Settings
from byline.text.encoder import Alphabet, Symbols
from samples import phrase

Fill = Callable[..., EngineResult]

NGRAM = Settings(engine="ngram", order=3)
VECTORS = Settings(engine="vectors", order=3)
LINEAR = Settings(engine="linear", order=3)
WORDS = Settings(engine="words", word_order=2)
CHARACTERS = Settings(engine="characters", order=3)
GRAMMAR = Settings(engine="grammar", grammar_order=3)


def spaced(fill: Fill) -> Fill:
    """Engines that read words read a space for each c."""

    def fill_spaced(questions: Questions, *rest: object) -> EngineResult:
        return fill(replace(questions, alphabet=Alphabet("ab ")), *rest)

    return fill_spaced


WITHOUT_CHANCE = pytest.mark.parametrize(
    ("fill", "settings"),
    [
        (ngram.fill_matrix, NGRAM),
        (vectors.fill_matrix, VECTORS),
        (linear.fill_matrix, LINEAR),
        (frequencies.fill_matrix, CHARACTERS),
        (spaced(frequencies.fill_matrix), WORDS),
        (spaced(grammar.fill_matrix), GRAMMAR),
    ],
)
SETTING_ASIDE = pytest.mark.parametrize(
    ("fill", "settings"),
    [
        (ngram.fill_matrix, NGRAM),
        (ngram.fill_matrix, NGRAM.change({"direction": "backward", "order": 4})),
        (vectors.fill_matrix, VECTORS),
        (vectors.fill_matrix, VECTORS.change({"order": 5})),
        (linear.fill_matrix, LINEAR),
        (linear.fill_matrix, LINEAR.change({"order": 5})),
    ],
)


def spell(texts: Iterable[str]) -> tuple[Symbols, ...]:
    return tuple(np.array([ord(letter) - ord("a") for letter in text], np.int32) for text in texts)


def ask(
    texts: Sequence[str],
    heads: Sequence[tuple[int, ...]],
    documents: Sequence[tuple[int, ...]],
    control: Sequence[str] = (),
    reference: int = 0,
) -> Questions:
    """Each head is asked about the document of the same place; the alphabet is a, b, c."""
    asked = tuple(Question(n, n, n) for n in range(min(len(heads), len(documents))))
    part = ReferencePart(len(heads) - reference, len(documents) - reference) if reference else None
    return Questions(
        Alphabet("abc"), spell(texts), tuple(heads), tuple(documents), asked, ControlTexts(spell(control)), part
    )


def made_texts(count: int, length: int = 60) -> list[str]:
    """Texts whose letters are drawn more or less often, each in its own way."""
    rng = random.Random(1)
    return ["".join(rng.choices("abc", (1 + n % 3, 1 + n % 2, 2), k=length + n)) for n in range(count)]


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def corpus(count: int) -> list[Problem]:
    """Problems whose texts each have some words of their own, more in all than stay when topic is masked."""
    draw = random.Random(4)

    def write(author: int, salt: int) -> Document:
        own = ["".join(draw.choices("abcdefghijklmnopqrstuvw", k=5)) for _ in range(25)]
        return Document(f"{author}/{salt}", f"{phrase(author, 120, salt)} {' '.join(own)}")

    return [Problem(f"EN{n}", (write(n, 1), write(n, 2)), write(n + n % 2, 3), "english") for n in range(count)]


class TestNgram:
    def test_a_small_matrix_by_hand(self) -> None:
        """The background, counted from aab, gives ba in aba the chances 0.45 and 0.6 (see test_ngrams.py).

        The head, which learned the same text, has a twice and b once, two kinds: b is (1 + 2 x 0.45) / 5 = 0.38 and,
        after a, (1 + 2 x 0.38) / 4 = 0.44; a is (2 + 2 x 0.6) / 5 = 0.64, nothing having followed b.
        """
        questions = replace(ask(["aab", "aba"], [(0,)], [(1,)]), alphabet=Alphabet("ab"))
        matrix = ngram.fill_matrix(questions, Settings(engine="ngram", order=2, skip=0), rng()).matrix
        np.testing.assert_allclose(matrix.values, [[-math.log2(0.44 * 0.64) / 2]])

    @pytest.mark.parametrize("control", [(), ("abcabcaabbcc" * 4, "ccba" * 9)])
    @pytest.mark.parametrize("direction", ["forward", "backward"])
    def test_the_definition_fills_the_matrix_like_its_twin(self, direction: str, control: Sequence[str]) -> None:
        questions = ask(made_texts(7), [(0,), (1, 2), (3,)], [(4,), (5, 6), (0,), (1,)], control)
        settings = NGRAM.change({"direction": direction})
        plain = ngram.fill_matrix(questions, settings, rng(), arithmetic=ngrams).matrix
        fast = ngram.fill_matrix(questions, settings, rng()).matrix
        np.testing.assert_allclose(fast.values, plain.values, rtol=1e-9)
        np.testing.assert_array_equal(fast.excluded, plain.excluded)
        assert fast.excluded.sum() == 2

    def test_control_pieces_are_in_the_background(self) -> None:
        sets = [(0,), (1,)], [(2,), (3,)]
        without, beside = (ask(made_texts(4), *sets, control) for control in ((), (made_texts(3)[2],)))
        one, two = (ngram.fill_matrix(questions, NGRAM, rng()).matrix.values for questions in (without, beside))
        assert (two[0] < one[0]).all()  # the piece is like the first document

    def test_backward_is_forward_of_the_reversed_texts(self) -> None:
        questions = ask(made_texts(5), [(0,), (1, 2)], [(3,), (4,)], [made_texts(6)[5]])
        turned = replace(
            questions,
            texts=tuple(text[::-1] for text in questions.texts),
            control=ControlTexts(tuple(text[::-1] for text in questions.control.pieces)),
        )
        backward = ngram.fill_matrix(questions, NGRAM.change({"direction": "backward"}), rng()).matrix
        np.testing.assert_allclose(backward.values, ngram.fill_matrix(turned, NGRAM, rng()).matrix.values)

    def test_a_text_that_some_head_learns_is_no_easier_for_the_others(self) -> None:
        """The last head learns what is judged: the background of that text leaves it out, so nothing else changes."""
        documents = [(3,), (4, 5)]
        texts = made_texts(6)
        alone = ngram.fill_matrix(ask(texts, [(0,), (1,), (2,)], documents), NGRAM, rng()).matrix
        beside = ngram.fill_matrix(ask(texts, [(0,), (1,), (2,), (3,)], documents), NGRAM, rng()).matrix
        often = ngram.fill_matrix(ask(texts, [(0,), (1,), (2,), (3,), (0, 3), (1, 3)], documents), NGRAM, rng()).matrix
        np.testing.assert_array_equal(beside.values[0, :3], alone.values[0])
        np.testing.assert_array_equal(often.values[:, :4], beside.values)
        assert (beside.values[1, :3] != alone.values[1]).all()  # for other texts it is one more to learn from
        np.testing.assert_array_equal(often.excluded[0], [False, False, False, True, True, True])

    def test_who_learned_a_texts_author_predicts_it_best(self) -> None:
        texts = [letters * 12 for letters in ("abc", "acb", "aabbcc")]
        questions = ask([*texts, *(text[1:] for text in texts)], [(0,), (1,), (2,)], [(3,), (4,), (5,)])
        values = ngram.fill_matrix(questions, NGRAM, rng()).matrix.values
        np.testing.assert_array_equal(values.argmin(axis=1), [0, 1, 2])


class TestVectors:
    @staticmethod
    def weights(texts: Sequence[str], order: int) -> Callable[[str], float]:
        """The inverse document frequency of a gram, smoothed as if one more text had all of them."""
        having = Counter(gram for text in texts for gram in TestVectors.grams([text], order))
        return lambda gram: math.log((1 + len(texts)) / (1 + having[gram])) + 1

    @staticmethod
    def grams(texts: Iterable[str], order: int) -> Counter[str]:
        lengths = range(max(1, order - 2), order + 1)
        return Counter(text[at : at + k] for text in texts for k in lengths for at in range(len(text) - k + 1))

    @staticmethod
    def distance(one: Counter[str], two: Counter[str], weigh: Callable[[str], float]) -> float:
        profiles = [{gram: (1 + math.log(n)) * weigh(gram) for gram, n in each.items()} for each in (one, two)]
        dot = sum(value * profiles[1].get(gram, 0) for gram, value in profiles[0].items())
        return 1 - dot / math.prod(math.sqrt(sum(value**2 for value in each.values())) for each in profiles)

    def test_the_smallest_matrix_by_hand(self) -> None:
        """Of ab and ac only a is shared, and weighs 1; the other letter and the pair weigh ln(3/2) + 1 each."""
        matrix = vectors.fill_matrix(
            ask(["ab", "ac"], [(0,)], [(1,)]), Settings(engine="vectors", order=2), rng()
        ).matrix
        rare = math.log(3 / 2) + 1
        np.testing.assert_allclose(matrix.values, [[1 - 1 / (1 + 2 * rare**2)]])

    @pytest.mark.parametrize("order", [2, 3, 4, 6])
    def test_distances_are_those_of_plain_python(self, order: int) -> None:
        texts = ["aabcabca", "abcabbbb", "cabbac", "ccccab"]
        heads, documents = [(0,), (0, 1), (3,)], [(2,), (1, 3)]
        matrix = vectors.fill_matrix(ask(texts, heads, documents), VECTORS.change({"order": order}), rng()).matrix
        weigh = self.weights(texts, order)
        wanted = [
            [
                self.distance(*(self.grams([texts[n] for n in s], order) for s in (document, head)), weigh)
                for head in heads
            ]
            for document in documents
        ]
        np.testing.assert_allclose(matrix.values, wanted, atol=1e-12)
        np.testing.assert_array_equal(matrix.excluded, [[False, False, False], [False, True, True]])

    def test_rare_grams_are_those_that_the_reference_has_seldom_where_there_is_one(self) -> None:
        texts = ["aabcabca", "abcabbbb", "cabbac", "ccccab"]
        sets = [(2,), (3,)]
        matrix = vectors.fill_matrix(ask(texts, [(0,), *sets], [(1,), *sets], reference=2), VECTORS, rng()).matrix
        asked = self.distance(self.grams(texts[:1], 3), self.grams(texts[1:2], 3), self.weights(texts[2:], 3))
        assert matrix.values[0, 0] == pytest.approx(asked)


class TestLinear:
    @staticmethod
    def profiles(texts: Sequence[str], weighed: Sequence[int], order: int = 3) -> Table:
        """The texts' vectors as scikit-learn makes them, n-grams weighed by how few of some texts have them."""
        counts = CountVectorizer(analyzer="char", ngram_range=(max(1, order - 2), order)).fit_transform(texts)
        found: Table = TfidfTransformer(sublinear_tf=True).fit(counts[weighed]).transform(counts).toarray()
        return found

    @staticmethod
    def labels(count: int, heads: Sequence[tuple[int, ...]]) -> Table:
        """(texts, heads): 1 where a head has the text, -1 elsewhere."""
        return np.array([[1.0 if text in head else -1.0 for head in heads] for text in range(count)])

    def test_texts_that_share_nothing_by_hand(self) -> None:
        """Profiles at right angles: X X' + 0.1 I is 1.1 I, and what was learned says 1 / 1.1 for its head, the same
        against the other. Set aside, nothing is left that has any of its n-grams: no word for anyone.
        """
        questions = ask(["aaaaaa", "bbbbbb"], [(0,), (1,)], [(0,), (1,)])
        matrix = linear.fill_matrix(questions, LINEAR, rng()).matrix
        own, other = 1 - 1 / 1.1, 1 + 1 / 1.1
        np.testing.assert_allclose(matrix.values, [[own, other], [other, own]])
        aside = linear.fill_matrix(replace(questions, leave_one_out=True), LINEAR, rng()).matrix
        np.testing.assert_allclose(aside.values, 1)

    def test_features_add_up_to_what_is_said_for_the_head_beyond_the_others(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(vectors, "FEATURES", 10_000)
        texts, heads, documents = made_texts(9), [(0, 1), (2, 3), (4,)], [(5,), (6, 7), (0,)]
        questions = replace(
            ask(texts, heads, documents), leave_one_out=True, questions=tuple(Question(n, 1, n) for n in range(3))
        )
        filled = linear.fill_matrix(questions, LINEAR, rng(), Runtime(evidence=True))
        said = filled.matrix.values.mean(axis=1) - filled.matrix.values[:, 1]
        totals = [sum(weight for _, weight in named) for named in filled.features]
        np.testing.assert_allclose(totals[:2], said[:2], atol=1e-9)
        assert filled.features[2] == ()  # it was learned, and is judged without
        for name, _ in filled.features[0]:
            assert name in texts[5]
        assert linear.fill_matrix(questions, LINEAR, rng()).features == ()

    @pytest.mark.parametrize("order", [2, 3, 5])
    def test_values_are_those_of_ridge_regression(self, order: int) -> None:
        """Of a document of several texts, the mean of theirs; a text may be of two heads, or of none."""
        texts = made_texts(9)
        heads, documents = [(0, 1), (1, 2, 3), (4,)], [(5,), (6, 7), (8,)]
        matrix = linear.fill_matrix(ask(texts, heads, documents), LINEAR.change({"order": order}), rng()).matrix
        profiles, learned = self.profiles(texts, range(9), order), [0, 1, 2, 3, 4]
        ridge = Ridge(alpha=linear.PENALTY, fit_intercept=False).fit(profiles[learned], self.labels(9, heads)[learned])
        wanted = [1 - ridge.predict(profiles[list(document)]).mean(axis=0) for document in documents]
        np.testing.assert_allclose(matrix.values, wanted, rtol=1e-9)
        assert not matrix.excluded.any()

    def test_of_very_many_texts_as_many_are_learned_from_each_head_as_may_be(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        texts, documents = made_texts(14), [(12,), (13,)]
        few = linear.fill_matrix(ask(texts, [(0, 1), (10, 11)], documents), LINEAR, rng()).matrix.values
        many = ask(texts, [tuple(range(10)), (10, 11)], documents)
        assert (np.abs(linear.fill_matrix(many, LINEAR, rng()).matrix.values - few) > 1e-6).all()
        monkeypatch.setattr(linear, "MOST_TEXTS", 4)
        np.testing.assert_allclose(linear.fill_matrix(many, LINEAR, rng()).matrix.values, few)


class TestSettingAside:
    """Where a head that learned a document, and other texts, judges it as if it had not."""

    @SETTING_ASIDE
    def test_a_head_judges_a_text_of_its_own_like_one_that_is_made_of_its_others(
        self, fill: Fill, settings: Settings
    ) -> None:
        """Everything else is the same: the background is without the text, and n-grams are as rare."""
        texts, heads = made_texts(7), [(0, 1, 2), (3, 4), (5, 6)]
        questions = replace(ask(texts, heads, [(n,) for n in range(7)]), leave_one_out=True)
        aside = fill(questions, settings, rng()).matrix
        within = fill(replace(questions, leave_one_out=False), settings, rng()).matrix
        for text in range(7):
            others = [tuple(n for n in head if n != text) for head in heads]
            wanted = fill(ask(texts, others, [(text,)]), settings, rng()).matrix
            np.testing.assert_allclose(aside.values[text], wanted.values[0], rtol=1e-9)
            own = next(number for number, head in enumerate(heads) if text in head)
            assert aside.values[text, own] > within.values[text, own] + 0.001  # what was learned is easy
        assert not aside.excluded.any()
        np.testing.assert_array_equal(within.excluded.sum(axis=1), 1)

    @SETTING_ASIDE
    def test_a_head_of_one_text_has_seen_it(self, fill: Fill, settings: Settings) -> None:
        questions = replace(ask(made_texts(5), [(0,), (1, 2)], [(n,) for n in range(5)]), leave_one_out=True)
        excluded = fill(questions, settings, rng()).matrix.excluded
        np.testing.assert_array_equal(excluded[:, 0], [True, False, False, False, False])
        assert not excluded[:, 1].any()

    @SETTING_ASIDE
    def test_answers_do_not_depend_on_what_else_is_asked(self, fill: Fill, settings: Settings) -> None:
        texts, heads = made_texts(9), [(0, 1), (2, 3), (4,)]
        alone = replace(ask(texts[:6], heads, [(0,), (5,)]), leave_one_out=True)
        beside = replace(ask(texts, heads, [(8,), (0,), (6,), (5,), (7,), (2,)]), leave_one_out=True)
        one, two = (fill(questions, settings, rng()).matrix for questions in (alone, beside))
        np.testing.assert_allclose(one.values, two.values[[1, 3]], rtol=1e-12)

    @SETTING_ASIDE
    def test_every_head_is_asked_however_many_there_are(self, fill: Fill, settings: Settings) -> None:
        questions = ask(made_texts(28), [(n,) for n in range(12)], [(n,) for n in range(12, 28)])
        few = settings.change({"compared": 10})
        assert fill(replace(questions, leave_one_out=True), few, rng()).matrix.full
        assert not fill(questions, few, rng()).matrix.full


@pytest.mark.parametrize("leave_one_out", [False, True])
@pytest.mark.parametrize(
    ("fill", "settings"),
    [
        (ngram.fill_matrix, NGRAM),
        (frequencies.fill_matrix, CHARACTERS),
        (spaced(frequencies.fill_matrix), WORDS),
        (spaced(grammar.fill_matrix), GRAMMAR),
    ],
)
def test_threads_give_the_same_matrix(fill: Fill, settings: Settings, leave_one_out: bool) -> None:
    questions = ask(made_texts(12), [(0, 1), (2, 3), (4,), (5,)], [(n,) for n in range(3, 12)])
    questions = replace(questions, leave_one_out=leave_one_out)
    alone, *others = (fill(questions, settings, rng(), Runtime(threads=count)).matrix for count in (1, 3, 16))
    for together in others:
        np.testing.assert_array_equal(alone.values, together.values)
        np.testing.assert_array_equal(alone.parts, together.parts)


@pytest.mark.parametrize(("engine", "settings"), [(vectors, VECTORS), (linear, LINEAR)])
def test_documents_beyond_a_block_are_scored_too(
    engine: ModuleType, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = ask(made_texts(9), [(0,), (1,)], [(n,) for n in range(2, 9)])
    whole = engine.fill_matrix(questions, settings, rng()).matrix.values
    monkeypatch.setattr(engine, "BLOCK", 3)
    np.testing.assert_allclose(engine.fill_matrix(questions, settings, rng()).matrix.values, whole)


@WITHOUT_CHANCE
def test_with_many_heads_a_document_is_compared_with_its_own_and_a_sample(fill: Fill, settings: Settings) -> None:
    questions = ask(made_texts(60, 30), [(n,) for n in range(30)], [(n,) for n in range(30, 60)])
    full = fill(questions, settings, rng()).matrix
    sampled = fill(questions, settings.change({"compared": 10}), rng()).matrix
    assert full.full
    assert sampled.values.shape == (30, 10)
    np.testing.assert_array_equal(sampled.heads, sample_heads(questions, 10, rng()))
    np.testing.assert_allclose(sampled.values, np.take_along_axis(full.values, sampled.heads.astype(np.int64), axis=1))


@pytest.mark.parametrize(
    ("fill", "settings", "unit"),
    [
        (ngram.fill_matrix, NGRAM, "bits per character"),
        (vectors.fill_matrix, VECTORS, "cosine distance"),
        (linear.fill_matrix, LINEAR, "regression, 1 less what speaks for the head"),
        (frequencies.fill_matrix, CHARACTERS, "cosine distance of standardized frequencies"),
        (spaced(frequencies.fill_matrix), WORDS, "cosine distance of standardized frequencies"),
        (spaced(grammar.fill_matrix), GRAMMAR, "bits per token"),
    ],
)
def test_engines_without_chance_name_their_unit_and_have_neither_model_nor_curve(
    fill: Fill, settings: Settings, unit: str
) -> None:
    questions = ask(made_texts(4), [(0,), (1,)], [(2,), (3,)])
    filled = fill(questions, settings, rng(), Runtime(trace=True))
    assert (filled.matrix.unit, filled.model, filled.trace, filled.curve) == (unit, None, (), ())
    np.testing.assert_array_equal(
        fill(questions, settings, np.random.default_rng(9)).matrix.values, filled.matrix.values
    )


@WITHOUT_CHANCE
def test_an_engine_can_be_stopped(fill: Fill, settings: Settings) -> None:
    calls = []

    def stop() -> None:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill(ask(made_texts(4), [(0,), (1,)], [(2,), (3,)]), settings, rng(), Runtime(proceed=stop))
    assert len(calls) == 2


@WITHOUT_CHANCE
def test_random_texts_are_preferred_by_nobody(fill: Fill, settings: Settings) -> None:
    draw = random.Random(3)
    texts = ["".join(draw.choices("abc", k=150)) for _ in range(60)]
    values = fill(ask(texts, [(n,) for n in range(30)], [(n,) for n in range(30, 60)]), settings, rng()).matrix.values
    asked = np.eye(30, dtype=np.bool_)
    gap = values[asked].mean() - values[~asked].mean()
    assert abs(gap) < 3 * values.std() / math.sqrt(30)


@pytest.mark.parametrize("mask", ["none", "topic"])
@pytest.mark.parametrize(
    ("fill", "settings"),
    [
        (rnn.fill_matrix, Settings(hidden=4, sub_epochs=2)),
        (ngram.fill_matrix, NGRAM),
        (ngram.fill_matrix, NGRAM.change({"compared": 10, "direction": "backward"})),
        (vectors.fill_matrix, VECTORS),
        (vectors.fill_matrix, VECTORS.change({"compared": 10})),
        (linear.fill_matrix, LINEAR),
        (linear.fill_matrix, LINEAR.change({"compared": 10})),
        (frequencies.fill_matrix, WORDS),
        (frequencies.fill_matrix, WORDS.change({"compared": 10})),
        (frequencies.fill_matrix, CHARACTERS),
        (frequencies.fill_matrix, CHARACTERS.change({"compared": 10})),
        (frequencies.fill_matrix, Settings(engine="punctuation")),
        (grammar.fill_matrix, GRAMMAR),
        (grammar.fill_matrix, GRAMMAR.change({"compared": 10})),
    ],
)
def test_names_and_order_of_the_problems_change_no_matrix(fill: Fill, settings: Settings, mask: str) -> None:
    settings = settings.change({"mask": mask})
    problems = corpus(12 if settings.compared == 10 else 6)
    control = [Document(f"c{n}", phrase(n, 150, salt=30)) for n in range(3)]
    order = random.Random(2).sample(range(len(problems)), len(problems))
    renamed = [
        replace(
            problems[n], id=f"X{place}", known=problems[n].known[::-1], unknown=Document("x", problems[n].unknown.text)
        )
        for place, n in enumerate(order)
    ]
    plain, shuffled = (
        prepare_questions(each, settings, texts).sides
        for each, texts in ((problems, control), (renamed, control[::-1]))
    )
    assert len(plain) == len(shuffled) == 2
    for one, two in zip(plain, shuffled, strict=True):
        first, second = (fill(questions, settings, rng()).matrix for questions in (one, two))
        np.testing.assert_array_equal(first.values, second.values)
        np.testing.assert_array_equal(first.heads, second.heads)
        asked = {question.problem: (question.head, question.document) for question in one.questions}
        for question in two.questions:
            assert asked[order[question.problem]] == (question.head, question.document)

"""The engines beside the network: n-gram models and vectors, by hand, by their definitions, and whatever the order."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from byline import ngrams
from byline.alphabet import Alphabet, Symbols
from byline.documents import Document
from byline.engines import Filled, Watch, ngram, rnn, vectors
from byline.problems import Problem
from byline.questions import Question, Questions, prepare_questions
from byline.scoring import choose_heads
from byline.settings import Settings
from conftest import phrase

Fill = Callable[..., Filled]

NGRAM = Settings(engine="ngram", order=3)
VECTORS = Settings(engine="vectors", order=3)
WITHOUT_CHANCE = pytest.mark.parametrize(
    ("fill", "settings"), [(ngram.fill_matrix, NGRAM), (vectors.fill_matrix, VECTORS)]
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
    return Questions(
        Alphabet("abc"), spell(texts), tuple(heads), tuple(documents), asked, spell(control), reference=reference
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

        The head, which learnt the same text, has a twice and b once, two kinds: b is (1 + 2 x 0.45) / 5 = 0.38 and,
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
        np.testing.assert_array_equal(fast.seen, plain.seen)
        assert fast.seen.sum() == 2

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
            control=tuple(text[::-1] for text in questions.control),
        )
        backward = ngram.fill_matrix(questions, NGRAM.change({"direction": "backward"}), rng()).matrix
        np.testing.assert_allclose(backward.values, ngram.fill_matrix(turned, NGRAM, rng()).matrix.values)

    @pytest.mark.parametrize("threads", [2, 3, 16])
    def test_threads_give_the_same_matrix(self, threads: int) -> None:
        questions = ask(made_texts(12), [(n,) for n in range(6)], [(n,) for n in range(3, 12)])
        alone, together = (
            ngram.fill_matrix(questions, NGRAM, rng(), Watch(threads=count)).matrix for count in (1, threads)
        )
        np.testing.assert_array_equal(alone.values, together.values)

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
        np.testing.assert_array_equal(often.seen[0], [False, False, False, True, True, True])

    def test_what_all_heads_share_is_the_references_where_there_is_one(self) -> None:
        """The asked head's value does not depend on what another asked head learns."""
        texts = made_texts(8)
        sets = [(4,), (5,), (6,), (7,)]
        one, two = (
            ngram.fill_matrix(ask(texts, [(0,), other, *sets], [(2,), (3,), *sets], reference=4), NGRAM, rng()).matrix
            for other in ((1,), (3,))
        )
        np.testing.assert_array_equal(one.values[:, [0, 2, 3, 4, 5]], two.values[:, [0, 2, 3, 4, 5]])

    def test_who_learnt_a_texts_author_predicts_it_best(self) -> None:
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
        np.testing.assert_array_equal(matrix.seen, [[False, False, False], [False, True, True]])

    def test_rare_grams_are_those_that_the_reference_has_seldom_where_there_is_one(self) -> None:
        texts = ["aabcabca", "abcabbbb", "cabbac", "ccccab"]
        sets = [(2,), (3,)]
        matrix = vectors.fill_matrix(ask(texts, [(0,), *sets], [(1,), *sets], reference=2), VECTORS, rng()).matrix
        asked = self.distance(self.grams(texts[:1], 3), self.grams(texts[1:2], 3), self.weights(texts[2:], 3))
        assert matrix.values[0, 0] == pytest.approx(asked)

    def test_a_head_that_is_the_document_itself_is_at_no_distance(self) -> None:
        questions = ask(made_texts(5), [(0,), (1, 2), (3,)], [(0,), (1, 2), (4,)])
        matrix = vectors.fill_matrix(questions, VECTORS, rng()).matrix
        np.testing.assert_allclose(matrix.values.diagonal()[:2], 0, atol=1e-12)
        assert (matrix.values[~np.eye(3, dtype=np.bool_)] > 0.01).all()
        assert matrix.seen[[0, 1], [0, 1]].all()

    def test_texts_that_share_nothing_are_at_distance_one(self) -> None:
        matrix = vectors.fill_matrix(ask(["aaaaaa", "bbbbbb"], [(0,)], [(1,)]), VECTORS, rng()).matrix
        np.testing.assert_allclose(matrix.values, 1)

    def test_line_breaks_count_as_they_are(self) -> None:
        """By the scripts' rules texts keep them; here the first fifth of the document ends between two."""
        texts = ["ab\nab\nabbbaab\nab", "abab\n\n" + "ba" * 9 + "a"]
        symbols = tuple(np.array(["\nab".index(letter) for letter in text], np.int32) for text in texts)
        questions = Questions(Alphabet("\nab", "scripts"), symbols, ((0,),), ((1,),), (Question(0, 0, 0),))
        matrix = vectors.fill_matrix(questions, VECTORS.change({"text_rules": "scripts"}), rng()).matrix
        head, document = (self.grams([text], 3) for text in texts)
        np.testing.assert_allclose(matrix.values, [[self.distance(document, head, self.weights(texts, 3))]])

    def test_documents_beyond_a_block_are_compared_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        questions = ask(made_texts(9), [(0,), (1,)], [(n,) for n in range(2, 9)])
        whole = vectors.fill_matrix(questions, VECTORS, rng()).matrix.values
        monkeypatch.setattr(vectors, "BLOCK", 3)
        np.testing.assert_allclose(vectors.fill_matrix(questions, VECTORS, rng()).matrix.values, whole)


@WITHOUT_CHANCE
def test_with_many_heads_a_document_is_compared_with_its_own_and_a_sample(fill: Fill, settings: Settings) -> None:
    questions = ask(made_texts(60, 30), [(n,) for n in range(30)], [(n,) for n in range(30, 60)])
    full = fill(questions, settings, rng()).matrix
    sampled = fill(questions, settings.change({"compared": 10}), rng()).matrix
    assert full.full
    assert sampled.values.shape == (30, 10)
    np.testing.assert_array_equal(sampled.heads, choose_heads(questions, 10, rng()))
    np.testing.assert_allclose(sampled.values, np.take_along_axis(full.values, sampled.heads.astype(np.int64), axis=1))


@pytest.mark.parametrize(
    ("fill", "unit"), [(ngram.fill_matrix, "bits per character"), (vectors.fill_matrix, "cosine distance")]
)
def test_engines_without_chance_name_their_unit_and_have_neither_model_nor_curve(fill: Fill, unit: str) -> None:
    settings = {ngram.fill_matrix: NGRAM, vectors.fill_matrix: VECTORS}[fill]
    questions = ask(made_texts(4), [(0,), (1,)], [(2,), (3,)])
    filled = fill(questions, settings, rng(), Watch(trace=True))
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
        fill(ask(made_texts(4), [(0,), (1,)], [(2,), (3,)]), settings, rng(), Watch(proceed=stop))
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

"""The engines beside the network, n-grams, vectors, spread, linear: by hand, by their definitions, in any order."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import permutations, product
from types import ModuleType

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import Ridge

from byline.corpora.documents import Document
from byline.corpora.problems import Problem
from byline.engines import linear, spread
from byline.engines.matrix import PARTS, Matrix, Table, sample_heads
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
SPREAD = Settings(engine="spread", order=3)
LINEAR = Settings(engine="linear", order=3)
WITHOUT_CHANCE = pytest.mark.parametrize(
    ("fill", "settings"),
    [
        (ngram.fill_matrix, NGRAM),
        (vectors.fill_matrix, VECTORS),
        (spread.fill_matrix, SPREAD),
        (linear.fill_matrix, LINEAR),
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


class TestSpread:
    """`Profile` is what a text is to the definition: frequencies and variances by n-gram, and how long it is."""

    Profile = tuple[dict[str, float], dict[str, float], int]

    @staticmethod
    def grams(text: str, length: int, chunks: Iterable[int]) -> list[list[str]]:
        """The n-grams of a length that end in each of some chunks of a text."""
        ends = range(length - 1, len(text))
        return [
            [text[end - length + 1 : end + 1] for end in ends if end * spread.CHUNKS // len(text) == chunk]
            for chunk in chunks
        ]

    @staticmethod
    def features(shared: Iterable[str], order: int) -> list[str]:
        """The n-grams of the shared texts, those first that most of them have, among equals the shortest."""
        lengths = range(max(1, order - spread.SHORTER), order + 1)
        kinds = [{text[at : at + k] for k in lengths for at in range(len(text) - k + 1)} for text in shared]
        having = Counter(gram for grams in kinds for gram in grams)
        return sorted(having, key=lambda gram: (-having[gram], len(gram), gram))[: spread.FEATURES]

    @classmethod
    def profile(cls, text: str, features: Sequence[str], without: int | None = None) -> Profile:
        """Of a whole text, or without one of its parts; chunks without n-grams of a length are none."""
        chunks = [c for c in range(spread.CHUNKS) if c * PARTS // spread.CHUNKS != without]
        frequencies, variances = {}, {}
        for gram in features:
            pieces = [piece for piece in cls.grams(text, len(gram), chunks) if piece]
            p = sum(piece.count(gram) for piece in pieces) / sum(map(len, pieces))
            apart = [(piece.count(gram) / len(piece) - p) ** 2 for piece in pieces]
            frequencies[gram], variances[gram] = p, sum(apart) / (len(pieces) * (len(pieces) - 1))
        return frequencies, variances, sum(map(len, cls.grams(text, min(map(len, features)), chunks)))

    @staticmethod
    def together(profiles: Sequence[Profile], gram: str) -> float:
        """How frequent an n-gram is in several texts joined."""
        return sum(p[gram] * size for p, _, size in profiles) / sum(size for _, _, size in profiles)

    @classmethod
    def compare(
        cls, document: Sequence[Profile], head: Sequence[Profile], shared: Sequence[Profile]
    ) -> tuple[float, float]:
        """The value and the trust, summed up n-gram by n-gram and pair of texts by pair of texts."""
        weights = {
            gram: 1 / (cls.together([*document, *head], gram) + spread.RARE * cls.together(shared, gram) + 1e-6)
            for gram in shared[0][0]
        }

        def apart(pairs: Sequence[tuple[TestSpread.Profile, TestSpread.Profile]]) -> float:
            return sum(w * (one[0][gram] - two[0][gram]) ** 2 for gram, w in weights.items() for one, two in pairs) / (
                len(pairs)
            )

        def chance(texts: Sequence[TestSpread.Profile]) -> float:
            return sum(w * v[gram] for gram, w in weights.items() for _, v, _ in texts) / len(texts)

        noise = chance(document) + chance(head)
        own, counted = spread.USUAL_COUNTS * spread.USUAL_OWN, float(spread.USUAL_COUNTS)
        for texts in (document, head):
            if further := len(texts) - 1:
                own += further * (apart(list(permutations(texts, 2))) - 2 * chance(texts))
                counted += further
        own = max(own / counted, 0)
        ratio = apart(list(product(document, head))) / (noise + own)
        usual = spread.USUAL_OTHERS
        return math.log(max(ratio, spread.LEAST)), usual / (usual + noise + spread.DOUBT * own)

    def test_texts_that_never_vary_by_hand(self) -> None:
        """Only b and bb are shared. Each has the frequencies 0 and 1, in both texts together a half, usually 1.

        Nothing varies within a text, so that nothing is put down to chance, and an author's own texts are 0.12 apart.
        """
        questions = ask(["a" * 40, "b" * 40], [(1,)], [(0,)])
        matrix = spread.fill_matrix(questions, SPREAD.change({"order": 2}), rng()).matrix
        np.testing.assert_allclose(matrix.values, [[math.log(2 / (0.5 + 0.1) / 0.12)]], rtol=1e-5)
        np.testing.assert_allclose(matrix.trust, [[0.3 / (0.3 + 8 * 0.12)]], rtol=1e-5)

    def test_a_text_that_varies_by_hand(self) -> None:
        """Of 20 chunks of two characters the first ten have no b: it is half as frequent, and 0.5 off in every chunk.

        Of 39 pairs 19 are bb. Ten chunks have none, in the next it is one of two, in nine there is nothing else.
        """
        questions = ask(["a" * 20 + "b" * 20, "b" * 40], [(1,)], [(0,)])
        matrix = spread.fill_matrix(questions, SPREAD.change({"order": 2}), rng()).matrix
        letter, pair = 1 / 2, 19 / 39
        weights = [1 / ((p + 1) / 2 + 0.1) for p in (letter, pair)]
        apart = weights[0] * (1 - letter) ** 2 + weights[1] * (1 - pair) ** 2
        off = 20 * 0.5**2, 10 * pair**2 + (0.5 - pair) ** 2 + 9 * (1 - pair) ** 2
        noise = weights[0] * off[0] / (20 * 19) + weights[1] * off[1] / (20 * 19)
        np.testing.assert_allclose(matrix.values, [[math.log(apart / (noise + 0.12))]], rtol=1e-5)
        np.testing.assert_allclose(matrix.trust, [[0.3 / (0.3 + noise + 8 * 0.12)]], rtol=1e-5)

    @pytest.mark.parametrize("reference", [0, 2])
    @pytest.mark.parametrize("order", [2, 3, 5])
    def test_values_trust_and_parts_are_those_of_plain_python(self, order: int, reference: int) -> None:
        """Single texts and sets of several, beside a reference that has fewer n-grams than they and without one."""
        texts = [*made_texts(6, 90), "ab" * 30 + "aabb" * 9, "bbbaab" * 12]
        sets = [(6,), (7,)]
        heads, documents = [(0,), (1, 2), *sets], [(3, 4, 5), (4,), *sets]
        questions = ask(texts, heads, documents, reference=reference)
        matrix = spread.fill_matrix(questions, SPREAD.change({"order": order}), rng()).matrix
        shared = [texts[n] for n in ((6, 7) if reference else (0, 1, 2, 6, 7))]
        features = self.features(shared, order)
        usual = [self.profile(text, features) for text in shared]
        whole = [self.profile(text, features) for text in texts]
        wanted = np.array(
            [[self.compare([whole[n] for n in d], [whole[n] for n in h], usual) for h in heads] for d in documents]
        )
        assert matrix.trust is not None
        assert matrix.parts is not None
        np.testing.assert_allclose(matrix.values, wanted[..., 0], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(matrix.trust, wanted[..., 1], rtol=1e-4)
        assert len(np.unique(wanted[:2].round(6))) == wanted[:2].size
        for part, number in product(range(PARTS), range(2)):
            left = [self.profile(texts[n], features, part) for n in documents[number]]
            values = [self.compare(left, [whole[n] for n in head], usual)[0] for head in heads]
            np.testing.assert_allclose(matrix.parts[part, number], values, rtol=1e-4, atol=1e-5)
            assert (np.abs(matrix.parts[part, number] - matrix.values[number]) > 1e-4).all()

    def test_nothing_hangs_on_the_parts_of_a_document_that_is_not_asked_about(self) -> None:
        matrix = spread.fill_matrix(ask(made_texts(5), [(0,), (1,)], [(2,), (3,), (4,)]), SPREAD, rng()).matrix
        assert matrix.parts is not None
        np.testing.assert_allclose(matrix.parts[:, 2], np.tile(matrix.values[2], (PARTS, 1)), rtol=1e-6)
        assert (np.abs(matrix.parts[:, :2] - matrix.values[:2]) > 1e-6).any(axis=0).all()

    def test_of_many_n_grams_those_count_that_most_of_the_shared_texts_have(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """All three have b, c and bc, two have a and cb; of equals the shorter counts, or the first in the alphabet."""
        shared = ["abcbabcbacba" * 5, "cb" * 30, "b" * 30 + "c" * 30 + "a" * 30]
        monkeypatch.setattr(spread, "FEATURES", 4)
        chosen = ["b", "c", "bc", "a"]
        assert self.features(shared, 2) == chosen
        questions = ask([*shared, *made_texts(2)], [(n,) for n in range(3)], [(3,), (4,)])
        matrix = spread.fill_matrix(questions, SPREAD.change({"order": 2}), rng()).matrix
        usual = [self.profile(text, chosen) for text in shared]
        judged = self.profile(made_texts(2)[1], chosen)
        wanted = [self.compare([judged], [each], usual)[0] for each in usual]
        np.testing.assert_allclose(matrix.values[1], wanted, rtol=1e-4)

    def test_longer_texts_are_trusted_more_and_none_more_than_wholly(self) -> None:
        lengths = (12, 50, 200, 800, 3200)
        trusts = []
        for length in lengths:
            draw = random.Random(5)
            texts = ["".join(draw.choices("abc", k=length)) for _ in range(8)]
            questions = ask(texts, [(n,) for n in range(4)], [(n,) for n in range(4, 8)])
            trusts.append(trust_of(spread.fill_matrix(questions, SPREAD, rng()).matrix))
        assert (np.diff([each.mean() for each in trusts]) > 0).all()
        assert all(((each > 0) & (each <= 1)).all() for each in trusts)
        assert trusts[-1].max() < 0.3 / (0.3 + 8 * 0.12)  # that of texts without end

    def test_texts_by_one_author_are_nearer_than_those_by_two_whatever_other_texts_there_are(self) -> None:
        draw = random.Random(8)
        kinds = ((1, 1, 4), (1, 4, 1))
        texts = ["".join(draw.choices("abc", kinds[n % 2], k=1500)) for n in range(8)]
        heads, documents = [(n,) for n in range(4)], [(n,) for n in range(4, 8)]
        for others in (["abc" * 100], ["ab" * 200, "a" * 300]):
            far = [(8 + n,) for n in range(len(others))]
            questions = ask([*texts, *others], [*heads, *far], [*documents, *far], reference=len(others))
            values = spread.fill_matrix(questions, SPREAD, rng()).matrix.values[:4, :4]
            same = np.equal.outer(np.arange(4) % 2, np.arange(4) % 2)
            assert values[same].max() < 0 < values[~same].min()

    def test_a_copy_in_part_counts_no_more_than_the_least(self) -> None:
        texts = made_texts(5, 400)
        texts.append(texts[0][: len(texts[0]) - 3])
        matrix = spread.fill_matrix(ask(texts, [(0,), (1,), (2,)], [(5,), (3,), (4,)]), SPREAD, rng()).matrix
        assert matrix.values[0, 0] == pytest.approx(math.log(spread.LEAST))
        assert (matrix.values >= math.log(spread.LEAST)).all()
        assert (np.delete(matrix.values.ravel(), 0) > math.log(spread.LEAST)).all()

    @pytest.mark.parametrize("order", [2, 3, 12])
    def test_very_short_texts_and_such_that_share_nothing_still_have_numbers(self, order: int) -> None:
        """The reference has no letter of the second document: none of its n-grams count, as if it were empty."""
        texts = ["abcabcaabbcc", "cbacbacbacba", "aaaaaaaaaaaa", "bbbbbbbbbbbb", "bbbbbbabbbbb"]
        sets = [(3,), (4,)]
        for reference in (0, 2):
            questions = ask(texts, [(0,), (2,), *sets], [(1,), (2,), *sets], reference=reference)
            matrix = spread.fill_matrix(questions, SPREAD.change({"order": order}), rng()).matrix
            assert matrix.parts is not None
            for table in (matrix.values, trust_of(matrix), matrix.parts):
                assert np.isfinite(table).all()
            assert ((trust_of(matrix) > 0) & (trust_of(matrix) <= 1)).all()


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
@pytest.mark.parametrize(("fill", "settings"), [(ngram.fill_matrix, NGRAM), (spread.fill_matrix, SPREAD)])
def test_threads_give_the_same_matrix(fill: Fill, settings: Settings, leave_one_out: bool) -> None:
    questions = ask(made_texts(12), [(0, 1), (2, 3), (4,), (5,)], [(n,) for n in range(3, 12)])
    questions = replace(questions, leave_one_out=leave_one_out)
    alone, *others = (fill(questions, settings, rng(), Runtime(threads=count)).matrix for count in (1, 3, 16))
    for together in others:
        np.testing.assert_array_equal(alone.values, together.values)
        np.testing.assert_array_equal(alone.parts, together.parts)
        np.testing.assert_array_equal(alone.trust, together.trust)


@pytest.mark.parametrize(("engine", "settings"), [(vectors, VECTORS), (linear, LINEAR)])
def test_documents_beyond_a_block_are_scored_too(
    engine: ModuleType, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = ask(made_texts(9), [(0,), (1,)], [(n,) for n in range(2, 9)])
    whole = engine.fill_matrix(questions, settings, rng()).matrix.values
    monkeypatch.setattr(engine, "BLOCK", 3)
    np.testing.assert_allclose(engine.fill_matrix(questions, settings, rng()).matrix.values, whole)


def trust_of(matrix: Matrix) -> Table:
    assert matrix.trust is not None
    return matrix.trust


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
        (spread.fill_matrix, SPREAD, "log of distance over own spread"),
        (linear.fill_matrix, LINEAR, "regression, 1 less what speaks for the head"),
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
        (spread.fill_matrix, SPREAD),
        (spread.fill_matrix, SPREAD.change({"compared": 10})),
        (linear.fill_matrix, LINEAR),
        (linear.fill_matrix, LINEAR.change({"compared": 10})),
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

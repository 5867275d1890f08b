"""Cosine Delta of words, characters and punctuation: by hand, by its definition, and beside other texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from byline.engines import frequencies
from byline.engines.matrix import PARTS, Matrix
from byline.engines.protocol import Feature, Runtime
from byline.engines.questions import Questions
from byline.settings.settings import Settings
from byline.text.normalize import CAPITAL
from byline.text.tokens import split_punctuation, split_tokens
from token_questions import ask_words, made_up

WORDS = Settings(engine="words")
WORD_PAIRS, WORD_TRIPLES = (Settings(engine="words", word_order=order) for order in (2, 3))
CHARACTERS, CHARACTER_PAIRS = Settings(engine="characters"), Settings(engine="characters", order=2)
PUNCTUATION, PUNCTUATION_PAIRS = Settings(engine="punctuation"), Settings(engine="punctuation", order=2)
MOST = 25
"""Features, in tests that compare with the definition."""

each_engine = pytest.mark.parametrize("settings", [WORDS, CHARACTERS, PUNCTUATION], ids=lambda each: each.engine)
each_order = pytest.mark.parametrize(
    "settings",
    [
        *(WORDS, WORD_PAIRS, WORD_TRIPLES),
        *(Settings(engine="characters", order=order) for order in (2, 3, 4, 5)),
        *(Settings(engine="punctuation", order=order) for order in (2, 3, 5)),
    ],
    ids=lambda each: f"{each.engine} {each.word_order if each.engine == 'words' else each.order}",
)


def fill(questions: Questions, settings: Settings = WORDS) -> Matrix:
    return frequencies.fill_matrix(questions, settings, np.random.default_rng(0)).matrix


def name_features(questions: Questions, settings: Settings) -> tuple[tuple[Feature, ...], ...]:
    runtime = Runtime(evidence=True)
    return frequencies.fill_matrix(questions, settings, np.random.default_rng(0), runtime).features


def sentences(count: int) -> list[str]:
    """Texts whose sentences begin with a capital."""
    return [re.sub(r"(^|\. )(?=[a-z])", rf"\1{CAPITAL}", text) for text in made_up(count)]


@pytest.fixture
def few_features(monkeypatch: pytest.MonkeyPatch) -> None:
    for order in frequencies.FEATURES:
        monkeypatch.setitem(frequencies.FEATURES, order, MOST)
    monkeypatch.setattr(frequencies, "CHARACTER_FEATURES", MOST)
    monkeypatch.setattr(frequencies, "PUNCTUATION_FEATURES", MOST)


class Definition:
    """Burrows's z-scores, limited, and their cosine, set by set, in plain Python."""

    def __init__(
        self, texts: Sequence[str], background: Sequence[int], sets: Sequence[tuple[int, ...]], settings: Settings
    ) -> None:
        split: dict[str, Callable[[str], Sequence[str]]] = {
            "words": split_tokens,
            "characters": list,
            "punctuation": split_punctuation,
        }
        self.tokens = [split[settings.engine](text) for text in texts]
        self.separator = " " if settings.engine == "words" else ""
        self.shortest = 2 if settings.engine == "characters" else 1
        self.order = settings.word_order if settings.engine == "words" else settings.order
        counts = [self.count(text)[0] for text in background]
        having = Counter(gram for each in counts for gram in each)
        often = sum(counts, Counter[str]())
        self.features = sorted(having, key=lambda gram: (-having[gram], -often[gram], gram))[:MOST]
        rows = np.array([self.frequencies(each) for each in sets])
        chance = np.mean([1 / sum(len(self.tokens[text]) for text in each) for each in sets])
        self.mean = rows.mean(axis=0)
        self.deviation = np.maximum(rows.std(axis=0), frequencies.LEAST_DEVIATION * np.sqrt(self.mean * chance))

    def count(self, text: int, left_out: int = -1) -> tuple[Counter[str], int]:
        """Count the n-grams that do not end in the part that is left out, and the tokens."""
        tokens = self.tokens[text]
        gone = range(left_out * len(tokens) // PARTS, (left_out + 1) * len(tokens) // PARTS) if left_out >= 0 else ()
        ends = [end for end in range(len(tokens)) if end not in gone]
        grams = Counter(
            self.separator.join(tokens[end + 1 - length : end + 1])
            for end in ends
            for length in range(self.shortest, min(self.order, end + 1) + 1)
        )
        return grams, len(ends)

    def frequencies(self, texts: tuple[int, ...], left_out: int = -1) -> list[float]:
        counts, sizes = zip(*(self.count(text, left_out) for text in texts), strict=True)
        return [sum(each[gram] for each in counts) / sum(sizes) for gram in self.features]

    def standardize(self, texts: tuple[int, ...], left_out: int = -1) -> np.ndarray:
        return np.clip((np.array(self.frequencies(texts, left_out)) - self.mean) / self.deviation, -2, 2)

    def value(self, document: tuple[int, ...], head: tuple[int, ...], left_out: int = -1) -> float:
        one, two = self.standardize(document, left_out), self.standardize(head)
        return float(1 - one @ two / math.sqrt((one @ one) * (two @ two)))


def test_a_matrix_by_hand() -> None:
    """The heads have a in 3/4 and 1/4 of their words, b the other way round: mean 1/2, deviation 1/4 for both.

    So z is (1, -1) and (-1, 1). Of the document, all a, it is (2, -2): like the first, opposite to the second.
    """
    matrix = fill(ask_words(["a a a b", "b a b b", "a a"], [(0,), (1,)], [(2,)]))
    np.testing.assert_allclose(matrix.values, [[0, 2]], atol=1e-12)
    assert matrix.unit == frequencies.UNIT


@pytest.mark.parametrize("document", ["a a", "a a a b", "a a a a a b b b"])
def test_only_the_profile_of_deviations_counts_and_not_their_extent(document: str) -> None:
    """The property by which Evert and others (2017) explain why Cosine Delta does better than Burrows's Delta."""
    matrix = fill(ask_words(["a a a b", "b a b b", document], [(0,), (1,)], [(2,)]))
    np.testing.assert_allclose(matrix.values, [[0, 2]], atol=1e-12)


def test_a_feature_without_deviation_has_half_of_that_of_chance() -> None:
    """Half of both heads' two words are a, whose deviation by chance is sqrt(1/2 / 2) = 1/2. Those of b and c are 1/4.

    So z of the heads is (0, 1, -1) and (0, -1, 1), and that of the document (1, 0, -1).
    """
    matrix = fill(ask_words(["a b", "a c", "a a a b"], [(0,), (1,)], [(2,)]))
    np.testing.assert_allclose(matrix.values, [[1 - 1 / 2, 1 + 1 / 2]])


def test_no_feature_counts_for_more_than_two_deviations() -> None:
    """The deviation of a, b and c is 1/8; z of the heads is (1, -1, 0) and (-1, 1, 0).

    Of the document, all a, z would be (5, -3, -2).
    """
    matrix = fill(ask_words(["a a b c", "a b b c", "a a a a"], [(0,), (1,)], [(2,)]))
    np.testing.assert_allclose(matrix.values, [[1 - 4 / math.sqrt(2 * 12), 1 + 4 / math.sqrt(2 * 12)]])


def test_a_head_that_is_like_the_mean_says_nothing() -> None:
    matrix = fill(ask_words(["a b c", "c b a", "a a b"], [(0,), (1,)], [(2,)]))
    np.testing.assert_array_equal(matrix.values, [[1, 1]])


def test_a_matrix_of_pairs_of_words_by_hand() -> None:
    """The heads have the same words. The pairs a b and b a have a mean of 3/8 and a deviation of 1/8.

    So z of a, b, a b and b a is (0, 0, 1, -1) and (0, 0, -1, 1), and that of the document (0, 0, 1, 0).
    """
    questions = ask_words(["a b a b", "b a b a", "a b a b a b a b"], [(0,), (1,)], [(2,)])
    np.testing.assert_array_equal(fill(questions).values, [[1, 1]])
    np.testing.assert_allclose(fill(questions, WORD_PAIRS).values, [[1 - math.sqrt(1 / 2), 1 + math.sqrt(1 / 2)]])


def test_a_matrix_of_pairs_of_characters_by_hand() -> None:
    """Of the heads' five characters, three end aa, or bb, and one ends ab in both.

    So z of aa, ab and bb is (1, 0, -1) and (-1, 0, 1). The document is like the first: of its ten, six end aa, two ab.
    """
    matrix = fill(ask_words(["aaaab", "abbbb", "aaaabaaaab"], [(0,), (1,)], [(2,)]), CHARACTER_PAIRS)
    np.testing.assert_allclose(matrix.values, [[0, 2]], atol=1e-12)


@pytest.mark.parametrize("settings", [CHARACTER_PAIRS, CHARACTERS])
def test_single_characters_are_no_features(settings: Settings) -> None:
    """The document's character is the first head's, yet it lacks all that the heads differ in."""
    matrix = fill(ask_words(["aaab", "abbb", "a"], [(0,), (1,)], [(2,)]), settings)
    np.testing.assert_allclose(matrix.values, [[1, 1]], atol=1e-12)


def test_a_matrix_of_punctuation_by_hand() -> None:
    """A point after each word, or a comma: of the point, of what it follows and of what follows it z is 1 or -1.

    Those of the comma are the opposite. Half of both heads' symbols are words: z is 0, in the document too.
    """
    matrix = fill(ask_words(["a.a.", "a,a,", "of.the."], [(0,), (1,)], [(2,)]), PUNCTUATION_PAIRS)
    np.testing.assert_allclose(matrix.values, [[0, 2]], atol=1e-12)


def test_a_capitalized_word_is_another_symbol_than_a_word() -> None:
    """As above, but the document has neither words nor features of a word and a mark.

    Its z is -2 for words, limited, 1 for the point alone, and -1 for the other five: the cosine is (1 - 2 + 3) over
    the lengths.
    """
    document = f"{CAPITAL}of.{CAPITAL}the."
    matrix = fill(ask_words(["a.a.", "a,a,", document], [(0,), (1,)], [(2,)]), PUNCTUATION_PAIRS)
    np.testing.assert_allclose(matrix.values, [[1 - 2 / math.sqrt(6 * 10), 1 + 2 / math.sqrt(6 * 10)]])


def test_punctuation_does_not_depend_on_which_words_and_numbers_there_are() -> None:
    texts = ["a, b. 7 c", "a b, c; d.", "the, of. 77 and"]
    other = ["of, and. 777 to", "the of, a; and.", "a, b. 7 c"]
    one, two = (fill(ask_words(each, [(0,), (1,)], [(2,)]), PUNCTUATION) for each in (texts, other))
    np.testing.assert_array_equal(one.values, two.values)


@each_order
@pytest.mark.usefixtures("few_features")
def test_values_are_those_of_the_definition(settings: Settings) -> None:
    texts, heads, documents = sentences(9), [(0,), (1, 2), (3,), (4, 5)], [(6,), (7, 8), (1,)]
    definition = Definition(texts, range(6), [*heads, (1,)], settings)
    matrix = fill(ask_words(texts, heads, documents), settings)
    wanted = [[definition.value(document, head) for head in heads] for document in documents]
    np.testing.assert_allclose(matrix.values, wanted, rtol=1e-9)
    np.testing.assert_array_equal(matrix.excluded, [[False] * 4, [False] * 4, [False, True, False, False]])


@each_engine
@pytest.mark.usefixtures("few_features")
def test_only_the_reference_says_which_features_count_and_how_they_deviate(settings: Settings) -> None:
    texts = sentences(8)
    heads, documents = [(0,), (3,), (4,), (5, 6)], [(1, 2), (3,), (4,), (7,)]
    definition = Definition(texts, [3, 4, 5, 6, 7], [(3,), (4,), (5, 6), (7,)], settings)
    matrix = fill(ask_words(texts, heads, documents, reference=3), settings)
    assert matrix.values[0] == pytest.approx([definition.value((1, 2), head) for head in heads])


@each_order
def test_beside_a_reference_a_value_does_not_depend_on_what_else_is_asked(settings: Settings) -> None:
    texts, reference = sentences(12), [(n,) for n in range(6)]
    alone = fill(ask_words(texts[:8], [(6,), *reference], [(7,), *reference], reference=6), settings)
    heads, documents = [(10, 11), (6,), (1, 2), *reference], [(3,), (7,), (8, 9), *reference]
    beside = fill(ask_words(texts, heads, documents, reference=6), settings)
    columns = [1, *range(3, 9)]
    np.testing.assert_array_equal(beside.values[1, columns], alone.values[0])
    np.testing.assert_array_equal(beside.values[3:, columns], alone.values[1:])
    assert beside.parts is not None
    assert alone.parts is not None
    np.testing.assert_array_equal(beside.parts[:, 1, columns], alone.parts[:, 0])


@each_engine
def test_order_of_texts_changes_nothing(settings: Settings) -> None:
    texts = sentences(8)
    order = [5, 2, 7, 0, 4, 1, 6, 3]
    place = {text: number for number, text in enumerate(order)}
    sets = [(0,), (1, 2), (3,)], [(4,), (5, 6), (7,)]
    moved = ([tuple(sorted(place[text] for text in each)) for each in row] for row in sets)
    one, two = fill(ask_words(texts, *sets), settings), fill(ask_words([texts[n] for n in order], *moved), settings)
    np.testing.assert_allclose(two.values, one.values, rtol=1e-12)


@each_order
@pytest.mark.usefixtures("few_features")
def test_parts_are_the_values_without_what_ends_in_a_fifth_of_each_text(settings: Settings) -> None:
    texts, heads, document = sentences(5), [(0,), (1,), (2,)], (3, 4)
    definition = Definition(texts, range(3), heads, settings)
    matrix = fill(ask_words(texts, heads, [document]), settings)
    assert matrix.parts is not None
    wanted = [[definition.value(document, head, part) for head in heads] for part in range(PARTS)]
    np.testing.assert_allclose(matrix.parts[:, 0], wanted, rtol=1e-6)


@each_engine
def test_parts_of_documents_that_no_question_asks_about_are_their_values(settings: Settings) -> None:
    matrix = fill(ask_words(sentences(5), [(0,), (1,)], [(2,), (3,), (4,)]), settings)
    assert matrix.parts is not None
    np.testing.assert_allclose(matrix.parts[:, 2], np.tile(matrix.values[2], (PARTS, 1)), rtol=1e-6)
    for document in (0, 1):
        assert (np.ptp(matrix.parts[:, document], axis=0) > 1e-6).all()


@each_engine
def test_nothing_is_left_out_of_a_text_of_one_token(settings: Settings) -> None:
    matrix = fill(ask_words(["a, a b", "b. b a", "b"], [(0,), (1,)], [(2,)]), settings)
    assert matrix.parts is not None
    np.testing.assert_allclose(matrix.parts[:, 0], np.tile(matrix.values[0], (PARTS, 1)), rtol=1e-6)


@pytest.mark.parametrize("settings", [WORDS, WORD_TRIPLES, CHARACTERS, PUNCTUATION])
@pytest.mark.parametrize(
    "odd", ["a", "of", "aaa", "寒山道", "ไทย", "...", ".,. .", "777", "***", " ", "", CAPITAL, "e\u0301", "\u0301"]
)
def test_odd_texts_have_values_too(odd: str, settings: Settings) -> None:
    for texts in ([odd, *sentences(4)], [odd] * 5):
        for heads, documents in (([(0,), (1,)], [(2,), (3,)]), ([(1,), (2,)], [(0,), (3, 4)])):
            matrix = fill(ask_words(texts, heads, documents), settings)
            assert matrix.parts is not None
            for values in (matrix.values, matrix.parts):
                assert ((values >= -1e-9) & (values <= 2 + 1e-9)).all()


def test_each_character_of_a_script_without_spaces_is_a_word() -> None:
    matrix = fill(ask_words(["寒寒寒山", "山寒山山", "寒寒"], [(0,), (1,)], [(2,)]))
    np.testing.assert_allclose(matrix.values, [[0, 2]], atol=1e-12)


def test_features_of_the_document_that_speak_for_the_head_are_named() -> None:
    texts = ["of of of the", "the the a a", "a of the a", "of of the it"]
    named = dict(name_features(ask_words(texts, [(0,), (1,), (2,)], [(3,)]), WORDS)[0])
    assert named.keys() == {"of", "the"}  # no head has it, and the document no a
    assert named["of"] > 0
    assert max(named, key=lambda name: named[name]) == "of"


@pytest.mark.parametrize(
    ("settings", "document", "names"),
    [
        (WORD_PAIRS, "of it, of", {"of", "it", ",", "of it", "it ,", ", of"}),
        (PUNCTUATION_PAIRS, f"of, {CAPITAL}it 7", {"x", ",", " ", "X", "7", "x,", ", ", " X", "X ", " 7"}),
    ],
    ids=["words", "punctuation"],
)
def test_features_are_named_as_they_are_written(settings: Settings, document: str, names: set[str]) -> None:
    """The other heads are empty: all that the document has speaks for the first."""
    (features,) = name_features(ask_words([document, "", "", document], [(0,), (1,), (2,)], [(3,)]), settings)
    assert {feature.name for feature in features} == names
    assert all(feature.weight > 0 for feature in features)


@pytest.mark.parametrize("settings", [WORDS, PUNCTUATION_PAIRS], ids=["words", "punctuation"])
def test_weights_add_up_to_how_much_closer_the_head_is_than_the_mean(settings: Settings) -> None:
    """The document has all features, and no more than are named."""
    texts = ["ab, b", "b, ab", "ab, b, b", "ab, b, b, ab"]
    questions = ask_words(texts, [(0,), (1,), (2,)], [(3,)])
    (features,) = name_features(questions, settings)
    (values,) = fill(questions, settings).values
    assert sum(feature.weight for feature in features) == pytest.approx(values.mean() - values[0])
    assert values[0] != pytest.approx(1)


def character_gains(questions: Questions) -> tuple[np.ndarray, ...]:
    runtime = Runtime(evidence=True)
    return frequencies.fill_matrix(questions, CHARACTER_PAIRS, np.random.default_rng(0), runtime).gains


def test_gains_of_characters_add_up_to_the_double_centered_score_in_deviations() -> None:
    """The first document has all features, so that each of them has a place."""
    texts = ["abab", "bbaa", "aabb", "abbab aab", "aaab", "babb"]
    questions = ask_words(["abbabaab", *texts[1:3], "abbabaab", *texts[4:]], [(0,), (1,), (2,)], [(3,), (4,), (5,)])
    gains = character_gains(questions)
    likeness = 1 - fill(questions, CHARACTER_PAIRS).values
    others = likeness[1:, 0]  # the first document is the first head's own text
    centered = likeness[0, 0] - likeness[0].mean() - others.mean() + likeness[1:].mean()
    assert len(gains[0]) == len("abbabaab")
    assert gains[0].sum() != 0
    assert np.sign(gains[0].sum()) == np.sign(centered)


def test_a_character_gains_what_the_pair_that_ends_there_weighs() -> None:
    """Only ab and ba are features. The first head has ab only, the second ba only, like the documents beside them."""
    gains = character_gains(ask_words(["ab", "ba", "ab", "ba"], [(0,), (1,)], [(2,), (3,)]))
    assert [list(np.sign(each)) for each in gains] == [[0, 1], [0, 1]]


def test_nothing_is_gained_if_there_is_nobody_to_compare_with() -> None:
    questions = ask_words(made_up(4), [(0,), (1,), (2,)], [(3,)])
    everybody_excluded = replace(questions, excluded_pairs=frozenset((0, head) for head in range(3)))
    (gains,) = character_gains(everybody_excluded)
    assert not gains.any()


def test_no_features_are_named_if_there_is_nobody_to_compare_with() -> None:
    questions = ask_words(made_up(4), [(0,), (1,), (2,)], [(3,)])
    everybody_excluded = replace(questions, excluded_pairs=frozenset((0, head) for head in range(3)))
    assert name_features(everybody_excluded, WORDS) == ((),)

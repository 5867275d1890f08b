"""Evidence in a text, and whether it leads a reader to sentences by another author."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from byline.corpora.problems import Problem, ProblemSet, builtin_problems, read_problems
from byline.judgment import passage_evidence as evidence
from byline.judgment.passage_evidence import (
    Guesser,
    WeighedSpan,
    choose_strongest,
    color_scale,
    find_passages,
    smooth_curve,
    strongest_characters,
    weigh_words,
)
from byline.runs.folder import RunOutput
from byline.runs.run import Run, stack_gains
from byline.settings.settings import Settings
from byline.tasks.verify import verify

TEXT = "One two,  three\nfour five. "


def made(text: str, members: int = 3, seed: int = 0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(members, len(text)))


class TestWords:
    @given(st.text(st.sampled_from("ab, .\n\u00e9"), max_size=80))
    def test_they_add_up_to_the_text(self, text: str) -> None:
        gains = made(text)
        words = weigh_words(text, gains)
        if words:
            assert sum(word.bits for word in words) == pytest.approx(gains.mean(axis=0).sum(), abs=1e-9)
        assert [text[word.begin : word.end] for word in words] == text.split()

    def test_agreement_is_the_share_of_members_on_the_same_side(self) -> None:
        gains = np.zeros((4, len(TEXT)))
        gains[:, 0] = [3, 1, 1, -1]
        gains[:, 4] = [-4, 1, 1, 1]
        first, second, *_ = weigh_words(TEXT, gains)
        assert (first.bits, first.agreement) == (1, 0.75)
        assert (second.bits, second.agreement) == (-0.25, 0.25)

    def test_the_turning_point_is_the_character_that_says_most(self) -> None:
        gains = np.zeros((1, len(TEXT)))
        gains[0, 5], gains[0, 6] = 1, -2
        assert strongest_characters(gains, weigh_words(TEXT, gains))[1] == 6

    def test_full_color_is_for_few(self) -> None:
        words = [WeighedSpan(0, 1, bits, 1) for bits in range(-50, 51)]
        assert 45 < color_scale(words) < 50
        assert color_scale([]) == 1


class TestPassages:
    def test_the_strongest_either_way_and_none_overlaps(self) -> None:
        text = "word " * 400
        gains = np.full((2, len(text)), 0.001)
        gains[:, 500:600] = 1
        gains[:, 1200:1250] = -1
        found = find_passages(text, gains)
        assert found[0].begin <= 500 + evidence.PASSAGE
        assert found[0].bits > 95
        against = [each for each in found if each.bits < 0]
        assert len(against) == 1
        assert against[0].begin < 1250
        assert against[0].end > 1200
        spans = sorted((each.begin, each.end) for each in found)
        assert all(one[1] <= other[0] for one, other in pairwise(spans))
        assert all(each.end - each.begin <= evidence.PASSAGE for each in found)

    def test_the_first_of_many_are_the_same_as_few(self) -> None:
        text = "some words " * 300
        gains = made(text, members=5)
        many = find_passages(text, gains, 50)
        for most in (1, 3, 5):
            few = find_passages(text, gains, most)
            for side in (1, -1):
                own = [[each for each in found if side * each.bits > 0] for found in (few, many)]
                assert own[0] == own[1][:most]
                assert [abs(each.bits) for each in own[1]] == sorted((abs(each.bits) for each in own[1]), reverse=True)

    def test_what_only_half_of_the_members_say_does_not_stand_out(self) -> None:
        text = "word " * 30
        gains = np.zeros((2, len(text)))
        gains[:, 10] = 3, -9
        assert find_passages(text, gains) == ()
        gains[:, 10] = -3, -9
        (found,) = find_passages(text, gains)
        assert (found.bits, found.agreement) == (-6, 1)

    def test_the_strongest_of_several_texts_come_first_on_either_side(self) -> None:
        passages = [WeighedSpan(0, 9, bits, 1) for bits in (-1.0, 4.0, -7.0, 2.0, -3.0)]
        assert [each.bits for each in choose_strongest(passages, 2)] == [4, 2, -7, -3]

    def test_a_text_without_words_has_none(self) -> None:
        assert find_passages("  \n", np.ones((1, 3))) == ()
        assert weigh_words("", np.ones((1, 0))) == ()

    def test_one_word_longer_than_a_passage(self) -> None:
        found = find_passages("x" * 500, np.ones((1, 500)))
        assert all(each.end - each.begin <= evidence.PASSAGE for each in found)
        assert sum(each.bits for each in found) >= 300

    def test_scripts_that_do_not_part_words_are_looked_at_character_by_character(self) -> None:
        text = "\u4e2d\u6587" * 300
        gains = np.zeros((1, 600))
        gains[0, 200:220] = 1
        (best, *_) = find_passages(text, gains)
        assert best.begin <= 200 < 220 <= best.end
        assert len(weigh_words(text, gains)) == 600


class TestCurve:
    def test_it_is_level_where_all_characters_say_the_same(self) -> None:
        assert [value for _, value in smooth_curve(np.full((2, 3000), 0.25))] == pytest.approx([0.25] * evidence.POINTS)

    def test_it_turns_where_the_text_does(self) -> None:
        gains = np.ones((1, 4000))
        gains[0, 2000:] = -1
        curve = smooth_curve(gains)
        assert len(curve) == evidence.POINTS
        crossing = next(place for place, value in curve if value < 0)
        assert abs(crossing - 2000) < 30

    def test_very_short_texts(self) -> None:
        assert smooth_curve(np.ones((1, 0))) == ()
        assert smooth_curve(np.ones((1, 1))) == ((0, pytest.approx(1.0)),)


class TestGuesser:
    def test_it_goes_on_as_the_texts_do(self) -> None:
        guesser = Guesser(["the cat, the cat, the cow"])
        (first, chance), *_ = guesser.guess("the c")
        assert first == "a"
        assert 0.5 < chance < 1
        assert [character for character, _ in guesser.guess("the c")][:2] == ["a", "o"]

    def test_chances_are_witten_and_bells(self) -> None:
        """After a: twice b of 2, one kind; at large: 2 a, 2 b of 4, two kinds; two symbols."""
        guesser = Guesser(["ab", "ab"], order=1)
        empty = (2 + 2 * 0.5) / (4 + 2)
        assert dict(guesser.guess("a"))["b"] == pytest.approx((2 + 1 * empty) / (2 + 1))

    def test_chances_of_all_signs_add_up_to_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(evidence, "GUESSES", 10**9)
        guesser = Guesser(["the cat, the cat, the cow"])
        for before in ("", "c", "the ", "zz"):
            found = dict(guesser.guess(before))
            assert 0 < sum(found.values()) <= 1 + 1e-9
        assert sum(dict(guesser.guess("")).values()) == pytest.approx(1)

    def test_what_was_never_seen_is_guessed_from_what_was(self) -> None:
        assert Guesser([]).guess("x") == ()
        assert Guesser(["aab"]).guess("zzzzz")[0][0] == "a"


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Problem, int, int]:
    """The built-in problems, in one of which sentences by another invented author are planted in the unknown text."""
    with builtin_problems("english") as folder:
        problems = {problem.id: problem for problem in read_problems(folder).problems}
    host, strange = problems["EN005"], problems["EN010"].unknown.text
    text = host.unknown.text
    seam = text.index(". ", len(text) // 2) + 2
    begin = strange.index(". ") + 2
    sentences = strange[begin : strange.index(". ", begin + 500) + 2]
    changed = replace(host.unknown, text=text[:seam] + sentences + text[seam:])
    problems["EN005"] = replace(host, unknown=changed)
    folder = tmp_path_factory.mktemp("planted")
    verify(ProblemSet(tuple(problems.values()), "folders"), Settings(engine="ngram"), output=RunOutput(folder / "run"))
    return folder, problems["EN005"], seam, seam + len(sentences)


def test_a_reader_finds_the_planted_sentences(planted: tuple[Path, Problem, int, int]) -> None:
    folder, problem, begin, end = planted
    run = Run.open(folder)
    place = run.plan.groups[0].ids.index("EN005")
    gains = stack_gains(run.evidence[0, place], 0, len(problem.unknown.text))
    assert gains is not None
    lowest, _ = min(smooth_curve(gains), key=lambda point: point[1])
    assert begin < lowest < end
    against = [each for each in find_passages(problem.unknown.text, gains) if each.bits < 0]
    strongest = min(against, key=lambda each: each.bits)
    assert begin - 20 <= strongest.begin < strongest.end <= end + 20
    inside = gains[:, begin:end].mean()
    outside = np.concatenate([gains[:, :begin], gains[:, end:]], axis=1).mean()
    assert inside < outside - 0.2

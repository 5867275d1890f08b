"""Cases with known truth: who is asked about, in what lengths, and who is in the reference."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byline.corpora.documents import Document
from byline.corpora.labeled_corpus import LabeledCorpus, read_labeled_corpora
from byline.corpora.reference import ReferenceText
from byline.errors import CorpusError, SettingsError, TooLittleText
from byline.judgment.simulated_cases import CaseOptions, SimulatedCases, cut_window, draw_cases
from byline.text.shared_passages import find_related, plain_form
from samples import LEXICON

TOPICS = [[word for word in LEXICON[300 + 40 * n : 340 + 40 * n] if len(word) > 4] for n in range(40)]
QUICK = CaseOptions(shortest=50, longest=400, reference_authors=10)


def prose(author: int, text: int, length: int) -> str:
    """Words of all authors, and words of a topic that authors 2n and 2n + 1 share."""
    dice = random.Random(f"{author} {text}")
    words = dice.choices(LEXICON[:300], k=length) + dice.choices(TOPICS[author // 2], k=length // 4)
    dice.shuffle(words)
    return " ".join(words)[:length].rpartition(" ")[0]


def make_people(count: int = 24, texts: int = 3, length: int = 600, first: int = 0) -> LabeledCorpus:
    made = (
        ReferenceText(Document(f"{author:02d}/{text}.txt", prose(author, text, length)), f"author {author:02d}")
        for author in range(first, first + count)
        for text in range(texts)
    )
    return LabeledCorpus("english", tuple(made), name="people")


PEOPLE = make_people()


def draw(corpus: LabeledCorpus = PEOPLE, options: CaseOptions = QUICK, seed: int = 1) -> SimulatedCases:
    return draw_cases(corpus, np.random.default_rng(seed), options)


def source(document: Document) -> str:
    """The name of the text that a document was cut from."""
    return document.name.partition(" (")[0]


def check_promises(corpus: LabeledCorpus, drawn: SimulatedCases, options: CaseOptions) -> None:
    """Check all that holds for any draw."""
    texts = {text.document.name: text for text in corpus.texts}
    assert [case.id for case in drawn.cases] == [problem.id for problem in drawn.problems.problems]
    assert len(set(drawn.truth)) == len(drawn.cases)
    known, unknown = set(), set()
    for case, problem in zip(drawn.cases, drawn.problems.problems, strict=True):
        assert problem.language == corpus.language
        assert (case.known_author == case.unknown_author) == case.same
        assert case.same or not corpus.may_be_same(case.known_author, case.unknown_author)
        assert {texts[source(document)].author for document in problem.known} == {case.known_author}
        assert texts[source(problem.unknown)].author == case.unknown_author
        assert case.known_lengths == tuple(len(document.text) for document in problem.known)
        assert case.unknown_length == len(problem.unknown.text)
        assert options.fewest_known <= len(problem.known) <= options.most_known
        for document in (*problem.known, problem.unknown):
            assert document.text in texts[source(document)].document.text
            assert document.text.strip()
            assert len(document.text) <= options.longest
        if case.same:
            sources = [source(document) for document in (*problem.known, problem.unknown)]
            assert len(set(sources)) == len(sources) - case.halves
        if not options.halves:
            known.update(source(document) for document in problem.known)
            unknown.add(source(problem.unknown))
    assert known.isdisjoint(unknown)
    asked = {author for case in drawn.cases for author in case.authors}
    people = list(drawn.reference.by_author)
    assert not any(corpus.may_be_same(author, other) for author in asked for other in people)
    assert drawn.reference.count_distinct(people) == len(people)
    assert options.reference_authors in (None, len(people))
    inside = {
        plain_form(texts[source(document)].document.text, corpus.language)
        for problem in drawn.problems.problems
        for document in (*problem.known, problem.unknown)
    }
    outside = [
        plain_form(texts[source(text.document)].document.text, corpus.language) for text in drawn.reference.texts
    ]
    assert not any(find_related(sorted(inside), outside))


class TestDraws:
    @given(
        seed=st.integers(0, 10_000),
        options=st.builds(
            CaseOptions,
            shortest=st.just(50),
            longest=st.integers(50, 800),
            most_known=st.integers(1, 5),
            unmatched=st.integers(0, 4),
            matched=st.integers(0, 3),
            halves=st.booleans(),
            asked_authors=st.none() | st.integers(2, 8),
            reference_authors=st.sampled_from([None, 10, 14]),
            reference_length=st.none() | st.integers(50, 300),
        ),
        pairs=st.sets(
            st.tuples(st.integers(0, 23), st.integers(0, 23)).filter(lambda pair: pair[0] < pair[1]), max_size=4
        ),
    )
    def test_every_draw_keeps_its_promises(self, seed: int, options: CaseOptions, pairs: set[tuple[int, int]]) -> None:
        unclear = frozenset(frozenset(f"author {number:02d}" for number in pair) for pair in pairs)
        corpus = replace(PEOPLE, unclear_pairs=unclear)
        check_promises(corpus, draw(corpus, options, seed), options)

    def test_each_author_is_asked_about_once_for_the_same_and_as_often_as_told_for_different(self) -> None:
        drawn = draw(options=replace(QUICK, unmatched=3, matched=2))
        same = [case.unknown_author for case in drawn.cases if case.same]
        assert len(same) == len(set(same)) == 14
        for author in same:
            others = [case for case in drawn.cases if case.unknown_author == author and not case.same]
            assert [case.matched for case in others].count(True) == 2
            assert [case.matched for case in others].count(False) == 3
            assert len({case.known_author for case in others}) == 5

    def test_known_texts_by_others_come_from_each_author_equally_often(self) -> None:
        """Neither truth is told by whose texts are known."""
        cases = draw(options=replace(QUICK, unmatched=2, matched=0)).cases
        counts = [
            sum(case.known_author == author and not case.same for case in cases)
            for author in {case.known_author for case in cases}
        ]
        assert counts == [2] * 14

    def test_matched_cases_have_the_nearest_topic(self) -> None:
        options = CaseOptions(shortest=50, unmatched=0, matched=1, reference_authors=10, reference_length=200)
        nearest = 0
        for seed in range(5):
            drawn = draw(make_people(40, length=1500), options, seed)
            asked = {case.known_author for case in drawn.cases if case.same}
            for case in drawn.cases:
                number = int(case.unknown_author.split()[1])
                twin = f"author {number ^ 1:02d}"
                if case.matched and twin in asked:
                    assert case.known_author == twin
                    nearest += 1
        assert nearest > 50

    def test_an_author_with_texts_that_all_share_a_passage_is_not_asked_about(self) -> None:
        heading = prose(77, 7, 200)
        texts = tuple(
            replace(text, document=replace(text.document, text=heading + text.document.text))
            if text.author == "author 05"
            else text
            for text in PEOPLE.texts
        )
        corpus = replace(PEOPLE, texts=texts)
        for seed in range(5):
            assert all("author 05" not in case.authors for case in draw(corpus, seed=seed).cases)

    def test_the_result_depends_on_seed_and_options_and_not_on_order(self) -> None:
        shuffled = list(PEOPLE.texts)
        random.Random(5).shuffle(shuffled)
        first = draw()
        assert draw(replace(PEOPLE, texts=tuple(shuffled))) == first
        assert draw(seed=2) != first
        assert draw(options=replace(QUICK, unmatched=1)) != first


class TestLengths:
    def test_lengths_vary_within_what_the_texts_allow(self) -> None:
        corpus = make_people(24, 2, 5000)
        lengths = [
            case.unknown_length for seed in range(5) for case in draw(corpus, replace(QUICK, longest=9000), seed).cases
        ]
        assert min(lengths) < 100
        assert max(lengths) > 2500
        assert max(lengths) <= 5000
        assert 200 < np.median(lengths) < 1500  # log-uniform: half are below the geometric mean of 50 and 5,000

    def test_fixed_lengths_and_counts_are_kept(self) -> None:
        options = CaseOptions(
            known_length=300,
            unknown_length=260,
            fewest_known=2,
            most_known=2,
            reference_authors=10,
            reference_length=280,
        )
        longest_word = max(len(word) for text in PEOPLE.texts for word in text.document.text.split())
        drawn = draw(options=options)
        for case in drawn.cases:
            assert len(case.known_lengths) == 2
            assert all(300 - 2 * longest_word <= length <= 300 for length in case.known_lengths)
            assert 260 - 2 * longest_word <= case.unknown_length <= 260
        assert all(280 - 2 * longest_word <= length <= 280 for length in drawn.reference.lengths)

    def test_a_text_that_is_shorter_than_asked_is_used_whole(self) -> None:
        drawn = draw(options=replace(QUICK, known_length=10_000, unknown_length=10_000))
        whole = {text.document for text in PEOPLE.texts}
        assert all({*problem.known, problem.unknown} <= whole for problem in drawn.problems.problems)

    def test_texts_that_are_too_short_are_in_no_case(self) -> None:
        short = make_people(12, 3, 200, first=24)
        corpus = replace(PEOPLE, texts=(*PEOPLE.texts, *short.texts))
        for case in draw(corpus, replace(QUICK, shortest=250)).cases:
            assert all(int(author.split()[1]) < 24 for author in case.authors)

    @given(
        words=st.lists(st.text("abcdefg'é", min_size=1, max_size=9), min_size=30, max_size=60),
        length=st.integers(20, 80),
        seed=st.integers(0, 100),
    )
    def test_windows_consist_of_whole_words(self, words: list[str], length: int, seed: int) -> None:
        document = Document("text", " ".join(words))
        cut = cut_window(document, length, np.random.default_rng(seed)).text
        assert len(cut) <= length
        assert f" {cut.strip()} " in f" {document.text} "

    def test_scripts_without_spaces_are_cut_between_characters(self) -> None:
        text = "".join(chr(0x4E00 + number) for number in range(500))
        assert len(cut_window(Document("poem", text), 100, np.random.default_rng(1)).text) == 100

    def test_a_letter_keeps_its_marks(self) -> None:
        text = "ก็" * 100  # a Thai letter with a mark above it
        for seed in range(10):
            cut = cut_window(Document("thai", text), 51, np.random.default_rng(seed)).text
            assert cut == "ก็" * (len(cut) // 2)

    def test_one_long_word_is_cut_all_the_same(self) -> None:
        assert len(cut_window(Document("word", "x" * 1000), 100, np.random.default_rng(1)).text) == 100


class TestHalves:
    def test_an_author_with_one_text_is_asked_about_with_its_halves_if_allowed(self) -> None:
        corpus = make_people(24, 1)
        with pytest.raises(TooLittleText, match="0 authors with enough texts"):
            draw(corpus)
        drawn = draw(corpus, replace(QUICK, halves=True, longest=10_000, known_length=10_000, unknown_length=10_000))
        texts = {text.author: text.document.text for text in corpus.texts}
        for case, problem in zip(drawn.cases, drawn.problems.problems, strict=True):
            assert case.halves == case.same
            if case.same:
                sides = (problem.known[0].text, problem.unknown.text)
                assert texts[case.known_author] in (sides[0] + sides[1], sides[1] + sides[0])
                assert all(240 < len(side) < 360 for side in sides)

    def test_an_author_with_several_texts_is_never_halved(self) -> None:
        assert not any(case.halves for case in draw(options=replace(QUICK, halves=True)).cases)


class TestReference:
    def test_by_default_it_has_half_of_the_authors(self) -> None:
        assert len(draw(options=replace(QUICK, reference_authors=None)).reference.by_author) == 12

    def test_it_may_be_left_out(self) -> None:
        drawn = draw(options=replace(QUICK, reference_authors=0))
        assert not drawn.reference.texts
        assert sum(case.same for case in drawn.cases) == 24

    def test_few_asked_authors_leave_the_others_to_it(self) -> None:
        drawn = draw(options=replace(QUICK, reference_authors=None, asked_authors=4))
        assert (len({case.known_author for case in drawn.cases}), len(drawn.reference.by_author)) == (4, 20)

    def test_fewer_are_asked_about_where_many_may_be_the_same_person(self) -> None:
        """Ten authors may each be anyone, so that only fourteen are left for the cases and the reference."""
        authors = PEOPLE.authors
        pairs = {frozenset((one, other)) for one in authors[:10] for other in authors if one != other}
        corpus = replace(PEOPLE, unclear_pairs=frozenset(pairs))
        sizes = []
        for seed in range(8):
            try:
                drawn = draw(corpus, seed=seed)
            except TooLittleText:  # only authors who may be anyone are left to ask about
                continue
            check_promises(corpus, drawn, QUICK)
            sizes.append(len({case.unknown_author for case in drawn.cases}))
        assert sizes
        assert max(sizes) <= 4

    def test_it_can_come_from_another_corpus_without_authors_who_share_a_text(self) -> None:
        others = make_people(15, first=24)
        borrowed = PEOPLE.texts[0].document
        texts = (*others.texts, ReferenceText(replace(borrowed, name="24/copy.txt"), "author 24"))
        population = replace(others, texts=texts)
        options = replace(QUICK, reference_authors=14)
        drawn = draw_cases(PEOPLE, np.random.default_rng(1), options, population)
        assert len({case.known_author for case in drawn.cases}) == 24
        assert sorted(drawn.reference.by_author) == [f"author {number}" for number in range(25, 39)]

    def test_another_corpus_must_be_in_the_same_language(self) -> None:
        with pytest.raises(CorpusError, match="greek"):
            draw_cases(PEOPLE, np.random.default_rng(1), QUICK, replace(PEOPLE, language="greek"))


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("shortest", 0), ("longest", 100), ("known_length", 10), ("unknown_length", 2.5), ("fewest_known", 0),
            ("most_known", 0), ("unmatched", -1), ("matched", True), ("asked_authors", 1), ("reference_authors", 9),
            ("reference_length", 0), ("halves", "yes"),
        ],
    )  # fmt: skip
    def test_bad_options_are_refused_by_name(self, name: str, value: object) -> None:
        with pytest.raises(SettingsError, match=name):
            CaseOptions(**{name: value})  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("corpus", "options"),
        [
            (make_people(24, 1), QUICK),
            (make_people(11), QUICK),
            (PEOPLE, replace(QUICK, fewest_known=4, most_known=4)),
            (PEOPLE, replace(QUICK, shortest=5000, longest=5000)),
            (PEOPLE, replace(QUICK, reference_authors=30)),
        ],
    )
    def test_too_little_text_is_refused_with_a_remedy(self, corpus: LabeledCorpus, options: CaseOptions) -> None:
        with pytest.raises(TooLittleText, match="people") as refused:
            draw(corpus, options)
        assert refused.value.remedy

    def test_authors_who_may_all_be_the_same_are_refused(self) -> None:
        authors = PEOPLE.authors
        pairs = frozenset(frozenset((one, other)) for one in authors for other in authors if one < other)
        with pytest.raises(TooLittleText):
            draw(replace(PEOPLE, unclear_pairs=pairs), replace(QUICK, reference_authors=0))


def test_every_real_corpus_is_read_and_its_draws_keep_their_promises(pan_data: Path) -> None:
    sizes = {True: 0, False: 0}
    for folder in sorted(pan_data.iterdir()):
        for corpus in read_labeled_corpora(folder):
            assert len(corpus.authors) >= 10, corpus.name
            assert len(set(corpus.plain)) == len(corpus.texts), corpus.name
            for options in (CaseOptions(), CaseOptions(halves=True, reference_authors=10, reference_length=2000)):
                drawn = draw(corpus, options)
                check_promises(corpus, drawn, options)
                for case in drawn.cases:
                    sizes[case.same] += 1
    assert min(sizes.values()) > 500

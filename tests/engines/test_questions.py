from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from byline.corpora.documents import Document
from byline.corpora.problems import Problem, ProblemSet
from byline.engines.language_groups import lay_out_groups, unanswerable_problems
from byline.engines.matrix import Matrix, Side, flag_excluded, sample_heads
from byline.engines.questions import (
    CONTROL_PIECE,
    FEWEST_HEADS,
    Questions,
    find_incomparable,
    find_sharing_texts,
    prepare_questions,
)
from byline.errors import CorpusError, TooLittleText
from byline.judgment.score_normalization import relative_scores
from byline.settings.settings import Settings
from samples import phrase

A, B, C, D, E = (f"{letter}bcd efgh ijkl mnop {letter * 3} qrst uvwx" for letter in "abcde")


def problem(name: str, known: list[str], unknown: str, symmetric: bool = False) -> Problem:
    documents = tuple(Document(f"{name}/known{n}", text) for n, text in enumerate(known, 1))
    return Problem(name, documents, Document(f"{name}/unknown", unknown), "english", symmetric)


def test_problems_that_repeat_a_known_set_share_its_head_whatever_the_order() -> None:
    prepared = prepare_questions([problem("1", [A, B], C), problem("2", [B, A], D), problem("3", [A], C)], Settings())
    questions = prepared.sides[0]
    assert len(questions.texts) == 4
    assert len(questions.heads) == 2
    assert questions.questions[0].head == questions.questions[1].head
    assert questions.questions[0].document == questions.questions[2].document


def test_texts_that_differ_only_before_normalizing_are_the_same() -> None:
    prepared = prepare_questions([problem("1", [A], C), problem("2", [A.replace(" ", "\n\n")], D)], Settings())
    assert len(prepared.sides[0].heads) == 1


def test_a_head_never_learns_the_text_that_it_judges() -> None:
    prepared = prepare_questions([problem("1", [A, B], B), problem("2", [A, B], C)], Settings())
    questions = prepared.sides[0]
    for question in questions.questions:
        assert set(questions.heads[question.head]).isdisjoint(questions.documents[question.document])
    assert sorted(map(len, questions.heads)) == [1, 2]


def test_a_problem_whose_texts_are_all_the_same_is_an_offence() -> None:
    prepared = prepare_questions([problem("1", [A], A), problem("2", [A], B)], Settings())
    assert [offence.id for offence in prepared.offences] == ["1"]
    assert "are the same" in prepared.offences[0].message
    assert [p.id for p in prepared.problems] == ["2"]


def test_heads_trained_on_a_document_are_marked_as_seen() -> None:
    questions = prepare_questions([problem("1", [A], B), problem("2", [B], C), problem("3", [C], A)], Settings()).sides[
        0
    ]
    assert sum(map(len, questions.excluded_heads)) == 3
    for question in questions.questions:
        assert question.head not in questions.excluded_heads[question.document]


class TestBothWays:
    texts = tuple(phrase(n, 60, salt=n) for n in range(12))

    def test_a_few_pairs_are_asked_both_ways_in_one_training(self) -> None:
        (side,) = prepare_questions(self.pairs()[:3], Settings()).sides
        assert len(side.heads) == len(side.questions) == 6
        assert len(side.heads) >= FEWEST_HEADS

    def test_a_way_is_not_left_out_if_some_problem_is_asked_no_other_way(self) -> None:
        mixed = [*self.pairs(), dataclasses.replace(self.pairs()[0], id="plain", symmetric=False)]
        one = [dataclasses.replace(item, known=(Document("k", phrase(1, 60, salt=70)),)) for item in mixed]
        prepared = prepare_questions(one, Settings(train_on="known", swap_short=False))
        asked = {question.problem for side in prepared.sides for question in side.questions}
        assert asked == set(range(len(prepared.problems)))

    def test_a_control_corpus_goes_the_same_way_on_both_sides(self) -> None:
        control = [Document(f"c{n}", phrase(n, 80, salt=50 + n)) for n in range(7)]
        candidates = [problem(str(n), [self.texts[n]], self.texts[11]) for n in range(6)]
        prepared = prepare_questions(candidates, Settings(), control)
        assert prepared.control == "one head"
        prepared = prepare_questions(candidates[:2], Settings(), control)
        assert [side.control.heads for side in prepared.sides] == [7, 7]

    def pairs(self, turned: frozenset[int] = frozenset()) -> list[Problem]:
        pairs = [(self.texts[n], self.texts[n + 6]) for n in range(6)]
        pairs = [(b, a) if n in turned else (a, b) for n, (a, b) in enumerate(pairs)]
        return [problem(str(n), [a], b, symmetric=True) for n, (a, b) in enumerate(pairs)]

    def test_each_way_is_a_side_of_its_own_that_learns_what_the_other_judges(self) -> None:
        one, two = prepare_questions(self.pairs(), Settings()).sides
        assert len(one.heads) == len(two.heads) == 6
        assert {one.heads[q.head] for q in one.questions} == {two.documents[q.document] for q in two.questions}
        for first, second in zip(one.questions, two.questions, strict=True):
            assert first.problem == second.problem
            assert one.heads[first.head] == two.documents[second.document]
            assert one.documents[first.document] == two.heads[second.head]

    def test_which_text_of_a_pair_comes_first_does_not_matter(self) -> None:
        plain = prepare_questions(self.pairs(), Settings()).sides
        turned = prepare_questions(self.pairs(frozenset([1, 4, 5])), Settings()).sides
        for one, two in zip(plain, turned, strict=True):
            assert (one.heads, one.documents, one.questions) == (two.heads, two.documents, two.questions)

    def test_problems_are_asked_so_by_default_and_one_way_on_demand(self) -> None:
        items = [dataclasses.replace(item, symmetric=False) for item in self.pairs()]
        assert len(prepare_questions(items, Settings()).sides) == 2
        assert len(prepare_questions(items, Settings(train_on="known")).sides) == 1
        assert len(prepare_questions(items, Settings(train_on="unknown")).sides) == 1

    def test_a_way_with_too_little_to_compare_is_left_out_if_the_other_has_enough(self) -> None:
        candidates = [problem(str(n), [self.texts[n]], self.texts[11]) for n in range(6)]
        (side,) = prepare_questions(candidates, Settings()).sides
        assert len(side.heads) == 6
        questioned = [problem(str(n), [self.texts[11]], self.texts[n]) for n in range(6)]
        (side,) = prepare_questions(questioned, Settings()).sides
        assert len(side.heads) == 6
        assert len(prepare_questions(candidates[:3], Settings()).sides[0].heads) < FEWEST_HEADS


class TestSwapping:
    """The paper's rule; asked both ways by default, problems don't need it."""

    long = A * 3

    def learned(self, item: Problem, settings: Settings) -> list[int]:
        questions = prepare_questions([item], settings).sides[0]
        return sorted(len(questions.texts[text]) for text in questions.heads[questions.questions[0].head])

    def test_a_single_short_known_text_is_exchanged_with_the_unknown(self) -> None:
        assert self.learned(problem("1", [A], self.long), Settings(train_on="known")) == [len(self.long)]
        assert self.learned(problem("1", [A], self.long), Settings(train_on="known", swap_short=False)) == [len(A)]

    def test_two_known_texts_or_one_that_is_nearly_as_long_are_not(self) -> None:
        assert self.learned(problem("1", [A, B], self.long), Settings(train_on="known")) == [len(A), len(B)]
        nearly = C[: int(0.95 * len(A))]
        assert self.learned(problem("1", [nearly], A), Settings(train_on="known")) == [len(nearly)]

    def test_all_unknown_texts_can_be_learned_and_the_known_ones_judged_together(self) -> None:
        questions = prepare_questions([problem("1", [A, B], C)], Settings(train_on="unknown")).sides[0]
        (question,) = questions.questions
        assert len(questions.heads[question.head]) == 1
        assert len(questions.documents[question.document]) == 2


def test_a_problem_is_unanswerable_if_all_its_questions_are_lonely() -> None:
    """One text is in all sets, so that as a document it can be compared with no head but its judge's."""
    hub, others = phrase(0, 60, salt=99), [phrase(n, 60, salt=n) for n in range(1, 8)]
    items = [problem(str(n), [hub, other], others[0]) for n, other in enumerate(others[1:])]
    items.append(problem("asks the hub", [others[0]], hub))
    one_way = prepare_questions(items, Settings(train_on="known", swap_short=False)).sides
    assert unanswerable_problems(one_way) == {6}
    both_ways = prepare_questions(items, Settings()).sides
    assert 6 in unanswerable_problems(both_ways[:1])
    if len(both_ways) == 2:
        assert unanswerable_problems(both_ways) <= unanswerable_problems(both_ways[:1])


def test_short_texts_are_offences_that_name_file_length_and_need() -> None:
    prepared = prepare_questions([problem("1", [A], "0123456789a"), problem("2", [A], B)], Settings())
    (offence,) = prepared.offences
    assert offence.message.startswith("1/unknown: 6 characters after normalizing, 12 are needed")


def test_names_and_order_of_problems_change_nothing() -> None:
    items = [problem("1", [A, B], C), problem("2", [D], E), problem("3", [C], A)]
    shuffled = [dataclasses.replace(items[n], id=f"x{n}") for n in (2, 0, 1)]
    plain, other = (prepare_questions(group, Settings()).sides[0] for group in (items, shuffled))
    assert plain.alphabet == other.alphabet
    assert plain.heads == other.heads
    assert plain.documents == other.documents
    for one, two in zip(plain.texts, other.texts, strict=True):
        np.testing.assert_array_equal(one, two)
    asked = {(q.head, q.document) for q in plain.questions}
    assert asked == {(q.head, q.document) for q in other.questions}


class TestControl:
    control = tuple(Document(str(n), f"{A} number {chr(97 + n)} {B}") for n in range(8))
    many = tuple(problem(str(n), [f"{A} {chr(102 + n) * 4}"], f"{B} {chr(102 + n) * 4}") for n in range(6))

    def test_it_is_joined_for_one_head(self) -> None:
        prepared = prepare_questions(self.many, Settings(), self.control)
        (piece,) = prepared.sides[0].control.pieces
        texts = [prepared.sides[0].alphabet.decode(piece)]
        assert len(texts[0]) > 8 * len(A)
        assert len(prepared.sides[0].heads) == 6
        assert prepared.control == "one head"

    def test_pieces_are_about_forty_thousand_bytes(self) -> None:
        long = [Document(str(n), f"{chr(97 + n)} {A} " * 500) for n in range(6)]
        pieces = prepare_questions(self.many, Settings(), long).sides[0].control.pieces
        assert sum(map(len, pieces)) == 6 * 500 * (len(A) + 3) - 6
        assert len(pieces) == 3
        assert all(0.8 * CONTROL_PIECE < len(piece) < 1.2 * CONTROL_PIECE for piece in pieces)

    def test_where_heads_are_few_each_text_gets_one_and_is_compared(self) -> None:
        prepared = prepare_questions(self.many[:2], Settings(), self.control)
        assert len(prepared.sides[0].heads) == 10
        assert len(prepared.sides[0].documents) == 10
        assert prepared.sides[0].control.pieces == ()

    def test_it_can_be_refused_by_a_setting(self) -> None:
        prepared = prepare_questions(self.many, Settings(control="none"), self.control)
        assert prepared.sides[0].control.pieces == ()
        assert len(prepared.sides[0].heads) == 6

    def test_texts_of_the_problems_are_left_out(self) -> None:
        repeated = [Document("copy", self.many[0].unknown.text), *self.control]
        prepared = prepare_questions(self.many, Settings(control="each"), repeated)
        assert prepared.repeated_control == 1
        assert len(prepared.sides[0].heads) == 6 + 8


class TestSharedPassages:
    """Eight problems; mostly the unknown text of the first and a known text of the second have a passage in common."""

    quoted = "so long a passage that two writers hardly ever hit upon it; " * 2
    settings = Settings(train_on="known", swap_short=False)

    def problems(self, *quoting: str) -> list[Problem]:
        """Problems n with the texts `nk`, `nl` (known) and `nu`; some of all these texts hold the passage."""

        def write(name: str) -> str:
            text = phrase(int(name[0]), 200, salt=ord(name[1]))
            return f"{text[:100]} {self.quoted}{text[100:]}" if name in quoting else text

        return [problem(str(n), [write(f"{n}k"), write(f"{n}l")], write(f"{n}u")) for n in range(8)]

    def lay(self, *quoting: str, settings: Settings = settings) -> Questions:
        problems = self.problems(*quoting)
        return prepare_questions(problems, settings, sharing=find_sharing_texts(problems)).sides[0]

    def excluded(self, side: Questions) -> set[tuple[int, int]]:
        """The problems whose unknown text must not be compared with whose known texts."""
        document_of = {question.document: question.problem for question in side.questions}
        head_of = {question.head: question.problem for question in side.questions}
        pairs = {(document_of[document], head_of[head]) for document, head in side.excluded_pairs}
        for document, heads in enumerate(side.excluded_heads):  # nothing recurs here, so that nothing else is set aside
            assert {head for pair, head in side.excluded_pairs if pair == document} == heads
        return pairs

    def test_texts_that_share_one_are_found_both_ways_round(self) -> None:
        problems = self.problems("0u", "1k", "5u")
        one, two, three = problems[0].unknown.text, problems[1].known[0].text, problems[5].unknown.text
        assert find_sharing_texts(problems) == {one: {two, three}, two: {one, three}, three: {one, two}}

    def test_a_document_and_a_head_that_share_one_are_not_compared(self) -> None:
        assert self.excluded(self.lay("0u", "1k")) == {(0, 1)}
        assert self.excluded(self.lay("0u", "1l", "2k", "5u")) == {(0, 1), (0, 2), (5, 1), (5, 2)}

    def test_without_one_everything_is(self) -> None:
        assert self.lay().excluded_pairs == frozenset()
        assert prepare_questions(self.problems("0u", "1k"), self.settings).sides[0].excluded_pairs == frozenset()

    def test_two_documents_or_two_heads_that_share_one_are_compared_with_everything(self) -> None:
        assert self.lay("0u", "1u").excluded_pairs == self.lay("2k", "3k").excluded_pairs == frozenset()

    def test_a_pair_that_is_asked_about_is_always_compared(self) -> None:
        side = self.lay("0u", "0k", "1k")
        assert self.excluded(side) == {(0, 1)}
        assert side.questions[0].head not in side.excluded_heads[side.questions[0].document]

    def test_whoever_asks_about_it(self) -> None:
        """Another problem asks about the first unknown text and the known texts that it quotes."""
        problems = self.problems("0u", "1k", "2k")
        problems.append(dataclasses.replace(problems[0], id="8", known=problems[1].known))
        side = prepare_questions(problems, self.settings, sharing=find_sharing_texts(problems)).sides[0]
        asked = side.questions[8]
        assert (asked.head, asked.document) == (side.questions[1].head, side.questions[0].document)
        assert side.excluded_pairs == {(asked.document, side.questions[2].head)}

    def test_the_other_way_of_asking_it_is_the_same(self) -> None:
        problems = self.problems("0u", "1k")
        plain, turned = prepare_questions(problems, Settings(), sharing=find_sharing_texts(problems)).sides
        assert self.excluded(plain) == {(0, 1)}
        assert self.excluded(turned) == {(1, 0)}

    def test_what_is_masked_or_read_by_other_rules_is_the_same_text(self) -> None:
        for changes in ({"mask": "topic"}, {"text_rules": "scripts"}):
            assert self.excluded(self.lay("0u", "1k", settings=self.settings.change(changes))) == {(0, 1)}

    def test_a_heading_that_all_texts_have_bars_nothing(self) -> None:
        assert self.lay(*(f"{n}{which}" for n in range(8) for which in "klu")).excluded_pairs == frozenset()

    def test_a_corpus_is_laid_out_so_for_every_kind_of_member(self) -> None:
        rows = [self.settings, self.settings.change({"mask": "topic"})]
        (group,), _ = lay_out_groups(ProblemSet(tuple(self.problems("0u", "1k")), "folders"), rows)
        assert [self.excluded(prepared.sides[0]) for prepared in group.layouts.values()] == [{(0, 1)}] * 2

    def test_the_asked_pairs_score_does_not_hang_on_the_head_that_it_is_not_compared_with(self) -> None:
        changes = []
        for quoting in ((), ("0u", "1k")):
            side = self.lay(*quoting)
            document, related = side.questions[0].document, side.questions[1].head
            chosen = sample_heads(side, 300, np.random.default_rng(0))
            values = np.random.default_rng(1).normal(2, 0.3, chosen.shape)
            near = values.copy()
            near[document, related] -= 1.5  # as a head that knows a passage by heart
            one, two = (
                relative_scores(Side.of(Matrix(each, flag_excluded(side, chosen), chosen), side))
                for each in (values, near)
            )
            changes.append(np.abs(one - two)[:, 0].max())
        assert changes[0] > 0.1
        assert changes[1] == 0


class TestSingleTexts:
    settings = Settings(engine="vectors", single_texts=True, train_on="known", swap_short=False)

    def lay(self, **changes: object) -> Questions:
        items = [problem(str(n), [f"{A} {n * 'z'}", f"{A} {n * 'w'}"], f"{B} {n * 'y'}") for n in range(1, 6)]
        (side,) = prepare_questions(items, self.settings.change(changes)).sides
        return side

    def test_every_text_has_a_head_and_a_document_beside_those_of_problems(self) -> None:
        side = self.lay()
        singles = {(text,) for text in range(len(side.texts))}
        assert len(side.texts) == 15
        assert set(side.documents) == singles
        assert set(side.heads) == singles | {side.heads[question.head] for question in side.questions}
        assert len(side.heads) == 20

    def test_texts_of_one_problem_are_compared_only_where_it_asks(self) -> None:
        side = self.lay()
        for question in side.questions:
            texts = {*side.heads[question.head], *side.documents[question.document]}
            for number, document in enumerate(side.documents):
                for head, learned in enumerate(side.heads):
                    together = bool(texts & set(document)) and bool(texts & set(learned))
                    asked = (number, head) == (question.document, question.head)
                    assert (head in side.excluded_heads[number]) == (together and not asked) or not together

    def test_there_are_as_many_as_heads_may_be_compared(self) -> None:
        side = self.lay(compared=12)
        assert len(side.heads) == 12
        assert len({question.head for question in side.questions}) == 5
        assert len(self.lay(compared=10).heads) == 10

    def test_the_order_of_the_problems_does_not_matter(self) -> None:
        items = [problem(str(n), [f"{A} {n * 'z'}"], f"{B} {n * 'y'}") for n in range(1, 6)]
        one, two = (prepare_questions(each, self.settings).sides[0] for each in (items, items[::-1]))
        assert (one.heads, one.documents, one.excluded_pairs) == (two.heads, two.documents, two.excluded_pairs)


class TestTooLittleToCompareWith:
    def test_fewer_than_five_heads_are_refused(self) -> None:
        items = [problem(str(n), [f"{A} {n * 'z'}"], f"{B} {n * 'y'}") for n in range(1, 6)]
        lay_out_groups(ProblemSet(tuple(items), "folders"), [Settings()])
        with pytest.raises(TooLittleText, match="english: 4 different known sets") as caught:
            lay_out_groups(ProblemSet(tuple(items[:4]), "folders"), [Settings()])
        assert "{control}" in str(caught.value.remedy)

    def test_where_unknown_texts_are_few_the_known_ones_are_ranked_among_too(self) -> None:
        items = [problem(str(n), [f"{A} {n * 'z'}"], B) for n in range(1, 6)]
        questions = prepare_questions(items, Settings(swap_short=False)).sides[0]
        assert len(questions.documents) == 6
        assert sum(map(len, questions.excluded_heads)) == 5
        assert find_incomparable(questions) == ()

    def test_a_question_whose_document_most_heads_know_is_lonely(self) -> None:
        items = [problem(str(n), [A, B + "z" * n], C + "y" * n) for n in range(1, 6)] + [problem("6", [D], A)]
        questions = prepare_questions(items, Settings(swap_short=False)).sides[0]
        assert [q.problem for q in find_incomparable(questions)] == [5]

    def test_read_as_relative_a_question_is_lonely_where_all_others_are_asked_too(self) -> None:
        """Problems that share the known text: each pair with it may be by one author."""
        items = [problem(str(n), [A], phrase(n, 90, salt=n)) for n in range(1, 9)]
        (side,) = prepare_questions(items, Settings(train_on="unknown")).sides
        assert find_incomparable(side) == ()
        assert set(find_incomparable(side, relative=True)) == set(side.questions)
        assert unanswerable_problems([side], relative=True) == set(range(8))
        problems = ProblemSet(tuple(items), "folders")
        lay_out_groups(problems, [Settings()])
        with pytest.raises(CorpusError, match="too few texts are left"):
            lay_out_groups(problems, [Settings()], interpretation="relative")

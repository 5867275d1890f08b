"""Passages that both sides of a problem share: found in the original texts, and removed without a trace."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from byline.corpora.documents import Document
from byline.corpora.overlaps import GAP, find_overlap, remove_shared_passages
from byline.corpora.problems import Problem, ProblemSet
from byline.runs.request import JudgmentRequest
from byline.settings.settings import Settings
from byline.tasks.verify import verify
from byline.text.normalize import TextRules, normalize
from byline.text.shared_passages import PASSAGE, find_shared_spans, plain_form
from samples import prose

SAYING = (
    "“What is written without effort,” someone said, “is in general read without pleasure”; and he was right there."
)


def problem(unknown: str, *known: str, name: str = "P1", language: str = "english") -> Problem:
    documents = tuple(Document(f"known{number}.txt", text) for number, text in enumerate(known, start=1))
    return Problem(name, documents, Document("unknown.txt", unknown), language)


def asked(*problems: Problem) -> ProblemSet:
    return ProblemSet(problems, "folders")


class TestOverlap:
    def test_a_passage_is_found_where_it_stands_in_each_text(self) -> None:
        straight = SAYING.replace("“", '"').replace("”", '"').replace("; and", ";\n and")
        one = problem(f"{prose(1)}\n\n{SAYING}\n{prose(2)}", prose(3), f"{straight} {prose(4)}")
        found = find_overlap(one)
        assert found.passages.keys() == {0, 2}
        ((begin, end),) = found.passages[0]
        assert one.unknown.text[begin:end] == SAYING
        assert found.passages[2] == ((0, len(straight)),)
        assert (found.copies, found.repeats) == ((), ())

    def test_less_than_a_passage_is_none(self) -> None:
        assert find_overlap(problem(prose(1) + prose(9, PASSAGE - 1) + "!", "?" + prose(9, PASSAGE - 1))).passages == {}

    def test_a_copy_of_the_unknown_text_is_no_quotation(self) -> None:
        found = find_overlap(problem(prose(1), prose(1) + " ", prose(2)))
        assert (found.passages, found.copies) == ({}, (1,))

    def test_known_texts_that_repeat_each_other_are_told_with_their_share(self) -> None:
        found = find_overlap(problem(prose(1), prose(2), prose(3), prose(2), prose(3, 300) + prose(5, 100)))
        assert found.repeats[0] == (3, 1, 1.0)
        number, other, share = found.repeats[1]
        assert (number, other) == (4, 2)
        assert 0.7 < share < 0.8

    def test_a_little_that_known_texts_have_in_common_is_nothing(self) -> None:
        assert find_overlap(problem(prose(1), prose(2) + SAYING, prose(3) + SAYING)).repeats == ()

    @given(st.integers(0, 2**32))
    def test_overlaps_are_exactly_the_windows_that_both_have(self, seed: int) -> None:
        dice = random.Random(seed)
        parts = ["".join(dice.choices("abcdefghijklmn", k=dice.randint(60, 160))) for _ in range(4)]
        texts = ["!".join(dice.choices(parts, k=3)) for _ in range(3)]
        found = find_shared_spans(texts)
        for one in range(3):
            for other in range(one + 1, 3):
                sides = found.get((one, other), ([], []))
                for mine, theirs, stretches in ((one, other, sides[0]), (other, one, sides[1])):
                    covered = {place for begin, end in stretches for place in range(begin, end)}
                    windows = (place for place in range(len(texts[mine]) - PASSAGE + 1))
                    expected = {
                        place + step
                        for place in windows
                        if texts[mine][place : place + PASSAGE] in texts[theirs]
                        for step in range(PASSAGE)
                    }
                    assert covered == expected


class TestRemoving:
    @pytest.mark.parametrize("rules", ["paper", "scripts"])
    def test_what_is_left_reads_as_if_the_passage_had_never_been_there(self, rules: TextRules) -> None:
        before, after = prose(1).strip(), prose(2).strip()
        one = problem(f"{before} {SAYING} {after}", f"{SAYING} {prose(3)}")
        (cut,) = remove_shared_passages(asked(one), alone=False)[0].problems
        assert cut.unknown.text == f"{before}{GAP} {after}"
        assert normalize(cut.unknown.text, "english", rules) == normalize(f"{before} {after}", "english", rules)
        assert normalize(cut.known[0].text, "english", rules) == normalize(prose(3), "english", rules)
        assert find_overlap(cut).passages == {}

    def test_no_half_of_a_word_is_cut(self) -> None:
        one = problem(f"In sand {SAYING} sand and {prose(1)}", f"{prose(2)} band {SAYING} same. {prose(3)}")
        (cut,) = remove_shared_passages(asked(one), alone=False)[0].problems
        assert cut.unknown.text.startswith(f"In sand{GAP} sand and ")
        assert f" band{GAP} same. " in cut.known[0].text

    def test_a_slip_in_copying_leaves_no_crumb(self) -> None:
        passage = prose(5, 300)
        slipped = f"{passage[:150]}X{passage[151:]}"
        one = problem(f"{prose(1)} {passage} {prose(2)}", f"{prose(3)} {slipped} {prose(4)}")
        (cut,) = remove_shared_passages(asked(one), alone=False)[0].problems
        assert cut.unknown.text.count(GAP) == cut.known[0].text.count(GAP) == 1

    def test_what_was_removed_is_told(self) -> None:
        one = problem(f"{prose(1)} {SAYING}", f"{SAYING} {prose(3)}", prose(4))
        told = remove_shared_passages(asked(one), alone=False)[1]
        assert [(each.name, each.passages, each.characters) for each in told["P1"]] == [
            ("unknown.txt", (SAYING,), len(SAYING)),
            ("known1.txt", (SAYING,), len(SAYING)),
        ]

    def test_a_text_of_several_problems_stays_one_text_unless_each_is_alone(self) -> None:
        text = f"{prose(1)} {SAYING}"
        ones = asked(problem(text, f"{SAYING} {prose(2)}"), problem(prose(3), text, name="P2"))
        first, second = remove_shared_passages(ones, alone=False)[0].problems
        assert first.unknown.text == second.known[0].text != text
        first, second = remove_shared_passages(ones, alone=True)[0].problems
        assert first.unknown.text != second.known[0].text == text

    def test_a_known_text_of_which_nothing_is_left_is_gone(self) -> None:
        one = problem(f"{prose(1)} {SAYING}", SAYING, prose(2))
        (cut,) = remove_shared_passages(asked(one), alone=False)[0].problems
        assert [document.name for document in cut.known] == ["known2.txt"]

    @pytest.mark.parametrize(
        ("unknown", "known", "what"),
        [(f"{prose(1)} {SAYING}", SAYING, "the known texts"), (SAYING, f"{prose(1)} {SAYING}", "unknown.txt")],
    )
    def test_a_problem_with_a_side_of_which_nothing_is_left_is_bad(self, unknown: str, known: str, what: str) -> None:
        left, _ = remove_shared_passages(asked(problem(unknown, known)), alone=False)
        assert left.problems == ()
        (bad,) = left.bad_problems
        assert (bad.id, what in bad.message) == ("P1", True)

    def test_texts_without_spaces_between_words_are_cut_where_the_passage_ends(self) -> None:
        dice = random.Random(3)
        signs = ["".join(chr(dice.randrange(0x4E00, 0x9000)) for _ in range(count)) for count in (120, 80, 80, 80)]
        one = problem(f"{signs[1]}{signs[0]}{signs[2]}", f"{signs[3]}{signs[0]}", language="cjk")
        (cut,) = remove_shared_passages(asked(one), alone=False)[0].problems
        assert cut.unknown.text == f"{signs[1]}{GAP}{signs[2]}"
        assert plain_form(cut.unknown.text, "cjk") == signs[1] + signs[2]

    def test_a_passage_that_made_two_texts_alike_counts_no_more(self) -> None:
        """Three quotations on both sides of one problem: with them it is the likeliest, without them it is not."""
        quoted = [prose(100 + number, 400) for number in range(3)]
        problems = [problem(prose(n, 900), prose(n + 50, 900), name=f"P{n}") for n in range(1, 7)]
        problems[0] = problem(" ".join([prose(1, 900), *quoted]), " ".join([*quoted, prose(51, 900)]), name="P1")
        scores = []
        for masked in (False, True):
            result = verify(
                asked(*problems),
                Settings(engine="vectors"),
                judgment=JudgmentRequest(interpret="relative"),
                mask_shared=masked,
            )
            order = sorted(result.answers, key=lambda answer: -(answer.score or 0))
            scores.append([answer.id for answer in order].index("P1"))
            assert result.plan.request.mask_shared == masked
        assert scores[0] == 0 < scores[1]

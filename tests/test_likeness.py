"""Passages of an author's texts that are most like another text, and what speaks in them for its writer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byline.attribution import likeness
from byline.attribution.likeness import (
    PIECE,
    Piece,
    choose_pieces,
    cut_pieces,
    join_neighbours,
    kept_text,
    weigh_pieces,
)
from byline.attribution.model import AuthorModel, train_authors
from byline.attribution.writings import Writings, writings_of
from byline.documents import Document
from byline.settings import Settings
from conftest import phrase

NGRAM, RNN = Settings(engine="ngram", order=4), Settings(hidden=6, sub_epochs=6)
MASKED = NGRAM.change({"mask": "topic", "direction": "backward"})
TEXTS = {
    "a": ["It was, as Zo\u00eb said, the \u00c9lys\u00e9e! " * 9, phrase(0, 1_500, 1)],
    "b": [
        phrase(1, 1_500, 1),
        phrase(1, 1_500, 2),
        f"{phrase(2, 6_000, 1)} {phrase(3, 3_000, 1)} {phrase(2, 6_000, 2)}",
    ],
}


@pytest.fixture(scope="module")
def writings() -> Writings:
    documents = [Document(f"{author}{n}", text) for author, own in TEXTS.items() for n, text in enumerate(own)]
    return writings_of(documents, [document.name[0] for document in documents], "english")


@pytest.fixture(scope="module")
def model(writings: Writings) -> AuthorModel:
    return train_authors(writings, (NGRAM, MASKED, RNN))


class TestKeptTexts:
    def test_capitals_and_accents_are_put_back(self, model: AuthorModel) -> None:
        (number,) = (number for number, title in enumerate(model.titles) if title == "a0")
        assert kept_text(model, number) == TEXTS["a"][0].strip()

    def test_a_model_that_masks_all_has_nothing_else_to_show(self, writings: Writings) -> None:
        masked = train_authors(writings, (MASKED,))
        shown = kept_text(masked, masked.titles.index("a0"))
        assert len(shown) == len(TEXTS["a"][0].strip())


class TestPieces:
    @given(st.text(alphabet="ab \n", max_size=4 * PIECE))
    def test_they_make_up_the_text(self, text: str) -> None:
        pieces = cut_pieces(3, text)
        assert "".join(piece.text for piece in pieces) == text
        assert all(text[piece.begin : piece.end] == piece.text for piece in pieces)
        assert all(len(piece.text) < 1.7 * PIECE and piece.whole == len(text) for piece in pieces)

    def test_a_text_of_half_as_many_more_is_one(self) -> None:
        assert len(cut_pieces(0, "x" * (PIECE + PIECE // 2 - 1))) == 1
        assert len(cut_pieces(0, "x" * (PIECE + PIECE // 2 + 1))) == 2

    def test_neighbours_are_joined_in_the_place_of_the_first(self) -> None:
        one, two, three = cut_pieces(0, phrase(0, 3 * PIECE))
        other = Piece("x", 1, 0, 1, 1)
        assert join_neighbours([three, other, one]) == [three, other, one]
        joined = join_neighbours([three, other, one, two])
        assert [(piece.number, piece.begin) for piece in joined] == [(0, 0), (1, 0)]
        assert joined[0].text == one.text + two.text + three.text

    def test_the_most_like_come_first_and_the_text_itself_last(self, model: AuthorModel, writings: Writings) -> None:
        asked = [Document("x", phrase(3, 900, 5)), Document("y", TEXTS["b"][1])]
        like, own = choose_pieces(model, model.authors.index("b"), asked, 1, writings)
        assert len(like) == len(own) == 1
        assert like[0].begin < 6_000 + 1_500 < like[0].end
        assert own[0].text == TEXTS["b"][0]

    def test_as_many_as_there_is_room_for(self, model: AuthorModel) -> None:
        (few,) = choose_pieces(model, 1, [Document("x", phrase(1, 900, 5))], 2_800)
        assert sorted(model.titles[piece.number] for piece in few) == ["b0", "b1"]
        (every,) = choose_pieces(model, 1, [Document("x", phrase(1, 900, 5))], 10**9)
        assert sum(len(piece.text) for piece in every) == sum(len(kept_text(model, number)) for number in (2, 3, 4))

    def test_of_very_much_text_an_even_part_is_looked_at(
        self, model: AuthorModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(likeness, "MOST_LOOKED", 10_000)
        (some,) = choose_pieces(model, 1, [Document("x", phrase(1, 900, 5))], 10**9)
        assert 0 < sum(len(piece.text) for piece in some) < 10_000 + PIECE


class TestWeighing:
    def test_what_the_document_has_too_speaks_for_its_writer_in_every_members_eyes(self, model: AuthorModel) -> None:
        pieces = [Piece(f"{phrase(1, 700, 7)} {phrase(4, 700, 7)}", 2, 0, 1_400, 1_400)]
        (gains,) = weigh_pieces(model, Document("x", phrase(1, 1_500, 9)), 1, pieces)
        assert gains is not None
        assert gains.shape == (3, len(pieces[0].text))
        assert (gains[:, :700].mean(axis=1) > gains[:, 700:].mean(axis=1) + 0.05).all()

    def test_it_does_not_hang_on_what_is_weighed_beside_it(self, model: AuthorModel) -> None:
        one, two = (Piece(phrase(1, 500, salt), 2, 0, 500, 500) for salt in (7, 8))
        document = Document("x", phrase(1, 900, 9))
        both = weigh_pieces(model, document, 1, [one, two])
        (alone,) = weigh_pieces(model, document, 1, [two])
        assert alone is not None
        np.testing.assert_allclose(both[1], alone, atol=1e-5)

    def test_members_that_do_not_add_up_say_nothing(self, model: AuthorModel) -> None:
        vectors = replace(model, members=(Settings(engine="vectors"),), networks={})
        pieces = [Piece(phrase(1, 500, 7), 2, 0, 500, 500)]
        assert weigh_pieces(vectors, Document("x", phrase(1, 900, 9)), 1, pieces) == [None]

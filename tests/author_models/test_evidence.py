"""Passages of an author's texts that are most like another text, and what speaks in them for its writer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byline.author_models import evidence as likeness
from byline.author_models.evidence import (
    PASSAGE_LENGTH,
    AuthorPassage,
    choose_passages,
    cut_passages,
    explain_passages,
    join_neighbors,
    readable_text,
)
from byline.author_models.model import AuthorModel, train_authors
from byline.corpora.author_corpus import AuthorCorpus, make_author_corpus
from byline.corpora.documents import Document
from byline.settings.settings import Settings
from samples import phrase

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
def author_corpus() -> AuthorCorpus:
    documents = [Document(f"{author}{n}", text) for author, own in TEXTS.items() for n, text in enumerate(own)]
    return make_author_corpus(documents, [document.name[0] for document in documents], "english")


@pytest.fixture(scope="module")
def model(author_corpus: AuthorCorpus) -> AuthorModel:
    return train_authors(author_corpus, (NGRAM, MASKED, RNN))


class TestKeptTexts:
    def test_capitals_and_accents_are_put_back(self, model: AuthorModel) -> None:
        (number,) = (number for number, title in enumerate(model.titles) if title == "a0")
        assert readable_text(model, number) == TEXTS["a"][0].strip()

    def test_a_model_that_masks_all_has_nothing_else_to_show(self, author_corpus: AuthorCorpus) -> None:
        masked = train_authors(author_corpus, (MASKED,))
        shown = readable_text(masked, masked.titles.index("a0"))
        assert len(shown) == len(TEXTS["a"][0].strip())


class TestPieces:
    @given(st.text(alphabet="ab \n", max_size=4 * PASSAGE_LENGTH))
    def test_they_make_up_the_text(self, text: str) -> None:
        pieces = cut_passages(3, text)
        assert "".join(piece.text for piece in pieces) == text
        assert all(text[piece.begin : piece.end] == piece.text for piece in pieces)
        assert all(len(piece.text) < 1.7 * PASSAGE_LENGTH and piece.whole == len(text) for piece in pieces)

    def test_a_text_of_half_as_many_more_is_one(self) -> None:
        assert len(cut_passages(0, "x" * (PASSAGE_LENGTH + PASSAGE_LENGTH // 2 - 1))) == 1
        assert len(cut_passages(0, "x" * (PASSAGE_LENGTH + PASSAGE_LENGTH // 2 + 1))) == 2

    def test_neighbors_are_joined_in_the_place_of_the_first(self) -> None:
        one, two, three = cut_passages(0, phrase(0, 3 * PASSAGE_LENGTH))
        other = AuthorPassage("x", 1, 0, 1, 1)
        assert join_neighbors([three, other, one]) == [three, other, one]
        joined = join_neighbors([three, other, one, two])
        assert [(piece.number, piece.begin) for piece in joined] == [(0, 0), (1, 0)]
        assert joined[0].text == one.text + two.text + three.text

    def test_the_most_like_come_first_and_the_text_itself_last(
        self, model: AuthorModel, author_corpus: AuthorCorpus
    ) -> None:
        asked = [Document("x", phrase(3, 900, 5)), Document("y", TEXTS["b"][1])]
        like, own = choose_passages(model, model.authors.index("b"), asked, 1, author_corpus)
        assert len(like) == len(own) == 1
        assert like[0].begin < 6_000 + 1_500 < like[0].end
        assert own[0].text == TEXTS["b"][0]

    def test_as_many_as_there_is_room_for(self, model: AuthorModel) -> None:
        (few,) = choose_passages(model, 1, [Document("x", phrase(1, 900, 5))], 2_800)
        assert sorted(model.titles[piece.number] for piece in few) == ["b0", "b1"]
        (every,) = choose_passages(model, 1, [Document("x", phrase(1, 900, 5))], 10**9)
        assert sum(len(piece.text) for piece in every) == sum(len(readable_text(model, number)) for number in (2, 3, 4))

    def test_of_very_much_text_an_even_part_is_looked_at(
        self, model: AuthorModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(likeness, "MAX_SEARCHED", 10_000)
        (some,) = choose_passages(model, 1, [Document("x", phrase(1, 900, 5))], 10**9)
        assert 0 < sum(len(piece.text) for piece in some) < 10_000 + PASSAGE_LENGTH


class TestWeighing:
    def test_what_the_document_has_too_speaks_for_its_writer_in_every_members_eyes(self, model: AuthorModel) -> None:
        pieces = [AuthorPassage(f"{phrase(1, 700, 7)} {phrase(4, 700, 7)}", 2, 0, 1_400, 1_400)]
        (gains,) = explain_passages(model, Document("x", phrase(1, 1_500, 9)), 1, pieces)
        assert gains is not None
        assert gains.shape == (3, len(pieces[0].text))
        assert (gains[:, :700].mean(axis=1) > gains[:, 700:].mean(axis=1) + 0.05).all()

    def test_it_does_not_hang_on_what_is_weighed_beside_it(self, model: AuthorModel) -> None:
        one, two = (AuthorPassage(phrase(1, 500, salt), 2, 0, 500, 500) for salt in (7, 8))
        document = Document("x", phrase(1, 900, 9))
        both = explain_passages(model, document, 1, [one, two])
        (alone,) = explain_passages(model, document, 1, [two])
        assert alone is not None
        np.testing.assert_allclose(both[1], alone, atol=1e-5)

    def test_members_that_do_not_add_up_say_nothing(self, model: AuthorModel) -> None:
        vectors = replace(model, members=(Settings(engine="vectors"),), networks={})
        pieces = [AuthorPassage(phrase(1, 500, 7), 2, 0, 500, 500)]
        assert explain_passages(vectors, Document("x", phrase(1, 900, 9)), 1, pieces) == [None]

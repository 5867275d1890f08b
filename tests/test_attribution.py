"""Models of authors, from texts to who is likely to have written another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from byline.attribution import cautions
from byline.attribution import model as model_module
from byline.attribution.attributing import Attribution, attribute
from byline.attribution.file import author_model_bytes, read_author_model, write_author_model
from byline.attribution.model import AuthorModel, enrol_authors, fill_tables, train_authors
from byline.attribution.verdict import Judge
from byline.attribution.writings import Writings, read_writings, writings_of
from byline.documents import Document
from byline.engines import Watch
from byline.errors import CorpusError, SettingsError, TooLittleText
from byline.pools import read_pool
from byline.settings import Settings
from conftest import habits, phrase

NGRAM, VECTORS, LINEAR = (Settings(engine=engine) for engine in ("ngram", "vectors", "linear"))
MASKED = NGRAM.change({"mask": "topic"})
BACKWARD = NGRAM.change({"direction": "backward", "order": 3})
RNN = Settings(hidden=5, sub_epochs=3)
USUAL = read_pool("authors").rows


def texts_by(authors: Iterable[int], salts: Iterable[int] = range(3), length: int = 400) -> Writings:
    """Texts by authors who are called by a letter each: a, b, ..."""
    chosen = [(author, salt) for author in authors for salt in salts]
    documents = [Document(f"{chr(97 + author)}/{salt}", habits(author, length, salt)) for author, salt in chosen]
    return writings_of(documents, [chr(97 + author) for author, _ in chosen], "english")


@cache
def trained(count: int = 6, members: tuple[Settings, ...] = USUAL) -> AuthorModel:
    return train_authors(texts_by(range(count)), members)


def unknown(authors: Iterable[int], salt: int = 50, length: int = 400) -> list[Document]:
    return [Document(chr(97 + author), habits(author, length, salt)) for author in authors]


def chances(found: Attribution) -> dict[str, float]:
    return {candidate.author: candidate.probability for candidate in found.ranking}


class TestAttribute:
    def test_texts_of_the_authors_that_were_not_learnt_are_attributed_to_them(self) -> None:
        found = attribute(trained(), unknown(range(6)))
        assert [each.author for each in found] == [each.document for each in found] == list("abcdef")
        assert all(each.probability > 0.9 for each in found)

    @pytest.mark.parametrize("member", [NGRAM, VECTORS, LINEAR, MASKED, BACKWARD, RNN], ids=lambda m: m.engine_name)
    def test_any_member_can_do_it_alone(self, member: Settings) -> None:
        documents = [Document(str(n), phrase(n, 500, salt=9)) for n in range(5)]
        known = [(str(n), Document(f"{n}/{salt}", phrase(n, 500, salt))) for n in range(5) for salt in range(2)]
        writings = writings_of([document for _, document in known], [author for author, _ in known])
        model = train_authors(writings, [member.change({"sub_epochs": 8}) if member.engine == "rnn" else member])
        assert [each.author for each in attribute(model, documents, 0)] == list("01234")

    def test_a_text_by_nobody_of_them_is_rather_none_of_these(self) -> None:
        theirs, strange = attribute(trained(), unknown(range(6))), attribute(trained(), unknown(range(10, 16)))
        assert max(each.none for each in theirs) < 0.05 < 0.2 < np.mean([each.none for each in strange])
        sure = attribute(trained(), unknown(range(10, 16)), none=0.9)
        assert sum(each.author is None for each in sure) > 3
        for each in sure:
            assert each.probability == (each.ranking[0].probability if each.author else each.none)
            assert (each.author is None) == (each.none >= each.ranking[0].probability)

    @pytest.mark.parametrize("none", [0.0, 0.1, 0.6, 0.999])
    def test_probabilities_sum_to_1_with_none_and_all_authors_are_ranked_by_them(self, none: float) -> None:
        for each in attribute(trained(), unknown([0, 3, 12]), none):
            assert sum(chances(each).values()) + each.none == pytest.approx(1)
            assert sorted(chances(each)) == list("abcdef")
            order = [candidate.probability for candidate in each.ranking]
            assert order == sorted(order, reverse=True)
            assert (each.none == 0) == (none == 0)

    def test_0_means_that_it_is_one_of_them_however_strange_the_text(self) -> None:
        (found,) = attribute(trained(), [Document("x", "zyx wvu tsr qpo " * 20)], none=0)
        assert (found.none, found.author) == (0, found.ranking[0].author)
        assert found.author is not None

    def test_a_greater_prior_makes_none_of_these_more_probable(self) -> None:
        nobody = [attribute(trained(), unknown([1]), none)[0].none for none in (0.01, 0.1, 0.5, 0.9)]
        assert nobody == sorted(nobody)
        assert nobody[0] < nobody[-1]
        # odds change as those of the prior do
        odds = [chance / (1 - chance) for chance in nobody]
        assert odds[3] / odds[2] == pytest.approx(9)

    @pytest.mark.parametrize("none", [-0.1, 1, 2, float("nan")])
    def test_a_prior_that_is_no_probability_is_refused(self, none: float) -> None:
        with pytest.raises(SettingsError, match="0 or more and less than 1, got"):
            attribute(trained(), unknown([1]), none)

    def test_nothing_asked_is_nothing_answered(self) -> None:
        assert attribute(trained(), []) == ()

    def test_texts_too_short_to_judge_are_all_named(self) -> None:
        documents = [Document("one.txt", "hm"), *unknown([1]), Document("two.txt", "the old \u4e2d\u4e2d\u4e2d\u4e2d")]
        with pytest.raises(TooLittleText) as refusal:
            attribute(trained(), documents)
        assert str(refusal.value).splitlines() == [
            "one.txt: 2 characters after normalising, 12 are needed; remove it or put more text in it",
            "  two.txt: 7 characters after normalising, 12 are needed; remove it or put more text in it",
        ]

    def test_bits_are_the_mean_of_members_that_have_them(self) -> None:
        (both,) = attribute(trained(4, (NGRAM, VECTORS, MASKED)), unknown([2]))
        single = [attribute(trained(4, (member,)), unknown([2]))[0] for member in (NGRAM, MASKED)]
        for candidate in both.ranking:
            own = [next(c.bits for c in each.ranking if c.author == candidate.author) for each in single]
            assert candidate.bits == pytest.approx(np.mean([bits for bits in own if bits is not None]))
            assert candidate.bits is not None
            assert 0 < candidate.bits < 8
        (without,) = attribute(trained(4, (VECTORS,)), unknown([2]))
        assert {candidate.bits for candidate in without.ranking} == {None}


class TestIndependence:
    def test_an_answer_does_not_depend_on_the_texts_asked_beside_it(self) -> None:
        documents = unknown([*range(6), 12])
        alone = [attribute(trained(), [document])[0] for document in documents]
        for order in (documents, documents[::-1], [*documents, *documents[2:4]]):
            for found in attribute(trained(), order):
                wanted = alone[[document.name for document in documents].index(found.document)]
                assert found.author == wanted.author
                assert found.none == pytest.approx(wanted.none, rel=1e-9)
                assert chances(found) == pytest.approx(chances(wanted), rel=1e-9)

    def test_a_text_in_letters_that_nobody_learnt_changes_no_other_answer(self) -> None:
        (alone,) = attribute(trained(), unknown([1]))
        _, beside = attribute(trained(), [Document("x", "щука и жук, the end, я и ты " * 9), *unknown([1])])
        assert chances(beside) == pytest.approx(chances(alone), rel=1e-9)

    def test_the_order_of_folders_and_files_makes_no_other_model(self, tmp_path: Path) -> None:
        folders = []
        for number, authors in enumerate([(0, 1), (2, 3)]):
            for author in authors:
                folder = tmp_path / str(number) / chr(97 + author)
                folder.mkdir(parents=True)
                for salt in range(2):
                    (folder / f"{salt}.txt").write_text(habits(author, 300, salt), "utf-8")
            folders.append(tmp_path / str(number))
        one, two = (train_authors(read_writings(order), (NGRAM, LINEAR, RNN)) for order in (folders, folders[::-1]))
        assert author_model_bytes(one) == author_model_bytes(two)

    def test_what_authors_are_called_does_not_matter(self) -> None:
        names = dict(zip("abcdef", "QCZMAX", strict=True))
        writings = texts_by(range(6))
        renamed = writings_of(writings.documents, [names[author] for author in writings.authors], "english")
        for one, two in zip(
            attribute(trained(), unknown([1, 4, 12])),
            attribute(train_authors(renamed, USUAL), unknown([1, 4, 12])),
            strict=True,
        ):
            assert {names[author]: chance for author, chance in chances(one).items()} == pytest.approx(
                chances(two), rel=1e-6
            )
            assert one.none == pytest.approx(two.none, rel=1e-6)

    def test_threads_make_no_other_model_and_no_other_answer(self) -> None:
        members = (NGRAM, VECTORS, LINEAR)
        model = train_authors(texts_by(range(6)), members, watch=Watch(threads=3))
        assert author_model_bytes(model) == author_model_bytes(trained(6, members))
        assert attribute(model, unknown([3]), watch=Watch(threads=3)) == attribute(model, unknown([3]))


def without_text(model: AuthorModel, text: int) -> AuthorModel:
    """The model as if it did not have a text."""

    def left(values: Sequence[object]) -> tuple[object, ...]:
        return (*values[:text], *values[text + 1 :])

    return replace(
        model,
        owners=left(model.owners),
        titles=left(model.titles),
        texts=tuple(left(texts) for texts in model.texts),  # type: ignore[arg-type]
    )


class TestKnownTexts:
    @pytest.mark.parametrize("member", [NGRAM, BACKWARD, MASKED], ids=lambda m: m.engine_name)
    def test_a_text_that_is_in_the_model_costs_what_it_would_cost_one_without_it(self, member: Settings) -> None:
        model = trained(6, (member,))
        for text in (0, 7, 17):
            asked = texts_by(range(6)).documents[text].text
            within = fill_tables(model, [asked], [])
            without = fill_tables(without_text(model, text), [asked], [])
            np.testing.assert_array_equal(within.values, without.values)
            assert not within.seen.any()

    @pytest.mark.parametrize("member", [VECTORS, LINEAR], ids=lambda m: m.engine_name)
    def test_for_vectors_only_how_rare_n_grams_are_differs(self, member: Settings) -> None:
        model = trained(6, (member,))
        asked = texts_by(range(6)).documents[7].text
        within = fill_tables(model, [asked], [])
        without = fill_tables(without_text(model, 7), [asked], [])
        np.testing.assert_allclose(within.values, without.values, atol=0.05)
        own = model.owners[7]
        learnt = fill_tables(replace(model, owners=(*model.owners[:7], own, *model.owners[8:])), [asked + " the"], [])
        assert learnt.values[0, 0, own] < within.values[0, 0, own] - 0.2  # nearly the same text, which is not set aside

    def test_a_text_that_was_put_with_another_author_is_given_back(self) -> None:
        """Whoever learnt it says nothing of it: c's text, kept among a's, sounds like c."""
        writings = texts_by(range(6))
        authors = ["a" if document.name == "c/1" else author for author, document in pairs(writings)]
        model = train_authors(writings_of(writings.documents, authors, "english"), USUAL)
        (found,) = attribute(model, [Document("?", habits(2, 400, 1))])
        assert found.author == "c"

    @pytest.mark.parametrize("members", [(NGRAM,), (VECTORS,), (LINEAR,), (NGRAM, VECTORS, LINEAR)])
    def test_of_an_author_s_only_text_his_head_says_nothing(
        self, members: tuple[Settings, ...], caplog: pytest.LogCaptureFixture
    ) -> None:
        """Without it nothing would be left of him: he is like the average of the others, not certain, not last."""
        writings = texts_by(range(4), range(1))
        found = attribute(train_authors(writings, members), writings.documents, 0)
        for each, author in zip(found, "abcd", strict=True):
            (own,) = [candidate.probability for candidate in each.ranking if candidate.author == author]
            assert 0.05 < own < 0.5
        assert beside_length(caplog) == [
            f"{name}/0: the same as {name}/0 by {name}, his only text: he can't be judged" for name in "abcd"
        ]

    def test_among_millions_of_characters_only_whole_texts_are_looked_for(
        self, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cautions, "MOST_COMPARED", 100)
        known = texts_by(range(6)).documents[4]
        part = Document("part", unknown([0])[0].text + known.text[50:250])
        attribute(trained(), [Document("copy", known.text), part])
        assert [said.split(":")[0] for said in beside_length(caplog)] == ["copy"]

    def test_short_texts_are_named_and_many_of_them_counted(self, caplog: pytest.LogCaptureFixture) -> None:
        weak = "below 1,000 the evidence is weak, whichever way it points"
        long = Document("long", habits(1, 1_200, 9))
        scrap, *_, last = attribute(trained(), [Document("scrap", unknown([0])[0].text[:60]), long])
        assert caplog.messages == [f"scrap: 60 characters; {weak}"]
        assert scrap.cautions == (f"60 characters; {weak}",)
        assert last.cautions == ()
        caplog.clear()
        found = attribute(trained(), [Document(f"{n}.txt", long.text[n : n + 535]) for n in range(5)])
        assert caplog.messages == [f"5 texts (0.txt, 1.txt, 2.txt and 2 more) are short; {weak}"]
        assert {each.cautions for each in found} == {(f"535 characters; {weak}",)}

    def test_texts_that_are_known_are_named(self, caplog: pytest.LogCaptureFixture) -> None:
        known = texts_by(range(6)).documents[4]
        part = Document("part", unknown([0])[0].text + known.text[50:250])
        attribute(trained(), [*unknown([1]), Document("copy", f" {known.text}\n"), part])
        assert beside_length(caplog) == [
            f"copy: the same as {known.name} by b, and judged as if the model had not learnt it",
            f"part: shares 100 characters or more word for word with {known.name} by b, which the model has learnt;"
            " what it says of them is no evidence",
        ]


def beside_length(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What is said of texts but that they are short."""
    return [said for said in caplog.messages if not said.endswith(cautions.WEAK)]


def pairs(writings: Writings) -> list[tuple[str, Document]]:
    return list(zip(writings.authors, writings.documents, strict=True))


class TestTraining:
    def test_what_a_model_holds(self) -> None:
        model = trained(4, (NGRAM, MASKED, RNN))
        assert model.authors == ("a", "b", "c", "d")
        assert model.owners == (0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3)
        assert sorted(model.titles[:3]) == ["a/0", "a/1", "a/2"]
        assert [(view.rules, view.mask) for view in model.views] == [("paper", "none"), ("paper", "topic")]
        assert [model.view_of(member) for member in model.members] == [0, 1, 0]
        assert model.language == "english"
        assert model.characters == sum(len(text) for text in model.texts[0]) > 12 * 350
        assert list(model.networks) == [2]
        assert len(model.networks[2].weights.heads) == 4
        assert (model.judge.held_out, len(model.judge.weights)) == (12, 3)

    def test_how_sure_to_be_is_learnt_where_authors_have_two_texts(self) -> None:
        assert trained().judge != Judge.usual(USUAL)
        assert trained().judge.held_out == 18
        guess = train_authors(texts_by(range(4), range(1)), USUAL).judge
        assert guess == Judge.usual(USUAL)

    def test_of_many_texts_as_many_are_held_out_as_may_be_evenly(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(model_module, "MOST_HELD_OUT", 8)
        monkeypatch.setattr(model_module, "LEVEL_TEXTS", 6)
        model = train_authors(texts_by(range(4)), (NGRAM,))
        assert model.judge.held_out == 8
        tables = fill_tables(model, [document.text for document in unknown([2])])
        np.testing.assert_array_equal(np.sort(np.bincount(tables.owners[:-1])), [1, 1, 2, 2])
        assert (tables.values.shape, tables.owners[-1]) == ((1, 7, 4), -1)
        assert [each.author for each in attribute(model, unknown(range(4)))] == list("abcd")

    def test_which_texts_are_held_out_does_not_depend_on_names(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(model_module, "MOST_HELD_OUT", 7)
        monkeypatch.setattr(model_module, "LEVEL_TEXTS", 5)
        writings = texts_by(range(4))
        turned = writings_of(writings.documents, [chr(ord("z") - ord(name) + ord("a")) for name in writings.authors])
        one, two = (train_authors(each, (NGRAM,)) for each in (writings, turned))
        assert one.judge.weights == pytest.approx(two.judge.weights)
        assert (one.judge.middle, one.judge.slope) == pytest.approx((two.judge.middle, two.judge.slope))
        assert attribute(one, unknown([2]))[0].none == pytest.approx(attribute(two, unknown([2]))[0].none, rel=1e-6)

    def test_another_seed_makes_another_network_and_the_same_counts(self) -> None:
        one, two = (train_authors(texts_by(range(3)), (NGRAM, RNN), seed) for seed in (0, 1))
        assert (one.networks[1].weights.heads != two.networks[1].weights.heads).any()
        assert one.judge.weights == two.judge.weights
        again = train_authors(texts_by(range(3)), (NGRAM, RNN), 1)
        assert author_model_bytes(again) == author_model_bytes(two)

    def test_a_text_that_two_authors_have_is_refused_though_they_differ_in_what_no_member_sees(self) -> None:
        """The snowman is too rare to be in the alphabet."""
        writings = texts_by(range(10), range(4))
        twin = Document("x/1", writings.documents[0].text + " \u2603")
        many = writings_of([*writings.documents, twin], [*writings.authors, "x"], "english")
        with pytest.raises(CorpusError, match=r"x/1: x and a \(.*\) have the same text; leave it with the one who"):
            train_authors(many, (NGRAM,))

    def test_too_few_authors_are_refused(self) -> None:
        with pytest.raises(TooLittleText, match="1 author, 2 are needed; add texts by others"):
            train_authors(texts_by([3]), USUAL)

    def test_an_engine_that_cant_attribute_is_refused(self) -> None:
        with pytest.raises(SettingsError, match="the engine spread can't attribute; there are ngram, vectors, linear"):
            train_authors(texts_by(range(3)), [NGRAM, Settings(engine="spread")])

    def test_texts_too_short_to_learn_are_all_named(self) -> None:
        documents = [*texts_by(range(2)).documents, Document("x/1.txt", "the cat"), Document("x/2.txt", "no")]
        writings = writings_of(documents, [*texts_by(range(2)).authors, "x", "x"], "english")
        with pytest.raises(TooLittleText) as refusal:
            train_authors(writings, USUAL)
        assert [line.split(":")[0].strip() for line in str(refusal.value).splitlines()] == ["x/2.txt", "x/1.txt"]
        assert re.search("2 characters after normalising, 12 are needed; remove it", str(refusal.value))

    def test_who_looks_on_is_told_and_can_stop_it(self) -> None:
        said: list[str] = []
        train_authors(texts_by(range(2)), (NGRAM, MASKED), watch=Watch(stage=said.append))
        assert said == ["member 1 of 2, ngram", "member 2 of 2, ngram (topic masked)", "how sure to be"]

        def stop() -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            train_authors(texts_by(range(2)), (VECTORS,), watch=Watch(proceed=stop))


class TestKept:
    """What was counted of the model's own texts is kept for the next question, and changes no answer."""

    def test_a_second_question_counts_nothing_of_it_anew(self, monkeypatch: pytest.MonkeyPatch) -> None:
        model = replace(trained())
        first = attribute(model, unknown([1]))
        assert {"levels", "numbering 0 5"} <= model.kept.keys()
        counted = []
        number_texts = model_module.number_texts
        monkeypatch.setattr(model_module, "sample_texts", lambda *_: counted.append("levels"))
        monkeypatch.setattr(model_module, "number_texts", lambda *all_: counted.append("index") or number_texts(*all_))
        assert attribute(model, unknown([1])) == first
        assert counted == []

    def test_another_model_has_its_own(self) -> None:
        model = replace(trained())
        attribute(model, unknown([1]))
        enrolled = enrol_authors(model, texts_by([6]))
        assert enrolled.kept == {}
        assert attribute(enrolled, unknown([6]))[0].author == "g"

    def test_a_large_one_keeps_no_index_and_answers_the_same(self, monkeypatch: pytest.MonkeyPatch) -> None:
        wanted = attribute(trained(), unknown([2]))[0]
        monkeypatch.setattr(model_module, "MOST_KEPT", 100)
        model = replace(trained())
        (found,) = attribute(model, unknown([2]))
        assert model.kept.keys() == {"levels"}
        assert chances(found) == pytest.approx(chances(wanted), rel=1e-9)


class TestLostLetters:
    """The alphabet is counted over all texts together: a long one can take letters away from a short one."""

    RARE = " \u00df\u00e6\u00f8"

    def writings(self, share: int) -> Writings:
        """Two authors, one of whom uses letters of his own once in so many words."""
        usual = habits("a", 400_000)
        words = habits("b", 400).split()
        mixed = " ".join(word + self.RARE * (number % share == 0) for number, word in enumerate(words))
        return writings_of([Document("a.txt", usual), Document("b.txt", mixed)], ["a", "b"], "english")

    def test_a_text_that_loses_many_is_named(self, caplog: pytest.LogCaptureFixture) -> None:
        train_authors(self.writings(5), (VECTORS,))
        (said,) = caplog.messages
        assert re.fullmatch(
            r"b.txt: only \d+ of \d+ characters are learnt, the others are too rare in all texts together", said
        )

    def test_one_that_loses_few_is_not(self, caplog: pytest.LogCaptureFixture) -> None:
        train_authors(self.writings(50), (VECTORS,))
        assert caplog.messages == []

    def test_a_text_that_is_asked_is_judged_named_or_refused(self, caplog: pytest.LogCaptureFixture) -> None:
        model, plain = trained(), habits(1, 1_200, 40)
        assert attribute(model, [Document("x.txt", plain)])[0].cautions == ()
        assert caplog.messages == []
        letters = "\u03bc" * (len(plain) // 2)
        known = len(model.views[0].normal(plain))
        (found,) = attribute(model, [Document("x.txt", plain + letters)])
        whole = known + len(letters)
        assert found.cautions == (f"only {known} of {whole} characters are ones that the model knows",)
        assert caplog.messages == [f"x.txt: {found.cautions[0]}"]
        many = Document("y.txt", plain + letters * 3)
        with pytest.raises(
            CorpusError, match=r"y.txt: only \d+ of \d+ characters are ones that the model knows; leave"
        ):
            attribute(model, [Document("x.txt", plain), many])


class TestEnrolling:
    def test_enrolled_authors_are_attributed_to_like_those_that_were_trained_together(self) -> None:
        """With the same judge, and nothing in the new texts that the old ones have not, to the last bit."""
        together = trained(8)
        first = train_authors(texts_by(range(6)), USUAL)
        enrolled = enrol_authors(first, texts_by([6, 7]))
        assert first.views == together.views
        assert author_model_bytes(enrolled) == author_model_bytes(replace(together, judge=first.judge))
        found = attribute(enrolled, unknown(range(8)))
        assert found == attribute(replace(together, judge=first.judge), unknown(range(8)))
        assert [each.author for each in found] == list("abcdefgh")

    def test_it_does_not_matter_who_was_enrolled(self) -> None:
        """Authors that come first in the alphabet come last in the model."""
        enrolled = enrol_authors(train_authors(texts_by(range(2, 8)), USUAL), texts_by(range(2)))
        together = replace(trained(8), judge=enrolled.judge, views=enrolled.views)
        assert enrolled.authors == (*"cdefgh", *"ab")
        for one, two in zip(
            attribute(enrolled, unknown(range(8))), attribute(together, unknown(range(8))), strict=True
        ):
            assert one.author == two.author
            assert chances(one) == pytest.approx(chances(two), rel=1e-6)

    def test_what_was_learnt_of_how_sure_to_be_stays(self) -> None:
        model = trained()
        enrolled = enrol_authors(model, texts_by([6]))
        assert (enrolled.judge, enrolled.views, enrolled.members) == (model.judge, model.views, model.members)
        assert (enrolled.authors, enrolled.owners[-3:]) == (tuple("abcdefg"), (6, 6, 6))
        assert model.authors == tuple("abcdef")

    def test_an_author_that_is_there_already_is_refused(self) -> None:
        with pytest.raises(SettingsError, match="c is in the model already; give new authors another name"):
            enrol_authors(trained(), texts_by([2, 8]))

    def test_however_the_accents_in_a_name_are_stored(self) -> None:
        model = replace(trained(), authors=("Jos\u00e9", *trained().authors[1:]))
        again = replace(texts_by([8]), authors=("Jose\u0301",) * len(texts_by([8]).authors))
        with pytest.raises(SettingsError, match="is in the model already"):
            enrol_authors(model, again)

    def test_nobody_can_be_none_of_these(self) -> None:
        named = replace(texts_by([8]), authors=("None of these",) * len(texts_by([8]).authors))
        with pytest.raises(CorpusError, match="an author can't be called 'None of these'"):
            enrol_authors(trained(), named)
        both = writings_of(
            [*texts_by([1]).documents, *named.documents], [*texts_by([1]).authors, *named.authors], "english"
        )
        with pytest.raises(CorpusError, match="an author can't be called 'None of these'"):
            train_authors(both, USUAL)

    def test_texts_in_another_script_are_refused(self) -> None:
        greek = Document(
            "x/1.txt", "\u03bc\u03b7\u03bd\u03b9\u03bd, \u03b1\u03b5\u03b9\u03b4\u03b5, \u03b8\u03b5\u03b1; " * 20
        )
        with pytest.raises(CorpusError, match=r"x/1.txt: only \d+ of \d+ characters are ones that the model knows"):
            enrol_authors(trained(), writings_of([greek], ["x"], "english"))

    def test_texts_too_short_are_refused(self) -> None:
        with pytest.raises(TooLittleText, match=r"x/1.txt: 7 characters after normalising"):
            enrol_authors(trained(), writings_of([Document("x/1.txt", "the cat")], ["x"], "english"))


class TestNetworks:
    MEMBERS = (NGRAM, RNN, RNN.change({"mask": "topic", "direction": "backward"}))

    def test_old_heads_stay_as_they_were_and_new_ones_come_behind(self) -> None:
        model = trained(4, self.MEMBERS)
        enrolled = enrol_authors(model, texts_by([4, 5]))
        for number in (1, 2):
            old, new = model.networks[number].weights, enrolled.networks[number].weights
            for name in ("input", "recurrent", "bias"):
                assert getattr(old, name).tobytes() == getattr(new, name).tobytes()
            assert new.heads[:4].tobytes() == old.heads.tobytes()
            assert new.head_bias[:4].tobytes() == old.head_bias.tobytes()
            assert (len(new.heads), len(new.head_bias)) == (6, 6)
            assert (new.heads[4] != new.heads[5]).any()

    def test_a_head_is_the_same_whichever_others_are_enrolled_beside_it(self) -> None:
        model = trained(4, self.MEMBERS)
        one, two = enrol_authors(model, texts_by([5])), enrol_authors(model, texts_by([4, 5]))
        for number in (1, 2):
            assert one.networks[number].weights.heads[-1].tobytes() == two.networks[number].weights.heads[-1].tobytes()

    def test_nor_who_was_enrolled_before(self, tmp_path: Path) -> None:
        """In one step or in two, with a file between them, the heads are the same."""
        model = trained(4, self.MEMBERS)
        once = enrol_authors(model, texts_by([4, 5]))
        write_author_model(tmp_path / "m.byline", enrol_authors(model, texts_by([4])))
        between = read_author_model(tmp_path / "m.byline")
        assert (between.trained, len(between.authors)) == (4, 5)
        twice = enrol_authors(between, texts_by([5]))
        assert author_model_bytes(twice) == author_model_bytes(once)

    def test_what_old_heads_say_of_a_text_stays(self) -> None:
        model = trained(4, self.MEMBERS)
        enrolled = enrol_authors(model, texts_by([4, 5]))
        asked = [document.text for document in unknown([1, 4])]
        before, after = (fill_tables(each, asked, []) for each in (model, enrolled))
        np.testing.assert_allclose(after.values[1:, :, :4], before.values[1:], rtol=1e-6)
        assert (after.values[0, :, :4] != before.values[0]).all()  # counts have more in the background

    def test_all_authors_are_attributed_to_by_networks_too(self) -> None:
        members = (RNN.change({"sub_epochs": 10}), RNN.change({"sub_epochs": 10}), NGRAM)
        texts = [
            (str(author), Document(f"{author}/{salt}", phrase(author, 600, salt)))
            for author in range(6)
            for salt in range(2)
        ]
        old, new = texts[:8], texts[8:]
        model = train_authors(writings_of([document for _, document in old], [author for author, _ in old]), members)
        assert (model.networks[0].weights.heads != model.networks[1].weights.heads).any()  # each has its own chance
        assert model.judge.weights[0] == model.judge.weights[1] == 0.6  # they know all texts of their authors
        enrolled = enrol_authors(model, writings_of([d for _, d in new], [author for author, _ in new]))
        asked = [Document(str(author), phrase(author, 600, salt=7)) for author in range(6)]
        assert [each.author for each in attribute(model, asked[:4], 0)] == list("0123")
        assert [each.author for each in attribute(enrolled, asked, 0)] == list("012345")
        new_texts = fill_tables(enrolled, [document.text for document in asked[4:]], []).values[:2]
        np.testing.assert_array_equal(new_texts.argmin(axis=2), [[4, 5], [4, 5]])  # by what the networks say alone

    def test_a_network_has_seen_all_texts_of_its_authors(self) -> None:
        tables = fill_tables(trained(4, self.MEMBERS), [document.text for document in unknown([1])], range(12))
        own = np.eye(4, dtype=np.bool_)[tables.owners[:-1]]
        assert not tables.seen[0].any()
        for member in (1, 2):
            np.testing.assert_array_equal(tables.seen[member, :-1], own)
            assert not tables.seen[member, -1].any()

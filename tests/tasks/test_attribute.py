"""Models of authors, from texts to who is likely to have written another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from byline.author_models import model as model_module
from byline.author_models.model import AuthorModel, enroll_authors, score_texts, train_authors
from byline.author_models.model_file import author_model_bytes, read_author_model, write_author_model
from byline.corpora.author_corpus import AuthorCorpus, make_author_corpus, read_author_corpus
from byline.corpora.documents import Document
from byline.engines.protocol import Runtime
from byline.errors import CorpusError, SettingsError, TooLittleText
from byline.judgment.candidates import CandidateCalibration
from byline.settings.settings import Settings, read_pool
from byline.tasks import attribute as attribution
from byline.tasks.attribute import Attribution, attribute
from samples import habits, phrase

NGRAM, VECTORS, LINEAR = (Settings(engine=engine) for engine in ("ngram", "vectors", "linear"))
MASKED = NGRAM.change({"mask": "topic"})
BACKWARD = NGRAM.change({"direction": "backward", "order": 3})
RNN = Settings(hidden=5, sub_epochs=3)
USUAL = read_pool("authors").rows


def texts_by(authors: Iterable[int], salts: Iterable[int] = range(3), length: int = 400) -> AuthorCorpus:
    """Texts by authors who are called by a letter each: a, b, ..."""
    chosen = [(author, salt) for author in authors for salt in salts]
    documents = [Document(f"{chr(97 + author)}/{salt}", habits(author, length, salt)) for author, salt in chosen]
    return make_author_corpus(documents, [chr(97 + author) for author, _ in chosen], "english")


@cache
def trained(count: int = 6, members: tuple[Settings, ...] = USUAL) -> AuthorModel:
    return train_authors(texts_by(range(count)), members)


def unknown(authors: Iterable[int], salt: int = 50, length: int = 400) -> list[Document]:
    return [Document(chr(97 + author), habits(author, length, salt)) for author in authors]


def chances(found: Attribution) -> dict[str, float]:
    return {candidate.author: candidate.probability for candidate in found.ranking}


class TestAttribute:
    def test_texts_of_the_authors_that_were_not_learned_are_attributed_to_them(self) -> None:
        found = attribute(trained(), unknown(range(6)))
        assert [each.author for each in found] == [each.document for each in found] == list("abcdef")
        assert all(each.probability > 0.9 for each in found)

    @pytest.mark.parametrize("member", [NGRAM, VECTORS, LINEAR, MASKED, BACKWARD, RNN], ids=lambda m: m.engine_name)
    def test_any_member_can_do_it_alone(self, member: Settings) -> None:
        documents = [Document(str(n), phrase(n, 500, salt=9)) for n in range(5)]
        known = [(str(n), Document(f"{n}/{salt}", phrase(n, 500, salt))) for n in range(5) for salt in range(2)]
        author_corpus = make_author_corpus([document for _, document in known], [author for author, _ in known])
        model = train_authors(author_corpus, [member.change({"sub_epochs": 8}) if member.engine == "rnn" else member])
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
            assert none or each.author == each.ranking[0].author

    def test_a_greater_prior_makes_none_of_these_more_probable(self) -> None:
        nobody = [attribute(trained(), unknown([1]), none)[0].none for none in (0.01, 0.1, 0.5, 0.9)]
        assert nobody == sorted(nobody)
        assert nobody[0] < nobody[-1]
        # odds change as those of the prior do
        odds = [chance / (1 - chance) for chance in nobody]
        assert odds[3] / odds[2] == pytest.approx(9)

    @pytest.mark.parametrize("none", [-0.1, 1, 2, float("nan")])
    def test_a_prior_that_is_no_probability_is_refused(self, none: float) -> None:
        with pytest.raises(SettingsError) as error:
            attribute(trained(), unknown([1]), none)
        assert error.value.where == "none"

    def test_nothing_asked_is_nothing_answered(self) -> None:
        assert attribute(trained(), []) == ()

    def test_texts_too_short_to_judge_are_all_named(self) -> None:
        documents = [Document("one.txt", "hm"), *unknown([1]), Document("two.txt", "the old \u4e2d\u4e2d\u4e2d\u4e2d")]
        with pytest.raises(TooLittleText) as refusal:
            attribute(trained(), documents)
        assert all(name in str(refusal.value) for name in ("one.txt", "two.txt"))

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

    def test_the_order_of_folders_and_files_makes_no_other_model(self, tmp_path: Path) -> None:
        folders = []
        for number, authors in enumerate([(0, 1), (2, 3)]):
            for author in authors:
                folder = tmp_path / str(number) / chr(97 + author)
                folder.mkdir(parents=True)
                for salt in range(2):
                    (folder / f"{salt}.txt").write_text(habits(author, 300, salt), "utf-8")
            folders.append(tmp_path / str(number))
        one, two = (
            train_authors(read_author_corpus(order), (NGRAM, LINEAR, RNN)) for order in (folders, folders[::-1])
        )
        assert author_model_bytes(one) == author_model_bytes(two)

    def test_what_authors_are_called_does_not_matter(self) -> None:
        names = dict(zip("abcdef", "QCZMAX", strict=True))
        author_corpus = texts_by(range(6))
        renamed = make_author_corpus(
            author_corpus.documents, [names[author] for author in author_corpus.authors], "english"
        )
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
        model = train_authors(texts_by(range(6)), members, runtime=Runtime(threads=3))
        assert author_model_bytes(model) == author_model_bytes(trained(6, members))
        assert attribute(model, unknown([3]), runtime=Runtime(threads=3)) == attribute(model, unknown([3]))


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
            within = score_texts(model, [asked], [])
            without = score_texts(without_text(model, text), [asked], [])
            np.testing.assert_array_equal(within.values, without.values)
            assert not within.seen.any()

    @pytest.mark.parametrize("member", [VECTORS, LINEAR], ids=lambda m: m.engine_name)
    def test_for_vectors_only_how_rare_n_grams_are_differs(self, member: Settings) -> None:
        model = trained(6, (member,))
        asked = texts_by(range(6)).documents[7].text
        within = score_texts(model, [asked], [])
        without = score_texts(without_text(model, 7), [asked], [])
        np.testing.assert_allclose(within.values, without.values, atol=0.05)
        own = model.owners[7]
        learned = score_texts(replace(model, owners=(*model.owners[:7], own, *model.owners[8:])), [asked + " the"], [])
        assert (
            learned.values[0, 0, own] < within.values[0, 0, own] - 0.2
        )  # nearly the same text, which is not set aside

    def test_a_text_that_was_put_with_another_author_is_given_back(self) -> None:
        """Whoever learned it says nothing of it: c's text, kept among a's, sounds like c."""
        author_corpus = texts_by(range(6))
        authors = ["a" if document.name == "c/1" else author for author, document in pairs(author_corpus)]
        model = train_authors(make_author_corpus(author_corpus.documents, authors, "english"), USUAL)
        (found,) = attribute(model, [Document("?", habits(2, 400, 1))])
        assert found.author == "c"

    @pytest.mark.parametrize("members", [(NGRAM,), (VECTORS,), (LINEAR,), (NGRAM, VECTORS, LINEAR)])
    def test_of_an_author_s_only_text_his_head_says_nothing(
        self, members: tuple[Settings, ...], caplog: pytest.LogCaptureFixture
    ) -> None:
        """Without it nothing would be left of him: he is like the average of the others, not certain, not last."""
        author_corpus = texts_by(range(4), range(1))
        found = attribute(train_authors(author_corpus, members), author_corpus.documents, 0)
        for each, author in zip(found, "abcd", strict=True):
            (own,) = [candidate.probability for candidate in each.ranking if candidate.author == author]
            assert 0.05 < own < 0.5
        assert [said.split(":")[0] for said in beside_length(caplog)] == [f"{name}/0" for name in "abcd"]
        assert all("can't be judged" in each.cautions[0] for each in found)

    def test_among_millions_of_characters_only_whole_texts_are_looked_for(
        self, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(attribution, "MAX_COMPARED", 100)
        known = texts_by(range(6)).documents[4]
        part = Document("part", unknown([0])[0].text + known.text[50:250])
        attribute(trained(), [Document("copy", known.text), part])
        assert [said.split(":")[0] for said in beside_length(caplog)] == ["copy"]

    def test_short_texts_are_named_and_many_of_them_counted(self, caplog: pytest.LogCaptureFixture) -> None:
        long = Document("long", habits(1, 1_200, 9))
        scrap, other = attribute(trained(), [Document("scrap", unknown([0])[0].text[:60]), long])
        assert scrap.cautions == (f"60 characters{attribution.WEAK}",)
        assert other.cautions == ()
        assert caplog.messages == [f"scrap: {scrap.cautions[0]}"]
        caplog.clear()
        found = attribute(trained(), [Document(f"{n}.txt", long.text[n : n + 535]) for n in range(5)])
        assert caplog.messages == [f"5 texts (0.txt, 1.txt, 2.txt and 2 more) are short{attribution.WEAK}"]
        assert {each.cautions for each in found} == {(f"535 characters{attribution.WEAK}",)}

    def test_texts_that_are_known_are_named(self, caplog: pytest.LogCaptureFixture) -> None:
        known = texts_by(range(6)).documents[4]
        part = Document("part", unknown([0])[0].text + known.text[50:250])
        new, copy, shared = attribute(trained(), [*unknown([1]), Document("copy", f" {known.text}\n"), part])
        assert len(new.cautions) == 1  # that it is short
        assert copy.cautions[0].startswith(f"the same as {known.name} by b")
        assert "word for word" in shared.cautions[0]
        assert f"{known.name} by b" in shared.cautions[0]
        assert beside_length(caplog) == [f"copy: {copy.cautions[0]}", f"part: {shared.cautions[0]}"]


def beside_length(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What is said of texts but that they are short."""
    return [said for said in caplog.messages if not said.endswith(attribution.WEAK)]


def pairs(author_corpus: AuthorCorpus) -> list[tuple[str, Document]]:
    return list(zip(author_corpus.authors, author_corpus.documents, strict=True))


class TestTraining:
    def test_how_sure_to_be_is_learned_where_authors_have_two_texts(self) -> None:
        assert trained().calibration != CandidateCalibration.default(USUAL)
        assert trained().calibration.held_out == 18
        guess = train_authors(texts_by(range(4), range(1)), USUAL).calibration
        assert guess == CandidateCalibration.default(USUAL)

    def test_of_many_texts_as_many_are_held_out_as_may_be_evenly(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(model_module, "MOST_HELD_OUT", 8)
        monkeypatch.setattr(model_module, "LEVEL_TEXTS", 6)
        model = train_authors(texts_by(range(4)), (NGRAM,))
        assert model.calibration.held_out == 8
        tables = score_texts(model, [document.text for document in unknown([2])])
        np.testing.assert_array_equal(np.sort(np.bincount(tables.owners[:-1])), [1, 1, 2, 2])
        assert (tables.values.shape, tables.owners[-1]) == ((1, 7, 4), -1)
        assert [each.author for each in attribute(model, unknown(range(4)))] == list("abcd")

    def test_another_seed_makes_another_network_and_the_same_counts(self) -> None:
        one, two = (train_authors(texts_by(range(3)), (NGRAM, RNN), seed) for seed in (0, 1))
        assert (one.networks[1].weights.heads != two.networks[1].weights.heads).any()
        assert one.calibration.weights == two.calibration.weights
        again = train_authors(texts_by(range(3)), (NGRAM, RNN), 1)
        assert author_model_bytes(again) == author_model_bytes(two)

    def test_a_text_that_two_authors_have_is_refused_though_they_differ_in_what_no_member_sees(self) -> None:
        """The snowman is too rare to be in the alphabet."""
        author_corpus = texts_by(range(10), range(4))
        twin = Document("x/1", author_corpus.documents[0].text + " \u2603")
        many = make_author_corpus([*author_corpus.documents, twin], [*author_corpus.authors, "x"], "english")
        with pytest.raises(CorpusError, match="have the same text") as error:
            train_authors(many, (NGRAM,))
        assert error.value.where == "x/1"
        assert error.value.remedy

    def test_too_few_authors_are_refused(self) -> None:
        with pytest.raises(TooLittleText, match="1 author"):
            train_authors(texts_by([3]), USUAL)

    def test_an_engine_that_cant_attribute_is_refused(self) -> None:
        with pytest.raises(SettingsError) as error:
            train_authors(texts_by(range(3)), [NGRAM, Settings(engine="words")])
        assert error.value.where == "engine words"
        assert "ngram, vectors, linear" in str(error.value.remedy)

    def test_who_looks_on_is_told_and_can_stop_it(self) -> None:
        said: list[str] = []
        train_authors(texts_by(range(2)), (NGRAM, MASKED), runtime=Runtime(stage=said.append))
        assert said == ["member 1 of 2, ngram", "member 2 of 2, ngram (topic masked)", "how sure to be"]

        def stop() -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            train_authors(texts_by(range(2)), (VECTORS,), runtime=Runtime(proceed=stop))


class TestKept:
    """What was counted of the model's own texts is kept for the next question, and changes no answer."""

    def test_a_large_one_keeps_no_index_and_answers_the_same(self, monkeypatch: pytest.MonkeyPatch) -> None:
        wanted = attribute(trained(), unknown([2]))[0]
        monkeypatch.setattr(model_module, "MAX_CACHED", 100)
        model = replace(trained())
        (found,) = attribute(model, unknown([2]))
        assert model.cache.keys() == {"levels"}
        assert chances(found) == pytest.approx(chances(wanted), rel=1e-9)


class TestLostLetters:
    """The alphabet is counted over all texts together: a long one can take letters away from a short one."""

    RARE = " \u00df\u00e6\u00f8"

    def author_corpus(self, share: int) -> AuthorCorpus:
        """Two authors, one of whom uses letters of his own once in so many words."""
        usual = habits("a", 400_000)
        words = habits("b", 400).split()
        mixed = " ".join(word + self.RARE * (number % share == 0) for number, word in enumerate(words))
        return make_author_corpus([Document("a.txt", usual), Document("b.txt", mixed)], ["a", "b"], "english")

    def test_a_text_that_loses_many_is_named(self, caplog: pytest.LogCaptureFixture) -> None:
        train_authors(self.author_corpus(5), (VECTORS,))
        (said,) = caplog.messages
        assert re.match(r"b.txt: only \d+ of \d+ characters are learned", said)

    def test_one_that_loses_few_is_not(self, caplog: pytest.LogCaptureFixture) -> None:
        train_authors(self.author_corpus(50), (VECTORS,))
        assert caplog.messages == []

    def test_a_text_that_is_asked_is_judged_named_or_refused(self, caplog: pytest.LogCaptureFixture) -> None:
        model, plain = trained(), habits(1, 1_200, 40)
        assert attribute(model, [Document("x.txt", plain)])[0].cautions == ()
        assert caplog.messages == []
        letters = "\u03bc" * (len(plain) // 2)
        known = len(model.encoders[0].normal(plain))
        (found,) = attribute(model, [Document("x.txt", plain + letters)])
        whole = known + len(letters)
        assert found.cautions == (f"only {known} of {whole} characters are known to the model",)
        assert caplog.messages == [f"x.txt: {found.cautions[0]}"]
        many = Document("y.txt", plain + letters * 3)
        with pytest.raises(CorpusError) as error:
            attribute(model, [Document("x.txt", plain), many])
        assert error.value.where == "y.txt"
        assert error.value.remedy


class TestEnrolling:
    def test_enrolled_authors_are_attributed_to_like_those_that_were_trained_together(self) -> None:
        """With the same calibration, and nothing in the new texts that the old ones have not, to the last bit."""
        together = trained(8)
        first = train_authors(texts_by(range(6)), USUAL)
        enrolled = enroll_authors(first, texts_by([6, 7]))
        assert first.encoders == together.encoders
        assert author_model_bytes(enrolled) == author_model_bytes(replace(together, calibration=first.calibration))
        found = attribute(enrolled, unknown(range(8)))
        assert found == attribute(replace(together, calibration=first.calibration), unknown(range(8)))
        assert [each.author for each in found] == list("abcdefgh")

    def test_an_author_that_is_there_already_is_refused(self) -> None:
        with pytest.raises(SettingsError, match="is in the model already") as error:
            enroll_authors(trained(), texts_by([2, 8]))
        assert error.value.where == "c"
        assert error.value.remedy

    def test_however_the_accents_in_a_name_are_stored(self) -> None:
        model = replace(trained(), authors=("Jos\u00e9", *trained().authors[1:]))
        again = replace(texts_by([8]), authors=("Jose\u0301",) * len(texts_by([8]).authors))
        with pytest.raises(SettingsError, match="is in the model already"):
            enroll_authors(model, again)

    def test_nobody_can_be_none_of_these(self) -> None:
        named = replace(texts_by([8]), authors=("None of these",) * len(texts_by([8]).authors))
        with pytest.raises(CorpusError, match="none of them"):
            enroll_authors(trained(), named)
        both = make_author_corpus(
            [*texts_by([1]).documents, *named.documents], [*texts_by([1]).authors, *named.authors], "english"
        )
        with pytest.raises(CorpusError, match="none of them"):
            train_authors(both, USUAL)

    def test_texts_in_another_script_are_refused(self) -> None:
        greek = Document(
            "x/1.txt", "\u03bc\u03b7\u03bd\u03b9\u03bd, \u03b1\u03b5\u03b9\u03b4\u03b5, \u03b8\u03b5\u03b1; " * 20
        )
        with pytest.raises(CorpusError) as error:
            enroll_authors(trained(), make_author_corpus([greek], ["x"], "english"))
        assert error.value.where == "x/1.txt"


class TestNetworks:
    MEMBERS = (NGRAM, RNN, RNN.change({"mask": "topic", "direction": "backward"}))

    def test_old_heads_stay_as_they_were_and_new_ones_come_behind(self) -> None:
        model = trained(4, self.MEMBERS)
        enrolled = enroll_authors(model, texts_by([4, 5]))
        for number in (1, 2):
            old, new = model.networks[number].weights, enrolled.networks[number].weights
            for name in ("input", "recurrent", "bias"):
                assert getattr(old, name).tobytes() == getattr(new, name).tobytes()
            assert new.heads[:4].tobytes() == old.heads.tobytes()
            assert new.head_bias[:4].tobytes() == old.head_bias.tobytes()
            assert (len(new.heads), len(new.head_bias)) == (6, 6)
            assert (new.heads[4] != new.heads[5]).any()

    def test_nor_who_was_enrolled_before(self, tmp_path: Path) -> None:
        """In one step or in two, with a file between them, the heads are the same."""
        model = trained(4, self.MEMBERS)
        once = enroll_authors(model, texts_by([4, 5]))
        write_author_model(tmp_path / "m.byline", enroll_authors(model, texts_by([4])))
        between = read_author_model(tmp_path / "m.byline")
        assert (between.trained, len(between.authors)) == (4, 5)
        twice = enroll_authors(between, texts_by([5]))
        assert author_model_bytes(twice) == author_model_bytes(once)

    def test_all_authors_are_attributed_to_by_networks_too(self) -> None:
        members = (RNN.change({"sub_epochs": 10}), RNN.change({"sub_epochs": 10}), NGRAM)
        texts = [
            (str(author), Document(f"{author}/{salt}", phrase(author, 600, salt)))
            for author in range(6)
            for salt in range(2)
        ]
        old, new = texts[:8], texts[8:]
        model = train_authors(
            make_author_corpus([document for _, document in old], [author for author, _ in old]), members
        )
        assert (model.networks[0].weights.heads != model.networks[1].weights.heads).any()  # each has its own chance
        assert (
            model.calibration.weights[0] == model.calibration.weights[1] == 0.6
        )  # they know all texts of their authors
        enrolled = enroll_authors(model, make_author_corpus([d for _, d in new], [author for author, _ in new]))
        asked = [Document(str(author), phrase(author, 600, salt=7)) for author in range(6)]
        assert [each.author for each in attribute(model, asked[:4], 0)] == list("0123")
        assert [each.author for each in attribute(enrolled, asked, 0)] == list("012345")
        new_texts = score_texts(enrolled, [document.text for document in asked[4:]], []).values[:2]
        np.testing.assert_array_equal(new_texts.argmin(axis=2), [[4, 5], [4, 5]])  # by what the networks say alone

    def test_a_network_has_seen_all_texts_of_its_authors(self) -> None:
        tables = score_texts(trained(4, self.MEMBERS), [document.text for document in unknown([1])], range(12))
        own = np.eye(4, dtype=np.bool_)[tables.owners[:-1]]
        assert not tables.seen[0].any()
        for member in (1, 2):
            np.testing.assert_array_equal(tables.seen[member, :-1], own)
            assert not tables.seen[member, -1].any()

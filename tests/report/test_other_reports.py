"""Reports of attributions, rolled texts and clusters, made by real reports of small models, and in a browser."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from byline.author_models.evidence import AuthorQuestion, explain_attributions
from byline.author_models.model import AuthorModel, train_authors
from byline.author_models.model_file import write_author_model
from byline.corpora.author_corpus import AuthorCorpus, make_author_corpus
from byline.corpora.documents import Document
from byline.report import attribution as attribution_module
from byline.report import clustering as clustering_module
from byline.report.attribution import attribution_report, rolling_report
from byline.report.clustering import clustering_report
from byline.report.page import render
from byline.settings.settings import Settings
from byline.tasks.attribute import Attributions, attribute
from byline.tasks.cluster import cluster_documents
from byline.tasks.rolling import Rolling, roll
from programs import run as start
from report_samples import data_of, prose, unpack
from samples import phrase

ABOUT = {"title": "t", "source": "s", "byline": "0", "made": "now", "provenance": {"command": "byline x"}}
MEMBERS = (
    Settings(engine="ngram", order=4),
    Settings(engine="vectors"),
    Settings(engine="linear"),
    Settings(engine="ngram", order=3, mask="topic"),
    Settings(hidden=5, sub_epochs=3),
)
VECTORS = MEMBERS[1:2]


def bits_of(document: dict[str, Any]) -> float:
    return sum(word[2] for word in document["words"])


@pytest.fixture(scope="module")
def author_corpus() -> AuthorCorpus:
    documents = [
        Document(f"{name}/{salt}", phrase(author, 600, salt) + ".")
        for author, name in enumerate("abcd")
        for salt in range(3)
    ]
    return make_author_corpus(documents, [document.name[0] for document in documents], "english")


@pytest.fixture(scope="module")
def model(author_corpus: AuthorCorpus) -> AuthorModel:
    return train_authors(author_corpus, MEMBERS)


@pytest.fixture(scope="module")
def asked() -> list[Document]:
    return [Document(f"{n}", phrase(n, 1100, 8)) for n in range(4)]


@pytest.fixture(scope="module")
def found(model: AuthorModel, asked: list[Document]) -> Attributions:
    return attribute(model, asked, 0.1)


@pytest.fixture(scope="module")
def report_data(model: AuthorModel, asked: list[Document], found: Attributions) -> dict[str, Any]:
    return attribution_report(model, asked, found, 0.1, ABOUT)


class TestAttributions:
    def test_it_is_plain_values_and_the_same_each_time(
        self, model: AuthorModel, asked: list[Document], found: Attributions, report_data: dict[str, Any]
    ) -> None:
        assert json.loads(json.dumps(report_data, allow_nan=False)) == report_data
        assert attribution_report(model, asked, found, 0.1, ABOUT) == report_data
        assert [row["author"] for row in report_data["documents"]] == list("abcd")
        assert "4 texts compared with 4 authors" in report_data["conclusion"]

    def test_known_texts_stand_beside_the_one_in_question_as_the_model_keeps_them(
        self, report_data: dict[str, Any], author_corpus: AuthorCorpus
    ) -> None:
        unknown, *known = unpack(report_data["documents"][1]["packed"])["documents"]
        assert unknown["role"] == "unknown"
        assert bits_of(unknown) > 0
        assert {each["role"] for each in known} == {"known"}
        assert sorted(each["name"] for each in known) == ["b/0", "b/1", "b/2"]
        originals = {document.name: document.text for document in author_corpus.documents}
        for each in known:
            assert each["text"] == originals[each["name"]]  # with their capitals; nothing here is too rare
            assert bits_of(each) > 0
        assert report_data["documents"][1]["known_whole"]
        assert "as the model keeps them" in report_data["known_as"]

    def test_or_as_they_were_written_where_that_is_at_hand(
        self, model: AuthorModel, asked: list[Document], found: Attributions, author_corpus: AuthorCorpus
    ) -> None:
        odd = [replace(document, text=f"{document.text}\n\n1849") for document in author_corpus.documents]
        before = replace(author_corpus, documents=tuple(odd))
        shown = attribution_report(model, asked[:1], Attributions(found[:1]), 0.1, ABOUT, author_corpus=before)
        assert shown["known_as"] is None
        assert all(
            each["text"].endswith("\n\n1849") for each in unpack(shown["documents"][0]["packed"])["documents"][1:]
        )
        assert [name for name, _ in shown["provenance"]["texts"]["by the authors"]] == list(model.titles)

    def test_of_long_texts_the_passages_most_like_it_are_shown_and_it_is_said_which(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(attribution_module, "MOST_KNOWN", 3_000)
        sea, trade = phrase(0, 9_000, 1), phrase(5, 3_000, 2)
        both = [Document("ann.txt", f"{sea} {trade} {sea}"), Document("ben.txt", phrase(1, 9_000, 1))]
        model = train_authors(make_author_corpus(both, ["ann", "ben"], "english"), MEMBERS[:1])
        texts = [Document("x", phrase(5, 1_500, 3))]
        (row,) = attribution_report(model, texts, attribute(model, texts, 0), 0, ABOUT)["documents"]
        _, first, *_ = unpack(row["packed"])["documents"]
        places = re.fullmatch(r"ann.txt, characters ([\d,]+) to ([\d,]+) of 21,0\d\d", first["name"])
        assert places
        begin, end = (int(place.replace(",", "")) for place in places.groups())
        assert begin < 9_000 + 1_500 < end
        assert row["known_shown"] < row["known_characters"]

    def test_a_hundred_texts_of_four_thousand_characters_stay_under_five_megabytes(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A quarter of them under a quarter of that, with the share of the known texts that a hundred have."""
        monkeypatch.setattr(attribution_module, "KNOWN_CHARACTERS", attribution_module.KNOWN_CHARACTERS // 4)
        known = [Document(f"{author}{n}", prose(5_000, (author, n))) for author in "abc" for n in range(2)]
        model = train_authors(make_author_corpus(known, [each.name[0] for each in known], "english"), MEMBERS[:2])
        texts = [Document(f"{n}", prose(4_000, n)) for n in range(25)]
        found = attribute(model, texts)
        begin = time.process_time()
        rows = attribution_report(model, texts, found, 0.1, ABOUT)["documents"]
        assert time.process_time() - begin < 10
        assert all(len(unpack(row["packed"])["documents"]) >= 2 for row in rows)
        assert sum(len(row["packed"]) + len(row["next"]["packed"]) for row in rows) < 1_150_000

    def test_against_the_next_author_bits_are_the_difference_of_the_two(
        self, model: AuthorModel, asked: list[Document], found: Attributions, report_data: dict[str, Any]
    ) -> None:
        authors = [model.authors.index(candidate.author) for candidate in found[2].ranking[:2]]
        first, second = explain_attributions(model, asked, [AuthorQuestion(2, author) for author in authors])
        assert first.gains is not None
        assert second.gains is not None
        row = report_data["documents"][2]["next"]
        (shown,) = unpack(row["packed"])["documents"]
        assert row["author"] == found[2].ranking[1].author
        expected = (first.gains - second.gains).mean(axis=0).sum()
        assert bits_of(shown) == pytest.approx(expected, abs=0.005 * len(shown["words"]))

    def test_gained_bits_are_what_the_colors_add_up_to(
        self, model: AuthorModel, asked: list[Document], found: Attributions, report_data: dict[str, Any]
    ) -> None:
        ngrams = replace(
            model, members=MEMBERS[:1], calibration=replace(model.calibration, weights=(1.0,)), networks={}
        )
        texts = attribute(ngrams, asked[:1], 0)
        (row,) = attribution_report(ngrams, asked[:1], texts, 0, ABOUT)["documents"]
        counted = len(asked[0].text) - MEMBERS[0].skip
        assert bits_of(unpack(row["packed"])["documents"][0]) == pytest.approx(row["ranking"][0][3] * counted, rel=0.01)

    def test_authors_are_in_the_order_of_the_sums_of_what_members_add(
        self, found: Attributions, report_data: dict[str, Any]
    ) -> None:
        for each, row in zip(found, report_data["documents"], strict=True):
            sums = [line[4] for line in row["ranking"]]
            assert sums == sorted(sums, reverse=True)
            assert [author for author, _ in row["parts"]] == [candidate.author for candidate in each.ranking]
            for (_, parts), total in zip(row["parts"], sums, strict=True):
                assert len(parts) == len(MEMBERS)
                assert sum(parts) == pytest.approx(total, abs=0.004)
            chances = np.exp(sums) / np.exp(sums).sum() * (1 - each.none)
            assert chances == pytest.approx([line[1] for line in row["ranking"]], abs=0.001)

    def test_where_bits_have_another_order_that_is_said(
        self, model: AuthorModel, asked: list[Document], found: Attributions, report_data: dict[str, Any]
    ) -> None:
        assert len(report_data["documents"][0]["reasons"]) == 1
        first, second, *others = found[0].ranking
        ranking = (replace(first, bits=2.5), replace(second, bits=2.25), *others)
        turned = Attributions([replace(found[0], ranking=ranking)])
        (row,) = attribution_report(model, asked[:1], turned, 0.1, ABOUT)["documents"]
        assert "not by bits" in row["reasons"][0]
        assert f"costs {second.author}'s language models least (2.250 bits a character; a's 2.500)" in row["reasons"][1]

    def test_members_that_do_not_add_up_name_features_and_those_that_do_make_guesses(
        self, report_data: dict[str, Any], asked: list[Document]
    ) -> None:
        texts = unpack(report_data["documents"][3]["packed"])
        assert [each["member"] for each in texts["features"]] == ["vectors", "linear"]
        assert [each["unit"] for each in texts["features"]] == ["cosine", "regression"]
        assert all(each["for"] for each in texts["features"])
        guesses = [guess for *_, guess in texts["documents"][0]["words"] if guess]
        assert guesses
        assert {sign for _, expected in guesses for sign, _ in expected} <= set(phrase(3, 2_000) + ".")

    def test_a_model_without_language_models_shows_its_texts_without_colors(
        self, author_corpus: AuthorCorpus, asked: list[Document]
    ) -> None:
        model = train_authors(author_corpus, VECTORS)
        (row,) = attribution_report(model, asked[:1], attribute(model, asked[:1]), 0.1, ABOUT)["documents"]
        texts = unpack(row["packed"])
        assert [each["words"] for each in texts["documents"]] == [None] * 4
        assert (row["next"], texts["passages"]) == (None, [])
        assert row["reasons"] == [
            "No member of this model is a language model: there are no bits, and no colors in the text."
        ]

    def test_what_speaks_against_believing_it_is_among_the_warnings(
        self, model: AuthorModel, author_corpus: AuthorCorpus
    ) -> None:
        learned = Document("old.txt", author_corpus.documents[0].text)
        part = Document("part.txt", author_corpus.documents[4].text[50:350])
        strange = Document("odd.txt", phrase(2, 300, 5) + " \u03bc\u03b7\u03bd\u03b9\u03bd" * 24)
        texts = [learned, part, strange, Document("tiny.txt", phrase(1, 60, 5))]
        report_data = attribution_report(model, texts, attribute(model, texts), 0.1, ABOUT)
        old, some, odd, tiny = (row["warnings"] for row in report_data["documents"])
        assert old[0].startswith("The same as a/1 by a, and judged as if")
        assert some[0].startswith("Shares 100 characters or more word for word with b/1 by b")
        assert re.match(r"Only \d+ of \d+ characters are known to the model\.", odd[0])
        weak = "characters; below 1,000 the evidence is weak, whichever way it points."
        assert odd[1] == f"{len(strange.text)} {weak}"
        assert tiny[0] == f"{len(texts[3].text)} {weak}"
        assert report_data["warnings"] == [
            f"{row['name']}: {warning}" for row in report_data["documents"] for warning in row["warnings"]
        ]

    def test_what_was_guessed_in_reading_a_file_is_among_all_warnings_once(
        self, model: AuthorModel, asked: list[Document]
    ) -> None:
        texts = [replace(asked[0], guesses=("read as Windows-1252, which is a guess",))]
        report_data = attribution_report(model, texts, attribute(model, texts), 0.1, ABOUT)
        guessed = [warning for warning in report_data["warnings"] if "guess" in warning]
        assert guessed == ["0: Read as Windows-1252, which is a guess."]
        assert guessed[0].removeprefix("0: ") in report_data["documents"][0]["warnings"]

    def test_a_ranking_of_one_author_has_nobody_next(
        self, model: AuthorModel, asked: list[Document], found: Attributions
    ) -> None:
        alone = Attributions([replace(found[0], ranking=found[0].ranking[:1])])
        (row,) = attribution_report(model, asked[:1], alone, 0.1, ABOUT)["documents"]
        assert row["next"] is None

    def test_texts_of_one_name_are_told_apart(self, model: AuthorModel, asked: list[Document]) -> None:
        twice = [Document("x", asked[0].text), Document("x", asked[1].text)]
        rows = attribution_report(model, twice, attribute(model, twice), 0.1, ABOUT)["documents"]
        assert [(row["name"], row["author"]) for row in rows] == [("x", "a"), ("x (2)", "b")]

    def test_provenance_has_settings_versions_and_the_hashes_of_model_and_texts(
        self, model: AuthorModel, asked: list[Document], report_data: dict[str, Any], tmp_path: Path
    ) -> None:
        write_author_model(tmp_path / "m.byline", model)
        provenance = report_data["provenance"]
        digest = hashlib.sha256((tmp_path / "m.byline").read_bytes()).hexdigest()
        assert list(provenance["files"].values()) == [digest]
        assert provenance["texts"]["asked about"][0] == ["0", hashlib.sha256(asked[0].text.encode()).hexdigest()]
        assert provenance["settings"]["4"]["mask"] == "topic"
        assert (provenance["seed"], dict(provenance["facts"])["Language"]) == (0, "english")
        assert [each["additive"] for each in report_data["members"]] == [True, False, False, True, True]
        assert {"byline", "numpy", "python"} <= report_data["members"][0]["made_by"].keys()


@pytest.fixture(scope="module")
def book() -> Document:
    return Document("book", phrase(0, 2_500, 8) + " " + phrase(3, 2_500, 8))


@pytest.fixture(scope="module")
def rolled(model: AuthorModel, book: Document) -> Rolling:
    return roll(model, book, 800, 400)


class TestRolling:
    def test_every_stretch_has_its_text_with_what_speaks_for_its_author(
        self, model: AuthorModel, book: Document, rolled: Rolling
    ) -> None:
        found = rolling_report(model, book, rolled, ABOUT, asked={"Characters of a passage": 800})
        assert json.loads(json.dumps(found, allow_nan=False)) == found
        assert "1 change of hand." in found["conclusion"]
        assert [each["author"] for each in found["stretches"]] == ["a", "d"]
        texts = unpack(found["packed"])
        assert "".join(each["text"] for each in texts["documents"]) == book.text
        for stretch, document in zip(found["stretches"], texts["documents"], strict=True):
            assert stretch["bits"] > 0
            assert bits_of(document) == pytest.approx(stretch["bits"], abs=0.005 * len(document["words"]) + 0.06)
        for passage in found["strongest"]:
            assert 0 <= passage["begin"] < passage["end"] <= len(texts["documents"][passage["document"]]["text"])
        assert {passage["document"] for passage in found["strongest"]} == {0, 1}
        titles = [each["member"].split(",")[0] for each in texts["features"]]
        assert titles == ["vectors: a", "linear: a", "vectors: d", "linear: d"]
        assert ["Characters of a passage", 800] in found["provenance"]["facts"]

    def test_a_page_grows_by_a_dozen_bytes_a_character_and_by_less_where_words_are_left_out(
        self, author_corpus: AuthorCorpus, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model = train_authors(author_corpus, MEMBERS[:1])
        long = Document("long", phrase(0, 30_000, 7) + phrase(1, 30_000, 8))
        found = roll(model, long, 3_000, 1_000)
        whole = rolling_report(model, long, found, ABOUT)
        assert len(json.dumps(whole)) < 12 * len(long.text)
        monkeypatch.setattr(attribution_module, "LONG", 50_000)
        thinned = rolling_report(model, long, found, ABOUT)
        assert len(thinned["packed"]) < 0.7 * len(whole["packed"])

    def test_a_text_that_the_model_has_learned_is_named_among_the_warnings(
        self, model: AuthorModel, author_corpus: AuthorCorpus
    ) -> None:
        old = Document("old", " ".join(document.text for document in author_corpus.documents[:3]))
        found = roll(model, old, 800, 400)
        (warning,) = (line for line in rolling_report(model, old, found, ABOUT)["warnings"] if "learned" in line)
        assert warning.startswith("old: shares 100 characters or more word for word with a/")

    def test_a_very_long_text_has_only_words_that_say_much(
        self, model: AuthorModel, book: Document, rolled: Rolling, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = rolling_report(model, book, rolled, ABOUT)
        monkeypatch.setattr(attribution_module, "LONG", 1_000)
        thinned = rolling_report(model, book, rolled, ABOUT)
        assert (whole["thinned"], thinned["thinned"]) == (False, True)
        before, after = (unpack(each["packed"]) for each in (whole, thinned))
        assert before["scale"] == after["scale"]
        for one, other in zip(before["documents"], after["documents"], strict=True):
            strong = [word for word in one["words"] if abs(word[2]) >= before["scale"] / 2 + 0.01]
            assert strong
            assert all(word in other["words"] for word in strong)
            assert all(abs(word[2]) >= before["scale"] / 2 - 0.01 for word in other["words"])
            assert len(other["words"]) < len(one["words"])

    def test_without_language_models_it_is_shown_without_colors(
        self, author_corpus: AuthorCorpus, book: Document
    ) -> None:
        model = train_authors(author_corpus, VECTORS)
        found = rolling_report(model, book, roll(model, book, 800, 400), ABOUT)
        assert all(document["words"] is None for document in unpack(found["packed"])["documents"])
        assert found["strongest"] == []
        assert {stretch["bits"] for stretch in found["stretches"]} == {None}


@pytest.fixture(scope="module")
def letters() -> list[Document]:
    return [Document(f"{author}-{salt}", phrase(author, 500, salt)) for author in range(5) for salt in range(4)]


class TestClusters:
    def test_of_many_long_texts_no_more_is_shown_than_a_page_can_hold(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(clustering_module, "SHOWN_TOGETHER", 30_000)
        monkeypatch.setattr(clustering_module, "TEXTS_TOGETHER", 40_000)
        texts = [Document(f"{author}{n}", phrase(author, 6_000, n)) for author in range(4) for n in range(3)]
        found = clustering_report(cluster_documents(texts, MEMBERS[:1], "english"), ABOUT, texts)
        shown = [unpack(pair["packed"])["documents"] for pair in found["pairs"]]
        assert sum(len(document["text"]) for pair in shown for document in pair) <= 30_000
        assert sum(len(unpack(text["packed"])["text"]) for text in found["texts"]) <= 40_000
        assert {text["shown"] for text in found["texts"]} == {40_000 // 12}
        assert sum(len(pair["packed"]) for pair in found["pairs"]) < 12 * 30_000

    def test_links_have_their_texts_and_what_speaks_for_them(self, letters: list[Document]) -> None:
        clustering = cluster_documents(letters, language="english")
        found = clustering_report(clustering, ABOUT, letters)
        assert json.loads(json.dumps(found, allow_nan=False)) == found
        assert sorted(found["tree"]["order"]) == list(range(20))
        assert [merge[3] for merge in found["tree"]["merges"]][-1] == 20
        links = [link for _, _, link, _ in found["links"]]
        assert links == sorted(links, reverse=True)
        assert [unpack(text["packed"])["text"] for text in found["texts"]] == [letter.text for letter in letters]
        together = [pair for pair in found["pairs"] if pair["together"]]
        assert len(together) == 15  # what holds five clusters of four together
        for pair in together:
            texts = unpack(pair["packed"])
            assert [each["name"] for each in texts["documents"]] == [
                letters[pair["one"]].name,
                letters[pair["other"]].name,
            ]
            assert min(map(bits_of, texts["documents"])) > 0
            assert {each["member"] for each in texts["features"]} == {"vectors", "vectors (topic masked)"}
            assert np.mean(pair["shares"]) == pytest.approx(pair["link"], abs=0.001)
            assert pair["stronger"] == sum(link > pair["link"] for link in links)

    def test_a_cluster_names_the_words_that_its_texts_share(self, letters: list[Document]) -> None:
        found = clustering_report(cluster_documents(letters, language="english"), ABOUT, letters)
        for cluster in found["clusters"]:
            own = set(re.findall(r"[\w']+", phrase(cluster["label"], 4_000).casefold()))
            words = {word.strip("'") for word, _, count in cluster["words"] if count > 1}
            assert words
            assert words <= {word.strip("'") for word in own} | {"--"}
            assert cluster["weakest"] <= cluster["mean"] <= cluster["strongest"]
            assert all(count > 1 for _, count in cluster["features"])

    def test_a_link_that_was_asked_for_is_kept_apart_from_one_that_was_found(self, letters: list[Document]) -> None:
        asked = clustering_report(cluster_documents(letters, threshold=1.5), ABOUT, letters)
        assert (asked["cut"], asked["threshold"]) == (1.5, 1.5)
        told = clustering_report(cluster_documents(letters), ABOUT, letters)
        assert told["cut"] is None
        assert told["threshold"] > 0
        assert len(told["limits"]) == len(asked["limits"]) + 1  # how clusters were found

    def test_shared_passages_and_short_texts_are_named(self, letters: list[Document]) -> None:
        copied = [*letters[:-1], Document("copy", letters[0].text[:250] + letters[-1].text)]
        found = clustering_report(cluster_documents(copied), ABOUT, copied)
        short, shared = found["warnings"]
        assert short.startswith("Short, and so with little evidence (under 1,000 characters): 0-0;")
        assert shared.endswith("whoever wrote them: 0-0 and copy.")

    def test_long_texts_are_shown_in_part_where_they_speak_most_for_each_other(self) -> None:
        tail = phrase(2, 1_500, 9)
        letters = [Document(f"{n}", phrase(n, 30_000 if n < 2 else 2_000, 1)) for n in range(5)]
        letters += [
            Document("a", f"{phrase(5, 26_000, 2)} {tail}"),
            Document("b", f"{phrase(6, 2_000, 2)} {phrase(2, 1_500, 4)}"),
        ]
        clustering = cluster_documents(letters, (Settings(engine="ngram", order=3),), "english", threshold=-9)
        pairs = {frozenset((letters[pair["one"]].name, letters[pair["other"]].name)): pair
                 for pair in clustering_report(clustering, ABOUT, letters)["pairs"]}  # fmt: skip
        long = [document for pair in pairs.values() for document in unpack(pair["packed"])["documents"]
                if document["name"].startswith("a, characters")]  # fmt: skip
        assert long
        assert all(len(document["text"]) <= 20_000 for document in long)
        assert all(not document["text"].startswith(" ") for document in long)

    def test_without_the_documents_links_are_shown_alone(self, letters: list[Document]) -> None:
        found = clustering_report(cluster_documents(letters), ABOUT)
        assert (found["pairs"], found["texts"]) == ([], [])
        assert render(found)


class TestCommands:
    def test_a_report_names_the_command_that_was_given_and_it_can_be_given_again(
        self, author_corpus: AuthorCorpus, tmp_path: Path
    ) -> None:
        for author, document in zip(author_corpus.authors, author_corpus.documents, strict=True):
            (tmp_path / "known" / author).mkdir(parents=True, exist_ok=True)
            (tmp_path / "known" / author / f"{document.name[-1]}.txt").write_text(document.text, "utf-8")
        (tmp_path / "my text.txt").write_text(phrase(1, 1_000, 9) + " <script>alert(1)</script>", "utf-8")
        words = ["attribute", "my text.txt", "--known", "known", "--none", "0.25", "--engines", "ngram,vectors",
                 "--seed", "3", "--set", "order=4", "--language", "english", "--report", "a.html"]  # fmt: skip
        done = start(*words, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert "Report: a.html" in done.stdout
        page = (tmp_path / "a.html").read_text("utf-8")
        assert "<script>alert" not in page
        told = data_of(page)
        given = shlex.split(told["provenance"]["command"])
        assert given[:3] == ["byline", "attribute", "my text.txt"]
        assert sorted(given[3:]) == sorted(words[2:])
        assert told["provenance"]["seed"] == 3
        assert {row["engine"] for row in told["provenance"]["settings"].values()} == {"ngram", "vectors"}
        assert told["known_as"] is None
        given[given.index("a.html")] = "again.html"
        assert start(*given[1:], cwd=tmp_path).returncode == 0
        again = data_of((tmp_path / "again.html").read_text("utf-8"))
        assert again["documents"] == told["documents"]

    def test_a_model_is_named_by_its_hash_and_a_book_by_what_was_asked(
        self, author_corpus: AuthorCorpus, tmp_path: Path
    ) -> None:
        write_author_model(tmp_path / "m.byline", train_authors(author_corpus, MEMBERS[:1]))
        (tmp_path / "x.txt").write_text(phrase(1, 1_000, 9), "utf-8")
        words = ("rolling", "m.byline", "x.txt", "--window", "400", "--step", "200", "--report", "r.html")
        assert start(*words, cwd=tmp_path).returncode == 0
        told = data_of((tmp_path / "r.html").read_text("utf-8"))["provenance"]
        assert shlex.split(told["command"]) == ["byline", *words]
        assert told["files"] == {"m.byline": hashlib.sha256((tmp_path / "m.byline").read_bytes()).hexdigest()}
        assert ["Probability of a change at each step", 0.1] in told["facts"]
        again = start(*words, cwd=tmp_path)
        assert (again.returncode, again.stdout) == (1, "")
        assert "--overwrite" in again.stderr

    def test_clusters_have_a_report(self, letters: list[Document], tmp_path: Path) -> None:
        (tmp_path / "texts").mkdir()
        for letter in letters:
            (tmp_path / "texts" / f"{letter.name}.txt").write_text(letter.text, "utf-8")
        words = ("cluster", "texts", "--threshold", "2", "--engines", "vectors", "--report", "r.html")
        done = start(*words, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert "Report: r.html" in done.stdout
        told = data_of((tmp_path / "r.html").read_text("utf-8"))
        assert shlex.split(told["provenance"]["command"])[:4] == ["byline", "cluster", "texts", "--threshold"]
        assert told["cut"] == 2
        assert told["provenance"]["texts"]["linked"][0] == [
            "0-0.txt",
            hashlib.sha256(letters[0].text.encode()).hexdigest(),
        ]

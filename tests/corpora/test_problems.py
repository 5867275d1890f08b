"""Problems: both layouts are read, and every problem that can't be used is named with a remedy."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from byline.corpora.problems import read_problems, read_question, read_texts, require_sound
from byline.errors import CorpusError
from byline.text.languages import language_of_id, language_of_script
from format_writers import PARAGRAPHS, TWIN, WRITERS
from refusals import refusal
from samples import MakeCorpus

GOOD = {"known01.txt": "Some words here.", "unknown.txt": "Other words there."}


def test_a_folder_corpus_is_read_whatever_its_names_marks_and_line_ends(make_corpus: MakeCorpus) -> None:
    folder = make_corpus(
        {
            "EN002": {"KNOWN01.TXT": b"\xef\xbb\xbfone\r\ntwo", "known02.txt": "three", "Unknown.txt": "four"},
            "EN001": GOOD,
        }
    )
    corpus = read_problems(folder)
    assert corpus.layout == "folders"
    assert corpus.bad_problems == ()
    first, second = corpus.problems
    assert (first.id, second.id) == ("EN001", "EN002")
    assert [document.text for document in second.known] == ["one\ntwo", "three"]
    assert second.unknown.text == "four"
    assert second.known[0].name == "EN002/KNOWN01.TXT"
    assert not first.symmetric


def test_pairs_are_read_as_symmetric_problems(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"id": "b", "pair": ["one", "two"]}\n\n{"id": "a", "pair": ["x", "y"], "fandoms": []}', "utf-8")
    for source in (path, tmp_path):
        corpus = read_problems(source)
        assert corpus.layout == "pairs"
        assert [problem.id for problem in corpus.problems] == ["a", "b"]
        assert corpus.problems[1].known[0].text == "one"
        assert all(problem.symmetric for problem in corpus.problems)


def test_all_bad_problems_are_found_at_once(make_corpus: MakeCorpus) -> None:
    folder = make_corpus(
        {
            "EN001": GOOD,
            "EN002": {"unknown.txt": "x"},
            "EN003": {"known01.txt": "x"},
            "EN004": {**GOOD, "unknown02.txt": "x"},
            "EN005": {**GOOD, "known02.txt": ""},
            "EN006": {**GOOD, "unknown.txt": b"\xff\xfa"},
        }
    )
    corpus = read_problems(folder)
    assert [problem.id for problem in corpus.problems] == ["EN001"]
    with pytest.raises(CorpusError) as caught:
        require_sound(corpus.bad_problems)
    message = str(caught.value)
    assert all(bad.message in message for bad in corpus.bad_problems)
    for bad, words in zip(
        corpus.bad_problems, ("known01.txt", "unknown.txt", "unknown02.txt", "known02.txt", "UTF-8"), strict=True
    ):
        assert words in bad.message


def test_a_folder_one_level_off_is_recognized(make_corpus: MakeCorpus) -> None:
    folder = make_corpus({"EN001": GOOD})
    assert refusal(CorpusError, read_problems, folder / "EN001").remedy == "Name the folder above it"
    assert refusal(CorpusError, read_problems, folder.parent).remedy == f"Name {folder}"


def test_what_is_there_instead_is_named(make_corpus: MakeCorpus) -> None:
    folder = make_corpus(
        {"EN001": {"known01.doc": b"PK", "unknown.txt": "x"}, "EN002": {**GOOD, "unknown.txt": b"%PDF-"}}
    )
    messages = [bad.message for bad in read_problems(folder).bad_problems]
    assert messages[0].startswith("EN001: no known text, only known01.doc. ")
    assert messages[1].startswith("EN002/unknown.txt: a PDF file")


def test_texts_of_a_problem_may_be_in_any_format(make_corpus: MakeCorpus) -> None:
    files = {f"known0{number}{ending}": WRITERS[ending](PARAGRAPHS) for number, ending in enumerate(WRITERS)}
    folder = make_corpus({"EN001": {**files, "unknown.docx": WRITERS[".docx"](["Another text."])}, "EN002": GOOD})
    found = read_problems(folder)
    assert found.bad_problems == ()
    problem = found.problems[0]
    assert [document.name for document in problem.known] == [f"EN001/{name}" for name in sorted(files)]
    assert {document.text for document in problem.known} == {TWIN}
    assert (problem.unknown.name, problem.unknown.text) == ("EN001/unknown.docx", "Another text.\n")


def test_a_text_that_may_be_there_twice_is_named(make_corpus: MakeCorpus) -> None:
    twice = {"known01.txt": "x", "known01.html": b"<p>x", "known02.txt": "y", "unknown.txt": "z"}
    folder = make_corpus({"EN001": twice, "EN002": {**GOOD, "unknown.html": b"<p>x"}})
    first, second = (bad.message for bad in read_problems(folder).bad_problems)
    assert first.startswith("EN001/known01.txt: ")
    assert "known01.html" in first
    assert "unknown.html, unknown.txt" in second


def test_all_bad_lines_are_found_at_once(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    lines = [
        '{"id": "ok", "pair": ["one", "two"]}',
        "{not json",
        '["a"]',
        '{"pair": ["one", "two"]}',
        '{"id": "three", "pair": ["one", "two", "three"]}',
        '{"id": "empty", "pair": ["one", " "]}',
        '{"id": "twice", "pair": ["one", "two"]}',
        '{"id": "twice", "pair": ["one", "two"]}',
    ]
    path.write_text("\n".join(lines), "utf-8")
    corpus = read_problems(path)
    assert [problem.id for problem in corpus.problems] == ["ok"]
    places = ["line 2", "line 3", "line 4", "line 5: id three", "line 6: id empty", "id twice"]
    for place, bad in zip(places, corpus.bad_problems, strict=True):
        assert place in bad.message
    assert [bad.id for bad in corpus.bad_problems] == [None, None, None, "three", "empty", "twice"]


def test_a_path_without_problems_is_named_with_what_it_should_hold(tmp_path: Path) -> None:
    assert "unknown.txt" in str(refusal(CorpusError, read_problems, tmp_path).remedy)
    (tmp_path / "book.txt").write_text("Some text.", "utf-8")
    for name in ("gone", "book.txt", "x" * 300):
        assert refusal(CorpusError, read_problems, tmp_path / name).where == str(tmp_path / name)
    (tmp_path / "pairs.jsonl").write_text("", "utf-8")
    assert '"pair"' in str(refusal(CorpusError, read_problems, tmp_path).remedy)


class TestContents:
    def test_its_language_is_used(self, make_corpus: MakeCorpus) -> None:
        folder = make_corpus({"X1": GOOD}, contents={"language": "Spanish", "problems": ["X1"]})
        assert read_problems(folder).problems[0].language == "spanish"

    def test_a_problem_that_it_names_must_be_there(self, make_corpus: MakeCorpus) -> None:
        folder = make_corpus({"EN001": GOOD}, contents={"language": "English", "problems": ["EN001", "EN002"]})
        (bad,) = read_problems(folder).bad_problems
        assert (bad.id, "contents.json" in bad.message) == ("EN002", True)

    def test_a_list_that_fits_nothing_is_ignored(self, make_corpus: MakeCorpus) -> None:
        folder = make_corpus({"EN001": GOOD}, contents={"language": "English", "problems": ["EN007"]})
        assert read_problems(folder).bad_problems == ()

    def test_other_folders_are_ignored_where_it_lists_the_problems(self, make_corpus: MakeCorpus) -> None:
        folder = make_corpus({"EN001": GOOD, "notes": {"a.txt": "x"}}, contents={"problems": ["EN001"]})
        corpus = read_problems(folder)
        assert len(corpus.problems) == 1
        assert corpus.bad_problems == ()

    @pytest.mark.parametrize("text", ["{", "[]", '"x"'])
    def test_a_damaged_one_is_named(self, make_corpus: MakeCorpus, text: str) -> None:
        folder = make_corpus({"EN001": GOOD}, contents=text)
        assert refusal(CorpusError, read_problems, folder).where == str(folder / "contents.json")


class TestLanguage:
    def test_the_option_wins_then_contents_then_id_then_script(self, make_corpus: MakeCorpus) -> None:
        greek = {"known01.txt": "Καλημέρα κόσμε", "unknown.txt": "Καλησπέρα"}
        with_contents = make_corpus({"SP001": greek}, contents={"language": "Dutch"}, name="a")
        assert read_problems(with_contents, "English").problems[0].language == "english"
        assert read_problems(with_contents).problems[0].language == "dutch"
        without = make_corpus({"SP001": greek, "problem1": greek}, name="b")
        assert [problem.language for problem in read_problems(without).problems] == ["spanish", "greek"]
        assert list(read_problems(without).by_language()) == ["greek", "spanish"]

    def test_an_ids_letters(self) -> None:
        ids = {
            "dutch": ["DU001", "DE12", "DR1"],
            "english": ["EN001", "ee001"],
            "greek": ["GR001"],
            "spanish": ["SP-1"],
            None: ["DEMO1", "XX1", "17", "de305d54-75b4"],
        }
        assert {language: {language_of_id(each) for each in those} for language, those in ids.items()} == {
            language: {language} for language in ids
        }

    def test_a_script(self) -> None:
        assert language_of_script("Καλημέρα world") == "greek"
        assert language_of_script("Доброе утро") == "cyrillic"
        assert language_of_script("good morning") == "latin"
        assert language_of_script("12 34") is None
        assert language_of_script("ひらがな", "漢字カタカナ") == "cjk"

    def test_a_problem_without_letters_goes_with_the_others(self, tmp_path: Path) -> None:
        path = tmp_path / "pairs.jsonl"
        rows = [{"id": "a", "pair": ["one", "two"]}, {"id": "de305d54-75b4", "pair": ["12", "34"]}]
        path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
        assert [problem.language for problem in read_problems(path).problems] == ["latin", "latin"]


def test_texts_are_read_from_corpora_folders_and_files_each_once(make_corpus: MakeCorpus, tmp_path: Path) -> None:
    folder = make_corpus({"EN001": GOOD, "EN002": GOOD}, truth="EN001 Y\nEN002 N\n")
    assert sorted(document.text for document in read_texts(folder)) == ["Other words there.", "Some words here."]
    assert len(read_texts(folder / "EN001" / "unknown.txt")) == 1
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(json.dumps({"id": "1", "pair": ["one", "two"]}), "utf-8")
    assert [document.text for document in read_texts(pairs)] == ["one", "two"]
    (tmp_path / "none").mkdir()
    assert refusal(CorpusError, read_texts, tmp_path / "none").where == str(tmp_path / "none")


def test_a_pipe_and_an_impossible_id_are_refused(make_corpus: MakeCorpus) -> None:
    folder = make_corpus({"EN001": GOOD, "EN002": {"unknown.txt": "x"}, "a\nb": GOOD})
    os.mkfifo(folder / "EN002" / "known01.txt")
    second, third = read_problems(folder).bad_problems
    assert (second.id, "EN002/known01.txt: is neither a file" in second.message) == ("EN002", True)
    assert (third.id, "answers.txt" in third.message) == (None, True)


def test_truth_is_never_opened(make_corpus: MakeCorpus) -> None:
    folder = make_corpus({"EN001": GOOD})
    (folder / "truth.txt").mkdir()  # opening it would fail
    assert len(read_problems(folder).problems) == 1


@pytest.mark.parametrize(("text", "warned"), [("Letters of another alphabet.", True), ("Με ελληνικά γράμματα.", False)])
def test_texts_not_written_in_the_letters_of_their_language_are_warned_of(
    make_corpus: MakeCorpus, caplog: pytest.LogCaptureFixture, text: str, warned: bool
) -> None:
    read_problems(make_corpus({"GR01": {"known01.txt": text, "unknown.txt": text + " 2"}}))
    assert ("GR01: taken as greek" in caplog.text) == warned


def test_one_question_in_other_letters_than_its_language_s_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = [tmp_path / "a.txt", tmp_path / "q.txt"]
    for file in files:
        file.write_text("the old man went down to the river", "utf-8")
    read_question(files[:1], files[1], "english")
    assert not caplog.records
    read_question(files[:1], files[1], "greek")
    assert "question: taken as greek" in caplog.text


def test_a_text_in_a_line_may_be_no_longer_than_one_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("byline.corpora.problems.LARGEST_TEXT", 20)
    (tmp_path / "pairs.jsonl").write_text('{"id": "a", "pair": ["short", "a text that is too long"]}\n', "utf-8")
    (bad,) = read_problems(tmp_path).bad_problems
    assert (bad.id, "line 1" in bad.message) == ("a", True)

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from byline.errors import BylineError, CorpusError
from byline.languages import language_of_id, language_of_script
from byline.problems import read_problems, read_question, read_texts, require_sound
from conftest import MakeCorpus
from scribes import PARAGRAPHS, TWIN, WRITERS

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
    assert corpus.offences == ()
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
        require_sound(corpus.offences)
    message = str(caught.value)
    assert "EN002: no known text; add known01.txt" in message
    assert "EN003: no unknown text; add unknown.txt" in message
    assert "EN004: 2 unknown texts (unknown.txt, unknown02.txt); leave one" in message
    assert "EN005/known02.txt: empty" in message
    assert "EN006/unknown.txt: not UTF-8" in message


def test_a_folder_one_level_off_is_recognised(make_corpus: MakeCorpus) -> None:
    folder = make_corpus({"EN001": GOOD})
    with pytest.raises(CorpusError, match="a single problem; name the folder above it"):
        read_problems(folder / "EN001")
    with pytest.raises(CorpusError, match=r"no problems found, but corpus holds some; name .*corpus"):
        read_problems(folder.parent)


def test_what_lies_there_instead_is_named(make_corpus: MakeCorpus) -> None:
    folder = make_corpus(
        {"EN001": {"known01.doc": b"PK", "unknown.txt": "x"}, "EN002": {**GOOD, "unknown.txt": b"%PDF-"}}
    )
    messages = [offence.message for offence in read_problems(folder).offences]
    assert messages[0] == "EN001: no known text (there are known01.doc); add known01.txt"
    assert (
        messages[1]
        == "EN002/unknown.txt: a PDF file, not plain text; give it the ending .pdf, or save it as plain text in UTF-8"
    )


def test_texts_of_a_problem_may_be_in_any_format(make_corpus: MakeCorpus) -> None:
    files = {f"known0{number}{ending}": WRITERS[ending](PARAGRAPHS) for number, ending in enumerate(WRITERS)}
    folder = make_corpus({"EN001": {**files, "unknown.docx": WRITERS[".docx"](["Another text."])}, "EN002": GOOD})
    found = read_problems(folder)
    assert found.offences == ()
    problem = found.problems[0]
    assert [document.name for document in problem.known] == [f"EN001/{name}" for name in sorted(files)]
    assert {document.text for document in problem.known} == {TWIN}
    assert (problem.unknown.name, problem.unknown.text) == ("EN001/unknown.docx", "Another text.\n")


def test_a_text_that_may_be_there_twice_is_named(make_corpus: MakeCorpus) -> None:
    twice = {"known01.txt": "x", "known01.html": b"<p>x", "known02.txt": "y", "unknown.txt": "z"}
    folder = make_corpus({"EN001": twice, "EN002": {**GOOD, "unknown.html": b"<p>x"}})
    assert [offence.message for offence in read_problems(folder).offences] == [
        "EN001/known01.txt: known01.html lies beside it, perhaps the same text; remove or rename one of them",
        "EN002: 2 unknown texts (unknown.html, unknown.txt); leave one",
    ]


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
    messages = "\n".join(offence.message for offence in corpus.offences)
    for part in (
        "line 2: not JSON",
        "line 3: not an object",
        'line 4: no "id"',
        'line 5: id three: "pair" must be a list of two texts',
        "line 6: id empty: the second text is empty",
        "id twice occurs 2 times",
    ):
        assert part in messages


def test_a_folder_without_problems_says_what_it_should_hold(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"no problems found; it should hold folders such as EN001"):
        read_problems(tmp_path)
    with pytest.raises(CorpusError, match="not found"):
        read_problems(tmp_path / "gone")
    (tmp_path / "pairs.jsonl").write_text("", "utf-8")
    with pytest.raises(CorpusError, match="no problems found; write one a line"):
        read_problems(tmp_path)


class TestContents:
    def test_its_language_is_used(self, make_corpus: MakeCorpus) -> None:
        folder = make_corpus({"X1": GOOD}, contents={"language": "Spanish", "problems": ["X1"]})
        assert read_problems(folder).problems[0].language == "spanish"

    def test_a_problem_that_it_names_must_be_there(self, make_corpus: MakeCorpus) -> None:
        folder = make_corpus({"EN001": GOOD}, contents={"language": "English", "problems": ["EN001", "EN002"]})
        (offence,) = read_problems(folder).offences
        assert offence.id == "EN002"
        assert "no such folder" in offence.message

    def test_a_list_that_fits_nothing_is_ignored(self, make_corpus: MakeCorpus) -> None:
        folder = make_corpus({"EN001": GOOD}, contents={"language": "English", "problems": ["EN007"]})
        assert read_problems(folder).offences == ()

    def test_other_folders_are_ignored_where_it_lists_the_problems(self, make_corpus: MakeCorpus) -> None:
        folder = make_corpus({"EN001": GOOD, "notes": {"a.txt": "x"}}, contents={"problems": ["EN001"]})
        corpus = read_problems(folder)
        assert len(corpus.problems) == 1
        assert corpus.offences == ()

    @pytest.mark.parametrize("text", ["{", "[]", '"x"'])
    def test_a_damaged_one_is_named(self, make_corpus: MakeCorpus, text: str) -> None:
        with pytest.raises(CorpusError, match=r"contents\.json: not"):
            read_problems(make_corpus({"EN001": GOOD}, contents=text))


class TestLanguage:
    def test_the_option_wins_then_contents_then_id_then_script(self, make_corpus: MakeCorpus) -> None:
        greek = {"known01.txt": "Καλημέρα κόσμε", "unknown.txt": "Καλησπέρα"}
        with_contents = make_corpus({"SP001": greek}, contents={"language": "Dutch"}, name="a")
        assert read_problems(with_contents, "English").problems[0].language == "english"
        assert read_problems(with_contents).problems[0].language == "dutch"
        without = make_corpus({"SP001": greek, "problem1": greek}, name="b")
        assert [problem.language for problem in read_problems(without).problems] == ["spanish", "greek"]
        assert list(read_problems(without).by_language()) == ["greek", "spanish"]

    @pytest.mark.parametrize(
        ("problem_id", "language"),
        [
            ("DU001", "dutch"),
            ("DE12", "dutch"),
            ("DR1", "dutch"),
            ("EN001", "english"),
            ("ee001", "english"),
            ("GR001", "greek"),
            ("SP-1", "spanish"),
            ("DEMO1", None),
            ("XX1", None),
            ("17", None),
            ("de305d54-75b4", None),
        ],
    )
    def test_an_ids_letters(self, problem_id: str, language: str | None) -> None:
        assert language_of_id(problem_id) == language

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
    with pytest.raises(CorpusError, match="no texts found"):
        read_texts(tmp_path / "none")


@given(st.lists(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(lambda t: t.encode("utf-8", "replace")))))
def test_any_bytes_give_problems_offences_or_a_byline_error(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "pairs.jsonl"
    path.write_bytes(b"\n".join(lines))
    try:
        corpus = read_problems(path)
    except BylineError:
        return
    assert corpus.problems or corpus.offences


def test_a_pipe_or_an_impossible_name_is_refused_not_waited_for(make_corpus: MakeCorpus, tmp_path: Path) -> None:
    folder = make_corpus({"EN001": GOOD, "EN002": {"unknown.txt": "x"}, "a\nb": GOOD})
    os.mkfifo(folder / "EN002" / "known01.txt")
    messages = [offence.message for offence in read_problems(folder).offences]
    assert any("EN002/known01.txt: can't be read (not a file)" in message for message in messages)
    assert any("a name that answers.txt can't hold" in message for message in messages)
    with pytest.raises(CorpusError, match="can't be read"):
        read_problems(tmp_path / ("x" * 300))
    (tmp_path / "book.txt").write_text("Some text.", "utf-8")
    with pytest.raises(CorpusError, match=r"not a \.jsonl file"):
        read_problems(tmp_path / "book.txt")


def test_truth_is_never_opened(make_corpus: MakeCorpus) -> None:
    folder = make_corpus({"EN001": GOOD})
    (folder / "truth.txt").mkdir()  # opening it would fail
    assert len(read_problems(folder).problems) == 1


@pytest.mark.parametrize(("text", "warned"), [("Letters of another alphabet.", True), ("Με ελληνικά γράμματα.", False)])
def test_texts_not_written_in_the_letters_of_their_language_are_warned_of(
    make_corpus: MakeCorpus, caplog: pytest.LogCaptureFixture, text: str, warned: bool
) -> None:
    read_problems(make_corpus({"GR01": {"known01.txt": text, "unknown.txt": text + " 2"}}))
    assert ("GR01: taken as greek, but written in other letters" in caplog.text) == warned


def test_one_question_in_other_letters_than_its_language_s_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = [tmp_path / "a.txt", tmp_path / "q.txt"]
    for file in files:
        file.write_text("the old man went down to the river", "utf-8")
    read_question(files[:1], files[1], "english")
    assert not caplog.records
    read_question(files[:1], files[1], "greek")
    assert "question: taken as greek, but written in other letters" in caplog.text


def test_a_text_in_a_line_may_be_no_longer_than_one_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("byline.problems.LARGEST_TEXT", 20)
    (tmp_path / "pairs.jsonl").write_text('{"id": "a", "pair": ["short", "a text that is too long"]}\n', "utf-8")
    (offence,) = read_problems(tmp_path).offences
    assert offence.message == "pairs.jsonl line 1: id a: the second text has more than 50 million characters; split it"

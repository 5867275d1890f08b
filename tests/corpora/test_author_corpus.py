"""Texts with known authors from folders, file names and tables; what can't be used is named with a remedy."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from byline.corpora import author_corpus
from byline.corpora.author_corpus import AuthorCorpus, author_of, make_author_corpus, read_author_corpus
from byline.corpora.documents import Document
from byline.errors import CorpusError
from refusals import refusal

EMMA, PERSUASION, BLEAK = "Emma Woodhouse, handsome", "Sir Walter Elliot", "London. Michaelmas Term"

Write = Callable[[Mapping[str, str | bytes]], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A function that writes files, by their paths below a folder, and gives the folder."""

    def make(files: Mapping[str, str | bytes]) -> Path:
        for name, content in files.items():
            path = tmp_path / "texts" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path / "texts"

    return make


def pairs(found: AuthorCorpus) -> list[tuple[str, str]]:
    return [(author, document.text) for author, document in zip(found.authors, found.documents, strict=True)]


THREE = [("Austen", EMMA), ("Austen", PERSUASION), ("Dickens", BLEAK)]


def table(rows: Sequence[Sequence[str]], delimiter: str = ",") -> str:
    sheet = io.StringIO()
    csv.writer(sheet, delimiter=delimiter).writerows(rows)
    return sheet.getvalue()


class TestFolders:
    def test_an_authors_folder_holds_their_texts(self, write: Write) -> None:
        folder = write({"Dickens/bleak.txt": BLEAK, "Austen/emma.txt": EMMA, "Austen/persuasion.TXT": PERSUASION})
        found = read_author_corpus([folder])
        assert pairs(found) == THREE
        names = [document.name for document in found.documents]
        assert names == ["Austen/emma.txt", "Austen/persuasion.TXT", "Dickens/bleak.txt"]
        assert found.names == ("Austen", "Dickens")
        assert found.language == "latin"

    def test_what_is_no_text_is_passed_over(self, write: Write) -> None:
        folder = write(
            {
                "Dickens/bleak.txt": BLEAK,
                "Dickens/notes.log": "a note",
                "Dickens/README.md": "about Dickens",
                "Dickens/~$bleak.docx": "left while it is open",
                "Austen/emma.txt": EMMA,
                "Austen/persuasion.txt": PERSUASION,
                "README": "about",
                ".git/x.txt": "hidden",
                "__MACOSX/y.txt": "left behind",
            }
        )
        assert pairs(read_author_corpus([folder])) == THREE

    @pytest.mark.parametrize(
        "names",
        [
            ("Austen_Emma.txt", "Austen_Persuasion.txt", "Dickens_Bleak_House.txt"),
            ("Austen_-_Emma.txt", "Austen_-_Persuasion_(late).txt", "Dickens_-_Bleak_House.txt"),
            ("Austen_-_Emma.txt", "Austen_Persuasion.txt", "Dickens_.TXT"),
        ],
    )
    def test_a_files_name_begins_with_its_author(self, write: Write, names: tuple[str, str, str]) -> None:
        assert pairs(read_author_corpus([write(dict(zip(names, (EMMA, PERSUASION, BLEAK), strict=True)))])) == THREE

    def test_the_author_is_what_stands_before_the_title(self) -> None:
        stems = {
            "Austen": ["Austen_Emma", "Austen_"],
            "Jane Austen": ["Jane_Austen_-_Emma", "Jane_Austen_-_Emma_-_2"],
            "Mary-Ann Evans": ["Mary-Ann Evans_Romola"],
            "": ["Emma", "_Emma", "_-_Emma", ""],
        }
        assert {author: {author_of(stem) for stem in those} for author, those in stems.items()} == {
            author: {author} for author in stems
        }

    def test_several_folders_and_tables_are_read_together_in_any_order(self, write: Write, tmp_path: Path) -> None:
        first = write({"Austen/emma.txt": EMMA, "Dickens/bleak.txt": BLEAK})
        second = tmp_path / "more.csv"
        second.write_text(table([["author", "text"], ["Austen", PERSUASION]]), "utf-8")
        assert pairs(read_author_corpus([first, second])) == THREE
        assert read_author_corpus([first, second]) == read_author_corpus([second, first])

    def test_the_language_is_what_is_said_or_what_the_script_says(self, write: Write) -> None:
        folder = write({"Α/1.txt": "μῆνιν ἄειδε θεά", "Β/1.txt": "ἄνδρα μοι ἔννεπε"})
        assert read_author_corpus([folder]).language == "greek"
        assert read_author_corpus([folder], "EL").language == "greek"
        assert read_author_corpus([folder], "klingon").language == "klingon"
        assert make_author_corpus([Document("1", "12 34"), Document("2", "56 789")], ["a", "b"]).language == "unknown"


class TestTables:
    @pytest.mark.parametrize(("name", "delimiter"), [("t.csv", ","), ("t.CSV", ","), ("t.tsv", "\t")])
    def test_rows_are_texts(self, write: Write, name: str, delimiter: str) -> None:
        rows = [["author", "year", "text"], *([author, "1815", text] for author, text in THREE[::-1])]
        path = write({name: table(rows, delimiter)}) / name
        found = read_author_corpus([path])
        assert pairs(found) == THREE
        assert [document.name for document in found.documents] == [f"{name}:4", f"{name}:3", f"{name}:2"]

    @pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl"])
    def test_columns_may_have_other_names(self, write: Write, name: str) -> None:
        if name == "t.jsonl":
            content = "\n".join(json.dumps({"who": author, "what": text, "n": 3}) for author, text in THREE)
        else:
            content = table([["who", "what"], *THREE], "\t" if name == "t.tsv" else ",")
        folder = write({name: content})
        assert pairs(read_author_corpus([folder / name], None, "who", "what")) == THREE

    @pytest.mark.parametrize("delimiter", [",", ";", "\t"])
    @pytest.mark.parametrize("name", ["t.csv", "t.tsv"])
    def test_what_stands_between_the_columns_is_seen_in_the_first_line(
        self, write: Write, name: str, delimiter: str
    ) -> None:
        """A spreadsheet in Europe writes semicolons; texts have commas, semicolons and tabs of their own."""
        rows = [["author", "a; b, c", "text"], *([author, "1;2\t3,4", f"{text}; a,\tb,c"] for author, text in THREE)]
        found = read_author_corpus([write({name: "\ufeff" + table(rows, delimiter)}) / name])
        assert pairs(found) == [(author, f"{text}; a,\tb,c") for author, text in THREE]

    def test_empty_lines_and_cells_without_a_name_are_nothing(self, write: Write) -> None:
        content = "\n,author,text,,\n\n0,Austen,Sir Walter Elliot,,\n\n1,Dickens,London. Michaelmas Term,,\n"
        assert pairs(read_author_corpus([write({"t.csv": content}) / "t.csv"])) == [THREE[1], THREE[2]]

    def test_json_lines_are_texts_and_empty_lines_are_nothing(self, write: Write) -> None:
        lines = [json.dumps({"author": author, "text": text}) for author, text in THREE]
        found = read_author_corpus([write({"t.jsonl": "\n\n".join(lines) + "\n"}) / "t.jsonl"])
        assert pairs(found) == THREE
        assert [document.name for document in found.documents] == ["t.jsonl:1", "t.jsonl:3", "t.jsonl:5"]

    def test_a_cell_may_have_lines_quotes_and_a_whole_book(self, write: Write) -> None:
        book = 'She said "no", and\nleft.\n' * 20_000  # longer than what the csv module takes by itself
        content = table([["author", "text"], ["Austen", book], ["Dickens", BLEAK]])
        found = read_author_corpus([write({"t.csv": "\ufeff" + content}) / "t.csv"])
        assert pairs(found) == [("Austen", book), ("Dickens", BLEAK)]


class TestNames:
    COMPOSED, TAKEN_APART = "Jos\u00e9", "Jose\u0301"

    @pytest.mark.parametrize("source", ["folders", "files", "t.csv", "t.jsonl"])
    def test_accents_may_be_stored_in_either_way(self, write: Write, source: str) -> None:
        rows = [[self.COMPOSED, EMMA], [self.TAKEN_APART, PERSUASION]]
        lines = "".join(json.dumps(dict(zip(("author", "text"), row, strict=True))) + "\n" for row in rows)
        files = {
            "folders": {f"{author}/{number}.txt": text for number, (author, text) in enumerate(rows)},
            "files": {f"{author}_{number}.txt": text for number, (author, text) in enumerate(rows)},
            "t.csv": {"t.csv": table([["author", "text"], *rows])},
            "t.jsonl": {"t.jsonl": lines},
        }[source]
        folder = write(files)
        path = folder / source if source.startswith("t.") else folder
        assert pairs(read_author_corpus([path])) == [(self.COMPOSED, EMMA), (self.COMPOSED, PERSUASION)]

    def test_and_so_if_no_file_is_read(self) -> None:
        found = make_author_corpus(
            [Document("1", EMMA), Document("2", PERSUASION), Document("3", EMMA)],
            [self.COMPOSED, self.TAKEN_APART, self.TAKEN_APART],
        )
        assert found.names == (self.COMPOSED,)
        assert len(found.documents) == 2  # of one author, who has a text twice


class TestWritings:
    def test_a_text_that_an_author_has_twice_counts_once(self, write: Write) -> None:
        again = EMMA.replace(" ", "\r\n") + "\n\n"  # as another editor saves it
        folder = write({"Austen/emma.txt": EMMA, "Austen/again.txt": again, "Dickens/bleak.txt": BLEAK})
        found = read_author_corpus([folder])
        assert found.authors == ("Austen", "Dickens")

    @pytest.mark.parametrize("copy", [EMMA, f"  {EMMA}\n", EMMA.replace(" ", "\n")])
    def test_a_text_that_two_authors_have_is_refused(self, write: Write, copy: str) -> None:
        folder = write({"Austen/emma.txt": EMMA, "Dickens/emma.txt": copy, "Dickens/bleak.txt": BLEAK})
        error = refusal(CorpusError, read_author_corpus, folder)
        assert error.where == f"{folder}/Dickens/emma.txt"
        assert f"{folder}/Austen/emma.txt" in error.what

    def test_the_order_is_that_of_authors_and_texts_whatever_came_first(self) -> None:
        documents = [Document(f"n{n}", text) for n, text in enumerate(["c", "b", "a", "d"])]
        found = make_author_corpus(documents, ["Bob", "Ann", "Bob", "Ann"])
        turned = make_author_corpus(documents[::-1], ["Ann", "Bob", "Ann", "Bob"])
        assert pairs(found) == [("Ann", "b"), ("Ann", "d"), ("Bob", "a"), ("Bob", "c")]
        assert found == turned

    def test_of_copies_the_same_one_gives_the_name_whatever_came_first(self) -> None:
        documents = [Document("z", EMMA), Document("a", EMMA)]
        assert make_author_corpus(documents, ["Ann", "Ann"]) == make_author_corpus(documents[::-1], ["Ann", "Ann"])


class TestRefusals:
    @pytest.mark.parametrize(
        ("files", "where"),
        [
            ({}, ""),
            ({"README": "x"}, ""),
            ({"Austen/notes.log": "x"}, ""),
            ({".hidden/a.txt": "x"}, ""),
            ({"Austen/emma.txt": EMMA, "Dickens/bleak.doc": "x", "Eliot/romola.txt": BLEAK}, "/Dickens"),
            ({"Austen/emma.txt": EMMA, "Dickens_Bleak.txt": BLEAK}, ""),
            ({"Austen_Emma.txt": EMMA, "bleak.txt": BLEAK}, "/bleak.txt"),
            ({"Austen/emma.txt": EMMA, "Dickens/novels/bleak.txt": BLEAK}, "/Dickens/novels/bleak.txt"),
        ],
        ids=["missing", "empty", "no text", "hidden", "author without texts", "both layouts", "no author", "too deep"],
    )
    def test_a_folder_that_does_not_tell_the_authors_is_named(
        self, write: Write, files: dict[str, str], where: str
    ) -> None:
        folder = write(files)
        assert refusal(CorpusError, read_author_corpus, folder).where == f"{folder}{where}"

    def test_a_file_that_is_no_table_is_named(self, write: Write) -> None:
        path = write({"notes.txt": EMMA}) / "notes.txt"
        error = refusal(CorpusError, read_author_corpus, path)
        assert (error.where, error.remedy) == (str(path), author_corpus.REMEDY)

    def test_everything_that_cant_be_read_is_named_at_once(self, write: Write, tmp_path: Path) -> None:
        folder = write(
            {
                "Austen/emma.txt": "",
                "Austen/good.txt": EMMA,
                "Dickens/bleak.txt": b"\xff\xfa\x00",
                "Eliot/romola.txt": b"PK\x03\x04...",
                "Poe/raven.txt/inner": "a folder",
            }
        )
        with pytest.raises(CorpusError) as caught:
            read_author_corpus([folder, tmp_path / "gone"])
        _, *lines = str(caught.value).splitlines()
        names = ["Austen/emma.txt", "Dickens/bleak.txt", "Eliot/romola.txt", "Poe/raven.txt"]
        for line, path in zip(lines, [*(folder / name for name in names), tmp_path / "gone"], strict=True):
            assert line.strip().startswith(f"{path}: ")

    def test_a_folder_that_may_not_be_read_is_named(self, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = write({"Austen/emma.txt": EMMA, "Dickens/bleak.txt": BLEAK})
        real = Path.iterdir

        def closed(self: Path) -> object:
            if self.name == "Dickens":
                raise PermissionError(13, "Permission denied")
            return real(self)

        monkeypatch.setattr(Path, "iterdir", closed)
        assert refusal(CorpusError, read_author_corpus, folder).where == str(folder / "Dickens")

    @pytest.mark.parametrize(
        ("name", "content", "line", "fault"),
        [
            ("t.csv", "", None, "empty"),
            ("t.jsonl", "\n \n", None, "empty"),
            ("t.csv", "who,text\nA,x\n", 1, "'author', only who, text"),
            ("t.csv", "author,what\nA,x\n", 1, "'text', only author, what"),
            ("t.csv", "who;what\nA;x\n", 1, "'author', only who, what"),
            ("t.csv", "author|text\nA|x\n", 1, "'author', only author|text"),
            ("t.jsonl", '{"author": "A"}\n', 1, "'text', only author"),
            ("t.jsonl", "{}\n", 1, "'author', only none"),
            ("t.csv", "author;text\nA;x\nB;\n", 3, "no text"),
            ("t.csv", "author,text\nA,x\nB\n", 3, "1 cell for 2 columns"),
            ("t.csv", "author,text\n,x\n", 2, "no author"),
            ("t.csv", "author,text\nA, \n", 2, "no text"),
            ("t.csv", 'author,text\nA,"x\ny"\nB,Well, I say, no\n', 4, "4 cells for 2 columns"),
            ("t.csv", "author;text\nA;x;y\n", 2, "3 cells for 2 columns"),
            ("t.csv", "author,text,more\nA,x\n", 2, "2 cells for 3 columns"),
            ("t.csv", "author,text,\nA,Well, no\n", 2, "3 cells for 2 columns"),
            ("t.csv", "author,text,text\nA,x,y\n", 1, "'text' twice"),
            ("t.jsonl", '{"author": "A", "text": "x", "text": "y"}\n', 1, "'text' twice"),
            ("t.csv", b"author,text\nA,\xff\n", None, "UTF-8"),
            ("t.csv", b"PK\x03\x04 a spreadsheet", None, "not plain text"),
            ("t.jsonl", '{"author": "A", "text": "x"}\n[1]\n', 2, "JSON object"),
            ("t.jsonl", "not JSON\n", 1, "JSON object"),
            ("t.jsonl", "[" * 100_000, 1, "JSON object"),
            ("t.jsonl", '{"author": 3, "text": "x"}\n', 1, "3"),
            ("t.jsonl", '{"author": "A", "text": null}\n', 1, "no text"),
            ("t.jsonl", '{"author": "A", "text": ["x"]}\n', 1, '["x"]'),
            ("t.jsonl", '{"author": " ", "text": "x"}\n', 1, "no author"),
        ],
    )
    def test_a_table_that_lacks_something_is_named_with_its_line(
        self, write: Write, name: str, content: str | bytes, line: int | None, fault: str
    ) -> None:
        path = write({name: content}) / name
        error = refusal(CorpusError, read_author_corpus, path)
        assert error.where == (f"{path} line {line}" if line else str(path))
        assert fault in error.what

    def test_a_text_in_a_table_may_be_no_longer_than_one_in_a_file(
        self, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(author_corpus, "LARGEST_TEXT", 20)
        path = write({"t.csv": "author,text\nAnn,a text that is too long\n"}) / "t.csv"
        assert refusal(CorpusError, read_author_corpus, path).where == f"{path} line 2"

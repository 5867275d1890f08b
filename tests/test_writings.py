"""Texts whose authors are known: folders, file names and tables; what can't be used is named, with a remedy."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from byline.attribution import writings
from byline.attribution.writings import Writings, author_of, read_writings, writings_of
from byline.documents import Document
from byline.errors import CorpusError

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


def pairs(found: Writings) -> list[tuple[str, str]]:
    return [(author, document.text) for author, document in zip(found.authors, found.documents, strict=True)]


THREE = [("Austen", EMMA), ("Austen", PERSUASION), ("Dickens", BLEAK)]


def table(rows: Sequence[Sequence[str]], delimiter: str = ",") -> str:
    sheet = io.StringIO()
    csv.writer(sheet, delimiter=delimiter).writerows(rows)
    return sheet.getvalue()


class TestFolders:
    def test_an_authors_folder_holds_her_texts(self, write: Write) -> None:
        folder = write({"Dickens/bleak.txt": BLEAK, "Austen/emma.txt": EMMA, "Austen/persuasion.TXT": PERSUASION})
        found = read_writings([folder])
        assert pairs(found) == THREE
        assert [document.name for document in found.documents] == [
            "Austen/emma.txt",
            "Austen/persuasion.TXT",
            "Dickens/bleak.txt",
        ]
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
        assert pairs(read_writings([folder])) == THREE

    @pytest.mark.parametrize(
        "names",
        [
            ("Austen_Emma.txt", "Austen_Persuasion.txt", "Dickens_Bleak_House.txt"),
            ("Austen_-_Emma.txt", "Austen_-_Persuasion_(late).txt", "Dickens_-_Bleak_House.txt"),
            ("Austen_-_Emma.txt", "Austen_Persuasion.txt", "Dickens_.TXT"),
        ],
    )
    def test_a_files_name_begins_with_its_author(self, write: Write, names: tuple[str, str, str]) -> None:
        assert pairs(read_writings([write(dict(zip(names, (EMMA, PERSUASION, BLEAK), strict=True)))])) == THREE

    @pytest.mark.parametrize(
        ("stem", "author"),
        [
            ("Austen_Emma", "Austen"),
            ("Jane_Austen_-_Emma", "Jane Austen"),
            ("Jane_Austen_-_Emma_-_2", "Jane Austen"),
            ("Mary-Ann Evans_Romola", "Mary-Ann Evans"),
            ("Austen_", "Austen"),
            ("Emma", ""),
            ("_Emma", ""),
            ("_-_Emma", ""),
            ("", ""),
        ],
    )
    def test_the_author_is_what_stands_before_the_title(self, stem: str, author: str) -> None:
        assert author_of(stem) == author

    def test_several_folders_and_tables_are_read_together_in_any_order(self, write: Write, tmp_path: Path) -> None:
        first = write({"Austen/emma.txt": EMMA, "Dickens/bleak.txt": BLEAK})
        second = tmp_path / "more.csv"
        second.write_text(table([["author", "text"], ["Austen", PERSUASION]]), "utf-8")
        assert pairs(read_writings([first, second])) == THREE
        assert read_writings([first, second]) == read_writings([second, first])

    def test_the_language_is_what_is_said_or_what_the_script_says(self, write: Write) -> None:
        folder = write({"Α/1.txt": "μῆνιν ἄειδε θεά", "Β/1.txt": "ἄνδρα μοι ἔννεπε"})
        assert read_writings([folder]).language == "greek"
        assert read_writings([folder], "EL").language == "greek"
        assert read_writings([folder], "klingon").language == "klingon"
        assert writings_of([Document("1", "12 34"), Document("2", "56 789")], ["a", "b"]).language == "unknown"


class TestTables:
    @pytest.mark.parametrize(("name", "delimiter"), [("t.csv", ","), ("t.CSV", ","), ("t.tsv", "\t")])
    def test_rows_are_texts(self, write: Write, name: str, delimiter: str) -> None:
        rows = [["author", "year", "text"], *([author, "1815", text] for author, text in THREE[::-1])]
        path = write({name: table(rows, delimiter)}) / name
        found = read_writings([path])
        assert pairs(found) == THREE
        assert [document.name for document in found.documents] == [f"{name}:4", f"{name}:3", f"{name}:2"]

    @pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl"])
    def test_columns_may_have_other_names(self, write: Write, name: str) -> None:
        if name == "t.jsonl":
            content = "\n".join(json.dumps({"who": author, "what": text, "n": 3}) for author, text in THREE)
        else:
            content = table([["who", "what"], *THREE], "\t" if name == "t.tsv" else ",")
        folder = write({name: content})
        assert pairs(read_writings([folder / name], None, "who", "what")) == THREE

    @pytest.mark.parametrize("delimiter", [",", ";", "\t"])
    @pytest.mark.parametrize("name", ["t.csv", "t.tsv"])
    def test_what_stands_between_the_columns_is_seen_in_the_first_line(
        self, write: Write, name: str, delimiter: str
    ) -> None:
        """A spreadsheet in Europe writes semicolons; texts have commas, semicolons and tabs of their own."""
        rows = [["author", "a; b, c", "text"], *([author, "1;2\t3,4", f"{text}; a,\tb,c"] for author, text in THREE)]
        found = read_writings([write({name: "\ufeff" + table(rows, delimiter)}) / name])
        assert pairs(found) == [(author, f"{text}; a,\tb,c") for author, text in THREE]

    @pytest.mark.parametrize("column", ["who, then", "who; then", "who\tthen"])
    def test_a_column_may_have_any_name(self, write: Write, column: str) -> None:
        path = write({"t.csv": table([[column, "text"], *THREE], ";")}) / "t.csv"
        assert pairs(read_writings([path], None, column)) == THREE

    def test_tables_may_be_read_by_many_threads(self, write: Write) -> None:
        """The longest cell is a setting of the whole process: who comes last would leave another's behind."""
        book = "She left. " * 30_000
        path = write({"t.csv": table([["author", "text"], *([name, f"{name} {book}"] for name in "abcd")])}) / "t.csv"
        before = csv.field_size_limit()
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: read_writings([path]), range(24)))
        assert all(each == found[0] for each in found)
        assert csv.field_size_limit() == before

    def test_a_table_is_read_at_once(self, write: Write) -> None:
        """Not bit by bit, while others wait for the longest cell to be what it was."""
        path = write({"t.csv": table([["author", "text"], *THREE])}) / "t.csv"
        rows = writings._csv_rows(path.read_text("utf-8"), path, ("author", "text"))
        assert isinstance(rows, list)
        assert not writings._CELLS.locked()

    def test_empty_lines_and_cells_without_a_name_are_nothing(self, write: Write) -> None:
        content = "\n,author,text,,\n\n0,Austen,Sir Walter Elliot,,\n\n1,Dickens,London. Michaelmas Term,,\n"
        assert pairs(read_writings([write({"t.csv": content}) / "t.csv"])) == [THREE[1], THREE[2]]

    def test_json_lines_are_texts_and_empty_lines_are_nothing(self, write: Write) -> None:
        lines = [json.dumps({"author": author, "text": text}) for author, text in THREE]
        found = read_writings([write({"t.jsonl": "\n\n".join(lines) + "\n"}) / "t.jsonl"])
        assert pairs(found) == THREE
        assert [document.name for document in found.documents] == ["t.jsonl:1", "t.jsonl:3", "t.jsonl:5"]

    def test_a_cell_may_have_lines_quotes_and_a_whole_book(self, write: Write) -> None:
        book = 'She said "no", and\nleft.\n' * 20_000  # longer than what the csv module takes by itself
        before = csv.field_size_limit()
        content = table([["author", "text"], ["Austen", book], ["Dickens", BLEAK]])
        found = read_writings([write({"t.csv": "\ufeff" + content}) / "t.csv"])
        assert pairs(found) == [("Austen", book), ("Dickens", BLEAK)]
        assert csv.field_size_limit() == before

    @given(
        rows=st.lists(
            st.tuples(st.sampled_from(["Ann", "Bo b", 'C "c"', "Ё"]), st.text(max_size=40)),
            min_size=1,
            max_size=6,
        )
    )
    def test_whatever_was_written_as_a_table_is_read_or_refused(
        self, tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
    ) -> None:
        folder = tmp_path_factory.mktemp("tables")
        lines = "\n".join(json.dumps({"author": author, "text": text}) for author, text in rows)
        (folder / "t.jsonl").write_text(lines, "utf-8")
        try:
            found = read_writings([folder / "t.jsonl"])
        except CorpusError as error:
            assert "t.jsonl:" in str(error)  # noqa: PT017 - some tables are good
        else:
            assert set(pairs(found)) <= set(rows)
            assert set(found.names) == {author for author, _ in rows}


class TestNames:
    COMPOSED, TAKEN_APART = "Jos\u00e9", "Jose\u0301"

    def test_accents_may_be_stored_in_either_way(self, write: Write) -> None:
        folder = write({f"{self.COMPOSED}/a.txt": EMMA, f"{self.TAKEN_APART}/b.txt": PERSUASION, "Bo/c.txt": BLEAK})
        assert pairs(read_writings([folder])) == [("Bo", BLEAK), (self.COMPOSED, EMMA), (self.COMPOSED, PERSUASION)]

    def test_in_the_names_of_files_too(self, write: Write) -> None:
        folder = write({f"{self.COMPOSED}_a.txt": EMMA, f"{self.TAKEN_APART}_b.txt": PERSUASION})
        assert read_writings([folder]).names == (self.COMPOSED,)

    @pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
    def test_and_in_tables(self, write: Write, name: str) -> None:
        rows = [[self.COMPOSED, EMMA], [self.TAKEN_APART, PERSUASION]]
        lines = "".join(json.dumps(dict(zip(("author", "text"), row, strict=True))) + "\n" for row in rows)
        path = write({"t.csv": table([["author", "text"], *rows]), "t.jsonl": lines}) / name
        assert pairs(read_writings([path])) == [(self.COMPOSED, EMMA), (self.COMPOSED, PERSUASION)]

    def test_and_where_no_file_is_read(self) -> None:
        found = writings_of(
            [Document("1", EMMA), Document("2", PERSUASION), Document("3", EMMA)],
            [self.COMPOSED, self.TAKEN_APART, self.TAKEN_APART],
        )
        assert found.names == (self.COMPOSED,)
        assert len(found.documents) == 2  # of one author, who has a text twice


class TestWritings:
    def test_a_text_that_an_author_has_twice_counts_once(self, write: Write) -> None:
        again = EMMA.replace(" ", "\r\n") + "\n\n"  # as another editor saves it
        folder = write({"Austen/emma.txt": EMMA, "Austen/again.txt": again, "Dickens/bleak.txt": BLEAK})
        found = read_writings([folder])
        assert found.authors == ("Austen", "Dickens")

    @pytest.mark.parametrize("copy", [EMMA, f"  {EMMA}\n", EMMA.replace(" ", "\n")])
    def test_a_text_that_two_authors_have_is_refused(self, write: Write, copy: str) -> None:
        folder = write({"Austen/emma.txt": EMMA, "Dickens/emma.txt": copy, "Dickens/bleak.txt": BLEAK})
        assert refused(folder) == (
            f"{folder}/Dickens/emma.txt: Dickens and Austen ({folder}/Austen/emma.txt) have the same text;"
            " leave it with the one who wrote it"
        )

    def test_the_order_is_that_of_authors_and_texts_whatever_came_first(self) -> None:
        documents = [Document(f"n{n}", text) for n, text in enumerate(["c", "b", "a", "d"])]
        found = writings_of(documents, ["Bob", "Ann", "Bob", "Ann"])
        turned = writings_of(documents[::-1], ["Ann", "Bob", "Ann", "Bob"])
        assert pairs(found) == [("Ann", "b"), ("Ann", "d"), ("Bob", "a"), ("Bob", "c")]
        assert found == turned

    def test_of_copies_the_same_one_gives_the_name_whatever_came_first(self) -> None:
        documents = [Document("z", EMMA), Document("a", EMMA)]
        assert writings_of(documents, ["Ann", "Ann"]) == writings_of(documents[::-1], ["Ann", "Ann"])


def refused(path: Path | Sequence[Path], **options: str) -> str:
    with pytest.raises(CorpusError) as refusal:
        read_writings([path] if isinstance(path, Path) else path, **options)
    return str(refusal.value)


class TestRefusals:
    def test_a_path_that_is_nothing_is_named(self, tmp_path: Path) -> None:
        assert refused(tmp_path / "gone") == f"{tmp_path / 'gone'}: not found; {writings.REMEDY}"

    def test_a_file_that_is_no_table_is_named(self, write: Write) -> None:
        path = write({"notes.txt": EMMA}) / "notes.txt"
        assert refused(path) == f"{path}: no folder, .csv, .tsv or .jsonl file; {writings.REMEDY}"

    @pytest.mark.parametrize("files", [{"README": "x"}, {"Austen/notes.log": "x"}, {".hidden/a.txt": "x"}])
    def test_a_folder_without_texts_is_named(self, write: Write, files: dict[str, str]) -> None:
        folder = write(files)
        assert refused(folder) == f"{folder}: no texts found; {writings.REMEDY}"

    def test_an_author_without_texts_is_named(self, write: Write) -> None:
        """And not left out of the model in silence."""
        folder = write({"Austen/emma.txt": EMMA, "Dickens/bleak.doc": "x", "Eliot/romola.txt": BLEAK})
        assert refused(folder) == (
            f"{folder / 'Dickens'}: no texts there; put the author's texts into it, or remove the folder"
        )

    def test_texts_beside_authors_folders_are_nobodys(self, write: Write) -> None:
        folder = write({"Austen/emma.txt": EMMA, "Dickens_Bleak.txt": BLEAK})
        assert (
            refused(folder)
            == f"{folder}: holds both folders and Dickens_Bleak.txt; put every text into its author's folder"
        )

    def test_a_file_without_an_author_in_its_name_is_named(self, write: Write) -> None:
        folder = write({"Austen_Emma.txt": EMMA, "bleak.txt": BLEAK})
        assert refused(folder) == (
            f"{folder}: whose text is bleak.txt? Name texts Author_Title.txt, or put each author's into a folder"
        )

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
        message = refused([folder, tmp_path / "gone"])
        first, *lines = message.splitlines()
        assert first == "these can't be used (5):"
        wanted = (
            f"{folder}/Austen/emma.txt: empty; remove it",
            f"{folder}/Dickens/bleak.txt: not UTF-8 (byte 0), and what else is not sure; save it as UTF-8",
            f"{folder}/Eliot/romola.txt: a Word, OpenDocument or other packed file, not plain text",
            f"{folder}/Poe/raven.txt: a folder, where a file is wanted",
            f"{tmp_path / 'gone'}: not found",
        )
        for line, part in zip(lines, wanted, strict=True):
            assert part in line
            assert ";" in line

    def test_a_folder_that_may_not_be_read_is_named(self, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = write({"Austen/emma.txt": EMMA, "Dickens/bleak.txt": BLEAK})
        real = Path.iterdir

        def closed(self: Path) -> object:
            if self.name == "Dickens":
                raise PermissionError(13, "Permission denied")
            return real(self)

        monkeypatch.setattr(Path, "iterdir", closed)
        assert refused(folder) == f"{folder}: can't be read (Permission denied); check that you may"

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("t.csv", "", "empty; it should have a line for each text"),
            ("t.csv", "author,text\n", "empty; it should have a line for each text"),
            ("t.jsonl", "\n \n", "empty; it should have a line for each text"),
            (
                "t.csv",
                "who,text\nA,x\n",
                "line 1 has no column 'author' (there are who, text); say which hold authors and texts (--author",
            ),
            ("t.csv", "author,what\nA,x\n", "line 1 has no column 'text' (there are author, what); say which hold"),
            ("t.csv", "author,what\n", "line 1 has no column 'text' (there are author, what); say which hold"),
            ("t.csv", "who;what\nA;x\n", "line 1 has no column 'author' (there are who, what); say which hold"),
            ("t.csv", "author|text\nA|x\n", "line 1 has no column 'author' (there are author|text); say which hold"),
            ("t.csv", "author;text\nA;x\nB;\n", "line 3 has no text; complete it or remove the line"),
            ("t.csv", "author,text\nA,x\nB\n", "line 3 has 1 cell, and there are 2 columns; put texts"),
            ("t.csv", "author,text\n,x\n", "line 2 has no author; complete it"),
            ("t.csv", "author,text\nA, \n", "line 2 has no text; complete it"),
            ("t.tsv", "author\ttext\nA\t\n", "line 2 has no text; complete it"),
            (
                "t.csv",
                'author,text\nA,"x\ny"\nB,Well, I say, no\n',
                "line 4 has 4 cells, and there are 2 columns; put texts that hold commas in quotes",
            ),
            ("t.csv", "author,text\nA,x,\n", "line 2 has 3 cells, and there are 2 columns"),
            ("t.csv", "author;text\nA;x;y\n", "put texts that hold semicolons in quotes, and leave no cell out"),
            ("t.tsv", "author\ttext\nA\tx\ty\n", "put texts that hold tabs in quotes"),
            ("t.csv", "author,text,more\nA,x\n", "line 2 has 2 cells, and there are 3 columns"),
            ("t.csv", "author,text,\nA,Well, no\n", "line 2 has 3 cells, and there are 2 columns"),
            ("t.csv", "author,text,text\nA,x,y\n", "line 1 names 'text' twice; give each a name of its own"),
            ("t.csv", "note,author,text,note\n1,A,x,2\n", "line 1 names 'note' twice; give each a name"),
            ("t.jsonl", '{"author": "A", "text": "x", "text": "y"}\n', "line 1 names 'text' twice; give each a name"),
            ("t.csv", b"author,text\nA,\xff\n", "not UTF-8 (byte 14); save it as UTF-8"),
            ("t.csv", b"PK\x03\x04 a spreadsheet", "packed file, not plain text; save it as plain text"),
            (
                "t.jsonl",
                '{"author": "A"}\n',
                "line 1 has no column 'text' (there are author); say which hold authors and texts (--author",
            ),
            ("t.jsonl", "{}\n", "line 1 has no column 'author' (there are none)"),
            ("t.jsonl", '{"author": "A", "text": "x"}\n[1]\n', "line 2 is no JSON object; repair it"),
            ("t.jsonl", "not JSON\n", "line 1 is no JSON object; repair it"),
            ("t.jsonl", "[" * 100_000, "line 1 is no JSON object; repair it"),
            ("t.jsonl", '{"author": 3, "text": "x"}\n', "line 1: author must be text, got 3; put it in quotes"),
            ("t.jsonl", '{"author": "A", "text": null}\n', "line 1 has no text; complete it"),
            ("t.jsonl", '{"author": "A", "text": ["x"]}\n', 'line 1: text must be text, got ["x"]; put it'),
            ("t.jsonl", '{"author": " ", "text": "x"}\n', "line 1 has no author; complete it"),
        ],
    )
    def test_a_table_that_lacks_something_is_named_with_its_line(
        self, write: Write, name: str, content: str | bytes, message: str
    ) -> None:
        path = write({name: content}) / name
        refusal = refused(path)
        assert refusal.startswith(f"{path}: ")
        assert message in refusal
        assert ";" in refusal
        assert "\n" not in refusal

    def test_a_cell_beyond_all_measure_is_refused(self, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(writings, "LONGEST_CELL", 100)
        path = write({"t.csv": f"author,text\nA,{'x' * 101}\n"}) / "t.csv"
        before = csv.field_size_limit()
        assert "no table (field larger than field limit (100)); save it as CSV" in refused(path)
        assert csv.field_size_limit() == before


def test_a_text_in_a_table_may_be_no_longer_than_one_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("byline.attribution.writings.LARGEST_TEXT", 20)
    (tmp_path / "t.csv").write_text("author,text\nAnn,a text that is too long\n", "utf-8")
    with pytest.raises(CorpusError, match=r"t\.csv:2: more than 50 million characters; split it"):
        read_writings([tmp_path / "t.csv"])

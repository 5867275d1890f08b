"""Texts whose authors are known: folders, file names and tables; what can't be used is named, with a remedy."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
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
                "Dickens/notes.md": "a note",
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
            "Dickens/emma.txt: Dickens and Austen (Austen/emma.txt) have the same text;"
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

    @pytest.mark.parametrize("files", [{"README": "x"}, {"Austen/notes.md": "x"}, {".hidden/a.txt": "x"}])
    def test_a_folder_without_texts_is_named(self, write: Write, files: dict[str, str]) -> None:
        folder = write(files)
        assert refused(folder) == f"{folder}: no texts found; {writings.REMEDY}"

    def test_an_author_without_texts_is_named(self, write: Write) -> None:
        """And not left out of the model in silence."""
        folder = write({"Austen/emma.txt": EMMA, "Dickens/bleak.docx": "x", "Eliot/romola.txt": BLEAK})
        assert refused(folder) == (
            f"{folder / 'Dickens'}: no .txt files there; put the author's texts into it, or remove the folder"
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
            "Austen/emma.txt: empty; remove it",
            "Dickens/bleak.txt: not UTF-8 (byte 0); save it as UTF-8",
            "Eliot/romola.txt: a Word, OpenDocument or other packed file, not plain text",
            "Poe/raven.txt: can't be read (not a file)",
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
                "line 2 has no column 'author' (there are who, text); name them with --author-",
            ),
            ("t.csv", "author,what\nA,x\n", "line 2 has no column 'text' (there are author, what); name them with"),
            ("t.csv", "author;text\nA;x\n", "line 2 has no column 'author' (there are author;text); name them with"),
            ("t.csv", "author,text\nA,x\nB\n", "line 3 has no author or no text; complete it or remove the line"),
            ("t.csv", "author,text\n,x\n", "line 2 has no author or no text"),
            ("t.csv", "author,text\nA, \n", "line 2 has no author or no text"),
            ("t.tsv", "author\ttext\nA\t\n", "line 2 has no author or no text"),
            ("t.csv", b"author,text\nA,\xff\n", "not UTF-8 (byte 14); save it as UTF-8"),
            ("t.csv", b"PK\x03\x04 a spreadsheet", "packed file, not plain text; save it as plain text"),
            (
                "t.jsonl",
                '{"author": "A"}\n',
                "line 1 has no column 'text' (there are author); name them with --author-",
            ),
            ("t.jsonl", "{}\n", "line 1 has no column 'author' (there are none)"),
            ("t.jsonl", '{"author": "A", "text": "x"}\n[1]\n', "line 2 is no JSON object; repair it"),
            ("t.jsonl", "not JSON\n", "line 1 is no JSON object; repair it"),
            ("t.jsonl", "[" * 100_000, "line 1 is no JSON object; repair it"),
            ("t.jsonl", '{"author": 3, "text": "x"}\n', "line 1 has no author or no text"),
            ("t.jsonl", '{"author": "A", "text": null}\n', "line 1 has no author or no text"),
            ("t.jsonl", '{"author": "A", "text": ["x"]}\n', "line 1 has no author or no text"),
            ("t.jsonl", '{"author": " ", "text": "x"}\n', "line 1 has no author or no text"),
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

"""Files that come in: too large, too slow, too many, hostile by name or by content; what is refused leaves nothing."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import stat
import struct
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from byline.corpora.formats import FORMATS
from byline.web.file_names import check_path, storable, unwrap_names
from byline.web.home import Limits
from byline.web.messages import RefusedError, one_line, show_name, strip_invisible
from byline.web.uploads import UploadedFile, list_formats, move_files, unpack
from web_pages import Served, children_of, files_below, read_all, serving, until, zipped

FILE, TOTAL, FILES, DRAFTS = 100_000, 250_000, 40, 4
WORDS = "I had not thought of it before that day. "


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    limits = {
        "file_bytes": FILE, "total_bytes": TOTAL, "files": FILES, "drafts": DRAFTS, "message_bytes": 5_000,
        "body_seconds": 1.5, "zip_ratio": 50, "reading_seconds": 4,
    }  # fmt: skip
    with serving(tmp_path_factory.mktemp("uploads") / "home", **limits) as served:
        yield served


@pytest.fixture
def draft(page: Served) -> Iterator[str]:
    """A draft; afterwards the server must be there, and nothing of the draft."""
    name = page.draft()
    yield name
    assert page.client.delete(f"api/drafts/{name}").status_code == 204
    assert page.is_alive()
    assert page.drafts() == []


def refused(page: Served, draft: str, name: str, content: object, status: int, role: str = "texts") -> str:
    """The one line with which a file is refused, of which nothing is left."""
    before = page.drafts()
    answer = page.put(draft, role, name, content)
    assert answer.status_code == status, answer.text
    assert page.drafts() == before
    said = answer.json()["error"]
    assert "\n" not in said
    return str(said)


# Names


@pytest.mark.parametrize(
    "name",
    ["../a.txt", "a/../../b.txt", "..", "/etc/a.txt", "\\\\server\\a.txt", "..\\a.txt", "C:\\a.txt", "C:/a.txt", "c:",
     "", "/", ".", "a\0.txt", "a\n.txt", "\u202etxt.exe.txt", "x" * 300 + ".txt", "ä" * 101 + ".txt", " /a.txt",
     ".a.txt", "/".join("abcdefghijklm") + ".txt", "a/.hidden/b.txt"],
)  # fmt: skip
def test_a_name_that_leads_elsewhere_or_can_t_be_is_refused(page: Served, draft: str, name: str) -> None:
    said = refused(page, draft, name, WORDS, 422)
    assert said.endswith("; rename the file")
    assert len(said) < 150
    assert strip_invisible(said) == said


@pytest.mark.parametrize(
    ("name", "kept"),
    [("a\\b.txt", "a/b.txt"), ("./a//b.txt", "a/b.txt"), ("%2e%2e%2fa.txt", "%2e%2e%2fa.txt"),
     ("．．／a.txt", "．．／a.txt"), ("…/a.txt", "…/a.txt"), ("C:a.txt", "C:a.txt"),
     ("ἀρχή λόγου.txt", "ἀρχή λόγου.txt"), ("<b>&amp;.txt", "<b>&amp;.txt")],
)  # fmt: skip
def test_other_names_stay_as_they_are(name: str, kept: str) -> None:
    assert check_path(name) == kept


def test_on_disk_no_part_of_a_name_means_anything_to_any_system() -> None:
    found = {"C:a.txt": "C-a.txt", "CON": "-CON", "nul.txt": "-nul.txt", "com1.x.y": "-com1.x.y", "a. ": "a",
             "...": "-", 'a<b>|?*".txt': "a-b-----.txt", "console.txt": "console.txt"}  # fmt: skip
    assert {part: storable(part) for part in found} == found


def placed(tmp_path: Path, *names: str) -> list[UploadedFile]:
    files = []
    for number, name in enumerate(names):
        place = tmp_path / f"{number}"
        place.write_text(name)
        files.append(UploadedFile("texts", name, 1, "text", place))
    return files


def test_files_of_one_name_each_find_a_place(tmp_path: Path) -> None:
    names = ["a.txt", "A.TXT", "a.txt", "b/a.txt", "b/A.txt", "é.txt", "e\u0301.txt", "a (2).txt", "C:x.txt"]
    move_files(placed(tmp_path, *names), tmp_path / "out")
    there = {path.relative_to(tmp_path / "out" / "texts").as_posix(): path.read_text()
             for path in files_below(tmp_path / "out") if path.is_file()}  # fmt: skip
    assert sorted(there.values()) == sorted(names)
    assert there["a.txt"] == "a.txt"
    assert there["b/A (2).txt"] == "b/A.txt"
    assert there["C-x.txt"] == "C:x.txt"
    assert len({name.casefold() for name in there}) == len(names)


def test_where_one_file_can_t_be_laid_out_all_stay_where_they_were(tmp_path: Path) -> None:
    files = placed(tmp_path, "a.txt", "b.txt", "c.txt")
    files[2].path.unlink()
    with pytest.raises(FileNotFoundError):
        move_files(files, tmp_path / "out")
    assert files[0].path.read_text() == "a.txt"
    assert files[1].path.is_file()


@pytest.mark.parametrize(
    ("role", "names", "unwrapped"),
    [
        ("corpus", "c/x/EN001/known01.txt c/x/contents.json", "EN001/known01.txt contents.json"),
        ("corpus", "EN001/known01.txt EN001/unknown.txt", "EN001/known01.txt EN001/unknown.txt"),
        ("candidates", "all/Austen/emma.txt all/Eliot/adam.txt", "Austen/emma.txt Eliot/adam.txt"),
        ("candidates", "Austen/emma.txt Austen/lady.txt", "Austen/emma.txt Austen/lady.txt"),
        ("candidates", "Austen_Emma.txt nobody.txt", "Austen/Austen_Emma.txt nobody.txt"),
        ("reference", "r/Ann/1.txt r/Bob/1.txt", "Ann/1.txt Bob/1.txt"),
        ("texts", "folder/1.txt folder/2.txt", "1.txt 2.txt"),
        ("texts", "", ""),
    ],
)
def test_an_archive_s_folders_are_read_as_a_task_means_them(role: str, names: str, unwrapped: str) -> None:
    assert unwrap_names(role, names.split()) == unwrapped.split()


def test_messages_are_one_line_however_many_they_were() -> None:
    several = "these can't be used (2):\n  a.txt: empty\n  b.txt:\tempty"
    assert one_line(several) == "these can't be used (2): a.txt: empty; b.txt: empty"
    assert len(one_line("x " * 5_000)) <= 600
    assert show_name("a\u202eb\n") == "a�b�"


# Bodies


def test_a_file_is_read_at_once_and_told_of(page: Served, draft: str) -> None:
    told = page.put(draft, "known", "an essay.txt", WORDS * 20).json()
    assert told.pop("number") >= 1
    excerpt = (WORDS * 20)[:200].strip()
    assert told == {"role": "known", "name": "an essay.txt", "bytes": 820, "kind": "text", "characters": 820,
                    "script": "latin", "language": "english", "excerpt": excerpt,
                    "notes": [], "error": None}  # fmt: skip
    assert page.get(f"api/drafts/{draft}")["files"][0]["name"] == "an essay.txt"


@pytest.mark.parametrize("name", ["a.exe", "a", "a.txt.gz", "a.jpg", "a.csv", "truth.json"])
def test_a_file_that_is_not_a_text_by_its_name_is_refused_unread(page: Served, draft: str, name: str) -> None:
    assert "unsupported file type" in refused(page, draft, name, WORDS, 415)
    assert "empty" in refused(page, draft, "a.txt", b" \n\n ", 422)


def test_tables_belong_to_corpora_and_authors(page: Served, draft: str) -> None:
    for role in ("corpus", "candidates", "reference"):
        assert page.put(draft, role, "truth.jsonl", b'{"id": 1}').json()["kind"] == "other"


def test_a_role_that_there_is_not_and_a_draft_that_there_is_not(page: Served, draft: str) -> None:
    assert "role must be one of" in refused(page, draft, "a.txt", WORDS, 422, role="judge")
    assert page.put("0" * 18, "texts", "a.txt", WORDS).status_code == 404
    assert page.client.put(f"api/drafts/{draft}/files").status_code == 422
    for number in ("1", "-1", "x", "9" * 50, "%00"):
        assert page.client.delete(f"api/drafts/{draft}/files/{number}").status_code == 404


@pytest.mark.parametrize("suffix", sorted({*FORMATS} - {".txt", ".md"}))
def test_a_damaged_file_of_any_format_is_refused_with_its_name(page: Served, draft: str, suffix: str) -> None:
    junk = b"PK\x03\x04" + bytes(range(256)) * 20
    assert refused(page, draft, f"essay{suffix}", junk, 422).startswith(f"essay{suffix}: ")


def test_a_file_is_too_large_by_its_stated_or_its_real_size(page: Served, draft: str) -> None:
    assert "100,000 bytes" in refused(page, draft, "a.txt", b"x" * (FILE + 1), 413)
    assert "too large" in refused(page, draft, "a.txt", iter([b"x" * 10_000] * 30), 413)  # of unknown length
    with page.begin_upload(draft, "Content-Length: 9999999999", "Connection: close") as huge:
        assert read_all(huge).startswith(b"HTTP/1.1 413 ")


def test_files_are_too_large_together_but_a_removed_one_counts_no_more(page: Served, draft: str) -> None:
    large = (WORDS * 2_200).encode()
    numbers = [page.put(draft, "texts", f"{n}.txt", large).json()["number"] for n in range(2)]
    assert "too much together" in refused(page, draft, "3.txt", large, 413)
    assert page.client.delete(f"api/drafts/{draft}/files/{numbers[0]}").status_code == 204
    assert page.put(draft, "texts", "3.txt", large).status_code == 201


def test_files_are_too_many(page: Served, draft: str) -> None:
    for number in range(FILES - 1):
        assert page.put(draft, "texts", f"{number}.txt", WORDS).status_code == 201
    two = zipped({"a.txt": WORDS, "b.txt": WORDS})
    assert "too many files together" in refused(page, draft, "more.zip", two, 413)
    assert page.put(draft, "texts", "last.txt", WORDS).status_code == 201
    assert "one file too many" in refused(page, draft, "more.txt", WORDS, 413)


def test_the_draft_that_was_not_used_for_longest_gives_way_to_a_new_one(page: Served) -> None:
    drafts = [page.fill({"texts/a.txt": WORDS}) for _ in range(DRAFTS)]
    assert page.put(drafts[0], "texts", "b.txt", WORDS).status_code == 201
    drafts.append(page.draft())
    assert [page.client.delete(f"api/drafts/{draft}").status_code for draft in drafts] == [204, 404, 204, 204, 204]
    assert page.drafts() == []


def test_a_file_that_comes_a_byte_at_a_time_is_given_up(page: Served, draft: str) -> None:
    with page.begin_upload(draft, "Content-Length: 50") as slow:
        slow.settimeout(0.2)
        said = b""
        while not said:
            slow.sendall(b"x")
            with contextlib.suppress(TimeoutError):
                said = read_all(slow)
    assert said.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in said


@pytest.mark.parametrize("lines", [["Content-Length: 50"], ["Transfer-Encoding: chunked"]])
def test_a_file_that_breaks_off_leaves_nothing(page: Served, draft: str, lines: list[str]) -> None:
    with page.begin_upload(draft, *lines) as broken:
        broken.sendall(b"5\r\nhello\r\n")
        until(page.drafts)
    until(lambda: len(page.drafts()) == 1)


# Archives


def test_a_zip_is_unpacked_and_what_is_no_text_is_named(page: Served, draft: str) -> None:
    content = zipped({
        "all/Austen/emma.txt": WORDS * 5, "all/Eliot/adam.txt": WORDS * 6, "__MACOSX/all/._emma.txt": b"\0\1",
        "all/.DS_Store": b"x", "all/Eliot/cover.jpg": b"\xff\xd8", "all/Eliot/~$adam.docx": b"x",
        "all/more.zip": zipped({}), "all/README.md": "what it is", "all/Eliot/empty.txt": "",
    })  # fmt: skip
    told = page.put(draft, "candidates", "authors.zip", content).json()
    assert told["kind"] == "archive"
    assert [file["name"] for file in told["files"]] == ["Austen/emma.txt", "Eliot/adam.txt"]
    assert told["files"][0]["characters"] == 5 * len(WORDS)
    assert len(told["skipped"]) == 7
    assert "all/more.zip: a zip in a zip; unpack it first" in told["skipped"]
    assert len(page.drafts()) == 3  # the folder and two files


def rewritten(data: bytes, local: int, listed: int, content: bytes) -> bytes:
    """An archive with other bytes at a place of its first file's header, and of its entry in the list."""
    changed = bytearray(data)
    for mark, place in ((b"PK\x03\x04", local), (b"PK\x01\x02", listed)):
        begin = data.index(mark) + place
        changed[begin : begin + len(content)] = content
    return bytes(changed)


def unusual(name: str, content: str, method: int = zipfile.ZIP_STORED, mode: int = 0) -> bytes:
    """An archive of one file that is packed by another method, or is not a file."""
    buffer, entry = io.BytesIO(), zipfile.ZipInfo(name)
    entry.compress_type, entry.external_attr = method, mode << 16
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(entry, content)
    return buffer.getvalue()


def many(count: int) -> bytes:
    """An archive with a long list of files without content."""
    row = struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0)
    rows = [row + f"{n:05d}.txt".encode() for n in range(count)]
    local = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, 0, 0, 0, 0, 0, 0, 0, 9, 0) + b"00000.txt"
    listed = b"".join(rows)
    stated = min(count, 0xFFFF)
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, stated, stated, len(listed), len(local), 0)
    return local + listed + end


SMALL = zipped({"a.txt": WORDS * 50})
BOMBS = {
    "all zeros": (zipped({"a.txt": b"\0" * 20_000_000}), 413),
    "too large together": (zipped({f"{n}.txt": (WORDS * 2_000) + str(n) for n in range(6)}), 413),
    "says it is small": (rewritten(SMALL, 22, 24, struct.pack("<I", 10)), 422),
    "says it is large": (rewritten(SMALL, 22, 24, struct.pack("<I", 0xFFFFFFF0)), (201, 422)),
    "too many files": (zipped({f"{n}.txt": WORDS for n in range(FILES + 1)}), 413),
    "a hundred thousand files": (many(1_500), 413),
    "a link": (unusual("link.txt", "/etc/passwd", mode=stat.S_IFLNK | 0o777), 422),
    "encrypted": (rewritten(SMALL, 6, 8, b"\1"), 422),
    "packed in an unusual way": (unusual("a.txt", WORDS, zipfile.ZIP_BZIP2), 422),
    "packed in another unusual way": (unusual("a.txt", WORDS, zipfile.ZIP_LZMA), 422),
    "a zip in a zip": (zipped({"b.zip": zipped({"a.txt": WORDS})}), 422),
    "leads up": (zipped({"a.txt": WORDS, "../../b.txt": WORDS}), 422),
    "leads up in Windows' way": (zipped({"a.txt": WORDS, "..\\b.txt": WORDS}), 422),
    "leads to the root": (zipped({"a.txt": WORDS, "/b.txt": WORDS}), 422),
    "nothing in it": (zipped({}), 422),
    "no texts in it": (zipped({"a.jpg": b"x"}), 422),
    "junk": (b"PK\x03\x04 and then some", 422),
    "no zip": (WORDS.encode(), 422),
    "cut off": (zipped({"a.txt": WORDS * 100})[:-30], 422),
}  # fmt: skip


@pytest.mark.parametrize("kind", BOMBS)
def test_a_hostile_zip_is_refused_whole(page: Served, draft: str, kind: str) -> None:
    content, status = BOMBS[kind]
    assert len(content) <= FILE
    begin = time.monotonic()
    answer = page.put(draft, "texts", "a.zip", content)
    assert time.monotonic() - begin < 5
    assert answer.status_code in (status if isinstance(status, tuple) else (status,)), answer.text
    if answer.status_code != 201:
        assert answer.json()["error"].startswith("a.zip: ")
        assert len(page.drafts()) == 1  # its folder


def test_a_zip_of_many_files_needs_no_memory_for_its_list(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(many(100_000))
    begin = time.monotonic()
    with pytest.raises(RefusedError, match="too many files together"):
        list(unpack(path, "a.zip", Limits(files=2_000), 1_000_000))
    assert time.monotonic() - begin < 0.5


def test_a_page_that_goes_while_a_zip_is_read_leaves_nothing(page: Served, draft: str) -> None:
    page.put(draft, "texts", "a.txt", WORDS)
    (reader,) = children_of(page.process.pid)
    content = zipped({f"{n}.txt": WORDS for n in range(20)})
    os.kill(reader, signal.SIGSTOP)
    with page.begin_upload(draft, f"Content-Length: {len(content)}", name="a.zip") as going:
        going.sendall(content)
        until(lambda: len(page.drafts()) > 20)
    time.sleep(0.1)
    os.kill(reader, signal.SIGCONT)
    page.put(draft, "texts", "b.txt", WORDS)  # waits until that is over
    assert [file["name"] for file in page.get(f"api/drafts/{draft}")["files"]] == ["a.txt", "b.txt"]
    assert len(page.drafts()) == 3


# The process that reads


def test_a_reader_that_was_killed_or_hangs_is_replaced(page: Served, draft: str) -> None:
    page.put(draft, "texts", "a.txt", WORDS)
    (reader,) = children_of(page.process.pid)
    os.kill(reader, signal.SIGKILL)
    until(lambda: reader not in children_of(page.process.pid))
    assert page.put(draft, "texts", "b.txt", WORDS).status_code == 201
    os.kill(children_of(page.process.pid)[0], signal.SIGSTOP)
    assert refused(page, draft, "c.txt", WORDS, 422) == "c.txt: takes too long to read; save it as plain text"
    assert page.put(draft, "texts", "d.txt", WORDS).status_code == 201


# Formats


def test_the_page_offers_what_can_be_read_and_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("byline.web.uploads.find_spec", lambda name: None)
    readable, missing = list_formats()
    assert readable == {".txt": "plain text", ".rtf": "rich text"}
    assert {*missing} == {*FORMATS} - {*readable}


# Drafts that nobody asks about, and bodies that are no question


def test_a_draft_that_nobody_uses_goes_by_itself(tmp_path: Path) -> None:
    with serving(tmp_path / "home", draft_seconds=1.0, body_seconds=5) as page:
        draft = page.fill({"texts/a.txt": WORDS})
        with page.begin_upload(page.draft(), "Content-Length: 90", "Connection: close") as long:
            long.sendall(b"words " * 5)
            until(lambda: not (page.home / "drafts" / draft).exists(), 5)
            long.sendall(b"words " * 10)
            assert read_all(long).startswith(b"HTTP/1.1 201 ")  # for it was in use all the time
        assert page.client.get(f"api/drafts/{draft}").status_code == 404
        assert page.put(draft, "texts", "b.txt", WORDS).json()["error"] == "these files are gone; drop them again"
        until(lambda: not page.drafts(), 5)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"1", b'"x"', b"\xff\xfe", b'{"a":' * 700 + b"1" + b"}" * 700, b"[" * 4_000,
     b"1" * 4_900, b'{"draft": 1' + b"0" * 4_800 + b"}"],
)  # fmt: skip
def test_a_question_that_is_no_json_object_is_refused(page: Served, body: bytes) -> None:
    answer = page.client.post("api/jobs", content=body)
    assert answer.status_code in (404, 422)
    assert list(answer.json()) == ["error"]


def test_a_question_of_a_megabyte_is_refused(page: Served) -> None:
    answer = page.client.post("api/jobs", content=json.dumps({"options": {"title": "x" * 1_000_000}}))
    assert (answer.status_code, answer.json()["error"]) == (413, "the request is too large")


def test_where_the_disk_is_full_a_file_is_refused_and_taken_when_there_is_room(page: Served, draft: str) -> None:
    large = (WORDS * 600 + os.urandom(2_000).hex()).encode()
    with page.full_disk(20_000):
        assert "make room" in refused(page, draft, "a.txt", large, 507)
        assert "make room" in refused(page, draft, "a.zip", zipped({"a.txt": large}), 507)
        assert page.put(draft, "texts", "b.txt", WORDS).status_code == 201


def test_names_in_utf8_that_a_zip_does_not_call_so_are_read_as_people_wrote_them(page: Served, draft: str) -> None:
    plain = rewritten(zipped({"Brontë/één.txt": WORDS}), 7, 9, b"\0")  # the second byte of the flags
    told = page.put(draft, "candidates", "authors.zip", plain).json()
    assert [file["name"] for file in told["files"]] == ["Brontë/één.txt"]

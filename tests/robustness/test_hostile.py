"""Malicious files are read or refused quickly and with little memory, and nothing outside them is read."""

from __future__ import annotations

import io
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import format_writers
from byline.corpora.documents import read_document
from byline.corpora.formats import extraction, read_text, rtf, xml, zipped_documents
from byline.errors import CorpusError
from format_writers import PARAGRAPHS, WRITERS

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
LAUGHS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
SOUND = {ending: write(PARAGRAPHS) for ending, write in WRITERS.items() if ending not in (".htm", ".tei")}


def refused(data: bytes, ending: str) -> str:
    with pytest.raises(CorpusError) as refusal:
        read_text(data, ending, "x")
    assert (refusal.value.where, bool(refusal.value.remedy)) == ("x", True)
    return refusal.value.what


def word(body: str, before: str = "") -> bytes:
    return format_writers.pack(
        {"word/document.xml": f'{before}<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'}
    )


class TestPackages:
    def test_one_that_unpacks_to_very_much_is_refused(self) -> None:
        huge = word("<w:p><w:r><w:t>" + "a" * (zipped_documents.MAX_SIZE + 1) + "</w:t></w:r></w:p>")
        assert len(huge) < 300_000
        assert refused(huge, ".docx") == "unpacked it is larger than 100 MB"

    def test_one_that_is_packed_far_too_tightly_is_refused(self) -> None:
        tight = word("<w:p><w:r><w:t>a</w:t></w:r></w:p>" * 100_000)
        assert refused(tight, ".docx") == "unpacked it is more than 200 times as large"

    def test_one_that_lies_about_its_size_is_refused(self) -> None:
        data = bytearray(word("<w:p><w:r><w:t>" + "ab" * 500_000 + "</w:t></w:r></w:p>"))
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            real = package.infolist()[0].file_size.to_bytes(4, "little")
        data[:] = data.replace(real, (1_000).to_bytes(4, "little"))
        assert refused(bytes(data), ".docx").startswith("damaged")

    def test_one_of_very_many_members_is_refused(self) -> None:
        many = format_writers.pack({str(number): b"" for number in range(zipped_documents.MAX_MEMBERS + 1)})
        assert refused(many, ".odt") == "more than 20,000 files are packed in it"

    def test_members_of_other_places_are_not_looked_for(self, tmp_path: Path) -> None:
        (tmp_path / "secret.xhtml").write_text("<p>secret</p>", "utf-8")
        outside = f'<item id="o" href="../../../{tmp_path}/secret.xhtml" media-type="application/xhtml+xml"/>'
        book = format_writers.epub_of({"one.xhtml": "<p>x</p>"}, rows=outside, refs='<itemref idref="o"/>')
        assert refused(book, ".epub").startswith("damaged")


class TestTrees:
    @pytest.mark.parametrize("place", ["<p>&a11;</p>", '<p n="&a11;">x</p>'])
    def test_entities_that_grow_are_not_expanded(self, place: str) -> None:
        bomb = f'<!DOCTYPE TEI [<!ENTITY a0 "ha">{LAUGHS}]><TEI><text><body>{place}</body></text></TEI>'
        try:
            assert len(read_text(bomb.encode(), ".xml", "x").text) < 100
        except CorpusError as error:
            assert "no well-formed XML" in str(error)  # noqa: PT017 - either is well

    def test_one_entity_many_times_is_within_the_limit_or_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(extraction, "LARGEST_TEXT", 10_000)
        declared = f'<!DOCTYPE TEI [<!ENTITY a "{"x" * 1_000}">]>'
        bomb = f"{declared}<TEI><text><body><p>{'&a;' * 50}</p></body></text></TEI>"
        assert refused(bomb.encode(), ".xml") == extraction.TOO_LARGE

    @pytest.mark.parametrize("ending", [".xml", ".html", ".docx", ".odt", ".epub"])
    def test_nothing_outside_is_read(self, ending: str, tmp_path: Path) -> None:
        secret = tmp_path / "secret.txt"
        secret.write_text("secret", "utf-8")
        there = f'SYSTEM "{secret.as_uri()}"'
        declared = f"<!DOCTYPE a {there} [<!ENTITY s {there}><!ENTITY % p {there}>%p;]>"
        sources = {
            ".xml": (declared + "<TEI><text><body><p>words &s;</p></body></text></TEI>").encode(),
            ".html": (declared + f'<p>words &s;<iframe src="{secret.as_uri()}"></iframe>').encode(),
            ".docx": word("<w:p><w:r><w:t>words &s;</w:t></w:r></w:p>", declared),
            ".odt": format_writers.pack({"content.xml": declared + "<a><b><p>words &s;</p></b></a>"}),
            ".epub": format_writers.epub_of(
                {"one.xhtml": "<p>words</p>"}, {"OEBPS/text/one.xhtml": f"{declared}<p>words &s;</p>"}
            ),
        }
        try:
            assert "secret" not in read_text(sources[ending], ending, "x").text
        except CorpusError as error:
            assert "well-formed" in str(error)  # noqa: PT017 - either is well

    @pytest.mark.parametrize("attribute", ["a{}=1", "a{}='>'", 'a{}="<"'])
    def test_a_tag_of_very_many_attributes_is_refused(self, attribute: str) -> None:
        many = " ".join(attribute.format(number) for number in range(100_000))
        assert refused(f"<p>x<p {many}>y".encode(), ".html") == "a tag with more than 1,000 attributes"

    def test_tags_in_scripts_and_comments_are_none(self) -> None:
        words = "a b " * 2_000
        page = f"<script>if (a <b {words}) c = '</b>'</script><!-- <p {words} --><p title='{words}'>x"
        assert read_text(page.encode(), ".html", "x").text == "x\n"

    def test_very_many_elements_are_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(xml, "MAX_ELEMENTS", 1_000)
        assert refused(b"<p>a" * 2_000, ".html") == "more than 1,000 elements"
        monkeypatch.setattr(xml, "MAX_TAGS", 1_000)
        assert refused(b"<p>a" * 2_000, ".html") == "more than 1,000 tags"


class TestSizes:
    def test_a_text_of_more_than_the_limit_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for module in ("", ".extraction", ".pdf", ".zipped_documents"):
            monkeypatch.setattr(f"byline.corpora.formats{module}.LARGEST_TEXT", 1_000)
        for ending, write in WRITERS.items():
            assert refused(write(PARAGRAPHS * 20), ending) == extraction.TOO_LARGE

    def test_a_file_of_more_than_the_limit_is_not_even_read(self, tmp_path: Path) -> None:
        path = tmp_path / "huge.pdf"
        with path.open("wb") as file:
            file.truncate(extraction.LARGEST_FILE + 1)
        with pytest.raises(CorpusError, match=r"huge\.pdf: is larger than 200 MB"):
            read_document(path)

    def test_control_words_without_end_are_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(rtf, "MAX_TOKENS", 1_000)
        assert "control words" in refused(b"{\\rtf1 " + b"\\b1" * 2_000 + b"}", ".rtf")


DEEP = [
    (".html", b"<div>" * 500_000 + b"x"),
    (".html", b"<article>" + b"<header>" * 300_000 + b"x"),
    (".xml", b"<TEI>" + b"<p>" * 100_000 + b"x"),
    (".docx", word("<w:p>" * 100_000)),
    (".md", b">" * 100_000 + b" x"),
    (".md", b"* " * 100_000 + b" x"),
    (".rtf", b"{\\rtf1 " + b"{" * 1_000_000),
]
SLOW = [
    (".txt", ("Zij zei: één coöperatie, geïllustreerd. " * 100_000).encode("cp1252")),
    (".html", b"<p>" + b"word and " * 1_000_000),
    (".html", b"<" * 1_000_000),
    (".html", b"<meta charset=punycode>" + b"word and " * 200_000 + b"-" + b"a" * 200_000),
    (".html", b"<article>" + b"<header>" * 1_900 + b"<main>x" * 19),
    (".html", b"&amp" * 1_000_000),
    (".html", b"<p style='display" + b" " * 1_000_000 + b"'>x"),
    (".xml", format_writers.tei_of("<p>" + "a-<lb break='no'/>" * 30_000 + "</p>")),
    (".xml", format_writers.tei_of("<p><choice>" + "<corr>a</corr>" * 30_000 + "</choice></p>")),
    (".xml", format_writers.tei_of("<p><app>" + "<rdg>a<app><rdg>b</rdg></app></rdg>" * 30_000 + "</app></p>")),
    (".xml", format_writers.tei_of("<p>" + "<app>" + "<rdgGrp><rdg>a</rdg></rdgGrp>" * 30_000 + "</app></p>")),
    (".xml", format_writers.tei_of("<p>" + "<w>a</w>" * 100_000 + "</p>")),
    (".docx", word("<w:r><w:fldChar w:fldCharType='begin'/><w:t>a</w:t></w:r>" * 10_000)),
    (".rtf", b"{\\rtf1 x" + b"{\\field{\\fldinst TOC " + b"word " * 100_000 + b"}{\\fldrslt a}}" * 10 + b"}"),
    (".md", b"---\n" + b"a: b\n" * 200_000 + b"---\nwords"),
    (".rtf", b"{\\rtf1 " + b"\\u8217?x" * 200_000 + b"}"),
    (".md", b"[" * 50_000),
    (".md", b"![a](" * 20_000),
]
"""Files that other readers take very long for."""


@pytest.mark.parametrize(
    ("ending", "data", "refusable"),
    [*((*row, True) for row in DEEP), *((*row, False) for row in SLOW)],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_deep_and_slow_files_are_handled_in_time(ending: str, data: bytes, refusable: bool) -> None:
    """Time grows with the size: some tenth of a second per megabyte; with its square it would take hours."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    try:
        read_text(data, ending, "x")
    except CorpusError:
        if not refusable:
            raise
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 10


def test_no_library_speaks_for_itself(tmp_path: Path) -> None:
    for number, (ending, data) in enumerate(SOUND.items()):
        (tmp_path / f"{number}{ending}").write_bytes(data[: int(0.8 * len(data))])
    command = [sys.executable, "-W", "default::UserWarning", "-m", "byline", "--verbose", "text", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert all(line.startswith(("byline: ", "  ")) for line in done.stderr.splitlines()), done.stderr
    assert "Traceback" not in done.stderr

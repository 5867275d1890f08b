"""Files that mean harm: each is read or refused, soon and without much memory, and nothing outside is touched."""

from __future__ import annotations

import io
import random
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scribes
from byline.errors import CorpusError
from byline.formats import packages, read_text, reading, rtf, trees
from scribes import PARAGRAPHS, WRITERS

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
LAUGHS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
SOUND = {ending: write(PARAGRAPHS) for ending, write in WRITERS.items() if ending not in (".htm", ".tei")}


def refused(data: bytes, ending: str) -> str:
    with pytest.raises(CorpusError) as refusal:
        read_text(data, ending, "x")
    return str(refusal.value).removeprefix("x: ")


def word(body: str, before: str = "") -> bytes:
    return scribes.pack(
        {"word/document.xml": f'{before}<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'}
    )


class TestPackages:
    def test_one_that_unpacks_to_very_much_is_refused(self) -> None:
        huge = word("<w:p><w:r><w:t>" + "a" * (packages.LARGEST_PART + 1) + "</w:t></w:r></w:p>")
        assert len(huge) < 300_000
        assert refused(huge, ".docx") == "unpacked it is larger than 100 MB; split it"

    def test_one_that_is_packed_far_too_tightly_is_refused(self) -> None:
        tight = word("<w:p><w:r><w:t>a</w:t></w:r></w:p>" * 100_000)
        assert refused(tight, ".docx") == "unpacked it is more than 200 times as large; save its text alone"

    def test_one_that_lies_about_its_size_is_refused(self) -> None:
        data = bytearray(word("<w:p><w:r><w:t>" + "ab" * 500_000 + "</w:t></w:r></w:p>"))
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            real = package.infolist()[0].file_size.to_bytes(4, "little")
        data[:] = data.replace(real, (1_000).to_bytes(4, "little"))
        assert refused(bytes(data), ".docx").startswith("damaged, or not what its name says; ")

    def test_one_of_very_many_members_is_refused(self) -> None:
        many = scribes.pack({str(number): b"" for number in range(packages.MOST_MEMBERS + 1)})
        assert refused(many, ".odt") == "more than 20,000 files are packed in it; save its text alone"

    def test_members_of_other_places_are_not_looked_for(self, tmp_path: Path) -> None:
        (tmp_path / "secret.xhtml").write_text("<p>secret</p>", "utf-8")
        outside = f'<item id="o" href="../../../{tmp_path}/secret.xhtml" media-type="application/xhtml+xml"/>'
        book = scribes.epub_of({"one.xhtml": "<p>x</p>"}, rows=outside, refs='<itemref idref="o"/>')
        assert refused(book, ".epub").startswith("damaged, or not what its name says; ")


class TestTrees:
    @pytest.mark.parametrize("place", ["<p>&a11;</p>", '<p n="&a11;">x</p>'])
    def test_entities_that_grow_are_not_expanded(self, place: str) -> None:
        bomb = f'<!DOCTYPE TEI [<!ENTITY a0 "ha">{LAUGHS}]><TEI><text><body>{place}</body></text></TEI>'
        try:
            assert len(read_text(bomb.encode(), ".xml", "x").text) < 100
        except CorpusError as error:
            assert "no well-formed XML" in str(error)  # noqa: PT017 - either is well

    def test_one_entity_many_times_is_within_the_limit_or_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reading, "LARGEST_TEXT", 10_000)
        declared = f'<!DOCTYPE TEI [<!ENTITY a "{"x" * 1_000}">]>'
        bomb = f"{declared}<TEI><text><body><p>{'&a;' * 50}</p></body></text></TEI>"
        assert refused(bomb.encode(), ".xml") == reading.TOO_LARGE

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
            ".odt": scribes.pack({"content.xml": declared + "<a><b><p>words &s;</p></b></a>"}),
            ".epub": scribes.epub_of(
                {"one.xhtml": "<p>words</p>"}, {"OEBPS/text/one.xhtml": f"{declared}<p>words &s;</p>"}
            ),
        }
        try:
            assert "secret" not in read_text(sources[ending], ending, "x").text
        except CorpusError as error:
            assert "well-formed" in str(error)  # noqa: PT017 - either is well

    @pytest.mark.parametrize(
        ("ending", "data"),
        [
            (".html", b"<div>" * 500_000 + b"x"),
            (".html", b"<article>" + b"<header>" * 300_000 + b"x"),
            (".xml", b"<TEI>" + b"<p>" * 100_000 + b"x"),
            (".docx", word("<w:p>" * 100_000)),
            (".md", b">" * 100_000 + b" x"),
            (".md", b"* " * 100_000 + b" x"),
            (".rtf", b"{\\rtf1 " + b"{" * 1_000_000),
        ],
    )
    def test_what_is_nested_very_deep_ends(self, ending: str, data: bytes) -> None:
        try:
            read_text(data, ending, "x")
        except CorpusError as error:
            assert ";" in str(error)  # noqa: PT017 - either is well

    @pytest.mark.parametrize("attribute", ["a{}=1", "a{}='>'", 'a{}="<"'])
    def test_a_tag_of_very_many_attributes_is_refused(self, attribute: str) -> None:
        many = " ".join(attribute.format(number) for number in range(100_000))
        assert refused(f"<p>x<p {many}>y".encode(), ".html").startswith("a tag with more than 1,000 attributes; ")

    def test_tags_in_scripts_and_comments_are_none(self) -> None:
        words = "a b " * 2_000
        page = f"<script>if (a <b {words}) c = '</b>'</script><!-- <p {words} --><p title='{words}'>x"
        assert read_text(page.encode(), ".html", "x").text == "x\n"

    def test_very_many_elements_are_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(trees, "MOST_ELEMENTS", 1_000)
        assert refused(b"<p>a" * 2_000, ".html") == "more than 1,000 elements; split it"
        monkeypatch.setattr(trees, "MOST_TAGS", 1_000)
        assert refused(b"<p>a" * 2_000, ".html") == "more than 1,000 tags; split it"


class TestSizes:
    def test_a_text_of_more_than_the_limit_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("byline.formats.LARGEST_TEXT", 1_000)
        monkeypatch.setattr(reading, "LARGEST_TEXT", 1_000)
        monkeypatch.setattr("byline.formats.pdf.LARGEST_TEXT", 1_000)
        monkeypatch.setattr("byline.formats.epub.LARGEST_TEXT", 1_000)
        for ending, write in WRITERS.items():
            assert refused(write(PARAGRAPHS * 20), ending) == "more than 50 million characters; split it"

    def test_a_file_of_more_than_the_limit_is_not_even_read(self, tmp_path: Path) -> None:
        from byline.documents import read_document

        path = tmp_path / "huge.pdf"
        with path.open("wb") as file:
            file.truncate(reading.LARGEST_FILE + 1)
        with pytest.raises(CorpusError, match=r"huge\.pdf: larger than 200 MB; save its text alone, or split it"):
            read_document(path)

    def test_control_words_without_end_are_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(rtf, "MOST_TOKENS", 1_000)
        assert "control words; save it again as .docx" in refused(b"{\\rtf1 " + b"\\b1" * 2_000 + b"}", ".rtf")


@pytest.mark.parametrize(
    ("ending", "data"),
    [
        (".txt", ("Zij zei: één coöperatie, geïllustreerd. " * 100_000).encode("cp1252")),
        (".html", b"<p>" + b"word and " * 1_000_000),
        (".html", b"<" * 1_000_000),
        (".html", b"<meta charset=punycode>" + b"word and " * 200_000 + b"-" + b"a" * 200_000),
        (".html", b"<article>" + b"<header>" * 1_900 + b"<main>x" * 19),
        (".html", b"&amp" * 1_000_000),
        (".html", b"<p style='display" + b" " * 1_000_000 + b"'>x"),
        (".xml", scribes.tei_of("<p>" + "a-<lb break='no'/>" * 30_000 + "</p>")),
        (".xml", scribes.tei_of("<p><choice>" + "<corr>a</corr>" * 30_000 + "</choice></p>")),
        (".xml", scribes.tei_of("<p><app>" + "<rdg>a<app><rdg>b</rdg></app></rdg>" * 30_000 + "</app></p>")),
        (".xml", scribes.tei_of("<p>" + "<app>" + "<rdgGrp><rdg>a</rdg></rdgGrp>" * 30_000 + "</app></p>")),
        (".xml", scribes.tei_of("<p>" + "<w>a</w>" * 100_000 + "</p>")),
        (".docx", word("<w:r><w:fldChar w:fldCharType='begin'/><w:t>a</w:t></w:r>" * 10_000)),
        (".rtf", b"{\\rtf1 x" + b"{\\field{\\fldinst TOC " + b"word " * 100_000 + b"}{\\fldrslt a}}" * 10 + b"}"),
        (".md", b"---\n" + b"a: b\n" * 200_000 + b"---\nwords"),
        (".rtf", b"{\\rtf1 " + b"\\u8217?x" * 200_000 + b"}"),
        (".md", b"[" * 50_000),
        (".md", b"![a](" * 20_000),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_makes_others_slow_is_read_in_time(ending: str, data: bytes) -> None:
    """In time that grows with the size: a tenth of a second or so for a megabyte, and the square would take hours."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    read_text(data, ending, "x")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 10


@pytest.mark.parametrize("ending", SOUND)
@settings(max_examples=40)
@given(seed=st.integers(0, 10**9))
def test_whatever_is_spoilt_is_read_or_refused_in_one_line(ending: str, seed: int) -> None:
    try:
        read_text(spoil(SOUND[ending], random.Random(seed)), ending, "x")
    except CorpusError as error:
        assert "\n" not in str(error)  # noqa: PT017 - either is well
        assert str(error).startswith("x: ")  # noqa: PT017


def spoil(data: bytes, chance: random.Random) -> bytes:
    """A document with some of its bytes changed; of a packed one, of what is packed in it."""
    if data.startswith(b"PK") and chance.random() < 0.7:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            members = {name: package.read(name) for name in package.namelist()}
        return scribes.pack({name: spoil(content, chance) if content else content for name, content in members.items()})
    spoilt = bytearray(data)
    kind, begin = chance.random(), chance.randrange(len(data))
    end = begin + chance.randrange(200)
    if kind < 0.2:
        del spoilt[begin:]
    elif kind < 0.35:
        del spoilt[begin:end]
    elif kind < 0.5:
        spoilt[end:end] = spoilt[begin:end] * chance.randrange(1, 30)
    else:
        for _ in range(chance.choice((1, 3, 30))):
            spoilt[chance.randrange(len(spoilt))] = chance.randrange(256)
    return bytes(spoilt)


def test_no_library_speaks_for_itself(tmp_path: Path) -> None:
    for number, (ending, data) in enumerate(SOUND.items()):
        (tmp_path / f"{number}{ending}").write_bytes(data[: int(0.8 * len(data))])
    command = [sys.executable, "-W", "default::UserWarning", "-m", "byline", "--verbose", "text", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert all(line.startswith(("byline: ", "  ")) for line in done.stderr.splitlines()), done.stderr
    assert "Traceback" not in done.stderr

"""Documents in each format read like the same text in plain text, without what is not their author's text."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import format_writers
from byline.corpora.documents import read_document
from byline.corpora.formats import FORMATS, read_text
from byline.corpora.formats.extraction import ExtractedText
from byline.errors import CorpusError
from format_writers import PARAGRAPHS, TWIN, WRITERS

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def read(data: bytes, ending: str) -> str:
    return read_text(data, ending, f"x{ending}").text


def refused(data: bytes, ending: str) -> str:
    """What is wrong with bytes that can't be read."""
    with pytest.raises(CorpusError) as refusal:
        read_text(data, ending, f"x{ending}")
    assert "\n" not in str(refusal.value)
    assert refusal.value.where == f"x{ending}"
    assert refusal.value.remedy
    return refusal.value.what


def word(body: str) -> bytes:
    return format_writers.pack({"word/document.xml": f'<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'})


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


class TestTwins:
    def test_there_is_a_writer_for_every_reader(self) -> None:
        assert set(WRITERS) == set(FORMATS)

    @pytest.mark.parametrize("ending", FORMATS)
    def test_a_document_reads_like_its_text_file(self, ending: str, tmp_path: Path) -> None:
        path = tmp_path / f"letter{ending.upper()}"
        path.write_bytes(WRITERS[ending](PARAGRAPHS))
        document = read_document(path, "letter")
        assert (document.name, document.text) == ("letter", TWIN)
        assert document.guesses == ()

    @pytest.mark.parametrize("ending", [".md", ".html", ".docx", ".odt", ".epub", ".rtf", ".xml"])
    @settings(max_examples=25)
    @given(
        st.lists(
            st.text(st.characters(categories=("L", "M", "N", "P", "S")), min_size=1).map(
                lambda text: f"a{text} {text}b"
            ),
            min_size=1,
            max_size=3,
        )
    )
    def test_whatever_is_written_is_read(self, ending: str, paragraphs: Sequence[str]) -> None:
        assert read(WRITERS[ending](paragraphs), ending) == format_writers.txt(paragraphs).decode()

    @pytest.mark.parametrize("ending", [".docx", ".odt", ".rtf"])
    def test_spaces_in_a_row_stay_where_the_format_keeps_them(self, ending: str) -> None:
        assert read(WRITERS[ending](["Stop.  Go on.   Stop."]), ending) == "Stop.  Go on.   Stop.\n"

    @pytest.mark.parametrize("ending", [ending for ending in FORMATS if ending not in (".txt", ".epub")])
    def test_one_without_text_is_refused(self, ending: str) -> None:
        assert refused(WRITERS[ending]([]), ending) in ("empty", "no text in it, perhaps a scan")

    def test_an_unknown_ending_means_plain_text(self) -> None:
        assert read("één\r\ntwee".encode(), ".log") == "één\ntwee"


def notes(data: bytes, ending: str) -> tuple[str, ...]:
    return read_text(data, ending, f"x{ending}").notes


BODIES: dict[str, Callable[[str], bytes]] = {
    ".docx": lambda body: word(f"<w:p>{run('words')}{body}</w:p>"),
    ".odt": lambda body: format_writers.odt_of(f"<text:p>words{body}</text:p>"),
    ".rtf": lambda body: format_writers.rtf_of(f"words{body}"),
    ".xml": lambda body: f"<TEI><text><body><p>words{body}</p></body></text></TEI>".encode(),
}
LEFT_OUT = {
    ".docx": [
        ('<w:del><w:r><w:delText>old</w:delText></w:r></w:del>', "deleted text"),
        (f"<w:moveFrom>{run('away')}</w:moveFrom>", "deleted text"),
        ("<w:del/>", ""),
        (run("hidden", "<w:vanish/>"), "hidden text"),
        ('<w:r><w:footnoteReference w:id="2"/></w:r>', "footnotes"),
        ('<w:r><w:endnoteReference w:id="2"/></w:r>', "endnotes"),
        ('<w:r><w:commentReference w:id="2"/></w:r>', "comments"),
        (f'<w:fldSimple w:instr=" TOC ">{run("no")}</w:fldSimple>', "lists of contents"),
        ('<w:r><w:sym w:font="Wingdings" w:char="F0FF"/></w:r>', "signs of symbol fonts"),
    ],
    ".odt": [
        ("<office:annotation><text:p>no</text:p></office:annotation>", "comments"),
        ("<text:note><text:note-body><text:p>no</text:p></text:note-body></text:note>", "footnotes and endnotes"),
        ("<text:hidden-text>no</text:hidden-text>", "hidden text"),
        ("<text:page-number>3</text:page-number>", ""),
    ],
    ".rtf": [
        (r"{\footnote no}", "footnotes and endnotes"),
        (r"{\header no}{\footerf no}", "page headers, page footers"),
        (r"{\header \par}", ""),
        (r"{\*\annotation no}", "comments"),
        (r"{\v no}{\deleted \u233?}", "hidden text, deleted text"),
        (r"{\info{\title no}}", ""),
        (
            r'{\field{\*\fldinst { TOC \\o "1-3"}}{\fldrslt One 3\par{\field{\*\fldinst PAGEREF}{\fldrslt 5}}}}',
            "lists of contents",
        ),
        (r"{\field{\*\fldinst TOC}{\fldrslt}}", ""),
    ],
    ".xml": [
        ("<gap><desc>torn</desc></gap>", "descriptions"),
        ("<index><term>t</term></index>", "index terms"),
        ("<interp>i</interp><interpGrp><interp>i</interp></interpGrp>", "interpretations"),
        ("<metamark>m</metamark>", "marks of revision"),
        ("<listPerson><person>A</person></listPerson><listPlace><place>B</place></listPlace>", "lists of names"),
        ("<gap/><index/><interp value='i'/><listPerson/>", ""),
    ],
}  # fmt: skip
"""Bodies with something that is left out, and what the note calls it."""


class TestLeftOut:
    """What a file has that is not read is said; what it has not, is not."""

    @pytest.mark.parametrize("ending", FORMATS)
    def test_of_a_plain_letter_nothing_is_left_out(self, ending: str) -> None:
        said = ("left out: the header, front and back matter",) if ending in (".xml", ".tei") else ()
        assert notes(WRITERS[ending](PARAGRAPHS), ending) == said

    @pytest.mark.parametrize(
        ("ending", "body", "said"), [(ending, *row) for ending, rows in LEFT_OUT.items() for row in rows]
    )
    def test_it_is_named(self, ending: str, body: str, said: str) -> None:
        found = read_text(BODIES[ending](body), ending, "x")
        assert (found.text, found.notes) == ("words\n", (f"left out: {said}",) if said else ())

    def test_of_words_page_margins(self) -> None:
        import docx

        for place in ("header", "footer"):
            document, file = docx.Document(), io.BytesIO()
            document.add_paragraph("words")
            getattr(document.sections[0], place).paragraphs[0].text = ""
            document.save(file)
            assert notes(file.getvalue(), ".docx") == ()
            getattr(document.sections[0], place).paragraphs[0].text = "A running line"
            document.save(file)
            assert notes(file.getvalue(), ".docx") == (f"left out: page {place}s",)

    @pytest.mark.parametrize("part", [b"<broken", b"x" * 3_000_000])
    def test_a_page_header_that_cant_be_read_is_no_reason_to_refuse(self, part: bytes) -> None:
        relation = '<Relationship Type="http://x/header" Target="header1.xml"/>'
        body = f'<w:document xmlns:w="{W}"><w:body><w:p>{run("words")}</w:p></w:body></w:document>'
        data = format_writers.pack(
            {
                "word/document.xml": body,
                "word/_rels/document.xml.rels": f"<Relationships>{relation}</Relationships>",
                "word/header1.xml": part,
            }
        )
        assert read_text(data, ".docx", "x") == ExtractedText("words\n")

    def test_of_open_documents_page_margins(self) -> None:
        space = f'xmlns:style="{format_writers.ODF}:style:1.0" xmlns:text="{format_writers.ODF}:text:1.0"'
        master = "<style:header><text:p>{}</text:p></style:header><style:footer-left>{}</style:footer-left>"
        for texts, said in ((("", ""), ()), (("a", "3"), ("left out: page headers, page footers",))):
            page = f"<style:master-page>{master.format(*texts)}</style:master-page>"
            members = {"content.xml": _content("words"), "styles.xml": f"<s {space}>{page}</s>"}
            assert notes(format_writers.pack(members), ".odt") == said

    def test_of_markdown(self) -> None:
        assert notes(b"---\ntitle: x\n---\nWords.", ".md") == ("left out: front matter",)
        assert notes(b"Words.[^1]\n\n[^1]: A note.\n", ".md") == ("left out: notes",)
        assert notes(b"Words.\n\n---\n\nMore.", ".md") == ()

    def test_of_symbols(self) -> None:
        assert notes(
            rb"{\rtf1{\fonttbl{\f0\fcharset0 A;}{\f3\fcharset2 D;}}words{\f3 \'b7}{\*\x\f3 \'b7}}", ".rtf"
        ) == ("left out: signs of symbol fonts",)

    def test_of_web_pages(self) -> None:
        page = b"<header>Site</header><nav></nav><p>Words.<script>no</script><aside>no</aside><footer>Imprint</footer>"
        assert notes(page, ".html") == ("left out: page header, asides, page footer",)

    def test_of_books(self) -> None:
        book = format_writers.epub_of(
            {
                "one.xhtml": '<section epub:type="cover"><p>Title</p></section><p>Words.</p>',
                "two.xhtml": '<p>More.</p><aside epub:type="footnote"><p>no</p></aside>',
            },
            {"OEBPS/nav.xhtml": "<html/>"},
            '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>',
            '<itemref idref="nav"/>',
        )
        assert notes(book, ".epub") == ("left out: list of contents, cover, notes",)


def _content(text: str) -> str:
    space = f'xmlns:office="{format_writers.ODF}:office:1.0" xmlns:text="{format_writers.ODF}:text:1.0"'
    return f"<office:document-content {space}><text:p>{text}</text:p></office:document-content>"


class TestNoText:
    @pytest.mark.parametrize(
        ("data", "kind"),
        [
            (b"\xff\xd8\xff\xe0\0\x10JFIF\0", "a picture"),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a picture"),
            (b"GIF89a\1\0\1\0\x80\0\0", "a picture"),
            (b"BM\x36\0\0\0\0\0\0\0", "a picture"),
            (b"RIFF\x24\0\0\0WEBPVP8 ", "a picture"),
            (b"\0\0\0\x18ftypheic\0\0\0\0", "a picture"),
            (b"\0\0\0\x18ftypmp42\0\0\0\0", "a film"),
            (b"RIFF\x24\0\0\0WAVEfmt ", "a recording"),
            (b"ID3\4\0\0\0\0\0\0", "a recording"),
            (b"OTTO\0\x0b\0\x80", "a font"),
        ],
    )
    @pytest.mark.parametrize("ending", [".jpg", ".txt", ".md", ".pdf", ".docx"])
    def test_it_is_said_what_it_is(self, data: bytes, kind: str, ending: str) -> None:
        assert refused(data + bytes(range(256)), ending) == f"{kind}, no text"

    @pytest.mark.parametrize("text", ["BM said no.", "GIF89a is a format.", "ID3 tags", "RIFF and WAVE", "OTTO"])
    def test_words_are_no_pictures(self, text: str) -> None:
        assert read(text.encode(), ".txt") == text
        assert read(("\ufeff" + text).encode("utf-16-le"), ".txt") == text


class TestSaidEncodings:
    @pytest.mark.parametrize("ending", [".docx", ".odt", ".epub", ".rtf", ".pdf"])
    def test_where_it_can_t_matter_it_is_refused(self, ending: str) -> None:
        with pytest.raises(CorpusError) as refusal:
            read_text(WRITERS[ending](PARAGRAPHS), ending.upper(), "x", "cp1253")
        assert "{encoding}" in str(refusal.value.remedy)

    @pytest.mark.parametrize("ending", [".txt", ".md", ".html", ".xml"])
    def test_elsewhere_it_counts(self, ending: str) -> None:
        data = b"<TEI><text><body><p>\xd9</p></body></text></TEI>" if ending == ".xml" else b"<p>\xd9</p>"
        assert "Ω" in read_text(data, ending, "x", "cp1253").text


class TestMarkdown:
    def test_marks_go_and_words_stay(self) -> None:
        source = (
            '---\ntitle: no text\n---\n# A *heading*\n\nA **bold** [link](http://x.y "no")\nand `code`. <!-- no -->\n\n'
            "- one\n- two\n\n> quoted\n\n| a | b |\n|---|---|\n| c | d |\n\n"
            "![picture](x.png)\n\nEnd.[^1]\n\n[^1]: A note.\n"
        )
        assert read(source.encode(), ".md") == "A heading\nA bold link and code.\none\ntwo\nquoted\na\nb\nc\nd\nEnd.\n"

    @pytest.mark.parametrize(
        ("source", "text"),
        [
            ("---\n\nOnce upon a time.\n\n---\n\nSecond part.", "Once upon a time.\nSecond part.\n"),
            ("---\nOnce upon a time.\n---\nMore.", "Once upon a time.\nMore.\n"),
            ("---\nHe said: so.\n\nAnd went.\n\n---\nMore.", "He said: so.\nAnd went.\nMore.\n"),
            ("---\nNote: so.\n\nAnd he went home.\n\n---\nMore.", "Note: so.\nAnd he went home.\nMore.\n"),
            ("---\n\ntitle: x\n\n---\nMore.", "title: x\nMore.\n"),
            ("---\ntitle: x", "title: x\n"),
            ("---\n---\nMore.", "More.\n"),
        ],
    )
    def test_prose_between_rules_is_no_front_matter(self, source: str, text: str) -> None:
        assert read_text(source.encode(), ".md", "x") == ExtractedText(text)

    @pytest.mark.parametrize(
        "matter",
        [
            "title: x\ntags:\n  - a\n- b\n# c\n\ndate created: >\n  folded\n  text",
            "'a': [b,\n  c\n]\nurl:\n",
            'a: {"b":\n 1\n}',
        ],
    )
    @pytest.mark.parametrize("end", ["---", "...", "--- "])
    def test_front_matter_goes(self, matter: str, end: str) -> None:
        found = read_text(f"---\r\n{matter}\n{end}\n\nWords.".encode(), ".md", "x")
        assert found == ExtractedText("Words.\n", ("left out: front matter",))

    def test_no_main_part_is_looked_for(self) -> None:
        source = "Before\n\n<main>\n\nwithin\n\n</main>\n\nAfter"
        assert read_text(source.encode(), ".md", "x") == ExtractedText("Before\nwithin\nAfter\n")


class TestWebPages:
    def page(self, body: str, head: str = "") -> str:
        return read(f"<!doctype html><head><meta charset='utf-8'>{head}</head><body>{body}</body>".encode(), ".html")

    def test_what_serves_to_get_about_is_left_out(self) -> None:
        assert (
            self.page(
                "<header>Site<nav>Home</nav></header><nav>Menu</nav><script>a = '<p>no</p>'</script><style>p {}</style>"
                "<noscript>Switch it on</noscript><article><header><h1>Title</h1></header><p>Text.</p></article>"
                "<aside>Also</aside><form><label>Name</label><input value=no><button>Send</button></form>"
                "<p hidden>no</p><p style='display: none'>no</p><p aria-hidden=true>no</p><div role=navigation>no</div>"
                "<template><p>no</p></template><!-- no --><footer>Imprint</footer>",
                "<title>no</title><style>no</style>",
            )
            == "Title\nText.\nName\n"
        )

    def test_only_the_main_part_is_read_where_there_is_one(self) -> None:
        found = read_text(b"<body><p>Before</p><main><p>Text.</p></main><p>After</p>", ".html", "x")
        assert (found.text, found.notes) == ("Text.\n", ("only its main part is read",))

    @pytest.mark.parametrize(
        "main",
        [
            "<main hidden><p>no</main>", "<main style='display:none'>no</main>", "<div hidden><main>no</main></div>",
            "<main> </main>", "<template><main>no</main></template>", "<main aria-hidden=true><p>no</main>",
        ],
    )  # fmt: skip
    def test_a_main_part_that_is_not_shown_decides_nothing(self, main: str) -> None:
        assert read_text(f"<body>{main}<p>Text.</p>".encode(), ".html", "x") == ExtractedText("Text.\n")
        other = f"<body>{main}<p>Text.</p><main><p>Main.</p></main>"
        assert read_text(other.encode(), ".html", "x") == ExtractedText("Main.\n", ("only its main part is read",))

    def test_the_main_part_of_a_books_page_is_noted_likewise(self) -> None:
        book = format_writers.epub_of({"one.xhtml": "<nav>n</nav><p>no</p><main><p>Text.</p><aside>a</aside></main>"})
        wanted = ("only its main part is read", "left out: asides")
        assert read_text(book, ".epub", "x") == ExtractedText("Text.\n", wanted)

    @pytest.mark.parametrize(
        ("body", "text"),
        [
            ("<p>a<b>b</b> c<br>d<p>e<div>f<ul><li>g<li>h</ul></div>i<pre>j\n  k</pre>",
             "ab c\nd\ne\nf\ng\nh\ni\nj\nk"),
            ("<table><tr><th>a<th>b<tr><td>c<td>d</table>", "a\nb\nc\nd"),
            ("<p>&eacute;&#233;&amp;&lt;b&gt;&hellip; co&shy;operate&nbsp;now", "éé&<b>… cooperate\u00a0now"),
            ('<p>Text<a role="doc-noteref" href="#1">1</a>.</p><p>More<sup class="footnote-ref">2</sup></p>'
             '<section class="footnotes"><p>A note</p></section><aside role="doc-footnote">B</aside>', "Text.\nMore"),
            ("<p><ruby>漢<rp>(</rp><rt>kan</rt></ruby>字 <img alt='no'><svg><text>no</text></svg>", "漢字"),
        ],
        ids=["blocks", "cells", "entities", "notes", "ruby and pictures"],
    )  # fmt: skip
    def test_markup_becomes_paragraphs(self, body: str, text: str) -> None:
        assert self.page(body) == f"{text}\n"

    def test_a_page_that_is_xml_may_end_an_element_where_it_begins(self) -> None:
        head = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head>'
        source = f"{head}<body><p>a<a/>&nbsp;b</p></body></html>"
        assert read(source.encode(), ".html") == "a\u00a0b\n"

    def test_bylines_own_report_is_no_text(self) -> None:
        page = b"<!doctype html><title>corpus: verification, Byline report</title><p>words"
        assert "report that Byline wrote" in refused(page, ".html")


class TestWord:
    def test_changes_are_read_as_accepted(self) -> None:
        deleted = '<w:del w:id="1"><w:r><w:delText>old</w:delText></w:r></w:del>'
        inserted = f'<w:ins w:id="2">{run("new")}</w:ins>'
        moved = f'<w:moveFrom w:id="3">{run("away")}</w:moveFrom><w:moveTo w:id="4">{run(" here")}</w:moveTo>'
        assert read(word(f"<w:p>{run('a ')}{deleted}{inserted}{moved}</w:p>"), ".docx") == "a new here\n"

    def test_a_paragraph_whose_end_is_deleted_goes_on(self) -> None:
        joined = f"<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr>{run('one ')}</w:p><w:p>{run('two')}</w:p>"
        assert read(word(joined), ".docx") == "one two\n"

    def test_hidden_text_comments_notes_and_fields_are_left_out(self) -> None:
        off = '<w:vanish w:val="0"/>'
        body = (
            f"<w:p>{run('seen')}{run('hidden', '<w:vanish/>')}{run(' too', off)}"
            '<w:r><w:footnoteReference w:id="1"/></w:r><w:r><w:commentReference w:id="1"/></w:r>'
            '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "http://x" </w:instrText></w:r>'
            f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run(" link")}'
            '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
        )
        assert read(word(body), ".docx") == "seen too link\n"

    def test_a_table_of_contents_is_left_out(self) -> None:
        body = (
            '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> TOC \\o "1-3" </w:instrText></w:r>'
            f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run("One 3")}</w:p><w:p>{run("Two 5")}'
            f'<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p><w:p>{run("Text")}</w:p>'
            f'<w:p><w:fldSimple w:instr=" TOC ">{run("no")}</w:fldSimple>'
            f'<w:fldSimple w:instr=" DATE ">{run("May")}</w:fldSimple></w:p>'
        )
        assert read(word(body), ".docx") == "Text\nMay\n"

    def test_boxes_content_controls_breaks_and_cells_are_text(self) -> None:
        box = (
            f"<w:r><mc:AlternateContent xmlns:mc='m'><mc:Choice><w:txbxContent><w:p>{run('box')}</w:p></w:txbxContent>"
            f"</mc:Choice><mc:Fallback><w:txbxContent><w:p>{run('box')}</w:p></w:txbxContent></mc:Fallback>"
            "</mc:AlternateContent></w:r>"
        )
        cells = "".join(f"<w:tc><w:p>{run(text)}</w:p></w:tc>" for text in ("c", "d"))
        body = (
            f"<w:p>{run('a')}{box}{run('b')}</w:p><w:sdt><w:sdtPr><w:alias w:val='no'/></w:sdtPr><w:sdtContent>"
            f"<w:p>{run('control')}</w:p></w:sdtContent></w:sdt><w:tbl><w:tr>{cells}</w:tr></w:tbl>"
            f"<w:p>{run('e')}<w:r><w:br/></w:r>{run('f')}<w:r><w:tab/></w:r>{run('g')}"
            f"<w:r><w:noBreakHyphen/></w:r>{run('h')}</w:p>"
        )
        assert read(word(body), ".docx") == "box\nab\ncontrol\nc\nd\ne\nf\tg\u2011h\n"

    @pytest.mark.parametrize("off", ["", ' w:val="0"'])
    def test_placeholders_of_empty_fields_are_left_out(self, off: str) -> None:
        control = f"<w:sdt><w:sdtPr><w:showingPlcHdr{off}/></w:sdtPr><w:sdtContent>{{}}</w:sdtContent></w:sdt>"
        block = f"<w:p>{run('c')}</w:p>"
        body = f"<w:p>{run('a')}{control.format(run('b'))}</w:p>{control.format(block)}"
        found = read_text(word(body), ".docx", "x")
        wanted = ("ab\nc\n", ()) if off else ("a\n", ("left out: placeholders of empty fields",))
        assert (found.text, found.notes) == wanted

    @pytest.mark.parametrize(
        ("font", "code", "sign"),
        [
            ("Symbol", "F061", "α"), ("symbol", "61", "α"), ("Symbol", "F0B3", "≥"), ("Symbol", "F0A0", "€"),
            ("Symbol", "F0F2", "∫"), ("Wingdings", "F04A", "☺"), ("Arial", "2022", "•"), ("Arial", "F061", ""),
            ("Webdings", "61", ""), ("Symbol", "F0E8", ""), ("Arial", "D800", ""), ("Arial", "x", ""),
            ("Arial", "FFFFFFFF", ""), ("", "", ""), ("Arial", "7", ""),
        ],
    )  # fmt: skip
    def test_signs_of_fonts_are_characters_where_they_are_known(self, font: str, code: str, sign: str) -> None:
        found = read_text(
            word(f'<w:p>{run("a")}<w:r><w:sym w:font="{font}" w:char="{code}"/></w:r></w:p>'), ".docx", "x"
        )
        assert found == ExtractedText(f"a{sign}\n", () if sign else ("left out: signs of symbol fonts",))

    def test_a_field_that_never_ends_hides_nothing(self) -> None:
        mark = "<w:r><w:fldChar w:fldCharType='{}'/></w:r>"
        begin, separate, end = map(mark.format, ("begin", "separate", "end"))
        code = "<w:r><w:instrText> {} </w:instrText></w:r>".format
        guess = ("a field in it never ends, so what follows is read as text; check whether it is",)
        link = f"{begin}{code('HYPERLINK')}{separate}{run('link')}{end}"
        for body, text, said in (
            (f"{begin}{run(' b')}</w:p><w:p>{run('c')}", "a b\nc\n", guess),
            (f"{begin}{code('TOC')}{separate}{run(' b')}{link}</w:p><w:p>{run('c')}", "a blink\nc\n", guess),
            (f"{begin}{code('HYPERLINK')}{separate}{run(' b')}</w:p><w:p>{run('c')}", "a b\nc\n", ()),
            (f"{begin}{run('hidden')}{end}{run(' b')}", "a b\n", ()),
        ):
            assert read_text(word(f"<w:p>{run('a')}{body}</w:p>"), ".docx", "x") == ExtractedText(text, (), said)

    def test_deleted_rows_and_cells_are_left_out(self) -> None:
        cell = f"<w:tc>{{}}<w:p>{run('gone')}</w:p></w:tc>"
        kept = f"<w:tr><w:trPr><w:ins/></w:trPr><w:tc><w:p>{run('kept')}</w:p></w:tc>{{}}</w:tr>"
        for rows in (
            f"<w:tr><w:trPr><w:del w:id='1'/></w:trPr>{cell.format('')}</w:tr>{kept.format('')}",
            kept.format(cell.format("<w:tcPr><w:cellDel w:id='1'/></w:tcPr>")),
        ):
            assert read_text(word(f"<w:tbl>{rows}</w:tbl>"), ".docx", "x") == ExtractedText(
                "kept\n", ("left out: deleted text",)
            )

    def test_one_with_a_password_gives_its_reason_and_remedy(self) -> None:
        locked = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le") + bytes(600)
        assert refused(locked, ".docx") == "protected by a password"
        assert refused(locked[:500], ".docx") == "in an old format"

    @pytest.mark.parametrize("ending", [".docx", ".odt", ".epub"])
    def test_a_broken_package_gives_its_reason_and_remedy(self, ending: str) -> None:
        whole = WRITERS[ending](PARAGRAPHS)
        for data in (whole[: len(whole) // 2], b"%PDF-1.7 renamed", format_writers.pack({"something": "else"})):
            assert refused(data, ending).startswith("damaged")


class TestOpenDocument:
    def test_notes_comments_changes_and_contents_are_left_out(self) -> None:
        body = (
            "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>"
            "<text:table-of-content><text:p>One 3</text:p></text:table-of-content><text:h>A heading</text:h>"
            "<text:p>Text<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>note</text:p>"
            "</text:note-body></text:note><office:annotation><text:p>comment</text:p></office:annotation>, on"
            "<text:line-break/>two <text:span>lines</text:span><text:tab/>.</text:p>"
            "<text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>"
            "<table:table><table:table-row><table:table-cell><text:p>cell</text:p></table:table-cell></table:table-row>"
            '</table:table><text:section text:display="none"><text:p>hidden</text:p></text:section>'
            "<text:p>a<draw:frame><draw:text-box><text:p>box</text:p></draw:text-box></draw:frame>b</text:p>"
        )
        assert read(format_writers.odt_of(body), ".odt") == "A heading\nText, on\ntwo lines\t.\nitem\ncell\nbox\nab\n"

    def test_one_with_a_password_gives_its_reason_and_remedy(self) -> None:
        manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>"
        locked = format_writers.pack({"content.xml": b"\x80\x81", "META-INF/manifest.xml": manifest})
        assert refused(locked, ".odt") == "protected by a password"


class TestBooks:
    def test_contents_notes_and_title_pages_are_left_out(self) -> None:
        book = format_writers.epub_of(
            {
                "cover.xhtml": '<section epub:type="titlepage"><p>The Title</p></section>',
                "one.xhtml": '<h1>One</h1><p>Text<a epub:type="noteref" href="#n">1</a>.</p>'
                '<div epub:type="footnote">n</div>',
                "two%20b.xhtml": "<p>More.</p>",
            },
            {
                "OEBPS/text/two b.xhtml": "<html><body><p>More&nbsp;text.</p></body></html>",
                "OEBPS/nav.xhtml": "<html><body>Contents</body></html>",
                "OEBPS/aside.xhtml": "<html><body>Aside</body></html>",
            },
            '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
            '<item id="aside" href="aside.xhtml" media-type="application/xhtml+xml"/>',
            '<itemref idref="nav"/><itemref idref="aside" linear="no"/><itemref idref="gone"/>',
        )
        assert read(book, ".epub") == "One\nText.\nMore\u00a0text.\n"

    def test_one_with_locked_pages_is_refused_but_locked_fonts_dont_matter(self) -> None:
        locked = '<encryption><EncryptedData><CipherReference URI="OEBPS/{}"/></EncryptedData></encryption>'
        page, font = (
            format_writers.epub_of({"one.xhtml": "<p>x</p>"}, {"META-INF/encryption.xml": locked.format(name)})
            for name in ("text/one.xhtml", "font.otf")
        )
        assert refused(page, ".epub") == "protected against copying"
        assert read(font, ".epub") == "x\n"


class TestRichText:
    @pytest.mark.parametrize(
        ("body", "text"),
        [
            (r"a\par b\line c\tab d\sect e", "a\nb\nc\td\ne"),
            (r"a\softline b", "a\nb"),
            (r"{\upr{a?}{\*\ud{a\u233 ?}}}b", "aéb"),
            (r"x{\v{\upr{a?}{\*\ud{a\u233 ?}}}}{\*\ud no}b", "xb"),
            (r"it\u8217\rquote s \u8217\'92s \uc2\u8217\lquote\rquote s\u160\~\~x", "it’s ’s ’s\u00a0x"),
            (r"a\u8217\par b", "a’\nb"),
            (r"a{\footnote note}b{\header head}{\*\annotation no}{\info{\title no}}", "ab"),
            (r"a{\deleted gone}b{\v hidden}c\v hidden\v0 d\deleted gone\plain e", "abcde"),
            (r'{\field{\*\fldinst HYPERLINK "http://x"}{\fldrslt a link}}', "a link"),
            (r"a\cell b\cell\row c", "a\nb\nc"),
            (r"\u233?t\u233\'e9 \uc0\u8364 x\u-10179\u-8704", "été €x😀"),
            (r"\'e9\'e8 \lquote a\rquote\emdash\~\_\-b \{\\\}", "éè ‘a’—\u00a0\u2011b {\\}"),
            (r"{\pict\bin5 \}}}}x}b", "b"),
            (r"{\f1 \'cc\'de\'ed\'e9\'ed}", "Μήνιν"),
            (r"{\f2 \'83A\'83\'42}", "アィ"),
            (r"a{\f3 \'b7\tab}b", "a\tb"),
            ("{\\shp{\\*\\shpinst{\\sp{\\sn no}}{\\shptxt box\\par}}{\\shprslt box}}after", "box\nafter"),
            ("one\r\ntwo\\\nthree", "onetwo\nthree"),
        ],
    )  # fmt: skip
    def test_control_words_mean_what_they_mean(self, body: str, text: str) -> None:
        fonts = r"{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset161 B;}{\f2\fcharset128 C;}{\f3\fcharset2 D;}}"
        source = (
            r"{\rtf1\ansi\ansicpg1252\deff0" + fonts + r"{\colortbl;\red0;}{\stylesheet{\s1 no;}}" + body + "}no"
        ).encode()
        assert read(source, ".rtf") == text + "\n"

    def test_a_page_that_it_names_is_used(self) -> None:
        source = rb"{\rtf1\ansi\ansicpg1251 " + "Всё смешалось".encode("cp1251") + b"}"
        assert read(source, ".rtf") == "Всё смешалось\n"

    def test_what_cant_be_decoded_is_reported(self) -> None:
        found = read_text(rb"{\rtf1\ansi\ansicpg1253 word \'d2\'aa word}", ".rtf", "x")
        assert found.guesses[0].startswith("2 of its characters can't be decoded")

    def test_something_else_is_refused(self) -> None:
        assert "no RTF file" in refused(b"plain words", ".rtf")


class TestTei:
    @pytest.mark.parametrize(
        ("body", "text"),
        [
            ("<p>a <choice><sic>teh</sic><corr>the</corr></choice> b</p>", "a teh b"),
            ("<p>a<choice>\n <orig>vp</orig>\n <reg>up</reg>\n</choice>b</p>", "avpb"),
            ("<p><choice><abbr>Mr</abbr><expan>Mister</expan></choice> <choice><reg>one</reg></choice></p>", "Mr one"),
            ("<p>a<note>n</note> b<del>c</del><add>d</add><fw>5</fw></p>", "a bd"),
            ("<p>one<pb n='2'/>two three<lb/>four</p>", "one two three four"),
            ("<p>inter-<lb break='no'/>\nesting and in<pb break='no'/>to it</p>", "interesting and into it"),
            ("<lg><l>one</l><l>two</l></lg><head>three</head>", "one\ntwo\nthree"),
            ("<sp><speaker>A.</speaker><p>So <stage>so</stage> so.</p></sp><stage>Exit</stage>", "So so so.\nExit"),
            ("<p><app><lem>a</lem><rdg>b</rdg></app> <app><rdg>c</rdg><rdg>d</rdg></app></p>", "a c"),
            ("<p><app><note>n</note><rdg>alpha</rdg><rdg>beta</rdg></app></p>", "alpha"),
            ("<p><app><rdgGrp><rdg>alpha</rdg><rdg>b</rdg></rdgGrp><rdg>c</rdg></app></p>", "alpha"),
            ("<p>a<app>\n<rdg>b</rdg>\n<rdgGrp>\n<lem>c</lem>\n<rdg>d</rdg></rdgGrp></app></p>", "ac"),
            ("<p><app><rdg>a <app><lem>b</lem><rdg>c</rdg></app></rdg><rdg>d</rdg></app></p>", "a b"),
            ("<p><choice><unclear>cat</unclear><unclear>cot</unclear></choice></p>", "cat"),
            ("<p><choice><choice><corr>a</corr><corr>b</corr></choice><sic>c</sic></choice></p>", "c"),
            ("<p><choice><expan>a</expan><abbr>b</abbr><seg>c</seg></choice></p>", "b"),
            ("<p><w>One</w><w>two</w><pc>,</pc><w>three</w><pc>(</pc><w>four</w><pc>)</pc><pc>.</pc></p>",
             "One two, three (four)."),
            ("<p><w>One</w><note>n</note><w>two</w><hi><w>three</w></hi><w join='left'>'s</w></p>", "One two three's"),
            ("<p><w>in</w><lb break='no'/><w>to</w><w>it</w><w><w>do</w><w>n't</w></w></p>", "into it don't"),
            ("<p><w>One </w><w>can</w><w>not </w><w>go</w></p>", "One cannot go"),
            ("<p><w>One</w> <w>can</w><w>not</w>\n<w>go</w></p>", "One cannot go"),
            ("<p>He said <q>yes</q>, <hi rend='i'>so</hi> <quote>no</quote>.</p>", "He said yes, so no."),
            ("<table><row><cell>a</cell><cell>b</cell></row></table>", "a\nb"),
            ("<p>caf&eacute; &amp; <foreign>more</foreign><!-- no --><?no no?></p>", "café & more"),
        ],
    )  # fmt: skip
    def test_the_rules(self, body: str, text: str) -> None:
        assert read(format_writers.tei_of(body), ".xml") == text + "\n"

    def test_bodies_of_a_group_are_read_all(self) -> None:
        texts = "".join(f"<text><body><p>{each}</p></body></text>" for each in "ab")
        assert read(f"<TEI><text><group>{texts}</group></text></TEI>".encode(), ".tei") == "a\nb\n"

    def test_entities_that_it_declares_as_text_are_known(self) -> None:
        declared = '<!DOCTYPE TEI [<!ENTITY who "Mr X"><!ENTITY far SYSTEM "far.xml">]>'
        source = f"{declared}<TEI><text><body><p>&who;, &eacute;&far;.</p></body></text></TEI>"
        assert read(source.encode(), ".xml") == "Mr X, é.\n"

    def test_the_encoding_that_it_declares_is_obeyed(self) -> None:
        source = '<?xml version="1.0" encoding="windows-1253"?><TEI><text><body><p>Μήνιν άειδε</p></body></text></TEI>'
        assert read(source.encode("cp1253"), ".xml") == "Μήνιν άειδε\n"

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            (b"<author><document>x</document></author>", "no TEI (author)"),
            (b"<TEI><text>", "no well-formed XML (line 1)"),
            (b"words", "no well-formed XML (line 1)"),
            (b"<teiCorpus><TEI/><TEI/></teiCorpus>", "several texts"),
        ],
    )
    def test_what_is_none_is_refused(self, source: bytes, message: str) -> None:
        assert message in refused(source, ".xml")


@pytest.mark.parametrize("ending", [".md", ".html", ".docx", ".odt", ".pdf", ".epub", ".xml"])
def test_without_the_extra_the_error_names_the_file_and_what_to_install(
    ending: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data = WRITERS[ending](PARAGRAPHS)
    path = tmp_path / f"letter{ending}"
    path.write_bytes(data)
    for name in ("lxml", "lxml.etree", "pypdf", "markdown_it"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(CorpusError) as refusal:
        read_document(path)
    assert refusal.value.where == str(path)
    assert "byline[documents]" in str(refusal.value.remedy)


def test_plain_text_and_rich_text_need_no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("lxml", "lxml.etree", "pypdf", "markdown_it", "chardet"):
        monkeypatch.setitem(sys.modules, name, None)
    assert [read(WRITERS[ending](PARAGRAPHS), ending) for ending in (".txt", ".rtf")] == [TWIN, TWIN]


class TestCommand:
    def run(self, *words: object, status: int = 0) -> Any:
        command = [sys.executable, "-m", "byline", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")
        assert done.returncode == status, done.stderr
        return done

    def test_it_prints_what_is_read_with_notes_and_guesses_aside(self, tmp_path: Path) -> None:
        page, letter = tmp_path / "page.html", tmp_path / "letter.txt"
        page.write_bytes(b"<p>no<main><p>Words.</main>")
        letter.write_bytes(("Zij zei: één coöperatie. " * 30).encode("cp1252"))
        alone = self.run("text", page)
        assert (alone.stdout, alone.stderr) == ("Words.\n", f"byline: {page}: only its main part is read\n")
        found = json.loads(self.run("text", tmp_path, "--json").stdout)
        assert [row["document"] for row in found] == [str(letter), str(page)]
        assert found[0]["text"].startswith("Zij zei: één")
        assert "read as Windows-1252, a guess" in found[0]["guesses"][0]
        assert found[1]["notes"] == ["only its main part is read"]
        assert found[1]["characters"] == 7
        assert "letter.txt: read as Windows-1252, a guess" in self.run("text", letter).stderr

    def test_it_saves_as_utf8_what_the_user_says_the_encoding_of(self, tmp_path: Path) -> None:
        letter = tmp_path / "letter.txt"
        letter.write_bytes("naïf".encode("cp850"))
        assert "Save it as UTF-8; byline text" in self.run("text", letter, status=1).stderr
        words = ("text", letter, "--encoding", "cp850", "-o")
        assert self.run(*words, tmp_path / "out").stdout == ""
        assert (tmp_path / "out" / "letter.txt").read_bytes() == "naïf".encode()
        assert "exists already" in self.run(*words, tmp_path / "out", status=1).stderr
        self.run(*words, tmp_path / "out", "--overwrite")
        assert "is one of the inputs" in self.run(*words, tmp_path, "--overwrite", status=1).stderr
        assert "there is no encoding 'klingon'" in self.run("text", letter, "--encoding", "klingon", status=1).stderr

    def test_two_of_one_name_are_not_written_over_each_other(self, tmp_path: Path) -> None:
        for place in ("a", "b"):
            (tmp_path / place).mkdir()
            (tmp_path / place / "letter.txt").write_text("words", "utf-8")
        assert "has the same name" in self.run("text", tmp_path, "-o", tmp_path / "out", status=1).stderr

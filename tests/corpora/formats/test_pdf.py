"""PDF files are read in paragraphs, without running lines; those without text or with faults are refused."""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence

import pytest

import format_writers
from byline.corpora.formats import pdf, read_text
from byline.corpora.formats.extraction import ExtractedText
from byline.corpora.formats.page_layout import (
    TextLine,
    remove_contents,
    remove_page_numbers,
    remove_running_lines,
    set_paragraphs,
)
from byline.errors import CorpusError
from samples import phrase

PROSE = [f"{chr(64 + number)} tale. {phrase(number, 330, number).strip()}." for number in range(1, 27)]
TEXT = "".join(f"{paragraph}\n" for paragraph in PROSE)


def read(data: bytes) -> ExtractedText:
    return read_text(data, ".pdf", "x.pdf")


def refused(data: bytes) -> str:
    with pytest.raises(CorpusError) as refusal:
        read(data)
    assert "\n" not in str(refusal.value)
    assert refusal.value.where == "x.pdf"
    assert refusal.value.remedy
    return refusal.value.what


def assemble(objects: Sequence[bytes]) -> bytes:
    """A PDF of these objects, of which the first is its catalogue."""
    found, places = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(found))
        found += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return found + b"xref\n0 %d\n0000000000 65535 f \n%strailer <</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        size, table, size, len(found),
    )  # fmt: skip


def stream(content: bytes, more: bytes = b"") -> bytes:
    packed = zlib.compress(content, 9)
    return b"<</Length %d/Filter/FlateDecode%s>>stream\n%s\nendstream" % (len(packed), more, packed)


SHOWN = b"BT /F1 12 Tf 72 720 Td (Hello world) Tj ET\n"


def drawn(content: bytes, pages: int = 1, more: Sequence[bytes] = ()) -> bytes:
    """A page, some times over, that draws this; X is the first of the further objects."""
    kids = b" ".join([b"4 0 R"] * pages)
    return assemble(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, pages),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 5 0 R"
            b"/Resources<</Font<</F1 3 0 R>>/XObject<</X 6 0 R>>>>>>",
            stream(content),
            *more,
        ]
    )


def form(content: bytes, number: int) -> bytes:
    """A form that may draw another, X, by its number."""
    resources = b"/Resources<</Font<</F1 3 0 R>>/XObject<</X %d 0 R>>>>" % number
    return stream(content, b"/Type/XObject/Subtype/Form/BBox[0 0 600 800]" + resources)


class TestRunningLines:
    @pytest.mark.parametrize(
        ("head", "foot"),
        [
            ("A Tale of Rivers", "{page}"),
            ("{page} A Tale of Rivers", "Draft of 3 May"),
            ("", "Page {page} of 9"),
            ("A. Writer, student number 12345", ""),
            ("", "- {page} -"),
        ],
    )
    def test_heads_feet_and_page_numbers_are_left_out(self, head: str, foot: str) -> None:
        found = read(format_writers.pdf(PROSE, head, foot))
        assert found.text == TEXT
        lines = 3 * (bool(head) + bool(foot))  # it has three pages
        assert found.notes[0] == f"{lines} running heads, feet and page numbers are left out"

    def test_two_pages_are_enough(self) -> None:
        found = read(format_writers.pdf(PROSE[:12], "A Tale of Rivers", "{page}"))
        assert found.text == "".join(f"{paragraph}\n" for paragraph in PROSE[:12])
        assert found.notes == ("4 running heads, feet and page numbers are left out",)

    def test_without_them_nothing_is_left_out(self) -> None:
        assert read(format_writers.pdf(PROSE)) == ExtractedText(TEXT)

    def test_lines_that_recur_within_the_text_stay(self) -> None:
        page = [TextLine("Never more.", 72, y, 12) for y in range(700, 100, -15)]
        assert remove_running_lines([page, page, page]) == ([page, page, page], 0)

    def test_what_changes_more_than_its_number_stays(self) -> None:
        pages = [
            [TextLine(f"{word} chapter", 72, 750, 12), *body(number)]
            for number, word in enumerate(("One", "Two", "Six"))
        ]
        assert remove_running_lines(pages) == (pages, 0)

    def test_heads_of_odd_and_even_pages_go_each(self) -> None:
        pages = [
            [
                TextLine("The Title" if number % 2 else "The Author", 72, 750, 9),
                *body(number),
                TextLine(str(number), 300, 40, 9),
            ]
            for number in range(8)
        ]
        kept, removed = remove_running_lines(pages)
        assert (kept, removed) == ([body(number) for number in range(8)], 16)

    def test_roman_numbers_are_numbers(self) -> None:
        pages = [[*body(number), TextLine(roman, 300, 40, 9)] for number, roman in enumerate(("ix", "x", "xi", "xii"))]
        assert remove_running_lines(pages)[1] == 4

    def test_pages_of_nothing_else_keep_their_lines(self) -> None:
        pages = [[TextLine("Hello", 72, 750, 12)]] * 3
        assert remove_running_lines(pages) == (pages, 0)


ONE = PROSE[:4]
ONE_TEXT = "".join(f"{paragraph}\n" for paragraph in ONE)
NUMBER_GONE = "the page number is left out"
DOUBT = "one page: a running head can't be told from the text; check with byline text whether it has one"


class TestOnePage:
    @pytest.mark.parametrize(
        "number",
        [
            "{page}", "- {page} -", "\u2013 {page} \u2013", "Page {page}", "PAGE {page}", "page {page} of 3",
            "{page} / 12", "{page}/12", "[{page}]", "Seite {page}", "Seite {page} von 4", "S. {page}", "Página {page}",
            "página {page} de 9", "pagina {page} di 9", "Pagina {page} van 9", "Σελίδα {page}", "σελίδα {page} από 5",
            "p. {page}", "iv",
        ],
    )  # fmt: skip
    def test_its_number_goes_from_top_and_bottom(self, number: str) -> None:
        for where in ({"foot": number}, {"head": number}):
            assert read(format_writers.pdf(ONE, **where)) == ExtractedText(ONE_TEXT, (NUMBER_GONE,))  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("foot", "counts"), [("{page}", range(1, 9)), ("Page {page}", (1, 8)), ("- {page} -", (8,))]
    )
    @pytest.mark.parametrize("gap", [0, 3])
    def test_its_number_goes_however_full_the_page_is(self, foot: str, counts: Sequence[int], gap: int) -> None:
        for count in counts:
            found = read(format_writers.pdf(PROSE[:count], foot=foot, gap=gap))
            assert (found.text.count("\n"), found.notes) == (count, (NUMBER_GONE,))

    def test_a_head_that_cant_be_told_stays_and_is_noted(self) -> None:
        found = read(format_writers.pdf(ONE, "Running head of the essays", "Page {page}"))
        assert found.text == "Running head of the essays\n" + ONE_TEXT
        assert found.notes == (NUMBER_GONE, DOUBT)

    @pytest.mark.parametrize("foot", ["London, 12", "1984", "Page of honour", "Page 1 was lost", "12 men"])
    def test_what_is_more_than_a_number_stays(self, foot: str) -> None:
        found = read(format_writers.pdf(ONE, foot=foot))
        assert (found.text, found.notes) == (f"{ONE_TEXT}{foot}\n", (DOUBT,))

    @pytest.mark.parametrize("gap", [0, 3])
    def test_a_text_that_ends_with_a_number_keeps_it(self, gap: int) -> None:
        """However far down the page its last line is."""
        for count in (1, 3, 5, 7, 8, 9, 10, 11):
            text = [*PROSE[:count], "42"]
            found = read(format_writers.pdf(text, gap=gap)).text
            assert found == "".join(f"{paragraph}\n" for paragraph in text)

    def test_one_that_begins_with_a_number_keeps_it(self) -> None:
        verse = [f"line {chr(97 + number)} of it" for number in range(14)]
        page = [TextLine("18", 72, 740, 12), *(TextLine(text, 72, 700 - 15 * n, 12) for n, text in enumerate(verse))]
        assert remove_page_numbers([page], [(0, 842)]) == ([page], 0)

    def test_the_last_of_two_pages_may_be_the_only_one_with_a_number(self) -> None:
        first, second = body(0), [*body(1), TextLine("2", 300, 40, 9)]
        assert remove_page_numbers([first, second], [(0, 842)] * 2) == ([first, body(1)], 1)

    def test_a_page_that_is_turned_has_its_edges_turned(self) -> None:
        lines = b"".join(b"1 0 0 1 72 %d Tm (A line of the text) Tj\n" % (500 - 15 * n) for n in range(9))
        upright = b"BT /F1 12 Tf " + lines + b"1 0 0 1 300 30 Tm (7) Tj ET"
        assert read(drawn(upright)).notes == (NUMBER_GONE,)
        turned = b"0 1 -1 0 600 0 cm " + upright  # now 600 high
        assert read(drawn(turned)).notes == (NUMBER_GONE,)

    def test_nothing_but_numbers_is_a_text(self) -> None:
        page = [TextLine("1", 72, 830, 12), TextLine("2", 72, 20, 12)]
        assert remove_page_numbers([page], [(0, 842)]) == ([page], 0)


def test_verse_whose_pages_begin_with_the_same_line_keeps_it() -> None:
    """A refrain, with the room of a stanza below it."""
    pages = []
    for number in range(3):
        page = [TextLine("Never more shall I, my love.", 72, 700, 12)]
        for line in range(20):
            page.append(
                TextLine(f"verse {'xyz'[number]} {'abcdefghijklmnopqrst'[line]}", 72, 670 - 15 * (line * 6 // 5), 12)
            )
        pages.append(page)
    assert remove_running_lines(pages) == (pages, 0)


def body(number: int) -> list[TextLine]:
    """Lines of a page that no other has."""
    return [
        TextLine(f"page {chr(97 + number) * 3} line {chr(97 + line) * 3}", 72, 650 - 15 * line, 12)
        for line in range(20)
    ]


def set_lines(*texts: str, x: float = 72, size: float = 12) -> list[TextLine]:
    return [TextLine(text, x, 700 - 15 * number, size) for number, text in enumerate(texts)]


class TestParagraphs:
    @pytest.mark.parametrize("align", ["J", "L"])
    @pytest.mark.parametrize("gap", [0, 3])
    def test_lines_join_into_paragraphs_however_they_are_set(self, align: str, gap: int) -> None:
        assert read(format_writers.pdf(PROSE, align=align, gap=gap)).text == TEXT

    def test_an_indented_line_begins_one(self) -> None:
        full = "x" * 60
        lines = [
            TextLine(full, 72, 700, 12),
            TextLine(full, 90, 685, 12),
            TextLine(full, 72, 670, 12),
            TextLine(full, 72, 655, 12),
        ]
        assert set_paragraphs([lines])[0] == f"{full}\n{full} {full} {full}\n"

    def test_a_heading_stands_by_itself(self) -> None:
        assert set_paragraphs([[TextLine("A Heading That Is Long", 72, 720, 16), *set_lines("And the text begins")]])[
            0
        ] == ("A Heading That Is Long\nAnd the text begins\n")

    def test_short_lines_stay_lines(self) -> None:
        full = "words " * 10 + "and"
        lines = set_lines("Dear Sir,", full, full, "so it was.", "Yours,", "A. Writer")
        assert set_paragraphs([lines])[0] == f"Dear Sir,\n{full} {full} so it was.\nYours,\nA. Writer\n"

    def test_a_paragraph_goes_on_on_the_next_page_and_in_the_next_column(self) -> None:
        full = "words " * 10
        one, two = set_lines(full + "and"), [TextLine(full + "end.", 72, 700, 12)]
        assert set_paragraphs([one, two])[0] == f"{full}and {full}end.\n"
        column = [*set_lines(full + "and", full + "so"), TextLine(full + "end.", 320, 700, 12)]
        assert set_paragraphs([column])[0] == f"{full}and {full}so {full}end.\n"

    def test_chinese_lines_join_without_a_space(self) -> None:
        assert (
            set_paragraphs([set_lines("吾輩は猫である名前は", "まだ無いどこで生れた")])[0]
            == "吾輩は猫である名前はまだ無いどこで生れた\n"
        )

    def test_a_list_of_contents_is_left_out(self) -> None:
        rest = ["Contents", "3 A title that takes", "He paused . . . and went on"]
        listed = ["Preface ........... xii", "1 Introduction . . . . . . . . 4", "two lines ..... 9", "4 End ....... 9"]
        pages = [set_lines(rest[0], *listed[:2], rest[1]), set_lines(*listed[2:], rest[2])]
        kept, removed = remove_contents(pages)
        assert ([line.text for page in kept for line in page], removed) == (rest, 4)

    @pytest.mark.parametrize(
        "lines",
        [
            ["And then . . . . . I", "could not say"],
            ["He was ..... ill", "and ..... ill", "and ..... ill", "and went on"],
            ["Am I . . . . . I", "Is it . . . . . I", "Or not . . . . . I", "and went on"],
            ["Tea ........ 12", "Coffee ........ 8", "Cake ........ 3", "and went on"],
            ["One ........ 1", "Two ........ 2", "a", "b", "c", "d", "Three ........ 3"],
            ["In ........ 12345", "in ........ 12346", "in ........ 12347", "and went on"],
        ],
    )
    def test_what_only_ends_like_one_stays(self, lines: list[str]) -> None:
        pages = [set_lines(*lines)]
        assert remove_contents(pages) == (pages, 0)


class TestHyphens:
    @pytest.mark.parametrize(
        ("first", "second", "joined"),
        [
            ("It is an interesting tale, and it is inter-", "esting to all who read it", "it is interesting to all"),
            ("The well-known man, wellknown or not, is well-", "known to all who read it", "is well-known to all"),
            ("The man is now a well-", "known one and content", "a well-known one"),
            ("The man is inter\u00ad", "ested in all of this", "is interested in"),
            ("he came -- and --", "saw it all this year", "and -- saw"),
            ("he came, O sight!-", "- and saw this year", "O sight!-- and saw"),
        ],
        ids=["word that is there whole", "compound", "uncertain", "soft hyphen", "dash", "divided dash"],
    )
    def test_lines_join_at_hyphens(self, first: str, second: str, joined: str) -> None:
        assert joined in set_paragraphs([set_lines(first, second)])[0]

    def test_it_is_noted(self) -> None:
        data = drawn(
            b"BT /F1 12 Tf 72 720 Td (It is an interesting tale, and it is inter-) Tj"
            b" 0 -14 Td (esting to all who read it) Tj ET"
        )
        assert read(data).notes == ("1 words that were divided at the ends of lines are joined",)


class TestLetters:
    def test_ligatures_are_letters(self) -> None:
        assert read(format_writers.pdf(["The ﬁnal oﬃce ﬂew oﬀ to the ﬆars and was never seen again."])).text == (
            "The final office flew off to the stars and was never seen again.\n"
        )

    def test_text_that_is_turned_is_left_out_unless_all_of_it_is(self) -> None:
        turned = b"BT /F1 20 Tf 0 1 -1 0 30 200 Tm (arXiv stamp) Tj ET\n"
        note = "left out: text rotated against the rest of its page"
        for data, text, said in ((SHOWN + turned, "Hello world\n", (note,)), (turned, "arXiv stamp\n", ())):
            found = read(drawn(data))
            assert (found.text, found.notes) == (text, said)

    def test_fonts_that_dont_say_their_letters_are_refused(self) -> None:
        shown = format_writers.pdf(["Words that nobody can read."])
        assert b"/ToUnicode" in shown
        assert "fonts don't say" in refused(shown.replace(b"/ToUnicode", b"/NoUnicode"))


class TestRefusals:
    def test_one_with_a_password_gives_its_reason_and_remedy(self) -> None:
        assert refused(format_writers.pdf(PROSE[:2], password="secret")) == "protected by a password"

    def test_one_that_only_must_not_be_changed_is_read(self) -> None:
        assert read(format_writers.pdf(PROSE[:2], password="")).text == "".join(
            f"{paragraph}\n" for paragraph in PROSE[:2]
        )

    def test_a_scan_gives_its_reason_and_remedy(self) -> None:
        import fpdf
        from PIL import Image

        pages, picture = fpdf.FPDF(), io.BytesIO()
        Image.new("L", (40, 40), 128).save(picture, "PNG")
        pages.add_page()
        pages.image(picture, w=40)
        assert "perhaps a scan" in refused(bytes(pages.output()))

    def test_pages_without_text_among_others_are_reported(self) -> None:
        import pypdf

        writer, file = pypdf.PdfWriter(io.BytesIO(format_writers.pdf(PROSE[:2]))), io.BytesIO()
        writer.add_blank_page()
        writer.write(file)
        assert read(file.getvalue()).guesses == ("1 of 2 pages have no text; if they are scans, it is missing",)

    @pytest.mark.parametrize("share", [0.0, 0.05, 0.3])
    def test_a_damaged_one_gives_its_reason_and_remedy(self, share: float) -> None:
        whole = format_writers.pdf(PROSE)
        assert refused(whole[: int(share * len(whole))]).startswith("damaged")


LARGE = pdf.LARGE[0]


class TestHostility:
    def test_a_page_that_unpacks_to_very_much_is_refused(self) -> None:
        assert refused(drawn(b" " * 100_000_000 + SHOWN)) == LARGE

    def test_forms_that_draw_forms_many_times_over_end(self) -> None:
        forms = [form(b"/X Do " * 10, 7 + depth) for depth in range(9)]
        found = read(drawn(b"/X Do " * 10 + SHOWN, more=[*forms, form(SHOWN, 99)]))
        assert found.text.startswith("Hello world")
        assert "some of its text may be missing" in found.guesses[0]

    def test_a_form_that_draws_itself_ends(self) -> None:
        assert read(drawn(b"/X Do " + SHOWN, more=[form(b"/X Do " + SHOWN, 6)])).text == "Hello world Hello world\n"

    def test_a_large_form_drawn_many_times_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pdf, "MAX_CONTENT", 1_000_000)
        assert refused(drawn(b"/X Do " * 900, more=[form(b"1 " * 100_000, 6)])) == LARGE

    def test_one_page_as_many_is_refused(self) -> None:
        assert refused(drawn(SHOWN, pages=12_000)) in (LARGE, "more than 10,000 pages")

    def test_a_tree_of_pages_that_holds_itself_is_refused(self) -> None:
        circle = assemble([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[2 0 R]/Count 1>>"])
        assert refused(circle).startswith("damaged")

    def test_arrays_within_arrays_are_refused(self) -> None:
        assert refused(drawn(b"[" * 100_000 + SHOWN)).startswith(("damaged", LARGE))

    def test_a_line_without_end_is_refused(self) -> None:
        assert refused(drawn(b"BT /F1 12 Tf (" + b"x" * 1_000_000 + b") Tj ET")) == LARGE

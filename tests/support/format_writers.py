"""Documents for the tests, written out of paragraphs in every format that Byline reads."""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

PARAGRAPHS = (
    'The old man went down to the river & sat upon a stone; 3 < 4, he thought, and "bread" isn\'t cake.',
    "Zij zei: één coöperatie, geïllustreerd – dat is naïef, hè? — en zij ging naar huis, waar het brood al lag.",
    "Μῆνιν ἄειδε θεὰ Πηληϊάδεω Ἀχιλῆος, οὐλομένην, ἣ μυρί᾽ Ἀχαιοῖς ἄλγε᾽ ἔθηκε, πολλὰς δ᾽ ἰφθίμους ψυχάς.",
    "* Not a list, _not_ set in italics, # nor a heading [1]: «ça va», 50 € or £40.",
)
TWIN = "".join(f"{paragraph}\n" for paragraph in PARAGRAPHS)
"""What a text file with these paragraphs holds."""


def pack(members: Mapping[str, str | bytes]) -> bytes:
    """A packed file of these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in members.items():
            package.writestr(name, content)
    return file.getvalue()


def txt(paragraphs: Sequence[str]) -> bytes:
    return "".join(f"{paragraph}\n" for paragraph in paragraphs).encode()


def markdown(paragraphs: Sequence[str]) -> bytes:
    return "\n\n".join(re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", paragraph) for paragraph in paragraphs).encode()


def page(paragraphs: Sequence[str]) -> bytes:
    body = "\n".join(f"<p>{html.escape(paragraph)}" for paragraph in paragraphs)
    return f"<!doctype html><html><head><meta charset=utf-8><title>Title</title></head><body>{body}</body>".encode()


def docx(paragraphs: Sequence[str]) -> bytes:
    from docx import Document

    document, file = Document(), io.BytesIO()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    document.save(file)
    return file.getvalue()


ODF = "urn:oasis:names:tc:opendocument:xmlns"


def odt(paragraphs: Sequence[str]) -> bytes:
    return odt_of("".join(f"<text:p>{_spaced(paragraph)}</text:p>" for paragraph in paragraphs))


def _spaced(paragraph: str) -> str:
    """As OpenDocument writes what has spaces in a row."""
    return re.sub("  +", lambda run: f' <text:s text:c="{len(run[0]) - 1}"/>', escape(paragraph))


def odt_of(body: str) -> bytes:
    spaces = " ".join(f'xmlns:{name}="{ODF}:{name}:1.0"' for name in ("office", "text", "table", "draw"))
    inner = f"<office:body><office:text>{body}</office:text></office:body>"
    content = f"<office:document-content {spaces}>{inner}</office:document-content>"
    return pack({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})


def epub(paragraphs: Sequence[str]) -> bytes:
    half = (len(paragraphs) + 1) // 2
    return epub_of({"one.xhtml": _chapter(paragraphs[:half]), "two.xhtml": _chapter(paragraphs[half:])})


def _chapter(paragraphs: Sequence[str]) -> str:
    return "".join(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs)


def epub_of(bodies: Mapping[str, str], more: Mapping[str, str] | None = None, rows: str = "", refs: str = "") -> bytes:
    """A book of pages by their names; `rows` and `refs` are further lines of its manifest and spine."""
    items = "".join(f'<item id="{name}" href="text/{name}" media-type="application/xhtml+xml"/>' for name in bodies)
    spine = "".join(f'<itemref idref="{name}"/>' for name in bodies)
    pages = {
        f"OEBPS/text/{name}": '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"'
        f' xmlns:epub="http://www.idpf.org/2007/ops"><head><title/></head><body>{body}</body></html>'
        for name, body in bodies.items()
    }
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    book = (
        f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}{rows}</manifest>'
        f"<spine>{spine}{refs}</spine></package>"
    )
    return pack(
        {"mimetype": "application/epub+zip", "META-INF/container.xml": container, "OEBPS/book.opf": book}
        | pages
        | dict(more or {})
    )


def rtf(paragraphs: Sequence[str]) -> bytes:
    return rtf_of("\\par\n".join(map(rtf_text, paragraphs)))


def rtf_of(body: str) -> bytes:
    return (r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 Times;}}" + "\n" + body + "}").encode("ascii")


def rtf_text(text: str) -> str:
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    return "".join(
        chr(unit) if 31 < unit < 127 and chr(unit) not in "\\{}" else f"\\u{unit - 0x10000 if unit > 0x7FFF else unit}?"
        for unit in units
    )


def tei(paragraphs: Sequence[str]) -> bytes:
    return tei_of("".join(f"\n  <p>{escape(paragraph)}</p>" for paragraph in paragraphs))


def tei_of(body: str) -> bytes:
    head = "<teiHeader><fileDesc><titleStmt><title>A title</title></titleStmt></fileDesc></teiHeader>"
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<TEI xmlns="http://www.tei-c.org/ns/1.0">'
        f"{head}<text><front><p>Before</p></front><body>{body}</body><back><p>After</p></back></text></TEI>"
    ).encode()


def pdf(paragraphs: Sequence[str], head: str = "", foot: str = "", **options: Any) -> bytes:
    """Pages with a head and a foot, in which {page} is the page's number."""
    import fpdf
    import matplotlib

    class Pages(fpdf.FPDF):
        def header(self) -> None:
            if head:
                self.set_y(10)
                self.cell(0, 5, head.format(page=self.page_no()))
                self.set_y(30)

        def footer(self) -> None:
            if foot:
                self.set_y(-15)
                self.cell(0, 5, foot.format(page=self.page_no()), align="C")

    pages = Pages(format="A4")
    pages.add_font("DejaVu", fname=Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf")
    pages.set_font("DejaVu", size=11)
    if "password" in options:
        pages.set_encryption(owner_password="owner", user_password=options["password"])
    pages.add_page()
    for paragraph in paragraphs:
        pages.multi_cell(0, 5, paragraph, align=options.get("align", "J"))
        pages.ln(options.get("gap", 3) + 5)
    return bytes(pages.output())


WRITERS: dict[str, Callable[[Sequence[str]], bytes]] = {
    ".txt": txt,
    ".md": markdown,
    ".html": page,
    ".htm": page,
    ".docx": docx,
    ".odt": odt,
    ".pdf": pdf,
    ".epub": epub,
    ".rtf": rtf,
    ".xml": tei,
    ".tei": tei,
}

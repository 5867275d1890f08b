"""How often the encoding of a text is guessed right: PAN's texts, written in old encodings and read again.

    BYLINE_DATA=folder-of-corpora python benchmarks/guesses.py    guess, print the table and store it
    python benchmarks/guesses.py --table                          print what is stored, guess nothing

Beside Byline stand chardet by itself and, where it is installed, charset-normalizer; they refuse nothing. Only texts
that are no UTF-8 in the encoding count, and of these the first 2,000 characters. The results are in
benchmarks/results/guesses.json.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from byline.corpora.formats.encodings import decode
from byline.corpora.formats.extraction import Unreadable
from stored import RESULTS, commit

PATH = RESULTS / "guesses.json"
LENGTH = 2_000
EVERY = 3
CASES = (
    ("Dutch", "pan15-train-dutch", "cp1252"),
    ("Dutch", "pan14-train-du_reviews", "cp1252"),
    ("Dutch", "pan15-train-dutch", "mac_roman"),
    ("Dutch", "pan15-train-dutch", "cp850"),
    ("Spanish", "pan15-train-spanish", "cp1252"),
    ("Spanish", "pan15-train-spanish", "mac_roman"),
    ("Spanish", "pan15-train-spanish", "cp850"),
    ("Greek", "pan15-train-greek", "cp1253"),
    ("Greek", "pan14-train-gr_articles", "cp1253"),
    ("Greek", "pan14-train-gr_articles", "utf-16-le"),
)


def by_byline(data: bytes) -> str | None:
    try:
        return decode(data).text
    except Unreadable:
        return None


def by_chardet(data: bytes) -> str | None:
    import chardet

    encoding = chardet.detect(data)["encoding"]
    return data.decode(encoding, "replace") if encoding else None


def by_normalizer(data: bytes) -> str | None:
    from charset_normalizer import from_bytes

    best = from_bytes(data).best()
    return data.decode(best.encoding, "replace") if best else None


def readers() -> dict[str, Callable[[bytes], str | None]]:
    found = {"byline": by_byline, "chardet": by_chardet}
    try:
        import charset_normalizer  # noqa: F401
    except ImportError:
        return found
    return {**found, "charset-normalizer": by_normalizer}


def texts(folder: Path, encoding: str) -> list[str]:
    """The beginnings of a corpus's texts, as far as the encoding has their letters, if some are not ASCII."""
    found = []
    for file in sorted(folder.glob("*/*.txt"))[::EVERY]:
        text = " ".join(file.read_text("utf-8-sig").split())[:LENGTH]
        kept = text.encode(encoding, "ignore").decode(encoding)
        if not kept.isascii():
            found.append(kept)
    return found


def guess(data: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for language, corpus, encoding in CASES:
        counts: dict[str, Counter[str]] = {}
        written = texts(data / corpus, encoding)
        for name, read in readers().items():
            found = [read(text.encode(encoding)) for text in written]
            counts[name] = Counter(
                "refused" if got is None else "right" if got == text else "wrong"
                for got, text in zip(found, written, strict=True)
            )
        rows.append({"language": language, "corpus": corpus, "encoding": encoding, "texts": len(written), **counts})
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    others = [name for name in ("chardet", "charset-normalizer") if name in rows[0]]
    heads = ["texts", "written in", "number", "right", "wrong", "refused", *(f"{other}: wrong" for other in others)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in rows:
        cells = [f"{row['language']}, {row['corpus']}", row["encoding"], row["texts"]]
        cells += [row["byline"].get(kind, 0) for kind in ("right", "wrong", "refused")]
        cells += [row[other].get("wrong", 0) for other in others]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="print what is stored")
    if parser.parse_args().table:
        rows = json.loads(PATH.read_text("utf-8"))["rows"]
    else:
        rows = guess(Path(os.environ["BYLINE_DATA"]))
        PATH.write_text(json.dumps({"commit": commit(), "rows": rows}, indent=1) + "\n", "utf-8")
    print(table(rows))


if __name__ == "__main__":
    main()

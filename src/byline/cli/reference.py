"""`byline reference`: texts by other people to compare a question with, built and checked."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from byline.cli import options
from byline.cli.console import count_of, language_title, out, print_json, printable
from byline.corpora.problems import read_problems, require_sound
from byline.corpora.reference import SHORTEST_TEXT, Reference, require_vacant, write_reference
from byline.corpora.reference_building import build_reference, read_reference
from byline.judgment.checks.cautions import ReferenceCheck
from byline.judgment.checks.reference_suitability import check_reference
from byline.text.shared_passages import PASSAGE

SaidLanguage = Annotated[
    str | None,
    typer.Option(
        help="Language of the texts (default: as the corpora say, or by their script).",
        callback=options.require_nonempty,
        autocompletion=options.one_of(options.LANGUAGES),
    ),
]


def build_command(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="PAN corpora, pairs, authors' folders, folders of texts, text files."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="REF", help="Folder to write the reference to.")],
    language: SaidLanguage = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the reference that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was built as JSON.")] = False,
) -> None:
    """Build a reference population: texts by other people, each once, told apart by author and cleaned.

    Truth files are not read. The two sides of a problem are kept as two authors who may be the same person.

    Example: byline reference build pan14-english/ essays/ -o ref/
    """
    require_vacant(output, overwrite)
    reference = build_reference(paths, language)
    write_reference(reference, output, overwrite)
    if as_json:
        print_json(reference_to_json(reference, output))
    else:
        print_reference(reference, output)


def check_command(
    reference: Annotated[
        Path, typer.Argument(metavar="REF", help="A reference that was built, or any corpus to be taken as one.")
    ],
    problems: Annotated[Path, typer.Argument(metavar="PROBLEMS", help="A PAN corpus, or a file of pairs.")],
    language: SaidLanguage = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Check whether a reference population is large and varied enough for some questions, and say what is wanting.

    Example: byline reference check ref/ pan15-english/
    """
    corpus = read_problems(problems, language)
    require_sound(corpus.bad_problems)
    check = check_reference(read_reference(reference, language), corpus.problems)
    if as_json:
        print_json(check_to_json(check))
    else:
        print_check(check)


def reference_to_json(reference: Reference, folder: Path) -> dict[str, object]:
    """What build --json prints."""
    shortest, median, longest = reference.length_summary
    return {
        "reference": str(folder),
        "language": reference.language,
        "texts": len(reference.texts),
        "authors": len(reference.by_author),
        "characters": sum(reference.lengths),
        "lengths": {"shortest": shortest, "median": median, "longest": longest},
        "unclear_pairs": len(reference.unclear_pairs),
        "left_out": asdict(reference.left_out),
    }


def check_to_json(check: ReferenceCheck) -> dict[str, object]:
    """What check --json prints."""
    shortest, median, longest = check.lengths
    return {
        **asdict(check),
        "lengths": {"shortest": shortest, "median": median, "longest": longest},
        "problems": [{**asdict(problem), "verdict": problem.verdict} for problem in check.problems],
        "grade": check.grade,
        "verdict": check.verdict,
    }


def print_reference(reference: Reference, folder: Path) -> None:
    """What was read, kept and left out, and why."""
    console = out()
    gone = reference.left_out
    left_out = sum(asdict(gone).values())
    console.print(f"{language_title(reference.language)}: {count_of(len(reference.texts) + left_out, 'text')} read")
    for number, why in (
        (gone.short, f"shorter than {SHORTEST_TEXT} characters"),
        (gone.repeated, "the same text again"),
        (gone.borrowed, f"with a passage of {PASSAGE} characters or more that an earlier text by another author has"),
        (gone.related, "that have to do with a question"),
    ):
        if number:
            console.print(f"  {number:,} left out: {why}")
    authors = reference.by_author
    several = sum(len(texts) > 1 for texts in authors.values())
    kept = f"{len(reference.texts):,} kept, by {count_of(len(authors), 'author')}"
    console.print(f"  {kept}, {several:,} of them with several texts")
    if reference.unclear_pairs:
        console.print(f"  {count_of(len(reference.unclear_pairs), 'pair')} of authors may be one person each")
    _print_lengths(sum(reference.lengths), reference.length_summary)
    console.print(f"\nWritten to {printable(str(folder))}")


def print_check(check: ReferenceCheck) -> None:
    """The reference, a line for each question, what is wanting, and the whole."""
    console = out()
    title = language_title(check.language)
    people = "person" if check.authors == 1 else "people who surely are different"
    console.print(f"{title}: {count_of(check.texts, 'text')} by {check.authors:,} {people}")
    _print_lengths(check.characters, check.lengths)
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("question")
    for heading in ("authors", "of its length", "", "of its kind", "", "left out"):
        table.add_column(heading, justify="right")
    table.add_column("verdict", overflow="fold")
    table.add_row("", "", "known", "unknown", "known", "unknown", "texts", "", style="dim")
    for row in check.problems:
        counts = (row.authors, row.near_known, row.near_unknown, row.like_known, row.like_unknown, row.related)
        table.add_row(printable(row.id), *(f"{count:,}" for count in counts), row.grade)
    console.print()
    console.print(table)
    wanting: dict[str, list[str]] = {}
    for row in check.problems:
        if row.remarks:
            wanting.setdefault(row.verdict, []).append(row.id)
    if wanting:
        console.print()
    for verdict, ids in wanting.items():
        console.print(f"{printable(', '.join(ids))}: {printable(verdict)}")
    console.print(f"\n{check.verdict}")


def _print_lengths(characters: int, spread: tuple[int, int, int]) -> None:

    shortest, median, longest = spread
    out().print(f"  {characters:,} characters; shortest text {shortest:,}, median {median:,}, longest {longest:,}")

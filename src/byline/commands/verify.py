"""`byline verify`: a folder of problems -> answers."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from byline.settings import Settings, parse_assignments, read_settings

if TYPE_CHECKING:
    from byline.answers import Answer
    from byline.verification import Verification


def verify_command(
    context: typer.Context,
    problems: Annotated[
        Path | None, typer.Argument(metavar="INPUT", help="A PAN folder of problems, or a pairs.jsonl file.")
    ] = None,
    input_: Annotated[
        Path | None, typer.Option("-i", "--input", metavar="INPUT", help="The same, as PAN calls it.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="OUT", help="Folder for answers.txt or answers.jsonl.")
    ] = None,
    control: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Other texts of the same language: a control corpus.")
    ] = None,
    language: Annotated[str | None, typer.Option(help="Language of all problems, instead of what they say.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same answers.")] = 0,
    members: Annotated[int, typer.Option(min=1, max=10_000, help="Trainings with different seeds, averaged.")] = 1,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting; may be given many times.")
    ] = None,
    settings_file: Annotated[
        Path | None, typer.Option("--settings", metavar="FILE.toml", help="Settings from a file; --set goes over it.")
    ] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Answer bad problems 0.5 instead of refusing.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace answers that OUT holds already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answers and how they came about as JSON.")] = False,
) -> None:
    """Answer verification problems: did the author of the known texts write the unknown one?

    Example: byline verify pan15-english/ -o out/ --members 4
    """
    chosen = _one_input(context, problems, input_)
    if output is None and not as_json:
        context.fail("say where the answers go with -o OUT, or print them with --json")
    settings = read_settings(settings_file) if settings_file else Settings()
    settings = settings.change(parse_assignments(set_ or []))

    from byline import answers
    from byline.commands.console import print_json, training_progress
    from byline.verification import verify

    if output is not None:
        answers.check_output(output, overwrite)
    begin = time.perf_counter()
    with training_progress() as report:
        result = verify(
            chosen, settings, seed=seed, members=members, control=control or (), language=language, skip_bad=skip_bad,
            report=report,
        )  # fmt: skip
    seconds = time.perf_counter() - begin
    if output is not None:
        name = answers.FILE_NAMES[result.layout]
        text = answers.format_answers(result.answers, result.layout)
        answers.write_files(output, {answers.SETTINGS_NAME: _provenance(result, language, control), name: text})
    if as_json:
        print_json(to_json(result, seconds))
    else:
        print_summary(result, seconds, output)


def _one_input(context: typer.Context, argument: Path | None, option: Path | None) -> Path:
    if argument is not None and option is not None:
        context.fail("INPUT is given twice; give it once, as an argument or with -i")
    chosen = argument if argument is not None else option
    if chosen is None:
        context.fail("INPUT is missing; name a folder of problems or a pairs.jsonl file")
    return chosen


def _provenance(result: Verification, language: str | None, control: Path | None) -> str:
    """Settings as TOML, to be used again with --settings, and in a comment what else the answers depend on."""
    from byline import __version__

    options = f"--seed {result.seed} --members {result.members}"
    options += f" --language {language!a}" if language else ""
    options += f" --control {str(control)!a}" if control else ""
    return f"# byline {__version__}, {options}\n" + result.settings.to_toml()


def to_json(result: Verification, seconds: float) -> dict[str, object]:
    """What --json prints."""
    return {
        "answers": [
            {
                "id": answer.id,
                "probability": answer.rounded,
                "undecided": answer.undecided,
                "score": None if answer.score is None else round(answer.score, 6),
            }
            for answer in result.answers
        ],
        "skipped": [{"id": offence.id, "reason": offence.message} for offence in result.skipped],
        "languages": [asdict(run) for run in result.runs],
        "settings": asdict(result.settings),
        "seed": result.seed,
        "members": result.members,
        "seconds": round(seconds, 2),
    }


def verdict(answer: Answer) -> str:
    """An answer in words."""
    if answer.score is None:
        return "skipped"
    if answer.undecided:
        return "undecided"
    return "same author" if answer.probability > 0.5 else "another author"


MOST_ROWS = 24
"""Answers shown to a person at the most; the file has them all."""


def print_summary(result: Verification, seconds: float, output: Path | None) -> None:
    """What was compared with what, the answers from most to least likely, and where they are."""
    from rich.table import Table

    from byline import answers
    from byline.commands.console import answer_bar, count_of, language_title, out, printable
    from byline.questions import FEWEST_HEADS

    console = out()
    for run in result.runs:
        console.print(
            f"{language_title(run.language)}: {count_of(run.problems, 'problem')};"
            f" {'both ways, ' if run.ways > 1 else ''}{count_of(run.heads, 'text set')} learnt,"
            f" {run.documents:,} judged or compared with;"
            f" {count_of(len(run.alphabet), 'symbol')}; control corpus: {run.control}"
        )
        if run.control_repeats:
            console.print(f"  {count_of(run.control_repeats, 'control text')} left out: the problems hold them too")
    console.print()
    ordered = sorted(result.answers, key=lambda answer: (-answer.probability, answer.id))
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("problem", "another     same", "answer", ""):
        table.add_column(heading, justify="right" if heading == "answer" else "left")
    for number, answer in enumerate(ordered):
        if len(ordered) > MOST_ROWS and MOST_ROWS // 2 <= number < len(ordered) - MOST_ROWS // 2:
            if number == MOST_ROWS // 2:
                table.add_row("...", f"{len(ordered) - MOST_ROWS} more", "", "")
            continue
        table.add_row(
            printable(answer.id), answer_bar(answer.probability, 16), f"{answer.rounded:.3f}", verdict(answer)
        )
    console.print(table)
    kinds = Counter(verdict(answer) for answer in result.answers)
    console.print(
        "\n" + ", ".join(f"{number} {kind}" for kind, number in kinds.most_common())
        + f"; {count_of(result.members, 'member')}, seed {result.seed}, {seconds:.1f} s"
    )  # fmt: skip
    if any(run.problems >= FEWEST_HEADS for run in result.runs):
        console.print("0.5 is the median problem: half of the problems are taken to be by the same author, as at PAN.")
    else:
        console.print("0.5 is the middle rank: so few problems have no median worth the name.")
    for offence in result.skipped:
        console.print(f"skipped: {printable(offence.message)}", style="yellow")
    if output is not None:
        console.print(f"Answers are in {output / answers.FILE_NAMES[result.layout]}")

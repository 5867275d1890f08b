"""`byline combine`: runs made on different machines, or with different seeds -> one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args

import typer

from byline.cli import options
from byline.cli.answers import answer_json, describe_judgment, judgment_json, judgment_of, print_answers
from byline.cli.console import count_of, out, print_json
from byline.corpora import answers
from byline.corpora.problems import ANSWER_FILES
from byline.runs.combine import combine_runs
from byline.runs.folder import FOLDER
from byline.settings.settings import Interpretation

OFFERED = tuple(each for each in get_args(Interpretation) if each != "cohort")
"""Ways of reading members that were made for another of them."""


def combine_command(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders that byline verify -o wrote to.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT", help="Folder for the joint answers.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what OUT holds already.")] = False,
    interpret: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(OFFERED),
            help="Interpret the members in this way instead.",
            autocompletion=options.one_of(OFFERED),
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answers as JSON.")] = False,
) -> None:
    """Join runs of the same problems into one; a member that two runs share counts once.

    Make them with different seeds: byline verify PROBLEMS -o a --seed 1, and on another machine -o b --seed 2.

    One run alone can be read anew: its members are trained already.

    Example: byline combine a/ b/ -o both/
    """
    answers.check_output(output, overwrite)
    result = combine_runs(runs, output / FOLDER, overwrite, options.as_interpretation(interpret, OFFERED), answers=True)
    if as_json:
        print_json(
            {
                **judgment_json(judgment_of(result.plan.judgment, result.answers)),
                "answers": [answer_json(answer) for answer in result.answers],
                "members": len(result.plan.members),
                "repeated": result.repeated,
                "unfinished": [
                    {"run": str(path), "members": done, "planned": planned} for path, done, planned in result.unfinished
                ],
            }
        )
        return
    console = out()
    for line in describe_judgment(result.plan, result.reaches):
        console.print(line)
    print_answers(result.answers, result.plan.judgment)
    console.print(f"{count_of(len(result.plan.members), 'member')} of {count_of(len(runs), 'run')}")
    for folder, done, planned in result.unfinished:
        console.print(f"{folder}: unfinished, {done} of {count_of(planned, 'member')}", style="yellow")
    if result.repeated:
        console.print(f"{count_of(result.repeated, 'member')} found in more than one run, and counted once")
    path = output / ANSWER_FILES[result.plan.layout]
    console.print(f"Answers are in {path}, the members in {output / FOLDER}")

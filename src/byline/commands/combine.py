"""`byline combine`: runs made on different machines, or with different seeds -> one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def combine_command(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders that byline verify -o wrote to.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT", help="Folder for the joint answers.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what OUT holds already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answers as JSON.")] = False,
) -> None:
    """Join runs of the same problems into one; a member that two runs share counts once.

    Make them with different seeds: byline verify PROBLEMS -o a --seed 1, and on another machine -o b --seed 2.

    Example: byline combine a/ b/ -o both/
    """
    from byline import answers
    from byline.combination import combine_runs
    from byline.commands.console import count_of, out, print_json
    from byline.commands.verify import print_answers
    from byline.runs import FOLDER

    answers.check_output(output, overwrite)
    if overwrite:
        answers.remove_answers(output)  # they are not this run's
    result = combine_runs(runs, output / FOLDER, overwrite)
    path = answers.write_answers(output, result.answers, result.plan.layout)
    if as_json:
        print_json(
            {
                "answers": [{"id": answer.id, "probability": answer.rounded} for answer in result.answers],
                "members": len(result.plan.members),
                "repeated": result.repeated,
            }
        )
        return
    print_answers(result.answers)
    console = out()
    console.print(f"{count_of(len(result.plan.members), 'member')} of {count_of(len(runs), 'run')}")
    if result.repeated:
        console.print(f"{count_of(result.repeated, 'member')} found in more than one run, and counted once")
    console.print(f"Answers are in {path}, the members in {output / FOLDER}")

"""`byline runs` and `byline combine`: look into a run, and join several."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

import byline
from byline.cli import options
from byline.cli.console import count_of, make_table, out, print_json, print_table, printable
from byline.corpora.answers import check_output
from byline.settings.settings import Interpretation, Settings

if TYPE_CHECKING:
    from byline.runs.run import RunAgreement


def show_command(
    run: options.RunFolder,
    truth: Annotated[
        Path | None, typer.Option(metavar="TRUTH", help="Truth file or folder, to measure what each member adds.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Show a run's members: settings, time, agreement with the others and, with the truth, what each adds.

    Example: byline runs show out/ --truth pan15-english/
    """
    from byline.runs.run import examine_run

    agreement = examine_run(run, None if truth is None else byline.read_truth(truth))
    if as_json:
        print_json(agreement_json(agreement))
    else:
        print_agreement(agreement)


def agreement_json(agreement: RunAgreement) -> dict[str, object]:
    """Return the members of a run in plain values."""
    return {
        "preset": agreement.plan.preset,
        "planned": len(agreement.plan.members),
        "budget": agreement.plan.budget,
        "members": [
            {
                "member": row.place + 1,
                "language": row.language,
                "number": row.member.number,
                "seed": row.member.seed,
                "seconds": row.seconds,
                "bits": row.bits,
                "agreement": row.agreement,
                "product": row.product,
                "adds": row.adds,
                "settings": asdict(row.member.settings),
            }
            for row in agreement.members
        ],
        "products": dict(agreement.products),
        "mean_adds": agreement.mean_adds,
    }


def print_agreement(agreement: RunAgreement) -> None:
    """Print a line for each member, then the whole run."""
    console = out()
    plan = agreement.plan
    judged = bool(agreement.products)
    several = len(plan.groups) > 1
    numbers = ["seconds", "bits", "agreement", *(["AUC x C@1", "adds"] if judged else [])]
    languages = ["language"] if several else []
    changes = "settings that differ from the default"
    table = make_table("member", *languages, *numbers, changes, right=["member", *numbers])
    for row in agreement.members:
        cells = [str(row.place + 1), *([printable(row.language)] if several else []), f"{row.seconds:.1f}"]
        cells += [_number(row.bits, ".2f"), _number(row.agreement)]
        cells += [_number(row.product), _number(row.adds, "+.3f")] if judged else []
        table.add_row(*cells, _changed_settings(row.member.settings, row.member.seed))
    print_table(table)
    finished = Counter(row.place for row in agreement.members)
    done = sum(number == len(plan.groups) for number in finished.values())
    console.print(f"\npreset {printable(plan.preset)}: {done} of {count_of(len(plan.members), 'member')} done")
    for language, product in agreement.products.items():
        own = [row.product for row in agreement.members if row.language == language and row.product is not None]
        console.print(
            f"{printable(language)}: AUC x C@1 of all {product:.3f}, mean of the members' own {sum(own) / len(own):.3f}"
        )
    if agreement.mean_adds is not None:
        console.print(
            f"a member adds {agreement.mean_adds:+.3f} on average (all members compared with all but that one)"
        )
    console.print("agreement: rank correlation of a member's scores with the mean of the others'", style="dim")


def _number(value: float | None, form: str = ".3f") -> str:
    return "-" if value is None else format(value, form)


def _changed_settings(settings: Settings, seed: int) -> str:
    changed = [f"{key} {value}" for key, value in settings.changes().items()]
    return ", ".join([*changed, *([f"seed {seed}"] if seed else [])]) or "none"


def combine_command(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders that byline verify -o wrote to.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT", help="Folder for the joint answers.")],
    overwrite: options.Overwrite = False,
    interpret: Annotated[
        Interpretation | None,
        typer.Option(metavar="|".join(get_args(Interpretation)), help="Interpret the members in this way instead."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Join runs of the same problems into one; a member that two runs share counts once.

    Make them with different seeds: byline verify PROBLEMS -o a --seed 1, and on another machine -o b --seed 2.

    A single run can be interpreted in another way without training its members again.

    Example: byline combine a/ b/ -o both/
    """
    from byline.cli.answers import answer_json, describe_judgment, judgment_json, judgment_of, print_answers
    from byline.corpora.problems import ANSWER_FILES
    from byline.runs.combine import combine_runs
    from byline.runs.folder import FOLDER

    check_output(output, overwrite)
    result = combine_runs(runs, output / FOLDER, overwrite, interpret, answers=True)
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
    for line in describe_judgment(result.plan, result.matched):
        console.print(line)
    print_answers(result.answers, result.plan.judgment)
    console.print(f"{count_of(len(result.plan.members), 'member')} of {count_of(len(runs), 'run')}")
    for folder, done, planned in result.unfinished:
        console.print(f"{folder}: unfinished, {done} of {count_of(planned, 'member')}", style="yellow")
    if result.repeated:
        console.print(f"{count_of(result.repeated, 'member')} found in more than one run, and counted once")
    path = output / ANSWER_FILES[result.plan.layout]
    console.print(f"Answers are in {path}, the members in {output / FOLDER}")

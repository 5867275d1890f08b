"""`byline runs`: what is in a run folder."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from byline.agreement import Standing
    from byline.settings import Settings


def show_command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A folder that byline verify -o wrote to.")],
    truth: Annotated[
        Path | None, typer.Option(metavar="TRUTH", help="Truth file or folder: what each member is worth.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Show a run's members: settings, time, agreement with the others and, with the truth, what each adds.

    Example: byline runs show out/ --truth pan15-english/
    """
    from byline.agreement import examine_run
    from byline.commands.console import print_json
    from byline.truth import read_truth

    standing = examine_run(run, read_truth(truth) if truth is not None else None)
    if as_json:
        print_json(to_json(standing))
    else:
        print_standing(standing)


def to_json(standing: Standing) -> dict[str, object]:
    """What --json prints."""
    return {
        "preset": standing.plan.preset,
        "planned": len(standing.plan.members),
        "budget": standing.plan.budget,
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
            for row in standing.members
        ],
        "products": dict(standing.products),
        "mean_adds": standing.mean_adds,
    }


def print_standing(standing: Standing) -> None:
    """A line for each member, then the whole."""
    from rich.table import Table

    from byline.commands.console import count_of, out, printable

    console = out()
    plan = standing.plan
    judged = bool(standing.products)
    several = len(plan.groups) > 1
    table = Table(box=None, header_style="bold", pad_edge=False)
    headings = ["member", *(["language"] if several else []), "seconds", "bits", "agreement"]
    headings += ["AUC x C@1", "adds"] if judged else []
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "language" else "right")
    table.add_column("settings that differ from the default")
    for row in standing.members:
        cells = [str(row.place + 1), *([printable(row.language)] if several else []), f"{row.seconds:.1f}"]
        cells += [_figure(row.bits, ".2f"), _figure(row.agreement)]
        cells += [_figure(row.product), _figure(row.adds, "+.3f")] if judged else []
        table.add_row(*cells, _odd(row.member.settings, row.member.seed))
    console.print(table)
    finished = Counter(row.place for row in standing.members)
    done = sum(number == len(plan.groups) for number in finished.values())
    console.print(f"\npreset {printable(plan.preset)}: {done} of {count_of(len(plan.members), 'member')} done")
    for language, product in standing.products.items():
        own = [row.product for row in standing.members if row.language == language and row.product is not None]
        console.print(
            f"{printable(language)}: AUC x C@1 of all {product:.3f}, mean of the members' own {sum(own) / len(own):.3f}"
        )
    if standing.mean_adds is not None:
        console.print(f"a member adds {standing.mean_adds:+.3f} on the mean (all members less all but that one)")
    console.print("agreement: rank correlation of a member's scores with the mean of the others'", style="dim")


def _figure(value: float | None, form: str = ".3f") -> str:
    return "-" if value is None else format(value, form)


def _odd(settings: Settings, seed: int) -> str:
    odd = [f"{key} {value}" for key, value in settings.changes().items()]
    return ", ".join([*odd, *([f"seed {seed}"] if seed else [])]) or "none"

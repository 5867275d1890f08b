"""`byline runs`: the members of a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from byline.cli.console import count_of, out, print_json, printable
from byline.corpora.answers import read_truth
from byline.runs.run import RunAgreement, examine_run
from byline.settings.settings import Settings


def show_command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run (byline verify -o).")],
    truth: Annotated[
        Path | None, typer.Option(metavar="TRUTH", help="Truth file or folder, to measure what each member adds.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Show a run's members: settings, time, agreement with the others and, with the truth, what each adds.

    Example: byline runs show out/ --truth pan15-english/
    """
    agreement = examine_run(run, read_truth(truth) if truth is not None else None)
    if as_json:
        print_json(to_json(agreement))
    else:
        print_agreement(agreement)


def to_json(agreement: RunAgreement) -> dict[str, object]:
    """Return what --json prints."""
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
    table = Table(box=None, header_style="bold", pad_edge=False)
    headings = ["member", *(["language"] if several else []), "seconds", "bits", "agreement"]
    headings += ["AUC x C@1", "adds"] if judged else []
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "language" else "right")
    table.add_column("settings that differ from the default")
    for row in agreement.members:
        cells = [str(row.place + 1), *([printable(row.language)] if several else []), f"{row.seconds:.1f}"]
        cells += [_number(row.bits, ".2f"), _number(row.agreement)]
        cells += [_number(row.product), _number(row.adds, "+.3f")] if judged else []
        table.add_row(*cells, _changed_settings(row.member.settings, row.member.seed))
    console.print(table)
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

"""`byline calibrate`: a corpus with its truth, or author folders -> what turns scores into likelihood ratios."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from byline.commands import options
from byline.stopping import exit_code

if TYPE_CHECKING:
    from byline.calibration import Calibration


def calibrate_command(
    context: typer.Context,
    corpus: Annotated[
        Path,
        typer.Argument(metavar="CORPUS", help="A folder of problems with its truth, or a folder of authors' folders."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE.json", help="Where the calibration goes.")],
    truth: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The truth, if it is not in the corpus's folder.")
    ] = None,
    preset: options.Preset = None,
    members: options.Members = None,
    budget: options.Budget = None,
    engines: options.Engines = None,
    mask: options.Mask = None,
    seed: options.Seed = 0,
    set_: options.Assignments = None,
    settings_file: options.SettingsFile = None,
    interpret: options.Interpret = None,
    reference: options.ReferencePath = None,
    language: options.Language = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file that is there, and begin anew.")
    ] = False,
    workers: options.Workers = None,
    quiet: options.Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the calibration as JSON.")] = False,
) -> None:
    """Fit what turns scores into likelihood ratios, on problems like those that are to be answered.

    The same preset, engines, mask and interpretation must be used with it later. Stopped, the same command goes on.

    Example: byline calibrate pan14-english/ -o cal.json
    """
    if members is not None and budget is not None:
        context.fail("give --members or --budget, not both")
    if preset is not None and settings_file is not None:
        context.fail("give --preset or --settings, not both")

    from byline.calibrating import calibrate
    from byline.calibration import write_calibration
    from byline.cases import make_cases
    from byline.commands.console import print_json
    from byline.commands.places import require_free
    from byline.commands.progress import reporting
    from byline.ensemble import parse_duration
    from byline.errors import RunError
    from byline.preparation import holds_problems
    from byline.problems import read_problems
    from byline.reference import read_reference
    from byline.runs import remove_run, require_own
    from byline.truth import read_truth

    if output.exists() and (not overwrite or output.is_dir()):
        raise RunError(f"{output}: exists already; choose another name, or replace it by --overwrite")
    require_free(output, overwrite, [corpus, truth, reference, settings_file])
    work = output.with_name(f"{output.name}.run")
    require_own(work)
    if holds_problems(corpus):
        problems, known_truth = read_problems(corpus, language), read_truth(truth or corpus)
    elif truth is not None:
        raise RunError(
            f"{corpus}: holds no problems, so --truth is of nothing; leave it out to make cases of its authors"
        )
    else:
        problems, known_truth = make_cases(corpus, language, seed)
    pool = options.choose_pool(preset, settings_file, set_ or [], None, engines, mask, reference is not None)
    begin = time.perf_counter()
    try:
        with reporting(quiet) as report:
            fitted = calibrate(
                problems, known_truth, pool, work,
                corpus.resolve().name, members=members, budget=parse_duration(budget) if budget is not None else None,
                seed=seed, interpret=options.as_interpretation(interpret), workers=workers, report=report,
                reference=read_reference(reference, language) if reference is not None else None, overwrite=overwrite,
            )  # fmt: skip
    except KeyboardInterrupt:
        print("byline: interrupted; the same command goes on", file=sys.stderr)
        raise typer.Exit(exit_code()) from None
    write_calibration(output, fitted)
    remove_run(work)
    if as_json:
        print_json(asdict(fitted))
    else:
        print_calibration(fitted, output, time.perf_counter() - begin)


def print_calibration(calibration: Calibration, output: Path, seconds: float) -> None:
    """What was fitted, on what, and how good it is."""
    from byline.commands.console import count_of, out, printable
    from byline.likelihood import times

    console = out()
    console.print(f"Calibration of {calibration.interpretation} scores of {', '.join(calibration.engines)}")
    console.print(
        f"fitted on {count_of(calibration.problems, 'problem')} of {count_of(calibration.texts, 'text')}"
        f" ({', '.join(printable(name) for name in calibration.corpora)}), {seconds:.1f} s"
    )
    held = "any text" if calibration.folds_by == "texts" else "an unknown text"
    console.print(
        f"Cllr {calibration.cllr:.3f} on problems that were held out (folds never share {held});"
        f" the best that order allows is {calibration.cllr_min:.3f}; 1 is what saying nothing costs"
    )
    same, different = calibration.caps
    console.print(
        f"Ratios up to {times(same)} for the same author (LLR {same:.2f}) and {times(different)} for different ones"
        f" (LLR {different:.2f}): the problems that were held out bear out no more"
    )
    if calibration.slope == 0:
        console.print("Scores say nothing of the truth here: every answer will be undecided.", style="yellow")
    beside = " --reference ..." if calibration.interpretation == "cohort" else ""
    console.print(f"Written to {output}; use it with byline verify ...{beside} --calibration {output}")
    if not beside:
        console.print("It holds for problems that are compared with each other; for a --reference, calibrate with it.")

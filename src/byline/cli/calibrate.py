"""`byline calibrate`: fit a calibration, which turns scores into likelihood ratios, on problems with known truth."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import byline
from byline.cli import options
from byline.cli.console import count_of, out, print_json, printable
from byline.corpora.problems import holds_problems
from byline.errors import OVERWRITE, RunError
from byline.storage.process import exit_code


@options.with_groups
def calibrate_command(
    context: typer.Context,
    corpus: Annotated[
        Path,
        typer.Argument(metavar="CORPUS", help="A folder of problems with its truth, or a folder of authors' folders."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE.json", help="The calibration file to write.")],
    member: options.MemberOptions,
    truth: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The truth file, if it is not in the corpus.")
    ] = None,
    interpret: options.Interpret = None,
    reference: options.ReferencePath = None,
    language: options.Language = None,
    overwrite: options.Overwrite = False,
    workers: options.Workers = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Fit a calibration, which turns scores into likelihood ratios, on problems like those to be answered.

    Use it later with the same preset, engines, mask and interpretation. If interrupted, run the same command again.

    Example: byline calibrate pan14-english/ -o cal.json
    """
    from byline.cli.progress import reporting
    from byline.runs.folder import remove_run, require_run_folder
    from byline.tasks.calibrate import make_solved_cases

    member.check(context)
    if output.exists() and (not overwrite or output.is_dir()):
        raise RunError("exists already", where=output, remedy=OVERWRITE)
    options.require_free(output, overwrite, [corpus, truth, reference, *member.input_files])
    work = output.with_name(f"{output.name}.run")
    require_run_folder(work, overwrite=True)
    if holds_problems(corpus):
        problems, known_truth = byline.read_problems(corpus, language), byline.read_truth(truth or corpus)
    elif truth is not None:
        raise RunError("holds author folders, which need no truth file", where=corpus, remedy="Leave out {truth}")
    else:
        problems, known_truth = make_solved_cases(corpus, language, member.seed)
    pool = member.read_pool(reference is not None)
    begin = time.perf_counter()
    try:
        with reporting(quiet) as report:
            fitted = byline.calibrate(
                problems, known_truth, pool, work,
                corpus.resolve().name, members=member.members, budget=member.seconds, seed=member.seed,
                interpret=interpret, execution=byline.Execution(workers, report=report), overwrite=overwrite,
                reference=None if reference is None else byline.read_reference(reference, language),
            )  # fmt: skip
    except KeyboardInterrupt:
        print("byline: interrupted; run the same command again to continue", file=sys.stderr)
        raise typer.Exit(exit_code()) from None
    byline.write_calibration(output, fitted)
    remove_run(work)
    if as_json:
        print_json(asdict(fitted))
    else:
        print_calibration(fitted, output, time.perf_counter() - begin)


def print_calibration(calibration: byline.Calibration, output: Path, seconds: float) -> None:
    """Print what the calibration was fitted on and how good it is."""
    from byline.judgment.likelihood_ratio import format_ratio

    console = out()
    console.print(f"Calibration of {calibration.interpretation} scores of {', '.join(calibration.engines)}")
    console.print(
        f"fitted on {count_of(calibration.problems, 'problem')} of {count_of(calibration.texts, 'text')}"
        f" ({', '.join(printable(name) for name in calibration.corpora)}), {seconds:.1f} s"
    )
    held = "any text" if calibration.folds_by == "texts" else "an unknown text"
    console.print(
        f"Cllr {calibration.cllr:.3f} on held-out problems (folds never share {held});"
        f" the minimum for these scores is {calibration.cllr_min:.3f}, and 1 is the cost of no answer"
    )
    same, different = calibration.caps
    console.print(
        f"Bounds: {format_ratio(same)} for the same author (LLR {same:.2f}) and {format_ratio(different)} for different"
        f" authors (LLR {different:.2f}), the largest ratios that the held-out problems support"
    )
    if calibration.slope == 0:
        console.print("The scores do not separate the truths: every answer will be undecided.", style="yellow")
    beside = " --reference ..." if calibration.interpretation == "cohort" else ""
    console.print(f"Written to {output}; use it with byline verify ...{beside} --calibration {output}")
    if not beside:
        console.print(
            "It applies to problems compared with each other. To use --reference later, calibrate with --reference."
        )

"""`byline verify`: a folder of problems, or one question -> answers."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from byline.commands import options
from byline.commands.asking import check_single, one_input
from byline.stopping import exit_code


def verify_command(
    context: typer.Context,
    problems: Annotated[
        list[Path] | None, typer.Argument(metavar="INPUT", help="A PAN folder of problems, or a pairs.jsonl file.")
    ] = None,
    input_: Annotated[
        Path | None, typer.Option("-i", "--input", metavar="INPUT", help="The same, as PAN calls it.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="OUT", help="Folder for answers.txt or answers.jsonl.")
    ] = None,
    known: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE...", help="One question instead: texts whose author is known."),
    ] = None,
    unknown: Annotated[Path | None, typer.Option(metavar="FILE", help="And the text in question.")] = None,
    preset: options.Preset = None,
    members: options.Members = None,
    budget: options.Budget = None,
    engines: options.Engines = None,
    mask: options.Mask = None,
    mask_shared: Annotated[
        bool,
        typer.Option(
            "--mask-shared",
            help="Leave passages that both sides of a problem share out of its texts.",
            rich_help_panel=options.MEMBERS,
        ),
    ] = False,
    seed: options.Seed = 0,
    control: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Other texts of the same language: a control corpus.",
            rich_help_panel=options.MEMBERS,
        ),
    ] = None,
    control_heads: Annotated[
        str | None,
        typer.Option(
            metavar="one|each",
            help="The control corpus trains one head, or a head each.",
            rich_help_panel=options.MEMBERS,
        ),
    ] = None,
    set_: options.Assignments = None,
    settings_file: options.SettingsFile = None,
    interpret: options.Interpret = None,
    reference: options.ReferencePath = None,
    calibration: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="What byline calibrate wrote, instead of the built-in calibration.",
            rich_help_panel=options.ANSWERS,
        ),
    ] = None,
    prior: Annotated[
        float,
        typer.Option(
            help="Probability of the same author before the texts are looked at.", rich_help_panel=options.ANSWERS
        ),
    ] = 0.5,
    language: options.Language = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in OUT that was stopped.", rich_help_panel=options.RUN)
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what OUT holds already.", rich_help_panel=options.RUN)
    ] = False,
    skip_bad: options.SkipBad = False,
    no_evidence: Annotated[
        bool,
        typer.Option(
            "--no-evidence", help="Don't keep the texts and what speaks in them.", rich_help_panel=options.RUN
        ),
    ] = False,
    no_models: Annotated[
        bool, typer.Option("--no-models", help="Don't keep the trained networks.", rich_help_panel=options.RUN)
    ] = False,
    trace: Annotated[
        bool,
        typer.Option("--trace", help="Keep each member's answers after each sub-epoch.", rich_help_panel=options.RUN),
    ] = False,
    workers: options.Workers = None,
    cluster: options.Cluster = None,
    quiet: options.Quiet = False,
    log: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Append what happens to a file as JSON lines.", rich_help_panel=options.RUN),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answers and how they came about as JSON.")] = False,
) -> None:
    """Answer verification problems: did the author of the known texts write the unknown one?

    Example: byline verify pan15-english/ -o out/ --budget 10m

    One question: byline verify --known a.txt b.txt --unknown q.txt --reference texts/
    """
    asked = problems or []
    single = known is not None or unknown is not None
    if single:
        check_single(context, asked, known, unknown, input_, reference)
    else:
        chosen = one_input(context, asked, input_)
    if output is None and not as_json and not single:
        context.fail("say where the answers go with -o OUT, or print them with --json")
    if output is None and (resume or trace):
        context.fail("--resume and --trace need -o OUT")
    if resume and overwrite:
        context.fail("give --resume or --overwrite, not both")
    _check_members(context, members, budget, preset, settings_file, control, control_heads, set_ or [])

    from byline.calibration import UnfitError, read_calibration
    from byline.commands.answers import print_verification, verification_json
    from byline.commands.console import print_json
    from byline.commands.given import given_words
    from byline.commands.places import require_no_input
    from byline.commands.progress import reporting
    from byline.ensemble import parse_duration
    from byline.execution import Interrupted
    from byline.outputs import Output
    from byline.problems import read_question
    from byline.reference import read_reference
    from byline.verification import verify

    pool = options.choose_pool(preset, settings_file, set_ or [], control_heads, engines, mask, reference is not None)
    fitted = read_calibration(calibration) if calibration is not None else None
    seconds_allowed = parse_duration(budget) if budget is not None else None
    place = None
    if output is not None:
        words = given_words(context)
        place = Output(output, resume, overwrite, not no_models, trace, not no_evidence, words)
    if place:
        place.check()
    if log is not None:
        read = [*asked, *(known or []), input_, unknown, control, reference, calibration, settings_file]
        require_no_input(log, read)
    begin = time.perf_counter()
    population = read_reference(reference, language) if reference is not None else None
    question = read_question([*(known or []), *asked], unknown, population.language) if population and unknown else None
    interrupted = False
    try:
        with reporting(quiet, log) as report:
            result = verify(
                question or chosen, pool, members=members, budget=seconds_allowed, seed=seed,
                interpret=options.as_interpretation(interpret), prior=prior, calibration=fitted, control=control or (),
                reference=population, language=language, skip_bad=skip_bad, mask_shared=mask_shared,
                keep=place.keep if place else None, workers=workers, cluster=cluster,
                report=report,
            )  # fmt: skip
    except UnfitError as error:
        raise UnfitError(f"{calibration}: {error}") from None
    except Interrupted as stopped:
        if stopped.result is None:
            _say_how_to_go_on(output, 0)
            raise typer.Exit(exit_code()) from None
        result, interrupted = stopped.result, True
    seconds = time.perf_counter() - begin
    if place:
        place.write(result)
    if as_json:
        print_json({**verification_json(result, seconds, question), "interrupted": interrupted})
    else:
        print_verification(result, seconds, output, question)
    if interrupted:
        _say_how_to_go_on(output, min(run.members for run in result.runs))
        raise typer.Exit(exit_code())


def _check_members(
    context: typer.Context,
    members: int | None,
    budget: str | None,
    preset: str | None,
    settings_file: Path | None,
    control: Path | None,
    control_heads: str | None,
    assignments: list[str],
) -> None:
    """Refuse options that contradict each other in which members there are."""
    if members is not None and budget is not None:
        context.fail("give --members or --budget, not both")
    if preset is not None and settings_file is not None:
        context.fail("give --preset or --settings, not both")
    if control_heads not in (None, "one", "each"):
        context.fail(f"--control-heads must be one or each, got {control_heads}")
    if control_heads is not None and any(word.partition("=")[0].strip() == "control" for word in assignments):
        context.fail("give --control-heads or --set control=..., not both")
    if control_heads is not None and control is None:
        context.fail("--control-heads says what becomes of a control corpus; give one with --control DIR")


def _say_how_to_go_on(output: Path | None, members: int) -> None:
    import sys

    from byline.commands.console import count_of

    answers = f"; these are the answers of {count_of(members, 'member')}" if members else "; no member is done yet"
    go_on = "; the same command with --resume goes on" if output is not None else ""
    print(f"byline: interrupted{answers}{go_on}", file=sys.stderr)

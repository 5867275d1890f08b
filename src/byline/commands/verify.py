"""`byline verify`: a folder of problems -> answers."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from byline.errors import SettingsError
from byline.settings import MOST_MEMBERS, Interpretation, parse_assignments, read_settings

if TYPE_CHECKING:
    from byline.execution import Event
    from byline.pools import Pool

INTERRUPTED = 130
MEMBERS_PANEL, ANSWERS_PANEL, RUN_PANEL = "Members", "Answers", "The run"


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
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE.toml",
            help="Which members, see byline presets; without it, best.",
            rich_help_panel=MEMBERS_PANEL,
        ),
    ] = None,
    members: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_MEMBERS,
            help="How many trainings are averaged; without it, the preset says.",
            rich_help_panel=MEMBERS_PANEL,
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Instead: as many as fit a time, such as 90s, 10m, 1h30m.",
            rich_help_panel=MEMBERS_PANEL,
        ),
    ] = None,
    engines: Annotated[
        str | None,
        typer.Option(
            metavar="rnn,ngram,vectors",
            help="Only the preset's members of these engines.",
            rich_help_panel=MEMBERS_PANEL,
        ),
    ] = None,
    mask: Annotated[
        str | None,
        typer.Option(
            metavar="topic|none",
            help="Replace content words in all members, for texts on different topics; or in none.",
            rich_help_panel=MEMBERS_PANEL,
        ),
    ] = None,
    interpret: Annotated[
        str | None,
        typer.Option(
            metavar="rank|relative",
            help="How their scores are read; without it, the preset says.",
            rich_help_panel=ANSWERS_PANEL,
        ),
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="What byline calibrate wrote, instead of the built-in calibration.",
            rich_help_panel=ANSWERS_PANEL,
        ),
    ] = None,
    prior: Annotated[
        float,
        typer.Option(
            help="Probability of the same author before the texts are looked at.", rich_help_panel=ANSWERS_PANEL
        ),
    ] = 0.5,
    seed: Annotated[
        int, typer.Option(min=0, help="The same seed gives the same answers.", rich_help_panel=MEMBERS_PANEL)
    ] = 0,
    control: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Other texts of the same language: a control corpus.", rich_help_panel=MEMBERS_PANEL
        ),
    ] = None,
    control_heads: Annotated[
        str | None,
        typer.Option(
            metavar="one|each",
            help="The control corpus trains one head, or a head each.",
            rich_help_panel=MEMBERS_PANEL,
        ),
    ] = None,
    language: Annotated[str | None, typer.Option(help="Language of all problems, instead of what they say.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of all members; may be given many times.",
            rich_help_panel=MEMBERS_PANEL,
        ),
    ] = None,
    settings_file: Annotated[
        Path | None,
        typer.Option(
            "--settings",
            metavar="FILE.toml",
            help="One member's settings, instead of a preset.",
            rich_help_panel=MEMBERS_PANEL,
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in OUT that was stopped.", rich_help_panel=RUN_PANEL)
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what OUT holds already.", rich_help_panel=RUN_PANEL)
    ] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Answer bad problems 0.5 instead of refusing.")] = False,
    no_models: Annotated[
        bool, typer.Option("--no-models", help="Don't keep the trained networks.", rich_help_panel=RUN_PANEL)
    ] = False,
    trace: Annotated[
        bool,
        typer.Option("--trace", help="Keep each member's answers after each sub-epoch.", rich_help_panel=RUN_PANEL),
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Trainings side by side; without it, one for each core.", rich_help_panel=RUN_PANEL),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="tcp://HOST:PORT", help="Train on the Dask cluster of that scheduler.", rich_help_panel=RUN_PANEL
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress on stderr.", rich_help_panel=RUN_PANEL)
    ] = False,
    log: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Append what happens to a file as JSON lines.", rich_help_panel=RUN_PANEL),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answers and how they came about as JSON.")] = False,
) -> None:
    """Answer verification problems: did the author of the known texts write the unknown one?

    Example: byline verify pan15-english/ -o out/ --budget 10m
    """
    chosen = _one_input(context, problems, input_)
    if output is None and not as_json:
        context.fail("say where the answers go with -o OUT, or print them with --json")
    if output is None and (resume or trace):
        context.fail("--resume and --trace need -o OUT")
    if members is not None and budget is not None:
        context.fail("give --members or --budget, not both")
    if preset is not None and settings_file is not None:
        context.fail("give --preset or --settings, not both")
    if control_heads not in (None, "one", "each"):
        context.fail(f"--control-heads must be one or each, got {control_heads}")
    if control_heads is not None and any(word.partition("=")[0].strip() == "control" for word in set_ or []):
        context.fail("give --control-heads or --set control=..., not both")
    if control_heads is not None and control is None:
        context.fail("--control-heads says what becomes of a control corpus; give one with --control DIR")
    if resume and overwrite:
        context.fail("give --resume or --overwrite, not both")

    from byline import answers
    from byline.calibration import read_calibration
    from byline.commands.answers import print_summary, to_json
    from byline.commands.console import print_json
    from byline.commands.progress import reporting
    from byline.ensemble import parse_duration
    from byline.execution import Interrupted, Keep, Planned
    from byline.runs import FOLDER, is_run
    from byline.verification import verify

    pool = choose_pool(preset, settings_file, set_ or [], control_heads, engines, mask)
    fitted = read_calibration(calibration) if calibration is not None else None
    seconds_allowed = parse_duration(budget) if budget is not None else None
    if output is not None:
        begun = is_run(output / FOLDER)
        answers.check_output(output, overwrite or (resume and begun), "go on with its run by --resume" if begun else "")
    keep = Keep(output / FOLDER, resume, overwrite, not no_models, trace) if output is not None else None
    begin = time.perf_counter()
    interrupted = False
    try:
        with reporting(quiet, log) as show:

            def report(event: Event) -> None:
                if isinstance(event, Planned) and overwrite and output is not None:
                    answers.remove_answers(output)  # they are not this run's
                show(event)

            result = verify(
                chosen, pool, members=members, budget=seconds_allowed, seed=seed,
                interpret=as_interpretation(interpret), prior=prior, calibration=fitted, control=control or (),
                language=language, skip_bad=skip_bad, keep=keep, workers=workers, cluster=cluster, report=report,
            )  # fmt: skip
    except Interrupted as stopped:
        if stopped.result is None:
            _say_how_to_go_on(output, 0)
            raise typer.Exit(INTERRUPTED) from None
        result, interrupted = stopped.result, True
    seconds = time.perf_counter() - begin
    if output is not None:
        answers.write_answers(output, result.answers, result.layout)
    if as_json:
        print_json({**to_json(result, seconds), "interrupted": interrupted})
    else:
        print_summary(result, seconds, output)
    if interrupted:
        _say_how_to_go_on(output, min(run.members for run in result.runs))
        raise typer.Exit(INTERRUPTED)


def _one_input(context: typer.Context, argument: Path | None, option: Path | None) -> Path:
    if argument is not None and option is not None:
        context.fail("INPUT is given twice; give it once, as an argument or with -i")
    chosen = argument if argument is not None else option
    if chosen is None:
        context.fail("INPUT is missing; name a folder of problems or a pairs.jsonl file")
    return chosen


def as_interpretation(word: str | None) -> Interpretation | None:
    """The interpretation of that name."""
    if word is not None and word not in get_args(Interpretation):
        raise SettingsError(f"--interpret must be one of {', '.join(get_args(Interpretation))}, got {word}")
    return cast("Interpretation | None", word)


def choose_pool(
    preset: str | None,
    settings_file: Path | None,
    assignments: list[str],
    control_heads: str | None = None,
    engines: str | None = None,
    mask: str | None = None,
) -> Pool:
    """The pool that the options mean; members without a control corpus stay without."""
    from byline.pools import pool_of, read_pool

    if settings_file is not None:
        pool = pool_of(read_settings(settings_file))
    else:
        pool = read_pool(preset if preset is not None else "best")
    if engines is not None:
        pool = pool.only([name.strip() for name in engines.split(",") if name.strip()])
    pool = pool.change(parse_assignments(assignments))
    if mask is not None:
        pool = pool.change({"mask": mask})
    if control_heads is not None:
        rows = (row if row.control == "none" else row.change({"control": control_heads}) for row in pool.rows)
        pool = dataclasses.replace(pool, rows=tuple(rows))
    return pool


def _say_how_to_go_on(output: Path | None, members: int) -> None:
    import sys

    from byline.commands.console import count_of

    answers = f"; these are the answers of {count_of(members, 'member')}" if members else "; no member is done yet"
    go_on = "; the same command with --resume goes on" if output is not None else ""
    print(f"byline: interrupted{answers}{go_on}", file=sys.stderr)

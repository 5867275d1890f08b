"""`byline verify`: a folder of problems, or one question -> answers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from byline.commands import options

if TYPE_CHECKING:
    from byline.execution import Event

INTERRUPTED = 130
WORDS = "byline.words"


class WithWords(TyperCommand):
    """A command that can look at its words as they were given: which file stands after which option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the words, then parse them as ever."""
        ctx.meta[WORDS] = tuple(args)
        return super().parse_args(ctx, args)


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
        _check_single(context, asked, known, unknown, input_, reference)
    else:
        chosen = _one_input(context, asked, input_)
    if output is None and not as_json and not single:
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
    from byline.calibration import UnfitError, read_calibration
    from byline.commands.answers import (
        fitness_json,
        print_fitness,
        print_question,
        print_summary,
        question_json,
        to_json,
    )
    from byline.commands.console import print_json
    from byline.commands.progress import reporting
    from byline.ensemble import parse_duration
    from byline.execution import Interrupted, Keep, Planned
    from byline.problems import read_question
    from byline.reference import check_reference, read_reference
    from byline.runs import FOLDER, is_run
    from byline.verification import verify

    pool = options.choose_pool(preset, settings_file, set_ or [], control_heads, engines, mask, reference is not None)
    fitted = read_calibration(calibration) if calibration is not None else None
    seconds_allowed = parse_duration(budget) if budget is not None else None
    if output is not None:
        begun = is_run(output / FOLDER)
        answers.check_output(output, overwrite or (resume and begun), "go on with its run by --resume" if begun else "")
    evidence = not no_evidence
    keep = Keep(output / FOLDER, resume, overwrite, not no_models, trace, evidence) if output is not None else None
    begin = time.perf_counter()
    population = read_reference(reference, language) if reference is not None else None
    question = read_question([*(known or []), *asked], unknown, population.language) if population and unknown else None
    source = question or chosen
    interrupted = False
    try:
        with reporting(quiet, log) as show:

            def report(event: Event) -> None:
                if isinstance(event, Planned) and overwrite and output is not None:
                    answers.remove_answers(output)  # they are not this run's
                show(event)

            result = verify(
                source, pool, members=members, budget=seconds_allowed, seed=seed,
                interpret=options.as_interpretation(interpret), prior=prior, calibration=fitted, control=control or (),
                reference=population, language=language, skip_bad=skip_bad, keep=keep, workers=workers,
                cluster=cluster, report=report,
            )  # fmt: skip
    except UnfitError as error:
        raise UnfitError(f"{calibration}: {error}") from None
    except Interrupted as stopped:
        if stopped.result is None:
            _say_how_to_go_on(output, 0)
            raise typer.Exit(INTERRUPTED) from None
        result, interrupted = stopped.result, True
    seconds = time.perf_counter() - begin
    if output is not None:
        answers.write_answers(output, result.answers, result.layout)
    check = check_reference(population, result.problems) if population else None
    if as_json:
        fitness = {"reference": fitness_json(check)} if check else {}
        print_json({**to_json(result, seconds), **question_json(question), **fitness, "interrupted": interrupted})
    else:
        if question:
            print_question(question)
        print_summary(result, seconds, output)
        if check:
            print_fitness(check)
    if interrupted:
        _say_how_to_go_on(output, min(run.members for run in result.runs))
        raise typer.Exit(INTERRUPTED)


def _one_input(context: typer.Context, arguments: list[Path], option: Path | None) -> Path:
    if len(arguments) + (option is not None) > 1:
        context.fail("INPUT is given twice; give it once, as an argument or with -i")
    chosen = arguments[0] if arguments else option
    if chosen is None:
        context.fail("INPUT is missing; name a folder of problems or a pairs.jsonl file")
    return chosen


def _check_single(
    context: typer.Context,
    asked: Sequence[Path],
    known: list[Path] | None,
    unknown: Path | None,
    input_: Path | None,
    reference: Path | None,
) -> None:
    if not known or unknown is None:
        context.fail("one question needs both --known FILE... and --unknown FILE")
    if input_ is not None or any(path.is_dir() or path.suffix.lower() == ".jsonl" for path in asked):
        context.fail("give a folder of problems, or one question with --known and --unknown, not both")
    words = context.meta.get(WORDS, ())
    if sum(word.partition("=")[0] == "--unknown" for word in words) > 1:
        context.fail("--unknown is given twice; one question has one unknown text")
    if stray := Counter(map(str, asked)) - Counter(_after_known(words)):
        context.fail(f"{next(iter(stray))}: known or unknown? Known texts stand after --known, and one after --unknown")
    if reference is None:
        context.fail("one question alone has nothing to be compared with; give texts by other people with --reference")


def _after_known(words: Sequence[str]) -> list[str]:
    """The files that stand after --known FILE, before another option."""
    found: list[str] = []
    taken: int | None = None  # words after the last --known that are its own value; None after another option
    for word in words:
        if word.startswith("-") and word != "-":
            name, equals, _ = word.partition("=")
            taken = (0 if equals else 1) if name == "--known" else None
        elif taken:
            taken -= 1
        elif taken == 0:
            found.append(word)
    return found


def _say_how_to_go_on(output: Path | None, members: int) -> None:
    import sys

    from byline.commands.console import count_of

    answers = f"; these are the answers of {count_of(members, 'member')}" if members else "; no member is done yet"
    go_on = "; the same command with --resume goes on" if output is not None else ""
    print(f"byline: interrupted{answers}{go_on}", file=sys.stderr)

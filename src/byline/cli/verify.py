"""`byline verify`: a folder of problems, or one question -> answers."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, cast

import typer

from byline.cli import options
from byline.cli.answers import print_verification, verification_json
from byline.cli.console import count_of, print_json
from byline.cli.files import given_command, require_no_input
from byline.cli.progress import reporting
from byline.corpora.problems import read_problems, read_question
from byline.corpora.reference_building import read_reference
from byline.judgment.calibration import MismatchError, read_calibration
from byline.runs.executor import Execution, Interrupted
from byline.runs.folder import FOLDER, RunOutput
from byline.runs.request import JudgmentRequest
from byline.storage.process import exit_code
from byline.tasks.verify import verify


@dataclass(frozen=True)
class QuestionOptions:
    """What is asked: a folder of problems, or one question."""

    problems: Annotated[
        Path | None, typer.Argument(metavar="INPUT", help="A PAN folder of problems, or a pairs.jsonl file.")
    ] = None
    input_: Annotated[
        Path | None, typer.Option("-i", "--input", metavar="INPUT", help="The same, as PAN calls it.")
    ] = None
    known: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE...", help="One question instead: texts whose author is known."),
    ] = None
    unknown: Annotated[list[Path] | None, typer.Option(metavar="FILE", help="The text in question.")] = None
    control: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Other texts of the same language: a control corpus.", rich_help_panel=options.MEMBERS
        ),
    ] = None
    control_heads: Annotated[
        str | None,
        typer.Option(
            metavar="one|each",
            help="Train one head on the control corpus, or one per text.",
            rich_help_panel=options.MEMBERS,
            autocompletion=options.one_of(("one", "each")),
        ),
    ] = None
    reference: options.ReferencePath = None
    language: options.Language = None
    skip_bad: options.SkipBad = False
    mask_shared: Annotated[
        bool,
        typer.Option(
            "--mask-shared",
            help="Leave out passages that both sides of a problem share.",
            rich_help_panel=options.MEMBERS,
        ),
    ] = False

    @property
    def single(self) -> bool:
        """Whether one question is asked."""
        return self.known is not None or self.unknown is not None

    def check(self, context: typer.Context, assignments: Sequence[str]) -> None:
        """Refuse options that contradict each other."""
        given = [path for path in (self.problems, self.input_) if path is not None]
        if self.single:
            if not self.known or not self.unknown:
                context.fail("one question needs both --known FILE... and --unknown FILE")
            if len(self.unknown) > 1:
                context.fail("--unknown is given twice; one question has one unknown text")
            if given:
                context.fail("give a folder of problems, or one question with --known and --unknown, not both")
            if self.reference is None:
                context.fail("one question needs texts by other people to compare with; give them with --reference")
        elif len(given) > 1:
            context.fail("INPUT is given twice; give it once, as an argument or with -i")
        elif not given:
            context.fail("INPUT is missing; name a folder of problems or a pairs.jsonl file")
        if self.control_heads not in (None, "one", "each"):
            context.fail(f"--control-heads must be one or each, got {self.control_heads}")
        if self.control_heads is not None and any(word.partition("=")[0].strip() == "control" for word in assignments):
            context.fail("give --control-heads or --set control=..., not both")
        if self.control_heads is not None and self.control is None:
            context.fail("--control-heads needs a control corpus; give one with --control DIR")

    @property
    def paths(self) -> list[Path | None]:
        """All files and folders that are read."""
        files = [*(self.known or []), *(self.unknown or [])]
        return [*files, self.problems, self.input_, self.control, self.reference]


@dataclass(frozen=True)
class AnswerOptions:
    """How scores become answers."""

    interpret: options.Interpret = None
    calibration: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="A calibration written by byline calibrate, instead of the built-in one.",
            rich_help_panel=options.ANSWERS,
        ),
    ] = None
    prior: Annotated[
        float,
        typer.Option(
            help="Probability of the same author before the texts are compared.", rich_help_panel=options.ANSWERS
        ),
    ] = 0.5


@dataclass(frozen=True)
class RunOptions:
    """How the run is carried out and kept."""

    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="OUT", help="Folder for the answers and the run.")
    ] = None
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the interrupted run in OUT.", rich_help_panel=options.RUN)
    ] = False
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what OUT holds.", rich_help_panel=options.RUN)
    ] = False
    no_evidence: Annotated[
        bool,
        typer.Option(
            "--no-evidence", help="Don't keep the texts and the evidence in them.", rich_help_panel=options.RUN
        ),
    ] = False
    trace: Annotated[
        bool,
        typer.Option("--trace", help="Keep each member's answers after each sub-epoch.", rich_help_panel=options.RUN),
    ] = False
    workers: options.Workers = None
    cluster: options.Cluster = None
    quiet: options.Quiet = False
    log: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Append events to this file as JSON lines.", rich_help_panel=options.RUN),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print the answers and how they were made as JSON.")] = False

    def check(self, context: typer.Context, single: bool) -> None:
        """Refuse options that contradict each other."""
        if self.output is None and not self.as_json and not single:
            context.fail("say where the answers go with -o OUT, or print them with --json")
        if self.output is None and (self.resume or self.trace):
            context.fail("--resume and --trace need -o OUT")
        if self.resume and self.overwrite:
            context.fail("give --resume or --overwrite, not both")


@options.with_groups
def verify_command(
    context: typer.Context,
    question: QuestionOptions,
    member: options.MemberOptions,
    answer: AnswerOptions,
    run: RunOptions,
) -> None:
    """Answer verification problems: did the author of the known texts write the unknown one?

    Example: byline verify pan15-english/ -o out/ --budget 10m

    One question: byline verify --known a.txt b.txt --unknown q.txt --reference texts/
    """
    question.check(context, member.set_ or [])
    run.check(context, question.single)
    member.check(context)
    pool = member.read_pool(question.reference is not None, question.control_heads)
    calibration = None if answer.calibration is None else read_calibration(answer.calibration)
    judgment = JudgmentRequest(options.as_interpretation(answer.interpret), answer.prior, calibration)
    place = None
    if run.output is not None:
        command = tuple(given_command(context))
        place = RunOutput(
            run.output / FOLDER, run.resume, run.overwrite, run.trace, not run.no_evidence, command, answers=True
        )
        place.check_answers()
    if run.log is not None:
        require_no_input(run.log, [*question.paths, answer.calibration, *member.input_files])
    begin = time.perf_counter()
    reference = None if question.reference is None else read_reference(question.reference, question.language)
    asked = None
    if reference is not None and question.known and question.unknown:
        asked = read_question(question.known, question.unknown[0], reference.language)
    problems = asked or read_problems(cast(Path, question.problems or question.input_), question.language)
    interrupted = False
    try:
        with reporting(run.quiet, run.log) as report:
            result = verify(
                problems, pool, members=member.members, budget=member.seconds, seed=member.seed, reference=reference,
                control=question.control or (), judgment=judgment, skip_bad=question.skip_bad,
                mask_shared=question.mask_shared, output=place, execution=Execution(run.workers, run.cluster, report),
            )  # fmt: skip
    except MismatchError as error:
        raise MismatchError(error.what, where=answer.calibration, remedy=error.remedy) from None
    except Interrupted as stopped:
        if stopped.result is None:
            _say_how_to_go_on(run.output, 0)
            raise typer.Exit(exit_code()) from None
        result, interrupted = stopped.result, True
    seconds = time.perf_counter() - begin
    if run.as_json:
        print_json({**verification_json(result, seconds, asked), "interrupted": interrupted})
    else:
        print_verification(result, seconds, run.output, asked)
    if interrupted:
        _say_how_to_go_on(run.output, min(each.members for each in result.runs))
        raise typer.Exit(exit_code())


def _say_how_to_go_on(output: Path | None, members: int) -> None:
    answers = f"; these are the answers of {count_of(members, 'member')}" if members else "; no member is done yet"
    go_on = "; continue with the same command and --resume" if output is not None else ""
    print(f"byline: interrupted{answers}{go_on}", file=sys.stderr)

"""`byline verify`: a folder of problems, or one question -> answers."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

import byline
from byline.cli import options
from byline.cli.console import count_of, print_json
from byline.cli.options import answer_option, member_option, run_option
from byline.storage.process import exit_code


@dataclass(frozen=True)
class QuestionOptions:
    """Options that name a folder of problems, or the texts of one question."""

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
        member_option(metavar="DIR", help="Other texts of the same language: a control corpus."),
    ] = None
    control_heads: Annotated[
        Literal["one", "each"] | None,
        member_option(metavar="one|each", help="Train one head on the control corpus, or one per text."),
    ] = None
    reference: options.ReferencePath = None
    language: options.Language = None
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Answer unusable problems with 0.5 instead of refusing them.")
    ] = False
    mask_shared: Annotated[
        bool, member_option("--mask-shared", help="Leave out passages that both sides of a problem share.")
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
        if self.control_heads is not None and any(word.partition("=")[0].strip() == "control" for word in assignments):
            context.fail("give --control-heads or --set control=..., not both")
        if self.control_heads is not None and self.control is None:
            context.fail("--control-heads needs a control corpus; give one with --control DIR")

    @property
    def paths(self) -> list[Path | None]:
        """All files and folders that the options name."""
        files = [*(self.known or []), *(self.unknown or [])]
        return [*files, self.problems, self.input_, self.control, self.reference]


@dataclass(frozen=True)
class AnswerOptions:
    """Options that say how scores become answers."""

    interpret: options.Interpret = None
    calibration: Annotated[
        Path | None,
        answer_option(
            metavar="FILE.json", help="A calibration written by byline calibrate, instead of the built-in one."
        ),
    ] = None
    prior: Annotated[float, answer_option(help="Probability of the same author before the texts are compared.")] = 0.5


@dataclass(frozen=True)
class RunOptions:
    """Options that say how the run is executed and what is kept of it."""

    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="OUT", help="Folder for the answers and the run.")
    ] = None
    resume: Annotated[bool, run_option("--resume", help="Continue the interrupted run in OUT.")] = False
    overwrite: options.Overwrite = False
    no_evidence: Annotated[bool, run_option("--no-evidence", help="Don't keep the texts and the evidence in them.")] = (
        False
    )
    trace: Annotated[bool, run_option("--trace", help="Keep each member's answers after each sub-epoch.")] = False
    workers: options.Workers = None
    cluster: Annotated[
        str | None, run_option(metavar="tcp://HOST:PORT", help="Train on the Dask cluster of this scheduler.")
    ] = None
    quiet: options.Quiet = False
    log: Annotated[Path | None, run_option(metavar="FILE", help="Append events to this file as JSON lines.")] = None
    as_json: options.Json = False

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
    from byline.cli.answers import print_verification, verification_json
    from byline.cli.progress import reporting
    from byline.judgment.calibration import MismatchError
    from byline.runs.executor import Interrupted
    from byline.runs.folder import FOLDER

    question.check(context, member.set_ or [])
    run.check(context, question.single)
    member.check(context)
    pool = member.read_pool(question.reference is not None, question.control_heads)
    calibration = None if answer.calibration is None else byline.read_calibration(answer.calibration)
    judgment = byline.JudgmentRequest(answer.interpret, answer.prior, calibration)
    place = None
    if run.output is not None:
        command = tuple(context.meta["words"])
        place = byline.RunOutput(
            run.output / FOLDER, run.resume, run.overwrite, run.trace, not run.no_evidence, command, answers=True
        )
        place.check_answers()
    if run.log is not None:
        options.require_no_input(run.log, [*question.paths, answer.calibration, *member.input_files])
    begin = time.perf_counter()
    reference = None if question.reference is None else byline.read_reference(question.reference, question.language)
    asked = None
    if reference is not None and question.known and question.unknown:
        asked = byline.read_question(question.known, question.unknown[0], reference.language)
    problems = asked or byline.read_problems(cast(Path, question.problems or question.input_), question.language)
    interrupted = False
    try:
        with reporting(run.quiet, run.log) as report:
            result = byline.verify(
                problems, pool, members=member.members, budget=member.seconds, seed=member.seed, reference=reference,
                control=question.control or (), judgment=judgment, skip_bad=question.skip_bad,
                mask_shared=question.mask_shared, output=place,
                execution=byline.Execution(run.workers, run.cluster, report),
            )  # fmt: skip
    except MismatchError as error:
        raise MismatchError(error.what, where=answer.calibration, remedy=error.remedy) from None
    except Interrupted as stopped:
        if stopped.result is None:
            _print_interruption(run.output, 0)
            raise typer.Exit(exit_code()) from None
        result, interrupted = stopped.result, True
    seconds = time.perf_counter() - begin
    if run.as_json:
        print_json({**verification_json(result, seconds, asked), "interrupted": interrupted})
    else:
        print_verification(result, seconds, run.output, asked)
    if interrupted:
        _print_interruption(run.output, min(each.members for each in result.runs))
        raise typer.Exit(exit_code())


def _print_interruption(output: Path | None, members: int) -> None:
    answers = f"; these are the answers of {count_of(members, 'member')}" if members else "; no member is done yet"
    go_on = "; continue with the same command and --resume" if output is not None else ""
    print(f"byline: interrupted{answers}{go_on}", file=sys.stderr)

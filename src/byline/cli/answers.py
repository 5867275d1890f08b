"""Print answers and cautions as tables for people, or as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from byline.cli.console import answer_bar, count_of, language_title, out, printable
from byline.corpora.answers import Answer
from byline.corpora.problems import ANSWER_FILES, ProblemSet
from byline.engines.questions import FEWEST_HEADS
from byline.judgment.calibration import is_capped
from byline.judgment.checks.cautions import GRADES, Caution, Cautions
from byline.judgment.interpretation import INTERPRETERS, JudgmentOptions, has_unit_scores
from byline.judgment.likelihood_ratio import DIFFERENT, SAME, describe_ratio, support_word
from byline.report.wording import RESERVE, count_verdicts, ratio_words, verdict_of, verdict_words
from byline.runs.budget import MOST_IN_BUDGET
from byline.runs.executor import Verification
from byline.runs.folder import FOLDER
from byline.runs.plan import Plan
from byline.runs.problem_file import cautions_values


def verification_json(result: Verification, seconds: float, question: ProblemSet | None = None) -> dict[str, object]:
    """What --json prints; `question` is what was asked, if it was one."""
    return {**to_json(result, seconds), **question_json(question), **cautions_json(result.cautions)}


def print_verification(
    result: Verification, seconds: float, output: Path | None, question: ProblemSet | None = None
) -> None:
    """What is printed without --json: the answers, what speaks against them, what they mean, how they came about."""
    console = out()
    if question:
        print_question(question)
    print_compared(result)
    console.print()
    print_answers(result.answers, result.plan.judgment)
    for offence in result.skipped:
        console.print(f"skipped: {printable(offence.message)}", style="yellow")
    if result.skipped and result.plan.judgment.interpretation != "cohort":
        console.print("The skipped problems were left out. Including them would change the other answers.")
    if result.cautions is not None:
        single = result.problems[0].id if len(result.problems) == 1 else None
        print_cautions(result.cautions, single, output)
    console.print()
    for line in [*meaning(result), "", *describe_judgment(result.plan, [run.reach for run in result.runs])]:
        console.print(line)
    print_members(result, seconds)
    if output is not None:
        console.print(f"Answers are in {output / ANSWER_FILES[result.layout]}, the members in {output / FOLDER}")


def to_json(result: Verification, seconds: float) -> dict[str, object]:
    """The answers, and how they came about."""
    plan = result.plan
    return {
        **judgment_json(judgment_of(plan.judgment, result.answers)),
        "answers": [answer_json(answer) for answer in result.answers],
        "skipped": [{"id": offence.id, "reason": offence.message} for offence in result.skipped],
        "mask_shared": plan.request.mask_shared,
        "languages": [asdict(run) for run in result.runs],
        "preset": plan.preset,
        "seed": plan.members[0].seed,
        "members": min(run.members for run in result.runs),
        "planned": len(plan.members),
        "settings": [asdict(member.settings) for member in plan.members],
        "budget": plan.budget.to_values() if plan.budget else None,
        "seconds": round(seconds, 2),
    }


def judgment_of(judgment: JudgmentOptions, answers: Sequence[Answer]) -> JudgmentOptions:
    """Return the options that answers were made with: without the calibration if too few members are done for it."""
    return judgment if any(answer.llr is not None for answer in answers) else replace(judgment, calibration=None)


def judgment_json(judgment: JudgmentOptions) -> dict[str, object]:
    """How answers came about, and what they mean."""
    calibration = judgment.calibration
    return {
        "interpret": judgment.interpretation,
        "calibrated": calibration is not None,
        "propositions": {"same": SAME, "different": DIFFERENT},
        "prior": judgment.prior if calibration else None,
        "calibration": None
        if calibration is None
        else {
            "problems": calibration.problems,
            "texts": calibration.texts,
            "corpora": list(calibration.corpora),
            "cap_bans": calibration.caps.same,
            "cap_different_bans": calibration.caps.different,
            "cllr": calibration.cllr,
        },
    }


def answer_json(answer: Answer) -> dict[str, object]:
    """An answer; it is called a probability only where it is one."""
    values: dict[str, object] = {
        "id": answer.id,
        "answer": answer.rounded,
        "undecided": answer.undecided,
        "score": None if answer.score is None else round(answer.score, 6),
    }
    if answer.llr is not None:
        low, high = answer.interval or (None, None)
        values |= {
            "llr_bans": round(answer.llr, 4),
            "llr_interval": None if low is None or high is None else [round(low, 4), round(high, 4)],
            "probability": None if answer.probability is None else round(answer.probability, 4),
            "verbal": describe_ratio(answer.llr),
        }
    return values


MOST_ROWS = 24
"""Answers shown to a person at the most; the file has them all."""
BARS = (16, 12, 0)
"""Widths of the pictures of answers, of which the first is taken that a terminal has room for."""
RANGE = "over members\nand parts"
"""What an interval of the LLR comes from: how far members agree, and leaving out parts of the texts."""


def print_compared(result: Verification) -> None:
    """What was compared with what, for each language."""
    console = out()
    for run in result.runs:
        asked = f"{language_title(run.language)}: {count_of(run.problems, 'problem')}"
        if result.plan.judgment.interpretation == "cohort":
            console.print(f"{asked}, each by itself")
            continue
        console.print(
            f"{asked}; {'both ways, ' if run.ways > 1 else ''}{count_of(run.heads, 'text set')} learned,"
            f" {run.documents:,} judged or compared with;"
            f" {count_of(len(run.alphabet), 'symbol')}; control corpus: {run.control}"
        )
        if run.control_repeats:
            them = "it" if run.control_repeats == 1 else "them"
            console.print(f"  {count_of(run.control_repeats, 'control text')} left out: the problems hold {them} too")
        if run.control == "none" and any(member.settings.control in ("one", "each") for member in result.plan.members):
            console.print("  members of this preset are meant to have a control corpus; give one with --control DIR")


def print_members(result: Verification, seconds: float) -> None:
    """Whose answers these are, and what they took."""
    plan = result.plan
    out().print(
        f"Members: {min(run.members for run in result.runs)}, of preset {printable(plan.preset)},"
        f" with seed {plan.members[0].seed}, in {seconds:.1f} s"
        + (f" of {plan.budget.seconds:g}" if plan.budget else "")
        + (", the most that a budget buys" if plan.budget and len(plan.members) == MOST_IN_BUDGET else "")
    )  # fmt: skip


def print_question(question: ProblemSet) -> None:
    """Which files the one question is of."""
    for problem in question.problems:
        known = ", ".join(printable(document.name) for document in problem.known)
        out().print(f"Known: {known}; unknown: {printable(problem.unknown.name)}")


def question_json(question: ProblemSet | None) -> dict[str, object]:
    """The same as JSON; nothing where a folder of problems was asked about."""
    if question is None:
        return {}
    (problem,) = question.problems
    return {"known": [document.name for document in problem.known], "unknown": problem.unknown.name}


def describe_judgment(plan: Plan, reaches: Sequence[float | None]) -> list[str]:
    """Which engines, which interpretation, and whether cohorts were matched, each in a line."""
    engines = dict.fromkeys(member.settings.engine_name for member in plan.members)
    lines = [
        f"Engines: {', '.join(engines)}",
        f"Interpretation: {plan.judgment.interpretation}, {INTERPRETERS[plan.judgment.interpretation].words}",
    ]
    if not has_unit_scores(plan.judgment.interpretation):
        matched = any(reach is not None for reach in reaches)
        lines[-1] += "; cohorts matched by kind of text" if matched else "; cohorts not matched by kind of text"
    return lines


def meaning(result: Verification) -> list[str]:
    """What the numbers mean, a line for each."""
    judgment = judgment_of(result.plan.judgment, result.answers)
    order = "Answers rank the problems; they are not probabilities"
    half = "Half of the problems are assumed to be by one author each, as in PAN's tasks."
    if has_unit_scores(judgment.interpretation):
        if any(run.problems >= FEWEST_HEADS for run in result.runs):
            return [f"{order}. 0.5 is the median problem. {half}"]
        return [f"{order}. 0.5 is the middle {judgment.interpretation}: so few have no median worth the name."]
    if judgment.calibration is None:
        return [f"{order}: nothing is calibrated for these members; see byline calibrate."]
    ten = ratio_words("ten", same=True).removesuffix(".")
    same, different = judgment.calibration.caps
    return [
        f"Answer: the probability of the same author, at a prior of {judgment.prior:g}. Undecided answers are 0.5."
        + (f" {half}" if judgment.interpretation == "relative" else ""),
        f"LLR: the weight of evidence, in bans. At +1 {ten[0].lower()}{ten[1:]}; at -1, ten times less likely.",
        f"Over members and parts: how far the LLR varies between members and between parts of the texts. {RESERVE}",
        f"Calibration: fitted on {count_of(judgment.calibration.problems, 'solved problem')}; an LLR above {same:+.2f}"
        f" or below {-different:+.2f} is not supported by them and never reported.",
    ]


def print_answers(answers: Sequence[Answer], judgment: JudgmentOptions) -> None:
    """The answers from most to least likely, and how many there are of each kind."""
    console = out()
    anywhere = console.options.update(width=1_000)
    tables = [_table(answers, judgment, bar) for bar in BARS]
    fitting = (table for table in tables if console.measure(table, options=anywhere).maximum <= console.width)
    console.print(next(fitting, tables[-1]))
    if len(answers) > 1:
        console.print(f"\n{count_verdicts(answers)}")


def _table(answers: Sequence[Answer], judgment: JudgmentOptions, bar: int) -> Table:
    """A row for each answer, or for the first and last of many, with a picture of it so wide; 0, none."""
    ordered = sorted(answers, key=lambda answer: (-answer.value, -(answer.llr or 0), answer.id))
    calibrated = any(answer.llr is not None for answer in answers)
    scale = "another".ljust(bar + 1 - len("same")) + "same"
    headings = ["problem", *([scale] if bar else []), "answer", "", *(["LLR", RANGE, "support"] if calibrated else [])]
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right" if heading in ("answer", "LLR", RANGE) else "left", overflow="fold")
    for number, answer in enumerate(ordered):
        if len(ordered) > MOST_ROWS and MOST_ROWS // 2 <= number < len(ordered) - MOST_ROWS // 2:
            if number == MOST_ROWS // 2:
                table.add_row("...", *([""] if bar else []), "...", f"{len(ordered) - MOST_ROWS} more")
            continue
        cells = [printable(answer.id), *([answer_bar(answer.value, bar)] if bar else [])]
        table.add_row(*cells, f"{answer.rounded:.3f}", verdict_words(answer), *_weight(answer, judgment))
    return table


def _weight(answer: Answer, judgment: JudgmentOptions) -> list[str]:
    """What an answer's evidence weighs, how far that may move, and the word for it; nothing where it is not known."""
    if answer.llr is None:
        return []
    low, high = (f"{end:+.1f}" for end in answer.interval) if answer.interval else ("", "")
    span = f"{low} to {high}" if answer.interval else ""
    if low == high and judgment.calibration is not None and is_capped(judgment.calibration, answer.llr):
        span = "at its cap"  # which is no proof of precision
    side = "same" if answer.llr > 0 else "another"
    word = support_word(answer.llr) or "none"
    if word != "none" and verdict_of(answer) != side:  # by the prior
        word += f", {side}"
    return [f"{answer.llr:+.2f}", span, word]


MOST_CAUTIONS, MOST_QUOTES = 5, 3
"""Cautions shown, and passages that one of them quotes; the report has them all."""


def print_cautions(cautions: Cautions, single: str | None, kept: Path | None) -> None:
    """Whether the reference suits, and what else speaks against believing the answers: all of a `single` problem."""
    console = out()
    if check := cautions.reference:
        named = f"reference ({check.texts} texts by {check.authors} people)"
        own = next((each for each in check.problems if each.id == single), None)
        if own is None:
            console.print(f"The {named}. {printable(check.verdict)}")
        elif own.grade == "good":
            console.print(f"The {named} is {printable(own.verdict)}.")
        else:
            console.print(f"Caution: the {named} is {GRADES[own.grade]}:", style="yellow")
            for remark in own.remarks:
                console.print(f"  {printable(remark)}", style="yellow")
    found = cautions.summarize() if single is None else [*cautions.run, *cautions.of(single)]
    found = [caution for caution in found if caution.kind != "reference"]  # which was said
    for caution in found[:MOST_CAUTIONS]:
        console.print(f"Caution: {printable(caution.text)}", style="yellow")
        print_quotes(console, caution)
    more = f"and {len(found) - MOST_CAUTIONS} more; " if len(found) > MOST_CAUTIONS else ""
    if kept is not None and (found or (check and check.grade != "good")):
        console.print(f"{more}byline report {shlex.quote(str(kept))} -o report.html lists the cautions on each answer")


def print_quotes(console: Console, caution: Caution) -> None:
    """How the passages begin that a caution speaks of."""
    for quote in caution.quotes[:MOST_QUOTES]:
        console.print(f"  \u201c{printable(quote)}\u201d")
    if (more := len(caution.quotes) - MOST_QUOTES) > 0:
        console.print(f"  and {more} more")


def cautions_json(cautions: Cautions | None) -> dict[str, object]:
    """The same as JSON; nothing where it was not looked for."""
    if cautions is None:
        return {}

    check = cautions.reference
    found = cautions_values(cautions)
    values: dict[str, object] = {"cautions": {"run": found["run"], "problems": found["problems"]}}
    if check is not None:
        rows = [{"id": each.id, "grade": each.grade, "remarks": list(each.remarks)} for each in check.problems]
        values["reference"] = {"texts": check.texts, "authors": check.authors, "problems": rows}
    return values

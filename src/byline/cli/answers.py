"""Print answers to verification problems and cautions as tables for people, or as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from rich.table import Table

from byline.cli.console import (
    answer_bar,
    count_of,
    language_title,
    make_table,
    out,
    print_table,
    printable,
)
from byline.corpora.answers import Answer
from byline.corpora.problems import ANSWER_FILES, ProblemSet
from byline.engines.questions import FEWEST_HEADS
from byline.judgment.calibration import Calibration, is_capped
from byline.judgment.checks.cautions import GRADES, Caution, Cautions
from byline.judgment.interpretation import INTERPRETERS, JudgmentOptions, has_unit_scores
from byline.judgment.likelihood_ratio import DIFFERENT, SAME, describe_ratio, support_word
from byline.report.wording import RESERVE, count_verdicts, describe_learned, ratio_words, verdict_of, verdict_words
from byline.runs.executor import Verification
from byline.runs.folder import FOLDER, cautions_values
from byline.runs.plan import Plan
from byline.runs.request import MOST_IN_BUDGET


def print_verification(
    result: Verification, seconds: float, output: Path | None, question: ProblemSet | None = None
) -> None:
    """Print the answers, the reasons not to trust them, what they mean and how they were made."""
    console = out()
    for problem in question.problems if question else ():
        known = ", ".join(printable(document.name) for document in problem.known)
        console.print(f"Known: {known}; unknown: {printable(problem.unknown.name)}")
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
    for line in [*describe_answers(result), "", *describe_judgment(result.plan, [run.matched for run in result.runs])]:
        console.print(line)
    plan, members = result.plan, min(run.members for run in result.runs)
    console.print(
        f"Members: {members}, of preset {printable(plan.preset)}, with seed {plan.members[0].seed}, in {seconds:.1f} s"
        + (f" of {plan.budget.seconds:g}" if plan.budget else "")
        + (", the most that a budget buys" if plan.budget and len(plan.members) == MOST_IN_BUDGET else "")
    )
    if output is not None:
        console.print(f"Answers are in {output / ANSWER_FILES[result.layout]}, the members in {output / FOLDER}")


def verification_json(result: Verification, seconds: float, question: ProblemSet | None = None) -> dict[str, object]:
    """Return the answers and how they were made; `question` is the single question, if one was asked."""
    plan = result.plan
    values: dict[str, object] = {
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
        "budget": asdict(plan.budget) if plan.budget else None,
        "seconds": round(seconds, 2),
    }
    for problem in question.problems if question else ():
        values |= {"known": [document.name for document in problem.known], "unknown": problem.unknown.name}
    if result.cautions is not None:
        found = cautions_values(result.cautions)
        values["cautions"] = {"run": found["run"], "problems": found["problems"]}
        if check := result.cautions.reference:
            rows = [{"id": each.id, "grade": each.grade, "remarks": list(each.remarks)} for each in check.problems]
            values["reference"] = {"texts": check.texts, "authors": check.authors, "problems": rows}
    return values


def judgment_of(judgment: JudgmentOptions, answers: Sequence[Answer]) -> JudgmentOptions:
    """Return the options that answers were made with: without the calibration if too few members are done for it."""
    return judgment if any(answer.llr is not None for answer in answers) else replace(judgment, calibration=None)


def judgment_json(judgment: JudgmentOptions) -> dict[str, object]:
    """Return how answers were made, and what they mean."""
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
    """Return an answer. It has a probability only if it is calibrated."""
    values: dict[str, object] = {
        "id": answer.id,
        "answer": answer.rounded,
        "undecided": answer.undecided,
        "score": None if answer.score is None else round(answer.score, 6),
    }
    if answer.llr is not None:
        values |= {
            "llr_bans": round(answer.llr, 4),
            "llr_interval": [round(end, 4) for end in answer.interval] if answer.interval else None,
            "probability": None if answer.probability is None else round(answer.probability, 4),
            "bounds": None if answer.bounds is None else [round(bound, 4) for bound in answer.bounds],
            "verbal": describe_ratio(answer.llr),
        }
    return values


def print_compared(result: Verification) -> None:
    """Print the texts that were compared, for each language."""
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


def describe_judgment(plan: Plan, matched: Sequence[float | None]) -> list[str]:
    """Return a line with the engines, and one with the interpretation; if relative, with the weights of norms."""
    engines = dict.fromkeys(member.settings.engine_name for member in plan.members)
    lines = [
        f"Engines: {', '.join(engines)}",
        f"Interpretation: {plan.judgment.interpretation}, {INTERPRETERS[plan.judgment.interpretation].words}",
    ]
    if plan.judgment.interpretation == "relative":
        shares = [f"{weight:.0%}" for weight in matched if weight is not None]
        if shares:
            lines[-1] += f"; the norm with texts of the same kind has a weight of {' and '.join(shares)}"
    return lines


def describe_answers(result: Verification) -> list[str]:
    """Return what the numbers mean, a line for each."""
    judgment = judgment_of(result.plan.judgment, result.answers)
    order = "Answers rank the problems; they are not probabilities"
    half = "About half of the problems are assumed to have the same author on both sides."
    if has_unit_scores(judgment.interpretation):
        if any(run.problems >= FEWEST_HEADS for run in result.runs):
            return [f"{order}. The median problem is 0.5. {half}"]
        return [f"{order}. The middle {judgment.interpretation} is 0.5, since so few problems have no useful median."]
    if judgment.calibration is None:
        return [f"{order}, because these members have no calibration. Fit one with byline calibrate."]
    ten = ratio_words("ten", same=True).removesuffix(".")
    return [
        f"Answer: the probability of the same author, at a prior of {judgment.prior:g}. Undecided answers are 0.5."
        + (f" {half}" if judgment.interpretation == "relative" else ""),
        f"LLR: the weight of evidence, in bans. At +1 {ten[0].lower()}{ten[1:]}; at -1, ten times less likely.",
        *(
            _describe_reference(result)
            if judgment.interpretation == "cohort"
            else _describe_corpus(judgment.calibration)
        ),
    ]


def _describe_corpus(calibration: Calibration) -> list[str]:
    same, different = calibration.caps
    return [
        f"Interval: the range of the LLR over members, and with parts of the texts left out. {RESERVE}",
        f"Calibration: fitted on {count_of(calibration.problems, 'problem')} with known truth. They support"
        f" no LLR above {same:+.2f} or below {-different:+.2f}, and none is reported.",
    ]


def _describe_reference(result: Verification) -> list[str]:
    """Return what interval and bounds mean beside a reference, and how well the reference's own cases are answered."""
    bounds = [answer.bounds for answer in result.answers if answer.bounds]
    same, different = (max(side) for side in zip(*bounds, strict=True)) if bounds else (0.0, 0.0)
    learned = [found for run in result.runs for found in run.learned]
    lines = [
        "Interval: the range of the LLR with other coefficients that the fit allows, and with parts of the texts left"
        f" out. {RESERVE}",
        f"Bounds: for texts and a reference like these, cases with known truth support no LLR above {same:+.2f} or"
        f" below {-different:+.2f}.",
    ]
    if len(learned) == 1:
        lines.append(f"Validation: {describe_learned(learned[0])}")
    elif learned:
        costs = [found.cllr for found in learned if found.cllr is not None]
        ends = f"{min(costs):.2f} to {max(costs):.2f}" if costs else "unknown"
        lines.append(
            f"Validation: the reference's own cases, cut to {len(learned)} different lengths, have a Cllr of {ends}."
        )
    return lines


MOST_ROWS = 24
"""The largest number of answers in the table; the file has them all."""
BARS = (16, 12, 0)
"""Widths of the bars of answers. The first that the terminal has room for is used."""
RANGE = "interval"
"""The heading of the interval of the LLR."""


def print_answers(answers: Sequence[Answer], judgment: JudgmentOptions) -> None:
    """Print the answers from most to least likely, and count those of each kind."""
    console = out()
    anywhere = console.options.update(width=1_000)
    tables = [_answer_table(answers, judgment, bar) for bar in BARS]
    fitting = (table for table in tables if console.measure(table, options=anywhere).maximum <= console.width)
    print_table(next(fitting, tables[-1]))
    if len(answers) > 1:
        console.print(f"\n{count_verdicts(answers)}")


def _answer_table(answers: Sequence[Answer], judgment: JudgmentOptions, bar: int) -> Table:
    """Make a row for each answer, or for the first and last of many, with a bar of some width or none."""
    ordered = sorted(answers, key=lambda answer: (-answer.value, -(answer.llr or 0), answer.id))
    calibrated = any(answer.llr is not None for answer in answers)
    scale = ["another".ljust(bar + 1 - len("same")) + "same"] if bar else []
    ratio = ["LLR", RANGE, "support"] if calibrated else []
    table = make_table("problem", *scale, "answer", "", *ratio, right=("answer", "LLR", RANGE))
    for number, answer in enumerate(ordered):
        if len(ordered) > MOST_ROWS and MOST_ROWS // 2 <= number < len(ordered) - MOST_ROWS // 2:
            if number == MOST_ROWS // 2:
                table.add_row("...", *([""] if bar else []), "...", f"{len(ordered) - MOST_ROWS} more")
            continue
        cells = [printable(answer.id), *([answer_bar(answer.value, bar)] if bar else [])]
        table.add_row(*cells, f"{answer.rounded:.3f}", verdict_words(answer), *_ratio_cells(answer, judgment))
    return table


def _ratio_cells(answer: Answer, judgment: JudgmentOptions) -> list[str]:
    """Return an answer's LLR, its interval and the word for it; nothing without a calibration."""
    if answer.llr is None:
        return []
    low, high = (f"{end:+.1f}" for end in answer.interval) if answer.interval else ("", "")
    span = f"{low} to {high}" if answer.interval else ""
    if low == high and judgment.calibration is not None and is_capped(judgment.calibration, answer):
        span = "at its cap"  # which is no proof of precision
    side = "same" if answer.llr > 0 else "another"
    word = support_word(answer.llr) or "none"
    if word != "none" and verdict_of(answer) != side:  # by the prior
        word += f", {side}"
    return [f"{answer.llr:+.2f}", span, word]


MOST_CAUTIONS, MOST_QUOTES = 5, 3
"""The largest numbers of cautions that are printed, and of passages that one of them quotes; the report has all."""


def print_cautions(cautions: Cautions, single: str | None, kept: Path | None) -> None:
    """Print whether the reference suits, and the other cautions: a summary, or those of a `single` problem."""
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
    found = [caution for caution in found if caution.kind != "reference"]  # printed above
    for caution in found[:MOST_CAUTIONS]:
        print_caution(caution)
    more = f"and {len(found) - MOST_CAUTIONS} more; " if len(found) > MOST_CAUTIONS else ""
    if kept is not None and (found or (check and check.grade != "good")):
        console.print(f"{more}byline report {shlex.quote(str(kept))} -o report.html lists the cautions on each answer")


def print_caution(caution: Caution) -> None:
    """Print a caution, with the beginnings of the passages that it is about."""
    console = out()
    console.print(f"Caution: {printable(caution.text)}", style="yellow")
    for quote in caution.quotes[:MOST_QUOTES]:
        console.print(f"  \u201c{printable(quote)}\u201d")
    if (more := len(caution.quotes) - MOST_QUOTES) > 0:
        console.print(f"  and {more} more")

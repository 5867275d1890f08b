"""Turn matrices into scores and answers, in one of several interpretations, which the run and its report name.

rank        the paper's (section 2.6): the unknown's rank among the texts; the median problem is answered 0.5
relative    scores normalized over the whole corpus, engines fused, answers calibrated
cohort      every problem by itself against a fixed reference population, regardless of other problems
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

import numpy as np
from scipy.special import expit

from byline.corpora.answers import Answer
from byline.engines.matrix import Side, Table
from byline.engines.questions import FEWEST_COMPARABLE, FEWEST_HEADS
from byline.errors import SettingsError
from byline.judgment.calibration import Calibration, calibration_from, calibration_values, llr_bans, undecided
from byline.judgment.fusion import (
    Fused,
    MemberScores,
    average_by_problem,
    fuse_engines,
    fuse_members,
    fuse_single_problems,
)
from byline.judgment.likelihood_ratio import EVEN, choose_radius, parse_prior, probability
from byline.judgment.reference_scores import score_beside_reference
from byline.judgment.score_normalization import (
    NORMS,
    count_compared,
    part_scores,
    rank_scores,
    relative_scores,
)
from byline.judgment.single_questions import LearnedFromCases
from byline.judgment.whole_corpora import CorpusScale, measure_strength, rate_corpus
from byline.settings.settings import Interpretation, Settings


@dataclass(frozen=True)
class JudgmentOptions:
    """How matrices become answers; raise SettingsError if a value is invalid."""

    interpretation: Interpretation = "rank"
    radius: float = 0.0
    """Uncalibrated answers nearer than this to 0.5 are undecided."""
    prior: float = EVEN
    """The prior probability of the same author."""
    calibration: Calibration | None = None
    """Turns scores into likelihood ratios, if given."""

    def __post_init__(self) -> None:
        names = get_args(Interpretation)
        if self.interpretation not in names:
            raise SettingsError(f"must be one of {', '.join(names)}, got {self.interpretation}", where="interpret")
        if not 0 <= self.radius <= 0.5:
            raise SettingsError(f"must be a number from 0 to 0.5, got {self.radius}", where="radius")
        parse_prior(self.prior)


def judgment_values(judgment: JudgmentOptions) -> dict[str, Any]:
    """Return options as JSON values, as a run stores them."""
    return {
        "interpret": judgment.interpretation,
        "radius": judgment.radius,
        "prior": judgment.prior,
        "calibration": calibration_values(judgment.calibration) if judgment.calibration else None,
    }


def judgment_from(values: Mapping[str, Any]) -> JudgmentOptions:
    """Return stored options; runs of older versions, which had no choice of interpretation, used ranks."""
    given = values.get("calibration")
    return JudgmentOptions(
        values.get("interpret", "rank"),
        float(values["radius"]),
        float(values.get("prior", EVEN)),
        None if given is None else calibration_from(given),
    )


class Interpreter(NamedTuple):
    """An interpretation."""

    words: str
    """What is compared with what, for people."""
    score: Callable[[Side, Settings], Table] | None = None
    """Returns (questions,): scores from 0, another author, to 1, the same. By default scores are relative."""


def _ranks(side: Side, settings: Settings) -> Table:
    return rank_scores(side.matrix, side.questions, settings.ranking)


INTERPRETERS: dict[Interpretation, Interpreter] = {
    "rank": Interpreter("each unknown's rank among the texts of the corpus", _ranks),
    "relative": Interpreter("compared with all other texts of the corpus"),
    "cohort": Interpreter("every problem by itself, relative to the reference population"),
}

CONFIDENT = 1.96
"""Standard errors on either side of a 95% interval."""


def has_unit_scores(interpretation: Interpretation) -> bool:
    """Return whether scores go from 0 to 1, like ranks, and their median is answered 0.5; others are relative."""
    return INTERPRETERS[interpretation].score is not None


@dataclass(frozen=True)
class Verdicts:
    """The answers to the problems of one language."""

    answers: tuple[Answer, ...]
    center: float
    """The score that became 0.5."""
    strength: float
    """How far asked pairs stand out, see whole_corpora.py."""
    weights: tuple[float, ...]
    """Of the norms, if scores are relative (see score_normalization.py)."""
    slopes: Table | None = None
    """(problems,): what a deviation of the score adds to the log-likelihood ratio; None if scores are ranks."""
    learned: tuple[LearnedFromCases | None, ...] = ()
    """For each problem, what the cases of the reference say, if there is a reference."""

    @property
    def matched(self) -> float | None:
        """The weight of matched cohorts; None if there is one norm only."""
        return self.weights[NORMS.index("matched")] if len(self.weights) == len(NORMS) else None


def score_sides(
    sides: Sequence[Side], problems: int, settings: Settings, interpretation: Interpretation
) -> MemberScores:
    """Return the scores of one member: the mean over the questions of each problem, in both directions."""
    if interpretation == "cohort":
        normalized = score_beside_reference(sides, problems)
        return MemberScores(settings.engine_name, normalized.scores[None], beside_reference=normalized)
    answerable = [_answerable(side, interpretation) for side in sides]
    asked = [
        question
        for side, able in zip(sides, answerable, strict=True)
        for question, yes in zip(side.questions, able, strict=True)
        if yes
    ]

    def join(tables: Sequence[Table]) -> Table:
        """Return (norms, problems) from the (norms, questions) of each side."""
        norms = min(len(table) for table in tables)
        kept = [table[:norms, able] for table, able in zip(tables, answerable, strict=True)]
        joined = np.concatenate(kept, axis=1)
        return np.array([average_by_problem(row, asked, problems) for row in joined.tolist()])

    if unit_score := INTERPRETERS[interpretation].score:
        return MemberScores(settings.engine_name, join([unit_score(side, settings)[None] for side in sides]))
    parts = [found for side in sides if (found := part_scores(side)) is not None]
    return MemberScores(
        settings.engine_name,
        join([relative_scores(side) for side in sides]),
        np.array([join(tables) for tables in zip(*parts, strict=True)]) if len(parts) == len(sides) else None,
    )


def _answerable(side: Side, interpretation: Interpretation) -> list[bool]:
    """Return for which questions there are enough pairs to compare with; asked pairs do not count."""
    able = [question not in side.incomparable for question in side.questions]
    if interpretation != "relative":
        return able
    compared = count_compared(side).tolist()
    return [yes and count >= FEWEST_COMPARABLE - 1 for yes, count in zip(able, compared, strict=True)]


def answer_problems(ids: Sequence[str], members: Sequence[MemberScores], judgment: JudgmentOptions) -> Verdicts:
    """Answer the problems of one language from the scores of its members."""
    if has_unit_scores(judgment.interpretation):
        fused = fuse_members(members)
        middle = center(fused.scores)
        answers = _uncalibrated(ids, stretch(fused.scores, middle, judgment.radius), fused.scores)
        return Verdicts(answers, middle, measure_strength(fused.scores - 0.5), fused.weights)
    fused = _fuse(members, judgment.interpretation)
    scale = _scale_of(fused)
    if judgment.calibration is None:
        values = stretch(expit(scale.apply(fused.scores)), 0.5, judgment.radius)
        answers = _uncalibrated(ids, values, fused.scores)
    else:
        answers = _calibrated(ids, fused, scale, judgment, judgment.calibration)
    slopes = np.full(len(ids), scale.slope) if fused.slopes is None else fused.slopes
    return Verdicts(answers, scale.midpoint, scale.strength, fused.weights, slopes, fused.learned)


def calibration_scores(members: Sequence[MemberScores], interpretation: Interpretation) -> Table:
    """Return (problems,): the values that a calibration is fitted to; NaN where there is no score."""
    if has_unit_scores(interpretation):
        return fuse_members(members).scores
    fused = _fuse(members, interpretation)
    return _scale_of(fused).apply(fused.scores)


def _fuse(members: Sequence[MemberScores], interpretation: Interpretation) -> Fused:
    return fuse_single_problems(members) if interpretation == "cohort" else fuse_engines(members)


def _scale_of(fused: Fused) -> CorpusScale:
    """Return what scores mean. Those of single problems are log-likelihood ratios already."""
    return CorpusScale() if fused.single else rate_corpus(fused.scores)


def _calibrated(
    ids: Sequence[str], fused: Fused, scale: CorpusScale, judgment: JudgmentOptions, calibration: Calibration
) -> tuple[Answer, ...]:
    """Return posterior probabilities at the prior, each with its likelihood ratio and an interval for it."""
    margins = CONFIDENT * np.nan_to_num(fused.errors)
    bans, low, high = (
        llr_bans(calibration, scale.apply(scores), fused.bounds)
        for scores in (fused.scores, fused.scores - margins, fused.scores + margins)
    )
    chances = probability(bans, judgment.prior)
    if judgment.interpretation == "cohort":
        silent = undecided(calibration, bans)
    else:  # the radius is chosen for these very problems, by the C@1 that their probabilities lead to expect
        there = ~np.isnan(fused.scores)
        silent = np.abs(chances - 0.5) < (choose_radius(chances[there]) if there.any() else 0)
    answers = []
    for number, name in enumerate(ids):
        if np.isnan(fused.scores[number]):
            answers.append(Answer(name, 0.5))
            continue
        value = 0.5 if silent[number] else float(chances[number])
        interval = None if np.isnan(fused.errors[number]) else (float(low[number]), float(high[number]))
        score, llr, chance = (float(each[number]) for each in (fused.scores, bans, chances))
        bounds = None if fused.bounds is None else (float(fused.bounds[0][number]), float(fused.bounds[1][number]))
        answers.append(Answer(name, value, score, llr, interval, chance, bounds))
    return tuple(answers)


def _uncalibrated(ids: Sequence[str], values: Table, scores: Table) -> tuple[Answer, ...]:
    return tuple(
        Answer(name, 0.5) if np.isnan(score) else Answer(name, float(value), float(score))
        for name, value, score in zip(ids, values, scores, strict=True)
    )


def center(scores: Table) -> float:
    """Return the score that becomes 0.5: the median, because half of the answers are yes; 0.5 for a few problems."""
    there = scores[~np.isnan(scores)]
    return float(np.median(there)) if len(there) >= FEWEST_HEADS else 0.5


def stretch(scores: Table, middle: float, radius: float) -> Table:
    """Map scores linearly to answers: 0 to 0, `middle` to 0.5, 1 to 1; nearer to 0.5 than `radius` is undecided.

    A problem without a score (NaN) is undecided.
    """
    scores = np.where(np.isnan(scores), middle, scores)
    below = 0.5 * (np.minimum(scores, middle) / middle) if middle > 0 else np.full_like(scores, 0.5)
    above = 0.5 + 0.5 * (scores - middle) / (1 - middle) if middle < 1 else np.full_like(scores, 0.5)
    answers = np.where(scores < middle, below, above)
    return np.where((np.abs(answers - 0.5) < radius) | (scores == middle), 0.5, answers)

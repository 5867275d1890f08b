"""Matrix -> scores -> answers, in one of several ways; the run and its report always say in which.

rank        the paper's (section 2.6): the unknown's rank among the texts; the median problem is answered 0.5
relative    pairs made relative by document and by head over the whole corpus, engines fused, answers calibrated
cohort      every problem by itself against a fixed reference population, never looking at other problems
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from byline.alone import fuse_alone
from byline.answers import Answer
from byline.calibration import Calibration, llr_bans, undecided
from byline.fusion import Fused, Reading, average_by_problem, fuse_engines, fuse_members, strength
from byline.likelihood import decide, probability
from byline.plans import Manner
from byline.questions import FEWEST_HEADS, FEWEST_LEFT
from byline.ranks import rank_scores
from byline.relative import agreement_of_kind, asked_places, count_compared, own_scores, part_scores, relative_scores
from byline.scoring import Side, Table
from byline.settings import Interpretation, Settings

# What relative scores of a corpus usually are: for a handful of problems, whose own median and spread say little.
USUAL_CENTRE, USUAL_SPREAD, USUAL_STRENGTH = 1.0, 1.7, 0.6
USUAL_WEIGHT = 5
"""The usual values count like this many problems."""
LEAST_STRENGTH, GREATEST_STRENGTH = 0.05, 0.9
"""Asked pairs that don't stand out at all still keep their order; none can stand out more than by 1."""
CONFIDENT = 1.96
"""Standard errors either way that an interval reaches: 95 of 100."""


class Way(NamedTuple):
    """An interpretation."""

    words: str
    """What is compared with what, as people read it."""
    read: Callable[[Side, Settings], Table] | None = None
    """(questions,): scores from 0, another author, to 1, the same; 0.5 is the middle. Without it they are relative."""


def _ranks(side: Side, settings: Settings) -> Table:
    return rank_scores(side.matrix, side.questions, settings.ranking)


WAYS: dict[Interpretation, Way] = {
    "rank": Way("each unknown's rank among the texts of the corpus", _ranks),
    "relative": Way("relative to all other texts of the corpus"),
    "cohort": Way("every problem by itself, relative to the reference population"),
}


def is_plain(interpretation: Interpretation) -> bool:
    """Whether scores go from 0 to 1 and answers are made of their median, as of ranks; others are relative."""
    return WAYS[interpretation].read is not None


@dataclass(frozen=True)
class Verdicts:
    """The answers to the problems of one language, and what they rest on."""

    answers: tuple[Answer, ...]
    centre: float
    """The score that became 0.5."""
    strength: float
    """How far asked pairs stand out, see fusion.py."""
    reach: float
    """How closely cohorts were matched; infinite is not at all."""


def read_sides(sides: Sequence[Side], problems: int, settings: Settings, interpretation: Interpretation) -> Reading:
    """What one member says: the mean over a problem's questions, both ways of asking; NaN where none can be judged."""
    answerable = [_answerable(side, interpretation) for side in sides]
    asked = [
        question
        for side, able in zip(sides, answerable, strict=True)
        for question, yes in zip(side.questions, able, strict=True)
        if yes
    ]

    def join(tables: Sequence[Table]) -> Table:
        """(reaches, problems) from the (reaches, questions) of each side."""
        reaches = min(len(table) for table in tables)
        kept = [table[:reaches, able] for table, able in zip(tables, answerable, strict=True)]
        joined = np.concatenate(kept, axis=1)
        return np.array([average_by_problem(row, asked, problems) for row in joined.tolist()])

    if plain := WAYS[interpretation].read:
        return Reading(settings.engine, join([plain(side, settings)[None] for side in sides]))
    alone = interpretation == "cohort"
    own = [side.matrix.trust[asked_places(side)] for side in sides if alone and side.matrix.trust is not None]
    read = own_scores if own else relative_scores
    parts = [found for side in sides if (found := part_scores(side, read)) is not None]
    return Reading(
        settings.engine,
        join([read(side) for side in sides]),
        np.array([join(tables) for tables in zip(*parts, strict=True)]) if len(parts) == len(sides) else None,
        join([agreement_of_kind(side)[None] for side in sides])[0] if alone and not own else None,
        join([trust[None] for trust in own])[0] if own else None,
    )


def _answerable(side: Side, interpretation: Interpretation) -> list[bool]:
    """Which of the questions there is enough to compare with for; a pair that is asked about is nothing to do it."""
    able = [question not in side.lonely for question in side.questions]
    if interpretation != "relative":
        return able
    compared = count_compared(side).tolist()
    return [yes and count >= FEWEST_LEFT - 1 for yes, count in zip(able, compared, strict=True)]


def answer_problems(ids: Sequence[str], readings: Sequence[Reading], manner: Manner) -> Verdicts:
    """The answers to the problems of one language from what its members say."""
    if is_plain(manner.interpretation):
        return _answer_plainly(ids, fuse_members(readings), manner)
    fused = _fuse(readings, manner.interpretation)
    standing = _Standing.of(fused)
    values = standing.values(fused.scores)
    if manner.calibration is None:
        answers = stretch(expit(values), 0.5, manner.radius)
        made = _uncalibrated(ids, answers, fused.scores)
    else:
        made = _calibrated(ids, fused, standing, manner, manner.calibration)
    return Verdicts(made, standing.centre, standing.strength, fused.reach)


@dataclass(frozen=True)
class _Standing:
    """What the scores of a corpus are taken against: each value is (score - centre) / spread x strength squared.

    Squared, because a corpus whose asked pairs hardly stand out must get likelihood ratios near 1: what little order it
    has may be chance. A problem by itself has no corpus: its score is taken as it is, as far as it can be relied on.
    """

    centre: float
    spread: float
    strength: float
    trust: Table | float = 1.0
    """(problems,): what each value is multiplied by."""

    @classmethod
    def of(cls, fused: Fused) -> _Standing:
        """The median, because half of the answers are yes, and how far scores spread; usual ones for lone problems."""
        if fused.even is not None and fused.trust is not None:
            return cls(fused.even, 1.0, 1.0, fused.trust)
        there = fused.scores[~np.isnan(fused.scores)]

        def settle(own: float, usual: float) -> float:
            return (len(there) * own + USUAL_WEIGHT * usual) / (len(there) + USUAL_WEIGHT)

        if not len(there):
            return cls(USUAL_CENTRE, USUAL_SPREAD, LEAST_STRENGTH)
        found = settle(strength(there), USUAL_STRENGTH)
        return cls(
            settle(float(np.median(there)), USUAL_CENTRE),
            settle(float(there.std()), USUAL_SPREAD),
            min(max(found, LEAST_STRENGTH), GREATEST_STRENGTH),
        )

    def values(self, scores: Table) -> Table:
        """(problems,): what a calibration is fitted to; NaN where there is no score."""
        values: Table = (scores - self.centre) / self.spread * self.strength**2 * self.trust
        return values


def standing_values(readings: Sequence[Reading], interpretation: Interpretation) -> Table:
    """(problems,): the values that a calibration is fitted to."""
    if is_plain(interpretation):
        return fuse_members(readings).scores
    fused = _fuse(readings, interpretation)
    return _Standing.of(fused).values(fused.scores)


def _fuse(readings: Sequence[Reading], interpretation: Interpretation) -> Fused:
    return fuse_alone(readings) if interpretation == "cohort" else fuse_engines(readings)


def _calibrated(
    ids: Sequence[str], fused: Fused, standing: _Standing, manner: Manner, calibration: Calibration
) -> tuple[Answer, ...]:
    """Answers that are probabilities at the prior, each with its likelihood ratio and an interval for it."""
    values = standing.values(fused.scores)
    bans = llr_bans(calibration, values)
    margins = CONFIDENT * np.nan_to_num(fused.errors)
    low, high = (
        llr_bans(calibration, standing.values(ends)) for ends in (fused.scores - margins, fused.scores + margins)
    )
    chances = probability(bans, manner.prior)
    if manner.interpretation == "cohort":
        silent = undecided(calibration, bans)
    else:  # chosen for these very problems, by what their probabilities lead one to expect
        there = ~np.isnan(fused.scores)
        silent = np.abs(chances - 0.5) < (decide(chances[there]) if there.any() else 0)
    answers = []
    for number, name in enumerate(ids):
        if np.isnan(fused.scores[number]):
            answers.append(Answer(name, 0.5))
            continue
        value = 0.5 if silent[number] else float(chances[number])
        reach = None if np.isnan(fused.errors[number]) else (float(low[number]), float(high[number]))
        score, llr, chance = (float(each[number]) for each in (fused.scores, bans, chances))
        answers.append(Answer(name, value, score, llr, reach, chance))
    return tuple(answers)


def _answer_plainly(ids: Sequence[str], fused: Fused, manner: Manner) -> Verdicts:
    middle = centre(fused.scores)
    values = stretch(fused.scores, middle, manner.radius)
    return Verdicts(_uncalibrated(ids, values, fused.scores), middle, strength(fused.scores - 0.5), fused.reach)


def _uncalibrated(ids: Sequence[str], values: Table, scores: Table) -> tuple[Answer, ...]:
    return tuple(
        Answer(name, 0.5) if np.isnan(score) else Answer(name, float(value), float(score))
        for name, value, score in zip(ids, values, scores, strict=True)
    )


def centre(scores: Table) -> float:
    """The score that becomes 0.5: the median, for half of the answers are yes; for a few problems, the middle rank."""
    there = scores[~np.isnan(scores)]
    return float(np.median(there)) if len(there) >= FEWEST_HEADS else 0.5


def stretch(scores: Table, middle: float, radius: float) -> Table:
    """Answers: `middle` becomes 0.5, both sides reach linearly to 0 and 1; nearer to 0.5 than `radius` is undecided.

    A problem without a score (NaN) is undecided.
    """
    scores = np.where(np.isnan(scores), middle, scores)
    below = 0.5 * (np.minimum(scores, middle) / middle) if middle > 0 else np.full_like(scores, 0.5)
    above = 0.5 + 0.5 * (scores - middle) / (1 - middle) if middle < 1 else np.full_like(scores, 0.5)
    answers = np.where(scores < middle, below, above)
    return np.where((np.abs(answers - 0.5) < radius) | (scores == middle), 0.5, answers)

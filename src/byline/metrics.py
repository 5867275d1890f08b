"""How good answers are: PAN 2015's AUC, C@1 and their product; PAN 2022's five; Cllr and EER; averages over corpora.

Of clusterings PAN 2016's: BCubed F, and average precision, whose mean over problems is MAP.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.stats import rankdata

from byline.errors import AnswersError

Flags = NDArray[np.bool_]
Values = NDArray[np.float64]

FINEST = 0.0005
"""Answers have three decimals: 0.000 and 1.000 are taken to be this far from certainty where a logarithm is taken."""


@dataclass(frozen=True)
class Measures:
    """Every measure of one corpus's answers; up to `overall` each is from 0 to 1 with 1 the best."""

    problems: int
    undecided: int
    auc: float
    c_at_1: float
    f05u: float
    f1: float
    brier: float
    cllr: float
    """Bits a problem that trusting the answers costs: 0 is perfect, 1 is what answering 0.5 throughout costs."""
    cllr_min: float
    """The same after the best monotone recalibration: what part of `cllr` is not the calibration's fault."""
    eer: float
    """The rate of error where as many yes as no problems are got wrong."""

    @property
    def product(self) -> float:
        """AUC x C@1: PAN 2014 and 2015's score."""
        return self.auc * self.c_at_1

    @property
    def overall(self) -> float:
        """PAN 2022's score: the mean of its five measures."""
        return (self.auc + self.c_at_1 + self.f05u + self.f1 + self.brier) / 5


@dataclass(frozen=True)
class Averages:
    """Several corpora together."""

    corpora: int
    macro: float
    """The paper's Table 2: mean AUC times mean C@1."""
    micro: float
    """The same with both means weighted by problems."""
    mean_product: float
    """The plain mean of the products."""
    mean_cllr: float
    """The plain mean of Cllr."""


def measure(truth: Sequence[bool], answers: Sequence[float]) -> Measures:
    """All measures; both kinds of truth must occur."""
    ratios = log_ratios(answers)
    return Measures(
        len(answers),
        sum(answer == 0.5 for answer in answers),
        auc(truth, answers),
        c_at_1(truth, answers),
        f05u(truth, answers),
        f1(truth, answers),
        brier(truth, answers),
        cllr(truth, ratios),
        cllr_min(truth, ratios),
        eer(truth, answers),
    )


def average(measures: Sequence[Measures]) -> Averages:
    """Macro, micro and plain mean over corpora."""
    aucs = np.array([m.auc for m in measures])
    c_at_1s = np.array([m.c_at_1 for m in measures])
    weights = np.array([m.problems for m in measures])
    return Averages(
        len(measures),
        float(aucs.mean() * c_at_1s.mean()),
        float(np.average(aucs, weights=weights) * np.average(c_at_1s, weights=weights)),
        float((aucs * c_at_1s).mean()),
        float(np.mean([m.cllr for m in measures])),
    )


def auc(truth: Sequence[bool], answers: Sequence[float]) -> float:
    """The chance that a yes is answered higher than a no; equal answers count half."""
    yes = _both_kinds(truth, "AUC")
    positives, negatives = int(yes.sum()), int((~yes).sum())
    ranks = rankdata(np.asarray(answers, dtype=np.float64))
    return float((ranks[yes].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def c_at_1(truth: Sequence[bool], answers: Sequence[float]) -> float:
    """Accuracy in which an undecided answer (0.5) earns the accuracy of the others (section 1.2)."""
    n = len(answers)
    correct = sum(answer != 0.5 and (answer > 0.5) == same for same, answer in zip(truth, answers, strict=True))
    undecided = sum(answer == 0.5 for answer in answers)
    return (correct + undecided * correct / n) / n


def f05u(truth: Sequence[bool], answers: Sequence[float]) -> float:
    """F0.5 of yes, an undecided answer counting as a false negative."""
    pairs = list(zip(truth, answers, strict=True))
    true_positives = sum(same and answer > 0.5 for same, answer in pairs)
    false_positives = sum(not same and answer > 0.5 for same, answer in pairs)
    false_negatives = sum(same and answer < 0.5 for same, answer in pairs)
    undecided = sum(answer == 0.5 for _, answer in pairs)
    total = 1.25 * true_positives + 0.25 * (false_negatives + undecided) + false_positives
    return 1.25 * true_positives / total if total else 0.0


def f1(truth: Sequence[bool], answers: Sequence[float]) -> float:
    """F1 of yes among the decided answers."""
    decided = [(same, answer > 0.5) for same, answer in zip(truth, answers, strict=True) if answer != 0.5]
    hits = sum(same and said for same, said in decided)
    misses = sum(same != said for same, said in decided)
    return 2 * hits / (2 * hits + misses) if hits else 0.0


def brier(truth: Sequence[bool], answers: Sequence[float]) -> float:
    """One minus the mean squared distance between answer and truth."""
    return float(1 - np.mean((np.asarray(answers, dtype=np.float64) - np.asarray(truth, dtype=np.float64)) ** 2))


def log_ratios(answers: Sequence[float]) -> Values:
    """Natural logarithms of the likelihood ratios that answers amount to, read as probabilities at even odds."""
    chances = np.clip(np.asarray(answers, dtype=np.float64), FINEST, 1 - FINEST)
    ratios: Values = np.log(chances / (1 - chances))
    return ratios


def cllr(truth: Sequence[bool], ratios: Sequence[float] | Values) -> float:
    """Brümmer's cost of log-likelihood ratios (natural logarithms), in bits: yes and no problems weigh the same."""
    yes = _both_kinds(truth, "Cllr")
    values = np.asarray(ratios, dtype=np.float64)
    costs = np.logaddexp(0, np.where(yes, -values, values)) / np.log(2)
    return float((costs[yes].mean() + costs[~yes].mean()) / 2)


def cllr_min(truth: Sequence[bool], scores: Sequence[float] | Values) -> float:
    """The Cllr of the scores once pool-adjacent-violators, knowing the truth, has calibrated them as well as it can."""
    yes = _both_kinds(truth, "Cllr")
    values, groups = np.unique(np.asarray(scores, dtype=np.float64), return_inverse=True)
    counts = np.bincount(groups, minlength=len(values))
    share = np.bincount(groups, weights=yes, minlength=len(values)) / counts
    chances = isotonic_regression(share, weights=counts).x[groups]
    prior = yes.mean()
    with np.errstate(divide="ignore"):
        ratios = np.log(chances) - np.log1p(-chances) - np.log(prior / (1 - prior))
    return cllr(truth, ratios)


def eer(truth: Sequence[bool], answers: Sequence[float]) -> float:
    """Where the threshold gets equal shares of yes and of no wrong, between two thresholds by a straight line."""
    yes = _both_kinds(truth, "EER")
    values = np.asarray(answers, dtype=np.float64)
    thresholds = np.append(np.unique(values), np.inf)  # `yes` is said from the threshold on
    missed = np.array([(values[yes] < threshold).mean() for threshold in thresholds])
    accused = np.array([(values[~yes] >= threshold).mean() for threshold in thresholds])
    place = int(np.argmax(missed >= accused))  # never the first: there nothing is missed and everybody accused
    before, after = accused[place - 1] - missed[place - 1], missed[place] - accused[place]
    return float(missed[place - 1] + before / (before + after) * (missed[place] - missed[place - 1]))


@dataclass(frozen=True)
class Reliability:
    """Answers that lie near each other, and how many of them were yes."""

    problems: int
    answer: float
    """Their mean."""
    same: float
    """The share that was the same author."""


def reliability(truth: Sequence[bool], answers: Sequence[float], bins: int = 10) -> list[Reliability]:
    """What a calibration plot shows: answers in equal bins from 0 to 1, those that hold any."""
    yes, values = np.asarray(truth, dtype=np.bool_), np.asarray(answers, dtype=np.float64)
    places = np.minimum((values * bins).astype(np.int64), bins - 1)
    rows = []
    for place in np.unique(places):
        here = places == place
        rows.append(Reliability(int(here.sum()), float(values[here].mean()), float(yes[here].mean())))
    return rows


@dataclass(frozen=True)
class Tippett:
    """What a Tippett plot shows: at each log-likelihood ratio in bans, the share of problems with as much or more."""

    bans: tuple[float, ...]
    same: tuple[float, ...]
    """Of the yes problems."""
    different: tuple[float, ...]
    """Of the no problems."""


def tippett(truth: Sequence[bool], answers: Sequence[float]) -> Tippett:
    """The curves at every value that occurs."""
    yes = _both_kinds(truth, "a Tippett plot")
    values = log_ratios(answers) / np.log(10)
    steps = np.unique(values)

    def shares(chosen: Values) -> tuple[float, ...]:
        return tuple(float((chosen >= step).mean()) for step in steps)

    return Tippett(tuple(map(float, steps)), shares(values[yes]), shares(values[~yes]))


def bcubed_f(truth: Sequence[int], found: Sequence[int]) -> float:
    """The harmonic mean of BCubed precision and recall: of its cluster, and of its author's texts, what is right."""
    true, given = (np.unique(np.asarray(labels), return_inverse=True)[1] for labels in (truth, found))
    _, cell_of, both = np.unique(np.stack([true, given]), axis=1, return_inverse=True, return_counts=True)
    shared = both[cell_of.reshape(-1)]  # (texts,): how many have its author and its cluster
    precision = float((shared / np.bincount(given)[given]).mean())
    recall = float((shared / np.bincount(true)[true]).mean())
    return 2 * precision * recall / (precision + recall)


def average_precision(right: Sequence[bool] | Flags, links: int) -> float:
    """Of links listed from the strongest on, some of them right: the precision at each right one, over all true links.

    A true link that is not listed adds nothing; without any true link it is 0.
    """
    hits = np.asarray(right, dtype=np.bool_)
    precisions = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float(precisions[hits].sum() / links) if links else 0.0


def _both_kinds(truth: Sequence[bool], name: str) -> Flags:
    yes = np.asarray(truth, dtype=np.bool_)
    if not yes.any() or yes.all():
        raise AnswersError(f"{name} needs both yes and no in the truth; it has only one of them")
    return yes

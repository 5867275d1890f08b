"""Measures of answers: AUC, C@1 and their product (PAN 2015), the five of PAN 2022, Cllr and EER; of clusterings,
BCubed F and average precision (PAN 2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from byline.errors import AnswersError
from byline.judgment.likelihood_ratio import Values

Flags = NDArray[np.bool_]

MIN_PROBABILITY = 0.0005
"""Answers have three decimals: in a logarithm, 0.000 and 1.000 are taken to be this far from certainty."""


@dataclass(frozen=True)
class Measures:
    """The measures of one corpus's answers. AUC, C@1, F0.5u, F1 and Brier are from 0 to 1, and 1 is best."""

    problems: int
    undecided: int
    auc: float
    c_at_1: float
    f05u: float
    f1: float
    brier: float
    cllr: float
    """Bits per problem: 0 is perfect, 1 is the cost of always answering 0.5."""
    cllr_min: float
    """The Cllr after the best monotone recalibration."""
    eer: float

    @property
    def product(self) -> float:
        """Return AUC x C@1, the score of PAN 2014 and 2015."""
        return self.auc * self.c_at_1

    @property
    def overall(self) -> float:
        """Return the mean of the five measures of PAN 2022."""
        return (self.auc + self.c_at_1 + self.f05u + self.f1 + self.brier) / 5


@dataclass(frozen=True)
class Averages:
    """Averages over corpora."""

    corpora: int
    macro: float
    """The paper's Table 2: mean AUC times mean C@1."""
    micro: float
    """The same with both means weighted by problems."""
    mean_product: float
    mean_cllr: float


def measure(truth: Sequence[bool], answers: Sequence[float]) -> Measures:
    """Return all measures; raise AnswersError unless the truth has both yes and no."""
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
    """Return macro, micro and plain means over corpora."""
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
    """Return the probability that a yes is answered higher than a no; ties count half."""
    from scipy.stats import rankdata  # slow to import

    yes = require_both_classes(truth, "AUC")
    positives, negatives = int(yes.sum()), int((~yes).sum())
    ranks = rankdata(np.asarray(answers, dtype=np.float64))
    return float((ranks[yes].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def c_at_1(truth: Sequence[bool], answers: Sequence[float]) -> float:
    """Return C@1 (Peñas and Rodrigo, ACL 2011): undecided answers (0.5) earn the accuracy of the others."""
    n = len(answers)
    correct = sum(answer != 0.5 and (answer > 0.5) == same for same, answer in zip(truth, answers, strict=True))
    undecided = sum(answer == 0.5 for answer in answers)
    return (correct + undecided * correct / n) / n


def f05u(truth: Sequence[bool], answers: Sequence[float]) -> float:
    """Return F0.5u (Bevendorff et al., NAACL 2019): F0.5 of yes; undecided answers count as false negatives."""
    pairs = list(zip(truth, answers, strict=True))
    true_positives = sum(same and answer > 0.5 for same, answer in pairs)
    false_positives = sum(not same and answer > 0.5 for same, answer in pairs)
    false_negatives = sum(same and answer < 0.5 for same, answer in pairs)
    undecided = sum(answer == 0.5 for _, answer in pairs)
    total = 1.25 * true_positives + 0.25 * (false_negatives + undecided) + false_positives
    return 1.25 * true_positives / total if total else 0.0


def f1(truth: Sequence[bool], answers: Sequence[float]) -> float:
    """Return F1 of yes among the decided answers."""
    decided = [(same, answer > 0.5) for same, answer in zip(truth, answers, strict=True) if answer != 0.5]
    hits = sum(same and yes for same, yes in decided)
    misses = sum(same != yes for same, yes in decided)
    return 2 * hits / (2 * hits + misses) if hits else 0.0


def brier(truth: Sequence[bool], answers: Sequence[float]) -> float:
    """Return one minus the Brier score, the mean squared distance between answer and truth."""
    return float(1 - np.mean((np.asarray(answers, dtype=np.float64) - np.asarray(truth, dtype=np.float64)) ** 2))


def log_ratios(answers: Sequence[float]) -> Values:
    """Return the natural log-likelihood ratios of answers read as probabilities at even odds."""
    chances = np.clip(np.asarray(answers, dtype=np.float64), MIN_PROBABILITY, 1 - MIN_PROBABILITY)
    return np.log(chances / (1 - chances))


def cllr(truth: Sequence[bool], ratios: Sequence[float] | Values) -> float:
    """Return Cllr of natural log-likelihood ratios (Brümmer and du Preez 2006), in bits; yes and no weigh the same."""
    yes = require_both_classes(truth, "Cllr")
    values = np.asarray(ratios, dtype=np.float64)
    costs = np.logaddexp(0, np.where(yes, -values, values)) / np.log(2)
    return float((costs[yes].mean() + costs[~yes].mean()) / 2)


def cllr_min(truth: Sequence[bool], scores: Sequence[float] | Values) -> float:
    """Return Cllr after the best monotone calibration, by pool-adjacent-violators (PAV) with the truth known."""
    from scipy.optimize import isotonic_regression  # slow to import

    yes = require_both_classes(truth, "Cllr")
    values, groups = np.unique(np.asarray(scores, dtype=np.float64), return_inverse=True)
    counts = np.bincount(groups, minlength=len(values))
    share = np.bincount(groups, weights=yes, minlength=len(values)) / counts
    chances = isotonic_regression(share, weights=counts).x[groups]
    prior = yes.mean()
    with np.errstate(divide="ignore"):
        ratios = np.log(chances) - np.log1p(-chances) - np.log(prior / (1 - prior))
    return cllr(truth, ratios)


def eer(truth: Sequence[bool], answers: Sequence[float]) -> float:
    """Return the equal error rate, interpolated linearly between two thresholds."""
    yes = require_both_classes(truth, "EER")
    values = np.asarray(answers, dtype=np.float64)
    thresholds = np.append(np.unique(values), np.inf)  # the answer is yes from the threshold on
    missed = np.array([(values[yes] < threshold).mean() for threshold in thresholds])
    accused = np.array([(values[~yes] >= threshold).mean() for threshold in thresholds])
    index = int(np.argmax(missed >= accused))  # never the first threshold, at which all are accused
    before, after = accused[index - 1] - missed[index - 1], missed[index] - accused[index]
    return float(missed[index - 1] + before / (before + after) * (missed[index] - missed[index - 1]))


@dataclass(frozen=True)
class Reliability:
    """One bin of a reliability diagram: its problems, their mean answer, and the share by the same author."""

    problems: int
    answer: float
    same: float

    @property
    def interval(self) -> tuple[float, float]:
        """Return Wilson's 95% interval of the share."""
        from scipy.stats import binomtest  # slow to import

        found = binomtest(round(self.same * self.problems), self.problems).proportion_ci(method="wilson")
        return float(found.low), float(found.high)


def reliability(truth: Sequence[bool], answers: Sequence[float], bins: int = 10) -> list[Reliability]:
    """Return the bins of a reliability diagram from 0 to 1 that hold any answers."""
    yes, values = np.asarray(truth, dtype=np.bool_), np.asarray(answers, dtype=np.float64)
    numbers = np.minimum((values * bins).astype(np.int64), bins - 1)
    rows = []
    for number in np.unique(numbers):
        here = numbers == number
        rows.append(Reliability(int(here.sum()), float(values[here].mean()), float(yes[here].mean())))
    return rows


@dataclass(frozen=True)
class Tippett:
    """A Tippett plot: at each log-likelihood ratio in bans, the shares of yes and of no problems that reach it."""

    bans: tuple[float, ...]
    same: tuple[float, ...]
    different: tuple[float, ...]


def tippett(truth: Sequence[bool], bans: Sequence[float] | Values) -> Tippett:
    """Return the curves of a Tippett plot at every log-likelihood ratio that occurs."""
    yes = require_both_classes(truth, "a Tippett plot")
    values = np.asarray(bans, dtype=np.float64)
    steps = np.unique(values)

    def shares(chosen: Values) -> tuple[float, ...]:
        return tuple(float((chosen >= step).mean()) for step in steps)

    return Tippett(tuple(map(float, steps)), shares(values[yes]), shares(values[~yes]))


def bcubed_f(truth: Sequence[int], found: Sequence[int]) -> float:
    """Return BCubed F (Bagga and Baldwin 1998), the harmonic mean of BCubed precision and recall."""
    true, given = (np.unique(np.asarray(labels), return_inverse=True)[1] for labels in (truth, found))
    _, cell_of, both = np.unique(np.stack([true, given]), axis=1, return_inverse=True, return_counts=True)
    shared = both[cell_of.reshape(-1)]  # (texts,): how many have its author and its cluster
    precision = float((shared / np.bincount(given)[given]).mean())
    recall = float((shared / np.bincount(true)[true]).mean())
    return 2 * precision * recall / (precision + recall)


def average_precision(right: Sequence[bool] | Flags, links: int) -> float:
    """Return the sum of the precisions at each right link, the strongest first, over the number of true links.

    A true link that is not listed adds nothing. Without any true link it is 0.
    """
    hits = np.asarray(right, dtype=np.bool_)
    precisions = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float(precisions[hits].sum() / links) if links else 0.0


def require_both_classes(truth: Sequence[bool], measure: str) -> Flags:
    """Return the truth as an array; raise AnswersError unless it has both yes and no."""
    yes = np.asarray(truth, dtype=np.bool_)
    if not yes.any() or yes.all():
        raise AnswersError(
            f"{measure} needs both yes and no in the truth", remedy="Give answers to problems of both kinds"
        )
    return yes

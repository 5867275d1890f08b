"""How good answers are: PAN 2015's AUC, C@1 and their product; PAN 2022's five; averages over corpora."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from byline.errors import AnswersError


@dataclass(frozen=True)
class Measures:
    """Every measure of one corpus's answers, each from 0 to 1 with 1 the best."""

    problems: int
    undecided: int
    auc: float
    c_at_1: float
    f05u: float
    f1: float
    brier: float

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


def measure(truth: Sequence[bool], answers: Sequence[float]) -> Measures:
    """All measures; both kinds of truth must occur."""
    return Measures(
        len(answers),
        sum(answer == 0.5 for answer in answers),
        auc(truth, answers),
        c_at_1(truth, answers),
        f05u(truth, answers),
        f1(truth, answers),
        brier(truth, answers),
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
    )


def auc(truth: Sequence[bool], answers: Sequence[float]) -> float:
    """The chance that a yes is answered higher than a no; equal answers count half."""
    yes = np.asarray(truth, dtype=np.bool_)
    positives, negatives = int(yes.sum()), int((~yes).sum())
    if not positives or not negatives:
        raise AnswersError("AUC needs both yes and no in the truth; it has only one of them")
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

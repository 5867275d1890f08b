"""Fit the coefficients of whole corpora, and the built-in calibrations of their scores, to what pan.py has stored.

    BYLINE_DATA=folder-of-corpora python benchmarks/fit_whole_corpora.py

This writes judgment/corpus_coefficients.json and the calibrations of the preset `best`: with all engines, without
networks, and with n-grams and vectors only. pan.py and ablation.py call `fit_coefficients` too, for each corpus with
the others, so nothing that they measure was fitted to the corpus.

Slope and midpoint are fitted together by logistic regression with a ridge penalty. Corpora count equally, and so do
their problems by one author and by two. Half of the answers of every PAN corpus are yes, and each has about a hundred
problems; other people's corpora differ. So a corpus counts for WHOLE as it is, and for the rest by random parts of it,
with shares of yes from the distribution Beta(2, 2).
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from byline.corpora.answers import read_truth
from byline.corpora.problems import read_problems
from byline.judgment.calibration import Calibration, write_calibration
from byline.judgment.calibration_fitting import CalibrationLine, fit_calibration, fit_line, weigh_corpora
from byline.judgment.likelihood_ratio import Values
from byline.judgment.metrics import Flags
from byline.judgment.whole_corpora import (
    STEEPEST,
    CorpusCoefficients,
    corpus_coefficient_values,
    measure_corpus,
    rate_corpus,
    weigh_norms,
)
from byline.settings.settings import kinds_of, read_pool
from byline.storage.files import checked_json, write_files
from stored import RESULTS

Table = NDArray[np.float64]

JUDGMENT = Path(__file__).parent.parent / "src/byline/judgment"
SLOPE, MIDPOINT = ("constant", "strength"), ("constant", "median", "middle")
PREFERENCES = (0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
"""The preferences among norms that are tried."""
RIDGE = 0.003
"""The penalty on a squared coefficient, other than constants, beside a loss of 1 nat a problem."""
WHOLE = 0.75
PARTS, SMALLEST = 30, 5
"""Random parts of a corpus, and the fewest problems of one."""
SOURCES = {
    "best": None,
    "quick": ("characters", "ngram", "punctuation", "vectors", "words"),
    "ngrams": ("ngram", "vectors"),
}
"""Stored results by name, and the engines of the preset `best` that they are of, or None for all."""


class _Part(NamedTuple):
    """Some problems of a corpus, by the preference among norms."""

    scores: Values
    slope: Table  # (problems, SLOPE)
    midpoint: Table  # (problems, MIDPOINT)
    same: Flags
    weights: Values


def fit_coefficients(tables: Mapping[str, Table], truths: Mapping[str, Sequence[bool]]) -> CorpusCoefficients:
    """Return the coefficients for which the log-likelihood ratios of some corpora cost least.

    Parameters
    ----------
    tables
        (norms, problems): the means over engines of each corpus, NaN where there is no score.
    truths
        Of the same problems.
    """
    best: tuple[float, float, Values] | None = None
    corpora = sorted(tables)
    parts = {name: _draw_parts(np.array(truths[name], np.bool_), number) for number, name in enumerate(corpora)}
    for preference in PREFERENCES:
        trial = CorpusCoefficients(preference, {}, {})
        found = [_measure(tables[name], np.array(truths[name], np.bool_), parts[name], trial) for name in corpora]
        joined = _Part(*(np.concatenate(each) for each in zip(*(part for some in found for part in some), strict=True)))
        loss, values = _minimize(joined._replace(weights=joined.weights / len(corpora)))
        if best is None or loss < best[0]:
            best = loss, preference, values
    assert best is not None
    _, preference, values = best
    return CorpusCoefficients(
        preference,
        dict(zip(SLOPE, values[: len(SLOPE)].tolist(), strict=True)),
        dict(zip(MIDPOINT, values[len(SLOPE) :].tolist(), strict=True)),
        tuple(corpora),
    )


def rate(table: Table, coefficients: CorpusCoefficients) -> Values:
    """Return (problems,): natural log-likelihood ratios; NaN where there is no score."""
    scores = weigh_norms(table, coefficients) @ table
    return rate_corpus(scores, coefficients).apply(scores)


def _draw_parts(same: Flags, seed: int) -> list[NDArray[np.int64]]:
    """Return random parts of a corpus, as the places of their problems."""
    rng = np.random.default_rng(seed)
    yes, no = np.flatnonzero(same), np.flatnonzero(~same)
    found = []
    while len(found) < PARTS and min(len(yes), len(no)):
        count = int(np.exp(rng.uniform(np.log(SMALLEST), np.log(max(len(same), SMALLEST + 1)))))
        right = min(rng.binomial(count, rng.beta(2, 2)), len(yes))
        wrong = min(count - right, len(no))
        found.append(np.concatenate([rng.choice(yes, right, False), rng.choice(no, wrong, False)]))
    return found


def _measure(table: Table, same: Flags, parts: Sequence[NDArray[np.int64]], trial: CorpusCoefficients) -> list[_Part]:
    """Return a corpus and its parts, with weights that sum to 1."""
    there = ~np.isnan(table).any(axis=0)
    balanced = np.where(same, 0.5 / max((same & there).sum(), 1), 0.5 / max((~same & there).sum(), 1))
    found = []
    for number, places in enumerate([np.arange(len(same)), *parts]):
        chosen = places[there[places]]
        scores = weigh_norms(table[:, chosen], trial) @ table[:, chosen]
        qualities = measure_corpus(scores)
        slope, midpoint = (
            np.tile([qualities[name] for name in names], (len(chosen), 1)) for names in (SLOPE, MIDPOINT)
        )
        found.append(_Part(scores, slope, midpoint, same[chosen], balanced[chosen] * (WHOLE if number == 0 else 1)))
    total = sum(float(part.weights.sum()) for part in found[1:])
    return [found[0], *(part._replace(weights=part.weights * (1 - WHOLE) / total) for part in found[1:])]


def _minimize(part: _Part) -> tuple[float, Values]:
    """Return the penalized loss, and the coefficients of slope, then of midpoint."""
    count = part.slope.shape[1]
    signs = np.where(part.same, -1.0, 1.0)
    penalty = np.array([0.0 if name == "constant" else RIDGE for name in (*SLOPE, *MIDPOINT)])

    def cost(values: Values) -> tuple[float, Values]:
        slopes = np.exp(np.minimum(part.slope @ values[:count], STEEPEST))
        distances = part.scores - part.midpoint @ values[count:]
        against = signs * slopes * distances
        changes = part.weights * signs * expit(against)
        gradient = np.concatenate([(changes * slopes * distances) @ part.slope, -(changes * slopes) @ part.midpoint])
        loss = float(part.weights @ np.logaddexp(0, against) + penalty @ values**2)
        return loss, gradient + 2 * penalty * values

    found = minimize(cost, np.zeros(len(penalty)), jac=True, method="BFGS", options={"gtol": 1e-7})
    return float(found.fun), found.x


def fit_ratio_line(
    tables: Mapping[str, Table], truths: Mapping[str, Sequence[bool]], trial: CorpusCoefficients
) -> CalibrationLine:
    """Return the line that calibrates ratios of other engines than those that the coefficients were fitted to."""
    names = sorted(tables)
    ratios = np.concatenate([rate(tables[name], trial) for name in names])
    same = np.concatenate([np.array(truths[name], np.bool_) for name in names])
    weights = weigh_corpora([name for name in names for _ in truths[name]], same.tolist())
    there = ~np.isnan(ratios)
    return fit_line(ratios[there], same[there], weights[there])


def main() -> None:
    from judging import learn_caps, tables_of, truths_by_corpus  # it imports this module

    data = Path(os.environ.get("BYLINE_DATA") or sys.exit("set BYLINE_DATA to the folder that holds the corpora"))
    coefficients: CorpusCoefficients | None = None
    for name, engines in SOURCES.items():
        rows = json.loads((RESULTS / f"pan-{name}.json").read_text(encoding="utf-8"))["runs"]
        tables, truths = tables_of(rows), truths_by_corpus(rows, data)
        if coefficients is None:
            coefficients = fit_coefficients(tables, truths)
            content = checked_json(corpus_coefficient_values(coefficients))
            write_files(JUDGMENT, {"corpus_coefficients.json": content})
            line = CalibrationLine(1.0, 0.0)
        else:
            line = fit_ratio_line(tables, truths, coefficients)
        caps = learn_caps(rows, truths, alone=False)
        pool = read_pool("best")
        kinds = kinds_of((pool.only(engines) if engines else pool).rows)
        fitted = _describe(_hold_out(tables, truths), truths, data, kinds)
        fitted = dataclasses.replace(
            fitted, slope=line.slope, offset=line.offset, cap=caps.same, cap_different=caps.different
        )
        write_calibration(JUDGMENT / "calibrations" / f"{name}.json", fitted)
        print(
            f"{name}: {', '.join(fitted.engines)}; slope {line.slope:.3f}, offset {line.offset:.3f},"
            f" caps {caps.same:.2f} and {caps.different:.2f}, {fitted.problems} problems"
        )
    print(json.dumps(corpus_coefficient_values(coefficients), indent=1) if coefficients else "")


def _hold_out(tables: Mapping[str, Table], truths: Mapping[str, Sequence[bool]]) -> dict[str, Values]:
    """Return the ratios of each corpus by coefficients that were fitted to the others."""
    found = {}
    for corpus in tables:
        others = {name: table for name, table in tables.items() if name != corpus}
        found[corpus] = rate(tables[corpus], fit_coefficients(others, {name: truths[name] for name in others}))
    return found


def _describe(
    ratios_by_corpus: Mapping[str, Values], truths: Mapping[str, Sequence[bool]], data: Path, kinds: tuple[str, ...]
) -> Calibration:
    """Return a calibration with the counts, and with the Cllr of ratios whose corpus was left out of the fit."""
    ratios, truth, known, unknown, names = [], [], [], [], []
    for corpus in sorted(ratios_by_corpus):
        problems = {problem.id: problem for problem in read_problems(data / corpus).problems}
        for name, ratio, same in zip(
            sorted(read_truth(data / corpus)), ratios_by_corpus[corpus], truths[corpus], strict=True
        ):
            if name in problems:
                ratios.append(float(ratio))
                truth.append(same)
                known.append({document.text for document in problems[name].known})
                unknown.append(problems[name].unknown.text)
                names.append(corpus)
    return fit_calibration(
        ratios, truth, known, unknown, weigh_corpora(names, truth),
        interpretation="relative", engines=kinds, preset="best", corpora=sorted(set(names)),
    )  # fmt: skip


if __name__ == "__main__":
    main()

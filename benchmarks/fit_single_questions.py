"""Fit the general coefficients of single questions, and their calibration, to simulated cases of all corpora.

python benchmarks/fit_single_questions.py draw cases.pickle          # half an hour: scores cases of every corpus
python benchmarks/fit_single_questions.py validate cases.pickle      # corpora left out in turn
python benchmarks/fit_single_questions.py fit cases.pickle           # writes src/byline/judgment/coefficients.json

Each draw takes one corpus of $BYLINE_DATA, divides its authors into those who are asked about and a reference, and cuts
texts to lengths from 250 to 40,000 characters. Corpora of problems are asked as well, each half beside the other one.
In the validation, corpora of one kind are left out together.
"""

from __future__ import annotations

import argparse
import os
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from byline.corpora.answers import read_truth
from byline.corpora.labeled_corpus import LabeledCorpus, read_labeled_corpora
from byline.corpora.problems import Problem, ProblemSet, read_problems
from byline.corpora.reference_building import Author, LabeledText, make_reference
from byline.engines.language_groups import LanguageGroup, lay_out_groups
from byline.engines.matrix import Flags, Side, Table
from byline.engines.protocol import Runtime, load_engine
from byline.errors import BylineError
from byline.judgment.calibration import Calibration, write_calibration
from byline.judgment.calibration_fitting import CalibrationLine, fit_calibration, fit_line, text_groups
from byline.judgment.metrics import auc, c_at_1, cllr
from byline.judgment.simulated_cases import CaseOptions, draw_cases
from byline.judgment.single_questions import (
    CENTERED,
    NORMS,
    Coefficients,
    ReferenceScores,
    average_engines,
    builtin_coefficients,
    coefficient_values,
    fit_logistic,
    fuse_reference_scores,
    score_beside_reference,
)
from byline.settings.settings import kinds_of, read_pool
from byline.storage.files import checked_json, write_files
from stored import RESULTS, commit, save

JUDGMENT = Path(__file__).parent.parent / "src/byline/judgment"
DRAWS = 2
MOST_ASKED = 40
LENGTHS = (250, 40_000)
REFERENCES = (10, 100)
PRIOR_VARIANCE = 10.0
VARIANCES, CASE_WEIGHTS = (0.3, 1.0, 3.0), (0.5, 1.0, 2.0)


@dataclass(frozen=True)
class ScoredDraw:
    """The normalized scores of a draw's problems and of the cases of its reference, by engine."""

    corpus: str
    members: tuple[tuple[str, ReferenceScores], ...]
    same: Flags
    known: tuple[str, ...]
    """The author of the known texts of each problem."""
    unknown: tuple[str, ...]
    simulated: bool = True
    """Whether the problems were drawn, or made by people, as those of a corpus with its truth are."""


HeldOut = tuple[ScoredDraw, Table]
"""A draw and its log-likelihood ratios by coefficients that were fitted without its corpus."""


def score_draw(corpus: LabeledCorpus, seed: int) -> ScoredDraw | None:
    """Draw cases of one length and score them beside their reference; return None if the corpus is too small."""
    rng = np.random.default_rng([seed, *corpus.name.encode()])
    longest = max(min(LENGTHS[1], int(np.median(corpus.lengths))), LENGTHS[0] + 1)
    known, unknown = np.exp(rng.uniform(np.log(LENGTHS[0]), np.log(longest), 2)).astype(int).tolist()
    most = int(rng.integers(1, 6))
    largest = min(REFERENCES[1], max(11, len(corpus.authors) * 2 // 3))
    people = int(np.exp(rng.uniform(np.log(REFERENCES[0]), np.log(largest))))
    options = CaseOptions(
        known_length=known, unknown_length=unknown, most_known=most, asked_authors=MOST_ASKED, reference_authors=people
    )
    try:
        drawn = draw_cases(corpus, rng, options)
        rows = read_pool("cohort").rows
        groups, _ = lay_out_groups(drawn.problems, rows, (), True, drawn.reference, "cohort")
    except BylineError as error:
        print(f"{corpus.name}: {error}")
        return None
    cases = {case.id: case for case in drawn.cases}
    asked = [cases[problem.id] for problem in groups[0].problems]
    return ScoredDraw(
        corpus.name,
        score_group(groups[0]),
        np.array([case.same for case in asked]),
        tuple(case.known_author for case in asked),
        tuple(case.unknown_author for case in asked),
    )


def score_group(group: LanguageGroup) -> tuple[tuple[str, ReferenceScores], ...]:
    """Return the normalized scores of each member of the preset."""
    members = []
    for row in read_pool("cohort").rows:
        fill = load_engine(row.engine)
        sides = [
            Side.of(fill(side, row, np.random.default_rng(0), Runtime()).matrix, side)
            for side in group.prepared(row).sides
        ]
        members.append((row.engine_name, score_beside_reference(sides, len(group.problems))))
    return tuple(members)


def score_half(folder: Path, asked: int) -> ScoredDraw | None:
    """Score one half of a corpus of problems; the other half is the reference, without the texts of the first."""
    corpus = read_problems(folder)
    truth = read_truth(folder / "truth.txt")
    halves = divide_problems(corpus.problems)
    texts = {document.text for problem in halves[asked] for document in (*problem.known, problem.unknown)}
    labeled, pairs = [], []
    for problem in halves[1 - asked]:
        known, unknown = (Author(f"{problem.id} {side}", folder.name) for side in ("known", "unknown"))
        pairs.append((known, unknown))
        labeled += [LabeledText(each, known, problem.language) for each in problem.known if each.text not in texts]
        if problem.unknown.text not in texts:
            labeled.append(LabeledText(problem.unknown, unknown, problem.language))
    try:
        reference = make_reference(labeled, pairs, halves[asked][0].language, folder.name)
        problems = ProblemSet(tuple(halves[asked]), "folders")
        groups, _ = lay_out_groups(problems, read_pool("cohort").rows, (), True, reference, "cohort")
    except BylineError as error:
        print(f"{folder.name}: {error}")
        return None
    found = groups[0].problems
    names = tuple(problem.id for problem in found)
    same = np.array([truth[name] for name in names])
    known = tuple(min(document.text for document in problem.known) for problem in found)
    unknown = tuple(problem.unknown.text for problem in found)
    return ScoredDraw(folder.name, score_group(groups[0]), same, known, unknown, simulated=False)


def divide_problems(problems: Sequence[Problem]) -> tuple[list[Problem], list[Problem]]:
    """Divide problems into halves that share no text, if they fall into enough groups; otherwise at random."""
    rng = np.random.default_rng(0)
    groups = np.array(text_groups([{*(each.text for each in p.known), p.unknown.text} for p in problems]))
    sizes = np.bincount(groups)
    if sizes.max() > len(problems) / 2:
        first = rng.permutation(len(problems)) % 2 == 0
    else:
        order = sorted(rng.permutation(len(sizes)), key=lambda group: -sizes[group])
        counts, side = [0, 0], {}
        for group in order:
            side[group] = int(counts[1] < counts[0])
            counts[side[group]] += sizes[group]
        first = np.array([side[group] == 0 for group in groups])
    return tuple([each for each, here in zip(problems, first == half, strict=True) if here] for half in (True, False))


def _score_job(job: tuple[LabeledCorpus | Path, int]) -> ScoredDraw | None:
    source, number = job
    return score_half(source, number) if isinstance(source, Path) else score_draw(source, number)


def score_all(data: Path, draws: int, processes: int) -> list[ScoredDraw]:
    """Score some draws of each corpus below a folder."""
    jobs: list[tuple[LabeledCorpus | Path, int]] = []
    for folder in sorted(path for path in data.iterdir() if path.is_dir()):
        if (folder / "truth.txt").exists():
            jobs += [(folder, 0), (folder, 1)]
        for corpus in read_labeled_corpora(folder):
            print(f"{corpus.name}: {len(corpus.texts)} texts, {len(corpus.authors)} authors", flush=True)
            jobs += [(corpus, seed) for seed in range(draws)]
    with Pool(processes) as pool:
        return [found for found in pool.imap(_score_job, jobs) if found is not None]


def fit_units(draws: Sequence[ScoredDraw]) -> dict[str, float]:
    """Return the typical standard deviation of each engine's centered scores of different authors."""
    found: dict[str, list[float]] = {}
    for draw in draws:
        for name, scores in draw.members:
            found.setdefault(name, []).extend(group.norms[~group.same, CENTERED].std() for group in scores.groups)
    return {name: float(np.median(values)) for name, values in sorted(found.items())}


def mean_norms(draw: ScoredDraw, units: dict[str, float]) -> Table:
    """Return (problems, NORMS): the mean over engines."""
    table = np.full((len(draw.same), len(NORMS)), np.nan)
    for number, group in enumerate(draw.members[0][1].groups):
        table[group.problems] = average_engines(draw.members, number, units).problems
    return table


def weigh(same: Flags) -> Table:
    """Give same-author and different-author problems of a draw the same weight, and each draw the weight 1."""
    return np.where(same, 0.5 / max(same.sum(), 1), 0.5 / max((~same).sum(), 1))


def fit_general(draws: Sequence[ScoredDraw], variance: float, case_weight: float) -> Coefficients:
    """Fit the general coefficients; every corpus counts equally."""
    units = fit_units(draws)
    inputs, same, importance = [], [], []
    counts = {name: sum(draw.corpus == name for draw in draws) for name in {draw.corpus for draw in draws}}
    for draw in draws:
        norms = mean_norms(draw, units)
        there = ~np.isnan(norms).any(axis=1)
        inputs.append(norms[there])
        same.append(draw.same[there])
        importance.append(weigh(draw.same[there]) / counts[draw.corpus])
    table, truth, weights = np.concatenate(inputs), np.concatenate(same), np.concatenate(importance)
    means = np.average(table, axis=0, weights=weights)
    deviations = np.sqrt(np.average((table - means) ** 2, axis=0, weights=weights))
    standard = np.concatenate([(table - means) / deviations, np.ones((len(table), 1))], axis=1)
    precision = np.full(standard.shape[1], 1 / PRIOR_VARIANCE)
    fitted = fit_logistic(standard, truth, weights * 100, np.zeros(standard.shape[1]), precision)
    corpora = tuple(sorted(counts))
    return Coefficients(
        units, tuple(means.tolist()), tuple(deviations.tolist()), tuple(fitted.tolist()), variance, case_weight, corpora
    )


def family(corpus: str) -> str:
    """Return what is left out together: corpora of one kind, such as novels or the Dutch ones of one source."""
    if "novels-" in corpus and not corpus.startswith("pan"):
        return "novels"
    if "du_" in corpus or "dutch" in corpus or ("clustering" in corpus and "nl" in corpus):
        return "Dutch essays and reviews"
    if "greek" in corpus or "gr_" in corpus or ("clustering" in corpus and ("gr" in corpus or "el" in corpus)):
        return "Greek articles"
    return corpus.split(" ")[0]


def held_out_ratios(draws: Sequence[ScoredDraw], variance: float, case_weight: float) -> list[tuple[ScoredDraw, Table]]:
    """Return each draw's log-likelihood ratios by coefficients that were fitted to other families of corpora."""
    found = []
    for name in sorted({family(draw.corpus) for draw in draws}):
        general = fit_general([draw for draw in draws if family(draw.corpus) != name], variance, case_weight)
        found += [
            (draw, fuse_reference_scores(draw.members, general).ratios) for draw in draws if family(draw.corpus) == name
        ]
    return found


def choose_learning(draws: Sequence[ScoredDraw]) -> tuple[float, float]:
    """Return the variance and the case weight with the lowest mean Cllr of problems in corpora left out."""
    costs = {}
    for variance in VARIANCES:
        for case_weight in CASE_WEIGHTS:
            found = real_problems(held_out_ratios(draws, variance, case_weight))
            costs[variance, case_weight] = cost = float(np.mean([row["cllr"] for row in describe(found)]))
            print(f"variance {variance}, case weight {case_weight}: Cllr {cost:.4f}", flush=True)
    return min(costs, key=lambda pair: costs[pair])


def real_problems(found: Sequence[HeldOut]) -> list[HeldOut]:
    """Leave out simulated cases: they fit coefficients, and problems that people made fit the calibration."""
    return [(draw, ratios) for draw, ratios in found if not draw.simulated]


def fit_line_to(found: Sequence[HeldOut]) -> CalibrationLine:
    """Fit the line from held-out ratios to calibrated ones; every draw counts equally."""
    ratios = np.concatenate([each for _, each in found])
    same = np.concatenate([draw.same for draw, _ in found])
    weights = np.concatenate([weigh(draw.same) for draw, _ in found])
    there = ~np.isnan(ratios)
    return fit_line(ratios[there], same[there], weights[there])


def fit_all(draws: Sequence[ScoredDraw]) -> tuple[Coefficients, Calibration]:
    """Fit the coefficients to all draws, and the calibration to ratios of problems in corpora that were left out."""
    variance, case_weight = choose_learning(draws)
    found = real_problems(held_out_ratios(draws, variance, case_weight))
    same = np.concatenate([draw.same for draw, _ in found])
    calibration = fit_calibration(
        np.concatenate([ratios for _, ratios in found]),
        same.tolist(),
        [[f"{draw.corpus} {author}"] for draw, _ in found for author in draw.known],
        [f"{draw.corpus} {author}" for draw, _ in found for author in draw.unknown],
        np.concatenate([weigh(draw.same) for draw, _ in found]),
        interpretation="cohort",
        engines=kinds_of(read_pool("cohort").rows),
        preset="cohort",
        corpora=tuple(sorted({draw.corpus for draw, _ in found})),
    )
    return fit_general(draws, variance, case_weight), calibration


def describe(found: Sequence[HeldOut]) -> list[dict[str, Any]]:
    """Return measures of each corpus, after a line that is fitted to the other families of corpora."""
    rows = []
    for name in sorted({draw.corpus for draw, _ in found}):
        line = fit_line_to([each for each in found if family(each[0].corpus) != family(name)])
        own = [(draw.same, ratios) for draw, ratios in found if draw.corpus == name]
        same = np.concatenate([each for each, _ in own])
        ratios = line.offset + line.slope * np.nan_to_num(np.concatenate([each for _, each in own]))
        chances = expit(ratios).tolist()
        order, decided = auc(same.tolist(), chances), c_at_1(same.tolist(), chances)
        measures = {"auc": order, "c_at_1": decided, "product": order * decided, "cllr": cllr(same.tolist(), ratios)}
        rows.append({"corpus": name, **measures})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["draw", "validate", "fit"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if options.action == "draw":
        scored = score_all(Path(os.environ["BYLINE_DATA"]), options.draws, options.processes)
        options.file.write_bytes(pickle.dumps(scored))
        return
    draws: list[ScoredDraw] = pickle.loads(options.file.read_bytes())
    if options.action == "validate":
        general = builtin_coefficients()
        rows = describe(real_problems(held_out_ratios(draws, general.variance, general.case_weight)))
        names = ("auc", "c_at_1", "product", "cllr")
        rows.append({"corpus": "mean", **{name: float(np.mean([row[name] for row in rows])) for name in names}})
        for row in rows:
            print(f"{row['corpus']:24s}" + "".join(f"  {name} {row[name]:.3f}" for name in names))
        save(RESULTS / "single-questions.json", {"commit": commit(), "runs": rows})
        return
    coefficients, calibration = fit_all(draws)
    write_files(JUDGMENT, {"coefficients.json": checked_json(coefficient_values(coefficients))})
    write_calibration(JUDGMENT / "calibrations/cohort.json", calibration)


if __name__ == "__main__":
    main()

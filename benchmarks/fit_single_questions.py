"""Fit the coefficients of single questions to simulated cases of all corpora, and validate them on corpora left out.

python benchmarks/fit_single_questions.py score scores/     # scores the cases of single_cases.py, half an hour
python benchmarks/fit_single_questions.py validate scores/  # tables of corpora left out; stored in results
python benchmarks/fit_single_questions.py fit scores/       # writes coefficients.json and calibrations/cohort.json
python benchmarks/fit_single_questions.py table             # prints what validate stored

`score` writes one file for each draw. It continues where it was stopped, and adds members that the preset has now. The
fit takes the blocks `simulated`, `mismatched`, `long` and `same-kind`; every corpus of a block counts equally, and so
do its cases by one author and by two. Validation leaves out all corpora of a kind together, whether they are asked
about or the reference.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from threadpoolctl import threadpool_limits

from byline.corpora.problems import ProblemSet
from byline.engines.language_groups import lay_out_groups
from byline.engines.matrix import Flags, Side, Table
from byline.engines.protocol import Runtime, load_engine
from byline.errors import BylineError
from byline.judgment.calibration import Calibration, apply_caps, write_calibration
from byline.judgment.calibration_fitting import fit_line, supported_bounds
from byline.judgment.likelihood_ratio import best_radius
from byline.judgment.metrics import auc, c_at_1, cllr, cllr_min
from byline.judgment.reference_scores import ReferenceScores, average_reference_scores, score_beside_reference
from byline.judgment.resampling import weigh
from byline.judgment.single_questions import (
    STEEPEST,
    Bounds,
    Coefficients,
    coefficient_values,
    measure_qualities,
)
from byline.settings.settings import kinds_of, read_pool
from byline.storage.files import checked_json, write_files
from single_cases import BLOCKS, Draw
from stored import RESULTS, commit, save

JUDGMENT = Path(__file__).parent.parent / "src/byline/judgment"
SLOPE = ("constant", "length", "separation", "halves", "excess")
MIDPOINT = ("constant", "length", "separation", "halves", "excess", "own")
RIDGE, TOTAL = 0.3, 100.0
"""The penalty on half of a squared coefficient, and the sum of the weights of all cases."""
FITTED = ("simulated", "mismatched", "long", "same-kind")
SHARES = (0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.96, 1)
"""Shares of the cases, by slope, between which a bound is fitted: closer where slopes are great and few."""
BOOTSTRAP = 200
STORED = RESULTS / "single-questions.json"
LENGTH_STEPS = (250, 1_000, 4_000, 16_000, 128_000)
CLAIMS = (1, 2, 10, 100, 10_000)
"""Characters of the shorter side, and ratios, between which claims are counted."""


@dataclass(frozen=True)
class ScoredDraw:
    """The scores and qualities of a draw's problems."""

    block: str
    corpus: str
    name: str
    population: tuple[str, ...]
    same: Flags
    known: tuple[str, ...]
    """The author of the known texts of each problem, or the texts where no authors are labeled."""
    unknown: tuple[str, ...]
    members: tuple[tuple[str, ReferenceScores], ...]
    lengths: Table
    """(problems, 2): characters of the known texts together, and of the unknown text."""

    @cached_property
    def table(self) -> tuple[Table, dict[str, Table]]:
        """The scores and the qualities of the problems; NaN where no member can assess one."""
        return tabulate(self.members, len(self.same))


def tabulate(members: Sequence[tuple[str, ReferenceScores]], count: int) -> tuple[Table, dict[str, Table]]:
    """Return (problems,): scores, and the same of each quality."""
    scores = np.full(count, np.nan)
    qualities = {name: np.zeros(count) for name in {*SLOPE, *MIDPOINT}}
    for number in range(len(members[0][1].groups)):
        means = average_reference_scores(members, number)
        places = means.group.problems
        scores[places] = means.scores
        measured = measure_qualities(means.group, means.own)
        for name, values in qualities.items():
            values[places] = measured[name]
    return scores, {name: np.nan_to_num(values) for name, values in qualities.items()}


def score_draw(draw: Draw, scored: ScoredDraw | None = None) -> ScoredDraw | None:
    """Score the problems of a draw by every member of the preset, or by those that have not scored it yet."""
    rows = read_pool("cohort").rows
    members = dict(scored.members) if scored else {}
    missing = [row for row in rows if row.engine_name not in members]
    if not missing:
        return scored
    try:
        groups, _ = lay_out_groups(ProblemSet(draw.problems, "folders"), rows, (), True, draw.reference, "cohort")
    except BylineError as error:
        print(f"{draw.name}: {error}")
        return None
    (group,) = groups
    for row in missing:
        fill = load_engine(row.engine)
        sides = [
            Side.of(fill(side, row, np.random.default_rng(0), Runtime()).matrix, side)
            for side in group.prepared(row).sides
        ]
        found = score_beside_reference(sides, len(group.problems))
        members[row.engine_name] = ReferenceScores(found.scores, found.own, found.groups)
    ids = [problem.id for problem in group.problems]
    lengths = [[sum(len(each.text) for each in one.known), len(one.unknown.text)] for one in group.problems]
    return ScoredDraw(
        draw.block,
        draw.corpus,
        draw.name,
        draw.population,
        np.array([draw.same[name] for name in ids]),
        tuple(f"{draw.corpus} {draw.known_author[name]}" for name in ids),
        tuple(f"{draw.corpus} {draw.unknown_author[name]}" for name in ids),
        tuple(members.items()),
        np.array(lengths, np.float64),
    )


def _score_job(job: tuple[Path, Draw]) -> str:
    path, draw = job
    before = pickle.loads(path.read_bytes()) if path.exists() else None
    if before is not None or not path.exists():
        part = path.with_suffix(".part")
        part.write_bytes(pickle.dumps(score_draw(draw, before), protocol=5))
        part.replace(path)
    return f"{draw.block} {draw.name}"


def score_all(folder: Path, blocks: Sequence[str], processes: int) -> None:
    """Score the draws of some blocks, each into a file of its own."""
    folder.mkdir(exist_ok=True)

    def jobs() -> Iterator[tuple[Path, Draw]]:
        for block in blocks:
            for draw in BLOCKS[block]():
                key = hashlib.sha256(f"{block} {draw.name}".encode()).hexdigest()[:16]
                yield folder / f"{block}-{key}.pickle", draw

    with Pool(processes, threadpool_limits, (1, "blas")) as pool:  # threads of two processes would wait for each other
        for name in pool.imap(_score_job, jobs()):
            print(name, flush=True)


def read_scores(folder: Path) -> list[ScoredDraw]:
    """Read the draws that were scored."""
    found = [pickle.loads(path.read_bytes()) for path in sorted(folder.glob("*.pickle"))]
    return [draw for draw in found if draw is not None and draw.same.any() and not draw.same.all()]


def family(corpus: str) -> str:
    """Return what is left out together: corpora of one kind, such as novels or the Dutch ones of one source."""
    if corpus.startswith("novels-"):
        return "novels"
    if "du_" in corpus or "dutch" in corpus:
        return "Dutch essays and reviews"
    if "greek" in corpus or "gr_" in corpus:
        return "Greek articles"
    return corpus.split("/")[0]


def weigh_draws(draws: Sequence[ScoredDraw]) -> list[Table]:
    """Return weights that make corpora of a block count equally, and their cases by one author and by two."""
    counts = Counter((draw.block, draw.corpus) for draw in draws)
    found = []
    for draw in draws:
        there = ~np.isnan(draw.table[0])
        same, different = draw.same & there, ~draw.same & there
        weights = np.where(same, 0.5 / max(same.sum(), 1), 0.5 / max(different.sum(), 1)) * there
        found.append(weights / counts[draw.block, draw.corpus])
    return found


def fit_weights(draws: Sequence[ScoredDraw]) -> Table:
    """Fit the coefficients of slope, then midpoint, by penalized logistic regression."""
    slope, midpoint = (
        np.concatenate([np.stack([draw.table[1][name] for name in names], axis=1) for draw in draws])
        for names in (SLOPE, MIDPOINT)
    )
    scores = np.nan_to_num(np.concatenate([draw.table[0] for draw in draws]))
    signs = np.where(np.concatenate([draw.same for draw in draws]), 1.0, -1.0)
    weights = np.concatenate(weigh_draws(draws))
    weights *= TOTAL / weights.sum()
    penalty = np.full(len(SLOPE) + len(MIDPOINT), RIDGE)
    penalty[[0, len(SLOPE)]] = 0  # not of the constants

    def cost(values: Table) -> tuple[float, Table]:
        logarithms = slope @ values[: len(SLOPE)]
        slopes = np.exp(np.minimum(logarithms, STEEPEST))
        distances = scores - midpoint @ values[len(SLOPE) :]
        ratios = slopes * distances
        changes = -weights * signs * expit(-signs * ratios)
        gradient = np.concatenate(
            [slope.T @ (changes * ratios * (logarithms < STEEPEST)), -midpoint.T @ (changes * slopes)]
        )
        loss = float(weights @ np.logaddexp(0, -signs * ratios) + (penalty * values**2).sum() / 2)
        return loss, gradient + penalty * values

    found: Table = minimize(cost, np.zeros(len(penalty)), jac=True, method="L-BFGS-B", options={"maxiter": 1_000}).x
    return found


@dataclass(frozen=True)
class HeldOut:
    """A draw, and its ratios by coefficients that were fitted without its kinds of text."""

    draw: ScoredDraw
    ratios: Table
    """(problems,): natural logarithms, without bounds; 0 where there is no score."""
    slopes: Table
    """(problems,): logarithms."""


def apply_weights(draw: ScoredDraw, values: Table) -> HeldOut:
    """Return the ratios of a draw by fitted coefficients."""
    scores, qualities = draw.table
    slopes = sum(value * qualities[name] for name, value in zip(SLOPE, values, strict=False))
    midpoints = sum(value * qualities[name] for name, value in zip(MIDPOINT, values[len(SLOPE) :], strict=True))
    slopes = np.minimum(slopes, STEEPEST)
    return HeldOut(draw, np.nan_to_num(np.exp(slopes) * (scores - midpoints)), slopes)


def hold_out(draws: Sequence[ScoredDraw], group: Callable[[str], str] = family) -> tuple[list[HeldOut], list[Table]]:
    """Return each draw's ratios by a fit without its group of corpora, and the coefficients of these fits."""
    found: list[HeldOut] = []
    fits = []
    for name in sorted({group(draw.corpus) for draw in draws}):
        others = [draw for draw in draws if name not in map(group, (draw.corpus, *draw.population))]
        values = fit_weights([draw for draw in others if draw.block in FITTED])
        fits.append(values)
        found += [apply_weights(draw, values) for draw in draws if group(draw.corpus) == name]
    return found, fits


def fit_bounds(found: Sequence[HeldOut]) -> Bounds:
    """Return the bounds that held-out cases support, by the logarithm of the slope.

    Cases are sorted by slope; each share of them says what is supported at its median slope. Bounds never fall.
    """
    slopes = np.concatenate([each.slopes for each in found])
    bans = np.concatenate([each.ratios for each in found]) / np.log(10)
    same = np.concatenate([each.draw.same for each in found])
    known = [name for each in found for name in each.draw.known]
    unknown = [name for each in found for name in each.draw.unknown]
    edges = np.quantile(slopes, SHARES)
    knots, caps = [], []
    for part, (low, high) in enumerate(pairwise(edges)):
        chosen = np.flatnonzero((slopes >= low) & (slopes <= high))
        draws = weigh([known[n] for n in chosen], [unknown[n] for n in chosen], np.random.default_rng(part), BOOTSTRAP)
        knots.append(float(np.median(slopes[chosen])))
        caps.append(supported_bounds(same[chosen], bans[chosen], draws))
        print(f"slope {np.exp(knots[part]):.2f}: {len(chosen)} cases, bounds {caps[-1]}", flush=True)
    return Bounds(
        tuple(knots),
        tuple(np.maximum.accumulate([cap.same for cap in caps]).tolist()),
        tuple(np.maximum.accumulate([cap.different for cap in caps]).tolist()),
    )


def bound_ratios(each: HeldOut, bounds: Bounds) -> Table:
    """Return (problems,): natural log-likelihood ratios within their bounds."""
    same, different = bounds.at(each.slopes)
    ratios: Table = apply_caps(each.ratios / np.log(10), same, different) * np.log(10)
    return ratios


def measure(found: Sequence[HeldOut], bounds: Bounds, radius: float) -> list[dict[str, Any]]:
    """Return the measures of each corpus of each block."""
    rows = []
    for block, corpus in sorted({(each.draw.block, each.draw.corpus) for each in found}):
        own = [each for each in found if (each.draw.block, each.draw.corpus) == (block, corpus)]
        same = np.concatenate([each.draw.same for each in own])
        ratios = np.concatenate([bound_ratios(each, bounds) for each in own])
        chances = expit(ratios)
        answers = np.where(np.abs(chances - 0.5) < radius, 0.5, chances)
        order, decided = auc(same.tolist(), chances.tolist()), c_at_1(same.tolist(), answers.tolist())
        claimed = {
            f"{side} above {ratio}": float((ratios[kind] > np.log(ratio)).mean())
            for side, kind in (("same", same), ("different", ~same))
            for ratio in (10, 100)
        }
        rows.append(
            {
                "block": block, "corpus": corpus, "problems": len(same), "auc": order, "c_at_1": decided,
                "product": order * decided, "cllr": cllr(same.tolist(), ratios),
                "cllr_min": cllr_min(same.tolist(), ratios), **claimed,
            }
        )  # fmt: skip
    return rows


def choose_undecided(found: Sequence[HeldOut], bounds: Bounds) -> float:
    """Return the radius of undecided answers with the highest C@1 on held-out cases of the blocks of the fit."""
    used = [each for each in found if each.draw.block in FITTED]
    chances = expit(np.concatenate([bound_ratios(each, bounds) for each in used]))
    same = np.concatenate([each.draw.same for each in used])
    return best_radius(chances, ((chances > 0.5) == same).astype(np.float64))


def measure_claims(found: Sequence[HeldOut], bounds: Bounds) -> list[dict[str, Any]]:
    """Return how often ratios of some size are right and misleading, by the length of the shorter side."""
    same = np.concatenate([each.draw.same for each in found])
    bans = np.concatenate([bound_ratios(each, bounds) for each in found]) / np.log(10)
    lengths = np.concatenate([each.draw.lengths.min(axis=1) for each in found])
    rows = []
    for low, high in pairwise(LENGTH_STEPS):
        inside = (lengths >= low) & (lengths < high)
        for claim, most in pairwise(CLAIMS):
            claimed = inside & (np.abs(bans) >= np.log10(claim)) & (np.abs(bans) < np.log10(most))
            right = (bans > 0) == same
            counts = [
                int((claimed & kind).sum()) for kind in (same & right, ~same & ~right, ~same & right, same & ~right)
            ]
            shares = [
                count / max(int((inside & kind).sum()), 1)
                for count, kind in zip(counts, (same, ~same, ~same, same), strict=True)
            ]
            rows.append(
                {
                    "from": low, "to": high, "claimed from": claim, "claimed to": most,
                    "same right": counts[0], "same misleading": counts[1],
                    "observed same": shares[0] / shares[1] if shares[1] else None,
                    "different right": counts[2], "different misleading": counts[3],
                    "observed different": shares[2] / shares[3] if shares[3] else None,
                }
            )  # fmt: skip
    return rows


def measure_rivals(
    found: Sequence[HeldOut], bounds: Bounds, table: Mapping[tuple[str, str, str], Mapping[str, float]]
) -> list[dict[str, Any]]:
    """Return the mean measures of rival methods by block, and how probably this program has the lower Cllr.

    A rival's scores become likelihood ratios by a line that is fitted to the other families of corpora.
    """
    rows = []
    for rival in sorted({name for *_, name in table}):
        scored = [
            (each, np.array([own[name] for name in sorted(own)]))
            for each in found
            if len(own := table.get((each.draw.block, each.draw.name, rival), {})) == len(each.draw.same)
        ]
        if len({family(each.draw.corpus) for each, _ in scored}) < 2:
            continue  # nothing is left to fit the line to
        ratios = []
        for each, scores in scored:
            others = [(one, values) for one, values in scored if family(one.draw.corpus) != family(each.draw.corpus)]
            weights = np.concatenate(weigh_draws([one.draw for one, _ in others]))
            same = np.concatenate([one.draw.same for one, _ in others])
            line = fit_line(np.concatenate([values for _, values in others]), same, weights)
            ratios.append(line.offset + line.slope * scores)
        for block in dict.fromkeys(each.draw.block for each, _ in scored):
            places = [n for n, (each, _) in enumerate(scored) if each.draw.block == block]
            corpora: dict[str, list[int]] = {}
            for place in places:
                corpora.setdefault(scored[place][0].draw.corpus, []).append(place)
            own, theirs = [], []
            for numbers in corpora.values():
                same = np.concatenate([scored[n][0].draw.same for n in numbers])
                for values, into in (
                    (np.concatenate([bound_ratios(scored[n][0], bounds) for n in numbers]), own),
                    (np.concatenate([ratios[n] for n in numbers]), theirs),
                ):
                    order = auc(same.tolist(), values.tolist())
                    into.append(
                        [order, order * c_at_1(same.tolist(), expit(values).tolist()), cllr(same.tolist(), values)]
                    )
            rng = np.random.default_rng(0)
            drawn = rng.integers(len(own), size=(BOOTSTRAP, len(own)))
            better = (np.array(own)[drawn, 2].mean(axis=1) < np.array(theirs)[drawn, 2].mean(axis=1)).mean()
            for name, values in (("byline", own), (rival, theirs)):
                mean = np.mean(values, axis=0)
                rows.append(
                    {
                        "block": block, "against": rival, "method": name, "corpora": len(own), "auc": float(mean[0]),
                        "product": float(mean[1]), "cllr": float(mean[2]), "probability": float(better),
                    }
                )  # fmt: skip
    return rows


def print_stored(stored: Mapping[str, Any]) -> None:
    """Print all tables."""
    print_rows(stored["runs"])
    print("\nThe corpus itself is left out, but not others of its kind:\n")
    print_rows(stored["runs with its kind"], means_only=True)
    print(
        "\n| shorter side | claimed | same: right | misleading | observed | different: right | misleading | observed |"
    )
    print(f"|{'---|' * 8}")
    for row in stored["claims"]:
        observed = [
            f"{row[f'observed {side}']:.1f}" if row[f"observed {side}"] else "" for side in ("same", "different")
        ]
        print(
            f"| {row['from']:,} to {row['to']:,}"
            f" | {row['claimed from']:,} to {row['claimed to']:,} | {row['same right']}"
            f" | {row['same misleading']} | {observed[0]} | {row['different right']} | {row['different misleading']}"
            f" | {observed[1]} |"
        )
    print(
        "\n| block | method | corpora | auc | product | cllr | this program has the lower Cllr |"
        "\n|---|---|---|---|---|---|---|"
    )
    for row in stored["rivals"]:
        chance = f"{row['probability']:.2f}" if row["method"] != "byline" else ""
        print(
            f"| {row['block']} | {row['method']} | {row['corpora']} | {row['auc']:.3f} | {row['product']:.3f}"
            f" | {row['cllr']:.3f} | {chance} |"
        )


def fingerprint() -> str:
    """Return a hash of the packages that answers depend on."""
    digest = hashlib.sha256()
    for package in ("text", "corpora", "engines", "judgment"):
        for path in sorted((JUDGMENT.parent / package).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def print_rows(rows: Sequence[Mapping[str, Any]], means_only: bool = False) -> None:
    """Print the measures of each corpus, or of none, and their means by block."""
    names = ("auc", "c_at_1", "product", "cllr", "same above 100", "different above 100")
    print(f"| block | corpus | {' | '.join(names)} |")
    print(f"|---|---|{'---|' * len(names)}")
    for block in dict.fromkeys(row["block"] for row in rows):
        own = [row for row in rows if row["block"] == block]
        for row in () if means_only else own:
            print(f"| {block} | {row['corpus']} | {' | '.join(f'{row[name]:.3f}' for name in names)} |")
        means = " | ".join(f"**{np.mean([row[name] for row in own]):.3f}**" for name in names)
        print(f"| **{block}** | **mean** | {means} |")


def fit_all(draws: Sequence[ScoredDraw]) -> tuple[Coefficients, Calibration]:
    """Fit the coefficients to all draws, and bounds to ratios of draws whose kinds of text were left out."""
    found, fits = hold_out(draws)
    bounds = fit_bounds(found)
    values = fit_weights([draw for draw in draws if draw.block in FITTED])
    apart = np.array(fits) - np.mean(fits, axis=0)
    covariance = (len(fits) - 1) / len(fits) * apart.T @ apart  # jackknife over kinds of text
    corpora = tuple(sorted({draw.corpus for draw in draws}))
    coefficients = Coefficients(
        dict(zip(SLOPE, values[: len(SLOPE)].tolist(), strict=True)),
        dict(zip(MIDPOINT, values[len(SLOPE) :].tolist(), strict=True)),
        tuple(map(tuple, covariance.tolist())),
        bounds,
        corpora,
    )
    used = [each for each in found if each.draw.block in FITTED]
    same = np.concatenate([each.draw.same for each in used])
    rows = measure(used, bounds, 0.0)
    calibration = Calibration(
        slope=1.0,
        offset=0.0,
        cap=max(bounds.same),
        cap_different=max(bounds.different),
        threshold=choose_undecided(found, bounds),
        interpretation="cohort",
        engines=kinds_of(read_pool("cohort").rows),
        preset="cohort",
        problems=len(same),
        texts=len({name for each in used for name in (*each.draw.known, *each.draw.unknown)}),
        corpora=corpora,
        cllr=float(np.mean([row["cllr"] for row in rows])),
        cllr_min=float(np.mean([row["cllr_min"] for row in rows])),
    )
    return coefficients, calibration


def main() -> None:
    """Run the command that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("score", "validate", "fit", "table"))
    parser.add_argument("scores", type=Path, nargs="?", default=Path("scores"), help="the folder of scored draws")
    parser.add_argument("--rivals", type=Path, help="scores of single_rivals.py, to compare with")
    parser.add_argument("--blocks", nargs="+", choices=list(BLOCKS), default=list(BLOCKS))
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    if options.command == "score":
        score_all(options.scores, options.blocks, options.processes)
        return
    if options.command == "table":
        print_stored(json.loads(STORED.read_text(encoding="utf-8")))
        return
    draws = read_scores(options.scores)
    if options.command == "fit":
        coefficients, calibration = fit_all(draws)
        write_files(JUDGMENT, {"coefficients.json": checked_json(coefficient_values(coefficients))})
        write_calibration(JUDGMENT / "calibrations" / "cohort.json", calibration)
        return
    found, _ = hold_out(draws)
    bounds = fit_bounds(found)
    rows = measure(found, bounds, choose_undecided(found, bounds))
    near, _ = hold_out(draws, str)
    near_bounds = fit_bounds(near)
    stored = {
        "commit": commit(),
        "code": fingerprint(),
        "runs with its kind": measure(near, near_bounds, choose_undecided(near, near_bounds)),
        "claims": measure_claims(found, bounds),
        "rivals": measure_rivals(found, bounds, pickle.loads(options.rivals.read_bytes())) if options.rivals else [],
        "runs": rows,
    }
    save(STORED, stored)
    print_stored(stored)


if __name__ == "__main__":
    main()

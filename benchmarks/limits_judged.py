"""What scores of limits.py's points are worth: answers calibrated on the other corpora, and their measures."""

from __future__ import annotations

import dataclasses
import json
import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from byline.corpora.answers import read_truth
from byline.corpora.problems import Problem, read_problems
from byline.judgment.likelihood_ratio import Values, choose_radius, probability
from byline.judgment.metrics import auc, c_at_1, cllr
from byline.judgment.resampling import Draws, interval, measure_draws, weigh_texts
from judging import Learned, bans_of, learn, learn_caps, mean_held_out
from stored import RESULTS

WHOLE = 0
"""Stands for texts that are not cut."""
UNKNOWN = (250, 500, 1_000, 2_000, 4_000, 8_000)
KNOWN = (250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
BESIDE = 4_000
"""The most known characters where unknown texts are cut."""
CURVES = {"unknown": (UNKNOWN, BESIDE), "known": (KNOWN, WHOLE)}
"""The side that is cut: to which lengths, and the most that the other side has."""
LEAST_EVIDENCE = 0.1
"""Bits a question, 1 less Cllr: a side is short where there is less on the mean."""
PANEL = {"unknown": 4_000, "known": 8_000}
"""Of each side the length that problems reach which are the same at all shorter lengths."""
NETWORKS = (500, 2_000, WHOLE)
FEWEST = 10
"""Problems of either kind that a corpus needs to take part."""
PEOPLE = (10, 20, 40, 80, 150, 300)
WIDE = (80, 150)
"""People that corpora have which are the same at all smaller numbers."""
DRAWN = 3
LEVELS = (0.0, math.log10(2), 0.7)
"""Bans: more than none, where weak support begins, and five times."""
CLAIMS = (math.log10(2), 0.7, 1.0, 1.5, 2.0)
"""Bans that a line without a cap gives."""
CHOSEN = 15
"""Problems of either kind, where each is answered by itself."""
USUAL = 40
"""People of a reference where something else is measured."""
WAYS = (
    ("as it is", 0.0),
    ("copy-edited", 0.0),
    *(("words", share) for share in (0.05, 0.1, 0.2, 0.3)),
    *(("borrowed", share) for share in (0.1, 0.25, 0.5)),
)
"""How unknown texts are edited, and how much of them."""

Row = dict[str, Any]


class Corpus(NamedTuple):
    """Its problems and their truth, both in the order of ids."""

    name: str
    problems: tuple[Problem, ...]
    truth: tuple[bool, ...]

    @property
    def language(self) -> str:
        """That of all its texts."""
        return self.problems[0].language


def read_corpora(data: Path) -> dict[str, Corpus]:
    found = {}
    for folder in sorted(child for child in data.iterdir() if (child / "truth.txt").exists()):
        problems, truth = read_problems(folder).problems, read_truth(folder)
        found[folder.name] = Corpus(folder.name, problems, tuple(truth[problem.id] for problem in problems))
    return found


def name_of(row: Row) -> tuple[Any, ...]:
    """Which point a row is."""
    return tuple(row.get(key) for key in ("part", "corpus", "unknown", "known", "people", "draw", "beside"))


def choose(corpus: Corpus) -> list[int]:
    """The problems that are answered by themselves: as many of either kind."""
    chance = random.Random(1)
    kinds = [[place for place, same in enumerate(corpus.truth) if same is kind] for kind in (True, False)]
    return sorted(place for kind in kinds for place in chance.sample(kind, min(CHOSEN, len(kind))))


Lines = Mapping[str, Learned]
"""By corpus: what the others teach."""
Figure = dict[str, Any]


class Case(NamedTuple):
    """Some problems of a corpus as they were answered, and how they weigh in each draw."""

    truth: NDArray[np.bool_]
    bans: Values
    answers: Values
    weights: Draws

    def take(self, places: NDArray[np.bool_]) -> Case:
        """Some of them."""
        return Case(self.truth[places], self.bans[places], self.answers[places], self.weights[:, places])


def judge(rows: Sequence[Row], corpora: Mapping[str, Corpus]) -> dict[str, Any]:
    """The measures of everything that is stored, by part; corpora count alike."""
    found: dict[str, Any] = {}
    named = {name_of(row): row for row in rows}
    whole = [row for row in rows if row["part"] == "length" and row["unknown"] == row["known"] == WHOLE]
    judged = Judged(corpora, {name: list(corpus.truth) for name, corpus in corpora.items()})
    if len(whole) == len(corpora):
        lines = judged.fit_lines(whole, "values")
        found["length"] = {side: judge_lengths(judged, named, lines, side) for side in CURVES}
        found["spread"] = judge_spread(judged, named, lines)
        found["masks"] = judge_masks(judged, whole)
        found["networks"] = judge_networks(judged, named, lines)
    alone = judged.fit_lines(read_rows("cohort"), "values", alone=True)
    found["reference"] = judge_reference(judged, rows, alone)
    found["kinds"] = judge_kinds(judged, rows, alone)
    found["editing"] = judge_editing(judged, rows, alone)
    found["errors"] = judge_errors(judged)
    found["support"] = judge_support(judged)
    return found


def read_rows(name: str) -> list[Row]:
    """What pan.py stored, by the order of problems' ids."""
    rows: list[Row] = json.loads((RESULTS / f"pan-{name}.json").read_text(encoding="utf-8"))["runs"]
    return rows


@dataclasses.dataclass(frozen=True)
class Judged:
    """The corpora, and what turns their scores into answers."""

    corpora: Mapping[str, Corpus]
    truths: Mapping[str, list[bool]]

    def fit_lines(self, rows: Sequence[Row], key: str, alone: bool = False) -> Lines:
        """For each corpus what is fitted on the others."""
        found = {}
        same = [{"corpus": row["corpus"], "seed": row.get("seed", 0), "values": row[key]} for row in rows]
        for name in self.corpora:
            others = [row for row in same if row["corpus"] != name]
            found[name] = learn(others, self.truths, alone)
        return found

    def case(self, name: str, values: Sequence[float | None], lines: Lines, places: Sequence[int] = ()) -> Case:
        """The answers of a corpus, or of some of its problems."""
        learned = lines[name]
        corpus = self.corpora[name]
        picked = list(places) or list(range(len(corpus.problems)))
        bans = bans_of(values, learned)
        chances = probability(bans)
        near = np.abs(chances - 0.5) < (choose_radius(chances) if learned.radius is None else learned.radius)
        weights = weigh_texts([corpus.problems[place] for place in picked], np.random.default_rng(0))
        return Case(np.array(corpus.truth)[picked], bans, np.where(near, 0.5, chances), weights)


def summarize(cases: Sequence[Case]) -> Figure:
    """Means over corpora, with intervals of AUC and Cllr where 95 of 100 draws of texts have them."""
    ratios = [case.bans * np.log(10) for case in cases]
    figures = [
        (auc(case.truth.tolist(), case.answers.tolist()), c_at_1(case.truth.tolist(), case.answers.tolist()),
         cllr(case.truth.tolist(), own))
        for case, own in zip(cases, ratios, strict=True)
    ]  # fmt: skip
    drawn = [
        measure_draws(case.truth.tolist(), case.answers.tolist(), case.weights, own)
        for case, own in zip(cases, ratios, strict=True)
    ]
    ends = {key: interval(np.mean([each[key] for each in drawn], axis=0)) for key in ("auc", "cllr")}
    means = np.mean(figures, axis=0)
    return {
        "corpora": len(cases),
        "problems": sum(len(case.truth) for case in cases),
        "auc": tidy(means[0]),
        "c_at_1": tidy(means[1]),
        "product": tidy(np.mean([one * other for one, other, _ in figures])),
        "cllr": tidy(means[2]),
        "auc_interval": [tidy(ends["auc"].low), tidy(ends["auc"].high)],
        "cllr_interval": [tidy(ends["cllr"].low), tidy(ends["cllr"].high)],
        "false": [tidy(np.mean([rate_above(case.bans[~case.truth], level) for case in cases])) for level in LEVELS],
    }


def tidy(value: float | np.floating[Any]) -> float:
    return round(float(value), 4)


def enough(case: Case) -> bool:
    """Whether a corpus has so many problems that it takes part."""
    return bool(min(case.truth.sum(), (~case.truth).sum()) >= FEWEST)


def lengths_of(corpus: Corpus, side: str) -> NDArray[np.int64]:
    """(problems,): characters of that side."""
    if side == "unknown":
        return np.array([len(problem.unknown.text) for problem in corpus.problems])
    return np.array([sum(len(document.text) for document in problem.known) for problem in corpus.problems])


def reaches(corpus: Corpus, side: str, length: int) -> bool:
    """Whether enough of its problems are so long."""
    long, truth = lengths_of(corpus, side) >= length, np.array(corpus.truth)
    return bool(min((long & truth).sum(), (long & ~truth).sum()) >= FEWEST)


def judge_lengths(judged: Judged, named: Mapping[Any, Row], lines: Lines, side: str) -> dict[str, Any]:
    """One curve: at each length all problems that reach it, and those that reach the panel's; both whole as well."""
    steps, other = CURVES[side]

    def case_at(name: str, length: int) -> Case | None:
        cuts = {"unknown": length, "known": other} if side == "unknown" else {"unknown": other, "known": length}
        row = named.get(name_of({"part": "length", "corpus": name, **cuts}))
        return judged.case(name, row["values"], lines) if row else None

    found: dict[str, Any] = {"points": [], "panel": [], "corpora": []}
    extents = {name: lengths_of(corpus, side) for name, corpus in judged.corpora.items()}
    for length in steps:
        cut_cases, whole_cases, panel, panel_whole = [], [], [], []
        for name, extent in extents.items():
            at, whole = case_at(name, length), case_at(name, WHOLE)
            if at is None or whole is None:
                continue
            if enough(at.take(extent >= length)):
                cut_cases.append(at.take(extent >= length))
                whole_cases.append(whole.take(extent >= length))
                own = summarize(cut_cases[-1:])
                found["corpora"].append(
                    {"corpus": name, "length": length, **{key: own[key] for key in ("problems", "auc", "cllr")}}
                )
            if length <= PANEL[side] and enough(at.take(extent >= PANEL[side])):
                panel.append(at.take(extent >= PANEL[side]))
                panel_whole.append(whole.take(extent >= PANEL[side]))
        if cut_cases:
            found["points"].append({"length": length, **summarize(cut_cases), "whole": summarize(whole_cases)})
        if panel:
            found["panel"].append({"length": length, **summarize(panel), "whole": summarize(panel_whole)})
    return found


def find_short(points: Sequence[Figure]) -> int:
    """The least length from which on, at it and at all greater ones, there is enough evidence on the mean."""
    found = 0
    for point in reversed(points):
        if 1 - point["cllr"] < LEAST_EVIDENCE:
            break
        found = point["length"]
    return found


def judge_spread(judged: Judged, named: Mapping[Any, Row], lines: Lines) -> list[Figure]:
    """As many known characters of the first texts, and of all; of problems that have several texts and so many."""
    found = []
    for label, part, known in (("first", "length", BESIDE), ("all", "spread", BESIDE), ("whole", "length", WHOLE)):
        cases = []
        for name, corpus in judged.corpora.items():
            row = named.get(name_of({"part": part, "corpus": name, "unknown": WHOLE, "known": known}))
            several = np.array([len(problem.known) > 1 for problem in corpus.problems])
            several &= lengths_of(corpus, "known") >= 2 * BESIDE
            if row and enough(case := judged.case(name, row["values"], lines).take(several)):
                cases.append(case)
        if cases:
            found.append({"known": label, **summarize(cases)})
    return found


def judge_masks(judged: Judged, whole: Sequence[Row]) -> list[Figure]:
    """For each corpus all members, those with the topic masked and those without, each calibrated by its like."""
    found = []
    ways = {"all": "values", "masked": "mask topic", "plain": "mask none"}
    lines = {way: judged.fit_lines(whole, key) for way, key in ways.items()}
    for row in whole:
        figures = {way: summarize([judged.case(row["corpus"], row[key], lines[way])]) for way, key in ways.items()}
        kept = {way: {key: own[key] for key in ("auc", "cllr")} for way, own in figures.items()}
        found.append({"corpus": row["corpus"], **kept})
    return found


def judge_networks(judged: Judged, named: Mapping[Any, Row], lines: Lines) -> list[Figure]:
    """At each point both kinds of members, of the same problems: those of corpora that have all points."""
    full = judged.fit_lines(read_rows("best"), "values")

    def find(part: str, name: str, length: int) -> Row | None:
        return named.get(name_of({"part": part, "corpus": name, "unknown": length, "known": BESIDE}))

    done = [name for name in judged.corpora if all(find("networks", name, length) for length in NETWORKS)]
    found = []
    for length in NETWORKS:
        with_them, without = [], []
        for name in done:
            reach = lengths_of(judged.corpora[name], "unknown") >= length
            one, other = find("networks", name, length), find("length", name, length)
            if one and other and enough(case := judged.case(name, one["values"], full).take(reach)):
                with_them.append(case)
                without.append(judged.case(name, other["values"], lines).take(reach))
        if with_them:
            found.append({"length": length, "networks": summarize(with_them), "quick": summarize(without)})
    return found


def judge_reference(judged: Judged, rows: Sequence[Row], lines: Lines) -> list[Figure]:
    """At each number of people the mean over draws, of all corpora that have so many and of those that have more."""
    mine = [row for row in rows if row["part"] == "reference"]
    found = []
    for people in PEOPLE:
        point: Figure = {"people": people}
        for key, wide in (("all", people), *((f"wide {count}", count) for count in WIDE)):
            names = {row["corpus"] for row in mine if row["people"] == wide}
            own = [row for row in mine if row["people"] == people and row["corpus"] in names]
            draws = [
                summarize([judged.case(row["corpus"], row["values"], lines, choose(judged.corpora[row["corpus"]]))
                           for row in own if row["draw"] == draw])
                for draw in sorted({row["draw"] for row in own})
            ]  # fmt: skip
            if draws and people <= wide:
                point[key] = join(draws)
        if "all" in point:
            found.append(point)
    return found


def join(draws: Sequence[Figure]) -> Figure:
    """The mean of some draws' figures, their intervals likewise, and how far the draws are apart."""
    keys = ("auc", "c_at_1", "product", "cllr")
    means = {key: tidy(np.mean([each[key] for each in draws])) for key in keys}
    ends = {f"{key}_interval": np.mean([each[f"{key}_interval"] for each in draws], axis=0) for key in ("auc", "cllr")}
    span = {
        f"{key}_span": [min(each[key] for each in draws), max(each[key] for each in draws)] for key in ("auc", "cllr")
    }
    counts = {key: draws[0][key] for key in ("corpora", "problems")}
    return {
        **counts,
        "draws": len(draws),
        **means,
        **{key: [tidy(end) for end in own] for key, own in ends.items()},
        **span,
    }


def rate_above(bans: Values, level: float) -> float:
    """The share that reaches a level, 0 itself being none."""
    return float(((bans >= level) & (bans > 0)).mean())


def judge_kinds(judged: Judged, rows: Sequence[Row], lines: Lines) -> list[Figure]:
    """How often different authors are called the same beside each reference, and what is said of that."""
    found = []
    for row in (row for row in rows if row["part"] == "kinds"):
        case = judged.case(row["corpus"], row["values"], lines, choose(judged.corpora[row["corpus"]]))
        others = case.bans[~case.truth]
        found.append({
            "corpus": row["corpus"], "beside": row["beside"], "people": row["authors"], "problems": len(case.truth),
            "auc": summarize([case])["auc"], "cllr": summarize([case])["cllr"],
            **{f"false {level:g}": tidy(rate_above(others, level)) for level in LEVELS},
            "missed": tidy((case.bans[case.truth] < 0).mean()),
            "warned": tidy(np.mean([grade in ("poor", "none") for grade in row["grades"]])),
        })  # fmt: skip
    return found


def judge_editing(judged: Judged, rows: Sequence[Row], lines: Lines) -> list[Figure]:
    """By way of editing, means over corpora: the evidence of problems by one author and by two."""
    found = []
    mine = [row for row in rows if row["part"] == "editing"]
    for number, (way, share) in enumerate(WAYS):
        cases, shared = [], []
        for row in mine:
            places = choose(judged.corpora[row["corpus"]])
            part = slice(number * len(places), (number + 1) * len(places))
            cases.append(judged.case(row["corpus"], row["values"][part], lines, places))
            shared.append(np.array(row["shared"][part]))
        if not cases:
            continue
        own = summarize(cases)
        point: Figure = {
            "way": way,
            "share": share,
            **{key: own[key] for key in ("corpora", "problems", "auc", "cllr")},
        }
        for key, kind in (("same", True), ("different", False)):
            bans = [case.bans[case.truth == kind] for case in cases]
            ends = interval(draw_means(cases, kind))
            warned = [each[case.truth == kind] for each, case in zip(shared, cases, strict=True)]
            unseen = np.concatenate([ratios[~each] > 0 for ratios, each in zip(bans, warned, strict=True)])
            point |= {
                key: tidy(np.mean([each.mean() for each in bans])),
                f"{key}_interval": [tidy(ends.low), tidy(ends.high)],
                f"{key}_called_same": tidy(np.mean([(each > 0).mean() for each in bans])),
                f"{key}_warned": tidy(np.mean([each.mean() for each in warned])),
                f"{key}_unseen": [int(unseen.sum()), len(unseen)],
            }
        found.append(point)
    return found


def draw_means(cases: Sequence[Case], same: bool) -> Draws:
    """(draws,): the mean over corpora of their mean ratios, in bans."""
    means = []
    for case in cases:
        places = case.truth == same
        weights = case.weights[:, places]
        means.append(weights @ case.bans[places] / weights.sum(axis=1))
    drawn: Draws = np.mean(means, axis=0)
    return drawn


def judge_errors(judged: Judged) -> list[Figure]:
    """How often ratios mislead: of different authors those above each level, of same ones those below 0."""
    found = []
    for name in ("best", "quick", "cohort"):
        rows = read_rows(name)
        seeds = sorted({row["seed"] for row in rows})
        rates: dict[str, list[list[float]]] = {}
        for seed in seeds:
            own = [row for row in rows if row["seed"] == seed]
            lines = judged.fit_lines([{**row, "seed": 0} for row in own], "values", alone=name == "cohort")
            for row in own:
                bans = bans_of(row["values"], lines[row["corpus"]])
                truth = np.array(judged.truths[row["corpus"]])
                above = [rate_above(bans[~truth], level) for level in LEVELS]
                right = [rate_above(bans[truth], level) for level in LEVELS]
                rates.setdefault(row["corpus"], []).append([*above, *right, float((bans[truth] < 0).mean())])
        means = {corpus: np.mean(own, axis=0) for corpus, own in rates.items()}
        every, count = np.array(list(means.values())), len(LEVELS)
        found.append({
            "preset": name, "seeds": len(seeds), "corpora": len(means), "levels": [tidy(level) for level in LEVELS],
            "different": [tidy(rate) for rate in every[:, :count].mean(axis=0)],
            "highest": [tidy(rate) for rate in every[:, :count].max(axis=0)],
            "where": [list(means)[place] for place in every[:, :count].argmax(axis=0)],
            "same": [tidy(rate) for rate in every[:, count : 2 * count].mean(axis=0)],
            "missed": tidy(every[:, -1].mean()),
            "problems": sum(len(own) for own in judged.truths.values()),
        })  # fmt: skip
    return found


def judge_support(judged: Judged) -> list[Figure]:
    """How often ratios without a cap reach each level, rightly and wrongly, of corpora that the line did not see."""
    found = []
    for name in ("best", "quick", "cohort"):
        rows = read_rows(name)
        bans, same = mean_held_out(rows, judged.truths, name == "cohort")
        caps = learn_caps(rows, judged.truths, name == "cohort")
        for side, right, wrong in (("same", bans[same], bans[~same]), ("different", -bans[~same], -bans[same])):
            counts = [[int((part >= level).sum()) for level in CLAIMS] for part in (right, wrong)]
            found.append({
                "preset": name, "side": side, "levels": [tidy(level) for level in CLAIMS], "right": counts[0],
                "wrong": counts[1], "of": [len(right), len(wrong)],
                "cap": tidy(getattr(caps, side)),
            })  # fmt: skip
    return found

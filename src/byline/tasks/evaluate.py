"""Evaluation: answers compared with the truth, for every kind of problem.

- `evaluate_answers`: verification; `compare_answers`: two systems on the same problems
- `evaluate_attributions`: attribution collections of PAN 2018 and 2019
- `evaluate_clusterings`: clusterings as in PAN 2016
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from byline.corpora.answers import match_truth, read_answers, read_answers_json, read_truth
from byline.corpora.documents import classify_path, read_json
from byline.corpora.problems import Problem, read_problems
from byline.errors import AnswersError, CorpusError
from byline.judgment.metrics import Measures, average_precision, bcubed_f, log_ratios, measure, reliability, tippett
from byline.judgment.resampling import (
    Comparison,
    Draws,
    Interval,
    compare_draws,
    interval,
    measure_draws,
    weigh_problems,
    weigh_texts,
)
from byline.tasks.pan_collections import (
    ANSWERS,
    CLUSTERS,
    RANKING,
    UNKNOWN_AUTHOR,
    answers_path,
    is_collection,
    problem_folders,
    read_author_pairs,
)

MEASURES = (
    "problems", "undecided", "auc", "c_at_1", "product", "f05u", "f1", "brier", "overall", "cllr", "cllr_min", "eer",
)  # fmt: skip
COMPARED = ("auc", "c_at_1", "product", "cllr")
"""The measures that have intervals."""
LESS_IS_BETTER = ("cllr",)
ATTRIBUTION_TRUTH, TRUE_AUTHORS = "ground-truth.json", "ground_truth"
"""The file with the truth of an attribution problem, and the key under which it lists authors."""
CLUSTERING_TRUTH = "truth"
"""The folder with the truth of a PAN 2016 corpus."""
LINK = ("document1", "document2", "score")
"""The keys of a link in a ranking."""
NAME_ANSWERS = "Name the folder of the answers"


@dataclass(frozen=True)
class Evaluation:
    """Measures of the answers to verification problems."""

    answers: Path
    truth: tuple[bool, ...]
    values: tuple[float, ...]
    """By id, like the truth."""
    measures: Measures
    missing: int
    """Problems without an answer, which counted as undecided."""
    by_text: bool
    """Whether the texts were found, so that they were resampled, and not problems."""
    intervals: Mapping[str, Interval]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as `byline evaluate --json` prints them for a corpus."""
        return {
            "answers": str(self.answers),
            "missing": self.missing,
            **{name: getattr(self.measures, name) for name in MEASURES},
            "intervals": {
                "resampled": "texts" if self.by_text else "problems",
                **{name: [each.low, each.high] for name, each in self.intervals.items()},
            },
            "calibration": [asdict(part) for part in reliability(self.truth, self.values)],
            "tippett": asdict(tippett(self.truth, log_ratios(self.values) / np.log(10))),
        }


def evaluate_answers(answers: Path, truth: Path, seed: int = 0) -> Evaluation:
    """Measure an answers file, or the one in a folder, against the truth.

    Intervals resample the texts if they are in the folder of the truth, and problems otherwise.
    """
    given, known = read_answers(answers), read_truth(truth)
    try:
        same, values = match_truth(given, known, str(answers))
        measures = measure(same, values)
    except AnswersError as error:
        what = error.what if error.where is None else f"{error.where}: {error.what}"
        raise AnswersError(what, where=truth, remedy=error.remedy) from None
    weights, by_text = _weights(truth, sorted(known), seed)
    drawn = measure_draws(same, values, weights)
    intervals = {name: interval(drawn[name]) for name in COMPARED}
    missing = len(known.keys() - given.keys())
    return Evaluation(answers, tuple(same), tuple(values), measures, missing, by_text, intervals)


@dataclass(frozen=True)
class AnswerComparison:
    """Two systems' answers to the same verification problems."""

    first: Evaluation
    second: Evaluation
    differences: Mapping[str, Comparison]
    """By measure: the first less the second."""

    def better(self, name: str) -> float:
        """Return the share of draws in which the first is better by a measure; equal draws count half."""
        higher = self.differences[name].higher
        return 1 - higher if name in LESS_IS_BETTER else higher

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as `byline compare --json` prints them."""
        return {
            "a": str(self.first.answers),
            "b": str(self.second.answers),
            "missing": {"a": self.first.missing, "b": self.second.missing},
            "resampled": "texts" if self.first.by_text else "problems",
            "measures": {
                name: {
                    "a": getattr(self.first.measures, name),
                    "b": getattr(self.second.measures, name),
                    "difference": found.difference,
                    "interval": [found.interval.low, found.interval.high],
                    "a_better": self.better(name),
                }
                for name, found in self.differences.items()
            },
        }


def compare_answers(first: Path, second: Path, truth: Path, seed: int = 0) -> AnswerComparison:
    """Compare two answers files; both are measured in the same draws of texts."""
    sides = [evaluate_answers(answers, truth, seed) for answers in (first, second)]
    weights, _ = _weights(truth, sorted(read_truth(truth)), seed)
    drawn = [measure_draws(side.truth, side.values, weights) for side in sides]
    differences = {}
    for name in COMPARED:
        difference = getattr(sides[0].measures, name) - getattr(sides[1].measures, name)
        differences[name] = compare_draws(drawn[0][name], drawn[1][name], difference)
    return AnswerComparison(sides[0], sides[1], differences)


def _weights(truth: Path, ids: Sequence[str], seed: int) -> tuple[Draws, bool]:
    """Return weights for the problems in the order of `ids`, and whether they come from resampled texts."""
    rng = np.random.default_rng(seed)
    by_id = _problems_beside(truth)
    if by_id and all(name in by_id for name in ids):
        return weigh_texts([by_id[name] for name in ids], rng), True
    return weigh_problems(len(ids), rng), False


def _problems_beside(truth: Path) -> Mapping[str, Problem]:
    """Read the problems in the folder that holds the truth, as far as possible."""
    try:
        found = read_problems(truth if truth.is_dir() else truth.parent)
    except CorpusError:
        return {}
    return {problem.id: problem for problem in found.problems}


@dataclass(frozen=True)
class AttributionMeasures:
    """Measures of the answers to one attribution problem."""

    problem: str
    texts: int
    accuracy: float
    macro_f1: float
    """Over the candidates that occur in the truth; <UNK> is not a class, as in PAN 2019."""
    missing: int = 0
    """Texts without an answer, which counted as <UNK>."""


def is_attribution_truth(path: Path) -> bool:
    """Whether a path is an attribution collection, a problem of one, or a problem's truth."""
    if is_collection(path) or path.name == ATTRIBUTION_TRUTH:
        return True
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    try:
        content = read_json(path)
    except CorpusError:
        return False
    return isinstance(content, dict) and isinstance(content.get(TRUE_AUTHORS), list)


def is_attribution_answers(path: Path) -> bool:
    """Whether a path is a folder of answers to attribution problems, or one of these files."""
    return bool(_answered_problem(path)) or (path.is_dir() and any(map(_answered_problem, path.iterdir())))


def _answered_problem(answers: Path) -> str:
    """Return the problem that an answers file is named after, or an empty string."""
    named = answers.name.startswith(ANSWERS) and answers.suffix == ".json"
    return answers.stem.removeprefix(ANSWERS) if named else ""


def evaluate_attributions(answers: Path, truth: Path) -> tuple[AttributionMeasures, ...]:
    """Measure the answers to each problem of an attribution collection; missing answers count as <UNK>.

    The truth is a collection, the folder of one of its problems, or that problem's ground-truth.json. Answers are in a
    folder, or, for one problem, in a file.
    """
    try:
        if truth.is_dir():
            truths = [(folder.name, folder / ATTRIBUTION_TRUTH) for folder, _ in problem_folders(truth)]
        elif truth.name == ATTRIBUTION_TRUTH:
            truths = [(truth.absolute().parent.name, truth)]
        else:
            truths = [(_answered_problem(answers) or truth.stem, truth)]
        kind = classify_path(answers, NAME_ANSWERS)
    except CorpusError as error:
        raise AnswersError(error.what, where=error.where, remedy=error.remedy) from None
    if kind == "file":
        if len(truths) > 1:
            raise AnswersError(
                f"has one problem's answers, but {truth} has {len(truths)} problems",
                where=answers, remedy="Name the folder of all answers, or the folder of that problem",
            )  # fmt: skip
        places = [answers]
    else:
        places = [answers_path(answers, name) for name, _ in truths]
        if not any(place.exists() for place in places):
            raise AnswersError(f"has no {places[0].name}", where=answers, remedy=NAME_ANSWERS)
    return tuple(_measure_attributions(name, place, path) for (name, path), place in zip(truths, places, strict=True))


def _measure_attributions(name: str, answers: Path, path: Path) -> AttributionMeasures:
    truth = read_author_pairs(path, TRUE_AUTHORS, "true-author", "Name a collection whose truth is known")
    given = read_author_pairs(answers, None, "predicted-author", NAME_ANSWERS) if answers.exists() else {}
    if odd := sorted(given.keys() - truth.keys()):
        what = f"{odd[0]} is not a text of {name}"
        raise AnswersError(what, where=answers, remedy="Name the answers to this problem")
    texts = sorted(truth)
    true, predicted = [truth[text] for text in texts], [given.get(text, UNKNOWN_AUTHOR) for text in texts]
    labels = sorted(set(true) - {UNKNOWN_AUTHOR})
    score = float(f1_score(true, predicted, labels=labels, average="macro", zero_division=0)) if labels else 0.0
    right = sum(one == other for one, other in zip(true, predicted, strict=True))
    return AttributionMeasures(name, len(texts), right / len(texts), score, len(truth) - len(given))


@dataclass(frozen=True)
class ClusterMeasures:
    """Measures of the clustering of one problem."""

    problem: str
    texts: int
    bcubed_f: float
    average_precision: float


def is_clustering(path: Path) -> bool:
    """Whether a folder holds a clustering, or folders that do, or is a corpus whose truth does."""
    return any(_holds_clusterings(folder) for folder in (path, path / CLUSTERING_TRUTH))


def _holds_clusterings(path: Path) -> bool:
    return (path / CLUSTERS).is_file() or any(path.glob(f"*/{CLUSTERS}"))


def evaluate_clusterings(answers: Path, truth: Path) -> tuple[ClusterMeasures, ...]:
    """Measure the clustering of each problem of a truth folder, or of a corpus that has one.

    The measures are BCubed F (Amigó et al. 2009) and average precision of the ranked links.
    """
    if not _holds_clusterings(truth) and _holds_clusterings(truth / CLUSTERING_TRUTH):
        truth /= CLUSTERING_TRUTH
    names = [""] if (truth / CLUSTERS).is_file() else sorted(file.parent.name for file in truth.glob(f"*/{CLUSTERS}"))
    if not names:
        raise AnswersError(f"has no {CLUSTERS}", where=truth, remedy="Name the folder of the truth")
    return tuple(_measure_clustering(answers / name, truth / name, name) for name in names)


def _measure_clustering(answers: Path, truth: Path, name: str) -> ClusterMeasures:
    true, given = _read_clusters(truth / CLUSTERS), _read_clusters(answers / CLUSTERS)
    if odd := sorted(true.keys() ^ given.keys()):
        remedy = "Answers and truth must name the same texts"
        raise AnswersError(f"{odd[0]} is not in both answers and truth", where=answers / CLUSTERS, remedy=remedy)
    texts = sorted(true)
    right = [true[one] == true[other] for one, other in _read_ranking(answers / RANKING, true.keys())]
    links = sum(size * (size - 1) // 2 for size in Counter(true.values()).values())
    f = bcubed_f([true[text] for text in texts], [given[text] for text in texts])
    return ClusterMeasures(name or truth.name, len(texts), f, average_precision(right, links))


def _read_ranking(path: Path, texts: Set[str]) -> list[tuple[str, str]]:
    """Read the pairs, the highest score first; a pair that is listed twice counts with its higher score."""
    rows = read_answers_json(path)
    scores: dict[tuple[str, str], float] = {}
    for row in rows if isinstance(rows, list) else ():
        values: list[Any] = [row.get(key) for key in LINK] if isinstance(row, dict) else [None] * 3
        one, other, score = values
        named = isinstance(one, str) and isinstance(other, str) and one != other and {one, other} <= texts
        if not named or not isinstance(score, int | float) or isinstance(score, bool) or not abs(score) < 1e300:
            raise AnswersError(f"each link needs {', '.join(LINK)}", where=path, remedy="Repair it")
        pair = (min(one, other), max(one, other))
        scores[pair] = max(scores.get(pair, score), score)
    return sorted(scores, key=lambda pair: -scores[pair])  # stable: equal scores as they are listed


def _read_clusters(path: Path) -> dict[str, int]:
    """Read the number of each text's cluster."""
    rows = read_answers_json(path)
    found: dict[str, int] = {}
    for number, row in enumerate(rows if isinstance(rows, list) else ()):
        for item in row if isinstance(row, list) else ():
            name = item.get("document") if isinstance(item, dict) else None
            if not isinstance(name, str) or name in found:
                what = "a document has no name, or is in two clusters"
                raise AnswersError(what, where=path, remedy="Repair it")
            found[name] = number
    if not found:
        raise AnswersError("has no clusters", where=path, remedy="Make it a list of lists of documents")
    return found

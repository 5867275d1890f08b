"""Simple methods on the same corpora, to compare with: AUC, C@1, product, and the answers themselves.

    BYLINE_DATA=folder-of-corpora python benchmarks/rivals.py       run what is not stored yet, print the table
    python benchmarks/rivals.py --rivals b,d --corpora pan15        some of them only
    python benchmarks/rivals.py --table                             print the stored results again, run nothing
    python benchmarks/rivals.py --against best                      how far pan.py's results of that name are ahead

a    cosine of character 4-grams, TF-IDF
b    a, less what the unknown and the known set come to among the corpus's other texts (`normalize`)
d    what a Witten-Bell character model of the known texts predicts of the unknown, and the other way round; each
     normalized like b, then averaged
e    General Imposters: how often the unknown is more like the known texts than like any of 30 others, by Ruzicka's
     similarity, over random halves of the 4-grams; who wins as often as another goes before or after it by lot
f    the mean rank of b, d and e
ext  b, but weights and other texts are those of other years' corpora of the language: each problem by itself

Known texts are joined, white space is collapsed, case is kept. The upper half of a corpus's problems is called yes.
Results are stored in benchmarks/results/rivals.json. --against needs results with answers, and draws texts anew.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.stats import rankdata
from sklearn.feature_extraction.text import TfidfVectorizer

from byline.corpora.answers import read_truth
from byline.corpora.problems import Problem, read_problems
from byline.errors import CorpusError
from byline.judgment.metrics import measure
from byline.judgment.resampling import Comparison, Draws, compare_draws, measure_draws, weigh_texts
from stored import RESULTS, commit, save

STORED = RESULTS / "rivals.json"
RIVALS = ("a", "b", "d", "e", "f", "ext")
JOINED = ("b", "d")
"""What f is made of, besides the wins of e."""
SEEDS = {"e": 3, "f": 3}
"""Those that chance has a part in."""
GRAM = 4
CONTEXT = 5
"""Characters that the model of d looks back to."""
ROUNDS, IMPOSTERS, KEPT = 100, 30, 0.5
MEASURES = ("auc", "c_at_1", "product")

Scores = NDArray[np.float64]
Numbers = NDArray[np.int64]


def main() -> None:
    options = parse_options()
    stored = load(STORED)
    if options.table:
        print_table(stored["runs"])
        return
    data = Path(os.environ.get("BYLINE_DATA") or sys.exit("set BYLINE_DATA to the folder that holds the corpora"))
    if options.against:
        print_comparisons(options.against, stored["runs"], data)
        return
    corpora = sorted(child.name for child in data.iterdir() if (child / "truth.txt").exists())
    if options.corpora:
        corpora = [corpus for corpus in corpora if any(part in corpus for part in options.corpora.split(","))]
    made_by = commit()  # before anything can change it
    for corpus in corpora:
        for rival, seed in missing(stored["runs"], corpus, options.rivals):
            row = run(data, corpus, rival, seed, stored["runs"])
            stored["runs"].append({**row, "commit": made_by})
            keep(STORED, stored)
            print(f"{corpus} {rival} {row['product']:.3f}", file=sys.stderr, flush=True)
    print_table(stored["runs"])


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rivals", default=",".join(RIVALS), help="their letters, joined by commas")
    parser.add_argument("--corpora", help="parts of corpus names, joined by commas")
    parser.add_argument("--table", action="store_true", help="print what is stored, run nothing")
    parser.add_argument("--against", metavar="NAME", help="compare with benchmarks/results/pan-NAME.json, run nothing")
    options = parser.parse_args()
    options.rivals = options.rivals.split(",")
    if unknown := sorted(set(options.rivals) - set(RIVALS)):
        parser.error(f"--rivals must be some of {','.join(RIVALS)}, got {','.join(unknown)}")
    return options


def describe() -> dict[str, Any]:
    """What was run, in plain values; results of something else are not mixed with it."""
    return {"gram": GRAM, "context": CONTEXT, "rounds": ROUNDS, "imposters": IMPOSTERS, "kept": KEPT}


def load(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {**describe(), "runs": []}
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if {key: value for key, value in stored.items() if key != "runs"} != describe():
        sys.exit(f"{path} holds results of other settings; remove it")
    return stored


def keep(path: Path, stored: dict[str, Any]) -> None:
    stored["runs"].sort(key=lambda row: (row["corpus"], RIVALS.index(row["rival"]), row["seed"] or 0))
    save(path, stored)


def missing(rows: Sequence[dict[str, Any]], corpus: str, wanted: Sequence[str]) -> list[tuple[str, int | None]]:
    """Rivals and seeds to run, in an order in which f comes after what it is made of."""
    needed = {*wanted, *JOINED} if "f" in wanted else set(wanted)
    done = {(row["rival"], row["seed"]) for row in rows if row["corpus"] == corpus}
    every = [(rival, seed) for rival in RIVALS if rival in needed for seed in seeds_of(rival)]
    return [pair for pair in every if pair not in done]


def seeds_of(rival: str) -> Sequence[int | None]:
    return range(SEEDS[rival]) if rival in SEEDS else (None,)


def run(data: Path, corpus: str, rival: str, seed: int | None, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One rival on one corpus, its answers and what they are worth; `rows` are those that f is made of."""
    problems = read_problems(data / corpus).problems
    if rival == "e":
        scores = win_rates(data / corpus, seed) + np.random.default_rng(seed).random(len(problems)) / ROUNDS
    elif rival == "f":
        own = [row["answers"] for row in rows if row["corpus"] == corpus and row["rival"] in JOINED]
        scores = average_ranks([*own, win_rates(data / corpus, seed)])
    elif rival == "ext":
        scores = score_ext(lay_out(problems), lay_out(cohort_problems(data, corpus, problems[0].language)))
    else:
        scores = score(rival, lay_out(problems))
    answers = answer(scores)
    truth = read_truth(data / corpus)
    measures = measure([truth[problem.id] for problem in problems], answers)
    figures = {key: round(getattr(measures, key), 4) for key in MEASURES}
    return {"rival": rival, "corpus": corpus, "seed": seed, **figures, "answers": answers}


@lru_cache(maxsize=max(SEEDS.values()))
def win_rates(folder: Path, seed: int | None) -> Scores:
    """What both e and f need."""
    return score_imposters(lay_out(read_problems(folder).problems), np.random.default_rng(seed))


def cohort_problems(data: Path, corpus: str, language: str) -> list[Problem]:
    """The problems of the corpora of other years in the same language."""
    year = corpus.partition("-")[0]
    others = sorted(child for child in data.iterdir() if child.is_dir() and child.name.partition("-")[0] != year)
    read = [read_problems(other).problems for other in others]
    return [problem for problems in read if problems[0].language == language for problem in problems]


@dataclass(frozen=True)
class Texts:
    """The texts of some problems, each different known set and each different unknown text once."""

    known: tuple[str, ...]
    """Each set's texts, joined."""
    sets: tuple[frozenset[str], ...]
    unknown: tuple[str, ...]
    asked: tuple[tuple[int, int], ...]
    """Of each problem, which unknown and which known set."""

    def different(self) -> list[str]:
        """Each text by itself, once."""
        return sorted({*self.unknown}.union(*self.sets))

    def shared(self) -> NDArray[np.bool_]:
        """(unknown, known): is the one among the others?"""
        return np.array([[text in one for one in self.sets] for text in self.unknown])

    def apart_from(self, texts: frozenset[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """(unknown,), (known,): those that share none of these texts."""
        rows = np.array([text not in texts for text in self.unknown])
        return rows, np.array([texts.isdisjoint(one) for one in self.sets])


def lay_out(problems: Sequence[Problem]) -> Texts:
    joined: dict[frozenset[str], str] = {}
    unknown: dict[str, int] = {}
    pairs = []
    for problem in problems:
        texts = [" ".join(document.text.split()) for document in problem.known]
        judged = " ".join(problem.unknown.text.split())
        joined.setdefault(frozenset(texts), " ".join(texts))
        unknown.setdefault(judged, len(unknown))
        pairs.append((judged, frozenset(texts)))
    places = {one: place for place, one in enumerate(joined)}
    asked = tuple((unknown[judged], places[one]) for judged, one in pairs)
    return Texts(tuple(joined.values()), tuple(joined), tuple(unknown), asked)


def answer(scores: Scores) -> list[float]:
    """Ranks from 0 to 1, their median moved to 0.5: what is above it is yes, what equals it undecided."""
    ranks = (rankdata(scores) - 0.5) / len(scores)
    return [round(float(value), 3) for value in np.interp(ranks, [0, np.median(ranks), 1], [0, 0.5, 1])]


def score(rival: str, texts: Texts) -> Scores:
    """(problems,) by one of the rivals that need no other corpus and no chance."""
    if rival == "d":
        return np.mean([normalize(texts, texts, *[way] * 4) for way in predict_both_ways(texts)], axis=0)
    cosines = compare(weigh_grams(texts), texts, texts)
    if rival == "a":
        return np.array([cosines[pair] for pair in texts.asked])
    return normalize(texts, texts, *[cosines] * 4)


def score_ext(texts: Texts, cohort: Texts) -> Scores:
    """(problems,) like b, with weights and other texts of the cohort only."""
    weights = weigh_grams(cohort)
    pairs = ((texts, texts), (texts, cohort), (cohort, texts), (cohort, cohort))
    return normalize(texts, cohort, *(compare(weights, *pair) for pair in pairs))


def weigh_grams(texts: Texts) -> TfidfVectorizer:
    """The weights of 4-grams, each different text counting once."""
    settings = {"analyzer": "char", "ngram_range": (GRAM, GRAM), "lowercase": False, "sublinear_tf": True}
    return TfidfVectorizer(**settings).fit(texts.different())


def compare(weights: TfidfVectorizer, judged: Texts, by: Texts) -> Scores:
    """(unknown, known): the cosines of some unknown texts with some known sets."""
    cosines: Scores = (weights.transform(judged.unknown) @ weights.transform(by.known).T).toarray()
    return cosines


def normalize(texts: Texts, cohort: Texts, own: Scores, rows: Scores, columns: Scores, within: Scores) -> Scores:
    """(problems,): less the row's median, then the column's, over the row's mean distance from zero.

    The tables are unknown x known: the problems' own texts, their unknown ones by the cohort's known sets, the cohort's
    unknown ones by their known sets, and the cohort's own. What shares a text with the problem is no part
    of its cohort, and a pair of the cohort that shares one is left out.
    """
    within = np.where(cohort.shared(), np.nan, within)
    scores = []
    for unknown, known in texts.asked:
        others, sets = cohort.apart_from(texts.sets[known] | {texts.unknown[unknown]})
        table = within[np.ix_(others, sets)]
        others[others] = used = ~np.isnan(table).all(axis=1)  # an unknown text may be in all known sets
        table = table[used]
        sets[sets] = used = ~np.isnan(table).all(axis=0)
        if not table.size:
            raise CorpusError("a problem has no other to be compared with that shares none of its texts; add problems")
        table = table[:, used]
        levels = np.nanmedian(table, axis=1)
        row, column = rows[unknown, sets], columns[others, known] - levels
        row = row - (level := np.median(row))
        scale = np.abs(row - np.nanmedian(table - levels[:, None], axis=0)).mean()
        scores.append((own[unknown, known] - level - np.median(column)) / scale)
    return np.array(scores)


def predict_both_ways(texts: Texts) -> tuple[Scores, Scores]:
    """(unknown, known) twice: bits a character, negative, of the unknown text given the known ones, and in reverse."""
    grams = number_grams([*texts.known, *texts.unknown])
    known, unknown = np.split(np.arange(len(texts.known) + len(texts.unknown)), [len(texts.known)])
    return predict(*grams, known, unknown), predict(*grams, unknown, known).T


def number_grams(texts: Sequence[str]) -> tuple[Numbers, Numbers, Numbers, int]:
    """(lengths, characters) the grams that end at each character, and what they end after; where texts begin; symbols.

    Equal grams have equal numbers, from 1 on; 0 is the empty one. A gram that would begin before its text is -1.
    """
    _, symbols = np.unique([ord(character) for text in texts for character in text], return_inverse=True)
    starts = np.cumsum([0, *map(len, texts)])
    before = np.arange(len(symbols)) - np.repeat(starts[:-1], np.diff(starts))  # characters of the text so far
    grams = np.full((CONTEXT + 1, len(symbols)), -1)
    contexts = np.zeros_like(grams)
    kinds = int(symbols.max()) + 1
    grams[0], numbered = 1 + symbols, 1 + kinds
    for length in range(1, CONTEXT + 1):
        there = np.flatnonzero(before >= length)
        contexts[length, there] = grams[length - 1, there - 1]
        _, numbers = np.unique(contexts[length, there] * kinds + symbols[there], return_inverse=True)
        grams[length, there] = numbered + numbers
        numbered += int(numbers.max(initial=-1)) + 1
    return grams, contexts, starts, kinds


@njit
def predict(grams, contexts, starts, kinds, learned, judged):
    """(judged, learned): mean logarithm, base 2, of each character's chance under each text's Witten-Bell model.

    A context that occurred n times before k kinds of character leaves k / (n + k) to the next shorter one; below the
    empty context all kinds of character are equal.
    """
    size = grams.max() + 1
    count, total, followers = np.zeros(size), np.zeros(size), np.zeros(size)
    means = np.zeros((len(judged), len(learned)))
    for column, text in enumerate(learned):
        count[:], total[:], followers[:] = 0, 0, 0
        for place in range(starts[text], starts[text + 1]):
            for length in range(len(grams)):
                gram, context = grams[length, place], contexts[length, place]
                if gram < 0:
                    break
                followers[context] += count[gram] == 0
                count[gram] += 1
                total[context] += 1
        for row, other in enumerate(judged):
            bits = 0.0
            for place in range(starts[other], starts[other + 1]):
                chance = 1 / kinds
                for length in range(len(grams)):
                    gram, context = grams[length, place], contexts[length, place]
                    if gram < 0 or total[context] == 0:
                        break
                    chance = (count[gram] + followers[context] * chance) / (total[context] + followers[context])
                bits += np.log2(chance)
            means[row, column] = bits / (starts[other + 1] - starts[other])
    return means


def score_imposters(texts: Texts, rng: np.random.Generator) -> Scores:
    """(problems,): the share of rounds in which the known set is more like the unknown text than all imposters are.

    Imposters are the other problems' known sets and unknown texts, as far as they share no text with the problem.
    """
    table = csr_matrix(weigh_grams(texts).transform([*texts.known, *texts.unknown]))
    scores = []
    for unknown, known in texts.asked:
        others, sets = texts.apart_from(texts.sets[known] | {texts.unknown[unknown]})
        pool = np.flatnonzero([*sets, *others])
        drawn = np.array([rng.permutation(pool)[:IMPOSTERS] for _ in range(ROUNDS)])
        kept = rng.random((ROUNDS, table.shape[1]), dtype=np.float32) < KEPT
        judged = table[[len(texts.known) + unknown]].toarray()[0]
        scores.append(count_wins(table.indptr, table.indices, table.data, judged, known, drawn, kept) / ROUNDS)
    return np.array(scores)


@njit
def count_wins(starts, places, weights, judged, known, imposters, kept):
    """In how many rounds no imposter comes up to the known set, by the sum of minima over the sum of maxima."""
    wins = 0
    for number in range(len(kept)):
        own = judged[kept[number]].sum()
        least = -1.0
        for place in range(-1, imposters.shape[1]):
            text = known if place < 0 else imposters[number, place]
            common = total = 0.0
            for at in range(starts[text], starts[text + 1]):
                if kept[number, places[at]]:
                    total += weights[at]
                    common += min(weights[at], judged[places[at]])
            alike = common / max(own + total - common, 1e-12)
            if place < 0:
                least = alike
            elif alike >= least:
                break
        else:
            wins += 1
    return wins


def average_ranks(scores: Sequence[Sequence[float] | Scores]) -> Scores:
    """(problems,): the mean over rivals of the ranks that they give."""
    return np.mean([rankdata(one) for one in scores], axis=0)


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """A line for each corpus, the mean over seeds of each rival: AUC/C@1/product."""
    rivals = [rival for rival in RIVALS if any(row["rival"] == rival for row in rows)]
    print(f"| corpus | {' | '.join(rivals)} |")
    print("|---|" + "---|" * len(rivals))
    by_rival: dict[str, list[Scores]] = defaultdict(list)
    for corpus in sorted({row["corpus"] for row in rows}):
        cells = []
        for rival in rivals:
            own = [[row[key] for key in MEASURES] for row in rows if (row["corpus"], row["rival"]) == (corpus, rival)]
            if own:
                by_rival[rival].append(np.mean(own, axis=0))
            cells.append(_cell(by_rival[rival][-1]) if own else "")
        print(f"| {corpus} | {' | '.join(cells)} |")
    if rivals:
        print(f"| plain mean | {' | '.join(_cell(np.mean(by_rival[rival], axis=0)) for rival in rivals)} |")


def _cell(figures: Scores) -> str:
    return "/".join(f"{figure:.3f}" for figure in figures)


def print_comparisons(name: str, rows: Sequence[dict[str, Any]], data: Path) -> None:
    path = RESULTS / f"pan-{name}.json"
    if not path.exists():
        sys.exit(f"{path} not found; run benchmarks/pan.py --name {name}")
    ours = json.loads(path.read_text(encoding="utf-8"))["runs"]
    if not all("answers" in row for row in ours):
        sys.exit(f"{path} holds no answers; run benchmarks/pan.py again")
    corpora = sorted({row["corpus"] for row in ours})
    problems = {corpus: read_problems(data / corpus).problems for corpus in corpora}
    truth = {corpus: read_truth(data / corpus) for corpus in corpora}
    print(f"| rival | corpora | product of {name} | of the rival | difference | 95% interval | {name} ahead |")
    print("|---|---|---|---|---|---|---|")
    for rival in RIVALS:
        theirs = [row for row in rows if row["rival"] == rival]
        if match := set(corpora) & {row["corpus"] for row in theirs}:
            product, other, found = compare_products(ours, theirs, problems, truth)
            print(
                f"| {rival} | {len(match)} | {product:.3f} | {other:.3f} | {found.difference:+.3f}"
                f" | {found.interval.low:+.3f} to {found.interval.high:+.3f} | {found.higher:.3f} |"
            )


def compare_products(
    ours: Sequence[Mapping[str, Any]],
    theirs: Sequence[Mapping[str, Any]],
    problems: Mapping[str, Sequence[Problem]],
    truth: Mapping[str, Mapping[str, bool]],
    seed: int = 0,
) -> tuple[float, float, Comparison]:
    """Mean products over the corpora that both have, and how far ours is ahead where texts are drawn anew.

    Rows hold a corpus and its answers in the order of sorted ids, a row a seed. In each draw both are measured with the
    same weights; the mean is taken over seeds, then over corpora.
    """
    rng = np.random.default_rng(seed)
    products: list[list[float]] = []
    drawn: list[list[Draws]] = []
    for corpus in sorted({row["corpus"] for row in ours} & {row["corpus"] for row in theirs}):
        there = sorted(problems[corpus], key=lambda problem: problem.id)
        same = [truth[corpus][problem.id] for problem in there]
        weights = weigh_texts(there, rng)
        own = [[row["answers"] for row in rows if row["corpus"] == corpus] for rows in (ours, theirs)]
        if {len(answers) for rows in own for answers in rows} != {len(there)}:
            raise CorpusError(f"{corpus}: as many answers are needed as it has problems, {len(there)}")
        products.append([float(np.mean([measure(same, answers).product for answers in rows])) for rows in own])
        drawn.append([np.mean([measure_draws(same, one, weights)["product"] for one in rows], axis=0) for rows in own])
    product, other = np.mean(products, axis=0)
    first, second = np.mean(drawn, axis=0)
    return float(product), float(other), compare_draws(first, second, float(product - other))


if __name__ == "__main__":
    main()

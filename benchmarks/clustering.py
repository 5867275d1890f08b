"""Which texts belong together: BCubed F and average precision on known texts, whose authors the problems tell.

    BYLINE_DATA=folder-of-corpora python benchmarks/clustering.py       corpora, and parts of them
    python benchmarks/clustering.py --table                             print the stored results again, run nothing

The different known texts of Greek and Spanish articles and Dutch essays of 2014, and of Greek 2015; problems that share
a text share their author. Dutch and Spanish of 2015 stand below the mean. *Parts* are texts of authors drawn at random
from each of the six corpora that has so many, with two seeds; *strangers* are one text each of thirty authors, where
nothing belongs together. *AP* is average precision of all pairs ranked by their links; its mean is MAP.

tfidf       cosines of character 3- to 5-grams (TF-IDF), average linkage, cut where the silhouette is highest
same cut    the same cosines, clusters chosen from the tree as byline cluster does
same links  the same cosines, made links as byline cluster does, clusters chosen as it does
told        as tfidf, but cut into as many clusters as there are authors, which it is told
alone       one cluster a text; it has no ranking
byline      byline cluster with its defaults
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import silhouette_score

from attribution import authors_of
from byline.corpora.documents import Document
from byline.corpora.problems import read_problems
from byline.engines.protocol import Runtime
from byline.judgment.metrics import average_precision, bcubed_f
from byline.runs.workers import count_cores
from byline.tasks.cluster import Clustering, cluster_documents, cluster_scores, remove_levels
from stored import RESULTS, commit, save

STORED = RESULTS / "clustering.json"
CORPORA = ("pan14-train-du_essays", "pan14-train-gr_articles", "pan14-train-sp_articles", "pan15-train-greek")
OTHERS = ("pan15-train-dutch", "pan15-train-spanish")
SIZES, SEEDS = (10, 30, 60), 2
STRANGERS = 30


class Texts(NamedTuple):
    """Texts, the number of each one's author, and the language."""

    texts: list[str]
    truth: list[int]
    language: str


Found = tuple[Sequence[int], Any]
"""Labels, and a table of scores or None."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="print what is stored, run nothing")
    options = parser.parse_args()
    if options.table:
        print_table(json.loads(STORED.read_text(encoding="utf-8")))
        return
    data = Path(os.environ.get("BYLINE_DATA") or sys.exit("set BYLINE_DATA to the folder that holds the corpora"))
    stored: dict[str, Any] = {"commit": commit(), "runs": [], "others": [], "parts": []}
    corpora = {corpus: texts_of(data / corpus) for corpus in (*CORPORA, *OTHERS)}
    for size in SIZES:
        stored["parts"].append(measure_parts(list(corpora.values()), size))
    stored["parts"].append(measure_parts(list(corpora.values()), STRANGERS, strangers=True))
    for corpus, each in corpora.items():
        row = {"corpus": corpus, "texts": len(each.texts), "authors": len(set(each.truth)), **measure(each)}
        stored["runs" if corpus in CORPORA else "others"].append(row)
        save(STORED, stored)
        print(row, file=sys.stderr, flush=True)
    print_table(stored)


def measure(given: Texts) -> dict[str, dict[str, Any]]:
    """What each method makes of some texts."""
    row = {}
    for name, method in METHODS.items():
        begin = time.perf_counter()
        labels, scores = method(given)
        row[name] = {
            "clusters": len(set(labels)),
            "bcubed_f": round(bcubed_f(given.truth, labels), 4),
            "average_precision": None if scores is None else round(precision_of(given.truth, scores), 4),
            "seconds": round(time.perf_counter() - begin, 1),
        }
    return row


def measure_parts(corpora: Sequence[Texts], size: int, strangers: bool = False) -> dict[str, Any]:
    """The means over parts of corpora with so many texts, as far as they have them."""
    tries = [
        draw(each, size, random.Random(f"{size}-{seed}"), 1 if strangers else size)
        for each in corpora
        for seed in range(SEEDS)
    ]
    parts = [part for part in tries if len(part.texts) == size]
    rows = [measure(part) for part in parts]
    title = f"{len(parts)} sets of strangers" if strangers else f"{len(parts)} parts"
    print(f"{title}, {size} texts", file=sys.stderr, flush=True)
    authors = float(np.mean([len(set(part.truth)) for part in parts]))
    found: dict[str, Any] = {"corpus": title, "texts": size, "authors": round(authors, 1)}
    for name in METHODS:
        values = [row[name] for row in rows]
        found[name] = {
            "clusters": round(float(np.mean([value["clusters"] for value in values])), 1),
            "bcubed_f": _mean([value["bcubed_f"] for value in values]),
            "average_precision": None if strangers else _mean([value["average_precision"] for value in values]),
        }
    return found


def draw(given: Texts, size: int, rng: random.Random, most: int) -> Texts:
    """Texts of authors in random order, so many of each at the most, until there are enough."""
    authors = sorted(set(given.truth))
    rng.shuffle(authors)
    chosen: list[int] = []
    for author in authors:
        own = [place for place, owner in enumerate(given.truth) if owner == author]
        rng.shuffle(own)
        chosen += own[: min(most, size - len(chosen))]
    chosen.sort()
    return Texts([given.texts[place] for place in chosen], [given.truth[place] for place in chosen], given.language)


def precision_of(truth: Sequence[int], scores: Any) -> float:
    """The average precision of all pairs, ranked by a table of scores."""
    true = np.asarray(truth)
    one, other = np.triu_indices(len(true), 1)
    same = true[one] == true[other]
    return average_precision(same[np.argsort(-scores[one, other], kind="stable")], int(same.sum()))


def texts_of(folder: Path) -> Texts:
    """All different known texts."""
    several, language = authors_of(folder)
    owner = {text: number for number, texts in enumerate(several) for text in texts}
    for problem in read_problems(folder).problems:
        for document in problem.known:
            owner.setdefault(document.text, len(set(owner.values())))
    texts = sorted(owner)
    return Texts(texts, [owner[text] for text in texts], language)


def cosines_of(texts: list[str]) -> Any:
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(3, 5), sublinear_tf=True, lowercase=False)
    features = vectorizer.fit_transform(texts)
    return (features @ features.T).toarray()


def by_tfidf(given: Texts, told: bool = False) -> Found:
    cosines = cosines_of(given.texts)
    distances = np.maximum(1 - cosines, 0)
    np.fill_diagonal(distances, 0)
    tree = linkage(squareform(distances, checks=False), "average")
    if told:
        return fcluster(tree, len(set(given.truth)), "maxclust").tolist(), cosines
    cuts = [fcluster(tree, count, "maxclust") for count in range(2, len(given.texts))]
    cuts = [labels for labels in cuts if 1 < len(set(labels)) < len(given.texts)]
    best = max(cuts, key=lambda labels: silhouette_score(distances, labels, metric="precomputed"))
    return best.tolist(), cosines


def by_cosines(given: Texts, linked: bool) -> Found:
    cosines = cosines_of(given.texts)
    names = [str(number) for number in range(len(cosines))]
    return _found(cluster_scores(names, remove_levels(cosines) if linked else cosines))


def by_nobody(given: Texts) -> Found:
    return range(len(given.texts)), None


def by_byline(given: Texts) -> Found:
    documents = [Document(str(number), text) for number, text in enumerate(given.texts)]
    return _found(cluster_documents(documents, language=given.language, runtime=Runtime(threads=count_cores())))


def _found(clustering: Clustering) -> Found:
    return clustering.labels, clustering.links


METHODS: dict[str, Callable[[Texts], Found]] = {
    "tfidf": by_tfidf,
    "same cut": lambda given: by_cosines(given, linked=False),
    "same links": lambda given: by_cosines(given, linked=True),
    "told": lambda given: by_tfidf(given, told=True),
    "alone": by_nobody,
    "byline": by_byline,
}


def print_table(stored: dict[str, Any]) -> None:
    print("| corpus | texts | authors | " + " | ".join(f"{name}: clusters, BCubed F, AP" for name in METHODS) + " |")
    print("|---|---|---|" + "---|" * len(METHODS))
    for row in stored["runs"]:
        print_row(row)
    mean: dict[str, Any] = {"corpus": "plain mean", "texts": "", "authors": ""}
    for name in METHODS:
        values = [row[name] for row in stored["runs"]]
        f, precision = (_mean([value[key] for value in values]) for key in ("bcubed_f", "average_precision"))
        mean[name] = {"clusters": "", "bcubed_f": f, "average_precision": precision}
    print_row(mean)
    for row in (*stored["others"], *stored["parts"]):
        print_row(row)


def print_row(row: dict[str, Any]) -> None:
    cells = [_cell(row[name]["clusters"], row[name]["bcubed_f"], row[name]["average_precision"]) for name in METHODS]
    print(f"| {row['corpus']} | {row['texts']} | {row['authors']} | {' | '.join(cells)} |")


def _mean(values: list[Any]) -> float | None:
    return None if None in values else round(float(np.mean(values)), 4)


def _cell(clusters: object, f: float, precision: float | None) -> str:
    return f"{clusters} {f:.3f} {'' if precision is None else f'{precision:.3f}'}".strip()


if __name__ == "__main__":
    main()

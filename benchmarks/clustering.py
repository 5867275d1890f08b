"""Which texts belong together: BCubed F and MAP on known texts, whose authors the problems tell.

    BYLINE_DATA=folder-of-corpora python benchmarks/clustering.py       four corpora; nothing has to do with chance
    python benchmarks/clustering.py --table                             print the stored results again, run nothing

The different known texts of Greek and Spanish articles and Dutch essays of 2014, and of Greek 2015; problems that share
a text share their author. *Average precision* is that of all pairs ranked by their links; its mean is MAP.

tfidf    cosines of character 3- to 5-grams (TF-IDF), average linkage, cut where the silhouette is highest
told     the same, cut into as many clusters as there are authors, which it is told
alone    one cluster a text; it has no ranking
byline   byline cluster with its defaults
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import silhouette_score

from attribution import authors_of
from byline.clustering import average_precision, bcubed_f, cluster_documents
from byline.documents import Document
from byline.engines import Watch
from byline.ensemble import count_cores
from byline.pools import read_pool
from byline.problems import read_problems
from stored import RESULTS, commit, save

STORED = RESULTS / "clustering.json"
CORPORA = ("pan14-train-du_essays", "pan14-train-gr_articles", "pan14-train-sp_articles", "pan15-train-greek")

Found = tuple[list[int], Any]
"""Labels, and a table of scores or None."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="print what is stored, run nothing")
    options = parser.parse_args()
    if options.table:
        print_table(json.loads(STORED.read_text(encoding="utf-8")))
        return
    data = Path(os.environ.get("BYLINE_DATA") or sys.exit("set BYLINE_DATA to the folder that holds the corpora"))
    stored: dict[str, Any] = {"commit": commit(), "runs": []}
    for corpus in CORPORA:
        texts, truth, language = texts_of(data / corpus)
        row: dict[str, Any] = {"corpus": corpus, "texts": len(texts), "authors": len(set(truth))}
        for name, method in METHODS.items():
            begin = time.perf_counter()
            labels, scores = method(texts, language, len(set(truth)))
            row[name] = {
                "clusters": len(set(labels)),
                "bcubed_f": round(bcubed_f(truth, labels), 4),
                "average_precision": None if scores is None else round(average_precision(truth, scores), 4),
                "seconds": round(time.perf_counter() - begin, 1),
            }
        stored["runs"].append(row)
        save(STORED, stored)
        print(row, file=sys.stderr, flush=True)
    print_table(stored)


def texts_of(folder: Path) -> tuple[list[str], list[int], str]:
    """All different known texts, the number of each one's author, and the language."""
    several, language = authors_of(folder)
    owner = {text: number for number, texts in enumerate(several) for text in texts}
    for problem in read_problems(folder).problems:
        for document in problem.known:
            owner.setdefault(document.text, len(set(owner.values())))
    texts = sorted(owner)
    return texts, [owner[text] for text in texts], language


def by_tfidf(texts: list[str], _: str, authors: int | None = None) -> Found:
    features = TfidfVectorizer(analyzer="char", ngram_range=(3, 5), sublinear_tf=True, lowercase=False).fit_transform(
        texts
    )
    cosines = (features @ features.T).toarray()
    distances = np.maximum(1 - cosines, 0)
    np.fill_diagonal(distances, 0)
    tree = linkage(squareform(distances, checks=False), "average")
    if authors is not None:
        return fcluster(tree, authors, "maxclust").tolist(), cosines
    cuts = [fcluster(tree, count, "maxclust") for count in range(2, len(texts))]
    best = max(cuts, key=lambda labels: silhouette_score(distances, labels, metric="precomputed"))
    return best.tolist(), cosines


def by_nobody(texts: list[str], *_: object) -> Found:
    return list(range(len(texts))), None


def by_byline(texts: list[str], language: str, _: int) -> Found:
    documents = [Document(str(number), text) for number, text in enumerate(texts)]
    rows = read_pool("authors").only(["vectors", "ngram"]).rows
    found = cluster_documents(documents, rows, language, watch=Watch(threads=count_cores()))
    return list(found.labels), found.links


METHODS: dict[str, Callable[[list[str], str, int], Found]] = {
    "tfidf": lambda texts, language, _: by_tfidf(texts, language),
    "told": by_tfidf,
    "alone": by_nobody,
    "byline": by_byline,
}


def print_table(stored: dict[str, Any]) -> None:
    print("| corpus | texts | authors | " + " | ".join(f"{name}: clusters, BCubed F, AP" for name in METHODS) + " |")
    print("|---|---|---|" + "---|" * len(METHODS))
    for row in stored["runs"]:
        cells = [
            _cell(row[name]["clusters"], row[name]["bcubed_f"], row[name]["average_precision"]) for name in METHODS
        ]
        print(f"| {row['corpus']} | {row['texts']} | {row['authors']} | {' | '.join(cells)} |")
    means = []
    for name in METHODS:
        precisions = [row[name]["average_precision"] for row in stored["runs"]]
        mean = None if None in precisions else float(np.mean(precisions))
        means.append(_cell("", float(np.mean([row[name]["bcubed_f"] for row in stored["runs"]])), mean))
    print(f"| plain mean | | | {' | '.join(means)} |")


def _cell(clusters: object, f: float, precision: float | None) -> str:
    return f"{clusters} {f:.3f} {'' if precision is None else f'{precision:.3f}'}".strip()


if __name__ == "__main__":
    main()

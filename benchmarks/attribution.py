"""Which of about twenty authors: macro-F1 beside usual methods, on problems made from the corpora's known texts.

    BYLINE_DATA=folder-of-corpora python benchmarks/attribution.py      three seeds, all corpora that have such authors
    python benchmarks/attribution.py --table                            print the stored results again, run nothing
    python benchmarks/attribution.py --load                             how long 50 authors with 50 texts each take
    python benchmarks/attribution.py --networks                         networks alone, trained together and enrolled

Known texts of one problem are by one author; problems that share a text share their author. Authors of two texts or
more are dealt into groups of about twenty; one whole text of each is held out, the rest is learned, no text is cut.
Used are the corpora with at least four such authors: Dutch essays, English essays, Greek and Spanish articles of 2014,
Dutch, Greek and Spanish of 2015. The others have one known text a problem.

svm      character 3- to 5-grams, TF-IDF with damped counts, a linear support vector machine, authors weighing alike
centroid the same vectors: the cosine to the mean of an author's, less its mean over texts of the others
delta    Burrows's Delta: the 300 most frequent words, standardized, mean absolute distance from the author's mean
bayes    multinomial naive Bayes of character 3- to 5-grams
byline   byline train with its default, byline attribute --none 0
enrolled the same, half of the authors trained, the others enrolled

Open set (first seed): a third of each group's authors is not learned, and texts of all are asked about, where none of
these is as probable beforehand as one of them. Shown is how probable it is afterwards, for texts by authors who are
there and who are not, and what it costs in bits a text, 1 being what saying nothing costs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from byline.author_models.model import enroll_authors, train_authors
from byline.corpora.author_corpus import make_author_corpus
from byline.corpora.documents import Document
from byline.corpora.problems import read_problems
from byline.engines.protocol import Runtime
from byline.judgment.calibration_fitting import text_groups
from byline.runs.workers import count_cores
from byline.settings.settings import read_pool
from byline.tasks.attribute import attribute
from stored import RESULTS, commit, save

STORED = RESULTS / "attribution.json"
GROUP = 20
"""Authors of a problem, about."""
FEWEST = 4
SEEDS = 3


class Task(NamedTuple):
    """Texts to learn with their authors, and texts to attribute with theirs, by number."""

    learned: list[tuple[str, int]]
    asked: list[tuple[str, int]]
    language: str


Method = Callable[[Task], Sequence[int]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="print what is stored, run nothing")
    parser.add_argument("--load", action="store_true", help="time 50 authors with 50 texts of 3,000 characters each")
    parser.add_argument("--networks", action="store_true", help="networks alone, trained together and enrolled")
    parser.add_argument("--corpora", help="parts of corpus names, joined by commas")
    options = parser.parse_args()
    stored: dict[str, Any] = {"runs": []}
    if STORED.exists():
        stored = json.loads(STORED.read_text(encoding="utf-8"))
    if not options.table:
        data = Path(os.environ.get("BYLINE_DATA") or sys.exit("set BYLINE_DATA to the folder that holds the corpora"))
        if options.load:
            stored["load"] = measure_load(data)
        elif options.networks:
            stored["networks"] = measure_networks(data)
        else:
            measure_corpora(data, options.corpora, stored)
        save(STORED, stored)
    print_tables(stored)


def measure_corpora(data: Path, wanted: str | None, stored: dict[str, Any]) -> None:
    names = sorted(child.name for child in data.iterdir() if child.is_dir())
    for corpus in names:
        if wanted and not any(part in corpus for part in wanted.split(",")):
            continue
        authors, language = authors_of(data / corpus)
        if len(authors) < FEWEST:
            continue
        stored["runs"] = [row for row in stored["runs"] if row["corpus"] != corpus]
        for seed in range(SEEDS):
            row: dict[str, Any] = {"commit": commit(), "corpus": corpus, "seed": seed, "authors": len(authors)}
            inside: list[float] = []
            outside: list[float] = []
            scores: dict[str, list[float]] = {}
            begin = time.perf_counter()
            for task in make_tasks(authors, language, seed):
                truth = [author for _, author in task.asked]
                for name, method in METHODS.items():
                    guessed = method(task)
                    scores.setdefault(name, []).append(float(f1_score(truth, guessed, average="macro")))
                if not seed:
                    present, absent = ask_open(task)
                    inside, outside = inside + present, outside + absent
            if inside:
                row["open"] = {
                    "inside": round(float(np.mean(inside)), 4),
                    "outside": round(float(np.mean(outside)), 4),
                    "cost": round(float(-(np.log2(1 - np.array(inside)).mean() + np.log2(outside).mean()) / 2), 4),
                }
            row["f1"] = {name: round(float(np.mean(found)), 4) for name, found in scores.items()}
            row["seconds"] = round(time.perf_counter() - begin, 1)
            stored["runs"].append(row)
            save(STORED, stored)
            print(f"{corpus} seed {seed}: {row['f1']}", file=sys.stderr, flush=True)


def authors_of(folder: Path) -> tuple[list[list[str]], str]:
    """The different texts of each author of two or more, and the language."""
    problems = read_problems(folder).problems
    sets = [{document.text for document in problem.known} for problem in problems]
    groups: dict[int, set[str]] = {}
    for held, group in zip(sets, text_groups(sets), strict=True):
        groups.setdefault(group, set()).update(held)
    return sorted(sorted(texts) for texts in groups.values() if len(texts) > 1), problems[0].language


def make_tasks(authors: list[list[str]], language: str, seed: int) -> Iterator[Task]:
    """The authors in groups of about twenty; one text of each is held out."""
    rng = random.Random(seed)
    order = rng.sample(authors, len(authors))
    count = max(1, round(len(order) / GROUP))
    for part in range(count):
        learned, asked = [], []
        for number, texts in enumerate(order[part::count]):
            first, *rest = rng.sample(texts, len(texts))
            asked.append((first, number))
            learned += [(text, number) for text in rest]
        yield Task(learned, asked, language)


def by_svm(task: Task) -> Sequence[int]:
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(3, 5), sublinear_tf=True, lowercase=False)
    features = vectorizer.fit_transform([text for text, _ in task.learned])
    model = LinearSVC(class_weight="balanced").fit(features, [author for _, author in task.learned])
    found: Sequence[int] = model.predict(vectorizer.transform([text for text, _ in task.asked])).tolist()
    return found


def by_centroid(task: Task) -> Sequence[int]:
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(3, 5), sublinear_tf=True, lowercase=False)
    learned = vectorizer.fit_transform([text for text, _ in task.learned])
    owners = np.array([author for _, author in task.learned])
    centers = normalize(
        np.array([np.asarray(learned[owners == author].mean(axis=0))[0] for author in range(owners.max() + 1)])
    )
    own = np.arange(len(centers)) == owners[:, None]
    levels = np.where(own, np.nan, learned @ centers.T)
    cosines = vectorizer.transform([text for text, _ in task.asked]) @ centers.T
    found: Sequence[int] = (cosines - np.nanmean(levels, axis=0)).argmax(axis=1).tolist()
    return found


def by_bayes(task: Task) -> Sequence[int]:
    counter = CountVectorizer(analyzer="char", ngram_range=(3, 5), lowercase=False)
    counts = counter.fit_transform([text for text, _ in task.learned])
    model = MultinomialNB(alpha=0.01).fit(counts, [author for _, author in task.learned])
    found: Sequence[int] = model.predict(counter.transform([text for text, _ in task.asked])).tolist()
    return found


def by_delta(task: Task) -> Sequence[int]:
    counter = CountVectorizer(max_features=300, token_pattern=r"(?u)\b\w+\b")
    counts = counter.fit_transform([text for text, _ in task.learned]).toarray().astype(np.float64)
    asked = counter.transform([text for text, _ in task.asked]).toarray().astype(np.float64)
    shares, judged = (each / np.maximum(each.sum(axis=1, keepdims=True), 1) for each in (counts, asked))
    mean, spread = shares.mean(axis=0), shares.std(axis=0) + 1e-9
    owners = np.array([author for _, author in task.learned])
    centers = np.array(
        [((shares - mean) / spread)[owners == author].mean(axis=0) for author in range(owners.max() + 1)]
    )
    distances = np.abs(((judged - mean) / spread)[:, None] - centers).mean(axis=2)
    found: Sequence[int] = distances.argmin(axis=1).tolist()
    return found


def _writings(texts: Sequence[tuple[str, int]], language: str) -> Any:
    documents = [Document(str(number), text) for number, (text, _) in enumerate(texts)]
    return make_author_corpus(documents, [f"{author:04d}" for _, author in texts], language)


def by_byline(task: Task, preset: str = "authors") -> Sequence[int]:
    runtime = Runtime(threads=count_cores())
    model = train_authors(_writings(task.learned, task.language), read_pool(preset).rows, 0, runtime)
    return _ask(model, task, runtime)


def by_enrolled(task: Task, preset: str = "authors") -> Sequence[int]:
    runtime = Runtime(threads=count_cores())
    half = max(author for _, author in task.learned) // 2
    first = [each for each in task.learned if each[1] <= half]
    rest = [each for each in task.learned if each[1] > half]
    model = train_authors(_writings(first, task.language), read_pool(preset).rows, 0, runtime)
    return _ask(enroll_authors(model, _writings(rest, task.language), runtime), task, runtime)


def ask_open(task: Task) -> tuple[list[float], list[float]]:
    """How probable none of these is, of texts by authors who were learned and of others, each third one."""
    runtime = Runtime(threads=count_cores())
    learned = [each for each in task.learned if each[1] % 3]
    if len({author for _, author in learned}) < FEWEST:
        return [], []
    model = train_authors(_writings(learned, task.language), read_pool("authors").rows, 0, runtime)
    asked = [Document(str(number), text) for number, (text, _) in enumerate(task.asked)]
    found = [each.none for each in attribute(model, asked, 0.5, runtime)]
    inside = [chance for chance, (_, author) in zip(found, task.asked, strict=True) if author % 3]
    outside = [chance for chance, (_, author) in zip(found, task.asked, strict=True) if not author % 3]
    return inside, outside


def measure_networks(data: Path) -> dict[str, Any]:
    """Macro-F1 of networks alone on three small corpora, all authors trained together and half of them enrolled."""
    found: dict[str, Any] = {"commit": commit(), "trained": [], "enrolled": [], "train": 0.0, "enroll_half": 0.0}
    for corpus in ("pan14-train-du_essays", "pan15-train-greek", "pan15-train-spanish"):
        for task in make_tasks(*authors_of(data / corpus), 0):
            truth = [author for _, author in task.asked]
            for name, method in (("trained", by_byline), ("enrolled", by_enrolled)):
                found[name].append(float(f1_score(truth, method(task, "rnn"), average="macro")))
            runtime = Runtime(threads=count_cores())
            half = max(truth) // 2
            parts = [[each for each in task.learned if (each[1] <= half) == first] for first in (True, False)]
            begin = time.perf_counter()
            model = train_authors(_writings(parts[0], task.language), read_pool("rnn").rows, 0, runtime)
            between = time.perf_counter()
            enroll_authors(model, _writings(parts[1], task.language), runtime)
            found["train"] += between - begin
            found["enroll_half"] += time.perf_counter() - between
    return {key: round(float(np.mean(value)), 4) if isinstance(value, list) else value for key, value in found.items()}


def _ask(model: Any, task: Task, runtime: Runtime) -> Sequence[int]:
    asked = [Document(str(number), text) for number, (text, _) in enumerate(task.asked)]
    return [int(found.author or -1) for found in attribute(model, asked, 0, runtime)]


METHODS: dict[str, Method] = {
    "svm": by_svm,
    "centroid": by_centroid,
    "delta": by_delta,
    "bayes": by_bayes,
    "byline": by_byline,
    "enrolled": by_enrolled,
}


def measure_load(data: Path) -> dict[str, Any]:
    """Seconds for 7.5 million characters of 50 made-up authors, cut from real texts, 2,500 of them asked."""
    authors, each, length = 50, 50, 3_000
    pieces: list[str] = []
    for corpus in sorted(child for child in data.iterdir() if child.is_dir()):
        problems = read_problems(corpus).problems
        if problems[0].language == "english":
            joined = "\n".join(sorted({d.text for problem in problems for d in (*problem.known, problem.unknown)}))
            pieces += [joined[start : start + length] for start in range(0, len(joined) - length, length)]
            shifted = joined[length // 3 :]
            pieces += [shifted[start : start + length] for start in range(0, len(shifted) - length, length)]
    pieces = list(dict.fromkeys(pieces))
    wanted = authors * each
    count = 2
    while len(pieces) < 2 * wanted:  # other cuts of the same texts
        pieces += [
            piece[length // count :] + pieces[n - 1][: length // count] for n, piece in enumerate(pieces[:wanted])
        ]
        count += 1
    texts = [(piece, number // each) for number, piece in enumerate(pieces[:wanted])]
    runtime = Runtime(threads=count_cores())
    begin = time.perf_counter()
    model = train_authors(_writings(texts, "english"), read_pool("authors").rows, 0, runtime)
    trained = time.perf_counter()
    asked = [Document(str(number), text) for number, text in enumerate(pieces[wanted : 2 * wanted])]
    attribute(model, asked, 0, runtime)
    scored = time.perf_counter()
    new = [(text[::-1], 50 + number // 50) for number, (text, _) in enumerate(texts[:500])]
    enroll_authors(model, _writings(new, "english"), runtime)
    return {
        "commit": commit(),
        "characters": sum(len(text) for text, _ in texts),
        "train": round(trained - begin, 1),
        "asked": len(asked),
        "attribute": round(scored - trained, 1),
        "enroll_ten": round(time.perf_counter() - scored, 1),
    }


def print_tables(stored: dict[str, Any]) -> None:
    names = list(METHODS)
    print("| corpus | authors | " + " | ".join(names) + " |")
    print("|---|---|" + "---|" * len(names))
    corpora = sorted({row["corpus"] for row in stored["runs"]})
    means: dict[str, list[float]] = {name: [] for name in names}
    for corpus in corpora:
        rows = [row for row in stored["runs"] if row["corpus"] == corpus]
        cells = []
        for name in names:
            means[name].append(float(np.mean([row["f1"][name] for row in rows])))
            cells.append(f"{means[name][-1]:.3f}")
        print(f"| {corpus} | {rows[0]['authors']} | {' | '.join(cells)} |")
    if corpora:
        print(f"| plain mean | | {' | '.join(f'{np.mean(means[name]):.3f}' for name in names)} |")
    opened = [row for row in stored["runs"] if "open" in row]
    if opened:
        print("\n| corpus | none of these, author there | author not there | bits a text |\n|---|---|---|---|")
        for row in opened:
            print(f"| {row['corpus']} | {' | '.join(f'{value:.3f}' for value in row['open'].values())} |")
        middle = [np.mean([row["open"][key] for row in opened]) for key in ("inside", "outside", "cost")]
        print(f"| plain mean | {' | '.join(f'{value:.3f}' for value in middle)} |")
    if networks := stored.get("networks"):
        print(
            f"\nNetworks alone, three corpora: macro-F1 {networks['trained']:.3f} trained together,"
            f" {networks['enrolled']:.3f} with half of the authors enrolled, which takes"
            f" {networks['enroll_half'] / networks['train']:.0%} of the time that training the other half takes"
        )
    if load := stored.get("load"):
        print(
            f"\n{load['characters']:,} characters of 50 authors learned in {load['train']} s,"
            f" {load['asked']:,} texts attributed in {load['attribute']} s,"
            f" ten further authors enrolled in {load['enroll_ten']} s"
        )


if __name__ == "__main__":
    main()

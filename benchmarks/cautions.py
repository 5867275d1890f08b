"""How often warnings are raised, by corpus, and how far two texts of one kind differ in the marks of kind.

    BYLINE_DATA=folder-of-corpora python benchmarks/cautions.py     measure and store it
    python benchmarks/cautions.py --table                           print what is stored, run nothing
    python benchmarks/cautions.py --marks                           print the marks' constants, for genres.py

Cautions: how many problems of each corpus get one of each kind. Marks: two texts of one corpus at random, one corpus
being of one kind; their constants are fitted to these differences, and the limit is that which 95 of 100 pairs of every
corpus keep, pairs of texts and problems. Hits: a text of one corpus beside one of another of the same language.
Company: corpora made of others, in which a share of the problems has sides from two different ones; and Dutch 2015,
whose texts are told to be essays or reviews by a word classifier that learned the corpora of 2014. Time: made-up
problems.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from byline.corpora.documents import Document
from byline.corpora.problems import Problem, read_problems
from byline.judgment.checks.genre import (
    FEATURES,
    FEWEST_PROBLEMS,
    LIMIT,
    MAX_CORRELATION,
    TextStyle,
    chance_share,
    compare_kinds,
    compare_styles,
    measure_style,
    square_difference,
)
from byline.judgment.checks.problem_checks import find_cautions
from stored import RESULTS, commit

STORED = RESULTS / "cautions.json"
MIXED = ("pan15-train-dutch",)
"""Corpora of two kinds of text, essays and reviews; the others are of one each."""
DIFFERENT = (
    ("pan14-train-du_essays", "pan14-train-du_reviews"),
    ("pan14-train-en_essays", "pan14-train-en_novels"),
    ("pan14-train-en_essays", "pan15-train-english"),
    ("pan14-train-en_novels", "pan15-train-english"),
    ("pan14-train-gr_articles", "pan15-train-greek"),
    ("pan14-train-sp_articles", "pan15-train-spanish"),
)
"""Corpora of one language that differ in kind; those of Greek and Spanish are all of newspapers, and hardly do."""
PAIRS = 1_500
DRAWS = 20
SHARES = (1.0, 0.75, 0.5)
KINDS = ("short", "language", "shared", "repeated", "kind")
GROWTH = (1_000, 2_000, 4_000)

Corpora = Mapping[str, Sequence[Problem]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="print what is stored, run nothing")
    parser.add_argument("--marks", action="store_true", help="print the constants of the marks that are stored")
    options = parser.parse_args()
    if not options.table and not options.marks:
        data = Path(os.environ.get("BYLINE_DATA") or sys.exit("set BYLINE_DATA to the folder that holds the corpora"))
        found = sorted(child for child in data.iterdir() if (child / "truth.txt").exists())
        corpora = {child.name: read_problems(child).problems for child in found}
        stored = {"commit": commit(), **measure(corpora)}
        STORED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    if options.marks:
        print_marks(stored)
    else:
        print_tables(stored)


def measure(corpora: Corpora) -> dict[str, Any]:
    """All of it, in plain values."""
    rng = np.random.default_rng(0)
    styles = {name: text_manners(problems) for name, problems in corpora.items()}
    alike = {name: draw_pairs(own, own, rng) for name, own in styles.items() if name not in MIXED}
    return {
        "marks": fit_marks(alike),
        "limit": find_limit(corpora, alike),
        "cautions": [count_cautions(name, problems) for name, problems in corpora.items()],
        "hits": [
            {"one": one, "other": other, "share": share_above(draw_pairs(styles[one], styles[other], rng))}
            for one, other in DIFFERENT
            if one in corpora and other in corpora
        ],
        "draws": [draw_parts(name, problems, rng) for name, problems in corpora.items()],
        "company": [
            mix(corpora, one, other, share, rng)
            for one, other in DIFFERENT
            for share in SHARES
            if one in corpora and other in corpora
        ],
        "mixed": judge_mixed(corpora),
        "growth": [grow(problems) for problems in GROWTH],
    }


def text_manners(problems: Sequence[Problem]) -> list[TextStyle]:
    """Of each different text of a corpus that is long enough."""
    texts = {document.text for problem in problems for document in (*problem.known, problem.unknown)}
    found = (measure_style([text], problems[0].language) for text in sorted(texts))
    return [style for style in found if style is not None]


def draw_pairs(
    own: Sequence[TextStyle], others: Sequence[TextStyle], rng: np.random.Generator
) -> list[tuple[TextStyle, TextStyle]]:
    """Two texts at random, one of each, never one twice."""
    drawn = zip(rng.integers(len(own), size=PAIRS), rng.integers(len(others), size=PAIRS), strict=True)
    return [(own[one], others[other]) for one, other in drawn if own[one] is not others[other]]


def fit_marks(alike: Mapping[str, Sequence[tuple[TextStyle, TextStyle]]]) -> dict[str, dict[str, float]]:
    """For each mark how far long texts of one kind differ, and what chance adds: all corpora count the same."""
    found = {}
    shares = {name: np.array([chance_share(*pair) for pair in pairs]) for name, pairs in alike.items()}
    for mark in FEATURES:
        squares = {name: np.array([square_difference(mark, *pair) for pair in pairs]) for name, pairs in alike.items()}
        every = np.concatenate(list(shares.values()))
        _, chance = nnls(np.stack([np.ones_like(every), every], axis=1), np.concatenate(list(squares.values())))[0]
        left = [max(1e-6, squares[name].mean() - chance * shares[name].mean()) for name in alike]
        found[mark] = {"between": float(f"{np.mean(left):.2g}"), "chance": float(f"{chance:.2g}")}
    return found


def find_limit(corpora: Corpora, alike: Mapping[str, Sequence[tuple[TextStyle, TextStyle]]]) -> float:
    """What 95 of 100 keep, be they texts or problems of the corpus that varies most."""
    rates = [np.quantile([compare_styles(*pair).score for pair in pairs], 0.95) for pairs in alike.values()]
    rates += [np.quantile(problem_scores(corpora[name]), 0.95) for name in alike]
    return round(float(max(rates)), 2)


def problem_scores(problems: Sequence[Problem]) -> list[float]:
    """How far the two sides of each problem differ."""
    sides = [
        (measure_style([d.text for d in problem.known], problem.language),
         measure_style([problem.unknown.text], problem.language))
        for problem in problems
    ]  # fmt: skip
    return [compare_styles(one, other).score if one and other else 0.0 for one, other in sides]


def share_above(pairs: Sequence[tuple[TextStyle, TextStyle]]) -> float:
    return round(float(np.mean([compare_styles(*pair).score > LIMIT for pair in pairs])), 3)


def count_cautions(name: str, problems: Sequence[Problem]) -> dict[str, Any]:
    """How many problems of a corpus get a caution of each kind."""
    found = find_cautions(problems)
    counts = Counter(kind for each in found.problems.values() for kind in {caution.kind for caution in each})
    company = compare_kinds(problems)
    scores = np.array(problem_scores(problems))
    return {
        "corpus": name,
        "problems": len(problems),
        **{kind: counts[kind] for kind in KINDS},
        "marks": int((scores > LIMIT).sum()),
        "company": None if company is None else round(company.median, 2),
    }


def draw_parts(name: str, problems: Sequence[Problem], rng: np.random.Generator) -> dict[str, Any]:
    """How often a few problems of a corpus are said to be of two kinds."""
    said = []
    for _ in range(DRAWS):
        chosen = rng.permutation(len(problems))[:FEWEST_PROBLEMS]
        company = compare_kinds([problems[number] for number in chosen])
        said.append(company is not None and company.mismatched)
    return {"corpus": name, "problems": FEWEST_PROBLEMS, "said": round(float(np.mean(said)), 2)}


def mix(corpora: Corpora, one: str, other: str, share: float, rng: np.random.Generator) -> dict[str, Any]:
    """Corpora of 60 problems, so many of them with sides from two: how often it is said, and of which problems."""
    said, hits, alarms = [], [], []
    for _ in range(DRAWS // 4):
        own, its = ([corpora[name][n] for n in rng.permutation(len(corpora[name]))[:60]] for name in (one, other))
        problems, crossed = [], []
        for number in range(60):
            first, second = (own[number], its[number]) if number % 2 else (its[number], own[number])
            crossed.append(number < share * 60)
            unknown = second.unknown if crossed[-1] else first.unknown
            problems.append(Problem(f"{number:02d}", first.known, unknown, first.language))
        company = compare_kinds(problems)
        assert company
        said.append(company.mismatched)
        named = np.array(company.correlations) < MAX_CORRELATION if company.mismatched else np.zeros(60, np.bool_)
        hits.append(named[np.array(crossed)].mean())
        alarms.append(named[~np.array(crossed)].mean() if not all(crossed) else 0.0)
    return {
        "one": one, "other": other, "share": share,
        "said": round(float(np.mean(said)), 2),
        "hits": round(float(np.mean(hits)), 2),
        "alarms": round(float(np.mean(alarms)), 2),
    }  # fmt: skip


def judge_mixed(corpora: Corpora) -> dict[str, Any] | None:
    """How many problems of Dutch 2015 have sides of two kinds, and how many of these and of the others are named."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    (mixed,), learned = MIXED, DIFFERENT[0]
    if not {mixed, *learned} <= corpora.keys():
        return None
    known = [
        (document.text, name == learned[1])
        for name in learned
        for problem in corpora[name]
        for document in (*problem.known, problem.unknown)
    ]
    words = TfidfVectorizer(min_df=2, sublinear_tf=True)
    model = LogisticRegression(C=10).fit(words.fit_transform([text for text, _ in known]), [kind for _, kind in known])
    crossed = []
    for problem in corpora[mixed]:
        chances = model.predict_proba(words.transform([d.text for d in (problem.unknown, *problem.known)]))[:, 1]
        crossed.append((chances[0] > 0.5) != (chances[1:].mean() > 0.5))
    cautions = find_cautions(corpora[mixed])
    named = np.array([any(each.kind == "kind" for each in cautions.of(p.id)) for p in corpora[mixed]])
    two = np.array(crossed)
    return {
        "corpus": mixed,
        "crossed": int(two.sum()),
        "named": int(named[two].sum()),
        "others": int((~two).sum()),
        "alarms": int(named[~two].sum()),
    }


def grow(problems: int) -> dict[str, Any]:
    """Seconds of one core for the cautions of so many problems of two texts of 2,000 characters."""
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("etaoinshrdlu"), rng.integers(2, 9))) for _ in range(3_000)]
    made = [
        Problem(
            f"{number}",
            (Document("known", " ".join(rng.choice(words, 400))[:2_000]),),
            Document("unknown", " ".join(rng.choice(words, 400))[:2_000]),
            "english",
        )
        for number in range(problems)
    ]
    find_cautions(made[:FEWEST_PROBLEMS])  # which loads what is needed
    begin = time.process_time()
    find_cautions(made)
    return {"problems": problems, "seconds": round(time.process_time() - begin, 2)}


def print_marks(stored: Mapping[str, Any]) -> None:
    for name, values in stored["marks"].items():
        print(f'    "{name}": Mark({values["between"]:g}, {values["chance"]:g}, ...')
    print(f"LIMIT: {stored['limit']}")


def print_tables(stored: Mapping[str, Any]) -> None:
    print("| corpus | problems | short | language | shared | repeated | kind, by marks | of 40, kind by company |")
    print("|---|---|---|---|---|---|---|---|")
    draws = {row["corpus"]: row["said"] for row in stored["draws"]}
    for row in stored["cautions"]:
        counts = " | ".join(str(row[kind]) for kind in KINDS if kind != "kind")
        print(f"| {row['corpus']} | {row['problems']} | {counts} | {row['marks']} | {draws[row['corpus']]:.2f} |")
    print()
    print("| a text of | beside one of | said to differ, by marks |")
    print("|---|---|---|")
    for row in stored["hits"]:
        print(f"| {row['one']} | {row['other']} | {row['share']:.2f} |")
    print()
    print("| sides from | and | in this share of the problems | said of the corpus | of these | of the others |")
    print("|---|---|---|---|---|---|")
    for row in stored["company"]:
        print(
            f"| {row['one']} | {row['other']} | {row['share']:.2f} | {row['said']:.2f} | {row['hits']:.2f}"
            f" | {row['alarms']:.2f} |"
        )
    if mixed := stored["mixed"]:
        print()
        print(
            f"Of {mixed['corpus']}, {mixed['named']} of {mixed['crossed']} problems with sides of two kinds are named,"
            f" and {mixed['alarms']} of {mixed['others']} others."
        )
    print()
    print("| problems of 2,000 characters a side | seconds | seconds a thousand |")
    print("|---|---|---|")
    for row in stored["growth"]:
        print(f"| {row['problems']:,} | {row['seconds']:.1f} | {1_000 * row['seconds'] / row['problems']:.2f} |")


if __name__ == "__main__":
    main()

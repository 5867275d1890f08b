"""How well changes of hand are found along a text, by the probability that a change is given beforehand.

    BYLINE_DATA=folder-of-corpora python benchmarks/rolling.py      measure and store it
    python benchmarks/rolling.py --table                            print what is stored, run nothing

A model learns one half of the texts of three or eight authors of a corpus. Then it is asked about texts of 13,000
characters from the other half: some by one of these authors, some pasted together from two of them, who change between
4,000 and 8,000. Right: windows whose middle is given to its author. Found: seams with a change within 1,500 characters.
False: texts by one author in which a change is seen.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from byline.author_models.model import train_authors
from byline.corpora.author_corpus import make_author_corpus
from byline.corpora.documents import Document, read_document
from byline.engines.matrix import Table
from byline.settings.settings import read_pool
from byline.tasks.attribute import probability_table
from byline.tasks.rolling import STEP, WINDOW, most_probable_path, roll
from stored import RESULTS, commit, save

STORED = RESULTS / "rolling.json"
CHANGES = (0.003, 0.01, 0.03, 0.1, 0.2, 0.3)
AUTHORS = (3, 8)
GROUPS = 3
"""Of authors, from each corpus."""
LENGTH, EARLIEST, LATEST = 13_000, 4_000, 8_000
LEARNED, NEAR = 12_000, 1_500


class Case(NamedTuple):
    """A text that was rolled over: the middles of its windows, what they say, and who wrote it from where on."""

    middles: list[float]
    chances: Table
    first: int
    second: int
    seam: int | None


class Person(NamedTuple):
    """An author's texts, one half to learn and one to ask about."""

    name: str
    learned: str
    asked: str


def read_people(corpus: Path) -> list[Person]:
    """The authors of a corpus who have enough, nobody twice."""
    seen: set[str] = set()
    people = []
    for folder in sorted(path for path in corpus.iterdir() if path.is_dir()):
        texts = [read_document(file).text for file in sorted(folder.glob("known*.txt"))]
        begins = {text[:200] for text in texts}
        if not seen & begins and len(texts) > 1:
            half = len(texts) // 2
            person = Person(folder.name, " ".join(texts[:half])[:LEARNED], " ".join(texts[half:]))
            if len(person.asked) >= LENGTH and len(person.learned) >= LEARNED / 2:
                people.append(person)
        seen |= begins
    return people


def cases_of(corpus: Path, count: int) -> Iterator[Case]:
    """Texts by one and by two of so many authors."""
    people = read_people(corpus)
    chance = random.Random(1)
    chance.shuffle(people)
    for group in range(min(GROUPS, len(people) // count)):
        own = people[group * count :][:count]
        documents = [Document(person.name, person.learned) for person in own]
        model = train_authors(make_author_corpus(documents, [person.name for person in own]), read_pool("authors").rows)
        for first, second in zip(own, [*own[1:], own[0]], strict=True):
            seam = chance.randrange(EARLIEST, LATEST)
            pasted = first.asked[:seam] + second.asked[: LENGTH - seam]
            for text, place in ((first.asked[:LENGTH], None), (pasted, seam)):
                found = roll(model, Document(first.name, text))
                chances = probability_table([passage.attribution for passage in found.passages], model.authors)
                middles = [(passage.begin + passage.end) / 2 for passage in found.passages]
                names = model.authors
                yield Case(middles, chances, names.index(first.name), names.index(second.name), place)


def judge(cases: list[Case], changes: float) -> dict[str, float]:
    """The measures over all texts, where a change has this probability."""
    right, found, false = [], [], []
    for case in cases:
        path = most_probable_path(case.chances, STEP / WINDOW, changes)
        seam = case.seam if case.seam is not None else np.inf
        truth = [case.first if middle < seam else case.second for middle in case.middles]
        right.append(np.mean(np.array(path) == truth))
        steps = zip(pairwise(path), pairwise(case.middles), strict=True)
        places = [(before + after) / 2 for (one, other), (before, after) in steps if one != other]
        if case.seam is None:
            false.append(bool(places))
        else:
            found.append(any(abs(place - case.seam) <= NEAR for place in places))
    return {"right": float(np.mean(right)), "found": float(np.mean(found)), "false": float(np.mean(false))}


def table(stored: dict[str, Any]) -> str:
    """What is stored, as the documentation has it."""
    lines = ["| changes | windows right | seams found | false alarms |", "|---:|---:|---:|---:|"]
    lines += [
        f"| {row['changes']:g} | {row['right']:.3f} | {row['found']:.2f} | {row['false']:.2f} |"
        for row in stored["runs"]
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, store, print; or print alone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="print what is stored")
    if not parser.parse_args().table:
        if not (data := os.environ.get("BYLINE_DATA")):
            sys.exit("BYLINE_DATA is not set: it should name the folder of corpora")
        corpora = sorted(path for path in Path(data).iterdir() if path.is_dir())
        cases = [case for corpus in corpora for count in AUTHORS for case in cases_of(corpus, count)]
        rows = [{"changes": changes, **judge(cases, changes)} for changes in CHANGES]
        texts = {"one": sum(case.seam is None for case in cases), "two": sum(case.seam is not None for case in cases)}
        save(STORED, {"commit": commit(), "texts": texts, "runs": rows})
    print(table(json.loads(STORED.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()

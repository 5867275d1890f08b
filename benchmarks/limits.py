"""Where answers stop being worth much: by length of the texts, size and kind of the reference, and edited texts.

    BYLINE_DATA=folder-of-corpora python benchmarks/limits.py   measure what is not stored yet; an hour of one core
    python benchmarks/limits.py --only length,editing           only these parts; the others stay as stored
    python benchmarks/limits.py --judge                         measures of the stored scores anew, nothing is answered
    python benchmarks/limits.py --table                         print what is stored, run nothing
    python benchmarks/limits.py --table --only reference        one part of it
    python benchmarks/limits.py --draw docs/images              draw the curves of what is stored, run nothing

Each point is stored in benchmarks/results/limits.json as soon as it is done, and not run again. Members are those of
preset best without networks, or of preset cohort: none of them has to do with chance. Likelihood ratios are those of a
calibration that was fitted on the other corpora, their texts whole, as pan.py does it.

length: texts are cut to their first so many characters, at the end of a word; known texts are taken in order until
they have as many together, and once a share of each. Where unknown texts are cut, known ones have 4,000 characters at
the most. All problems of a corpus are answered together, all of them cut; only those whose text was as long as that
are measured, and the same ones once more with that side whole. Corpora that have fewer than ten such problems of
either kind take no part.
networks: three points of it once more, with all members of preset best.
reference: thirty problems of each corpus, each by itself, beside one text by each of so many people of the other years'
corpora of its language, drawn three times; all sides and texts are cut to 4,000 characters.
kinds: the same problems beside texts by forty people of their own kind, which are of the other problems of their
corpus, or of another.
editing: the same problems, the unknown text alone being changed: words exchanged for frequent ones, copy-edited, or
sentences of the known texts put in the place of its own.
errors: how often ratios mislead, of what pan.py has stored; nothing is answered for it.
support: of the same, how far ratios without a cap are borne out.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from byline.corpora.documents import Document
from byline.corpora.overlaps import find_overlap
from byline.corpora.problems import Problem, ProblemSet
from byline.corpora.reference import Reference
from byline.corpora.reference_building import build_reference
from byline.judgment.checks.reference_suitability import check_reference
from byline.runs.executor import Execution
from byline.runs.folder import RunOutput, read_members, read_plan
from byline.settings.settings import Pool, read_pool
from byline.tasks.verify import verify
from limits_judged import (
    BESIDE,
    DRAWN,
    KNOWN,
    NETWORKS,
    PEOPLE,
    UNKNOWN,
    USUAL,
    WAYS,
    WHOLE,
    Corpus,
    Row,
    choose,
    judge,
    lengths_of,
    name_of,
    reaches,
    read_corpora,
)
from limits_shown import draw, tables
from pan import fingerprint, other_years, relative_values
from stored import RESULTS, commit, save

STORED = RESULTS / "limits.json"
PARTS = ("length", "networks", "reference", "kinds", "editing", "errors", "support")
FREQUENT = 100
"""Words that others are exchanged for."""
KINDS = {
    "pan14-train-du_essays": "essays",
    "pan14-train-du_reviews": "reviews",
    "pan14-train-en_essays": "essays",
    "pan14-train-en_novels": "novels",
    "pan15-train-english": "plays",
}
"""Corpora of one kind each, in languages of which there are several kinds."""
WORD = re.compile(r"[^\W\d_]+")
SENTENCE = re.compile(r"(?<=[.!?;\u037e\u2026])\s+")
CONTRACTIONS = (
    ("won't", "will not"), ("can't", "cannot"), ("n't", " not"), ("'re", " are"), ("'ve", " have"), ("'ll", " will"),
    ("I'm", "I am"), ("it's", "it is"), ("that's", "that is"),
)  # fmt: skip


def main() -> None:
    options = parse_options()
    if options.draw:
        draw(read_stored()["figures"], options.draw)
        return
    if not options.table:
        data = Path(os.environ.get("BYLINE_DATA") or sys.exit("set BYLINE_DATA to the folder that holds the corpora"))
        corpora = read_corpora(data)
        if not options.judge:
            measure(data, corpora, options.parts)
        stored = read_stored()
        save(STORED, {**stored, "figures": judge(stored["runs"], corpora)})
    print("\n\n".join(tables(read_stored()["figures"], options.parts)))


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PARTS), metavar="PARTS", help="joined by commas")
    parser.add_argument("--judge", action="store_true", help="measure stored scores anew, answer nothing")
    parser.add_argument("--table", action="store_true", help="print what is stored, run nothing")
    parser.add_argument("--draw", type=Path, metavar="FOLDER", help="draw what is stored, run nothing")
    options = parser.parse_args()
    options.parts = options.only.split(",")
    if odd := set(options.parts) - set(PARTS):
        parser.error(f"no such parts: {', '.join(sorted(odd))}; there are {', '.join(PARTS)}")
    return options


def read_stored() -> dict[str, Any]:
    if not STORED.exists():
        return {"figures": {}, "runs": []}
    stored: dict[str, Any] = json.loads(STORED.read_text(encoding="utf-8"))
    return stored


def measure(data: Path, corpora: Mapping[str, Corpus], parts: Sequence[str]) -> None:
    """Answer what is not stored yet, point by point."""
    made_by = {"commit": commit(), "code": fingerprint()}
    stored = read_stored()
    done = {name_of(row) for row in stored["runs"]}
    if old := sum(row["code"] != made_by["code"] for row in stored["runs"]):
        print(f"{old} stored points were answered by other code; remove {STORED} to answer them anew", file=sys.stderr)
    for row, work in plan(data, corpora, parts):
        if name_of(row) in done:
            continue
        begin = time.perf_counter()
        row |= work()
        row |= {"seconds": round(time.perf_counter() - begin, 1), **made_by}
        stored["runs"].append(row)
        save(STORED, stored)
        print(*name_of(row), row["seconds"], file=sys.stderr, flush=True)


def plan(data: Path, corpora: Mapping[str, Corpus], parts: Sequence[str]) -> Iterator[tuple[Row, Callable[[], Row]]]:
    """Every point and what answers it, whole texts first, since others are calibrated by them."""
    lengths = [(WHOLE, WHOLE), (WHOLE, BESIDE)]
    lengths += [(unknown, BESIDE) for unknown in UNKNOWN] + [(WHOLE, known) for known in KNOWN if known != BESIDE]
    if "length" in parts:
        for unknown, known in lengths:
            for corpus in corpora.values():
                row = {"part": "length", "corpus": corpus.name, "unknown": unknown, "known": known}
                if reaches(corpus, "unknown", unknown) and (known == BESIDE or reaches(corpus, "known", known)):
                    yield row, functools.partial(answer_cut, corpus, unknown, known, quick())
        for corpus in corpora.values():
            if reaches(corpus, "known", 2 * BESIDE):
                row = {"part": "spread", "corpus": corpus.name, "unknown": WHOLE, "known": BESIDE}
                yield row, functools.partial(answer_spread, corpus, BESIDE)
    if "editing" in parts:
        for corpus in corpora.values():
            yield {"part": "editing", "corpus": corpus.name}, functools.partial(answer_edited, data, corpus)
    if "kinds" in parts:
        for name in KINDS:
            for beside in KINDS:
                if {name, beside} <= corpora.keys() and corpora[name].language == corpora[beside].language:
                    row = {"part": "kinds", "corpus": name, "beside": beside}
                    yield row, functools.partial(answer_beside, data, corpora[name], beside)
    if "reference" in parts:
        for people in PEOPLE:
            for number in range(DRAWN):
                for corpus in corpora.values():
                    row = {"part": "reference", "corpus": corpus.name, "people": people, "draw": number}
                    if people <= count_people(data, corpus.name, corpus.language):
                        yield row, functools.partial(answer_by_few, data, corpus, people, number)
    if "networks" in parts:
        for corpus in sorted(corpora.values(), key=lambda corpus: len(corpus.problems) * mean_length(corpus)):
            for unknown in NETWORKS:
                row = {"part": "networks", "corpus": corpus.name, "unknown": unknown, "known": BESIDE}
                yield row, functools.partial(answer_cut, corpus, unknown, BESIDE, read_pool("best"))


def mean_length(corpus: Corpus) -> float:
    """Characters of a problem, as it is cut: what training takes time for."""
    return float(np.mean([np.minimum(lengths_of(corpus, side), BESIDE).mean() for side in ("unknown", "known")]))


def quick() -> Pool:
    pool = read_pool("best").only(["ngram", "vectors"])
    return dataclasses.replace(pool, members=len(pool.rows))


def answer(
    problems: Sequence[Problem], pool: Pool, reference: Reference | None = None
) -> dict[str, list[float | None]]:
    """What a calibration is fitted to, of each problem: of all members, and of those that mask the topic or don't."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "run"
        keep = RunOutput(folder, evidence=False)
        given = ProblemSet(tuple(problems), "folders")
        verify(
            given, pool, reference=reference, skip_bad=True, output=keep, execution=Execution(workers=1, cautions=False)
        )
        made = read_plan(folder)
        records = list(read_members(folder, made))
    ids = [problem.id for problem in problems]
    found = {"values": relative_values(made, records, ids)}
    if reference is None:
        for mask in ("topic", "none"):
            own = [record for record in records if record.member.settings.mask == mask]
            found[f"mask {mask}"] = relative_values(made, own, ids)
    return found


def answer_cut(corpus: Corpus, unknown: int, known: int, pool: Pool) -> Row:
    found = answer([cut(problem, unknown, known) for problem in corpus.problems], pool)
    if (unknown, known) != (WHOLE, WHOLE):
        found = {"values": found["values"]}
    return {**found}


def answer_spread(corpus: Corpus, known: int) -> Row:
    """With as many known characters, of each text the same share of its beginning."""
    cut_problems = []
    for problem in corpus.problems:
        share = min(1, known / sum(len(document.text) for document in problem.known))
        texts = tuple(shorten(document, max(1, int(share * len(document.text)))) for document in problem.known)
        cut_problems.append(dataclasses.replace(problem, known=texts))
    return {"values": answer(cut_problems, quick())["values"]}


def cut(problem: Problem, unknown: int, known: int) -> Problem:
    """The beginnings of its texts, the known ones in order until they have so many characters together."""
    texts, left = [], known or sys.maxsize
    for document in problem.known:
        if left > 0:
            texts.append(shorten(document, left))
            left -= len(document.text)
    return dataclasses.replace(problem, known=tuple(texts), unknown=shorten(problem.unknown, unknown or sys.maxsize))


def shorten(document: Document, length: int) -> Document:
    """Its beginning, up to the end of a word."""
    if len(document.text) <= length:
        return document
    text = document.text[: length + 1]
    return dataclasses.replace(document, text=(text[: text.rfind(" ")] if " " in text.strip() else text[:length]))


def chosen(corpus: Corpus) -> list[Problem]:
    """The same, their sides cut."""
    return [cut(corpus.problems[place], BESIDE, BESIDE) for place in choose(corpus)]


@functools.cache
def usual_reference(data: Path, corpus: str, language: str) -> Reference:
    return build_reference(other_years(data, corpus, language))


def count_people(data: Path, corpus: str, language: str) -> int:
    reference = usual_reference(data, corpus, language)
    return reference.count_distinct(reference.by_author)


def answer_by_few(data: Path, corpus: Corpus, people: int, draw: int) -> Row:
    reference = draw_people(usual_reference(data, corpus.name, corpus.language), people, draw)
    return answer(chosen(corpus), read_pool("cohort"), reference)


def draw_people(reference: Reference, people: int, draw: int) -> Reference:
    """A text of each of some authors at random, of whom no two may be one person."""
    names = sorted(reference.by_author)
    random.Random(draw).shuffle(names)
    kept: list[str] = []
    for name in names:
        if len(kept) < people and not any(reference.may_be_same(name, other) for other in kept):
            kept.append(name)
    texts = [max(reference.by_author[name], key=lambda text: len(text.document.text)) for name in kept]
    short = (dataclasses.replace(text, document=shorten(text.document, BESIDE)) for text in texts)
    return dataclasses.replace(reference, texts=tuple(short), unclear_pairs=frozenset())


def answer_beside(data: Path, corpus: Corpus, beside: str) -> Row:
    """Beside another corpus, or beside those of its own problems that are not asked."""
    with tempfile.TemporaryDirectory() as scratch:
        own = {corpus.problems[place].id for place in choose(corpus)} if beside == corpus.name else set()
        for folder in sorted(child for child in (data / beside).iterdir() if child.is_dir() and child.name not in own):
            (Path(scratch) / folder.name).symlink_to(folder, target_is_directory=True)
        reference = draw_people(build_reference([Path(scratch)], corpus.language), USUAL, 0)
    check = check_reference(reference, chosen(corpus))
    found = answer(chosen(corpus), read_pool("cohort"), reference)
    return {**found, "grades": [each.grade for each in check.problems], "authors": check.authors}


def answer_edited(data: Path, corpus: Corpus) -> Row:
    """All ways at once: each problem is answered by itself."""
    reference = draw_people(usual_reference(data, corpus.name, corpus.language), USUAL, 0)
    words = frequent_words(reference)
    edited = [
        dataclasses.replace(edit(problem, way, share, words), id=f"{number}-{problem.id}")
        for number, (way, share) in enumerate(WAYS)
        for problem in chosen(corpus)
    ]
    found = answer(edited, read_pool("cohort"), reference)
    return {**found, "shared": [bool(find_overlap(problem).passages) for problem in edited]}


def frequent_words(reference: Reference) -> list[str]:
    counts = Counter(word for text in reference.texts for word in WORD.findall(text.document.text.lower()))
    return sorted(counts, key=lambda word: (-counts[word], word))[:FREQUENT]


def edit(problem: Problem, way: str, share: float, words: Sequence[str]) -> Problem:
    chance = random.Random(problem.id)
    text = problem.unknown.text
    if way == "words":
        text = WORD.sub(lambda found: chance.choice(words) if chance.random() < share else found[0], text)
    elif way == "copy-edited":
        text = copy_edit(text)
    elif way == "borrowed":
        text = borrow(text, [document.text for document in problem.known], share, chance)
    return dataclasses.replace(problem, unknown=dataclasses.replace(problem.unknown, text=text))


def copy_edit(text: str) -> str:
    """Quotes, dashes, dots and spaces in one style, no exclamations or semicolons, English contractions written out."""
    for marks, plain in (
        ("\u2018\u2019\u201b`\u00b4", "'"),
        ("\u201c\u201d\u201e\u00ab\u00bb", '"'),
        ("\u2013\u2014", "-"),
    ):
        text = re.sub(f"[{marks}]", plain, text)
    for short, long in CONTRACTIONS:
        text = re.sub(rf"{short}\b", long, text)
    text = re.sub(r"\s*-{1,3}\s+|\s+-{1,3}\s*", ", ", text)
    text = re.sub(r"\.{2,}|\u2026", ".", text)
    text = re.sub(r"!+", ".", text).replace(";", ",")
    text = re.sub(r"[ \t]+([,.:?])", r"\1", text)
    return re.sub(r"\s+", " ", text).strip()


def borrow(text: str, known: Sequence[str], share: float, chance: random.Random) -> str:
    """Sentences of the known texts in the place of some, until they are such a share of all characters."""
    own = SENTENCE.split(text)
    others = [sentence for other in known for sentence in SENTENCE.split(other) if len(sentence) > 20]
    chance.shuffle(others)
    taken, length = 0, len(text)
    for place in chance.sample(range(len(own)), len(own)):
        if taken >= share * length or not others:
            break
        own[place] = others.pop()
        taken += len(own[place])
    return " ".join(own)


if __name__ == "__main__":
    main()

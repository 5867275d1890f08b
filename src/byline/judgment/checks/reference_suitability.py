"""Check whether a reference population is large and varied enough for some problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from byline.corpora.problems import Problem
from byline.corpora.reference import (
    ENOUGH,
    FEWEST,
    Reference,
    describe_languages,
    related_texts,
    same_language,
)
from byline.engines.ngram.counts import NONE
from byline.engines.ngram.kernels import index_texts
from byline.judgment.checks.cautions import Grade, ProblemCheck, ReferenceCheck
from byline.text.shared_passages import plain_form

LENGTH_FACTOR = 2
"""Texts are near in length if neither is more than this many times as long as the other."""
NEAREST = 10
"""A text's similarity to the reference is the mean over this many texts, the most similar ones."""
UNUSUAL = 0.05
"""A text is unusual if it is less similar to the reference than all but this share of the reference's own texts."""
MAX_SIMILARITY = 1.25
"""Two sides that are this many times as similar as any two authors of the reference share something that it lacks."""
MAX_CHARACTERS = 4_000
"""The beginning of each text that is compared: more does not help, because longer texts are always more similar."""

NGRAMS = (3, 5)
"""The lengths of n-grams whose likeness shows kind and subject."""

Floats = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]


def check_reference(reference: Reference, problems: Sequence[Problem]) -> ReferenceCheck:
    """Check the size of the reference, and for each problem how many of its authors have similar texts."""
    documents = [document for problem in problems for document in (*problem.known, problem.unknown)]
    related = iter(related_texts(reference, documents))
    sides = [_sides(problem, reference.language) for problem in problems]
    similarity = None
    if len(reference.by_author) >= FEWEST:
        similarity = _Similarity(reference, [text for pair in sides for text in pair])
    checks = []
    for problem, (known, unknown) in zip(problems, sides, strict=True):
        excluded = frozenset[int]().union(*(next(related) for _ in (*problem.known, problem.unknown)))
        checks.append(_check_problem(_Unrelated(reference, excluded), problem, known, unknown, similarity))
    return ReferenceCheck(
        reference.language,
        len(reference.texts),
        reference.count_distinct(reference.by_author),
        sum(reference.lengths),
        reference.length_summary,
        tuple(checks),
    )


class _Unrelated:
    """The texts of a reference that are unrelated to one problem."""

    def __init__(self, reference: Reference, excluded: frozenset[int]) -> None:
        self.reference, self.related = reference, len(excluded)
        self.texts = [number for number in range(len(reference.texts)) if number not in excluded]
        self.authors = self._count_authors(self.texts)

    def count(self, flags: Flags) -> int:
        """Count the authors of the texts with a flag."""
        return self._count_authors(number for number in self.texts if flags[number])

    def _count_authors(self, numbers: Iterable[int]) -> int:
        return self.reference.count_distinct(self.reference.texts[number].author for number in numbers)

    def count_near(self, length: int, together: bool = False) -> int:
        """Count the authors with a text near in length, or with texts that are `together`."""
        near = _near(np.array(self.reference.lengths), length)
        if together:
            sums: Counter[str] = Counter()
            for number in self.texts:
                sums[self.reference.texts[number].author] += self.reference.lengths[number]
            near |= _near(np.array([sums[text.author] for text in self.reference.texts]), length)
        return self.count(near)


def _near(lengths: npt.NDArray[np.int64], length: int) -> Flags:
    return (lengths * LENGTH_FACTOR >= length) & (lengths <= length * LENGTH_FACTOR)


def _check_problem(
    rest: _Unrelated, problem: Problem, known: str, unknown: str, similarity: _Similarity | None
) -> ProblemCheck:
    lengths = len(problem.unknown.text), sum(map(len, {each.text for each in problem.known} - {problem.unknown.text}))
    near_unknown, near_known = rest.count_near(lengths[0]), rest.count_near(lengths[1], together=True)
    like_unknown = rest.count(similarity.similar_texts(unknown)) if similarity else 0
    like_known = rest.count(similarity.similar_texts(known)) if similarity else 0
    obstacles: list[str] = []
    if not same_language(rest.reference, problem):
        its, asked = describe_languages(rest.reference, problem)
        obstacles.append(f"the reference is {its}, the question {asked}")
    if rest.authors < FEWEST:
        obstacles.append(f"texts by {rest.authors} other people are left; {FEWEST} are needed")
    faults = [
        f"{'only ' if near else ''}{near or 'none'} of {rest.authors} people {'has' if near == 1 else 'have'} a text"
        f" near in length to the {what} ({length:,} characters; the median of the reference is"
        f" {rest.reference.length_summary[1]:,})"
        for near, what, length in (
            (near_unknown, "unknown text", lengths[0]),
            (near_known, "known texts" if len(problem.known) > 1 else "known text", lengths[1]),
        )
        if near < min(FEWEST, rest.authors)
    ]
    if similarity and not obstacles:
        faults += similarity.find_faults(rest.texts, known, unknown)
    small = [f"texts by {rest.authors} other people; {ENOUGH} would be enough"] if rest.authors < ENOUGH else []
    grade: Grade = "none" if obstacles else "poor" if faults else "fair" if small else "good"
    return ProblemCheck(
        problem.id,
        rest.authors,
        rest.related,
        near_unknown,
        near_known,
        like_unknown,
        like_known,
        grade,
        tuple(obstacles or faults + small),
    )


def _sides(problem: Problem, language: str) -> tuple[str, str]:
    """Return the known texts together, each once and without the unknown one, and the unknown text, in plain form."""
    unknown = plain_form(problem.unknown.text, language)
    known = dict.fromkeys(plain_form(document.text, language) for document in problem.known)
    known.pop(unknown, None)
    return " ".join(known), unknown


class _Similarity:
    """Similarities of texts in character n-grams, which depend on kind and subject more than on the author."""

    def __init__(self, reference: Reference, asked: Sequence[str]) -> None:
        self.row_of = {text: row for row, text in enumerate(dict.fromkeys(asked))}
        count = len(reference.texts)
        vectors = _weigh_ngrams([text[:MAX_CHARACTERS] for text in (*reference.plain, *self.row_of)])
        self.vectors = vectors[count:]
        self.to_reference: Floats = (self.vectors @ vectors[:count].T).toarray()
        own: Floats = (vectors[:count] @ vectors[:count].T).toarray()
        own[_same_author_pairs(reference)] = 0
        self.greatest = float(own.max())
        self.usual = float(np.quantile(_mean_of_nearest(own), UNUSUAL))

    def similar_texts(self, text: str) -> Flags:
        """Return which of the reference's texts are as similar to it as they are to each other."""
        found: Flags = self.to_reference[self.row_of[text]] >= self.usual
        return found

    def find_faults(self, others: Sequence[int], known: str, unknown: str) -> list[str]:
        """Describe how the kind of a problem's texts differs from that of others in the reference."""
        rows = [self.row_of[known], self.row_of[unknown]]
        known_far, unknown_far = (_mean_of_nearest(self.to_reference[rows][:, others]) < self.usual).tolist()
        found = []
        if known_far or unknown_far:
            side = "the unknown text is" if not known_far else "both sides are" if unknown_far else "the known side is"
            found.append(f"{side} of a kind that the reference hardly has")
        together = float((self.vectors[rows[:1]] @ self.vectors[rows[1:]].T).toarray()[0, 0])
        if together > MAX_SIMILARITY * self.greatest:
            found.append(
                f"the two sides are far more alike ({together:.2f}) than the texts of any two people in the reference"
                f" ({self.greatest:.2f}); they may share a subject that the reference lacks"
            )
        return found


def _weigh_ngrams(texts: Sequence[str]) -> csr_array:
    """Return (texts, n-grams): damped frequencies of characters' n-grams, weighted by rarity, of length 1."""
    codes = [np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32) for text in texts]
    _, numbers = np.unique(np.concatenate(codes), return_inverse=True)
    ends = np.cumsum([len(each) for each in codes])
    index = index_texts(np.split(numbers.astype(np.int32), ends[:-1]), NGRAMS[1])
    found, counts = [], []
    for begin, end in pairwise(index.starts.tolist()):
        grams = index.grams[NGRAMS[0] - 1 :, begin:end]
        different, often = np.unique(grams[grams != NONE], return_counts=True)
        found.append(different)
        counts.append(often)
    having = np.bincount(np.concatenate(found), minlength=index.size)
    rarity = np.log((1 + len(texts)) / (1 + having)) + 1
    values = [(1 + np.log(often)) * rarity[different] for different, often in zip(found, counts, strict=True)]
    values = [each / max(float(np.sqrt(each @ each)), 1e-9) for each in values]
    starts = np.cumsum([0, *map(len, found)])
    table = np.concatenate(values).astype(np.float32), np.concatenate(found), starts
    return csr_array(table, shape=(len(texts), index.size))


def _same_author_pairs(reference: Reference) -> Flags:
    """Return (texts, texts): which may be by one author."""
    names = {author: number for number, author in enumerate(reference.by_author)}
    one = np.eye(len(names), dtype=np.bool_)
    for first, second in (tuple(pair) for pair in reference.unclear_pairs):
        one[[names[first], names[second]], [names[second], names[first]]] = True
    numbers = [names[text.author] for text in reference.texts]
    return one[np.ix_(numbers, numbers)]


def _mean_of_nearest(similarities: Floats) -> Floats:
    """Return the mean of the greatest similarities in each row."""
    count: Any = min(NEAREST, similarities.shape[1])
    return np.sort(similarities, axis=1)[:, -count:].mean(axis=1) if count else np.zeros(len(similarities), np.float32)

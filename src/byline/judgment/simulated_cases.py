"""Draw cases with known truth, and a reference population beside them, from texts whose authors are known.

In a draw, each asked author has one unknown text and a set of known texts. A same-author case compares both; a
different-author case compares the unknown text with the known texts of somebody else. So every text is in cases of
both answers, and neither its length nor its kind tells the answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from byline.corpora.documents import Document
from byline.corpora.labeled_corpus import LabeledCorpus, find_unrelated
from byline.corpora.problems import Problem, ProblemSet
from byline.corpora.reference import FEWEST, Reference, ReferenceText
from byline.errors import CorpusError, SettingsError, TooLittleText
from byline.text.normalize import UNSEGMENTED

MAX_REFERENCE = 300
"""Without a number of reference authors, a reference has no more than this many."""
FEWEST_ASKED = 2
"""The least number of authors in the cases of a draw: one cannot be compared with another."""
SHORTEST_CASE, LONGEST_CASE = 250, 100_000
MOST_KNOWN = 5

_UNSEGMENTED = re.compile(f"[{UNSEGMENTED}]")


@dataclass(frozen=True)
class CaseOptions:
    """Options of a draw. Invalid values raise SettingsError.

    A text that is longer than the length for it is cut to a window at a random place; a shorter one is used whole.
    """

    shortest: int = SHORTEST_CASE
    longest: int = LONGEST_CASE
    """Range of characters from which lengths are drawn, log-uniform within what the texts allow. Texts with fewer than
    `shortest` characters are never in a case."""
    known_length: int | None = None
    """Characters of each known text at most (default: drawn for each author)."""
    unknown_length: int | None = None
    """Characters of the unknown text at most (default: drawn for each author)."""
    fewest_known: int = 1
    most_known: int = MOST_KNOWN
    """Range from which the number of known texts is drawn, uniform within what there is."""
    unmatched: int = 2
    """Different-author cases for each unknown text, with known texts by random authors."""
    matched: int = 1
    """Different-author cases for each unknown text, with known texts by those whose topics are most similar."""
    halves: bool = False
    """Whether an author who has one text only is asked about with its halves."""
    asked_authors: int | None = None
    """The greatest number of authors in cases (default: all whom the reference leaves)."""
    reference_authors: int | None = None
    """People in the reference (default: half of the corpus, from 10 to 300); 0 for no reference."""
    reference_length: int | None = None
    """Characters of each text in the reference at most (default: texts are not cut)."""

    def __post_init__(self) -> None:
        least = {
            "shortest": 1,
            "longest": self.shortest,
            "known_length": self.shortest,
            "unknown_length": self.shortest,
            "fewest_known": 1,
            "most_known": self.fewest_known,
            "unmatched": 0,
            "matched": 0,
            "asked_authors": FEWEST_ASKED,
            "reference_length": self.shortest,
        }
        for name, bound in least.items():
            _require_number(name, getattr(self, name), bound)
        if self.reference_authors != 0:
            _require_number("reference_authors", self.reference_authors, FEWEST)
        if not isinstance(self.halves, bool):
            raise SettingsError(f"must be true or false, got {self.halves!r}", where="halves", remedy="Give a boolean")


_OPTIONAL = ("known_length", "unknown_length", "asked_authors", "reference_authors", "reference_length")


def _require_number(name: str, value: object, least: int) -> None:
    if value is None and name in _OPTIONAL:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        what = f"must be a whole number of at least {least}, got {value!r}"
        raise SettingsError(what, where=name, remedy=f"Give {least} or more")


@dataclass(frozen=True)
class Case:
    """The truth and the circumstances of a problem that was drawn."""

    id: str
    same: bool
    matched: bool
    """Whether the known author was chosen for likeness of topic."""
    halves: bool
    """Whether both sides are halves of one text."""
    known_author: str
    unknown_author: str
    known_lengths: tuple[int, ...]
    """Characters of each known text."""
    unknown_length: int

    @property
    def authors(self) -> tuple[str, ...]:
        """The different authors of the case; a bootstrap over authors draws these."""
        return tuple(dict.fromkeys((self.known_author, self.unknown_author)))


@dataclass(frozen=True)
class SimulatedCases:
    """Problems with known truth, and a reference without their authors."""

    problems: ProblemSet
    cases: tuple[Case, ...]
    """A case for each problem, in the same order."""
    reference: Reference

    @cached_property
    def truth(self) -> dict[str, bool]:
        """Whether each problem has one author, by id."""
        return {case.id: case.same for case in self.cases}


class _Asked(NamedTuple):
    """The texts of an author in the cases of a draw, and their numbers in the corpus."""

    author: str
    known: tuple[Document, ...]
    unknown: Document
    known_numbers: tuple[int, ...]
    unknown_number: int
    halves: bool


def draw_cases(
    corpus: LabeledCorpus,
    rng: np.random.Generator,
    options: CaseOptions = CaseOptions(),
    population: LabeledCorpus | None = None,
) -> SimulatedCases:
    """Draw cases and a reference from a corpus. No author is both in a case and in the reference.

    No text is both known and unknown, nor shares a passage with a text in another role. Pairs of authors who may be the
    same person are in no different-author case. The result depends on the arguments and the generator's state only.
    Raise TooLittleText if there are too few authors or texts.

    Parameters
    ----------
    population
        Another corpus, perhaps of another kind, from which the reference is drawn (default: the corpus itself).
    """
    asked_authors, reference_authors = _split(corpus, population, rng, options)
    asked = [_draw_texts(corpus, author, rng, options) for author in sorted(asked_authors)]
    pairs = [(place, place, "same") for place in range(len(asked))]
    matched = _match_topics(corpus, asked, options.matched, rng)
    pairs += [(*pair, "matched") for pair in matched]
    pairs += [(*pair, "different") for pair in _pair_randomly(corpus, asked, options.unmatched, set(matched), rng)]
    if options.unmatched + options.matched and len(pairs) == len(asked):
        what = f"no two of the {len(asked)} authors in the cases are certain to be different people"
        raise TooLittleText(what, where=corpus.name or None, remedy="Add texts by other authors")
    problems, cases = _make_cases(asked, pairs, corpus.language)
    source = corpus if population is None else population
    return SimulatedCases(
        ProblemSet(problems, "folders"), cases, _draw_reference(source, reference_authors, rng, options)
    )


def _usable_works(corpus: LabeledCorpus, author: str, shortest: int) -> list[list[int]]:
    """Return the numbers of an author's texts that are long enough, in groups that share no passages."""
    works = [[number for number in work if corpus.lengths[number] >= shortest] for work in corpus.works[author]]
    return [work for work in works if work]


def _able(corpus: LabeledCorpus, author: str, options: CaseOptions) -> bool:
    """Whether an author has enough texts for a case."""
    works = _usable_works(corpus, author, options.shortest)
    if len(works) > options.fewest_known:
        return True
    halved = options.halves and options.fewest_known == 1 and len(works) == 1
    return halved and max(corpus.lengths[number] for number in works[0]) >= 2 * options.shortest


def _split(
    corpus: LabeledCorpus, population: LabeledCorpus | None, rng: np.random.Generator, options: CaseOptions
) -> tuple[list[str], list[str]]:
    """Return the authors in cases and those in the reference, both at random."""
    authors = [corpus.authors[place] for place in rng.permutation(len(corpus.authors))]
    able = [author for author in authors if _able(corpus, author, options)]
    if len(able) < FEWEST_ASKED:
        raise TooLittleText(
            f"has {len(able)} authors with enough texts, {FEWEST_ASKED} are needed",
            where=corpus.name or None,
            remedy="Add texts by each author, or allow shorter or fewer known texts",
        )
    if options.reference_authors == 0:
        return able[: options.asked_authors], []
    if population is not None:
        asked = able[: options.asked_authors]
        strangers = _find_strangers(corpus, asked, population)
        order = [strangers[place] for place in rng.permutation(len(strangers))]
        return asked, _choose_reference(population, order, asked, options)
    wanted = options.reference_authors or min(MAX_REFERENCE, max(FEWEST, len(authors) // 2))
    share = max(0.0, 1 - wanted / len(authors))
    asked = able[: max(FEWEST_ASKED, round(share * len(able)))][: options.asked_authors]
    while True:
        try:
            return asked, _choose_reference(corpus, authors, asked, options)
        except TooLittleText:
            if len(asked) == FEWEST_ASKED:
                raise
            asked = asked[:-1]  # for whom too many may be the same person


def _find_strangers(corpus: LabeledCorpus, asked: Sequence[str], population: LabeledCorpus) -> list[str]:
    """Return the authors of another corpus who share no passage with the asked authors."""
    if corpus.language != population.language:
        what = f"is in {population.language}, and the cases are in {corpus.language}"
        raise CorpusError(what, where=population.name or None, remedy="Give a population in the same language")
    plain = [corpus.plain[number] for author in asked for work in corpus.works[author] for number in work]
    return list(find_unrelated(population, plain))


def _choose_reference(
    population: LabeledCorpus, authors: Sequence[str], asked: Sequence[str], options: CaseOptions
) -> list[str]:
    """Choose the first authors of whom no two may be the same person, and who are none of the asked ones."""
    reference: list[str] = []
    for author in authors:
        if not any(population.may_be_same(author, other) for other in (*asked, *reference)):
            reference.append(author)
    needed = options.reference_authors or FEWEST
    if len(reference) < needed:
        raise TooLittleText(
            f"leaves {len(reference)} authors for the reference beside {len(asked)} in cases, {needed} are needed",
            where=population.name or None,
            remedy="Add texts by other authors",
        )
    return reference[: options.reference_authors or MAX_REFERENCE]


def _draw_texts(corpus: LabeledCorpus, author: str, rng: np.random.Generator, options: CaseOptions) -> _Asked:
    """Draw an author's unknown text and known texts, and cut them to lengths."""
    works = _usable_works(corpus, author, options.shortest)
    chosen = [int(rng.choice(works[place])) for place in rng.permutation(len(works))]
    halves = len(works) <= options.fewest_known
    if halves:
        number = max(works[0], key=lambda each: corpus.lengths[each])
        sides = _halve(corpus.texts[number].document)
        first = int(rng.integers(2))
        unknown, known = sides[first], [sides[1 - first]]
        numbers: tuple[int, ...] = (number,)
    else:
        number, *others = chosen
        count = rng.integers(options.fewest_known, min(options.most_known, len(others)) + 1)
        numbers = tuple(others[:count])
        unknown, known = corpus.texts[number].document, [corpus.texts[each].document for each in numbers]
    unknown_length = options.unknown_length or _draw_length(len(unknown.text), rng, options)
    known_length = options.known_length or _draw_length(max(len(each.text) for each in known), rng, options)
    return _Asked(
        author,
        tuple(cut_window(each, known_length, rng) for each in known),
        cut_window(unknown, unknown_length, rng),
        numbers,
        number,
        halves,
    )


def _draw_length(available: int, rng: np.random.Generator, options: CaseOptions) -> int:
    """Draw a length, log-uniform from the shortest to the longest that a text allows."""
    longest = max(options.shortest, min(options.longest, available))
    return round(float(np.exp(rng.uniform(np.log(options.shortest), np.log(longest)))))


def cut_window(document: Document, length: int, rng: np.random.Generator) -> Document:
    """Cut a document to a window of at most `length` characters at a random place, at word boundaries.

    Scripts without spaces are cut between characters.
    """
    text = document.text
    if len(text) <= length:
        return document
    first = int(rng.integers(len(text) - length + 1))
    begin, end = first, first + length
    while begin < end and _is_inside_word(text, begin):
        begin += 1
    while end > begin and _is_inside_word(text, end):
        end -= 1
    if not text[begin:end].strip():  # one long word
        begin, end = first, first + length
    return Document(f"{document.name} ({begin}-{end})", text[begin:end])


def _halve(document: Document) -> tuple[Document, Document]:
    """Cut a document in two halves at a word boundary."""
    text = document.text
    middle = next(
        (place for place in range(len(text) // 2, len(text)) if not _is_inside_word(text, place)), len(text) // 2
    )
    return (
        Document(f"{document.name} (0-{middle})", text[:middle]),
        Document(f"{document.name} ({middle}-{len(text)})", text[middle:]),
    )


def _is_inside_word(text: str, place: int) -> bool:
    """Whether cutting at this place would divide a word."""
    around = text[place - 1 : place + 1] if 0 < place < len(text) else ""
    if not around or around[0].isspace() or around[1].isspace():
        return False
    if unicodedata.category(around[1]).startswith("M"):  # a mark belongs to the character before it
        return True
    return not any(_UNSEGMENTED.match(character) for character in around)


def _match_topics(
    corpus: LabeledCorpus, asked: Sequence[_Asked], count: int, rng: np.random.Generator
) -> list[tuple[int, int]]:
    """Return, for each unknown text, the authors whose known texts have the most similar content words."""
    if not count:
        return []
    known = np.stack([corpus.topics[list(each.known_numbers)].mean(axis=0) for each in asked])
    similarity = corpus.topics[[each.unknown_number for each in asked]] @ known.T
    order = rng.permutation(len(asked))  # decides ties
    pairs = []
    for place, each in enumerate(asked):
        nearest = order[np.argsort(-similarity[place][order], kind="stable")].tolist()
        others = [other for other in nearest if not corpus.may_be_same(each.author, asked[other].author)]
        pairs += [(place, other) for other in others[:count]]
    return pairs


def _pair_randomly(
    corpus: LabeledCorpus, asked: Sequence[_Asked], rounds: int, taken: set[tuple[int, int]], rng: np.random.Generator
) -> list[tuple[int, int]]:
    """Return pairs of an unknown text's author and another author, in rounds.

    In a round, two authors (at the end of an odd number of them, three) exchange their known texts where they can. So
    each is asked about as often as compared with, and few cases share texts.
    """
    found: set[tuple[int, int]] = set()

    def free(one: int, other: int) -> bool:
        different = not corpus.may_be_same(asked[one].author, asked[other].author)
        return different and (one, other) not in taken | found

    for _ in range(rounds):
        order = rng.permutation(len(asked)).tolist()
        waiting = list(order)
        partner: dict[int, int] = {}
        left = []
        while waiting:
            one = waiting.pop()
            other = next((other for other in waiting if free(one, other) and free(other, one)), None)
            if other is None:
                left.append(one)
                continue
            waiting.remove(other)
            partner |= {one: other, other: one}
        for one in left:
            before = next((each for each in partner if free(each, one) and free(one, partner[each])), None)
            if before is not None:
                partner |= {before: one, one: partner[before]}
            elif (other := next((other for other in order if free(one, other)), None)) is not None:
                partner[one] = other
        found |= set(partner.items())
    return sorted(found)


def _make_cases(
    asked: Sequence[_Asked], pairs: Sequence[tuple[int, int, str]], language: str
) -> tuple[tuple[Problem, ...], tuple[Case, ...]]:
    """Make problems and cases of the places of unknown and known authors, sorted by id."""
    made = []
    counts: dict[tuple[int, str], int] = {}
    for place, other, kind in pairs:
        counts[place, kind] = counts.get((place, kind), 0) + 1
        name = f"{place + 1:04d}-{kind}" + (f"-{counts[place, kind]}" if place != other else "")
        one, two = asked[place], asked[other]
        case = Case(
            name,
            same=place == other,
            matched=kind == "matched",
            halves=place == other and one.halves,
            known_author=two.author,
            unknown_author=one.author,
            known_lengths=tuple(len(document.text) for document in two.known),
            unknown_length=len(one.unknown.text),
        )
        made.append((Problem(name, two.known, one.unknown, language), case))
    made.sort(key=lambda each: each[0].id)
    return tuple(problem for problem, _ in made), tuple(case for _, case in made)


def _draw_reference(
    corpus: LabeledCorpus, authors: Sequence[str], rng: np.random.Generator, options: CaseOptions
) -> Reference:
    chosen = [text for text in corpus.texts if text.author in set(authors)]
    if options.reference_length is not None:
        chosen = [
            ReferenceText(cut_window(text.document, options.reference_length, rng), text.author) for text in chosen
        ]
    return Reference(corpus.language, tuple(chosen))

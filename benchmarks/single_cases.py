"""The cases that single questions are measured on: problems, their truth, and a reference population beside them.

    from single_cases import BLOCKS
    for draw in BLOCKS["same-kind"](): ...

same-kind        eight corpora of PAN 2014 and 2015; one half is asked about, the other half is the reference, both ways
other-reference  all ten corpora of PAN; the reference is made of the corpora of the other year in the same language
novels-20k       novels in three languages; 20 people in the reference, two known texts of 20,000 characters, the
                 unknown one of 5,000
novels-60k       the same with 60,000 and 20,000 characters
poems            Tang poetry; 15 people in the reference, two known texts
fan-fiction      the languages of PAN 2018; 10 people in the reference, one to five known texts
simulated        every corpus; lengths, known texts and people in the reference at random
mismatched       the same with a reference from one or two other corpora of the language
long             novels of three languages; 10 people in the reference, many pairs of long texts

Corpora are read from $BYLINE_DATA. No reference holds a text that is asked about. Where authors are labeled, it holds
nobody who is asked about either. Draws whose reference has fewer than ten people are skipped with a message.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from byline.corpora.answers import read_truth
from byline.corpora.documents import Document
from byline.corpora.labeled_corpus import LabeledCorpus, read_labeled_corpora
from byline.corpora.problems import Problem, read_problems
from byline.corpora.reference import FEWEST, Reference
from byline.corpora.reference_building import Author, LabeledText, build_reference, make_reference
from byline.errors import BylineError, TooLittleText
from byline.judgment.calibration_fitting import text_groups
from byline.judgment.simulated_cases import LONGEST_CASE, CaseOptions, draw_cases

SAME_KIND = (
    "pan14-train-du_essays",
    "pan14-train-du_reviews",
    "pan14-train-en_essays",
    "pan14-train-gr_articles",
    "pan14-train-sp_articles",
    "pan15-train-dutch",
    "pan15-train-english",
    "pan15-train-greek",
)
BY_LANGUAGE: Mapping[str, tuple[str, ...]] = {
    "pan15-train-dutch": ("pan14-train-du_essays", "pan14-train-du_reviews"),
    "pan15-train-english": ("pan14-train-en_essays", "pan14-train-en_novels"),
    "pan15-train-greek": ("pan14-train-gr_articles",),
    "pan15-train-spanish": ("pan14-train-sp_articles",),
}
"""The corpora of 2014 in the language of each of 2015: each year's are the reference of the other's."""
NOVEL_DRAWS: Mapping[str, int] = {"novels-english": 6, "novels-french": 6, "novels-polish": 3}
OTHER_DRAWS = 3
"""Draws of poems, of each language of fan fiction, and of each corpus for the fit."""
LANGUAGES = {"novels-english": "english", "novels-french": "fr", "novels-polish": "pl"}
"""Of the corpora whose layout does not name it, as the other corpora name it."""
LENGTHS = (250, 40_000)
REFERENCES = (10, 100)
"""Characters of texts, and people in a reference, from which those of simulated draws are drawn, log-uniform."""
MOST_ASKED = 30
LONG = ((60_000, 20_000), (20_000, 20_000), (40_000, 10_000))
"""Characters of known and unknown texts in draws of long texts."""


@dataclass(frozen=True, eq=False)
class Draw:
    """Problems with known truth that are asked beside one reference, each by itself."""

    block: str
    corpus: str
    name: str
    """Different for each draw of a block."""
    problems: tuple[Problem, ...]
    """Sorted by id."""
    same: Mapping[str, bool]
    """By problem id, as are the labels."""
    reference: Reference
    known_author: Mapping[str, str]
    """Labels by which a bootstrap draws; where authors are not labeled, of a text."""
    unknown_author: Mapping[str, str]
    population: tuple[str, ...] = ()
    """The corpora of the reference, if they are others."""


def same_kind_draws(seed: int = 0, leave_out_authors: bool = False) -> Iterator[Draw]:
    """Yield both halves of eight corpora, each beside the other half without the texts that both have.

    Parameters
    ----------
    seed
        Divides the corpora.
    leave_out_authors
        Whether other texts of a known set that both halves share are left out, too. In Spanish 2014 and Greek 2015,
        which fall into too few groups, 140 of 359 texts are by such authors.
    """
    for corpus in SAME_KIND:
        for asked in (0, 1):
            name = f"{corpus} seed {seed} half {asked}"
            yield from _unless_too_small(name, _draw_half, corpus, asked, seed, leave_out_authors)


def other_reference_draws() -> Iterator[Draw]:
    """Yield all ten corpora, each beside those of the other year in its language."""
    beside = dict(BY_LANGUAGE)
    beside |= {earlier: (later,) for later, corpora in BY_LANGUAGE.items() for earlier in corpora}
    for corpus in sorted(beside):
        yield from _unless_too_small(corpus, _draw_beside, corpus, beside[corpus])


def novel_draws(known_length: int, unknown_length: int, draws: Mapping[str, int] = NOVEL_DRAWS) -> Iterator[Draw]:
    """Yield draws of novels, as many of each corpus as `draws` has; lengths are in characters."""
    options = CaseOptions(
        known_length=known_length,
        unknown_length=unknown_length,
        fewest_known=2,
        most_known=2,
        reference_authors=20,
        unmatched=2,
        matched=1,
    )
    for corpus, count in draws.items():
        yield from _draw_labeled(f"novels-{known_length // 1000}k", corpus, options, count)


def poem_draws(draws: int = OTHER_DRAWS) -> Iterator[Draw]:
    """Yield draws of Tang poetry, texts whole."""
    options = CaseOptions(
        known_length=LONGEST_CASE, unknown_length=LONGEST_CASE, fewest_known=2, most_known=2, reference_authors=15
    )
    yield from _draw_labeled("poems", "poems-chinese", options, draws)


def fan_fiction_draws(draws: int = OTHER_DRAWS) -> Iterator[Draw]:
    """Yield draws of fan fiction in each language, texts whole."""
    options = CaseOptions(
        known_length=LONGEST_CASE, unknown_length=LONGEST_CASE, fewest_known=1, most_known=5, reference_authors=FEWEST
    )
    yield from _draw_labeled("fan-fiction", "pan18-train-attribution", options, draws)


def simulated_draws(draws: int = OTHER_DRAWS) -> Iterator[Draw]:
    """Yield draws of every corpus whose authors are labeled."""
    for corpus in _read_all():
        for number in range(draws):
            name = f"{corpus.name} draw {number}"
            yield from _unless_too_small(name, _simulate, "simulated", corpus, name, number)


def mismatched_draws(draws: int = OTHER_DRAWS) -> Iterator[Draw]:
    """Yield draws of every corpus beside other corpora of its language: one, or two of them together."""
    corpora = _read_all()
    for corpus in corpora:
        others = [each for each in corpora if each.language == corpus.language and each != corpus]
        others = [each for each in others if len(each.authors) > FEWEST]
        for number in range(draws if others else 0):
            rng = np.random.default_rng([number, *corpus.name.encode(), 1])
            chosen = [others[place] for place in rng.permutation(len(others))[: 1 + number % 2]]
            name = f"{corpus.name} beside {' and '.join(each.name for each in chosen)} draw {number}"
            yield from _unless_too_small(name, _simulate, "mismatched", corpus, name, number, chosen)


def long_draws() -> Iterator[Draw]:
    """Yield draws of novels in which nearly every asked author is compared with every other."""
    for corpus in NOVEL_DRAWS:
        for known, unknown in LONG:
            options = CaseOptions(
                known_length=known,
                unknown_length=unknown,
                most_known=2,
                reference_authors=FEWEST,
                unmatched=12,
                matched=1,
            )
            for found in _draw_labeled("long", corpus, options, 1):
                yield replace(found, name=f"{corpus} {known} {unknown}")


def _simulate(block: str, corpus: LabeledCorpus, name: str, number: int, others: Sequence[LabeledCorpus] = ()) -> Draw:
    rng = np.random.default_rng([number, *corpus.name.encode()])
    longest = max(min(LENGTHS[1], int(np.median(corpus.lengths))), LENGTHS[0] + 1)
    known, unknown = np.exp(rng.uniform(np.log(LENGTHS[0]), np.log(longest), 2)).astype(int).tolist()
    population = _join_corpora(others) if others else None
    most = len(population.authors) if population else len(corpus.authors) * 2 // 3
    people = int(np.exp(rng.uniform(np.log(REFERENCES[0]), np.log(min(REFERENCES[1], max(REFERENCES[0] + 1, most))))))
    options = CaseOptions(
        known_length=known,
        unknown_length=unknown,
        most_known=int(rng.integers(1, 6)),
        asked_authors=MOST_ASKED,
        reference_authors=people,
    )
    drawn = _draw_cases(block, corpus, name, number, options, population)
    return replace(drawn, population=tuple(each.name for each in others))


def _join_corpora(corpora: Sequence[LabeledCorpus]) -> LabeledCorpus:
    """Return one corpus with the authors of some."""
    first, *_ = corpora
    texts = [replace(text, author=f"{each.name} {text.author}") for each in corpora for text in each.texts]
    pairs = [frozenset(f"{each.name} {author}" for author in pair) for each in corpora for pair in each.unclear_pairs]
    return replace(
        first, texts=tuple(texts), unclear_pairs=frozenset(pairs), name=" and ".join(each.name for each in corpora)
    )


def _read_all() -> list[LabeledCorpus]:
    """Read the corpora of every folder of the data."""
    data = os.environ.get("BYLINE_DATA") or sys.exit("set BYLINE_DATA to the folder that holds the corpora")
    return [
        corpus for folder in sorted(Path(data).iterdir()) if folder.is_dir() for corpus in _read_labeled(folder.name)
    ]


BLOCKS: Mapping[str, Callable[[], Iterator[Draw]]] = {
    "same-kind": same_kind_draws,
    "other-reference": other_reference_draws,
    "novels-20k": lambda: novel_draws(20_000, 5_000),
    "novels-60k": lambda: novel_draws(60_000, 20_000, dict.fromkeys(NOVEL_DRAWS, 3)),
    "poems": poem_draws,
    "fan-fiction": fan_fiction_draws,
    "simulated": simulated_draws,
    "mismatched": mismatched_draws,
    "long": long_draws,
}


def divide_problems(problems: Sequence[Problem], seed: int = 0) -> tuple[list[Problem], list[Problem]]:
    """Divide problems into halves that share no text, if they fall into enough groups; otherwise at random."""
    rng = np.random.default_rng(seed)
    groups = np.array(text_groups([{*(each.text for each in p.known), p.unknown.text} for p in problems]))
    sizes = np.bincount(groups)
    if sizes.max() > len(problems) / 2:
        first = rng.permutation(len(problems)) % 2 == 0
    else:
        order = sorted(rng.permutation(len(sizes)), key=lambda group: -sizes[group])
        counts, side = [0, 0], {}
        for group in order:
            side[group] = int(counts[1] < counts[0])
            counts[side[group]] += sizes[group]
        first = np.array([side[group] == 0 for group in groups])
    here = [problem for problem, chosen in zip(problems, first, strict=True) if chosen]
    return here, [problem for problem, chosen in zip(problems, first, strict=True) if not chosen]


def _unless_too_small(name: str, draw: Callable[..., Draw], *arguments: object) -> Iterator[Draw]:
    """Yield a draw, or print why there is none."""
    try:
        found = draw(*arguments)
        people = found.reference.count_distinct(text.author for text in found.reference.texts)
        if people < FEWEST:
            what = f"{people} people are left for the reference, {FEWEST} are needed"
            raise TooLittleText(what, where=name, remedy="Add texts by other people")
    except BylineError as error:
        print(f"{name} skipped: {error}", file=sys.stderr, flush=True)
        return
    yield found


def _draw_half(corpus: str, asked: int, seed: int, leave_out_authors: bool) -> Draw:
    halves = divide_problems(read_problems(_folder(corpus)).problems, seed)
    labeled: list[LabeledText] = []
    pairs: list[tuple[Author, Author]] = []
    for problem in halves[1 - asked]:
        known, unknown = (Author(f"{problem.id} {side}", corpus) for side in ("known", "unknown"))
        pairs.append((known, unknown))
        labeled += [LabeledText(document, known, problem.language) for document in problem.known]
        labeled.append(LabeledText(problem.unknown, unknown, problem.language))
    if not leave_out_authors:
        texts = {document.text for document in _documents(halves[asked])}
        labeled = [text for text in labeled if text.document.text not in texts]
    reference = make_reference(labeled, pairs, halves[asked][0].language, corpus)
    name = f"{corpus} seed {seed} half {asked}"
    return _label_by_text("same-kind", corpus, name, halves[asked], _leave_out_asked(reference, halves[asked]))


def _draw_beside(corpus: str, others: Sequence[str]) -> Draw:
    problems = read_problems(_folder(corpus)).problems
    reference = build_reference([_folder(other) for other in others], problems[0].language)
    found = _label_by_text("other-reference", corpus, corpus, problems, _leave_out_asked(reference, problems))
    return replace(found, population=tuple(others))


def _leave_out_asked(reference: Reference, problems: Sequence[Problem]) -> Reference:
    """Leave out the authors of texts that are asked about, as far as the reference knows who wrote what.

    Without such a text, nothing would tell that their other texts are by somebody who is asked about.
    """
    asked = {" ".join(document.text.split()) for document in _documents(problems)}
    authors = {text.author for text in reference.texts}
    authors -= {text.author for text in reference.texts if " ".join(text.document.text.split()) in asked}
    return replace(
        reference,
        texts=tuple(text for text in reference.texts if text.author in authors),
        unclear_pairs=frozenset(pair for pair in reference.unclear_pairs if pair <= authors),
    )


def _documents(problems: Iterable[Problem]) -> Iterator[Document]:
    for problem in problems:
        yield from (*problem.known, problem.unknown)


def _label_by_text(block: str, corpus: str, name: str, problems: Sequence[Problem], reference: Reference) -> Draw:
    """Return a draw of problems whose authors are not labeled: its labels are those of texts."""
    truth = read_truth(_folder(corpus))
    return Draw(
        block,
        corpus,
        name,
        tuple(sorted(problems, key=lambda problem: problem.id)),
        {problem.id: truth[problem.id] for problem in problems},
        reference,
        {problem.id: _hash(min(document.text for document in problem.known)) for problem in problems},
        {problem.id: _hash(problem.unknown.text) for problem in problems},
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _draw_labeled(block: str, folder: str, options: CaseOptions, draws: int) -> Iterator[Draw]:
    """Yield draws of each corpus in a folder whose texts have labeled authors."""
    for corpus in _read_labeled(folder):
        for number in range(draws):
            name = f"{corpus.name} draw {number}"
            yield from _unless_too_small(name, _draw_cases, block, corpus, name, number, options)


def _draw_cases(
    block: str,
    corpus: LabeledCorpus,
    name: str,
    number: int,
    options: CaseOptions,
    population: LabeledCorpus | None = None,
) -> Draw:
    drawn = draw_cases(corpus, np.random.default_rng([number, *corpus.name.encode()]), options, population)
    return Draw(
        block,
        corpus.name,
        name,
        drawn.problems.problems,
        drawn.truth,
        drawn.reference,
        {case.id: case.known_author for case in drawn.cases},
        {case.id: case.unknown_author for case in drawn.cases},
    )


@cache
def _read_labeled(folder: str) -> tuple[LabeledCorpus, ...]:
    """Novels are read once: finding the passages that they share takes seconds."""
    return read_labeled_corpora(_folder(folder), LANGUAGES.get(folder))


def _folder(corpus: str) -> Path:
    data = os.environ.get("BYLINE_DATA") or sys.exit("set BYLINE_DATA to the folder that holds the corpora")
    return Path(data) / corpus

"""Problems -> what is trained and what is judged: distinct texts, heads, documents, and who judges whom.

A *head* is a distinct set of texts by one author; a *document* is what a head judges. Problems that repeat a set or
a text share its head or document, so each text is trained and scored once. Everything here is put in an order that
depends on the texts alone: names and order of the problems can't change an answer.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from byline.alphabet import Alphabet, Symbols
from byline.documents import Document
from byline.errors import TooLittleText
from byline.passages import find_pairs, plain_form
from byline.problems import Offence, Problem
from byline.settings import Control, Settings
from byline.trials import lay_trials
from byline.views import SHORTEST, Library, View

log = logging.getLogger(__name__)

FEWEST_HEADS = 5
"""With fewer heads than this, `better than the others` says nothing."""
FEWEST_LEFT = 3
"""A single question needs this many comparable heads and documents, its own included, for a rank to mean anything."""
CONTROL_PIECE = 40_000
"""Bytes of a piece of the control corpus."""


@dataclass(frozen=True)
class Question:
    """Problem number `problem` asks how well `head` predicts `document`; asked both ways, it is on two sides."""

    problem: int
    head: int
    document: int


@dataclass(frozen=True)
class Questions:
    """One side: everything that one training of an engine needs, by index: no names, no truth."""

    alphabet: Alphabet
    texts: tuple[Symbols, ...]
    """The distinct texts as integers."""
    heads: tuple[tuple[int, ...], ...]
    """The texts that train each head."""
    documents: tuple[tuple[int, ...], ...]
    """The texts that make up each judged document."""
    questions: tuple[Question, ...]
    control: tuple[Symbols, ...] = ()
    """Pieces of a control corpus that train one further head; it judges nothing."""
    control_heads: int = 0
    """How many of the heads are those of control texts, there to be compared with."""
    reference: int = 0
    """How many heads and documents, the last ones of each, are of a reference population, the same sets in both."""
    barred: frozenset[tuple[int, int]] = frozenset()
    """Documents and heads that must not be compared, beside heads that are trained on the document."""
    way: int = 0
    """Which way of asking it is: its random stream is another's in the other way."""
    aside: bool = False
    """Whether a head that is trained on a document, and on other texts, judges it as if it were not (not networks)."""

    @property
    def seen_by(self) -> tuple[frozenset[int], ...]:
        """For each document, the heads that are trained on a text of it, or barred, and so can't be compared on it."""
        learners = self.learners
        seen = [
            {head for text in document for head in learners[text] if not (self.aside and len(self.heads[head]) > 1)}
            for document in self.documents
        ]
        for document, head in self.barred:
            seen[document].add(head)
        return tuple(frozenset(heads) for heads in seen)

    @property
    def shared(self) -> tuple[int, ...]:
        """The texts that what all heads share may be learnt from: those of the reference, or all that heads learn."""
        sets = self.heads[-self.reference :]  # all, if there is none
        return tuple(sorted({text for head in sets for text in head}))

    @property
    def learners(self) -> tuple[tuple[int, ...], ...]:
        """For each text, the heads that are trained on it."""
        learners: list[list[int]] = [[] for _ in self.texts]
        for number, head in enumerate(self.heads):
            for text in head:
                learners[text].append(number)
        return tuple(tuple(heads) for heads in learners)


class _Trial(NamedTuple):
    """A problem's number, the texts that it trains on, and the texts that it judges."""

    problem: int
    learnt: frozenset[bytes]
    judged: frozenset[bytes]


@dataclass(frozen=True)
class Prepared:
    """The questions, the problems that they number, and the problems that turned out too small."""

    sides: tuple[Questions, ...]
    """One, or two for problems that are asked both ways. Each side is trained by itself: what one learns is what the
    other judges, and a text that is judged can't leak to other heads."""
    problems: tuple[Problem, ...]
    offences: tuple[Offence, ...]
    repeated_control: int
    """Control texts left out because they are texts of the problems."""
    view: View
    """How all texts are seen."""

    @property
    def control(self) -> str:
        """What became of the control corpus, in words."""
        if number := max(side.control_heads for side in self.sides):
            return f"a head for each of {number} texts"
        return "one head" if any(side.control for side in self.sides) else "none"


Sharing = Mapping[str, frozenset[str]]
"""For a text the others that share a long passage with it."""


def texts_sharing(problems: Sequence[Problem], control: Sequence[Document] = ()) -> Sharing:
    """The texts of problems of one language, and control texts, that share passages with others."""
    documents = [document for problem in problems for document in (*problem.known, problem.unknown)]
    texts = sorted({document.text for document in (*documents, *control)})
    plain = [plain_form(text, problems[0].language) for text in texts]
    sharing: dict[str, set[str]] = {}
    for one, other in find_pairs(plain):
        sharing.setdefault(texts[one], set()).add(texts[other])
        sharing.setdefault(texts[other], set()).add(texts[one])
    return {text: frozenset(others) for text, others in sharing.items()}


def prepare_questions(
    problems: Sequence[Problem], settings: Settings, control: Sequence[Document] = (), sharing: Sharing | None = None
) -> Prepared:
    """Normalise, make the alphabet and lay out heads, documents and questions for problems of one language.

    A document and a head that share a passage are not compared, but where a problem asks about them.
    """
    language = problems[0].language if problems else ""
    library = Library(language, settings, [d for problem in problems for d in (*problem.known, problem.unknown)])
    sound: list[Problem] = []
    offences: list[Offence] = []
    asked: tuple[list[_Trial], list[_Trial]] = [], []
    for problem in problems:
        try:
            trials = lay_trials(problem, library, settings)
        except TooLittleText as error:
            offences.append(Offence(problem.id, str(error)))
            continue
        for side, (learnt, judged) in zip(asked, trials, strict=False):
            side.append(_Trial(len(sound), learnt, judged))
        sound.append(problem)

    used = {key for side in asked for trial in side for key in trial.learnt | trial.judged}
    spare = {library.key(document.text) for document in control if library.length(document.text) >= SHORTEST}
    if control and not spare and sound:
        log.warning("%s: no control text can be used; are they of this language and long enough?", language)
    extra = sorted(spare - used)
    sides = _lay_out_sides(library.alphabet, asked, extra, settings, pairs=all(problem.symmetric for problem in sound))
    related: dict[bytes, set[bytes]] = {}  # texts that differ in rare characters only are one
    for text, others in (sharing or {}).items():
        related.setdefault(library.key(text), set()).update(map(library.key, others))
    sides = tuple(_bar(side, related) for side in sides)
    return Prepared(sides, tuple(sound), tuple(offences), len(spare & used), library.view)


def _bar(side: Questions, related: Mapping[bytes, set[bytes]]) -> Questions:
    """The side without comparisons of documents and heads that are related."""
    keys = [text.tobytes() for text in side.texts]
    heads_of: dict[bytes, set[int]] = {}
    for text, learners in enumerate(side.learners):
        heads_of[keys[text]] = set(learners)
    asked = {(question.document, question.head) for question in side.questions}
    barred = {
        (number, head)
        for number, document in enumerate(side.documents)
        for text in document
        for other in related.get(keys[text], ())
        for head in heads_of.get(other, ())
    }
    return replace(side, barred=frozenset(barred - asked)) if barred else side


def _lay_out_sides(
    alphabet: Alphabet,
    asked: Sequence[Sequence[_Trial]],
    control: Sequence[bytes],
    settings: Settings,
    pairs: bool,
) -> tuple[Questions, ...]:
    """Each way by itself; one on which too little can be compared is left out, if the other one can answer.

    A few pairs, too few for either way, are asked both ways in one training.
    """
    place = _place_of_control(asked, settings)
    sides = [_lay_out(alphabet, trials, control, place, way) for way, trials in enumerate(asked) if trials]
    able = [side for side in sides if not refusal(side)]
    problems = {trial.problem for trials in asked for trial in trials}
    if able and problems == {question.problem for side in able for question in side.questions}:
        return tuple(able)
    return (_lay_out(alphabet, [*asked[0], *(asked[1] if pairs else ())], control, place),)


def _place_of_control(asked: Sequence[Sequence[_Trial]], settings: Settings) -> Control:
    """Where a control corpus goes, the same on both sides: one head, or a head each where heads are few."""
    if settings.control != "auto":
        return settings.control
    heads = max(len({trial.learnt for trial in trials}) for trials in asked)
    return "one" if heads >= FEWEST_HEADS else "each"


def _lay_out(
    alphabet: Alphabet, asked: Sequence[_Trial], control: Sequence[bytes], place: Control, way: int = 0
) -> Questions:
    """Number texts, heads and documents in the order of the texts' bytes."""
    comparison = control if place == "each" else ()
    pieces = _join_pieces(control, alphabet) if place == "one" else ()
    keys = sorted({key for trial in asked for key in trial.learnt | trial.judged} | set(comparison))
    number_of = {key: number for number, key in enumerate(keys)}

    def numbers(chosen: frozenset[bytes]) -> tuple[int, ...]:
        return tuple(sorted(number_of[key] for key in chosen))

    extra = {numbers(frozenset([key])) for key in comparison}
    heads = sorted({numbers(trial.learnt) for trial in asked} | extra)
    judged_sets = {numbers(trial.judged) for trial in asked}
    if len(judged_sets | extra) < FEWEST_HEADS:
        # too few to rank among: the texts that heads learnt are compared too, under all heads but their own
        extra |= {(text,) for head in heads for text in head}
    documents = sorted(judged_sets | extra)
    head_of = {head: number for number, head in enumerate(heads)}
    document_of = {document: number for number, document in enumerate(documents)}
    return Questions(
        alphabet,
        tuple(np.frombuffer(key, np.int32) for key in keys),
        tuple(heads),
        tuple(documents),
        tuple(
            Question(trial.problem, head_of[numbers(trial.learnt)], document_of[numbers(trial.judged)])
            for trial in asked
        ),
        pieces,
        len(comparison),
        way=way,
    )


def refusal(questions: Questions, control: bool = False) -> str | None:
    """Why nothing can be answered, there being too little to compare with, or None; `control` texts may be at hand."""
    heads = len(questions.heads)
    if heads >= FEWEST_HEADS:
        return None
    remedy = "--set control=each" if control or questions.control else "other texts with --control"
    return (
        f"{heads} different known {'set' if heads == 1 else 'sets'}, {FEWEST_HEADS} are needed to compare with;"
        f" add problems of the same language, or give {remedy}"
    )


def unanswerable(sides: Sequence[Questions], relative: bool = False) -> set[int]:
    """The problems all of whose questions are lonely."""
    asked = {question.problem for side in sides for question in side.questions}
    for side in sides:
        asked -= {question.problem for question in set(side.questions) - set(lonely_questions(side, relative))}
    return asked


def lonely_questions(questions: Questions, relative: bool = False) -> tuple[Question, ...]:
    """The questions that hardly anything can be compared with, once heads trained on their document are set aside.

    Read as `relative` scores, they are not compared with others that are asked about either (see relative.py).
    """
    aside = [set(heads) for heads in questions.seen_by]
    if relative:
        for question in questions.questions:
            aside[question.document].add(question.head)
    compared = questions.reference or len(questions.heads)
    first_head, first_document = len(questions.heads) - compared, len(questions.documents) - questions.reference
    heads_for = [compared - sum(head >= first_head for head in heads) for heads in aside]
    documents_for = [questions.reference or len(questions.documents)] * len(questions.heads)
    for document, heads in enumerate(aside):
        for head in heads:
            documents_for[head] -= not questions.reference or document >= first_document
    fewest = FEWEST_LEFT - 1 if relative else FEWEST_LEFT  # its own does not count
    return tuple(
        question
        for question in questions.questions
        if min(heads_for[question.document], documents_for[question.head]) < fewest
    )


def _join_pieces(keys: Sequence[bytes], alphabet: Alphabet) -> tuple[Symbols, ...]:
    """All texts joined and cut into equal pieces of about 40,000 bytes."""
    if not keys:
        return ()
    joined = np.frombuffer(b"".join(keys), np.int32)
    widths = np.array([len(symbol.encode()) for symbol in alphabet.symbols], dtype=np.int64)
    bytes_until = widths[joined].cumsum()
    count = max(1, round(bytes_until[-1] / CONTROL_PIECE))
    cuts = np.searchsorted(bytes_until, bytes_until[-1] * np.arange(1, count) / count)
    return tuple(np.ascontiguousarray(piece) for piece in np.split(joined, cuts))

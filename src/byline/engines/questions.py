"""Questions about problems of one language: the texts, the heads that learn them, and the documents that heads score.

A *head* is a distinct set of texts by one author; a *document* is what a head scores. Problems that repeat a set or
a text share its head or document, so each text is trained and scored once. The order of texts, heads and documents
depends on the texts alone: names and order of the problems can't change an answer.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from byline.corpora.documents import Document
from byline.corpora.problems import BadProblem, Problem
from byline.errors import TooLittleText
from byline.settings.settings import Control, Settings
from byline.text.encoder import SHORTEST, Alphabet, Symbols, TextEncoder, fit_encoder
from byline.text.languages import language_of_script
from byline.text.normalize import normalize
from byline.text.shared_passages import find_pairs, plain_form

log = logging.getLogger(__name__)

FEWEST_HEADS = 5
"""Heads without which nothing is answered: a score is only compared with those of other heads."""
FEWEST_COMPARABLE = 3
"""Comparable heads and documents, its own included, that a single question needs."""
SWAP_BELOW = 0.9
"""A single known text shorter than this share of the unknown is exchanged with it."""
CONTROL_PIECE = 40_000
"""Bytes of a piece of the control corpus."""


@dataclass(frozen=True)
class Question:
    """Problem number `problem` asks how well `head` predicts `document`."""

    problem: int
    head: int
    document: int


@dataclass(frozen=True)
class ControlTexts:
    """Texts that no problem asks about: they train one extra head, or have a head and a document each, never both."""

    pieces: tuple[Symbols, ...] = ()
    """What trains the extra head: all control texts, joined and cut. This head scores nothing."""
    heads: int = 0
    """The number of control texts that have a head and a document each."""

    def __str__(self) -> str:
        return f"a head for each of {self.heads} texts" if self.heads else "one head" if self.pieces else "none"


@dataclass(frozen=True)
class ReferenceLayout:
    """What stands among heads and documents after those of the problems: own pairs, cases, and the cohort.

    Head number i and document number i belong together. Those of an own pair are of one side of a problem, and those of
    a member of the cases or of the cohort are by one author. Only in the cohort may they share a text.
    """

    own_pairs: tuple[int, ...]
    """The place of the problem among the questions, for each own pair."""
    cases: tuple[int, ...]
    """The author of each member of the cases, as a number."""
    cohort: tuple[int, ...]
    """The author of each member of the cohort."""
    halved: tuple[bool, ...]
    """For each member of the cases, whether head and document are halves of one text."""
    lengths: tuple[int, int]
    """Characters to which known texts and unknown texts of the reference are cut."""


@dataclass(frozen=True)
class ReferencePart:
    """Where the reference population begins among heads and documents; it extends to the end of both.

    Questions are only compared with this part, and only this part trains what heads share. So an answer does not
    depend on which other questions are asked.
    """

    first_head: int
    first_document: int
    layout: ReferenceLayout | None = None


@dataclass(frozen=True)
class Questions:
    """Everything that one training of an engine needs, by index: no names, no truth.

    Heads and documents hold indexes of `texts`; questions and excluded pairs hold indexes of `heads` and `documents`.
    No question's head is trained on its document. A reference population and control texts exclude each other.
    """

    alphabet: Alphabet
    texts: tuple[Symbols, ...]
    """The distinct texts, encoded."""
    heads: tuple[tuple[int, ...], ...]
    """The texts that train each head."""
    documents: tuple[tuple[int, ...], ...]
    """The texts of each document."""
    questions: tuple[Question, ...]
    control: ControlTexts = ControlTexts()
    reference: ReferencePart | None = None
    excluded_pairs: frozenset[tuple[int, int]] = frozenset()
    """Pairs (document, head) that must not be compared, besides those where the head is trained on the document."""
    way: int = 0
    """1 if known and unknown texts change roles; each way has its own random stream."""
    leave_one_out: bool = False
    """A head that is trained on a document and on other texts scores it as if trained on the others only.

    Networks don't support this.
    """

    @property
    def excluded_heads(self) -> tuple[frozenset[int], ...]:
        """For each document, the heads that must not be compared on it."""
        learners = self.learners
        excluded = [
            {
                head
                for text in document
                for head in learners[text]
                if not (self.leave_one_out and len(self.heads[head]) > 1)
            }
            for document in self.documents
        ]
        for document, head in self.excluded_pairs:
            excluded[document].add(head)
        return tuple(map(frozenset, excluded))

    @property
    def first_compared_head(self) -> int:
        """Heads from here on are those that others are compared with: the reference's, or all."""
        return self.reference.first_head if self.reference else 0

    @property
    def first_compared_document(self) -> int:
        """Documents from here on are those that others are compared with: the reference's, or all."""
        return self.reference.first_document if self.reference else 0

    @property
    def independent(self) -> bool:
        """Whether the answer to a question must not depend on the other questions."""
        return self.reference is not None or self.leave_one_out

    @property
    def background_texts(self) -> tuple[int, ...]:
        """The texts that train what all heads share."""
        sets = self.heads[self.first_compared_head :]
        if self.reference:  # its authors' texts are divided between heads and documents
            sets += self.documents[self.first_compared_document :]
        return tuple(sorted({text for texts in sets for text in texts}))

    @property
    def background_authors(self) -> dict[int, tuple[int, ...]]:
        """The texts of each author of a reference's cohort, by the author's number; empty without a cohort.

        They are those of heads or documents, whichever are longer.
        """
        layout = self.reference.layout if self.reference else None
        if layout is None:
            return {}
        sets = self.heads if (layout.lengths[0] >= layout.lengths[1]) == (self.way == 0) else self.documents
        found: dict[int, set[int]] = {}
        for author, texts in zip(layout.cohort, sets[-len(layout.cohort) :], strict=True):
            found.setdefault(author, set()).update(texts)
        return {author: tuple(sorted(texts)) for author, texts in found.items()}

    @property
    def unseen_authors(self) -> tuple[frozenset[int], ...]:
        """For each head and the document of its number, the authors from whom nothing may be learned about them.

        These are the authors of a reference who may have written a text of a problem, for the problem and its own
        pairs, and the author of each case. Nothing is said of the cohort itself.
        """
        found: list[set[int]] = [set() for _ in self.heads]
        layout = self.reference.layout if self.reference else None
        if layout is not None:
            first = len(self.heads) - len(layout.cohort)
            cases = first - len(layout.cases)
            for number, author in enumerate(layout.cases, start=cases):
                found[number].add(author)
            for document, head in self.excluded_pairs:
                if document < cases and head >= first:
                    found[document].add(layout.cohort[head - first])
        return tuple(map(frozenset, found))

    @property
    def learners(self) -> tuple[tuple[int, ...], ...]:
        """For each text, the heads that are trained on it."""
        learners: list[list[int]] = [[] for _ in self.texts]
        for number, head in enumerate(self.heads):
            for text in head:
                learners[text].append(number)
        return tuple(map(tuple, learners))


@dataclass(frozen=True)
class PreparedQuestions:
    """The questions, the problems that they number, and the problems that are too small."""

    sides: tuple[Questions, ...]
    """One, or two for problems that are asked both ways. Each side is trained by itself: a text that one side scores
    may train the other."""
    problems: tuple[Problem, ...]
    offences: tuple[BadProblem, ...]
    repeated_control: int
    """The number of control texts left out because problems have them too."""
    encoder: TextEncoder

    @property
    def control(self) -> str:
        """How the control corpus is used, in words."""
        return str(max((side.control for side in self.sides), key=lambda control: (control.heads, len(control.pieces))))


class EncodedTexts:
    """Texts of one language, encoded alike; each is normalized and encoded once."""

    def __init__(self, language: str, settings: Settings, learned: Sequence[Document]) -> None:
        self.encoder = fit_encoder([d.text for d in learned], language, settings.text_rules, settings.mask)
        self._normal: dict[str, str] = {}
        self._keys: dict[str, bytes] = {}

    @property
    def alphabet(self) -> Alphabet:
        """The alphabet of the texts that the encoder was fitted to."""
        return self.encoder.alphabet

    def key(self, text: str) -> bytes:
        """Return the encoded text as bytes, by which texts are compared and ordered."""
        if text not in self._normal:
            self._normal[text] = self.encoder.normal(text)
        normal = self._normal[text]
        if normal not in self._keys:
            self._keys[normal] = self.alphabet.encode(normal).tobytes()
        return self._keys[normal]

    def length(self, text: str) -> int:
        """Return the number of characters after encoding."""
        return len(self.key(text)) // np.dtype(np.int32).itemsize


def require_length(encoder: TextEncoder, documents: Sequence[Document], lengths: Iterable[int]) -> None:
    """Raise TooLittleText for documents that are too short after encoding, or written in another script."""
    short = [
        _short_text_error(encoder, document, length)
        for document, length in zip(documents, lengths, strict=True)
        if length < SHORTEST
    ]
    if len(short) == 1:
        raise short[0]
    if short:
        raise TooLittleText("\n  ".join(map(str, short)))


def _short_text_error(encoder: TextEncoder, document: Document, length: int) -> TooLittleText:
    own, usual = language_of_script(document.text), language_of_script(encoder.alphabet.symbols)
    whole = normalize(document.text, encoder.language, encoder.rules)
    if len(whole) >= SHORTEST and None not in (own, usual) and own != usual:
        return TooLittleText(
            f"written in another script ({own}) than the texts that it would be compared with ({usual})",
            where=document.name,
            remedy="Compare it with texts of its own language",
        )
    return TooLittleText(
        f"{length} characters after normalizing, {SHORTEST} are needed",
        where=document.name,
        remedy="Remove it or add text",
    )


def assign_roles(
    problem: Problem, encoded_texts: EncodedTexts, settings: Settings
) -> list[tuple[frozenset[bytes], frozenset[bytes]]]:
    """Return the texts that a problem trains on and those that it scores, once or both ways round."""
    texts = (*problem.known, problem.unknown)
    require_length(encoded_texts.encoder, texts, (encoded_texts.length(document.text) for document in texts))
    known = frozenset(encoded_texts.key(document.text) for document in problem.known)
    unknown = frozenset([encoded_texts.key(problem.unknown.text)])
    # a head never learns the text that it judges
    rest = known - unknown
    if not rest:
        raise TooLittleText(
            "the known and the unknown text are the same", where=problem.id, remedy="Remove the problem"
        )
    if problem.symmetric:  # which text of a pair comes first must not matter
        return [(rest, unknown), (unknown, rest)] if min(rest) < min(unknown) else [(unknown, rest), (rest, unknown)]
    if settings.train_on == "both":
        return [(rest, unknown), (unknown, rest)]
    if settings.train_on == "unknown" or (settings.swap_short and _is_short(problem, encoded_texts)):
        return [(unknown, rest)]
    return [(rest, unknown)]


def _is_short(problem: Problem, encoded_texts: EncodedTexts) -> bool:
    """The swap rule of section 2.4: one known text, significantly shorter than the unknown."""
    known, *others = problem.known
    return not others and encoded_texts.length(known.text) < SWAP_BELOW * encoded_texts.length(problem.unknown.text)


class Trial(NamedTuple):
    """A problem's number and the encoded texts that it trains on and scores."""

    problem: int
    learned: frozenset[bytes]
    judged: frozenset[bytes]


class TrialRoles(NamedTuple):
    """The problems that can be used, their trials by way of asking, and the problems that can't be used."""

    problems: tuple[Problem, ...]
    ways: tuple[list[Trial], list[Trial]]
    offences: tuple[BadProblem, ...]


def assign_trials(
    problems: Sequence[Problem],
    encoded_texts: EncodedTexts,
    settings: Settings,
    check: Callable[[Problem], None] = lambda problem: None,
) -> TrialRoles:
    """Assign roles to the texts of problems; `check` may raise TooLittleText for a problem."""
    sound: list[Problem] = []
    offences: list[BadProblem] = []
    ways: tuple[list[Trial], list[Trial]] = [], []
    for problem in problems:
        try:
            roles = assign_roles(problem, encoded_texts, settings)
            check(problem)
        except TooLittleText as error:
            offences.append(BadProblem(problem.id, str(error)))
            continue
        for trials, (learned, judged) in zip(ways, roles, strict=False):
            trials.append(Trial(len(sound), learned, judged))
        sound.append(problem)
    return TrialRoles(tuple(sound), ways, tuple(offences))


class NumberedTexts:
    """Distinct encoded texts, numbered in the order of their bytes."""

    def __init__(self, *sets: frozenset[bytes]) -> None:
        keys = sorted(frozenset[bytes]().union(*sets))
        self.texts: tuple[Symbols, ...] = tuple(np.frombuffer(key, np.int32) for key in keys)
        self._number_of = {key: number for number, key in enumerate(keys)}

    def numbers(self, keys: frozenset[bytes]) -> tuple[int, ...]:
        """Return the numbers of a set of texts, in order."""
        return tuple(sorted(self._number_of[key] for key in keys))


SharingTexts = Mapping[str, frozenset[str]]
"""For a text, the others that share a long passage with it."""


def find_sharing_texts(problems: Sequence[Problem], control: Sequence[Document] = ()) -> SharingTexts:
    """Find the texts of problems of one language, and control texts, that share passages."""
    documents = [document for problem in problems for document in (*problem.known, problem.unknown)]
    texts = sorted({document.text for document in (*documents, *control)})
    plain = [plain_form(text, problems[0].language) for text in texts]
    sharing: dict[str, set[str]] = {}
    for one, other in find_pairs(plain):
        sharing.setdefault(texts[one], set()).add(texts[other])
        sharing.setdefault(texts[other], set()).add(texts[one])
    return {text: frozenset(others) for text, others in sharing.items()}


def prepare_questions(
    problems: Sequence[Problem],
    settings: Settings,
    control: Sequence[Document] = (),
    sharing: SharingTexts | None = None,
) -> PreparedQuestions:
    """Normalize and encode the texts of problems of one language, and lay out heads, documents and questions.

    A document and a head that share a passage are not compared, unless a problem asks about them.
    """
    language = problems[0].language if problems else ""
    encoded_texts = EncodedTexts(
        language, settings, [d for problem in problems for d in (*problem.known, problem.unknown)]
    )
    sound, ways, offences = assign_trials(problems, encoded_texts, settings)
    used = {key for trials in ways for trial in trials for key in trial.learned | trial.judged}
    spare = {
        encoded_texts.key(document.text) for document in control if encoded_texts.length(document.text) >= SHORTEST
    }
    if control and not spare and sound:
        log.warning("%s: no control text can be used; are they of this language and long enough?", language)
    sides = _lay_out_sides(
        encoded_texts.alphabet, ways, sorted(spare - used), settings, pairs=all(problem.symmetric for problem in sound)
    )
    if settings.single_texts:
        sides = tuple(_exclude_own(side) for side in sides)
    related: dict[bytes, set[bytes]] = {}  # texts that differ in rare characters only have one key
    for text, others in (sharing or {}).items():
        related.setdefault(encoded_texts.key(text), set()).update(map(encoded_texts.key, others))
    sides = tuple(_exclude_related(side, related) for side in sides)
    return PreparedQuestions(sides, sound, offences, len(spare & used), encoded_texts.encoder)


def _exclude_related(side: Questions, related: Mapping[bytes, set[bytes]]) -> Questions:
    """Exclude the pairs of documents and heads whose texts are related, but for those that are asked about."""
    keys = [text.tobytes() for text in side.texts]
    heads_of = dict(zip(keys, side.learners, strict=True))
    excluded = {
        (number, head)
        for number, document in enumerate(side.documents)
        for text in document
        for other in related.get(keys[text], ())
        for head in heads_of.get(other, ())
    }
    asked = {(each.document, each.head) for each in side.questions}
    return replace(side, excluded_pairs=side.excluded_pairs | (excluded - asked))


def _exclude_own(side: Questions) -> Questions:
    """Exclude the pairs of documents and heads that consist of texts of one problem, but for those asked about.

    Texts of one problem are by one author, or the problem asks whether they are.
    """
    documents_of: list[set[int]] = [set() for _ in side.texts]
    for number, document in enumerate(side.documents):
        for text in document:
            documents_of[text].add(number)
    learners = side.learners
    excluded = set()
    for question in side.questions:
        texts = {*side.documents[question.document], *side.heads[question.head]}
        documents, heads = (set().union(*(each[text] for text in texts)) for each in (documents_of, learners))
        excluded |= {(document, head) for document in documents for head in heads}
    asked = {(each.document, each.head) for each in side.questions}
    return replace(side, excluded_pairs=side.excluded_pairs | (excluded - asked))


def _lay_out_sides(
    alphabet: Alphabet, ways: Sequence[Sequence[Trial]], control: Sequence[bytes], settings: Settings, pairs: bool
) -> tuple[Questions, ...]:
    """Lay out each way by itself; a way with too few heads is left out if the other one answers all problems.

    Pairs that are too few for either way are asked both ways in one training.
    """
    use = _use_of_control(ways, settings)
    singles = settings.compared if settings.single_texts else 0
    sides = [_lay_out(alphabet, trials, control, use, way, singles) for way, trials in enumerate(ways) if trials]
    able = [side for side in sides if len(side.heads) >= FEWEST_HEADS]
    problems = {trial.problem for trials in ways for trial in trials}
    if able and problems == {question.problem for side in able for question in side.questions}:
        return tuple(able)
    return (_lay_out(alphabet, [*ways[0], *(ways[1] if pairs else ())], control, use, singles=singles),)


def _use_of_control(ways: Sequence[Sequence[Trial]], settings: Settings) -> Control:
    """Use control texts alike on both sides: for one head, or for a head each where heads are few."""
    if settings.control != "auto":
        return settings.control
    heads = max(len({trial.learned for trial in trials}) for trials in ways)
    return "one" if heads >= FEWEST_HEADS else "each"


def _lay_out(
    alphabet: Alphabet,
    trials: Sequence[Trial],
    control: Sequence[bytes],
    use: Control,
    way: int = 0,
    singles: int = 0,
) -> Questions:
    """Lay out heads and documents; single texts are added while there are fewer heads than `singles`."""
    compared = [frozenset([key]) for key in control] if use == "each" else []
    numbered = NumberedTexts(*(trial.learned | trial.judged for trial in trials), *compared)
    extra = {numbered.numbers(keys) for keys in compared}
    learned_sets = {numbered.numbers(trial.learned) for trial in trials}
    judged_sets = {numbered.numbers(trial.judged) for trial in trials}
    if room := max(singles - len(learned_sets | extra), 0):
        extra |= _choose_singles(len(numbered.texts), room)
    heads = sorted(learned_sets | extra)
    if len(judged_sets | extra) < FEWEST_HEADS:
        # too few to rank among: the texts that heads learned are compared too, under all heads but their own
        extra |= {(text,) for head in heads for text in head}
    documents = sorted(judged_sets | extra)
    head_of = {head: number for number, head in enumerate(heads)}
    document_of = {document: number for number, document in enumerate(documents)}
    return Questions(
        alphabet,
        numbered.texts,
        tuple(heads),
        tuple(documents),
        tuple(
            Question(
                trial.problem, head_of[numbered.numbers(trial.learned)], document_of[numbered.numbers(trial.judged)]
            )
            for trial in trials
        ),
        ControlTexts(_join_pieces(control, alphabet) if use == "one" else (), len(compared)),
        way=way,
    )


def _choose_singles(count: int, room: int) -> set[tuple[int, ...]]:
    """Return all texts by themselves; if there is no room for all, some at equal distances in the order of texts."""
    chosen = range(count) if count <= room else np.linspace(0, count - 1, room).round().astype(int).tolist()
    return {(text,) for text in chosen}


def _join_pieces(keys: Sequence[bytes], alphabet: Alphabet) -> tuple[Symbols, ...]:
    """Join all texts and cut them into equal pieces of about 40,000 bytes."""
    if not keys:
        return ()
    joined = np.frombuffer(b"".join(keys), np.int32)
    widths = np.array([len(symbol.encode()) for symbol in alphabet.symbols], dtype=np.int64)
    bytes_until = widths[joined].cumsum()
    count = max(1, round(bytes_until[-1] / CONTROL_PIECE))
    cuts = np.searchsorted(bytes_until, bytes_until[-1] * np.arange(1, count) / count)
    return tuple(np.ascontiguousarray(piece) for piece in np.split(joined, cuts))


def find_incomparable(questions: Questions, relative: bool = False) -> tuple[Question, ...]:
    """Return the questions with too few comparable heads or documents.

    Interpreted as `relative` scores, questions are not compared with each other either (see score_normalization.py).
    """
    excluded = [set(heads) for heads in questions.excluded_heads]
    if relative:
        for question in questions.questions:
            excluded[question.document].add(question.head)
    first_head, first_document = questions.first_compared_head, questions.first_compared_document
    heads_for = [len(questions.heads) - first_head - sum(head >= first_head for head in heads) for heads in excluded]
    documents_for = [len(questions.documents) - first_document] * len(questions.heads)
    for heads in excluded[first_document:]:
        for head in heads:
            documents_for[head] -= 1
    fewest = FEWEST_COMPARABLE - 1 if relative else FEWEST_COMPARABLE  # its own does not count
    return tuple(
        question
        for question in questions.questions
        if min(heads_for[question.document], documents_for[question.head]) < fewest
    )

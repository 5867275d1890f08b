"""From problems to answers: the whole way through the house in one function."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import numpy as np
from threadpoolctl import threadpool_limits

from byline.answers import Answer
from byline.documents import Document
from byline.engines import rnn
from byline.errors import RunError, TooLittleText
from byline.interpret import average_by_problem, centre, rank_scores, stretch
from byline.problems import Layout, Offence, ProblemSet, read_problems, read_texts, require_sound
from byline.questions import Prepared, Question, Questions, lonely_questions, prepare_questions, refusal, unanswerable
from byline.scoring import Matrix, Table
from byline.settings import Settings
from byline.training import Progress

log = logging.getLogger(__name__)

MOST_MEMBERS = 10_000

Report = Callable[[str, Progress], None]
"""Called with a training's name, such as "english, member 2 of 4, way 1 of 2", and how far it is."""


@dataclass(frozen=True)
class LanguageRun:
    """What was done for the problems of one language."""

    language: str
    problems: int
    alphabet: str
    ways: int
    """2 where the problems were asked both ways."""
    heads: int
    """Sets of texts that were learnt, both ways together."""
    documents: int
    """Sets of texts that were judged or compared with, both ways together."""
    control: str
    """What became of the control corpus, in words."""
    control_repeats: int
    """Control texts left out because the problems hold them."""
    centre: float
    """The score that became 0.5."""


@dataclass(frozen=True)
class Verification:
    """The answers, and how they came about."""

    answers: tuple[Answer, ...]
    layout: Layout
    settings: Settings
    seed: int
    members: int
    runs: tuple[LanguageRun, ...]
    skipped: tuple[Offence, ...] = ()
    """Problems that could not be used and were answered 0.5."""


def verify(
    problems: ProblemSet | Path | str,
    settings: Settings | None = None,
    *,
    seed: int = 0,
    members: int = 1,
    control: Sequence[Document] | Path | str = (),
    language: str | None = None,
    skip_bad: bool = False,
    report: Report | None = None,
) -> Verification:
    """Answer all problems as the paper's system would: train, score, rank, and make the median 0.5.

    `members` trainings with different seeds are averaged. Problems of different languages are answered apart.
    `language` overrides what a corpus says of itself when `problems` is a path.
    With `skip_bad`, problems that can't be used are answered 0.5; otherwise they raise, all named at once.
    """
    settings = settings or Settings()
    if not 1 <= members <= MOST_MEMBERS:
        raise RunError(f"members must be from 1 to {MOST_MEMBERS}, got {members}")
    if seed < 0:
        raise RunError(f"seed must be 0 or more, got {seed}")
    if isinstance(problems, Path | str):
        problems = read_problems(Path(problems), language)
    if isinstance(control, Path | str):
        control = read_texts(Path(control))
    if not problems.problems and not problems.offences:
        raise TooLittleText("there are no problems to answer")
    prepared = {name: prepare_questions(group, settings, control) for name, group in problems.by_language().items()}
    offences = [*problems.offences, *(offence for group in prepared.values() for offence in group.offences)]
    if not skip_bad or not any(group.problems for group in prepared.values()):
        require_sound(offences)
    prepared = {name: group for name, group in prepared.items() if group.problems}
    refused = {name: reason for name, group in prepared.items() if (reason := refusal(group.sides[0]))}
    if refused and (not skip_bad or len(refused) == len(prepared)):
        raise TooLittleText(_refusal_message(refused, prepared))
    for name, reason in refused.items():
        offences += [Offence(p.id, f"{p.id}: {name}: {reason}") for p in prepared.pop(name).problems]
    lonely = {name: _lonely_offences(group) for name, group in prepared.items()}
    offences += [offence for group in lonely.values() for offence in group.values()]
    if not skip_bad:
        require_sound(offences)

    answers: list[Answer] = []
    runs: list[LanguageRun] = []
    for name, group in prepared.items():
        for side in group.sides:
            log.info("%s: %d heads, %d documents", name, len(side.heads), len(side.documents))
        matrices = fill_matrices(group.sides, settings, seed, members, report, name)
        scores = combine(matrices, group, settings)
        middle = centre(np.array([s for s, p in zip(scores, group.problems, strict=True) if p.id not in lonely[name]]))
        values = stretch(scores, middle, settings.radius)
        answers += [
            Answer(problem.id, 0.5) if problem.id in lonely[name] else Answer(problem.id, float(value), float(score))
            for problem, value, score in zip(group.problems, values, scores, strict=True)
        ]
        runs.append(_summary(name, group, middle))
    without = {offence.id for offence in offences if offence.id is not None} - {answer.id for answer in answers}
    answers += [Answer(problem_id, 0.5) for problem_id in without]
    return Verification(
        tuple(sorted(answers, key=lambda answer: answer.id)), problems.layout, settings, seed, members, tuple(runs),
        tuple(offences),
    )  # fmt: skip


def fill_matrices(
    sides: Sequence[Questions],
    settings: Settings,
    seed: int,
    members: int,
    report: Report | None = None,
    name: str = "training",
    workers: int | None = None,
) -> list[list[Matrix]]:
    """For each member a matrix a side; member m is the same whatever the number of members.

    Members train side by side, each on a core of its own, as many at a time as there are `workers` (default: cores).
    """
    stop = Event()

    def fill(member: int) -> list[Matrix]:
        return [fill_side(member, side) for side in range(len(sides))]

    def fill_side(member: int, side: int) -> Matrix:
        label = name + (f", member {member + 1} of {members}" if members > 1 else "")
        label += f", way {side + 1} of {len(sides)}" if len(sides) > 1 else ""

        def proceed() -> None:
            if stop.is_set():
                raise CancelledError

        def relay(progress: Progress) -> None:
            proceed()
            if report:
                report(label, progress)

        rng = np.random.default_rng([seed, member, side])
        return rnn.fill_matrix(sides[side], settings, rng, relay, threads=scorers, proceed=proceed)

    cores = workers or os.cpu_count() or 1
    trainers = min(members, cores)
    scorers = max(1, cores // max(trainers, 2))  # threads for scoring; a lone member leaves room for another
    # one BLAS thread for each member: faster for products this small, and the same sums on every run
    with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(trainers) as pool:
        futures: list[Future[list[Matrix]]] = []
        try:
            futures += (pool.submit(fill, member) for member in range(members))
            wait(futures, return_when=FIRST_EXCEPTION)
            for future in futures:
                if future.done():
                    future.result()  # raises what stopped it
            return [future.result() for future in futures]
        finally:  # after an error or Ctrl-C the others end at their next stretch
            stop.set()
            pool.shutdown(cancel_futures=True)


def combine(matrices: Sequence[Sequence[Matrix]], group: Prepared, settings: Settings) -> Table:
    """(problems,): the mean of the rank scores over members and over the ways that a problem is asked (section 2.5).

    A question that hardly anything can be compared with counts only where its problem has no other.
    """
    no_other = unanswerable(group.sides)
    questions: list[Question] = []
    scores: list[float] = []
    for number, side in enumerate(group.sides):
        ranks = np.mean([rank_scores(member[number], side.questions, settings.ranking) for member in matrices], axis=0)
        lonely = set(lonely_questions(side))
        for question, score in zip(side.questions, ranks, strict=True):
            if question not in lonely or question.problem in no_other:
                questions.append(question)
                scores.append(float(score))
    means = average_by_problem(np.array(scores), questions, len(group.problems))
    return np.round(means, 9)  # equal scores stay equal however they were added up


def _refusal_message(refused: Mapping[str, str], prepared: Mapping[str, Prepared]) -> str:
    """Which languages have too little, and that --language joins them where there are several."""
    lines = []
    for language, reason in refused.items():
        repeated = prepared[language].repeated_control
        lines.append(f"{language}: {reason}" + (f" ({repeated} given ones are the problems' own)" if repeated else ""))
    message = "\n  ".join(lines)
    if len(prepared) > 1:
        counts = ", ".join(f"{len(group.problems)} {language}" for language, group in prepared.items())
        message += f"\n  (languages are answered apart: {counts}; if that is wrong, name the language with --language)"
    return message


def _lonely_offences(group: Prepared) -> dict[str, Offence]:
    """Offences of problems with too little to be compared with, by id."""
    ids = [group.problems[problem].id for problem in sorted(unanswerable(group.sides))]
    message = (
        "too few texts are left to compare it with once those that repeat it are set aside;"
        " give other texts with --control DIR --set control=each"
    )
    return {problem_id: Offence(problem_id, f"{problem_id}: {message}") for problem_id in ids}


def _summary(language: str, group: Prepared, middle: float) -> LanguageRun:
    return LanguageRun(
        language,
        len(group.problems),
        group.sides[0].alphabet.symbols,
        max(Counter(question.problem for side in group.sides for question in side.questions).values(), default=1),
        sum(len(side.heads) for side in group.sides),
        sum(len(side.documents) for side in group.sides),
        group.control,
        group.repeated_control,
        middle,
    )

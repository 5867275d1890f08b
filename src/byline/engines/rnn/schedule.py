"""The schedule of a training: which text trains which heads, sub-epoch by sub-epoch (section 2.4)."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from byline.engines.questions import Questions
from byline.settings.settings import Handling


class Visit(NamedTuple):
    """One text and the heads that learn all of it; problems that share a text share the visit."""

    text: int
    heads: tuple[int, ...]


def plan_visits(questions: Questions, handling: Handling, rng: np.random.Generator) -> Iterator[list[Visit]]:
    """Yield the visits of one sub-epoch after another, without end."""
    if handling == "sequential":
        return _sequential(questions, rng)
    if handling == "concatenated":
        return _concatenated(questions, rng)
    return _balanced(questions, rng, whole_sets=handling == "balanced-concatenated")


def _sequential(questions: Questions, rng: np.random.Generator) -> Iterator[list[Visit]]:
    """Let each head provide one of its texts, in turn."""
    sub_epoch = 0
    while True:
        learners: dict[int, list[int]] = {}
        for head, texts in enumerate(questions.heads):
            learners.setdefault(texts[sub_epoch % len(texts)], []).append(head)
        yield [Visit(text, tuple(learners[text])) for text in _shuffled(sorted(learners), rng)]
        sub_epoch += 1


def _concatenated(questions: Questions, rng: np.random.Generator) -> Iterator[list[Visit]]:
    """Let each head provide all of its texts; a text that several heads have is learned by all of them at once."""
    learners = questions.learners
    texts = [text for text, heads in enumerate(learners) if heads]
    while True:
        yield [Visit(text, learners[text]) for text in _shuffled(texts, rng)]


def _balanced(questions: Questions, rng: np.random.Generator, whole_sets: bool) -> Iterator[list[Visit]]:
    """Let the head that was trained least provide its next text (or all of them), until every head had its turn.

    A text is learned by those of its heads that are not ahead of the one that provides it. If heads that are ahead
    learned it too, all others would have to catch up, by more in each sub-epoch. A head that learned from others all
    that it would provide has had its turn. Among heads trained equally, those still waiting for a turn come first.
    """
    learners = questions.learners
    trained = np.zeros(len(questions.heads), dtype=np.int64)
    times = [dict.fromkeys(texts, 0) for texts in questions.heads]  # how often a head learned each of its texts
    while True:
        rank = {head: place for place, head in enumerate(_shuffled(range(len(questions.heads)), rng))}
        waiting = {head: set(texts) for head, texts in enumerate(questions.heads)}
        visits: list[Visit] = []

        def key(head: int, rank: dict[int, int] = rank, waiting: dict[int, set[int]] = waiting) -> tuple[int, ...]:
            return int(trained[head]), head not in waiting, rank[head], head

        heap = [key(head) for head in rank]
        heapq.heapify(heap)
        while waiting:
            *_, head = entry = heapq.heappop(heap)
            if entry != key(head):  # it learned from another's text meanwhile
                heapq.heappush(heap, key(head))
                continue
            # the text that it learned least often is the next in the cycle
            texts = (
                tuple(times[head]) if whole_sets else (min(times[head], key=lambda text: (times[head][text], text)),)
            )
            level = trained[head]
            for text in texts:
                together = tuple(other for other in learners[text] if trained[other] <= level or other == head)
                visits.append(Visit(text, together))
                for learner in together:
                    trained[learner] += len(questions.texts[text])
                    times[learner][text] += 1
                    if learner in waiting:
                        waiting[learner].discard(text)
                        if not whole_sets or not waiting[learner]:
                            del waiting[learner]
            waiting.pop(head, None)
            heapq.heappush(heap, key(head))
        yield visits


def _shuffled(items: range | list[int], rng: np.random.Generator) -> list[int]:
    return [items[place] for place in rng.permutation(len(items))]

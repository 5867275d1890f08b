"""Which text trains which heads, sub-epoch by sub-epoch (section 2.4): sequential, concatenated, balanced."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from byline.questions import Questions
from byline.settings import Handling


class Visit(NamedTuple):
    """One text and the heads that learn all of it. Problems that share a text share the visit."""

    text: int
    heads: tuple[int, ...]


def plan_visits(questions: Questions, handling: Handling, rng: np.random.Generator) -> Iterator[list[Visit]]:
    """The visits of one sub-epoch after another, without end."""
    if handling == "sequential":
        return _sequential(questions, rng)
    if handling == "concatenated":
        return _concatenated(questions, rng)
    return _balanced(questions, rng, whole_sets=handling == "balanced-concatenated")


def _sequential(questions: Questions, rng: np.random.Generator) -> Iterator[list[Visit]]:
    """Each head provides one of its texts, in turn."""
    sub_epoch = 0
    while True:
        learners: dict[int, list[int]] = {}
        for head, texts in enumerate(questions.heads):
            learners.setdefault(texts[sub_epoch % len(texts)], []).append(head)
        yield [Visit(text, tuple(learners[text])) for text in _shuffled(sorted(learners), rng)]
        sub_epoch += 1


def _concatenated(questions: Questions, rng: np.random.Generator) -> Iterator[list[Visit]]:
    """Each head provides all of its texts; a text that several sets hold is learnt by all of them at once."""
    learners = questions.learners
    texts = [text for text, heads in enumerate(learners) if heads]
    while True:
        yield [Visit(text, learners[text]) for text in _shuffled(texts, rng)]


def _balanced(questions: Questions, rng: np.random.Generator, whole_sets: bool) -> Iterator[list[Visit]]:
    """The head that was trained least provides its next text (or all of them), until every head had its turn.

    A head that learnt what another provided has had a turn too. A shared text counts for all who learn it. A head that
    had its turn does not provide again what a waiting head learns too: that would never catch up with it.
    """
    learners = questions.learners
    trained = np.zeros(len(questions.heads), dtype=np.int64)
    visits_of = np.zeros(len(questions.texts), dtype=np.int64)
    while True:
        order = _shuffled(range(len(questions.heads)), rng)
        rank = {head: place for place, head in enumerate(order)}
        heap = [(int(trained[head]), rank[head], head) for head in order]
        heapq.heapify(heap)
        waiting = {head: set(texts) for head, texts in enumerate(questions.heads)}
        visits: list[Visit] = []
        while waiting:
            amount, _, head = heapq.heappop(heap)
            if amount < trained[head]:  # it learnt from another's text meanwhile
                heapq.heappush(heap, (int(trained[head]), rank[head], head))
                continue
            texts = questions.heads[head]
            # the text that was used least is the next in the cycle
            provided = texts if whole_sets else (min(texts, key=lambda text: (visits_of[text], text)),)
            if head not in waiting and any(learner in waiting for text in provided for learner in learners[text]):
                continue
            for text in provided:
                visits.append(Visit(text, learners[text]))
                visits_of[text] += 1
                for learner in learners[text]:
                    trained[learner] += len(questions.texts[text])
                    missing = waiting.get(learner)
                    if missing is not None:
                        missing.discard(text)
                        if not whole_sets or not missing:
                            del waiting[learner]
            heapq.heappush(heap, (int(trained[head]), rank[head], head))
        yield visits


def _shuffled(items: range | list[int], rng: np.random.Generator) -> list[int]:
    return [items[place] for place in rng.permutation(len(items))]

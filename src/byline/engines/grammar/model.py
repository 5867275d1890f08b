"""The language models of LambdaG (Nini and others 2024), in plain Python: the definition.

A sentence is a sequence of tokens between a begin mark, which is context only, and an end mark, which is predicted.

The head's model is interpolated Kneser-Ney (Kneser and Ney 1995; Chen and Goodman 1999) of order K with discount D.
With h the last k - 1 tokens, c the count of h and the token, n the sum of the counts after h, and d the number of
different tokens after h:

    p_k = (max(c - D, 0) + D d p_{k-1}) / n     for k = 1 .. K, as long as h occurs at all

A count is that of occurrences for n-grams of K tokens and those from a begin mark on; for shorter ones it is the number
of different tokens before them. LambdaG ends in a uniform distribution. Here p_0 is the probability under a background
model of all authors (Witten and Bell 1991), whose counts are always those of occurrences:

    p_k = (c + d p_{k-1}) / (n + d)             for k = 1 .. 3;    p_0 = 1 / size of the vocabulary

An author's few sentences then need not show that "the" is frequent. kernels.py is the fast twin.

Nini, A., Halvani, O., Graner, L., Gherardi, V., Ishihara, S. (2024): Grammar as a Behavioral Biometric: Using
Cognitively Motivated Grammar Models for Authorship Verification. arXiv:2403.08462.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

Sentence = Sequence[str]
Gram = tuple[str, ...]

BEGIN, END = "<s>", "</s>"  # no tokens: "<" and "s" would be two
DISCOUNT = 0.75
BACKGROUND_ORDER = 3


class _Model:
    """Counts of n-grams, and of what follows each context."""

    def __init__(self, counts: Counter[Gram], order: int) -> None:
        self.order = order
        self.counts = counts
        self.totals: Counter[Gram] = Counter()
        self.kinds: Counter[Gram] = Counter()
        for gram, count in counts.items():
            self.totals[gram[:-1]] += count
            self.kinds[gram[:-1]] += 1

    def contexts(self, before: Gram) -> Iterator[Gram]:
        """Yield the known contexts at the end of a beginning of a sentence, from the empty one to the longest."""
        for length in range(min(self.order, len(before) + 1)):
            context = before[len(before) - length :]
            if context not in self.totals:
                return
            yield context


class WittenBell(_Model):
    """The background model."""

    def __init__(self, sentences: Sequence[Sentence], vocabulary: int, order: int = BACKGROUND_ORDER) -> None:
        super().__init__(Counter(gram for gram, _ in list_grams(sentences, order)), order)
        self.vocabulary = vocabulary

    def predict(self, token: str, before: Gram) -> float:
        """Return the probability of a token after the beginning of a sentence, its begin mark included."""
        chance = 1 / self.vocabulary
        for context in self.contexts(before):
            kinds = self.kinds[context]
            chance = (self.counts[*context, token] + kinds * chance) / (self.totals[context] + kinds)
        return chance


class KneserNey(_Model):
    """The model of a head."""

    def __init__(self, sentences: Sequence[Sentence], order: int) -> None:
        counts: Counter[Gram] = Counter()
        preceding: defaultdict[Gram, set[str]] = defaultdict(set)
        for gram, token_before in list_grams(sentences, order):
            if len(gram) == order or gram[0] == BEGIN:
                counts[gram] += 1
            else:
                preceding[gram].add(token_before)
        counts.update({gram: len(tokens) for gram, tokens in preceding.items()})
        super().__init__(counts, order)

    def predict(self, token: str, before: Gram, given: float) -> float:
        """Return the probability of a token after the beginning of a sentence; `given` is that of the background."""
        chance = given
        for context in self.contexts(before):
            seen = max(self.counts[*context, token] - DISCOUNT, 0)
            chance = (seen + DISCOUNT * self.kinds[context] * chance) / self.totals[context]
        return chance


def list_grams(sentences: Sequence[Sentence], order: int) -> Iterator[tuple[Gram, str]]:
    """Yield each n-gram of up to `order` tokens that ends in a token or end mark, and the token before it, or ""."""
    for sentence in sentences:
        marked = (BEGIN, *sentence, END)
        for end in range(1, len(marked)):
            for begin in range(max(0, end - order + 1), end + 1):
                yield marked[begin : end + 1], marked[begin - 1] if begin else ""


def surprisal(head: KneserNey, background: WittenBell, sentences: Sequence[Sentence]) -> list[float]:
    """Return the bits of each token and end mark under a head's model."""
    return [
        -math.log2(head.predict(token, before, background.predict(token, before)))
        for sentence in sentences
        for marked in [(BEGIN, *sentence, END)]
        for place, token in enumerate(marked)
        for before in [marked[:place]]
        if place
    ]

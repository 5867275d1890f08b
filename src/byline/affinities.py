"""What speaks for two texts belonging together: gains of their characters, and features that they share.

Each text is a head, as in clustering.py, and judges the other: a character's gain is how much less it costs that head
than the heads of all other texts on the average, beyond what is usual for it. Members that don't add up over characters
name features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from byline.attribution.evidence import Gains, Named
from byline.clustering import Clustering, read_library
from byline.documents import Document
from byline.engines import Feature, Watch, engine_of
from byline.gains import standings
from byline.ngram_kernels import index_texts
from byline.places import spread_back
from byline.questions import Question, Questions
from byline.settings import ADDITIVE, Settings

APART = 5
"""Of so many links that are looked at, one is between texts that are not together."""
FEATURES = 12
"""N-grams that are named for two texts belonging together, and as many against it."""

Pair = tuple[int, int]
"""The numbers of two texts, the lesser first."""


@dataclass(frozen=True)
class Affinity:
    """What speaks for two texts belonging together, and against it."""

    gains: tuple[Gains | None, Gains | None]
    """Of the characters of each, under the other's head; None where no member adds up, or the two are the same."""
    features: tuple[Named, ...]


def choose_links(clustering: Clustering, most: int) -> list[Pair]:
    """The links that are worth a look, the strongest first: those that hold clusters together, and some that don't.

    What holds a cluster together are the strongest links that connect all of its texts; each cluster's strongest comes
    before others'.
    """
    firsts: list[Pair] = []
    others: list[Pair] = []
    for texts in clustering.clusters:
        holding = _hold(clustering, texts)
        firsts += holding[:1]
        others += holding[1:]

    def strength(pair: Pair) -> tuple[float, Pair]:
        return -float(clustering.links[pair]), pair

    together = [*sorted(firsts, key=strength), *sorted(others, key=strength)]
    labels = np.array(clustering.labels)
    apart = np.argwhere(np.triu(labels[:, None] != labels, 1) & (clustering.links > 0)).tolist()
    few = sorted(((one, other) for one, other in apart), key=strength)[: most // APART]
    return sorted([*together[: most - len(few)], *few], key=strength)


def _hold(clustering: Clustering, texts: Sequence[int]) -> list[Pair]:
    """The strongest links that connect some texts, the strongest first."""
    linked, left = {texts[0]}, set(texts[1:])
    found: list[Pair] = []
    while left:
        one, other = max(
            ((one, other) for one in sorted(linked) for other in sorted(left)),
            key=lambda pair: float(clustering.links[pair]),
        )
        linked.add(other)
        left.remove(other)
        found.append((min(one, other), max(one, other)))
    return sorted(found, key=lambda pair: -float(clustering.links[pair]))


def weigh_links(
    documents: Sequence[Document],
    pairs: Sequence[Pair],
    members: Sequence[Settings],
    language: str,
    watch: Watch = Watch(),  # noqa: B008 - frozen
) -> list[Affinity]:
    """What speaks in two texts for each other, for each pair."""
    gains: list[tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]] = [([], []) for _ in pairs]
    features: list[list[Named]] = [[] for _ in pairs]
    for number, member in enumerate(members if pairs else ()):
        watch.proceed()
        watch.stage(f"evidence of member {number + 1} of {len(members)}, {member.engine_name}")
        library = read_library(documents, language, member)
        number_of: dict[bytes, int] = {}
        places = [number_of.setdefault(library.key(document.text), len(number_of)) for document in documents]
        texts = tuple(np.frombuffer(key, np.int32) for key in number_of)
        judged = sorted({places[text] for pair in pairs for text in pair})
        asked = [
            (row, side, Question(row, places[head], judged.index(places[text])))
            for row, (one, other) in enumerate(pairs)
            for side, (text, head) in enumerate(((one, other), (other, one)))
            if places[one] != places[other]
        ]
        questions = Questions(
            library.alphabet, texts, tuple((text,) for text in range(len(texts))), tuple((text,) for text in judged),
            tuple(question for *_, question in asked),
        )  # fmt: skip
        filled = engine_of(member.engine)(
            questions, member.change({"compared": 1_000_000}), np.random.default_rng(0), replace(watch, evidence=True),
            index=index_texts(texts, member.order),
        )  # fmt: skip
        if member.engine in ADDITIVE:
            levels = [each.level for each in standings(questions, filled.matrix)]
            for (row, side, _), own, level in zip(asked, filled.gains, levels, strict=True):
                beyond = np.where(own != 0, own - level, 0)
                gains[row][side].append(spread_back(library.view, documents[pairs[row][side]].text, beyond))
        else:
            both: dict[int, list[tuple[Feature, ...]]] = {}
            for (row, *_), named in zip(asked, filled.features, strict=True):
                both.setdefault(row, []).append(named)
            for row, ways in both.items():
                features[row].append(Named(member.engine_name, filled.matrix.unit, _merge(ways)))
    return [
        Affinity((np.array(one) if one else None, np.array(other) if other else None), tuple(named))
        for (one, other), named in zip(gains, features, strict=True)
    ]


def _merge(ways: Sequence[Sequence[Feature]]) -> tuple[Feature, ...]:
    """Features of both ways of asking, the mean of what each says, those that speak most for and most against."""
    weights: dict[str, list[float]] = {}
    for named in ways:
        for name, weight in named:
            weights.setdefault(name, []).append(weight)
    means = [Feature(name, float(np.mean(found))) for name, found in weights.items()]
    supporting = sorted((each for each in means if each.weight > 0), key=lambda each: -each.weight)
    opposing = sorted((each for each in means if each.weight < 0), key=lambda each: each.weight)
    return (*supporting[:FEATURES], *opposing[:FEATURES])

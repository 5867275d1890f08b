"""Evidence for two texts being by one author: gains of their characters, and features that they share.

Each text is a head, as in `cluster.py`, and scores the other: a character's gain is how many bits fewer it costs that
head than the heads of all other texts on average, less the head's mean gain. Members that don't add up over characters
name features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from byline.author_models.evidence import Gains, MemberFeatures
from byline.corpora.documents import Document
from byline.engines.gains import find_head_levels
from byline.engines.protocol import Feature, Runtime
from byline.engines.questions import Question
from byline.settings.settings import ADDITIVE, Settings
from byline.tasks.cluster import Clustering, encode_distinct, fill_pairs
from byline.text.encoder import values_by_character

APART = 5
"""Of so many links that are chosen, one is between texts of two clusters."""
FEATURES = 12
"""Number of features for a link, and of those against it."""

DocumentPair = tuple[int, int]
"""The numbers of two texts, the lesser first."""


@dataclass(frozen=True)
class LinkEvidence:
    """Evidence for and against a link between two texts."""

    gains: tuple[Gains | None, Gains | None]
    """Of the characters of each, under the other's head; None if no member adds up, or if the two are equal."""
    features: tuple[MemberFeatures, ...]


def choose_links(clustering: Clustering, most: int) -> list[DocumentPair]:
    """Choose links to explain, the strongest first: those that connect clusters' texts, and some between clusters.

    A cluster's texts are connected by its maximum spanning tree. Each cluster's strongest link comes before the others
    when there is no room for all.
    """
    firsts: list[DocumentPair] = []
    others: list[DocumentPair] = []
    for texts in clustering.clusters:
        tree = _spanning_tree(clustering, texts)
        firsts += tree[:1]
        others += tree[1:]

    def strength(pair: DocumentPair) -> tuple[float, DocumentPair]:
        return -float(clustering.links[pair]), pair

    together = [*sorted(firsts, key=strength), *sorted(others, key=strength)]
    labels = np.array(clustering.labels)
    apart = np.argwhere(np.triu(labels[:, None] != labels, 1) & (clustering.links > 0)).tolist()
    few = sorted(((one, other) for one, other in apart), key=strength)[: most // APART]
    return sorted([*together[: most - len(few)], *few], key=strength)


def _spanning_tree(clustering: Clustering, texts: Sequence[int]) -> list[DocumentPair]:
    """Return the strongest links that connect the texts (Prim's algorithm), the strongest first."""
    linked, left = {texts[0]}, set(texts[1:])
    found: list[DocumentPair] = []
    while left:
        one, other = max(
            ((one, other) for one in sorted(linked) for other in sorted(left)),
            key=lambda pair: float(clustering.links[pair]),
        )
        linked.add(other)
        left.remove(other)
        found.append((min(one, other), max(one, other)))
    return sorted(found, key=lambda pair: -float(clustering.links[pair]))


def explain_links(
    documents: Sequence[Document],
    pairs: Sequence[DocumentPair],
    members: Sequence[Settings],
    language: str,
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
) -> list[LinkEvidence]:
    """Return the evidence in the two texts of each pair for each other."""
    gains: list[tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]] = [([], []) for _ in pairs]
    features: list[list[MemberFeatures]] = [[] for _ in pairs]
    for number, member in enumerate(members if pairs else ()):
        runtime.proceed()
        runtime.stage(f"evidence of member {number + 1} of {len(members)}, {member.engine_name}")
        encoded_texts, places, texts = encode_distinct(documents, language, member)
        judged = sorted({places[text] for pair in pairs for text in pair})
        asked = [
            (row, side, Question(row, places[head], judged.index(places[text])))
            for row, (one, other) in enumerate(pairs)
            for side, (text, head) in enumerate(((one, other), (other, one)))
            if places[one] != places[other]
        ]
        directed = [question for *_, question in asked]
        questions, filled = fill_pairs(encoded_texts, texts, judged, directed, member, replace(runtime, evidence=True))
        if member.engine in ADDITIVE:
            levels = find_head_levels(questions, filled.matrix)
            for (row, side, _), own, level in zip(asked, filled.gains, levels, strict=True):
                beyond = np.where(own != 0, own - level, 0)
                gains[row][side].append(
                    values_by_character(encoded_texts.encoder, documents[pairs[row][side]].text, beyond)
                )
        else:
            both: dict[int, list[tuple[Feature, ...]]] = {}
            for (row, *_), named in zip(asked, filled.features, strict=True):
                both.setdefault(row, []).append(named)
            for row, ways in both.items():
                features[row].append(MemberFeatures(member.engine_name, filled.matrix.unit, _merge(ways)))
    return [
        LinkEvidence((np.array(one) if one else None, np.array(other) if other else None), tuple(named))
        for (one, other), named in zip(gains, features, strict=True)
    ]


def _merge(ways: Sequence[Sequence[Feature]]) -> tuple[Feature, ...]:
    """Average the features of both directions; return those with the greatest weights for and against."""
    weights: dict[str, list[float]] = {}
    for named in ways:
        for name, weight in named:
            weights.setdefault(name, []).append(weight)
    means = [Feature(name, float(np.mean(found))) for name, found in weights.items()]
    supporting = sorted((each for each in means if each.weight > 0), key=lambda each: -each.weight)
    opposing = sorted((each for each in means if each.weight < 0), key=lambda each: each.weight)
    return (*supporting[:FEATURES], *opposing[:FEATURES])

"""Which of these texts belong together: link scores of all pairs, a tree of them, and clusters.

Every text is a head and judges all others; scores are made relative as in verification, with cohorts matched by kind,
and the two directions of a pair are averaged. Most pairs are by two authors, so the middle of all scores and how far
most are from it tell what such pairs score. A pair's link is its distance from the middle in these units. Clusters are
joined by their average link as long as that is high enough: how many there are comes out of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from byline.alphabet import Symbols
from byline.documents import Document
from byline.engines import Filled, Watch, ngram, vectors
from byline.errors import CorpusError, SettingsError, TooLittleText
from byline.frames import to_frame
from byline.languages import language_of, language_of_script
from byline.ngrams import index_texts
from byline.questions import Questions
from byline.relative import link_scores
from byline.scoring import ROUNDING, Flags, Table
from byline.settings import Settings
from byline.views import Library, require_length

Numbers = NDArray[np.int64]

FEWEST = 3
MOST = 3_000
"""Texts: all pairs are compared."""
REACH = 0.8
"""How closely cohorts are matched."""
JOINED = 2.5
"""The average link from which on clusters are joined; 1 is how far pairs usually are from the middle."""
_ENGINES: dict[str, Callable[..., Filled]] = {"ngram": ngram.fill_matrix, "vectors": vectors.fill_matrix}


@dataclass(frozen=True)
class Clustering:
    """Texts, how strongly each two are linked, and which belong together."""

    names: tuple[str, ...]
    links: Table
    """(texts, texts): symmetric, 0 on the diagonal; above JOINED they would be joined, if it were the two alone."""
    labels: tuple[int, ...]
    """The cluster of each text, numbered in the order of the texts."""
    merges: Table
    """(texts - 1, 3): which two clusters were joined, and at which average link; texts first, then merges in order."""

    @property
    def clusters(self) -> list[list[int]]:
        """The numbers of each cluster's texts."""
        found: list[list[int]] = [[] for _ in range(max(self.labels) + 1)]
        for text, label in enumerate(self.labels):
            found[label].append(text)
        return found

    def score(self, one: int, other: int) -> float:
        """A link as a number from 0 to 1, 0.5 where it is just enough to join."""
        return float(expit(self.links[one, other] - JOINED))

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each text and its cluster."""
        rows = [{"document": name, "cluster": label} for name, label in zip(self.names, self.labels, strict=True)]
        return to_frame(rows, ("document", "cluster"))

    def newick(self) -> str:
        """The tree of merges, in Newick's notation; a branch is as long as the links at its ends differ."""
        top = float(self.links.max(initial=JOINED))
        nodes = [(_quoted(name), 0.0) for name in self.names]
        for left, right, link in self.merges.tolist():
            height = max(0.0, top - link)
            parts = [nodes[int(each)] for each in (left, right)]
            inside = ",".join(f"{text}:{max(0.0, height - below):.4f}" for text, below in parts)
            nodes.append((f"({inside})", height))
        return f"{nodes[-1][0]};"


def cluster_documents(
    documents: Sequence[Document],
    members: Sequence[Settings],
    language: str | None = None,
    threshold: float = JOINED,
    watch: Watch = Watch(),  # noqa: B008 - frozen
) -> Clustering:
    """Link scores of all pairs of documents, and their clusters."""
    if not FEWEST <= len(documents) <= MOST:
        raise TooLittleText(f"{len(documents)} texts; from {FEWEST} to {MOST:,} can be compared with each other")
    if np.isnan(threshold):
        raise SettingsError(f"the link at which clusters are joined must be a number, got {threshold}")
    if len({document.name for document in documents}) < len(documents):
        raise CorpusError("two texts have the same name; name them apart")
    spoken = language_of(language) if language else language_of_script(*(d.text for d in documents)) or "unknown"
    total: Table = np.zeros((len(documents), len(documents)))
    equal: Flags = np.ones(total.shape, np.bool_)
    for number, member in enumerate(members):
        if member.engine not in _ENGINES:
            raise SettingsError(f"the engine {member.engine} can't link texts; there are {', '.join(_ENGINES)}")
        watch.proceed()
        watch.stage(f"member {number + 1} of {len(members)}, {member.engine_name}")
        scores, same = _links(_encode(documents, spoken, member), member, watch)
        total += scores
        equal &= same
    links = _standardise(total / len(members))
    links[equal] = max(float(links.max()), 2 * JOINED)  # whatever others are like, equal texts belong together
    np.fill_diagonal(links, 0)
    merges = _join(links)
    return Clustering(
        tuple(document.name for document in documents), links, _cut(merges, len(documents), threshold), merges
    )


def _encode(documents: Sequence[Document], language: str, member: Settings) -> tuple[list[Symbols], Any]:
    library = Library(language, member, documents)
    require_length(library.view, documents, (library.length(document.text) for document in documents))
    return [np.frombuffer(library.key(document.text), np.int32) for document in documents], library.alphabet


def _links(encoded: tuple[list[Symbols], Any], member: Settings, watch: Watch) -> tuple[Table, Flags]:
    """(texts, texts): what one member says of each pair, both directions averaged, and which it can't tell apart."""
    texts, alphabet = encoded
    number_of: dict[bytes, int] = {}
    places = [number_of.setdefault(text.tobytes(), len(number_of)) for text in texts]
    distinct = [np.frombuffer(key, np.int32) for key in number_of]
    alone = tuple((number,) for number in range(len(distinct)))
    questions = Questions(alphabet, tuple(distinct), alone, alone, ())
    wide = member.change({"compared": 1_000_000})
    index = index_texts(questions.texts, member.order)
    matrix = _ENGINES[member.engine](questions, wide, np.random.default_rng(0), watch, index=index).matrix
    scores = link_scores(matrix, REACH) if len(distinct) > 1 else np.zeros((1, 1))
    scores = (scores + scores.T) / 2
    np.fill_diagonal(scores, scores.max())  # what a member can't tell apart is linked as firmly as any
    return scores[np.ix_(places, places)], np.equal.outer(places, places)


def _standardise(scores: Table) -> Table:
    """Distances from the middle of all pairs, in how far pairs usually are from it."""
    upper = scores[np.triu_indices(len(scores), 1)]
    middle = float(np.median(upper))
    usual = 1.4826 * float(np.median(np.abs(upper - middle)))  # the standard deviation, if most are normal
    links: Table = (scores - middle) / usual if usual > ROUNDING else np.zeros(scores.shape)
    np.fill_diagonal(links, 0)
    return links


def _join(links: Table) -> Table:
    """(texts - 1, 3): which two clusters are joined in turn, those with the highest average link first."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    top = float(links.max())
    distances = top - links
    np.fill_diagonal(distances, 0)
    tree = linkage(squareform(distances, checks=False), "average")
    return np.column_stack([tree[:, :2], top - tree[:, 2]])


def _cut(merges: Table, count: int, threshold: float) -> tuple[int, ...]:
    """(texts,): the clusters that are left when joining ends at a link."""
    inside: dict[int, list[int]] = {number: [number] for number in range(count)}
    for number, (left, right, link) in enumerate(merges.tolist()):
        if link < threshold:
            continue
        inside[count + number] = inside.pop(int(left), []) + inside.pop(int(right), [])
    label_of: dict[int, int] = {}
    for texts in sorted(inside.values(), key=min):
        label_of |= dict.fromkeys(texts, len(set(label_of.values())))
    return tuple(label_of[number] for number in range(count))


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"


def bcubed_f(truth: Sequence[int], found: Sequence[int]) -> float:
    """The harmonic mean of BCubed precision and recall: of its cluster, and of its author's texts, what is right."""
    true, given = np.asarray(truth), np.asarray(found)
    together, same = given[:, None] == given, true[:, None] == true
    both = (together & same).sum(axis=1)
    precision, recall = (both / together.sum(axis=1)).mean(), (both / same.sum(axis=1)).mean()
    return float(2 * precision * recall / (precision + recall))


def average_precision(truth: Sequence[int], scores: Table) -> float:
    """Of all pairs ranked by their scores, the mean precision at each true link; 0 where there is none."""
    true = np.asarray(truth)
    one, other = np.triu_indices(len(true), 1)
    order = np.argsort(-scores[one, other], kind="stable")
    right = (true[one] == true[other])[order]
    if not right.any():
        return 0.0
    return float((np.cumsum(right) / np.arange(1, len(right) + 1))[right].mean())

"""Which of these texts belong together: link scores of all pairs, a tree of them, and clusters.

Every text is a head and judges all others; the two directions of a pair are averaged. From each value goes how near its
two texts are to everything, and what is left is divided by how far they usually are from others. A pair's *link* is
its distance from the middle of all pairs, most of which are by two authors, in usual deviations. What a few texts say
of themselves is not trusted: it is mixed with what is plainer, the mean for the median, no level, equal sizes.

Clusters are joined by their average link into a tree. Those parts of the tree are the clusters that stand longest: a
cluster counts as many times as it has texts the stretch of links from that at which it is whole to that at which it
goes up in a larger one (the *excess of mass* of Campello, Moulavi and Sander, 2013). A text alone is whole from the
link on that half of all texts have with their nearest. Nothing here hangs on a link of a certain size, so how many
clusters there are comes out of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from byline.alphabet import Alphabet, Symbols
from byline.documents import Document
from byline.engines import Watch, engine_of
from byline.errors import CorpusError, SettingsError, TooLittleText
from byline.frames import to_frame
from byline.languages import language_of, language_of_script
from byline.ngram_kernels import index_texts
from byline.pools import read_pool
from byline.questions import Questions
from byline.scoring import ROUNDING, Flags, Table
from byline.settings import ENGINES as KINDS
from byline.settings import Settings
from byline.views import Library, require_length

FEWEST = 3
MOST = 3_000
"""Texts: all pairs are compared."""
FEW = 20
"""With fewer texts than these the number of clusters means little."""
HALF = 10
"""What so many texts say of themselves counts half, of more texts more."""
MOST_SHARED = 300
"""Texts of which is kept what each member says of their pairs."""
MOST_LINKS = 200_000
"""Links that are named at the most, the strongest."""
PRESET, ENGINES = "authors", ("vectors", "ngram")
"""The members that link texts where none are named."""
LINKING = tuple(name for name, kind in KINDS.items() if kind.links)
"""Those that can."""


@dataclass(frozen=True)
class Clustering:
    """Texts, how strongly each two are linked, and which belong together."""

    names: tuple[str, ...]
    links: Table
    """(texts, texts): symmetric, 0 on the diagonal; in usual deviations from the middle of all pairs."""
    labels: tuple[int, ...]
    """The cluster of each text, numbered in the order of the texts."""
    merges: Table
    """(texts - 1, 3): which two clusters were joined, and at which average link; texts first, then merges in order."""
    threshold: float
    """The link that is just enough: the one asked for, or else so many links are as strong as pairs are together."""
    cut: float | None = None
    """The average link at which joining ended, where one was asked for; None where the tree itself told."""
    members: tuple[Settings, ...] = ()
    """Those that linked the texts, where they did."""
    language: str = ""
    shares: tuple[Table, ...] = ()
    """By member what it says of each pair, on the scale of links; their mean is the link, but for equal texts. Only
    where texts are few."""

    @property
    def clusters(self) -> list[list[int]]:
        """The numbers of each cluster's texts."""
        found: list[list[int]] = [[] for _ in range(max(self.labels) + 1)]
        for text, label in enumerate(self.labels):
            found[label].append(text)
        return found

    @property
    def few(self) -> bool:
        """Whether the texts are too few for the number of clusters to mean much."""
        return len(self.names) < FEW

    def score(self, one: int, other: int) -> float:
        """A link as a number from 0 to 1, 0.5 where it is just enough; a stronger link always has a higher one."""
        above = float(self.links[one, other]) - self.threshold
        return 0.5 + 0.5 * above / (1 + abs(above))

    def strongest(self, most: int = MOST_LINKS) -> list[tuple[int, int]]:
        """The pairs with the strongest links, the strongest first; of equal ones the first texts' first."""
        one, other = np.triu_indices(len(self.names), 1)
        links = self.links[one, other]
        places = np.arange(len(links))
        if most < len(links):
            places = np.sort(np.argpartition(-links, most)[:most])
        places = places[np.argsort(-links[places], kind="stable")]
        return list(zip(one[places].tolist(), other[places].tolist(), strict=True))

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each text and its cluster."""
        rows = [{"document": name, "cluster": label} for name, label in zip(self.names, self.labels, strict=True)]
        return to_frame(rows, ("document", "cluster"))

    def newick(self) -> str:
        """The tree of merges, in Newick's notation; a branch is as long as the links at its ends differ."""
        top = float(self.links.max())
        nodes = [(_quoted(name), 0.0) for name in self.names]
        for left, right, link in self.merges.tolist():
            height = max(0.0, top - link)
            parts = [nodes[int(each)] for each in (left, right)]
            inside = ",".join(f"{text}:{max(0.0, height - below):.4f}" for text, below in parts)
            nodes.append((f"({inside})", height))
        return f"{nodes[-1][0]};"


def cluster_documents(
    documents: Sequence[Document],
    members: Sequence[Settings] | None = None,
    language: str | None = None,
    threshold: float | None = None,
    watch: Watch = Watch(),  # noqa: B008 - frozen
) -> Clustering:
    """Link scores of all pairs of documents, and their clusters.

    Without members, the n-gram vectors and n-gram models of preset `authors`. With a threshold clusters are joined as
    long as their average link is that or more.
    """
    if len(documents) < FEWEST:
        raise TooLittleText(f"{len(documents)} texts; {FEWEST} are needed to compare them with each other")
    if len(documents) > MOST:
        raise CorpusError(f"{len(documents):,} texts; {MOST:,} at the most can be compared with each other")
    if threshold is not None and not np.isfinite(threshold):
        raise SettingsError(f"the link at which clusters are joined must be a number, got {threshold}")
    if len({document.name for document in documents}) < len(documents):
        raise CorpusError("two texts have the same name; name them apart")
    if members is None:
        members = read_pool(PRESET).only(ENGINES).rows
    spoken = language_of(language) if language else language_of_script(*(d.text for d in documents)) or "unknown"
    said, equal = _score(documents, spoken, members, watch)
    scores = np.mean(said, axis=0)
    found = cluster_scores([document.name for document in documents], scores, threshold, equal)
    middle, usual = _scale_of(scores, equal)
    few = len(documents) <= MOST_SHARED and usual > ROUNDING
    return replace(
        found, members=tuple(members), language=spoken,
        shares=tuple((each - middle) / usual for each in said) if few else (),
    )  # fmt: skip


def cluster_scores(
    names: Sequence[str], scores: Table, threshold: float | None = None, equal: Flags | None = None
) -> Clustering:
    """Links and clusters of texts from how near each two are, however that was measured.

    Scores are (texts, texts) and symmetric, higher where two are nearer; the diagonal does not count. Texts that are
    `equal` belong together, whatever the others are like.
    """
    same = np.eye(len(scores), dtype=np.bool_) if equal is None else equal
    links = _standardise(scores, same)
    links[same] = max(float(links[~same].max(initial=0)), 1)
    np.fill_diagonal(links, 0)
    merges = _join(links)
    if threshold is not None:
        return Clustering(tuple(names), links, _cut(merges, len(links), threshold), merges, threshold, threshold)
    labels = _choose(merges, len(links), _usual_nearest(links, same))
    return Clustering(tuple(names), links, labels, merges, _just_enough(links, labels))


def _score(
    documents: Sequence[Document], language: str, members: Sequence[Settings], watch: Watch
) -> tuple[list[Table], Flags]:
    """By member (texts, texts): what it says of each pair; and which texts none can tell apart."""
    found: list[Table] = []
    equal: Flags = np.ones((len(documents), len(documents)), np.bool_)
    for number, member in enumerate(members):
        if member.engine not in LINKING:
            raise SettingsError(f"the engine {member.engine} can't link texts; there are {', '.join(LINKING)}")
        watch.proceed()
        watch.stage(f"member {number + 1} of {len(members)}, {member.engine_name}")
        library = read_library(documents, language, member)
        texts = [np.frombuffer(library.key(document.text), np.int32) for document in documents]
        scores, same = _ask(texts, library.alphabet, member, watch)
        if len(documents) <= MOST_SHARED or not found:
            found.append(scores)
        else:  # many texts: one table for all members
            found[0] += scores
        equal &= same
    if len(documents) > MOST_SHARED:
        found[0] /= len(members)
    return found, equal


def read_library(documents: Sequence[Document], language: str, member: Settings) -> Library:
    """Texts as a member sees them; those of which too little is left are refused."""
    library = Library(language, member, documents)
    require_length(library.view, documents, (library.length(document.text) for document in documents))
    return library


def _ask(texts: Sequence[Symbols], alphabet: Alphabet, member: Settings, watch: Watch) -> tuple[Table, Flags]:
    """(texts, texts): what one member says of each pair, and which texts it can't tell apart."""
    number_of: dict[bytes, int] = {}
    places = [number_of.setdefault(text.tobytes(), len(number_of)) for text in texts]
    distinct = [np.frombuffer(key, np.int32) for key in number_of]
    alone = tuple((number,) for number in range(len(distinct)))
    questions = Questions(alphabet, tuple(distinct), alone, alone, ())
    wide = member.change({"compared": 1_000_000})
    index = index_texts(questions.texts, member.order)
    matrix = engine_of(member.engine)(questions, wide, np.random.default_rng(0), watch, index=index).matrix
    scores = level_values(-matrix.values)
    np.fill_diagonal(scores, scores.max())  # what a member can't tell apart is linked as firmly as any
    return scores[np.ix_(places, places)], np.equal.outer(places, places)


def level_values(values: Table) -> Table:
    """(texts, texts): how near each two are, without how near both are to everything, on the scale of all; symmetric.

    Values are from texts (rows) to texts (columns), higher where they are nearer; the diagonal counts nowhere.
    """
    count = len(values)
    if count < FEWEST:
        return np.zeros(values.shape)
    trust = _trust(count)
    near: Table = (values + values.T) / 2
    np.fill_diagonal(near, 0)
    rows = near.sum(axis=1) / (count - 1)
    middle = float(rows.mean())
    levels = trust * (rows - middle) * (count - 1) / (count - 2)  # least squares of value = middle + level + level
    left = near - middle - np.add.outer(levels, levels)
    np.fill_diagonal(left, 0)
    left = np.where(np.abs(left) < ROUNDING, 0, left)
    sizes = np.abs(left).sum(axis=1) / (count - 1)
    usual = float(sizes.mean())
    if usual == 0:
        return np.zeros(values.shape)
    shares = np.where(sizes > 0, sizes / usual, 1) ** (trust / 2)
    left = left / np.multiply.outer(shares, shares)
    scale = np.sqrt((left**2).sum() / (count * (count - 1)))
    levelled: Table = left / scale
    return levelled


def _trust(count: int) -> float:
    """How much of what so many texts say of themselves is believed, from 0 to 1."""
    return count / (count + HALF)


def _standardise(scores: Table, equal: Flags) -> Table:
    """Distances from the middle of all pairs, in how far pairs usually are from it."""
    middle, usual = _scale_of(scores, equal)
    links: Table = (scores - middle) / usual if usual > ROUNDING else np.zeros(scores.shape)
    return links


def _scale_of(scores: Table, equal: Flags) -> tuple[float, float]:
    """The middle of all pairs, and how far pairs usually are from it; 0 where there are none, or all are alike."""
    pairs = scores[np.triu(~equal, 1)]
    if not len(pairs):
        return 0.0, 0.0
    trust = _trust(len(scores))
    median = float(np.median(pairs))
    middle = trust * median + (1 - trust) * float(pairs.mean())
    spread = 1.4826 * float(np.median(np.abs(pairs - median)))  # the standard deviation, if most are normal
    return middle, float(np.sqrt(trust * spread**2 + (1 - trust) * float(pairs.var())))


def _join(links: Table) -> Table:
    """(texts - 1, 3): which two clusters are joined in turn, those with the highest average link first."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    top = float(links.max())
    distances = top - links
    np.fill_diagonal(distances, 0)
    tree = linkage(squareform(distances, checks=False), "average")
    return np.column_stack([tree[:, :2], top - tree[:, 2]])


def _usual_nearest(links: Table, equal: Flags) -> float:
    """The link that half of the texts have with the text nearest to them; an equal text is not another."""
    others = np.where(equal, -np.inf, links).max(axis=1)
    others = others[np.isfinite(others)]
    return max(float(np.median(others)), ROUNDING) if len(others) else ROUNDING


def _choose(merges: Table, count: int, alone: float) -> tuple[int, ...]:
    """(texts,): the clusters of the tree that stand longest; a text alone is whole from the link `alone` on.

    Whatever is linked as strongly as that is together. The whole tree goes up in nothing larger, and is no cluster
    unless all texts are that near.
    """
    whole = [alone] * count + [min(link, alone) for link in merges[:, 2].tolist()]
    gone = list(whole)
    sizes = [1] * count
    for number, (left, right, _) in enumerate(merges.tolist()):
        sizes.append(sizes[int(left)] + sizes[int(right)])
        gone[int(left)] = gone[int(right)] = whole[count + number]
    best = [size * (begin - end) for size, begin, end in zip(sizes, whole, gone, strict=True)]
    joined = []
    for number, (left, right, _) in enumerate(merges.tolist(), start=count):
        apart = best[int(left)] + best[int(right)]
        joined.append(best[number] >= apart)
        best[number] = max(best[number], apart)
    return _number(merges, count, joined)


def _cut(merges: Table, count: int, threshold: float) -> tuple[int, ...]:
    """(texts,): the clusters that are left when joining ends at a link."""
    return _number(merges, count, (merges[:, 2] >= threshold).tolist())


def _number(merges: Table, count: int, joined: Sequence[bool]) -> tuple[int, ...]:
    """(texts,): each text's cluster, the largest that is joined and holds it, numbered in the order of the texts."""
    label_of = list(range(2 * count - 1))
    for number in reversed(range(count - 1)):
        if joined[number] or label_of[count + number] != count + number:
            label_of[int(merges[number, 0])] = label_of[int(merges[number, 1])] = label_of[count + number]
    number_of: dict[int, int] = {}
    return tuple(number_of.setdefault(label, len(number_of)) for label in label_of[:count])


def _just_enough(links: Table, labels: Sequence[int]) -> float:
    """The link that as many pairs reach as are together; above all links where none is."""
    pairs = links[np.triu_indices(len(links), 1)]
    together = sum(size * (size - 1) // 2 for size in np.bincount(labels).tolist())
    if not together:
        return float(pairs.max()) + 1
    return float(np.partition(pairs, len(pairs) - together)[len(pairs) - together])


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"

"""Clustering: which texts are by one author. Links of all pairs of texts, a tree of them, and clusters.

Every text is a head and scores all others; the two directions of a pair are averaged. From each score, the levels of
its two texts (how near they are to all others) are subtracted, and the rest is divided by their usual size. A pair's
*link* is its distance from the middle of all pairs, most of which are by two authors, in deviations. With few texts,
these estimates are shrunk: the median toward the mean, levels toward 0, sizes toward each other.

Clusters are joined by average linkage into a tree. The clusters are those parts of the tree with the greatest *excess
of mass* (Campello, Moulavi and Sander 2013): the number of texts times the range of links over which the part exists
as a cluster of its own. A single text exists from the link on that half of all texts have with their nearest. No link
of a certain size decides, so the number of clusters follows from the data.

The evidence for a link is what the two texts say under each other's head: a character's gain is how many bits fewer it
costs that head than the heads of all other texts on average, less the head's mean gain. Members that don't add up over
characters name features.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import squareform

from byline.author_models.evidence import Gains, MemberFeatures
from byline.corpora.answers import to_frame
from byline.corpora.documents import Document
from byline.engines.matrix import ROUNDING, Flags, Table, find_head_levels
from byline.engines.ngram.kernels import index_texts
from byline.engines.protocol import EngineResult, Feature, Runtime, load_engine
from byline.engines.questions import EncodedTexts, Question, Questions, require_length
from byline.errors import CorpusError, SettingsError, TooLittleText
from byline.settings.settings import ADDITIVE, Settings, read_pool
from byline.settings.settings import ENGINES as KINDS
from byline.text.encoder import Symbols, values_by_character
from byline.text.languages import language_of, language_of_script

MIN_TEXTS, MAX_TEXTS = 3, 3_000
"""All pairs are compared."""
FEW = 20
"""With fewer texts, the number of clusters means little."""
SHRINKAGE = 10
"""Estimates from so many texts count half, from more texts more."""
MAX_SHARES = 300
"""Number of texts up to which the scores of each member are kept."""
MAX_LINKS = 200_000
"""Number of links, the strongest, that are written."""
PRESET, ENGINES = "authors", ("vectors", "ngram")
"""The default members."""
APART = 5
"""Of so many links that are explained, one is between texts of two clusters."""
FEATURES = 12
"""Number of features for a link, and of those against it."""
DocumentPair = tuple[int, int]
"""The numbers of two texts, the lesser first."""
LINKING = tuple(name for name, kind in KINDS.items() if kind.links)
"""Engines that can link texts."""


@dataclass(frozen=True)
class Clustering:
    """Texts, how strongly each two are linked, and their clusters."""

    names: tuple[str, ...]
    links: Table
    """(texts, texts): symmetric, 0 on the diagonal; in deviations from the middle of all pairs."""
    labels: tuple[int, ...]
    """The cluster of each text, numbered in the order of the texts."""
    merges: Table
    """(texts - 1, 3): two clusters that are joined, and their average link; texts come first, then merges in order."""
    threshold: float
    """The link from which on two texts count as linked: the one asked for, or else the one that as many pairs reach
    as are in one cluster."""
    cut: float | None = None
    """The average link at which joining ended, if one was asked for."""
    members: tuple[Settings, ...] = ()
    language: str = ""
    shares: tuple[Table, ...] = ()
    """The score of each pair by member, on the scale of links; their mean is the link, except of equal texts. Empty if
    there are many texts."""

    @property
    def clusters(self) -> list[list[int]]:
        """Return the numbers of each cluster's texts."""
        found: list[list[int]] = [[] for _ in range(max(self.labels) + 1)]
        for text, label in enumerate(self.labels):
            found[label].append(text)
        return found

    @property
    def few(self) -> bool:
        """Whether there are too few texts for the number of clusters to mean much."""
        return len(self.names) < FEW

    def score(self, one: int, other: int) -> float:
        """Map a link to a number from 0 to 1 that grows with it; the threshold has 0.5."""
        above = float(self.links[one, other]) - self.threshold
        return 0.5 + 0.5 * above / (1 + abs(above))

    def strongest(self, most: int = MAX_LINKS) -> list[tuple[int, int]]:
        """Return the pairs with the strongest links, the strongest first, equal ones in the order of the texts."""
        one, other = np.triu_indices(len(self.names), 1)
        links = self.links[one, other]
        places = np.arange(len(links))
        if most < len(links):
            places = np.sort(np.argpartition(-links, most)[:most])
        places = places[np.argsort(-links[places], kind="stable")]
        return list(zip(one[places].tolist(), other[places].tolist(), strict=True))

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame with a row for each text and its cluster."""
        rows = [{"document": name, "cluster": label} for name, label in zip(self.names, self.labels, strict=True)]
        return to_frame(rows, ("document", "cluster"))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as `byline cluster --json` prints them."""
        return {
            "clusters": [[self.names[text] for text in cluster] for cluster in self.clusters],
            "few": self.few,
            "threshold": self.threshold,
            "links": [
                {
                    "documents": [self.names[one], self.names[other]],
                    "link": float(self.links[one, other]),
                    "score": self.score(one, other),
                }
                for one, other in self.strongest()
            ],
            "tree": self.newick(),
        }

    def newick(self) -> str:
        """Return the tree of merges in Newick notation; a branch is as long as the links at its ends differ."""
        top = float(self.links.max())
        nodes = [("'" + name.replace("'", "''") + "'", 0.0) for name in self.names]
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
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
) -> Clustering:
    """Link all pairs of documents, and cluster them.

    The default members are the n-gram vectors and n-gram models of preset `authors`. With a threshold, clusters are
    joined as long as their average link is at least that.
    """
    if len(documents) < MIN_TEXTS:
        raise TooLittleText(f"{len(documents)} texts, {MIN_TEXTS} are needed to compare them", remedy="Add more texts")
    if len(documents) > MAX_TEXTS:
        what = f"{len(documents):,} texts, at most {MAX_TEXTS:,} can be compared with each other"
        raise CorpusError(what, remedy="Cluster fewer at a time")
    if threshold is not None and not np.isfinite(threshold):
        raise SettingsError(f"must be a number, got {threshold}", where="threshold")
    if len({document.name for document in documents}) < len(documents):
        raise CorpusError("two texts have the same name", remedy="Rename one of them")
    if members is None:
        members = read_pool(PRESET).only(ENGINES).rows
    language = language_of(language) if language else language_of_script(*(d.text for d in documents)) or "unknown"
    by_member, equal = _score(documents, language, members, runtime)
    scores = np.mean(by_member, axis=0)
    found = cluster_scores([document.name for document in documents], scores, threshold, equal)
    middle, scale = _middle_and_scale(scores, equal)
    few = len(documents) <= MAX_SHARES and scale > ROUNDING
    shares = tuple((each - middle) / scale for each in by_member) if few else ()
    return replace(found, members=tuple(members), language=language, shares=shares)


def cluster_scores(
    names: Sequence[str], scores: Table, threshold: float | None = None, equal: Flags | None = None
) -> Clustering:
    """Link and cluster texts from any symmetric scores (texts, texts), higher for nearer texts.

    The diagonal is ignored. Texts that are `equal` are put together whatever their scores.
    """
    same = np.eye(len(scores), dtype=np.bool_) if equal is None else equal
    middle, scale = _middle_and_scale(scores, same)
    links: Table = (scores - middle) / scale if scale > ROUNDING else np.zeros(scores.shape)
    links[same] = max(float(links[~same].max(initial=0)), 1)
    np.fill_diagonal(links, 0)
    merges = _join(links)
    if threshold is not None:
        labels = _number(merges, len(links), (merges[:, 2] >= threshold).tolist())
        return Clustering(tuple(names), links, labels, merges, threshold, threshold)
    labels = _choose(merges, len(links), _median_nearest(links, same))
    return Clustering(tuple(names), links, labels, merges, _link_threshold(links, labels))


def _score(
    documents: Sequence[Document], language: str, members: Sequence[Settings], runtime: Runtime
) -> tuple[list[Table], Flags]:
    """Return each member's scores of all pairs, or their mean if there are many texts, and which texts are equal."""
    found: list[Table] = []
    equal: Flags = np.ones((len(documents), len(documents)), np.bool_)
    for number, member in enumerate(members):
        if member.engine not in LINKING:
            remedy = f"Choose among {', '.join(LINKING)}"
            raise SettingsError("can't link texts", where=f"engine {member.engine}", remedy=remedy)
        runtime.proceed()
        runtime.stage(f"member {number + 1} of {len(members)}, {member.engine_name}")
        encoded_texts, places, distinct = encode_distinct(documents, language, member)
        _, filled = fill_pairs(encoded_texts, distinct, range(len(distinct)), (), member, runtime)
        scores = remove_levels(-filled.matrix.values)
        np.fill_diagonal(scores, scores.max())  # texts that look equal are linked as strongly as any
        scores = scores[np.ix_(places, places)]
        if len(documents) <= MAX_SHARES or not found:
            found.append(scores)
        else:  # many texts: one table for all members
            found[0] += scores
        equal &= np.equal.outer(places, places)
    if len(documents) > MAX_SHARES:
        found[0] /= len(members)
    return found, equal


def encode_distinct(
    documents: Sequence[Document], language: str, member: Settings
) -> tuple[EncodedTexts, list[int], tuple[Symbols, ...]]:
    """Encode texts as a member sees them; return the texts that differ, and which of them each document is."""
    encoded_texts = EncodedTexts(language, member, documents)
    require_length(encoded_texts.encoder, documents, (encoded_texts.length(document.text) for document in documents))
    number_of: dict[bytes, int] = {}
    places = [number_of.setdefault(encoded_texts.key(document.text), len(number_of)) for document in documents]
    return encoded_texts, places, tuple(np.frombuffer(key, np.int32) for key in number_of)


def fill_pairs(
    encoded_texts: EncodedTexts,
    texts: tuple[Symbols, ...],
    judged: Iterable[int],
    asked: Sequence[Question],
    member: Settings,
    runtime: Runtime,
) -> tuple[Questions, EngineResult]:
    """Fill a member's matrix of some texts under the heads of all texts, with evidence for what is asked."""
    heads = tuple((text,) for text in range(len(texts)))
    documents = tuple((text,) for text in judged)
    questions = Questions(encoded_texts.alphabet, texts, heads, documents, tuple(asked))
    wide = member.change({"compared": 1_000_000})
    index = index_texts(texts, member.order)
    return questions, load_engine(member.engine)(questions, wide, np.random.default_rng(0), runtime, index=index)


def remove_levels(values: Table) -> Table:
    """(texts, texts): make scores symmetric, subtract each text's level, and scale them.

    Values are from texts (rows) to texts (columns), higher for nearer texts; the diagonal is ignored.
    """
    count = len(values)
    if count < MIN_TEXTS:
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
    scores: Table = left / scale
    return scores


def _trust(count: int) -> float:
    """Return how much estimates from so many texts count, from 0 to 1."""
    return count / (count + SHRINKAGE)


def _middle_and_scale(scores: Table, equal: Flags) -> tuple[float, float]:
    """Return the middle of all pairs and their deviation from it, which is 0 if all are alike."""
    pairs = scores[np.triu(~equal, 1)]
    if not len(pairs):
        return 0.0, 0.0
    trust = _trust(len(scores))
    median = float(np.median(pairs))
    middle = trust * median + (1 - trust) * float(pairs.mean())
    spread = 1.4826 * float(np.median(np.abs(pairs - median)))  # the standard deviation, if most are normal
    return middle, float(np.sqrt(trust * spread**2 + (1 - trust) * float(pairs.var())))


def _join(links: Table) -> Table:
    """(texts - 1, 3): join clusters by average linkage, those with the highest average link first."""
    top = float(links.max())
    distances = top - links
    np.fill_diagonal(distances, 0)
    tree = linkage(squareform(distances, checks=False), "average")
    return np.column_stack([tree[:, :2], top - tree[:, 2]])


def _median_nearest(links: Table, equal: Flags) -> float:
    """Return the median of the links of texts with their nearest text; equal texts don't count."""
    others = np.where(equal, -np.inf, links).max(axis=1)
    others = others[np.isfinite(others)]
    return max(float(np.median(others)), ROUNDING) if len(others) else ROUNDING


def _choose(merges: Table, count: int, alone: float) -> tuple[int, ...]:
    """(texts,): choose the clusters of the tree with the greatest excess of mass.

    A single text exists from the link `alone` on, and texts that are linked as strongly are together. The whole tree is
    a cluster only if all texts are.
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


def _number(merges: Table, count: int, joined: Sequence[bool]) -> tuple[int, ...]:
    """(texts,): number the clusters in the order of the texts; a text is in the largest joined one that holds it."""
    label_of = list(range(2 * count - 1))
    for number in reversed(range(count - 1)):
        if joined[number] or label_of[count + number] != count + number:
            label_of[int(merges[number, 0])] = label_of[int(merges[number, 1])] = label_of[count + number]
    number_of: dict[int, int] = {}
    return tuple(number_of.setdefault(label, len(number_of)) for label in label_of[:count])


def _link_threshold(links: Table, labels: Sequence[int]) -> float:
    """Return the link that as many pairs reach as are in one cluster; above all links if none are."""
    pairs = links[np.triu_indices(len(links), 1)]
    together = sum(size * (size - 1) // 2 for size in np.bincount(labels).tolist())
    if not together:
        return float(pairs.max()) + 1
    return float(np.partition(pairs, len(pairs) - together)[len(pairs) - together])


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
    trees = [_spanning_tree(clustering, texts) for texts in clustering.clusters]

    def strength(pair: DocumentPair) -> tuple[float, DocumentPair]:
        return -float(clustering.links[pair]), pair

    firsts = sorted((pair for tree in trees for pair in tree[:1]), key=strength)
    others = sorted((pair for tree in trees for pair in tree[1:]), key=strength)
    together = [*firsts, *others]
    labels = np.array(clustering.labels)
    apart = np.argwhere(np.triu(labels[:, None] != labels, 1) & (clustering.links > 0)).tolist()
    few = sorted(((one, other) for one, other in apart), key=strength)[: most // APART]
    return sorted([*together[: most - len(few)], *few], key=strength)


def _spanning_tree(clustering: Clustering, texts: Sequence[int]) -> list[DocumentPair]:
    """Return the strongest links that connect the texts, the strongest first."""
    links = clustering.links[np.ix_(texts, texts)]
    tree = minimum_spanning_tree(links.max() + 1 - links).tocoo()  # weights above 0: no weight means no link
    pairs = [(texts[min(pair)], texts[max(pair)]) for pair in zip(tree.row, tree.col, strict=True)]
    return sorted(pairs, key=lambda pair: (-float(clustering.links[pair]), pair))


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

"""The report of texts clustered by author: clusters, links, and the evidence for the links."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list

from byline.corpora.documents import Document
from byline.engines.protocol import Runtime
from byline.judgment.checks.cautions import SHORT
from byline.judgment.passage_evidence import LONGEST_WORD, Gains, weigh_words
from byline.report.page import DIGITS, LIMITS, MarkedTexts, feature_values, finite, pack, unique_names
from byline.report.provenance import member_values, texts_provenance
from byline.tasks.cluster import Clustering, DocumentPair, LinkEvidence, choose_links, explain_links
from byline.text.shared_passages import PASSAGE, find_pairs, plain_form

PRESUPPOSED = "Links are relative to all pairs of these texts, most of which must be by two authors."
NO_CUT = (
    "No fixed link made the clusters: the parts of the tree that last longest were chosen. Two texts whose link is more"
    " than just enough may be in two clusters, and two with less in one."
)
NOT_PROOF = (
    "What speaks for a link is shown for one pair at a time. Texts on one topic, or of one kind, share much whoever"
    " wrote them."
)
MOST_LINKS = 500
MOST_ROWS = 300
"""Texts of which a heat map is shown."""
MOST_PAIRS = 60
"""Links whose evidence is shown."""
SHOWN_TOGETHER, LONGEST_SHOWN = 600_000, 20_000
"""Characters shown of all texts with links together, and of one of them: bounds the page's size."""
TEXTS_TOGETHER = 3_000_000
"""Characters of all texts as they are."""
MOST_COMPARED = 2_000_000
"""Characters of all texts together among which shared passages are looked for."""
BLANK = re.compile(r"\s+")
PUNCTUATION = ".,;:!?\"'()[]\u2018\u2019\u201c\u201d"
NAMED = 12
"""Words and n-grams that are named for a cluster; texts and pairs that a warning names."""


def clustering_report(
    clustering: Clustering,
    about: Mapping[str, Any],
    documents: Sequence[Document] = (),
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
) -> dict[str, Any]:
    """Return what a report of clusters shows, as plain values; with the documents, also the evidence in them."""
    count, texts = len(clustering.clusters), len(clustering.names)
    alone = sum(len(cluster) == 1 for cluster in clustering.clusters)
    merges, order = _tree(clustering)
    pairs = choose_links(clustering, MOST_PAIRS) if documents and clustering.members else []
    weighed = explain_links(documents, pairs, clustering.members, clustering.language, runtime)
    shared = _shared(documents, clustering.language)
    ids = unique_names([*clustering.names, *(f"{clustering.names[a]} and {clustering.names[b]}" for a, b in pairs)])
    shown = min(LONGEST_SHOWN, SHOWN_TOGETHER // max(1, 2 * len(pairs)))
    return {
        **about,
        "kind": "clustering",
        "conclusion": f"{texts:,} texts in {count:,} clusters, {alone:,} of them a text by itself.",
        "limits": [*LIMITS, PRESUPPOSED, *([] if clustering.cut is not None else [NO_CUT]), NOT_PROOF],
        "warnings": _warnings(clustering, documents, shared),
        "language": clustering.language,
        "names": list(clustering.names),
        "ids": ids[:texts],
        "labels": list(clustering.labels),
        "threshold": round(clustering.threshold, DIGITS),
        "cut": finite(clustering.cut),
        "links": [
            [one, other, finite(clustering.links[one, other]), round(clustering.score(one, other), DIGITS)]
            for one, other in clustering.strongest(MOST_LINKS)
        ],
        "pairs": [
            _pair_values(name, pair, each, clustering, documents, shared, shown)
            for name, pair, each in zip(ids[texts:], pairs, weighed, strict=True)
        ],
        "texts": _text_values(documents),
        "clusters": _cluster_values(clustering, documents, pairs, weighed),
        "tree": {"merges": merges, "order": order},
        "heatmap": _heatmap(clustering, order) if texts <= MOST_ROWS else None,
        "members": member_values(clustering.members, None),
        "provenance": texts_provenance(
            about, clustering.members, None, {"linked": documents},
            {"Language": clustering.language, "Texts": texts,
             "Average link at which joining ended": "none was asked for" if clustering.cut is None else clustering.cut},
        ),
    }  # fmt: skip


def _warnings(clustering: Clustering, documents: Sequence[Document], shared: frozenset[DocumentPair]) -> list[str]:
    """Return reasons not to trust the links."""
    few = ["The texts are too few for the number of clusters to mean much."] if clustering.few else []
    short = [document.name for document in documents if len(document.text) < SHORT]
    little = [f"Short, and so with little evidence (under {SHORT:,} characters): {_listing(short)}."] if short else []
    names = clustering.names
    pairs = [f"{names[one]} and {names[other]}" for one, other in sorted(shared)]
    same = [
        f"Share {PASSAGE} characters or more word for word, which links them whoever wrote them: {_listing(pairs)}."
    ]
    unsure = [f"{document.name}: {guess}." for document in documents for guess in document.guesses]
    return [*few, *little, *(same if pairs else []), *unsure]


def _listing(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return "; ".join(names[:NAMED]) + more


def _shared(documents: Sequence[Document], language: str) -> frozenset[DocumentPair]:
    """Return the pairs of texts that share a passage, if the texts are not too long to compare."""
    if sum(len(document.text) for document in documents) > MOST_COMPARED:
        return frozenset()
    return find_pairs([plain_form(document.text, language) for document in documents])


def _pair_values(
    name: str,
    pair: DocumentPair,
    found: LinkEvidence,
    clustering: Clustering,
    documents: Sequence[Document],
    shared: frozenset[DocumentPair],
    most: int,
) -> dict[str, Any]:
    """Return one link, what each member adds to it, and the two texts with the evidence in them."""
    one, other = pair
    link = float(clustering.links[pair])
    upper = clustering.links[np.triu_indices(len(clustering.names), 1)]
    marked = MarkedTexts()
    excerpts = [_excerpt(documents[text], gains, most) for text, gains in zip(pair, found.gains, strict=True)]
    for side, (excerpt, gains) in enumerate(excerpts):
        marked.add(("one", "other")[side], excerpt, gains, [excerpts[1 - side][0]])
    short = [documents[text] for text in pair if len(documents[text].text) < SHORT]
    same = f"They share {PASSAGE} characters or more word for word, which links them whoever wrote them."
    return {
        "id": name,
        "one": one,
        "other": other,
        "link": finite(link),
        "score": round(clustering.score(one, other), DIGITS),
        "stronger": int((upper > link).sum()),
        "links": len(upper),
        "together": clustering.labels[one] == clustering.labels[other],
        "shares": [finite(float(table[pair])) for table in clustering.shares],
        "warnings": [
            *([same] if pair in shared else []),
            *(
                f"{document.name} is short ({len(document.text):,} characters): it carries little evidence."
                for document in short
            ),
        ],
        "packed": marked.pack([feature_values(*each) for each in found.features if each.features]),
    }


def _excerpt(document: Document, gains: Gains | None, most: int) -> tuple[Document, Gains | None]:
    """Return a text, or the part of a long one that speaks most for the other, with its gains."""
    length = len(document.text)
    if length <= most:
        return document, gains
    begin = 0
    if gains is not None:
        sums = np.concatenate([[0], np.cumsum(gains.mean(axis=0))])
        begin = int(np.argmax(sums[most:] - sums[:-most]))
    end = begin + most
    if begin and (blank := BLANK.search(document.text, begin, begin + LONGEST_WORD)):
        begin = blank.end()
    title = f"{document.name}, characters {begin:,} to {end:,} of {length:,}"
    return Document(title, document.text[begin:end]), None if gains is None else gains[:, begin:end]


def _text_values(documents: Sequence[Document]) -> list[dict[str, Any]]:
    """Return the texts, each packed; of very many only their beginnings."""
    most = TEXTS_TOGETHER // max(1, len(documents))
    return [
        {
            "characters": len(document.text),
            "shown": min(most, len(document.text)),
            "packed": pack({"text": document.text[:most]}),
        }
        for document in documents
    ]


def _cluster_values(
    clustering: Clustering,
    documents: Sequence[Document],
    pairs: Sequence[DocumentPair],
    weighed: Sequence[LinkEvidence],
) -> list[dict[str, Any]]:
    """Return each cluster of several texts: its links, and the words and features that its texts share."""
    found = []
    for label, texts in enumerate(clustering.clusters):
        if len(texts) < 2:
            continue
        inside = clustering.links[np.ix_(texts, texts)][np.triu_indices(len(texts), 1)]
        own = [(pair, each) for pair, each in zip(pairs, weighed, strict=True) if set(pair) <= set(texts)]
        found.append(
            {
                "label": label,
                "mean": finite(float(inside.mean())),
                "weakest": finite(float(inside.min())),
                "strongest": finite(float(inside.max())),
                "pairs": [number for number, pair in enumerate(pairs) if set(pair) <= set(texts)],
                "words": _words(own, documents),
                "features": _features(own),
            }
        )
    return found


def _words(own: Sequence[tuple[DocumentPair, LinkEvidence]], documents: Sequence[Document]) -> list[list[Any]]:
    """Return words that speak for links in several texts: the word, the sum of its bits, and the number of texts."""
    bits: dict[str, float] = defaultdict(float)
    having: dict[str, set[int]] = defaultdict(set)
    for pair, each in own:
        for text, gains in zip(pair, each.gains, strict=True):
            if gains is None:
                continue
            for word in weigh_words(documents[text].text, gains):
                form = documents[text].text[word.begin : word.end].strip(PUNCTUATION).casefold()
                if form:
                    bits[form] += word.bits
                    having[form].add(text)
    able = [form for form, total in bits.items() if total > 0 and len(having[form]) > 1]
    strongest = sorted(able, key=lambda form: (-bits[form], form))[:NAMED]
    return [[form, round(bits[form], 1), len(having[form])] for form in strongest]


def _features(own: Sequence[tuple[DocumentPair, LinkEvidence]]) -> list[list[Any]]:
    """Return n-grams that members which are not additive name for the most links, and the number of links.

    If there are several links, for two at least. Ties are broken by weight; n-grams within others are left out.
    """
    weights: dict[str, dict[int, float]] = defaultdict(dict)
    for number, (_, each) in enumerate(own):
        for named in each.features:
            for name, weight in named.features:
                if weight > 0:
                    weights[name][number] = max(weight, weights[name].get(number, 0.0))
    ordered = sorted(weights, key=lambda name: (-len(weights[name]), -sum(weights[name].values()), name))
    if len(own) > 1:
        ordered = [name for name in ordered if len(weights[name]) > 1]
    chosen: list[str] = []
    for name in ordered:
        if not any(name in other or other in name for other in chosen):
            chosen.append(name)
    return [[name, len(weights[name])] for name in chosen[:NAMED]]


def _heatmap(clustering: Clustering, order: Sequence[int]) -> dict[str, Any]:
    names = [clustering.names[place] for place in order]
    return {
        "rows": names,
        "columns": names,
        "row_title": "text",
        "column_title": "text",
        "values": [
            [None if one == other else finite(clustering.links[one, other], 2) for other in order] for one in order
        ],
        "asked": [],
    }


def _tree(clustering: Clustering) -> tuple[list[list[float]], list[int]]:
    """Return left, right, link and number of texts of each merge, and the texts in the order of the tree."""
    sizes = [1] * len(clustering.names)
    rows: list[list[float]] = []
    for left, right, link in clustering.merges.tolist():
        sizes.append(sizes[int(left)] + sizes[int(right)])
        rows.append([int(left), int(right), round(float(link), DIGITS), sizes[-1]])
    if not rows:
        return rows, list(range(len(sizes)))
    return rows, leaves_list(np.array([[left, right, 0, size] for left, right, _, size in rows], float)).tolist()

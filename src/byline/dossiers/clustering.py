"""Texts grouped by author -> what their report shows."""

from __future__ import annotations

from typing import Any

from byline.clustering import Clustering
from byline.dossiers.parts import DIGITS, LIMITS, finite

PRESUPPOSED = "Links are taken against all pairs of these very texts, most of which must be by two authors."
MOST_LINKS = 500
MOST_ROWS = 300
"""Texts of which a heat map is shown."""


def clustering_dossier(clustering: Clustering, about: dict[str, Any]) -> dict[str, Any]:
    """What a report of clusters shows."""
    count, texts = len(clustering.clusters), len(clustering.names)
    alone = sum(len(cluster) == 1 for cluster in clustering.clusters)
    few = ["The texts are too few for the number of clusters to mean much."] if clustering.few else []
    order = _leaves(clustering)
    heatmap = None
    if texts <= MOST_ROWS:
        names = [clustering.names[place] for place in order]
        heatmap = {
            "rows": names,
            "columns": names,
            "row_title": "text",
            "column_title": "text",
            "values": [
                [None if one == other else finite(clustering.links[one, other], 2) for other in order] for one in order
            ],
            "asked": [],
        }
    return {
        **about,
        "kind": "clustering",
        "conclusion": f"{texts:,} texts in {count:,} clusters, {alone:,} of them a text by itself.",
        "limits": [
            *LIMITS,
            PRESUPPOSED,
        ],
        "warnings": few,
        "names": list(clustering.names),
        "labels": list(clustering.labels),
        "threshold": round(clustering.threshold, DIGITS),
        "links": [
            [one, other, round(clustering.score(one, other), DIGITS)] for one, other in clustering.strongest(MOST_LINKS)
        ],
        "tree": {"merges": _merges(clustering), "order": order},
        "heatmap": heatmap,
    }


def _merges(clustering: Clustering) -> list[list[float]]:
    """Left, right, link and number of texts of each merge."""
    sizes = [1] * len(clustering.names)
    rows = []
    for left, right, link in clustering.merges.tolist():
        sizes.append(sizes[int(left)] + sizes[int(right)])
        rows.append([int(left), int(right), round(float(link), DIGITS), sizes[-1]])
    return rows


def _leaves(clustering: Clustering) -> list[int]:
    """The texts in the order of the tree."""
    texts = len(clustering.names)
    if not len(clustering.merges):
        return list(range(texts))
    order: list[int] = []
    waiting = [texts + len(clustering.merges) - 1]
    while waiting:
        node = waiting.pop()
        if node < texts:
            order.append(node)
        else:
            left, right, _ = clustering.merges[node - texts].tolist()
            waiting += [int(right), int(left)]
    return order

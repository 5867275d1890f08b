"""Clusterings on disk: PAN 2016's clustering.json and ranking.json, a tree (Newick) and a network (GEXF)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard
from xml.etree import ElementTree

from byline.clustering import Clustering
from byline.documents import Document, find_texts, is_plain_name, look_at, read_documents, read_json
from byline.errors import AnswersError, CorpusError
from byline.metrics import average_precision, bcubed_f
from byline.records import read_answers_json
from byline.storage import write_files

CLUSTERS, RANKING, TREE, NETWORK = "clustering.json", "ranking.json", "tree.nwk", "network.gexf"
FILES = (CLUSTERS, RANKING, TREE, NETWORK)
INFO, TRUTH = "info.json", "truth"


@dataclass(frozen=True)
class TextFolder:
    """Texts that lie in one folder."""

    name: str
    documents: tuple[Document, ...]
    language: str | None = None


def read_text_folders(path: Path) -> tuple[TextFolder, ...]:
    """A folder of texts, or the problems of a PAN 2016 corpus (info.json names them); bad files are named at once."""
    if look_at(path, "name a folder of texts") == "file":
        raise CorpusError(f"{path}: a file; name a folder of texts")
    if not (path / INFO).is_file():
        return (_read_texts(path, "", None),)
    rows = read_json(path / INFO)
    found = []
    for row in rows if isinstance(rows, list) else ():
        name = row.get("folder") if isinstance(row, dict) else None
        if not is_plain_name(name):
            raise CorpusError(f"{path / INFO}: each problem needs the plain name of its folder; repair it")
        spoken = row.get("language")
        found.append(_read_texts(path / name, name, spoken if isinstance(spoken, str) else None))
    if not found:
        raise CorpusError(f"{path / INFO}: names no folders; repair it, or remove it to take all texts together")
    return tuple(found)


def _read_texts(folder: Path, name: str, language: str | None) -> TextFolder:
    documents = read_documents((file, str(file.relative_to(folder))) for file in find_texts(folder))
    if not documents:
        raise CorpusError(f"{folder}: no texts there; put some in it")
    return TextFolder(name, tuple(documents), language)


def write_clustering(folder: Path, clustering: Clustering, overwrite: bool = False) -> None:
    """All four files, each whole or not at all; they are ready before the first one is put in its place."""
    require_room(folder, overwrite)
    clusters = [[{"document": clustering.names[text]} for text in cluster] for cluster in clustering.clusters]
    files = {
        CLUSTERS: json.dumps(clusters, indent=1),
        RANKING: json.dumps(_ranking(clustering), indent=1),
        TREE: clustering.newick(),
        NETWORK: _gexf(clustering),
    }
    write_files(folder, {name: (content + "\n").encode(errors="replace") for name, content in files.items()})


def require_room(folder: Path, overwrite: bool) -> None:
    """Refuse to write over files unasked."""
    if not overwrite and (there := [name for name in FILES if (folder / name).exists()]):
        raise AnswersError(f"{folder / there[0]}: exists already; choose another folder, or overwrite it (--overwrite)")


def _ranking(clustering: Clustering) -> list[dict[str, Any]]:
    names = clustering.names
    return [
        {"document1": names[one], "document2": names[other], "score": clustering.score(one, other)}
        for one, other in clustering.strongest()
    ]


def _gexf(clustering: Clustering) -> str:
    """A node for each text, with its cluster, and an edge for each link that is enough to join two."""
    root = ElementTree.Element("gexf", {"xmlns": "http://gexf.net/1.3", "version": "1.3"})
    graph = ElementTree.SubElement(root, "graph", {"defaultedgetype": "undirected"})
    attributes = ElementTree.SubElement(graph, "attributes", {"class": "node"})
    ElementTree.SubElement(attributes, "attribute", {"id": "0", "title": "cluster", "type": "integer"})
    nodes = ElementTree.SubElement(graph, "nodes")
    for number, name in enumerate(clustering.names):
        printable = "".join(letter if letter.isprintable() else "?" for letter in name)
        node = ElementTree.SubElement(nodes, "node", {"id": str(number), "label": printable})
        values = ElementTree.SubElement(node, "attvalues")
        ElementTree.SubElement(values, "attvalue", {"for": "0", "value": str(clustering.labels[number] + 1)})
    edges = ElementTree.SubElement(graph, "edges")
    enough = [pair for pair in clustering.strongest() if clustering.links[pair] >= clustering.threshold]
    for number, (source, target) in enumerate(enough):
        weight = f"{clustering.links[source, target]:.4f}"
        ends = {"id": str(number), "source": str(source), "target": str(target), "weight": weight}
        ElementTree.SubElement(edges, "edge", ends)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


@dataclass(frozen=True)
class ClusterMeasures:
    """How good a clustering is."""

    problem: str
    texts: int
    bcubed_f: float
    average_precision: float


def is_clustering(path: Path) -> bool:
    """Whether a folder holds a clustering, or folders that do, or is a corpus whose truth does."""
    return any(_holds_clusterings(folder) for folder in (path, path / TRUTH))


def _holds_clusterings(path: Path) -> bool:
    return (path / CLUSTERS).is_file() or any(path.glob(f"*/{CLUSTERS}"))


def evaluate_clusterings(answers: Path, truth: Path) -> tuple[ClusterMeasures, ...]:
    """BCubed F and average precision of each problem of a truth folder, or of a corpus that has one."""
    if not _holds_clusterings(truth) and _holds_clusterings(truth / TRUTH):
        truth /= TRUTH
    names = [""] if (truth / CLUSTERS).is_file() else sorted(file.parent.name for file in truth.glob(f"*/{CLUSTERS}"))
    if not names:
        raise AnswersError(f"{truth}: no {CLUSTERS} there; name the folder of the truth")
    return tuple(_evaluate(answers / name, truth / name, name) for name in names)


def _evaluate(answers: Path, truth: Path, name: str) -> ClusterMeasures:
    true, given = _read_clusters(truth / CLUSTERS), _read_clusters(answers / CLUSTERS)
    if odd := sorted(true.keys() ^ given.keys()):
        raise AnswersError(f"{answers / CLUSTERS}: {odd[0]} is not in both; answers and truth must name the same texts")
    texts = sorted(true)
    right = [true[one] == true[other] for one, other in _read_ranking(answers / RANKING, true)]
    links = sum(size * (size - 1) // 2 for size in Counter(true.values()).values())
    return ClusterMeasures(
        name or truth.name,
        len(texts),
        bcubed_f([true[text] for text in texts], [given[text] for text in texts]),
        average_precision(right, links),
    )


def _read_ranking(path: Path, texts: Collection[str]) -> list[tuple[str, str]]:
    """The pairs that are listed, the highest score first; of a pair that is there twice the higher place counts."""
    rows = read_answers_json(path)
    scores: dict[tuple[str, str], float] = {}
    for row in rows if isinstance(rows, list) else ():
        values = row if isinstance(row, Mapping) else {}
        one, other, score = (values.get(key) for key in ("document1", "document2", "score"))
        if not (_is_text(one, texts) and _is_text(other, texts) and one != other and _is_score(score)):
            raise AnswersError(f"{path}: each link needs document1, document2 and score; repair it")
        pair = (min(one, other), max(one, other))
        scores[pair] = max(scores.get(pair, score), score)
    return sorted(scores, key=lambda pair: -scores[pair])  # of equal scores as they are listed


def _is_text(value: object, texts: Collection[str]) -> TypeGuard[str]:
    return isinstance(value, str) and value in texts


def _is_score(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _read_clusters(path: Path) -> dict[str, int]:
    rows = read_answers_json(path)
    found: dict[str, int] = {}
    for number, row in enumerate(rows if isinstance(rows, list) else ()):
        for item in row if isinstance(row, list) else ():
            name = item.get("document") if isinstance(item, dict) else None
            if not isinstance(name, str) or name in found:
                raise AnswersError(f"{path}: a document without a name, or in two clusters; repair it")
            found[name] = number
    if not found:
        raise AnswersError(f"{path}: no clusters there; it should be a list of lists of documents")
    return found

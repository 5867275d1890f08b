"""Folders of texts to cluster, and clusterings on disk; `evaluate.py` measures them.

A clustering is written as PAN 2016's clustering.json and ranking.json, a tree (Newick) and a network (GEXF).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from byline.corpora.documents import Document, classify_path, find_texts, is_plain_name, read_documents, read_json
from byline.errors import OVERWRITE, AnswersError, CorpusError
from byline.storage.files import write_files
from byline.tasks.cluster import Clustering

CLUSTERS, RANKING, TREE, NETWORK = "clustering.json", "ranking.json", "tree.nwk", "network.gexf"
FILES = (CLUSTERS, RANKING, TREE, NETWORK)
INFO = "info.json"


@dataclass(frozen=True)
class TextFolder:
    """Texts that lie in one folder."""

    name: str
    documents: tuple[Document, ...]
    language: str | None = None


def read_text_folders(path: Path) -> tuple[TextFolder, ...]:
    """Read a folder of texts, or the problems of a PAN 2016 corpus, which its info.json names."""
    remedy = "Name a folder of texts"
    if classify_path(path, remedy) == "file":
        raise CorpusError("is a file", where=path, remedy=remedy)
    info = path / INFO
    if not info.is_file():
        return (_read_texts(path, "", None),)
    rows = read_json(info)
    found = []
    for row in rows if isinstance(rows, list) else ():
        name = row.get("folder") if isinstance(row, dict) else None
        if not is_plain_name(name):
            raise CorpusError("each problem needs the plain name of its folder", where=info, remedy="Repair it")
        language = row.get("language")
        found.append(_read_texts(path / name, name, language if isinstance(language, str) else None))
    if not found:
        raise CorpusError("names no folders", where=info, remedy="Repair it, or remove it to take all texts together")
    return tuple(found)


def _read_texts(folder: Path, name: str, language: str | None) -> TextFolder:
    documents = read_documents((file, str(file.relative_to(folder))) for file in find_texts(folder))
    if not documents:
        raise CorpusError("has no texts", where=folder, remedy="Add some")
    return TextFolder(name, tuple(documents), language)


def write_clustering(folder: Path, clustering: Clustering, overwrite: bool = False) -> None:
    """Write all four files, each whole or not at all."""
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
    """Raise AnswersError if a file exists that may not be overwritten."""
    if not overwrite and (there := [name for name in FILES if (folder / name).exists()]):
        raise AnswersError("exists already", where=folder / there[0], remedy=OVERWRITE)


def _ranking(clustering: Clustering) -> list[dict[str, Any]]:
    names = clustering.names
    return [
        {"document1": names[one], "document2": names[other], "score": clustering.score(one, other)}
        for one, other in clustering.strongest()
    ]


def _gexf(clustering: Clustering) -> str:
    """Return a graph with a node for each text, with its cluster, and an edge for each link above the threshold."""
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

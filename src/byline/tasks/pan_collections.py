"""Attribution and clustering problems on disk, as PAN has them, and their answers. `evaluate.py` measures the answers.

Attribution, as in PAN 2018 and 2019. Answers are answers-problem00001.json, a list of {"unknown-text",
"predicted-author"}; <UNK> is none of the candidates.

    collection-info.json      [{"problem-name": "problem00001", "language": "en"}, ...]
    problem00001/
      problem-info.json       {"unknown-folder": "unknown", "candidate-authors": [{"author-name": ...}, ...]}
      candidate00001/*.txt    texts by each candidate
      unknown/*.txt           texts to attribute
      ground-truth.json       {"ground_truth": [{"unknown-text": ..., "true-author": ...}, ...]}, which is not read here

Clustering, as in PAN 2016. Answers are clustering.json and ranking.json, a tree (Newick) and a network (GEXF).

    info.json                 [{"folder": "problem001", "language": "en"}, ...]
    problem001/*.txt          texts to cluster; a folder of texts without info.json is one problem
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from byline.author_models.model import make_untrained_model, require_readable
from byline.corpora.author_corpus import AuthorCorpus, make_author_corpus, plain_name
from byline.corpora.documents import (
    Document,
    classify_path,
    find_texts,
    is_plain_name,
    is_text,
    pick_texts,
    raise_together,
    read_documents,
    read_json,
)
from byline.errors import OVERWRITE, AnswersError, CorpusError
from byline.settings.settings import Settings
from byline.storage.files import write_files
from byline.tasks.attribute import Attribution
from byline.tasks.cluster import Clustering

COLLECTION, PROBLEM = "collection-info.json", "problem-info.json"
ANSWERS = "answers-"
"""The beginning of the name of an answers file."""
UNKNOWN_AUTHOR = "<UNK>"
"""PAN's name for none of the candidates."""
CLUSTERING_INFO = "info.json"
CLUSTERS, RANKING, TREE, NETWORK = "clustering.json", "ranking.json", "tree.nwk", "network.gexf"


@dataclass(frozen=True)
class CandidateProblem:
    """Candidates with their texts, and texts to attribute."""

    name: str
    candidates: AuthorCorpus
    unknown: tuple[Document, ...]


def is_collection(path: Path) -> bool:
    """Whether a folder holds attribution problems, or is one."""
    return (path / COLLECTION).is_file() or (path / PROBLEM).is_file()


def read_collection(path: Path, language: str | None = None) -> tuple[CandidateProblem, ...]:
    """Read the problems of a collection, or the one that a folder is; one CorpusError names all faults."""
    problems: list[CandidateProblem] = []
    errors: list[CorpusError] = []
    for folder, own_language in problem_folders(path):
        try:
            problems.append(_read_problem(folder, language or own_language))
        except CorpusError as error:
            errors.append(error)
    raise_together(errors)
    return tuple(problems)


def folder_of(path: Path, problem: CandidateProblem) -> Path:
    """Return the folder of a problem of a collection; the path may be that itself."""
    return inner if (inner := path / problem.name).is_dir() else path


def check_problems(path: Path, problems: Sequence[CandidateProblem], members: Sequence[Settings]) -> None:
    """Raise one CorpusError that names all problems that can't be learned or answered, before one is learned."""
    errors: list[CorpusError] = []
    for problem in problems:
        try:
            require_readable(make_untrained_model(problem.candidates, members), problem.unknown)
        except CorpusError as error:
            what = error.what if error.where is None else f"{error.where}: {error.what}"
            errors.append(type(error)(what, where=folder_of(path, problem), remedy=error.remedy))
    raise_together(errors)


def problem_folders(path: Path) -> list[tuple[Path, str | None]]:
    """Return the folders of a collection's problems with their languages, or the one folder that the path is."""
    if not (path / COLLECTION).is_file():
        return [(path.absolute(), None)]  # which has a name, even if the path is a dot
    place = path / COLLECTION
    rows = read_json(place)
    if not isinstance(rows, list) or not rows:
        remedy = 'List them as [{"problem-name": ...}, ...]'
        raise CorpusError("names no problems", where=place, remedy=remedy)
    named: dict[str, str | None] = {}
    for row in rows:
        name = row.get("problem-name") if isinstance(row, dict) else None
        if not is_plain_name(name):
            raise CorpusError("a problem has no plain name", where=place, remedy="Give each a problem-name")
        if name in named:
            raise CorpusError(f"{name} is repeated", where=place, remedy="Name each problem once")
        language = row.get("language")
        named[name] = language if isinstance(language, str) else None
    return [(path / name, language) for name, language in named.items()]


def _read_problem(folder: Path, language: str | None) -> CandidateProblem:
    classify_path(folder / PROBLEM, f"Add it, or take {folder.name} out of {COLLECTION}")
    unknown, names = _parse_problem(read_json(folder / PROBLEM), folder / PROBLEM)
    documents, authors = [], []
    for name in names:
        own = _read_texts(folder / name, folder)
        documents += own
        authors += [name] * len(own)
    candidates = make_author_corpus(documents, authors, language)
    return CandidateProblem(folder.name, candidates, tuple(_read_texts(folder / unknown, folder)))


def _parse_problem(info: object, path: Path) -> tuple[str, list[str]]:
    """Return the folder of the unknown texts, and the candidates."""
    values: dict[str, Any] = info if isinstance(info, dict) else {}
    unknown, rows = values.get("unknown-folder"), values.get("candidate-authors")
    names: list[Any] = [
        row.get("author-name") if isinstance(row, dict) else None for row in (rows if isinstance(rows, list) else ())
    ]
    if odd := [name for name in (unknown, *(names or [None])) if not is_plain_name(name)]:
        what = "needs an unknown-folder, and candidate-authors with an author-name each, all of them plain names"
        raise CorpusError(f"{what}, got {odd[0]!r:.80}", where=path, remedy="Repair it")
    plain = list(map(plain_name, names))
    if again := [name for name, own in zip(names, plain, strict=True) if plain.count(own) > 1]:
        raise CorpusError(f"{again[-1]} is repeated", where=path, remedy="Name each candidate once")
    for name, meaning in ((UNKNOWN_AUTHOR, "none of the candidates"), (unknown, "the folder of the unknown texts")):
        if name in names:
            what = f"a candidate is called {name}, which is {meaning}"
            raise CorpusError(what, where=path, remedy="Rename the candidate")
    return str(unknown), names


def _read_texts(folder: Path, above: Path) -> list[Document]:
    remedy = f"Add it, or take it out of {above / PROBLEM}"
    if classify_path(folder, remedy) == "file":
        raise CorpusError("is a file, not a folder of texts", where=folder, remedy=remedy)
    try:
        files = pick_texts(filter(is_text, folder.iterdir()))
    except OSError as error:
        remedy = "Check that you may read it"
        raise CorpusError(f"can't be read ({error.strerror})", where=folder, remedy=remedy) from None
    if not files:
        raise CorpusError("has no texts", where=folder, remedy=f"Add some, or take it out of {above / PROBLEM}")
    found = read_documents((file, None) for file in files)  # errors name the whole path
    return [
        replace(each, name=f"{above.name}/{folder.name}/{file.name}") for file, each in zip(files, found, strict=True)
    ]


def write_predictions(
    folder: Path, problem: CandidateProblem, found: Sequence[Attribution], overwrite: bool = False
) -> Path:
    """Write the answers to one problem as PAN wants them."""
    path = answers_path(folder, problem.name)
    if path.exists() and not overwrite:
        raise AnswersError("exists already", where=path, remedy=OVERWRITE)
    rows = [
        {"unknown-text": Path(each.document).name, "predicted-author": each.author or UNKNOWN_AUTHOR} for each in found
    ]
    write_files(folder, {path.name: (json.dumps(rows, indent=1) + "\n").encode()})
    return path


def is_answered(folder: Path, problem: CandidateProblem) -> bool:
    """Whether a problem's answers are there; raise AnswersError if the file holds other answers."""
    path = answers_path(folder, problem.name)
    if not path.exists():
        return False
    given = read_author_pairs(path, None, "predicted-author", "Remove it")
    texts = {Path(each.name).name for each in problem.unknown}
    candidates = {UNKNOWN_AUTHOR, *map(plain_name, problem.candidates.names)}
    if given.keys() != texts or not candidates.issuperset(given.values()):
        remedy = "Remove it, or replace it with {overwrite}"
        raise AnswersError(f"has no answers to {problem.name} as it is now", where=path, remedy=remedy)
    return True


def answers_path(folder: Path, problem: str) -> Path:
    """Return the path of the answers to a problem."""
    return folder / f"{ANSWERS}{problem}.json"


def read_author_pairs(path: Path, key: str | None, value: str, remedy: str) -> dict[str, str]:
    """Read the author of each unknown text, from a list or from the list under a key; `remedy` is for no file."""
    try:
        classify_path(path, remedy)
        rows = read_json(path)
    except CorpusError as error:
        raise AnswersError(error.what, where=error.where, remedy=error.remedy) from None
    if key is not None:
        rows = rows.get(key) if isinstance(rows, dict) else None
    pairs: dict[str, str] = {}
    for row in rows if isinstance(rows, list) else ():
        text, author = (row.get("unknown-text"), row.get(value)) if isinstance(row, Mapping) else (None, None)
        if not isinstance(text, str) or not isinstance(author, str) or text in pairs:
            raise AnswersError(f"each unknown-text needs one {value}", where=path, remedy="Repair it")
        pairs[text] = plain_name(author)
    if not pairs:
        under = f" under {key}" if key else ""
        remedy = f"List unknown-text and {value} of each text{under}"
        raise AnswersError(f"has no {value}", where=path, remedy=remedy)
    return pairs


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
    info = path / CLUSTERING_INFO
    if not info.is_file():
        return (_read_text_folder(path, "", None),)
    rows = read_json(info)
    found = []
    for row in rows if isinstance(rows, list) else ():
        name = row.get("folder") if isinstance(row, dict) else None
        if not is_plain_name(name):
            raise CorpusError("each problem needs the plain name of its folder", where=info, remedy="Repair it")
        language = row.get("language")
        found.append(_read_text_folder(path / name, name, language if isinstance(language, str) else None))
    if not found:
        raise CorpusError("names no folders", where=info, remedy="Repair it, or remove it to take all texts together")
    return tuple(found)


def _read_text_folder(folder: Path, name: str, language: str | None) -> TextFolder:
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
    if not overwrite and (there := [name for name in (CLUSTERS, RANKING, TREE, NETWORK) if (folder / name).exists()]):
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

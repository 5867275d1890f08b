"""Texts whose authors are known, from which cases with known truth are drawn.

    read_labeled_corpora(path)     reads any of these layouts; a corpus is of one language (and genre, if given)
      author folders, or a folder of Author_Title.txt files
      PAN 2013-15 and 2020-23      problems with their truth
      PAN 2018-19                  collection-info.json, problem00001/ground-truth.json
      PAN 2016-17                  info.json, truth/problem001/clustering.json

This module reads truth, and so nothing that answers questions imports it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from byline.corpora.answers import read_truth
from byline.corpora.documents import (
    Document,
    find_texts,
    is_plain_name,
    raise_together,
    read_documents,
    read_json,
)
from byline.corpora.problems import NO_LANGUAGE, Problem, holds_problems, read_problems
from byline.corpora.reference import Reference
from byline.corpora.reference_building import Author, LabeledText, build_reference, make_reference
from byline.errors import AnswersError, CorpusError, SettingsError, TooLittleText, list_some
from byline.text.languages import language_of
from byline.text.normalize import CAPITAL, FREQUENT, WORD
from byline.text.shared_passages import find_related, find_shared_spans, plain_form

log = logging.getLogger(__name__)

ATTRIBUTION, CLUSTERING = "collection-info.json", "info.json"
"""The files that list the problems of a PAN collection."""


@dataclass(frozen=True)
class LabeledCorpus(Reference):
    """Texts of one language and their true authors.

    No two texts are identical, and no two authors share a passage. Authors of different problems count as different
    people unless they share a text, except in clustering collections: there, authors who never occur in one problem
    are pairs who may be the same person.
    """

    name: str = ""

    def __post_init__(self) -> None:
        """Sort the texts, so that draws do not depend on the order of files."""
        ordered = sorted(self.texts, key=lambda text: (text.author, text.document.name, text.document.text))
        object.__setattr__(self, "texts", tuple(ordered))

    @classmethod
    def from_reference(cls, reference: Reference, name: str = "") -> LabeledCorpus:
        """Return the corpus of a reference whose labels are known to be true."""
        return cls(reference.language, reference.texts, reference.unclear_pairs, reference.left_out, name)

    @property
    def authors(self) -> tuple[str, ...]:
        """The different authors, sorted."""
        return tuple(sorted({text.author for text in self.texts}))

    @cached_property
    def works(self) -> Mapping[str, tuple[tuple[int, ...], ...]]:
        """The numbers of each author's texts, in groups. Only texts of one group share passages."""
        numbers: dict[str, list[int]] = {}
        for number, text in enumerate(self.texts):
            numbers.setdefault(text.author, []).append(number)
        return {author: self._group_texts(own) for author, own in sorted(numbers.items())}

    def _group_texts(self, numbers: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        shared = find_shared_spans([self.plain[number] for number in numbers])
        return tuple(tuple(numbers[place] for place in group) for group in _join(len(numbers), shared))

    @cached_property
    def topics(self) -> csr_array:
        """TF-IDF vectors of the texts over their content words: all but the 300 most widespread ones."""
        from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer  # slow to import

        def split(text: str) -> list[str]:
            return [word.replace(CAPITAL, "") for word in WORD.findall(text)]

        try:
            counts = csr_array(CountVectorizer(analyzer=split).fit_transform(self.plain))
        except ValueError:  # no text has a word
            return csr_array((len(self.texts), 1), dtype=np.float64)
        text_counts = np.bincount(counts.indices, minlength=counts.shape[1])
        content = np.sort(np.argsort(-text_counts, kind="stable")[FREQUENT:])
        if not len(content):
            return csr_array((len(self.texts), 1), dtype=np.float64)
        return csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(counts[:, content]))

    def select(self, authors: Iterable[str]) -> LabeledCorpus:
        """Return the corpus of some of the authors."""
        chosen = frozenset(authors)
        return replace(
            self,
            texts=tuple(text for text in self.texts if text.author in chosen),
            unclear_pairs=frozenset(pair for pair in self.unclear_pairs if pair <= chosen),
        )


def split_authors(corpus: LabeledCorpus, rng: np.random.Generator, shares: Sequence[float]) -> list[LabeledCorpus]:
    """Split a corpus at random into groups of authors, such as for fitting and for evaluation.

    No author, no text and no pair of authors who may be the same person crosses groups. Each group gets about its
    share of the authors, in proportion to the sum of the shares.
    """
    if not shares or not all(np.isfinite(share) and share > 0 for share in shares):
        raise SettingsError(f"must be positive numbers, got {list(shares)}", where="shares", remedy="Give (1, 1)")
    authors = corpus.authors
    number_of = {author: number for number, author in enumerate(authors)}
    pairs = [(number_of[one], number_of[other]) for one, other in map(sorted, corpus.unclear_pairs)]
    people = _join(len(authors), pairs)
    if len(people) < len(shares):
        raise TooLittleText(
            f"{len(people)} groups of authors who may be the same person can't be split into {len(shares)} parts",
            where=corpus.name,
            remedy="Add texts by other authors",
        )
    parts: list[list[str]] = [[] for _ in shares]
    order = sorted(rng.permutation(len(people)).tolist(), key=lambda place: -len(people[place]))
    for place in order:
        emptiest = min(range(len(shares)), key=lambda part: (len(parts[part]) / shares[part], part))
        parts[emptiest] += [authors[number] for number in people[place]]
    return [corpus.select(part) for part in parts]


def find_unrelated(corpus: LabeledCorpus, plain: Sequence[str]) -> tuple[str, ...]:
    """Return the authors of a corpus who share no passage with texts in plain form."""
    related = frozenset[int]().union(*find_related(plain, corpus.plain))
    known = {corpus.texts[number].author for number in related}
    return tuple(author for author in corpus.authors if author not in known)


def leave_out_related(corpus: LabeledCorpus, *others: LabeledCorpus) -> LabeledCorpus:
    """Return a corpus without the authors who have a text, a passage or a name in common with other corpora."""
    unrelated = find_unrelated(corpus, [text for other in others for text in other.plain])
    names = {author for other in others for author in other.authors}
    return corpus.select(author for author in unrelated if author not in names)


def _join(count: int, pairs: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Return groups of the numbers below `count` such that no pair crosses groups, sorted."""
    ends = np.array(list(pairs), dtype=np.intp).reshape(-1, 2)
    graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(count, count))
    labels = connected_components(graph, directed=False)[1]
    groups: dict[int, list[int]] = {}
    for number, label in enumerate(labels.tolist()):
        groups.setdefault(label, []).append(number)
    return sorted(tuple(group) for group in groups.values())


def read_labeled_corpora(path: Path | str, language: str | None = None) -> tuple[LabeledCorpus, ...]:
    """Read a corpus whose authors are known, in any layout. Collections have a corpus for each language and genre.

    Parameters
    ----------
    language
        Language of the texts (default: as the corpus says, or their script).
    """
    path = Path(path)
    name = path.resolve().name
    if (path / ATTRIBUTION).is_file():
        return tuple(_read_attribution(path, name, language))
    if (path / CLUSTERING).is_file():
        return tuple(_read_clustering(path, name, language))
    if holds_problems(path):
        return tuple(_read_problems(path, name, language))
    return (LabeledCorpus.from_reference(build_reference([path], language), name),)


def _read_problems(path: Path, name: str, language: str | None) -> Iterator[LabeledCorpus]:
    """Read problems with their truth: the author of the known texts wrote the unknown one, or somebody else did."""
    found, truth = read_problems(path, language), read_truth(path)
    raise_together([CorpusError(bad.message) for bad in found.bad_problems])
    if lacking := [problem.id for problem in found.problems if problem.id not in truth]:
        raise AnswersError(f"the truth has no {list_some(lacking)}", where=path, remedy="Add them")
    place = os.path.realpath(path)
    groups = found.by_language()
    for own, problems in groups.items():
        texts = [text for problem in problems for text in _label(problem, truth[problem.id], place)]
        corpus = _make_corpus(name if len(groups) == 1 else f"{name}/{own}", texts, own)
        _warn_of_contradictions(corpus, [problem for problem in problems if not truth[problem.id]])
        yield corpus


def _label(problem: Problem, same: bool, place: str) -> list[LabeledText]:
    known = Author(f"{problem.id} known", place)
    unknown = known if same else Author(f"{problem.id} unknown", place)
    authors = [known] * len(problem.known) + [unknown]
    documents = (*problem.known, problem.unknown)
    return [
        LabeledText(document, author, problem.language) for document, author in zip(documents, authors, strict=True)
    ]


def _warn_of_contradictions(corpus: LabeledCorpus, different: Sequence[Problem]) -> None:
    """Warn of problems by two authors whom identical texts make one person."""
    author_of = {text.document.text: text.author for text in corpus.texts}
    wrong = [
        problem.id
        for problem in different
        if author_of.get(problem.unknown.text, "") in {author_of.get(document.text) for document in problem.known}
    ]
    if wrong:
        log.warning("%s: identical texts make the two authors of %s one", corpus.name, list_some(wrong))


def _read_attribution(path: Path, name: str, language: str | None) -> Iterator[LabeledCorpus]:
    """Read an attribution collection: the texts of candidates and, by the truth, unknown texts."""
    rows = [
        (row, [(document, author) for document, author in _attributed_texts(path / row["problem-name"])])
        for row in _read_rows(path / ATTRIBUTION, "problem-name")
    ]
    for own, problems in _by_kind(rows, language).items():
        texts = [LabeledText(document, author, own) for _, labeled in problems for document, author in labeled]
        yield _make_corpus(f"{name}/{own}", texts, own)


def _attributed_texts(folder: Path) -> Iterator[tuple[Document, Author]]:
    info = _read_object(folder / "problem-info.json", ("unknown-folder", "candidate-authors"))
    truth = _read_object(folder / "ground-truth.json", ("ground_truth",))["ground_truth"]
    unknown = info["unknown-folder"]
    if not is_plain_name(unknown):
        what = f"unknown-folder must be the plain name of a folder, got {unknown!r:.80}"
        raise CorpusError(what, where=folder / "problem-info.json", remedy="Repair it")
    candidates = [row["author-name"] for row in _check_rows(info["candidate-authors"], folder, "author-name")]
    for candidate in candidates:
        for document in _read_folder(folder / candidate):
            yield document, Author(candidate, os.path.realpath(folder))
    names = {row["unknown-text"]: str(row.get("true-author")) for row in _check_rows(truth, folder, "unknown-text")}
    for document in _read_folder(folder / unknown):
        author = names.get(Path(document.name).name, "")
        if author in candidates:  # others are by nobody who is named
            yield document, Author(author, os.path.realpath(folder))


def _read_clustering(path: Path, name: str, language: str | None) -> Iterator[LabeledCorpus]:
    """Read a clustering collection. Clusters are authors; those that never occur in one problem may be the same."""
    rows = [(row, _clustered_texts(path, row["folder"])) for row in _read_rows(path / CLUSTERING, "folder")]
    for own, problems in _by_kind(rows, language).items():
        spoken = own.partition(" ")[0]
        texts = [
            LabeledText(document, author, spoken)
            for _, clusters in problems
            for cluster in clusters
            for document, author in cluster
        ]
        corpus = _make_corpus(f"{name}/{own}", texts, spoken)
        author_of = dict(zip(corpus.plain, (text.author for text in corpus.texts), strict=True))
        together: set[frozenset[str]] = set()
        for _, clusters in problems:
            plain = {plain_form(document.text, spoken) for cluster in clusters for document, _ in cluster}
            authors = {author_of[text] for text in plain if text in author_of}
            together.update(map(frozenset, combinations(authors, 2)))
        yield replace(corpus, unclear_pairs=frozenset(map(frozenset, combinations(corpus.authors, 2))) - together)


def _clustered_texts(path: Path, folder: str) -> list[list[tuple[Document, Author]]]:
    place = path / "truth" / folder / "clustering.json"
    clusters = read_json(place)
    documents = {Path(document.name).name: document for document in _read_folder(path / folder)}
    if not isinstance(clusters, list):
        raise CorpusError("is not a list of clusters", where=place, remedy="Repair it")
    names = [[row["document"] for row in _check_rows(cluster, place, "document")] for cluster in clusters]
    if unknown := [each for cluster in names for each in cluster if each not in documents]:
        raise CorpusError(f"names {list_some(unknown)}, which {folder} lacks", where=place, remedy="Repair it")
    return [
        [(documents[each], Author(f"cluster {number}", os.path.realpath(path / folder))) for each in cluster]
        for number, cluster in enumerate(names, start=1)
    ]


def _by_kind(rows: Sequence[tuple[Any, Any]], language: str | None) -> dict[str, list[tuple[Any, Any]]]:
    """Group rows of a collection by language and genre."""
    groups: dict[str, list[tuple[Any, Any]]] = {}
    for row, content in rows:
        own = language_of(language or str(row.get("language") or NO_LANGUAGE))
        groups.setdefault(f"{own} {row['genre']}" if row.get("genre") else own, []).append((row, content))
    return dict(sorted(groups.items()))


def _make_corpus(name: str, texts: Iterable[LabeledText], language: str) -> LabeledCorpus:
    ordered = sorted(texts, key=lambda text: (text.author.place, text.author.name, text.document.name))
    return LabeledCorpus.from_reference(make_reference(ordered, (), language, name), name)


def _read_folder(folder: Path) -> list[Document]:
    return read_documents((file, f"{folder.parent.name}/{folder.name}/{file.name}") for file in find_texts(folder))


def _read_object(path: Path, keys: Sequence[str]) -> dict[str, Any]:
    found = read_json(path)
    if not isinstance(found, dict) or any(key not in found for key in keys):
        raise CorpusError(f"is not a JSON object with {' and '.join(keys)}", where=path, remedy="Repair it")
    return found


def _read_rows(path: Path, key: str) -> list[dict[str, Any]]:
    return _check_rows(read_json(path), path, key)


def _check_rows(rows: object, where: Path, key: str) -> list[dict[str, Any]]:
    """Return JSON rows if each has the plain name of something under a key. Raise CorpusError otherwise."""
    good = isinstance(rows, list) and all(isinstance(row, dict) and is_plain_name(row.get(key)) for row in rows)
    if not isinstance(rows, list) or not rows or not good:
        raise CorpusError(f"needs a list of objects with a plain {key}", where=where, remedy="Repair it")
    return rows

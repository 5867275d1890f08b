"""Attribution problems as PAN 2018 and 2019 hand them out, their answers, and how good those are.

    collection-info.json      [{"problem-name": "problem00001", "language": "en"}, ...]
    problem00001/
      problem-info.json       {"unknown-folder": "unknown", "candidate-authors": [{"author-name": ...}, ...]}
      candidate00001/*.txt    what each candidate wrote
      unknown/*.txt           what is to be attributed
      ground-truth.json       {"ground_truth": [{"unknown-text": ..., "true-author": ...}, ...]}

Answers are answers-problem00001.json, a list of {"unknown-text", "predicted-author"}; <UNK> is none of the candidates.
Nothing here but `evaluate_collection` opens a truth file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from byline.attribution.attributing import Attribution
from byline.attribution.writings import Writings, writings_of
from byline.documents import Document, is_plain_name, is_text, read_documents, read_json
from byline.errors import AnswersError, CorpusError, listing
from byline.records import read_answers_json
from byline.storage import write_files

COLLECTION, PROBLEM, TRUTH = "collection-info.json", "problem-info.json", "ground-truth.json"
NOBODY = "<UNK>"
"""What PAN writes for none of the candidates."""


@dataclass(frozen=True)
class CandidateProblem:
    """Candidates with their texts, and texts to attribute."""

    name: str
    candidates: Writings
    unknown: tuple[Document, ...]


def is_collection(path: Path) -> bool:
    """Whether a folder holds attribution problems, or is one."""
    return (path / COLLECTION).is_file() or (path / PROBLEM).is_file()


def read_collection(path: Path, language: str | None = None) -> tuple[CandidateProblem, ...]:
    """The problems of a collection, or the one that a folder is; all that is wrong is named at once."""
    problems, offences = [], []
    for folder, spoken in _folders(path):
        try:
            problems.append(_read_problem(folder, language or spoken))
        except CorpusError as error:
            offences.append(str(error))
    if offences:
        raise CorpusError(listing(offences, "these can't be used"))
    if not problems:
        raise CorpusError(f"{path / COLLECTION}: names no problems; list them there")
    return tuple(problems)


def _folders(path: Path) -> list[tuple[Path, str | None]]:
    if not (path / COLLECTION).is_file():
        return [(path.absolute(), None)]  # which has a name, even where the path is a dot
    rows = read_json(path / COLLECTION)
    named: list[tuple[Path, str | None]] = []
    for row in rows if isinstance(rows, list) else ():
        name = row.get("problem-name") if isinstance(row, dict) else None
        if not is_plain_name(name):
            raise CorpusError(f"{path / COLLECTION}: a problem without a plain name; each needs a problem-name")
        if path / str(name) in (folder for folder, _ in named):
            raise CorpusError(f"{path / COLLECTION}: {name} is there twice; name each problem once")
        spoken = row.get("language")
        named.append((path / str(name), spoken if isinstance(spoken, str) else None))
    return named


def _read_problem(folder: Path, language: str | None) -> CandidateProblem:
    info = read_json(folder / PROBLEM)
    place = info.get("unknown-folder") if isinstance(info, dict) else None
    rows = info.get("candidate-authors") if isinstance(info, dict) else ()
    listed = rows if isinstance(rows, list) else ()
    names = [row.get("author-name") if isinstance(row, dict) else None for row in listed]
    if not is_plain_name(place) or not names or not all(map(is_plain_name, names)):
        raise CorpusError(f"{folder / PROBLEM}: should name an unknown-folder and candidate-authors; repair it")
    documents, authors = [], []
    for name in names:
        own = _texts(folder / str(name), folder)
        documents += own
        authors += [str(name)] * len(own)
    return CandidateProblem(
        folder.name, writings_of(documents, authors, language), tuple(_texts(folder / str(place), folder))
    )


def _texts(folder: Path, above: Path) -> list[Document]:
    try:
        files = sorted(file for file in folder.iterdir() if is_text(file))
    except OSError as error:
        raise CorpusError(f"{folder}: can't be read ({error.strerror}); add it, or take it out of {PROBLEM}") from None
    if not files:
        raise CorpusError(f"{folder}: no .txt files there; put texts in it, or take it out of {PROBLEM}")
    return read_documents((file, f"{above.name}/{folder.name}/{file.name}") for file in files)


def write_predictions(
    folder: Path, problem: CandidateProblem, found: Sequence[Attribution], overwrite: bool = False
) -> Path:
    """The answers to one problem, as PAN wants them."""
    path = answers_path(folder, problem.name)
    if path.exists() and not overwrite:
        raise AnswersError(f"{path}: exists already; choose another folder, or give --overwrite")
    rows = [{"unknown-text": Path(each.document).name, "predicted-author": each.author or NOBODY} for each in found]
    write_files(folder, {path.name: (json.dumps(rows, indent=1) + "\n").encode()})
    return path


def answers_path(folder: Path, problem: str) -> Path:
    """Where the answers to a problem are."""
    return folder / f"answers-{problem}.json"


@dataclass(frozen=True)
class Prediction:
    """How good the answers to one problem are."""

    problem: str
    texts: int
    accuracy: float
    macro_f1: float
    """Over the candidates; <UNK> is no class of its own, as PAN 2019 counts."""


def evaluate_collection(answers: Path, collection: Path) -> tuple[Prediction, ...]:
    """The measures of each problem of a collection; a text without an answer counts as <UNK>."""
    from sklearn.metrics import f1_score

    found = []
    for folder, _ in _folders(collection):
        truth = _pairs(folder / TRUTH, "ground_truth", "true-author")
        given = _pairs(answers_path(answers, folder.name), None, "predicted-author")
        if odd := sorted(given.keys() - truth.keys()):
            raise AnswersError(f"{answers_path(answers, folder.name)}: {odd[0]} is no text of {folder.name}")
        texts = sorted(truth)
        true, predicted = [truth[text] for text in texts], [given.get(text, NOBODY) for text in texts]
        labels = sorted(set(true) - {NOBODY})
        score = float(f1_score(true, predicted, labels=labels, average="macro", zero_division=0)) if labels else 0.0
        right = sum(one == other for one, other in zip(true, predicted, strict=True))
        found.append(Prediction(folder.name, len(texts), right / len(texts), score))
    return tuple(found)


def _pairs(path: Path, key: str | None, value: str) -> dict[str, str]:
    rows = read_answers_json(path)
    if key is not None:
        rows = rows.get(key) if isinstance(rows, dict) else None
    pairs: dict[str, str] = {}
    for row in rows if isinstance(rows, list) else ():
        text, author = (row.get("unknown-text"), row.get(value)) if isinstance(row, Mapping) else (None, None)
        if not isinstance(text, str) or not isinstance(author, str) or text in pairs:
            raise AnswersError(f"{path}: each unknown-text needs one {value}; repair it")
        pairs[text] = author
    if not pairs:
        raise AnswersError(f"{path}: no answers there; it should be a list of unknown-text and {value}")
    return pairs

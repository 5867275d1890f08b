"""Attribution problems as PAN 2018 and 2019 hand them out, their answers, and how good those are.

    collection-info.json      [{"problem-name": "problem00001", "language": "en"}, ...]
    problem00001/
      problem-info.json       {"unknown-folder": "unknown", "candidate-authors": [{"author-name": ...}, ...]}
      candidate00001/*.txt    what each candidate wrote
      unknown/*.txt           what is to be attributed
      ground-truth.json       {"ground_truth": [{"unknown-text": ..., "true-author": ...}, ...]}

Answers are answers-problem00001.json, a list of {"unknown-text", "predicted-author"}; <UNK> is none of the candidates.
Nothing here but what `evaluate_collection` calls opens a truth file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from byline.attribution.attributing import Attribution
from byline.attribution.cautions import require_readable
from byline.attribution.model import draft_model
from byline.attribution.writings import Writings, plain_name, writings_of
from byline.documents import Document, is_plain_name, is_text, look_at, pick_texts, read_documents, read_json
from byline.errors import AnswersError, CorpusError, listing
from byline.settings import Settings
from byline.storage import write_files

COLLECTION, PROBLEM, TRUTH = "collection-info.json", "problem-info.json", "ground-truth.json"
ANSWERS = "answers-"
"""With which the name of a file of answers begins."""
TRUE = "ground_truth"
"""Under which a truth file lists who wrote what."""
_THEIR_PLACE = "the folder that byline attribute wrote its answers to"
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
    return tuple(problems)


def folder_of(path: Path, problem: CandidateProblem) -> Path:
    """The folder of a problem of a collection; the path may be that itself."""
    return inner if (inner := path / problem.name).is_dir() else path


def check_problems(path: Path, problems: Sequence[CandidateProblem], members: Sequence[Settings]) -> None:
    """Refuse problems that can't be learnt or answered, all at once, before time is spent on any."""
    offences = []
    for problem in problems:
        try:
            require_readable(draft_model(problem.candidates, members), problem.unknown)
        except CorpusError as error:
            offences.append(f"{folder_of(path, problem)}: {error}")
    if offences:
        raise CorpusError(listing(offences, "these can't be used"))


def _folders(path: Path) -> list[tuple[Path, str | None]]:
    if not (path / COLLECTION).is_file():
        return [(path.absolute(), None)]  # which has a name, even where the path is a dot
    rows = read_json(path / COLLECTION)
    if not isinstance(rows, list) or not rows:
        raise CorpusError(f'{path / COLLECTION}: names no problems; list them there as {{"problem-name": ...}}')
    named: list[tuple[Path, str | None]] = []
    for row in rows:
        name = row.get("problem-name") if isinstance(row, dict) else None
        if not is_plain_name(name):
            raise CorpusError(f"{path / COLLECTION}: a problem without a plain name; each needs a problem-name")
        if path / str(name) in (folder for folder, _ in named):
            raise CorpusError(f"{path / COLLECTION}: {name} is there twice; name each problem once")
        spoken = row.get("language")
        named.append((path / str(name), spoken if isinstance(spoken, str) else None))
    return named


def _read_problem(folder: Path, language: str | None) -> CandidateProblem:
    look_at(folder / PROBLEM, f"add it, or take {folder.name} out of {COLLECTION}")
    place, names = _parts(read_json(folder / PROBLEM), folder / PROBLEM)
    documents, authors = [], []
    for name in names:
        own = _texts(folder / name, folder)
        documents += own
        authors += [name] * len(own)
    return CandidateProblem(
        folder.name, writings_of(documents, authors, language), tuple(_texts(folder / place, folder))
    )


def _parts(info: object, path: Path) -> tuple[str, list[str]]:
    """The folder of unknown texts, and the candidates."""
    if not isinstance(info, dict):
        raise CorpusError(f"{path}: no JSON object; it should have unknown-folder and candidate-authors")
    for key in ("unknown-folder", "candidate-authors"):
        if key not in info:
            raise CorpusError(f"{path}: no {key} (there are {', '.join(info)[:200] or 'none'}); add it")
    place, rows = info["unknown-folder"], info["candidate-authors"]
    if not is_plain_name(place):
        raise CorpusError(f"{path}: unknown-folder must be the plain name of a folder, got {_shown(place)}; repair it")
    if not isinstance(rows, list) or not rows:
        raise CorpusError(f'{path}: candidate-authors must be a list of {{"author-name": ...}}; repair it')
    names: list[str] = []
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict) or "author-name" not in row:
            there = f" (there are {', '.join(row)[:200] or 'none'})" if isinstance(row, dict) else ""
            raise CorpusError(f"{path}: candidate {number} has no author-name{there}; add it")
        name = row["author-name"]
        if not is_plain_name(name):
            raise CorpusError(f"{path}: author-name must be the plain name of a folder, got {_shown(name)}; repair it")
        if plain_name(name) in map(plain_name, names):
            raise CorpusError(f"{path}: {name} is there twice; name each candidate once")
        if name in (NOBODY, place):
            what = "none of the candidates" if name == NOBODY else "the folder of the unknown texts"
            raise CorpusError(f"{path}: a candidate is called {name}, which is {what}; rename the candidate")
        names.append(name)
    return place, names


def _shown(value: object) -> str:
    return repr(value)[:80]


def _texts(folder: Path, above: Path) -> list[Document]:
    remedy = f"add it, or take it out of {above / PROBLEM}"
    if look_at(folder, remedy) == "file":
        raise CorpusError(f"{folder}: a file, not a folder of texts; {remedy}")
    try:
        files = pick_texts(filter(is_text, folder.iterdir()))
    except OSError as error:
        raise CorpusError(f"{folder}: can't be read ({error.strerror}); check that you may read it") from None
    if not files:
        raise CorpusError(f"{folder}: no texts there; put some in it, or take it out of {above / PROBLEM}")
    found = read_documents((file, None) for file in files)  # what can't be read is named by its whole path
    return [
        replace(each, name=f"{above.name}/{folder.name}/{file.name}") for file, each in zip(files, found, strict=True)
    ]


def write_predictions(
    folder: Path, problem: CandidateProblem, found: Sequence[Attribution], overwrite: bool = False
) -> Path:
    """The answers to one problem, as PAN wants them."""
    path = answers_path(folder, problem.name)
    if path.exists() and not overwrite:
        raise AnswersError(f"{path}: exists already; choose another folder, or overwrite it (--overwrite)")
    rows = [{"unknown-text": Path(each.document).name, "predicted-author": each.author or NOBODY} for each in found]
    write_files(folder, {path.name: (json.dumps(rows, indent=1) + "\n").encode()})
    return path


def is_answered(folder: Path, problem: CandidateProblem) -> bool:
    """Whether a problem's answers are there; a file that holds other answers is refused."""
    path = answers_path(folder, problem.name)
    if not path.exists():
        return False
    given = _pairs(path, None, "predicted-author", "remove it")
    texts = {Path(each.name).name for each in problem.unknown}
    candidates = {NOBODY, *map(plain_name, problem.candidates.names)}
    if given.keys() != texts or not candidates.issuperset(given.values()):
        raise AnswersError(
            f"{path}: no answers to {problem.name} as it is now; remove it, or overwrite it (--overwrite)"
        )
    return True


def answers_path(folder: Path, problem: str) -> Path:
    """Where the answers to a problem are."""
    return folder / f"{ANSWERS}{problem}.json"


@dataclass(frozen=True)
class Prediction:
    """How good the answers to one problem are."""

    problem: str
    texts: int
    accuracy: float
    macro_f1: float
    """Over the candidates that occur in the truth; <UNK> is no class of its own, as PAN 2019 counts."""
    missing: int = 0
    """Texts without an answer, which counted as <UNK>."""


def is_attribution_truth(path: Path) -> bool:
    """Whether a path is a collection, a problem of one, or a problem's truth."""
    if is_collection(path) or path.name == TRUTH:
        return True
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    try:
        content = read_json(path)
    except CorpusError:
        return False
    return isinstance(content, dict) and isinstance(content.get(TRUE), list)


def is_attribution_answers(path: Path) -> bool:
    """Whether a path is a folder of answers to attribution problems, or one of these files."""
    return bool(_named(path)) or (path.is_dir() and any(map(_named, path.iterdir())))


def _named(answers: Path) -> str:
    """The problem that a file of answers is named after, or nothing."""
    named = answers.name.startswith(ANSWERS) and answers.suffix == ".json"
    return answers.stem.removeprefix(ANSWERS) if named else ""


def evaluate_collection(answers: Path, truth: Path) -> tuple[Prediction, ...]:
    """The measures of each problem of a collection; a text or a problem without an answer counts as <UNK>.

    The truth is a collection, the folder of one of its problems or that problem's ground-truth.json; answers are in a
    folder, or of one problem in a file.
    """
    try:
        if truth.is_dir():
            truths = [(folder.name, folder / TRUTH) for folder, _ in _folders(truth)]
        else:
            truths = [(truth.absolute().parent.name if truth.name == TRUTH else _named(answers) or truth.stem, truth)]
        kind = look_at(answers, f"name {_THEIR_PLACE}")
    except CorpusError as error:
        raise AnswersError(str(error)) from None
    if kind == "file":
        if len(truths) > 1:
            raise AnswersError(
                f"{answers}: one problem's answers, and {truth} has {len(truths)} problems; name the folder of all"
                " answers, or the folder of that problem"
            )
        places = [answers]
    else:
        places = [answers_path(answers, name) for name, _ in truths]
        if not any(place.exists() for place in places):
            raise AnswersError(f"{answers}: no {places[0].name} there; name {_THEIR_PLACE}")
    return tuple(_evaluate(name, place, path) for (name, path), place in zip(truths, places, strict=True))


def _evaluate(name: str, answers: Path, path: Path) -> Prediction:
    from sklearn.metrics import f1_score

    truth = _pairs(path, TRUE, "true-author", "name a collection whose truth is known")
    given = _pairs(answers, None, "predicted-author", f"name {_THEIR_PLACE}") if answers.exists() else {}
    if odd := sorted(given.keys() - truth.keys()):
        raise AnswersError(f"{answers}: {odd[0]} is no text of {name}; name the answers to this problem")
    texts = sorted(truth)
    true, predicted = [truth[text] for text in texts], [given.get(text, NOBODY) for text in texts]
    labels = sorted(set(true) - {NOBODY})
    score = float(f1_score(true, predicted, labels=labels, average="macro", zero_division=0)) if labels else 0.0
    right = sum(one == other for one, other in zip(true, predicted, strict=True))
    return Prediction(name, len(texts), right / len(texts), score, len(truth) - len(given))


def _pairs(path: Path, key: str | None, value: str, remedy: str) -> dict[str, str]:
    try:
        look_at(path, remedy)
        rows = read_json(path)
    except CorpusError as error:
        raise AnswersError(str(error)) from None
    if key is not None:
        rows = rows.get(key) if isinstance(rows, dict) else None
    pairs: dict[str, str] = {}
    for row in rows if isinstance(rows, list) else ():
        text, author = (row.get("unknown-text"), row.get(value)) if isinstance(row, Mapping) else (None, None)
        if not isinstance(text, str) or not isinstance(author, str) or text in pairs:
            raise AnswersError(f"{path}: each unknown-text needs one {value}; repair it")
        pairs[text] = plain_name(author)
    if not pairs:
        under = f", under {key}" if key else ""
        raise AnswersError(f"{path}: no {value} there; it should be a list of unknown-text and {value}{under}")
    return pairs

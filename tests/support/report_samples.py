"""Sample reports for the report's tests: real reports of small runs and models, and of what they lack."""

from __future__ import annotations

import base64
import gzip
import json
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from byline.author_models.model import train_authors
from byline.corpora.author_corpus import make_author_corpus
from byline.corpora.documents import Document
from byline.corpora.problems import Problem, ProblemSet, builtin_problems, read_problems
from byline.corpora.reference_building import build_reference
from byline.report.attribution import attribution_report, rolling_report
from byline.report.clustering import clustering_report
from byline.report.verification import verification_report
from byline.runs.folder import RunOutput
from byline.settings.settings import Pool, Settings, read_pool
from byline.tasks.attribute import attribute
from byline.tasks.cluster import cluster_documents
from byline.tasks.rolling import roll
from byline.tasks.verify import verify
from samples import phrase

HOSTILE = (
    '<script>alert("x")</script>',
    "</script><script>alert(1)</script>",
    "<!-- <script> -->",
    "]]><img src=x onerror=alert(1)>",
    "\"'`> <b>bold</b> &lt;amp&amp;",
    "a\u2028b\u2029c",
    "nul \x00 bell \x07 escape \x1b",
    "half \ud83d pair \ude00",
    "left \u202eright to left\u202c \u2066isolated\u2069",
    "__proto__",
    "javascript:alert(1)",
    "\U0001f600 \U00010348 beyond \u00e9 e\u0301",
)

AUTHORS = ("Ada Thorn", "Bram Vale", "Cora Finch", "Dov Marsh")
MEMBERS = (Settings(engine="ngram", order=4), Settings(engine="vectors"), Settings(engine="linear"))


@cache
def _sentences() -> tuple[str, ...]:
    with builtin_problems("english") as folder:
        texts = [path.read_text(encoding="utf-8").strip() for path in sorted(folder.glob("EN*/*.txt"))]
    return tuple(sentence for text in texts for sentence in re.split(r"(?<=[.;?])\s+", text))


def prose(length: int, seed: object) -> str:
    """Sentences in an order of chance, so many characters."""
    chance, text = random.Random(f"prose {seed}"), ""
    while len(text) < length:
        text += chance.choice(_sentences()) + chance.choice((" ", " ", " ", "\n\n"))
    return text[:length]


@cache
def verification() -> dict[str, Any]:
    """The built-in problems, with the truth."""
    with TemporaryDirectory() as place, builtin_problems("english") as problems:
        run = RunOutput(Path(place) / "run")
        verify(problems, read_pool("best").only(["ngram", "vectors"]), members=4, output=run)
        return verification_report(place, problems, "today", "problems/")


def one_problem() -> dict[str, Any]:
    """A problem by itself, without the truth."""
    found = verification()
    row = {**found["problems"][0], "truth": None, "warnings": []}
    without = dict.fromkeys(("measures", "measured", "roc", "tippett", "calibration"))
    return {**found, **without, "problems": [row], "heatmaps": [], "warnings": []}


def many_problems(count: int = 100) -> dict[str, Any]:
    """The same problems again and again: each is packed by itself, so the size is that of so many others."""
    found = verification()
    rows, (heat,) = found["problems"], found["heatmaps"]
    places = [number % len(rows) for number in range(count)]
    ids = [f"{rows[place]['id']}-{number}" for number, place in enumerate(places)]
    heat = {
        **heat,
        "rows": ids,
        "columns": ids,
        "values": [[heat["values"][row][column] for column in places] for row in places],
        "asked": [[number, number] for number in range(count)],
    }
    problems = [{**rows[place], "id": name} for place, name in zip(places, ids, strict=True)]
    return {**found, "problems": problems, "heatmaps": [heat]}


def hostile() -> dict[str, Any]:
    """A run in which every id, name, text and sentence is an attack of a kind."""
    texts = [f"{attack} {prose(600, n)} {attack}" for n, attack in enumerate(HOSTILE)]
    problems = [
        Problem(f"P{n}", (Document(HOSTILE[n], text),), Document(HOSTILE[n - 1], texts[n - 1]), "english")
        for n, text in enumerate(texts)
    ]
    with TemporaryDirectory() as place:
        verify(ProblemSet(tuple(problems), "folders"), MEMBERS[0], output=RunOutput(Path(place) / "run"))
        report_data = verification_report(place)
    attack = " ".join(HOSTILE)
    report_data.update(
        title=HOSTILE[0], source=HOSTILE[1], conclusion=attack, warnings=[attack], limits=[attack], made=attack,
        learning=[{"language": attack, "name": attack, "bits": [2.0, 1.5]}],
    )  # fmt: skip
    for name, problem in zip(HOSTILE, report_data["problems"], strict=True):
        problem.update(id=name, statement=attack, warnings=[attack])
        for member in problem["members"]:
            member["name"] = attack
    report_data["provenance"].update(
        command=attack, files={attack: "0" * 64}, texts={attack: [[attack, attack]]},
        settings={"1": {attack: attack, "__proto__": [attack]}, attack: {}},
    )  # fmt: skip
    report_data["decisions"][0]["label"] = attack
    report_data["heatmaps"][0].update(row_title=attack, column_title=attack)
    return report_data


def small_report(kind: str, names: Sequence[str] = AUTHORS, attack: str = "", cut: float | None = None) -> Any:
    """A report of a small model or of few texts. In a hostile one names and texts would do harm, were they not text."""
    about = {"title": attack or kind, "source": attack or "texts/", "byline": "0", "made": "now",
             "provenance": {"command": attack or f"byline {kind}"}}  # fmt: skip
    if kind == "clustering":
        letters = [Document(f"{names[n // 3]} {n}", f"{phrase(n // 3, 500, n)} {attack} {n}") for n in range(9)]
        letters.append(Document("copy.txt", f"{letters[0].text[:250]} {letters[8].text}"))
        return clustering_report(cluster_documents(letters, MEMBERS[:2], "english", cut), about, letters)
    known = [
        Document(f"{names[author]} {salt}", f"{phrase(author, 700, salt)} {attack and names[author]}")
        for author in range(4)
        for salt in range(3)
    ]
    model = train_authors(make_author_corpus(known, [names[n // 3] for n in range(12)], "english"), MEMBERS)
    if kind == "attribution":
        texts = [Document(f"letter to {names[n]}", f"{phrase(n + 1, 900, 8)} {attack}") for n in range(3)]
        return attribution_report(model, texts, attribute(model, texts, 0.1), 0.1, about)
    book = Document(names[1], f" {attack} ".join(phrase(author, 1_500, 8) for author in (1, 2, 1)))
    return rolling_report(model, book, roll(model, book, 500, 200, 0.3), about)


def hostile_report(kind: str) -> Any:
    """A report whose names and texts would do harm if they were more than text."""
    return small_report(kind, HOSTILE, " ".join(attack for attack in HOSTILE if "\ud83d" not in attack))


def sparse(kind: str) -> Any:
    """As little as a report may hold: one of everything, and nothing known of it."""
    report_data = one_problem() if kind == "verification" else small_report(kind)
    if kind == "verification":
        empty: dict[str, Any] = {"score": None, "llr": None, "low": None, "high": None, "probability": None,
                                 "members": [], "cohort": None, "packed": None, "known": []}  # fmt: skip
        row = {**report_data["problems"][0], "answer": 0.5, "verdict": "undecided", **empty}
        report_data.update(problems=[row], calibrated=False, decisions=[], learning=[], members=[], languages=[])
        report_data.update(limits=[])
    elif kind == "attribution":
        row = {key: report_data["documents"][0][key] for key in ("name", "probability", "none", "statement")}
        report_data["documents"] = [{**row, "author": None, "packed": None, "ranking": [[AUTHORS[0], 0.4, None]]}]
        report_data.update(none_line=None, known_as=None, members=[], warnings=[])
    elif kind == "clustering":
        names = report_data["names"][:3]
        report_data.update(names=names, ids=names, labels=[0, 1, 2], links=[], texts=[], pairs=[], clusters=[])
        report_data.update(tree={"merges": [], "order": [0, 1, 2]}, heatmap=None, members=[], warnings=[])
    else:
        passage = {"begin": 0, "end": 300, "author": AUTHORS[0], "ranking": [[AUTHORS[0], 1.0]]}
        stretch = {"begin": 0, "end": 300, "author": AUTHORS[0], "probability": 1.0}
        report_data.update(packed=None, strongest=[], passages=[passage], stretches=[stretch], changes=[], length=300)
    return {**report_data, "provenance": {"command": "byline", "settings": {}, "files": {}}}


BESIDE = Pool("beside", (Settings(engine="ngram"), Settings(engine="vectors")), members=2, interpret="cohort")
"""Members of a run beside a reference: one that tells where in the texts its evidence is, and one that does not."""


def real_run(folder: Path, beside: bool = False) -> Path:
    """A run of quick members with the truth beside it.

    In two languages, where two problems share a text and one is too short; or in one, beside a reference.
    """
    problems, truth = [], ["EN090 N", "EN091 N"]
    for language in ("english",) if beside else ("english", "greek"):
        with builtin_problems(language) as corpus:
            problems += read_problems(corpus).problems[: 4 if beside else 7]
            truth += (corpus / "truth.txt").read_text(encoding="utf-8").splitlines()
            others = build_reference([corpus], language=language)
    if not beside:
        problems.append(replace(problems[0], id="EN090", known=problems[2].known))
        problems.append(Problem("EN091", (Document("known", "too"),), Document("unknown", "short"), "english"))
    (folder / "truth.txt").write_text("\n".join(truth), encoding="utf-8")
    verify(
        ProblemSet(tuple(problems), "folders"),
        BESIDE if beside else read_pool("best").only(["ngram", "vectors"]),
        members=2 if beside else 4,
        reference=others if beside else None,
        skip_bad=True,
        output=RunOutput(folder / "run"),
    )
    return folder


def data_of(page: str) -> Any:
    return json.loads(page.split('id="report-data">')[1].split("</script>")[0])


def unpack(packed: str) -> Any:
    """What the page unpacks."""
    return json.loads(gzip.decompress(base64.b64decode(packed)))

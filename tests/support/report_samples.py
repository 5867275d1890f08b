"""Sample reports for the report's tests: the built-in prose, which is invented, with figures of pure chance."""

from __future__ import annotations

import base64
import gzip
import json
import math
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from byline.author_models.model import train_authors
from byline.corpora.author_corpus import make_author_corpus
from byline.corpora.documents import Document
from byline.corpora.problems import Problem, ProblemSet, builtin_problems, read_problems
from byline.corpora.reference.build import build_reference
from byline.report.attribution import attribution_report, rolling_report
from byline.report.clustering import clustering_report
from byline.report.comparison import position_among
from byline.report.page import pack
from byline.runs.folder import RunOutput
from byline.settings.pools import read_pool
from byline.settings.settings import Settings
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

DISTINCT = 16
"""Texts of large reports come round again: each is packed by itself, so that the size is the same."""

LIMITS = (
    "The figures say how probable the evidence is under each hypothesis, not how probable the hypotheses are.",
    "Texts of another genre, topic or time than those compared with may look like the work of another author.",
    "The colors show what moved the score in these texts; they are no marks of an author by themselves.",
)


@cache
def builtin_texts() -> tuple[str, ...]:
    with builtin_problems("english") as folder:
        return tuple(path.read_text(encoding="utf-8").strip() for path in sorted(folder.glob("EN*/*.txt")))


@cache
def _sentences() -> tuple[str, ...]:
    return tuple(sentence for text in builtin_texts() for sentence in re.split(r"(?<=[.;?])\s+", text))


def prose(length: int, seed: object) -> str:
    """Sentences in an order of chance, so many characters."""
    chance, text = random.Random(f"prose {seed}"), ""
    while len(text) < length:
        text += chance.choice(_sentences()) + chance.choice((" ", " ", " ", "\n\n"))
    return text[:length]


def evidence_of(text: str, lean: float, seed: object, guesses: bool = True) -> dict[str, Any]:
    """Words and a curve for a text, with a passage in the middle that speaks for the other side."""
    chance, words = random.Random(f"evidence {seed}"), []
    for found in re.finditer(r"[^\W_]+(?:'[^\W_]+)?|[^\w\s]", text):
        begin, end = found.span()
        inside = 0.45 < begin / len(text) < 0.6
        bits = chance.gauss(-2 * lean if inside else lean, 0.9) * math.sqrt(end - begin) / 2
        guess = None
        if guesses and chance.random() < 0.8:
            letters = chance.sample("etaoinshrdlucm", 3)
            guess = [
                chance.randrange(begin, end),
                [[letter, round(0.5 / place, 2)] for place, letter in enumerate(letters, 1)],
            ]
        words.append([begin, end, round(bits, 2), round(chance.choice((0.6, 0.8, 1.0)), 2), guess])
    curve = []
    for place in range(0, len(text) + 1, 50):
        near = [bits for begin, _, bits, *_ in words if abs(begin - place) < 200]
        curve.append([place, round(sum(near) / 400, 4)])
    return {"words": words, "curve": curve, "bits": round(sum(word[2] for word in words), 4)}


def texts_of(
    known: Sequence[tuple[str, str]], unknown: tuple[str, str] | None, lean: float, seed: object
) -> dict[str, Any]:
    named = [("known", name, text) for name, text in known]
    named += [("unknown", *unknown)] if unknown else []
    documents = [
        {"role": role, "name": name, "text": text, **evidence_of(text, lean, (seed, n))}
        for n, (role, name, text) in enumerate(named)
    ]
    passages: list[dict[str, Any]] = []
    for n, document in enumerate(documents):
        words = document["words"]
        for start in range(0, max(1, len(words) - 12), max(12, len(words) // 8)):
            some = words[start : start + 12]
            bits = sum(word[2] for word in some)
            if some:
                passages.append(
                    {"document": n, "begin": some[0][0], "end": some[-1][1], "bits": round(bits, 2), "agreement": 0.8}
                )
    passages.sort(key=lambda passage: -abs(passage["bits"]))
    passages = [p for p in passages if p["bits"] > 0][:5] + [p for p in passages if p["bits"] < 0][:5]
    features = {
        "member": "vectors (topic masked)",
        "unit": "cosine",
        "for": [["was n", 0.0081], [", and", 0.0062], ["ing t", 0.0031]],
        "against": [["; the", -0.0077], ["ould ", -0.0042]],
    }
    return {"documents": documents, "passages": passages, "features": [features], "scale": 3.2}


def _common(kind: str, title: str, conclusion: str, command: str) -> dict[str, Any]:
    settings = {"engine": "rnn", "hidden": 148, "sub_epochs": 60, "rate": 0.03, "normalize": {"capitals": "lower"}}
    return {
        "kind": kind,
        "title": title,
        "source": "out/",
        "byline": "0.7.0",
        "made": "2026-11-16 15:12 UTC",
        "conclusion": conclusion,
        "limits": list(LIMITS),
        "warnings": [],
        "provenance": {
            "command": command,
            "settings": {str(n): {**settings, "seed": n} for n in range(1, 5)},
            "seed": 0,
            "preset": "best",
            "inputs": "0123456789abcdef",
            "files": {f"members/{n:04d}/matrix.safetensors": f"{n:x}" * 64 for n in range(1, 5)},
            "texts": {f"EN{n:03d}": [["unknown.txt", f"{n:x}" * 64], ["known01.txt", "ab" * 32]] for n in range(1, 4)},
        },
    }


def among(chance: random.Random, own: float, count: int = 160) -> dict[str, Any]:
    """A score among others of pure chance."""
    return position_among([chance.gauss(0, 1) for _ in range(count)], own)


def beside_reference(chance: random.Random, members: Sequence[dict[str, Any]], score: float) -> dict[str, Any]:
    """What members say of a problem beside a reference; with the last one nothing could be compared."""
    rows = [
        {
            "member": each["member"],
            "name": each["name"],
            "own_scale": n == 0,
            **among(chance, score + 1 if n else -1.0, 0 if n == len(members) - 1 else 104),
        }
        for n, each in enumerate(members)
    ]
    return {"members": rows, "parts": {"relative": score + 1, "own": -1.0}, "even": 1.0}


def verification(
    count: int = 12,
    characters: int = 0,
    ids: Sequence[str] = (),
    names: Sequence[str] = (),
    texts: Sequence[str] = (),
    truth: bool = True,
    calibrated: bool = True,
    languages: int = 1,
    beside: bool = False,
) -> dict[str, Any]:
    """A run of so many problems; of built-in texts, or of so many characters each, known and unknown.

    `beside` is beside a reference: problems are not compared with each other.
    """
    chance = random.Random(f"verification {count}")
    own = list(texts) or ([] if characters else [builtin_texts()[n % len(builtin_texts())] for n in range(3 * count)])
    members = [
        {
            "member": n,
            "name": name,
            "seed": 0,
            "seconds": round(chance.uniform(1, 40), 1),
            "bits": 2.13 if name != "vectors (topic masked)" else None,
            "additive": name != "vectors (topic masked)",
            "made_by": {"byline": "0.7.0", "numpy": "2.1.0"},
        }
        for n, name in enumerate(
            ("vectors (topic masked)", "ngram, characters", "ngram, words", "rnn", "rnn", "rnn"), start=1
        )
    ]
    problems, packed, center = [], [], 0.93
    for n in range(count):
        same = n % 2 == 1
        score = chance.gauss(1.9 if same else 0.2, 0.75)
        llr = round((score - center) * 1.25, 3)
        spread = chance.uniform(0.25, 0.8)
        verdict = "undecided" if abs(llr) < 0.15 else "same" if llr > 0 else "another"
        known = [(names[n % len(names)] if names else f"known{k:02d}.txt", k) for k in (1, 2)[: 1 if characters else 2]]
        pieces = [own[(3 * n + k) % len(own)] if own else prose(characters, (n % DISTINCT, k)) for k in range(3)]
        unknown = names[(n + 1) % len(names)] if names else "unknown.txt"
        if n < DISTINCT or not characters:
            lean = 0.25 if llr > 0 else -0.25
            packed.append(pack(texts_of([(name, pieces[k - 1]) for name, k in known], (unknown, pieces[2]), lean, n)))
        times = 10 ** abs(llr)
        side = "the same author" if llr > 0 else "another author"
        problems.append(
            {
                "id": ids[n] if n < len(ids) else f"EN{n + 1:03d}",
                "language": ("english", "greek")[n % languages],
                "answer": 0.5 if verdict == "undecided" else round(1 / (1 + 10**-llr), 3),
                "score": round(score, 4),
                "llr": llr if calibrated else None,
                "low": round(llr - spread, 3) if calibrated else None,
                "high": round(llr + spread, 3) if calibrated else None,
                "probability": round(1 / (1 + 10**-llr), 3) if calibrated else None,
                "verdict": verdict,
                "truth": same if truth else None,
                "statement": f"The evidence is limited support for {side}: it is {times:.1f} times as probable "
                f"if {side} wrote the unknown text as if not.",
                "known": [name for name, _ in known],
                "unknown": unknown,
                "known_characters": sum(len(pieces[k - 1]) for _, k in known),
                "unknown_characters": len(pieces[2]),
                "warnings": ["The unknown text is short (812 characters)."] if n == 2 else [],
                "members": [
                    {
                        "member": each["member"],
                        "name": each["name"],
                        "score": None if n == 3 and each["member"] == 2 else round(score + chance.gauss(0, 0.4), 3),
                    }
                    for each in members
                ],
                "cohort": None if beside else {**among(chance, score), "used": True},
                "reference": beside_reference(chance, members, score) if beside else None,
                "packed": packed[n % len(packed)],
            }
        )
    rows = [problem["id"] for problem in problems]
    said = [sum(problem["verdict"] == verdict for problem in problems) for verdict in ("same", "another", "undecided")]
    steps = [k / 10 for k in range(-30, 31)]

    def greater(wanted: bool) -> list[float]:
        llrs = [problem["llr"] or 0 for n, problem in enumerate(problems) if (n % 2 == 1) == wanted]
        return [sum(llr > step for llr in llrs) / max(1, len(llrs)) for step in steps]

    ranked = sorted(range(count), key=lambda n: -problems[n]["answer"])
    x, y = [0.0], [0.0]
    for n in ranked:
        x.append(x[-1] + (n % 2 == 0) / max(1, (count + 1) // 2))
        y.append(y[-1] + (n % 2 == 1) / max(1, count // 2))
    return {
        **_common(
            "verification",
            "problems/",
            f"{count} problems: {said[0]} by the same author, {said[1]} by another, {said[2]} undecided.",
            "byline verify problems/ -o out/ --seed 0",
        ),
        "warnings": ["EN003: the unknown text is short (812 characters); its answer is less sure than others."],
        "interpretation": "cohort" if beside else "relative",
        "calibrated": calibrated,
        "prior": 0.5,
        "languages": [
            {
                "language": language,
                "problems": count // languages,
                "center": None if beside else center + n,
                "strength": None if beside else 0.61,
            }
            for n, language in enumerate(("english", "greek")[:languages])
        ],
        "problems": problems,
        "decisions": []
        if beside
        else [
            {"language": language, "center": center + n, "label": "score that speaks for neither side"}
            for n, language in enumerate(("english", "greek")[:languages])
        ],
        "measures": {
            "auc": [0.917, 0.72, 1.0],
            "c@1": [0.847, 0.61, 0.99],
            "product": [0.776, 0.5, 0.98],
            "cllr": [0.534, 0.41, 0.66],
        }
        if truth
        else None,
        "measured": {"problems": count, "left_out": 1} if truth else None,
        "roc": {"x": x, "y": y} if truth else None,
        "tippett": {"llr": steps, "same": greater(True), "another": greater(False)} if truth and calibrated else None,
        "calibration": [
            {"predicted": 0.1, "observed": 0.08, "low": 0.0, "high": 0.35, "count": count // 3},
            {"predicted": 0.5, "observed": 0.5, "low": 0.2, "high": 0.8, "count": count // 4},
            {"predicted": 0.92, "observed": 1.0, "low": 0.6, "high": 1.0, "count": count // 3},
        ]
        if truth and calibrated
        else None,
        "heatmaps": []
        if beside
        else [_heatmap(chance, problems, rows, language) for language in ("english", "greek")[:languages]],
        "learning": [
            {
                "language": "english",
                "name": f"rnn, member {member}",
                "bits": [round(1.9 + 1.6 * math.exp(-k / 9) + member / 90, 3) for k in range(40)],
            }
            for member in (4, 5, 6)
        ],
        "members": members,
    }


def _heatmap(
    chance: random.Random, problems: Sequence[dict[str, Any]], rows: Sequence[str], language: str
) -> dict[str, Any]:
    """Every pair of one language; one value lies far above the others, beyond the colors."""
    own = [n for n, problem in enumerate(problems) if problem["language"] == language]
    values = [
        [
            None if (r + 5 * c) % 31 == 7 else round(problems[r]["score"] if r == c else chance.gauss(0, 0.8), 2)
            for c in own
        ]
        for r in own
    ]
    values[-1][-1] = 40.0
    return {
        "language": language,
        "rows": [rows[n] for n in own],
        "columns": [rows[n] for n in own],
        "row_title": "unknown text of",
        "column_title": "known texts of",
        "values": values,
        "asked": [[n, n] for n in range(len(own))],
    }


def hostile() -> dict[str, Any]:
    """Every id, name, text and sentence is an attack of a kind."""
    report_data = verification(
        len(HOSTILE),
        ids=HOSTILE,
        names=HOSTILE,
        texts=[f"{attack} {prose(120, n)} {attack}" for n, attack in enumerate(HOSTILE)],
    )
    attack = " ".join(HOSTILE)
    report_data.update(
        title=HOSTILE[0], source=HOSTILE[1], conclusion=attack, warnings=[attack], limits=[attack], made=attack
    )
    for problem in report_data["problems"]:
        problem.update(statement=attack, warnings=[attack])
        for member in problem["members"]:
            member["name"] = attack
    report_data["provenance"]["command"] = attack
    report_data["provenance"]["files"] = {attack: "0" * 64}
    report_data["provenance"]["texts"] = {attack: [[attack, attack]]}
    report_data["provenance"]["settings"] = {"1": {attack: attack, "__proto__": [attack]}, attack: {}}
    report_data["decisions"][0]["label"] = attack
    report_data["learning"][0].update(language=attack, name=attack)
    report_data["heatmaps"][0].update(row_title=attack, column_title=attack)
    return report_data


AUTHORS = ("Ada Thorn", "Bram Vale", "Cora Finch", "Dov Marsh", "Elin Oake")


def _beside(text: str, seed: int) -> dict[str, Any]:
    """A text beside another, which has a scale of its own."""
    texts = texts_of([("known, characters 1 to 900", builtin_texts()[-1])], ("letter", text), 0.25, seed)
    texts["documents"][0]["scale"] = 5.1
    texts["passages"] = [each for each in texts["passages"] if each["document"] == 1]
    return texts


def attribution(count: int = 9, authors: Sequence[str] = AUTHORS) -> dict[str, Any]:
    chance, documents = random.Random("attribution"), []
    for n in range(count):
        text = builtin_texts()[n]
        weights = [chance.random() ** 4 for _ in authors]
        none = chance.random() * (0.9 if n == 4 else 0.2)
        shares = sorted(
            ((author, (1 - none) * w / sum(weights)) for author, w in zip(authors, weights, strict=True)),
            key=lambda pair: -pair[1],
        )
        named = None if n == 4 else shares[0][0]
        documents.append(
            {
                "name": f"letter{n + 1:02d}.txt",
                "author": named,
                "probability": round(none if named is None else shares[0][1], 3),
                "none": round(none, 3),
                "ranking": [
                    [author, round(share, 3), round(2.3 - share / 3, 3), round(share / 9, 3), round(4 * share - 1, 2)]
                    for author, share in shares
                ],
                "parts": [[author, [round(2 * share, 2), round(2 * share - 1, 2)]] for author, share in shares[:3]],
                "others": 3 if n == 2 else 0,
                "reasons": ["Authors are ordered by the sum of what all members say of them, and not by bits."],
                "characters": len(text),
                "known_texts": 2,
                "known_characters": 9_000,
                "known_shown": 2_000,
                "known_whole": n == 3,
                "warnings": ["The text is short (812 characters): it carries little evidence."] if n == 1 else [],
                "statement": f"Of these authors {shares[0][0]} is the most probable, at {shares[0][1]:.0%}.",
                "packed": None if n == 5 else pack(_beside(text, n)),
                "next": {"author": shares[1][0], "packed": pack(texts_of([], ("letter", text), 0.1, n))}
                if len(shares) > 1
                else None,
            }
        )
    said = sum(document["author"] is not None for document in documents)
    return {
        **_common(
            "attribution",
            "letters/",
            f"{count} documents: {said} given to one of {len(authors)} authors, {count - said} to none of them.",
            "byline attribute authors.model letters/",
        ),
        "authors": list(authors),
        "documents": documents,
        "prior_none": 0.1,
        "none_line": {"middle": 1.2},
        "known_as": "The authors' texts are shown as the model keeps them.",
        "language": "english",
        "members": [
            {"member": n, "name": name, "weight": 0.5, "additive": n == 1, "made_by": {"byline": "0.7.0"}}
            for n, name in enumerate(("ngram", "vectors"), start=1)
        ],
    }


def _pair_texts(one: tuple[str, str], other: tuple[str, str], seed: int) -> dict[str, Any]:
    texts = texts_of([one], other, 0.25, seed)
    for document, role in zip(texts["documents"], ("one", "other"), strict=True):
        document["role"] = role
    return texts


def clustering(count: int = 14, cut: float | None = None) -> dict[str, Any]:
    chance = random.Random("clustering")
    shown = [f"text{n + 1:02d}.txt" for n in range(count)]
    labels = [n // 4 for n in range(count - 2)] + [(count - 3) // 4 + 1, (count - 3) // 4 + 2]
    link = [[0.0] * count for _ in range(count)]
    for one in range(count):
        for other in range(one):
            value = round(chance.gauss(3.5 if labels[one] == labels[other] else 0, 0.8), 3)
            link[one][other] = link[other][one] = value
    parts: dict[int, list[int]] = {n: [n] for n in range(count)}
    merges = []
    while len(parts) > 1:
        height, one, other = max(
            (sum(link[a][b] for a in parts[p] for b in parts[q]) / len(parts[p]) / len(parts[q]), p, q)
            for p in parts
            for q in parts
            if p < q
        )
        number = count + len(merges)
        parts[number] = parts.pop(one) + parts.pop(other)
        merges.append([one, other, round(height, 3), len(parts[number])])
    (order,) = parts.values()
    links = sorted(
        ([b, a, link[a][b], round(1 / (1 + math.exp(1 - link[a][b])), 3)] for a in range(count) for b in range(a)),
        key=lambda each: -each[2],
    )
    texts = [f"{builtin_texts()[n % len(builtin_texts())]} {shown[n]}" for n in range(count)]
    pairs = [
        {
            "id": f"{shown[one]} and {shown[other]}",
            "one": one,
            "other": other,
            "link": value,
            "score": score,
            "stronger": n,
            "links": len(links),
            "together": labels[one] == labels[other],
            "shares": [value + 0.5, value - 0.5],
            "warnings": ["They share 100 characters or more word for word."] if n == 1 else [],
            "packed": pack(_pair_texts((shown[one], texts[one]), (shown[other], texts[other]), n)),
        }
        for n, (one, other, value, score) in enumerate(links[:4])
    ]
    return {
        **_common(
            "clustering",
            "texts/",
            f"{count} texts seem to be by {max(labels) + 1} authors.",
            "byline cluster texts/ -o out/",
        ),
        "names": shown,
        "ids": shown,
        "labels": labels,
        "threshold": 2.0,
        "cut": cut,
        "links": links,
        "pairs": pairs,
        "texts": [{"characters": len(text), "shown": len(text), "packed": pack({"text": text})} for text in texts],
        "clusters": [
            {
                "label": label,
                "mean": 3.4,
                "weakest": 2.2,
                "strongest": 4.5,
                "pairs": [n for n, pair in enumerate(pairs) if labels[pair["one"]] == labels[pair["other"]] == label],
                "words": [["whilst", 31.4, 3], [shown[0], 12.5, 2]],
                "features": [["; an", 2], [shown[1], 1]],
            }
            for label in sorted(set(labels))
            if labels.count(label) > 1
        ],
        "members": [
            {"member": n, "name": name, "seed": None, "additive": n == 1, "made_by": {"byline": "0.7.0"}}
            for n, name in enumerate(("ngram", "vectors"), start=1)
        ],
        "tree": {"merges": merges, "order": order},
        "heatmap": {
            "rows": [shown[n] for n in order],
            "columns": [shown[n] for n in order],
            "row_title": "text",
            "column_title": "text",
            "values": [[None if a == b else link[a][b] for b in order] for a in order],
            "asked": [],
        },
    }


def rolling(authors: Sequence[str] = AUTHORS) -> dict[str, Any]:
    document = "novel.txt"
    text = "\n\n".join((*builtin_texts()[:3], *builtin_texts()[9:11], builtin_texts()[2]))
    chance, step, passages = random.Random("rolling"), 500, []
    changes = [len(text) * 3 // 7, len(text) * 5 // 7]
    for begin in range(0, max(1, len(text) - 3 * step + 1), step):
        middle = begin + 1.5 * step
        writer = 1 if changes[0] < middle < changes[1] else 0
        weights = [chance.random() * (6 if n == writer else 1) for n in range(len(authors))]
        ranking = sorted(
            ([author, round(w / sum(weights), 3)] for author, w in zip(authors, weights, strict=True)),
            key=lambda pair: -pair[1],
        )
        passages.append(
            {"begin": begin, "end": min(len(text), begin + 3 * step), "author": ranking[0][0], "ranking": ranking}
        )
    ends = [0, *changes, len(text)]
    spans = list(pairwise(ends))
    texts = texts_of([(document, text[begin:end]) for begin, end in spans], None, 0.25, "rolling")
    return {
        **_common(
            "rolling",
            document,
            f"The hand seems to change twice; most of the text is attributed to {authors[0]}.",
            "byline rolling authors.model novel.txt",
        ),
        "document": document,
        "length": len(text),
        "passages": passages,
        "stretches": [
            {
                "begin": begin,
                "end": end,
                "author": authors[n % 2 % len(authors)],
                "probability": 0.71 + n / 20,
                "bits": 81.5 - 90 * n,
            }
            for n, (begin, end) in enumerate(spans)
        ],
        "changes": changes,
        "strongest": texts["passages"],
        "packed": pack(texts),
        "language": "english",
        "authors": list(authors),
    }


def sparse(kind: str) -> dict[str, Any]:
    """As little as a report may hold: one of everything, and nothing known of it."""
    if kind == "verification":
        report_data = verification(1, truth=False, calibrated=False)
        report_data["problems"][0].update(
            answer=0.5, score=None, verdict="undecided", members=[], cohort=None, packed=None, warnings=[], known=[]
        )
        report_data.update(decisions=[], heatmaps=[], learning=[], members=[], languages=[], warnings=[], limits=[])
    elif kind == "attribution":
        report_data = attribution(1, AUTHORS[:1])
        row = {key: report_data["documents"][0][key] for key in ("name", "probability", "none", "statement")}
        report_data["documents"] = [{**row, "author": None, "packed": None, "ranking": [[AUTHORS[0], 0.4, None]]}]
        report_data.update(none_line=None, known_as=None, members=[])
    elif kind == "clustering":
        report_data = clustering(3)
        report_data.update(labels=[0, 1, 2], links=[], tree={"merges": [], "order": [0, 1, 2]}, heatmap=None)
        report_data.update(texts=[], pairs=[], clusters=[], members=[])
    else:
        report_data = rolling(AUTHORS[:1])
        passage = {"begin": 0, "end": 300, "author": AUTHORS[0], "ranking": [[AUTHORS[0], 1.0]]}
        stretch = {"begin": 0, "end": 300, "author": AUTHORS[0], "probability": 1.0}
        report_data.update(packed=None, strongest=[], passages=[passage], stretches=[stretch], changes=[], length=300)
    return {**report_data, "provenance": {"command": "byline", "settings": {}, "files": {}}}


def hostile_report(kind: str) -> dict[str, Any]:
    """A real report of a small model whose names and texts would do harm if they were more than text."""
    attack = " ".join(attack for attack in HOSTILE if "\ud83d" not in attack)
    about = {"title": attack, "source": attack, "byline": "0", "made": "now", "provenance": {"command": attack}}
    members = (Settings(engine="ngram", order=4), Settings(engine="vectors"), Settings(engine="linear"))
    if kind == "clustering":
        letters = [Document(f"{HOSTILE[n]} {n}", f"{phrase(n // 3, 500, n)} {attack} {n}") for n in range(9)]
        return clustering_report(cluster_documents(letters, members[:2], "english"), about, letters)
    known = [
        Document(f"{HOSTILE[author]} {salt}", f"{phrase(author, 700, salt)} {HOSTILE[author]}")
        for author in range(4)
        for salt in range(3)
    ]
    model = train_authors(make_author_corpus(known, [HOSTILE[n // 3] for n in range(12)], "english"), members)
    text = f"{phrase(1, 900, 8)} {attack} {phrase(2, 900, 9)} {attack}"
    if kind == "attribution":
        texts = [Document(HOSTILE[0], text), Document(HOSTILE[9], f"{text} {attack}")]
        return attribution_report(model, texts, attribute(model, texts), 0.1, about)
    book = Document(HOSTILE[1], text)
    return rolling_report(model, book, roll(model, book, 500, 200, 0.3), about)


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
        read_pool("cohort").only(["ngram", "spread"]) if beside else read_pool("best").only(["ngram", "vectors"]),
        members=3 if beside else 4,
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

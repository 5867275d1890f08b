"""What it takes to repeat a result: command, settings, versions, and hashes of files and texts."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from byline.corpora.documents import Document
from byline.judgment.likelihood_ratio import EVEN
from byline.report.page import short_names
from byline.runs.folder import PLAN, POOL, RunFolder
from byline.runs.member_files import describe
from byline.runs.plan import describe_environment
from byline.runs.run import Run
from byline.settings.settings import ADDITIVE, Settings
from byline.storage.files import sha256


def run_provenance(run: Run, command: Sequence[str] | None) -> dict[str, Any]:
    """Return the command, by default the run's, the settings, and the hashes of a run's files and texts."""
    plan = run.plan
    words, template = (command, False) if command else _verify_command(run)
    files = {PLAN: sha256((run.folder / PLAN).read_bytes())}
    folder = RunFolder(run.folder, plan)
    for record in run.records:
        home = folder.path(record.member, record.group)
        hashes = describe(home)["files"]
        files |= {f"{home.relative_to(run.folder).as_posix()}/{name}": digest for name, digest in hashes.items()}
    return {
        "command": shlex.join(words),
        "template": template,
        "settings": _settings([member.settings for member in plan.members]),
        "seed": plan.members[0].seed,
        "preset": plan.preset,
        "inputs": plan.inputs,
        "files": files,
        "texts": {
            name: _hashes((problem.unknown, *problem.known), shorten=True) for name, problem in run.problems.items()
        },
    }


def _settings(members: Sequence[Settings]) -> dict[str, Any]:
    return {str(number): asdict(member) for number, member in enumerate(members, start=1)}


def _hashes(documents: Sequence[Document], shorten: bool = False) -> list[list[str]]:
    """Return name and hash of each text as it was read, in UTF-8."""
    names = [document.name for document in documents]
    return [
        [name, sha256(document.text.encode(errors="surrogatepass"))]
        for name, document in zip(short_names(names) if shorten else names, documents, strict=True)
    ]


def _verify_command(run: Run) -> tuple[Sequence[str], bool]:
    """Return the command that repeats a run as it was given, and False; if there was none, a template and True.

    Words in capitals stand for names that were not kept.

    A time budget buys different numbers of members on different machines, so there the template names the number.
    """
    plan, request = run.plan, run.plan.request
    if request.combined:
        words = ["byline", "combine", *request.combined, "-o", "OUT"]
        said = plan.judgment.interpretation
        return (*words, *(["--interpret", said] if said != "cohort" else [])), True
    if plan.command and not plan.budget:
        return plan.command, False
    single = plan.judgment.interpretation == "cohort" and sum(len(group.ids) for group in plan.groups) == 1
    words = ["byline", "verify", *(["--known", "KNOWN", "--unknown", "UNKNOWN"] if single else ["PROBLEMS"])]
    words += ["-o", "OUT", "--preset", str(run.folder / POOL)]
    words += ["--members", str(len(plan.members)), "--seed", str(plan.members[0].seed)]
    languages = {group.language for group in plan.groups}
    words += ["--language", *languages] if len(languages) == 1 else []
    words += ["--skip-bad"] if plan.skipped else []
    words += ["--mask-shared"] if request.mask_shared else []
    words += ["--interpret", plan.judgment.interpretation]
    words += ["--prior", repr(plan.judgment.prior)] if plan.judgment.prior != EVEN else []
    words += ["--calibration", "CALIBRATION"] if request.judgment.get("calibration") else []
    words += ["--control", "CONTROL"] if request.control else []
    words += ["--reference", "REFERENCE"] if request.reference else []
    return words, True


def member_values(
    members: Sequence[Settings], seed: int | None, weights: Sequence[float] | None = None
) -> list[dict[str, Any]]:
    """Return the members of a report; `weights` are what each counts."""
    return [
        {
            "member": number,
            "name": member.engine_name,
            "seed": seed,
            "weight": None if weights is None else round(weights[number - 1], 4),
            "additive": member.engine in ADDITIVE,
            "made_by": describe_environment(),
        }
        for number, member in enumerate(members, start=1)
    ]


def texts_provenance(
    about: Mapping[str, Any],
    members: Sequence[Settings],
    seed: int | None,
    texts: Mapping[str, Sequence[Document]],
    facts: Mapping[str, object],
) -> dict[str, Any]:
    """Return settings, hashes of the texts by their role, and further facts; what `about` says takes precedence."""
    found: dict[str, Any] = {
        "settings": _settings(members),
        "texts": {role: _hashes(documents) for role, documents in texts.items() if documents},
        "facts": [[name, value] for name, value in facts.items()],
    }
    if seed is not None:
        found["seed"] = seed
    return {**found, **about.get("provenance", {})}

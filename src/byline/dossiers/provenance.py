"""What it takes to make a run's answers again, and hashes to see that nothing was changed."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from byline.dossiers.parts import short_names
from byline.figures.sources import Run
from byline.likelihood import EVEN
from byline.memberfiles import describe
from byline.problems import Problem
from byline.runs import FOLDER, PLAN, POOL, Record, RunFolder
from byline.storage import sha256


class Command(NamedTuple):
    """What makes a run's answers again."""

    words: Sequence[str]
    template: bool = False
    """Some of the words stand for names that were not kept."""


def provenance_values(
    run: Run, records: Sequence[Record], problems: Mapping[str, Problem], command: Command
) -> dict[str, Any]:
    """The command, the settings, and the hashes of the run's files and of its texts."""
    plan = run.plan
    files = {PLAN: sha256((run.folder / PLAN).read_bytes())}
    folder = RunFolder(run.folder, plan)
    for record in records:
        home = folder.path(record.member, record.group)
        hashes = describe(home)["files"]
        files |= {f"{home.relative_to(run.folder).as_posix()}/{name}": digest for name, digest in hashes.items()}
    return {
        "command": shlex.join(command.words),
        "template": command.template,
        "settings": {str(number): asdict(member.settings) for number, member in enumerate(plan.members, start=1)},
        "seed": plan.members[0].seed,
        "preset": plan.preset,
        "inputs": plan.inputs,
        "files": files,
        "texts": {name: _text_hashes(problem) for name, problem in problems.items()},
    }


def _text_hashes(problem: Problem) -> list[list[str]]:
    """Name and hash of each text as it was read, in UTF-8, the unknown one first."""
    documents = (problem.unknown, *problem.known)
    names = short_names([document.name for document in documents])
    return [
        [name, sha256(document.text.encode(errors="surrogatepass"))]
        for name, document in zip(names, documents, strict=True)
    ]


def verify_command(run: Run, path: Path) -> Command:
    """What makes the answers again: the command as it was given, or a template where there was none.

    How many members fit a time is not the same on every machine, so there the template names them.
    """
    plan, request = run.plan, run.plan.request
    if "combined" in request:
        words = ["byline", "combine", *map(str, request["combined"]), "-o", "OUT"]
        said = plan.manner.interpretation
        return Command((*words, *(["--interpret", said] if said != "cohort" else [])), template=True)
    if plan.command and not plan.budget:
        return Command(plan.command)
    settled = path / POOL if run.folder == path else path / FOLDER / POOL
    single = plan.manner.interpretation == "cohort" and sum(len(group.ids) for group in plan.groups) == 1
    words = ["byline", "verify", *(["--known", "KNOWN", "--unknown", "UNKNOWN"] if single else ["PROBLEMS"])]
    words += ["-o", "OUT", "--preset", str(settled)]
    words += ["--members", str(len(plan.members)), "--seed", str(plan.members[0].seed)]
    languages = {group.language for group in plan.groups}
    words += ["--language", *languages] if len(languages) == 1 else []
    words += ["--skip-bad"] if plan.skipped else []
    words += ["--mask-shared"] if request.get("mask_shared") else []
    words += ["--interpret", plan.manner.interpretation]
    words += ["--prior", repr(plan.manner.prior)] if plan.manner.prior != EVEN else []
    words += ["--calibration", "CALIBRATION"] if (request.get("manner") or {}).get("calibration") else []
    words += [word for key in ("control", "reference") if request.get(key) for word in (f"--{key}", key.upper())]
    return Command(tuple(words), template=True)

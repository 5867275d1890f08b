"""A self-test: each engine answers the built-in problems as it should, and a report is written and read."""

from __future__ import annotations

import errno
import json
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from typing import Any

from byline.corpora.problems import builtin_problems
from byline.diagnostics.installation import Finding, Section, first_line
from byline.errors import RunError

TESTS: dict[str, tuple[dict[str, Any], float]] = {
    "ngram": ({"engine": "ngram"}, 1e-6),
    "vectors": ({"engine": "vectors"}, 1e-6),
    "rnn": ({"engine": "rnn", "hidden": 20, "sub_epochs": 4}, 0.05),
}
"""For each engine its settings, and how far an answer may be off on another processor; see docs/reliability.md."""
REINSTALL = "install Byline again; if that is of no use, say what byline doctor --json prints"


def stored_answers() -> dict[str, dict[str, float]]:
    """For each engine the answers to the built-in problems, as they should be."""
    answers: dict[str, dict[str, float]] = json.loads((files("byline.diagnostics") / "answers.json").read_text("utf-8"))
    return answers


def try_answers() -> Section:
    """Each engine answers the built-in problems; a report of it is written and read."""
    findings = []
    figures: dict[str, dict[str, float]] = {}
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(builtin_problems("english"))
            home = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        except OSError as error:
            said = f"can't be made ({first_line(error)})"
            return Section("Self-test", (Finding("temporary folder", said, "broken", _make_room()),))
        for engine in TESTS:
            try:
                figures[engine] = answer(engine, folder, home / engine)
                findings.append(compare(engine, figures[engine], stored_answers()[engine]))
            except Exception as error:  # whatever a broken installation raises
                findings.append(_fault(engine, error))
        findings.append(_try_report(home / "ngram", home / "report.html"))
    return Section("Self-test", tuple(findings), figures)


def _fault(name: str, error: Exception) -> Finding:
    """What keeps a part from its work: a folder that can't be written to, or else the installation."""
    # an error of the system without a number is a library's own, and what is not found is missing in the package
    unwritable = isinstance(error, OSError) and error.errno not in (None, errno.ENOENT)
    remedy = _make_room() if unwritable or isinstance(error, RunError) else REINSTALL
    return Finding(name, f"failed ({first_line(error)})", "broken", remedy)


def _make_room() -> str:
    """What to do about the temporary folder."""
    try:
        place = tempfile.gettempdir()
    except OSError:  # there is none
        return "name a folder that can be written to in TMPDIR"
    return f"see that {place} has room and can be written to, or name another folder in TMPDIR"


def answer(engine: str, folder: Path, run: Path) -> dict[str, float]:
    """The answers of one engine by the ids of the problems."""
    from byline.runs.executor import Execution
    from byline.runs.folder import RunOutput
    from byline.runs.request import JudgmentRequest
    from byline.settings.settings import Settings
    from byline.tasks.verify import verify

    settings = Settings(**TESTS[engine][0])
    kept = RunOutput(run) if engine == "ngram" else None
    result = verify(folder, settings, judgment=JudgmentRequest("relative"), output=kept, execution=Execution(workers=1))
    return {each.id: each.value for each in result.answers}


def compare(engine: str, given: Mapping[str, float], stored: Mapping[str, float]) -> Finding:
    """Whether answers are those that they should be."""
    most = TESTS[engine][1]
    if set(given) != set(stored):
        return Finding(engine, "other problems were answered than are built in", "broken", REINSTALL)
    if wrong := [name for name in stored if not abs(given[name] - stored[name]) <= most]:  # not a number is wrong too
        first = wrong[0]
        said = f"{first} is {given[first]:.6f} and should be {stored[first]:.6f}, give or take {most:g}"
        return Finding(engine, said, "broken", REINSTALL)
    return Finding(engine, f"{len(stored)} answers as they should be, give or take {most:g}")


def _try_report(run: Path, path: Path) -> Finding:
    from byline.report.verification import report_run

    try:
        report_run(run, path)
        page = path.read_text("utf-8")
    except Exception as error:  # whatever a broken installation raises
        return _fault("report", error)
    if not page.rstrip().endswith("</html>") or any(name not in page for name in stored_answers()["ngram"]):
        return Finding("report", "written, but not whole", "broken", REINSTALL)
    return Finding("report", f"written and read, {len(page) / 1e6:.1f} MB")

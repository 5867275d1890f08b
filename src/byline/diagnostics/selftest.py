"""A self-test: each engine must answer the built-in problems as stored here, and a report is written and read."""

from __future__ import annotations

import errno
import json
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from typing import Any

import byline
from byline.diagnostics import Finding, Section, describe_error
from byline.errors import RunError

TESTS: dict[str, tuple[dict[str, Any], float]] = {
    "ngram": ({"engine": "ngram"}, 1e-6),
    "vectors": ({"engine": "vectors"}, 1e-6),
    "rnn": ({"engine": "rnn", "hidden": 20, "sub_epochs": 4}, 0.05),
}
"""For each engine its settings, and the largest difference on other processors; see docs/reliability.md."""
REINSTALL = "install Byline again; if that does not help, report the output of byline doctor --json"


def stored_answers() -> dict[str, dict[str, float]]:
    """Return the correct answers to the built-in problems, for each engine."""
    answers: dict[str, dict[str, float]] = json.loads((files("byline.diagnostics") / "answers.json").read_text("utf-8"))
    return answers


def run_selftest() -> Section:
    """Answer the built-in problems with each engine, and write and read a report of it."""
    findings = []
    figures: dict[str, dict[str, float]] = {}
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(byline.builtin_problems("english"))
            home = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        except OSError as error:
            said = f"can't be made ({describe_error(error)})"
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
    """Return the finding about an error: a folder that can't be written to, or a broken installation."""
    # a library's own OSError has no number, and a file that is not found is missing in the package
    unwritable = isinstance(error, OSError) and error.errno not in (None, errno.ENOENT)
    remedy = _make_room() if unwritable or isinstance(error, RunError) else REINSTALL
    return Finding(name, f"failed ({describe_error(error)})", "broken", remedy)


def _make_room() -> str:
    """Return the remedy for the temporary folder."""
    try:
        place = tempfile.gettempdir()
    except OSError:  # there is none
        return "name a folder that can be written to in TMPDIR"
    return f"see that {place} has room and can be written to, or name another folder in TMPDIR"


def answer(engine: str, folder: Path, run: Path) -> dict[str, float]:
    """Return the answers of one engine by the ids of the problems."""
    settings = byline.Settings(**TESTS[engine][0])
    judgment, execution = byline.JudgmentRequest("relative"), byline.Execution(workers=1)
    output = byline.RunOutput(run) if engine == "ngram" else None
    result = byline.verify(folder, settings, judgment=judgment, output=output, execution=execution)
    return {each.id: each.value for each in result.answers}


def compare(engine: str, given: Mapping[str, float], stored: Mapping[str, float]) -> Finding:
    """Check answers against the stored ones."""
    most = TESTS[engine][1]
    if set(given) != set(stored):
        return Finding(engine, "answered other problems than the built-in ones", "broken", REINSTALL)
    if wrong := [name for name in stored if not abs(given[name] - stored[name]) <= most]:  # NaN is wrong too
        first = wrong[0]
        said = f"{first} is {given[first]:.6f} and should be {stored[first]:.6f}, give or take {most:g}"
        return Finding(engine, said, "broken", REINSTALL)
    return Finding(engine, f"{len(stored)} answers are correct, give or take {most:g}")


def _try_report(run: Path, path: Path) -> Finding:
    try:
        byline.report_run(run, path)
        page = path.read_text("utf-8")
    except Exception as error:  # whatever a broken installation raises
        return _fault("report", error)
    if not page.rstrip().endswith("</html>") or any(name not in page for name in stored_answers()["ngram"]):
        return Finding("report", "written, but incomplete", "broken", REINSTALL)
    return Finding("report", f"written and read, {len(page) / 1e6:.1f} MB")

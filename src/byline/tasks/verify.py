"""Verification: the problems of a set are answered by an ensemble."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from byline.corpora.answers import write_answers
from byline.corpora.documents import Document
from byline.corpora.overlaps import RemovedPassages, remove_shared_passages
from byline.corpora.problems import ProblemSet, read_problems, read_texts
from byline.corpora.reference import Reference
from byline.corpora.reference_building import read_reference
from byline.engines.language_groups import lay_out_groups
from byline.errors import SettingsError
from byline.judgment.checks.cautions import Cautions
from byline.judgment.checks.problem_checks import find_cautions
from byline.judgment.interpretation import JudgmentOptions
from byline.runs.executor import Execution, Interrupted, RunExecutor, Verification
from byline.runs.folder import (
    CAUTIONS,
    TEXTS,
    RunOutput,
    cautions_bytes,
    has_run,
    lock_run,
    prepare_run,
    problem_lines,
    read_plan,
    replace_run,
    require_run_folder,
)
from byline.runs.plan import Plan
from byline.runs.request import Ensemble, JudgmentRequest, Request
from byline.runs.workers import cluster_size, count_cores
from byline.settings.settings import Pool, Settings, pool_of, read_pool, usual_preset
from byline.storage.files import remove, write_files
from byline.storage.process import require_memory

log = logging.getLogger(__name__)


def verify(
    problems: ProblemSet | Path | str,
    preset: str | Path | Pool | Settings | None = None,
    *,
    members: int | None = None,
    budget: float | None = None,
    seed: int = 0,
    reference: Reference | Path | str | None = None,
    control: Sequence[Document] | Path | str = (),
    judgment: JudgmentRequest = JudgmentRequest(),  # noqa: B008 - frozen
    skip_bad: bool = False,
    mask_shared: bool = False,
    output: RunOutput | None = None,
    execution: Execution = Execution(),  # noqa: B008 - frozen
) -> Verification:
    """Answer problems with an ensemble: did the author of the known texts write the unknown one?

    Problems of different languages are answered separately.

    Parameters
    ----------
    problems
        A problem set, or the folder or file to read it from.
    preset
        The name of a preset, a pool, or the settings of all members (default: `cohort` with a reference population,
        otherwise `best`).
    members
        The number of members (default: set by the preset).
    budget
        Seconds. As many members are trained as fit.
    reference
        Texts by other people. Each problem is compared with them only, not with the other problems.
    control
        Further texts of the same language, without a reference population.
    judgment
        How scores become answers.
    skip_bad
        Answer 0.5 for problems that can't be used, instead of raising an error that lists them.
    mask_shared
        Leave passages that both sides of a problem share out of its texts.
    output
        The run folder to write, if any.
    execution
        How the members are trained. The answers do not depend on it.
    """
    pool = _as_pool(usual_preset(reference is not None) if preset is None else preset)
    ensemble = Ensemble(pool, members, budget, seed)
    options = judgment.resolve(ensemble, reference is not None)
    if isinstance(problems, Path | str):
        problems = read_problems(Path(problems))
    if isinstance(control, Path | str):
        control = read_texts(Path(control))
    if isinstance(reference, Path | str):
        reference = read_reference(Path(reference))
    _check_reference(options, reference, control)
    at_once = 1 if execution.cluster else min(execution.workers or count_cores(), ensemble.count or len(pool.rows))
    require_memory(_count_characters(problems, control, reference), at_once)
    omissions: dict[str, tuple[RemovedPassages, ...]] = {}
    if mask_shared:
        problems, omissions = remove_shared_passages(problems, alone=reference is not None)
    groups, offences = lay_out_groups(problems, pool.rows, control, skip_bad, reference, options.interpretation)
    for group in groups:
        for side in group.prepared(pool.rows[0]).sides:
            log.info("%s: %d heads, %d documents", group.language, len(side.heads), len(side.documents))
    slots = cluster_size(execution.cluster) if execution.cluster else None  # fails before anything is written
    request = Request(
        ensemble, options, problems.layout, groups, offences, control, reference.fingerprint if reference else None,
        skip_bad, mask_shared,
    )  # fmt: skip
    answered = [problem for group in groups for problem in group.problems]
    cautions = find_cautions(answered, reference, control, omissions) if execution.cautions else None
    if output is None:
        plan = request.make_plan(execution.workers, slots)
        return RunExecutor(plan, request, None, execution, cautions).run()
    with lock_run(output.folder):
        if output.resume and has_run(output.folder):
            plan = read_plan(output.folder)
            request.require_same(plan, output.folder)
            write_files(output.folder, _problem_files(request, plan, cautions, output.evidence))
            if not output.evidence:
                remove(output.folder / TEXTS)
        else:
            require_run_folder(output.folder, output.overwrite)
            if output.resume:
                log.warning("%s: there is no run to resume; a new one begins", output.folder)
            plan = replace(request.make_plan(execution.workers, slots), command=output.command)
            with prepare_run(output.folder, plan) as new:
                write_files(new.folder, _problem_files(request, plan, cautions, output.evidence))
                replace_run(output.folder, output.answers)
        try:
            result = RunExecutor(plan, request, output, execution, cautions).run()
        except Interrupted as stopped:
            _write_answers(output, stopped.result)
            raise
        _write_answers(output, result)
        return result


def _write_answers(output: RunOutput, result: Verification | None) -> None:
    if output.answers and result is not None:
        write_answers(output.folder.parent, result.answers, result.layout)


def _problem_files(request: Request, plan: Plan, cautions: Cautions | None, evidence: bool) -> dict[str, bytes]:
    """Return the files of texts and cautions by name."""
    files = {}
    if evidence:
        files[TEXTS] = problem_lines([problem for group in request.groups for problem in group.problems])
    if cautions is not None:
        files[CAUTIONS] = cautions_bytes(cautions, plan, quotes=evidence)
    return files


def _count_characters(problems: ProblemSet, control: Sequence[Document], reference: Reference | None = None) -> int:
    """Count the characters of all different texts. A text that several problems have is held once."""
    asked = {document.text for problem in problems.problems for document in (problem.unknown, *problem.known)}
    others = {text.document.text for text in reference.texts} if reference else set()
    return sum(map(len, asked | others | {document.text for document in control}))


def _check_reference(judgment: JudgmentOptions, reference: Reference | None, control: Sequence[Document]) -> None:
    """Raise SettingsError if a reference population is missing or would not be used."""
    if judgment.interpretation == "cohort":
        if reference is None:
            raise SettingsError("cohort needs a reference population", remedy="Give one with {reference}")
        if control:
            raise SettingsError(
                "a control corpus is not used with a reference population", remedy="Give its texts with {reference}"
            )
    elif reference is not None:
        raise SettingsError(
            f"a reference population is not used by {judgment.interpretation}",
            remedy="Give cohort with {interpret}, or leave it out",
        )


def _as_pool(preset: str | Path | Pool | Settings) -> Pool:
    if isinstance(preset, Pool):
        return preset
    return pool_of(preset) if isinstance(preset, Settings) else read_pool(preset)

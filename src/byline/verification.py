"""From problems to answers: the whole way through the house in one function."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from byline.calibration import Calibration
from byline.cautions import find_cautions
from byline.cautions.file import cautions_bytes
from byline.documents import Document
from byline.ensemble import check_budget, count_cores
from byline.errors import RunError
from byline.execution import Execution, Keep, Report, Verification
from byline.groups import lay_out_groups
from byline.keepsakes import problem_lines
from byline.likelihood import EVEN
from byline.memory import require_memory
from byline.plans import Manner
from byline.pools import Pool, pool_of, read_pool, require_members
from byline.problems import ProblemSet, read_problems, read_texts
from byline.quotations import Omission, leave_out_shared
from byline.reference import Reference, read_reference
from byline.requests import Request, calibrated, cant_resume
from byline.runs import CAUTIONS, TEXTS, hold, is_run, read_plan, require_vacant, start
from byline.settings import Interpretation, Settings
from byline.storage import write_files
from byline.workers import cluster_size

log = logging.getLogger(__name__)


def verify(
    problems: ProblemSet | Path | str,
    preset: str | Path | Pool | Settings | None = None,
    *,
    members: int | None = None,
    budget: float | None = None,
    seed: int = 0,
    interpret: Interpretation | None = None,
    prior: float = EVEN,
    calibration: Calibration | None = None,
    control: Sequence[Document] | Path | str = (),
    reference: Reference | Path | str | None = None,
    language: str | None = None,
    skip_bad: bool = False,
    mask_shared: bool = False,
    cautions: bool = True,
    keep: Keep | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    report: Report | None = None,
) -> Verification:
    """Answer all problems with an ensemble: train, score, interpret, and answer.

    The ensemble's members come from a preset (`best`, or beside a reference `cohort`), a pool of one's own, or one
    setting; how many is said by `members`, or found to fit `budget` seconds. `interpret` says how their matrices are
    read; without it, the preset does. Answers are calibrated by `calibration`, or by the built-in one where it fits.
    With a `reference` population every problem is answered by itself, compared with that only. Problems of different
    languages are answered apart; `language` overrides what a corpus says of itself when `problems` is a path. With
    `skip_bad`, problems that can't be used are answered 0.5; otherwise they raise, all named at once. `mask_shared`
    leaves passages that both sides of a problem share out of its texts before anything else is done; `cautions` says
    whether to look for what speaks against believing the answers, which beside a large reference takes some seconds.
    `keep` writes a run folder; members are trained by `workers` of this machine's cores or by the Dask cluster at an
    address, with the same result.
    """
    pool = _as_pool(preset if preset is not None else usual_preset(reference is not None))
    if members is not None and budget is not None:
        raise RunError("give members or a budget, not both")
    if seed < 0:
        raise RunError(f"seed must be 0 or more, got {seed}")
    if budget is not None:
        check_budget(budget)
    if reference is not None and interpret is None:
        interpret = "cohort"
    manner = Manner(interpret or pool.interpret, pool.radius, prior, calibration)
    count = members if members is not None or budget is not None else pool.members
    if count is not None:
        require_members(count)
    calibrated(manner, pool.take(count, seed) if count is not None else pool.rows)  # refused before anything is done
    if isinstance(problems, Path | str):
        problems = read_problems(Path(problems), language)
    if isinstance(control, Path | str):
        control = read_texts(Path(control))
    if isinstance(reference, Path | str):
        reference = read_reference(Path(reference), language)
    _check_reference(manner, reference, control)
    at_once = 1 if cluster else min(workers or count_cores(), count or len(pool.rows))
    require_memory(_count_characters(problems, control, reference), at_once)
    omissions: dict[str, tuple[Omission, ...]] = {}
    if mask_shared:
        problems, omissions = leave_out_shared(problems, alone=reference is not None)
    groups, offences = lay_out_groups(problems, pool.rows, control, skip_bad, reference, manner.interpretation)
    for group in groups:
        for side in group.prepared(pool.rows[0]).sides:
            log.info("%s: %d heads, %d documents", group.language, len(side.heads), len(side.documents))
    slots = cluster_size(cluster) if cluster else None  # one that can't work is refused before anything is written
    population = reference.fingerprint if reference else None
    request = Request(
        pool, manner, count, budget, seed, problems.layout, groups, offences, control, population, skip_bad, mask_shared
    )
    answered = [problem for group in groups for problem in group.problems]
    found = find_cautions(answered, reference, control, omissions) if cautions else None
    if keep is None:
        return Execution(request.settle(workers, slots), request, None, report, found).run(workers, cluster)
    with hold(keep.folder):
        begun = is_run(keep.folder) and keep.resume
        if begun:
            plan = read_plan(keep.folder)
            if "combined" in plan.request:
                raise RunError(f"{keep.folder}: was joined from other runs by byline combine; go on with one of those")
            if changed := request.differences(plan):
                raise RunError(cant_resume(keep.folder, plan, changed))
        else:
            if not keep.overwrite:
                require_vacant(keep.folder, "; go on with it by --resume, or replace it by --overwrite")
            if keep.resume:
                log.warning("%s: there is no run to go on with; a new one begins", keep.folder)
            plan = replace(request.settle(workers, slots), command=keep.command)
        beside = {TEXTS: problem_lines(answered)} if keep.evidence else {}
        if found is not None:
            beside[CAUTIONS] = cautions_bytes(found, plan, quotes=keep.evidence)
        if begun:
            write_files(keep.folder, beside)
        else:
            start(keep.folder, plan, beside, answered=keep.answered)
        return Execution(plan, request, keep, report, found).run(workers, cluster)


def _count_characters(problems: ProblemSet, control: Sequence[Document], reference: Reference | None = None) -> int:
    """Of all different texts: one that several problems have is held once."""
    asked = {document.text for problem in problems.problems for document in (problem.unknown, *problem.known)}
    beside = {text.document.text for text in reference.texts} if reference else set()
    return sum(map(len, asked | beside | {document.text for document in control}))


def _check_reference(manner: Manner, reference: Reference | None, control: Sequence[Document]) -> None:
    """Refuse a reference that is not used, or missing."""
    if manner.interpretation == "cohort":
        if reference is None:
            raise RunError("cohort compares with a reference population; give one with --reference DIR")
        if control:
            raise RunError("with a reference population no control corpus is used; give its texts as --reference")
    elif reference is not None:
        raise RunError(f"a reference population is not used by {manner.interpretation}; give --interpret cohort")


def usual_preset(reference: bool) -> str:
    """The preset where none is named."""
    return "cohort" if reference else "best"


def _as_pool(preset: str | Path | Pool | Settings) -> Pool:
    if isinstance(preset, Pool):
        return preset
    return pool_of(preset) if isinstance(preset, Settings) else read_pool(preset)

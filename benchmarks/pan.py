"""Quality on PAN corpora: AUC, C@1, their product and seconds, for each corpus the mean over seeds.

    BYLINE_DATA=folder-of-corpora python benchmarks/pan.py          one member of the default settings
    python benchmarks/pan.py --set hidden=0 --name unigram          the same with a setting changed
    python benchmarks/pan.py --preset best --budget 3m              an ensemble, and its members one by one
    python benchmarks/pan.py --preset cohort --reference --seeds 1
                                                every problem by itself, compared with the other years' corpora only
    python benchmarks/pan.py --preset paper --control --corpora pan15 --name paper
    python benchmarks/pan.py --placebo          known sets exchanged between problems: AUC must be near .5
    python benchmarks/pan.py --preset best --runs DIR --again       read members that were kept anew, train nothing
    python benchmarks/pan.py --judge --name best    calibrate stored values anew, answer nothing
    python benchmarks/pan.py --table            print the stored results again, run nothing
    python benchmarks/pan.py --compare single,relu,tanh         print several of them side by side, run nothing

Each corpus and seed is stored in benchmarks/results/pan-NAME.json as soon as it is done, and not run again while
settings and program stay the same. Of presets that rank, both ways of ranking and a radius of undecided answers are
measured on the same trained networks. Of those that make scores relative, each corpus is answered with a calibration
that was fitted on the other corpora; `--preset best --runs DIR` keeps the members for benchmarks/ablation.py.
With --budget a corpus has all cores to itself; otherwise corpora run side by side.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np

import byline
from byline import __version__
from byline.corpora.answers import match_truth, read_truth
from byline.corpora.documents import Document
from byline.corpora.problems import Problem, read_problems, read_texts
from byline.corpora.reference_building import build_reference
from byline.errors import BylineError
from byline.judgment.interpretation import JudgmentOptions, answer_problems, score_sides
from byline.judgment.metrics import measure
from byline.runs.executor import Execution
from byline.runs.folder import RunOutput, read_members, read_plan
from byline.runs.member_files import Record
from byline.runs.plan import Plan
from byline.runs.request import parse_duration
from byline.settings.settings import Pool, Ranking, Settings, parse_assignments, pool_of, read_pool
from byline.tasks.verify import verify
from judging import Stored, calibrate, truths_by_corpus, values_by_id
from stored import RESULTS, commit, save

LANGUAGES = ("dutch", "english", "greek", "spanish")
# Ways of reading the same matrices: name, ranking, least radius of undecided answers.
VARIANTS: tuple[tuple[str, Ranking, float], ...] = (
    ("texts", "texts", 0.0),
    ("heads", "heads", 0.0),
    ("radius", "texts", 0.03),
)
# The packages that answers depend on, besides settings and presets, which are stored with the results.
MATTER = ("text", "corpora", "engines", "judgment", "runs")


def main() -> None:
    options = parse_options()
    if options.compare:
        names = options.compare.split(",")
        print_comparison({name: json.loads(results_of(name).read_text(encoding="utf-8")) for name in names})
        return
    path = results_of(options.name or default_name(options))
    if options.table:
        print_table(json.loads(path.read_text(encoding="utf-8")))
        return
    data = Path(os.environ.get("BYLINE_DATA") or sys.exit("set BYLINE_DATA to the folder that holds the corpora"))
    if options.again or options.judge:
        read_again(path, data, None if options.judge else options.runs)
        return
    stored = load(path, describe(options))
    corpora = sorted(child.name for child in data.iterdir() if (child / "truth.txt").exists())
    if options.corpora:
        corpora = [corpus for corpus in corpora if any(part in corpus for part in options.corpora.split(","))]
    done = {(row["corpus"], row["seed"]) for row in stored["runs"]}
    todo = [(corpus, seed) for seed in range(options.seeds) for corpus in corpora if (corpus, seed) not in done]
    with ProcessPoolExecutor(1 if options.budget else options.jobs) as pool:
        made_by = {"commit": commit(), "code": fingerprint()}  # before anything can change it
        jobs = [pool.submit(run, data, corpus, seed, options) for corpus, seed in todo]
        for job in as_completed(jobs):
            try:
                row = {**job.result(), **made_by}
            except BylineError as error:  # what is wrong with one corpus must not cost the others
                print(error, file=sys.stderr, flush=True)
                continue
            stored["runs"].append(row)
            if "values" in row:
                calibrate(stored["runs"], truths_by_corpus(stored["runs"], data))
            keep(path, stored)
            print(f"{row['corpus']} seed {row['seed']}: {row['seconds']} s", file=sys.stderr, flush=True)
    print_table(stored)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", help="a preset or pool; `paper` is the paper's pool of each corpus's language")
    parser.add_argument("--members", type=int, help="of the preset; without one, or a budget, the preset's own number")
    parser.add_argument("--budget", metavar="TIME", help="for each corpus, as in byline verify")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting, as in byline verify"
    )
    parser.add_argument("--control", action="store_true", help="with the other years' corpora of the same language")
    parser.add_argument("--reference", action="store_true", help="each problem by itself beside other years' corpora")
    parser.add_argument("--engines", help="only the preset's members of these engines, as in byline verify")
    parser.add_argument("--name", help="under which the results are stored")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--corpora", help="parts of corpus names, joined by commas")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="corpora run side by side")
    parser.add_argument("--runs", type=Path, metavar="DIR", help="keep the run folders there")
    parser.add_argument("--again", action="store_true", help="read the kept run folders anew, train nothing")
    parser.add_argument("--judge", action="store_true", help="calibrate stored values anew, answer nothing")
    parser.add_argument("--placebo", action="store_true", help="exchange known sets between problems")
    parser.add_argument("--table", action="store_true", help="print what is stored, run nothing")
    parser.add_argument("--compare", metavar="NAMES", help="print what is stored under these names, side by side")
    options = parser.parse_args()
    if not options.preset and (options.members or options.budget):
        parser.error("--members and --budget are of a --preset")
    if options.again and not options.runs:
        parser.error("--again reads the folders that --runs DIR kept")
    return options


def read_again(path: Path, data: Path, runs: Path | None) -> None:
    """Answers and measures of what is stored anew, and first its values, where the members that were kept are given."""
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for row in stored["runs"] if runs else ():
        kept = runs / f"{row['corpus']}-{row['seed']}"
        plan = read_plan(kept)
        engines = stored.get("engines")
        records = [
            record
            for record in read_members(kept, plan)
            if not engines or record.member.settings.engine in engines.split(",")
        ]
        row["values"] = relative_values(plan, records, sorted(read_truth(data / row["corpus"])))
        row |= {"read_by": commit(), "code": fingerprint()}
    calibrate(stored["runs"], truths_by_corpus(stored["runs"], data))
    keep(path, stored)
    print_table(stored)


def default_name(options: argparse.Namespace) -> str:
    return "placebo" if options.placebo else options.preset or "single"


def results_of(name: str) -> Path:
    return RESULTS / f"pan-{name}.json"


def describe(options: argparse.Namespace) -> dict[str, Any]:
    """What was measured, in plain values; results of something else are not mixed with it."""
    changes = parse_assignments(options.set)
    described: dict[str, Any] = {"version": __version__, "placebo": options.placebo, "control": options.control}
    if options.preset:
        names = [f"paper-{name}" for name in LANGUAGES] if options.preset == "paper" else [options.preset]
        pools = {name: [dataclasses.asdict(row) for row in read_pool(name).rows] for name in names}
        described |= {"members": options.members, "budget": options.budget, "set": changes, "pools": pools}
        described |= {"reference": True} if options.reference else {}
        described |= {"engines": options.engines} if options.engines else {}
    else:
        described["settings"] = dataclasses.asdict(Settings().change(changes))
    return described


def run(data: Path, corpus: str, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """One corpus, one seed: measures by way of reading, of all members together and of each by itself."""
    folder = data / corpus
    problems = read_problems(folder)
    language = problems.problems[0].language
    if options.placebo:
        exchanged = exchange(list(problems.problems), np.random.default_rng(seed))
        problems = dataclasses.replace(problems, problems=tuple(exchanged))
    pool = choose_pool(options, language)
    control = control_texts(data, corpus, language) if options.control else []
    reference = build_reference(other_years(data, corpus, language)) if options.reference else None
    budget = parse_duration(options.budget) if options.budget else None
    with tempfile.TemporaryDirectory() as scratch:
        kept = options.runs / f"{corpus}-{seed}" if options.runs else Path(scratch) / "run"
        begin = time.perf_counter()
        verify(
            problems, pool, members=options.members, budget=budget, seed=seed, control=control, reference=reference,
            skip_bad=True, output=RunOutput(kept, overwrite=True), execution=Execution(workers=None if budget else 1),
        )  # fmt: skip
        seconds = time.perf_counter() - begin
        plan = read_plan(kept)
        records = list(read_members(kept, plan))
    truth = read_truth(folder)
    row: dict[str, Any] = {"corpus": corpus, "seed": seed, "seconds": round(seconds, 1), "members": len(records)}
    if plan.judgment.interpretation != "rank":
        row["values"] = relative_values(plan, records, sorted(truth))
        row["alone"] = plan.judgment.interpretation == "cohort"
        return row
    for name, ranking, radius in VARIANTS:
        row[name] = judge(plan, records, ranking, radius, truth)
    row["member_products"] = [judge(plan, [record], "texts", 0.0, truth)["product"] for record in records]
    return row


def relative_values(plan: Plan, records: Sequence[Record], ids: Sequence[str]) -> Stored:
    """What a calibration is fitted to, for each problem of the truth by id."""
    (group,) = plan.groups
    way = plan.judgment.interpretation
    readings = [score_sides(record.sides, len(group.ids), record.member.settings, way) for record in records]
    return values_by_id(plan, readings, way, ids)


def choose_pool(options: argparse.Namespace, language: str) -> Pool:
    changes = parse_assignments(options.set)
    if not options.preset:
        return pool_of(Settings().change(changes))
    pool = read_pool(f"paper-{language}" if options.preset == "paper" else options.preset)
    return (pool.only(options.engines.split(",")) if options.engines else pool).change(changes)


def control_texts(data: Path, corpus: str, language: str) -> list[Document]:
    """The texts of the corpora of other years in the same language."""
    return [document for other in other_years(data, corpus, language) for document in read_texts(other)]


def other_years(data: Path, corpus: str, language: str) -> list[Path]:
    """The corpora of other years in the same language."""
    year = corpus.partition("-")[0]
    others = sorted(child for child in data.iterdir() if child.is_dir() and child.name.partition("-")[0] != year)
    return [other for other in others if read_problems(other).problems[0].language == language]


def judge(
    plan: Plan, records: Sequence[Record], ranking: Ranking, radius: float, truth: dict[str, bool]
) -> dict[str, float]:
    """Measures of some members' answers; a problem that can't be used has no answer, which counts as 0.5."""
    (group,) = plan.groups
    judgment = JudgmentOptions("rank", max(radius, plan.judgment.radius))
    settings = [record.member.settings.change({"ranking": ranking}) for record in records]
    readings = [
        score_sides(record.sides, len(group.ids), row, "rank") for record, row in zip(records, settings, strict=True)
    ]
    answers = answer_problems(group.ids, readings, judgment).answers
    measures = measure(*match_truth({answer.id: answer.value for answer in answers}, truth, "run"))
    return {key: round(getattr(measures, key), 4) for key in ("auc", "c_at_1", "product")}


def exchange(problems: list[Problem], rng: np.random.Generator) -> list[Problem]:
    """Each problem gets the known texts of another that shares no text with it: what is right is right by chance."""
    texts = [{document.text for document in (*problem.known, problem.unknown)} for problem in problems]
    exchanged = []
    for place, problem in enumerate(problems):
        donors = [donor for donor in problems if texts[place].isdisjoint(document.text for document in donor.known)]
        exchanged.append(dataclasses.replace(problem, known=donors[rng.integers(len(donors))].known))
    return exchanged


def load(path: Path, described: dict[str, Any]) -> dict[str, Any]:
    """What is stored under this name, as far as it was made by the same program."""
    if not path.exists():
        return {**described, "runs": []}
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if {key: value for key, value in stored.items() if key != "runs"} != json.loads(json.dumps(described)):
        sys.exit(f"{path} holds results of other settings; give --name, or remove it")
    stored["runs"] = [row for row in stored["runs"] if row["code"] == fingerprint()]
    return stored


def fingerprint() -> str:
    """Of everything in the package that answers depend on."""
    package = Path(byline.__file__).parent
    files = sorted(path for name in MATTER for path in (package / name).rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]


def keep(path: Path, stored: dict[str, Any]) -> None:
    stored["runs"].sort(key=lambda row: (row["corpus"], row["seed"]))
    save(path, stored)


def print_table(stored: dict[str, Any]) -> None:
    """A line for each corpus; of ensembles with their number of members and the mean of the members' own products."""
    if any("values" in row for row in stored["runs"]):
        print_relative(stored["runs"])
        return
    several = any(row["members"] > 1 for row in stored["runs"])
    corpora = sorted({row["corpus"] for row in stored["runs"]})
    columns = [("texts", "auc"), ("texts", "c_at_1"), ("texts", "product"), ("heads", "product"), ("radius", "product")]
    more = " members | members' own product |" if several else ""
    print(f"| corpus | seeds | AUC | C@1 | product | product, heads ranked | product, radius .03 | seconds |{more}")
    print("|---|---|---|---|---|---|---|---|" + ("---|---|" if several else ""))
    lines = []
    for corpus in corpora:
        rows = [row for row in stored["runs"] if row["corpus"] == corpus]
        means = [float(np.mean([row[variant][key] for row in rows])) for variant, key in columns]
        means.append(float(np.mean([row["seconds"] for row in rows])))
        if several:
            means.append(float(np.mean([row["members"] for row in rows])))
            means.append(float(np.mean([np.mean(row["member_products"]) for row in rows])))
        lines.append(means)
        print(f"| {corpus} | {len(rows)} | {_cells(means)} |")
    if lines:
        print(f"| plain mean | | {_cells(list(np.mean(lines, axis=0)))} |")


def print_relative(rows: Sequence[dict[str, Any]]) -> None:
    """A line for each corpus, of answers that were calibrated on the others."""
    print(
        "| corpus | seeds | AUC | C@1 | product | product of each seed | order's AUC | upper half yes | Cllr | seconds"
        " | members |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    lines = []
    for corpus in sorted({row["corpus"] for row in rows}):
        own = [row for row in rows if row["corpus"] == corpus and "relative" in row]
        if own:
            figures = [
                [*(row["relative"][key] for key in ("auc", "c_at_1", "product")), row["order"]["auc"],
                 row["order"]["product"], row["relative"]["cllr"], row["seconds"], row["members"]]
                for row in own
            ]  # fmt: skip
            lines.append(np.mean(figures, axis=0))
            each = " ".join(f"{row['relative']['product']:.3f}" for row in own)
            print(f"| {corpus} | {len(own)} | {_relative_cells(lines[-1].tolist(), each)} |")
    if lines:
        print(f"| plain mean | | {_relative_cells(np.mean(lines, axis=0).tolist(), '')} |")


def _relative_cells(means: list[float], each: str) -> str:
    figures = [f"{mean:.3f}" for mean in means[:6]] + [f"{mean:.0f}" for mean in means[6:]]
    return " | ".join([*figures[:3], each, *figures[3:]])


def print_comparison(stored: dict[str, dict[str, Any]]) -> None:
    """A line for each name: products by corpus, and their mean, of the corpora that were run under all names."""
    runs = {name: results["runs"] for name, results in stored.items()}
    corpora = sorted(set.intersection(*({row["corpus"] for row in rows} for rows in runs.values())))
    print(f"| | seeds | {' | '.join(corpus.replace('-train-', ' ') for corpus in corpora)} | mean AUC | mean product |")
    print("|---|---|" + "---|" * (len(corpora) + 2))
    for name, rows in runs.items():
        by_corpus = [[row for row in rows if row["corpus"] == corpus] for corpus in corpora]
        auc, product = (
            [np.mean([row["texts"][key] for row in part]) for part in by_corpus] for key in ("auc", "product")
        )
        cells = " | ".join(f"{value:.3f}" for value in [*product, np.mean(auc), np.mean(product)])
        print(f"| {name} | {min(map(len, by_corpus))} | {cells} |")


def _cells(means: list[float]) -> str:
    forms = [".3f"] * 5 + [".0f", ".0f", ".3f"]
    return " | ".join(format(mean, form) for mean, form in zip(means, forms, strict=False))


if __name__ == "__main__":
    main()

"""Quality on PAN corpora: AUC, C@1, their product and seconds, for each corpus the mean over seeds, one member each.

    BYLINE_DATA=folder-of-corpora python benchmarks/pan.py
    python benchmarks/pan.py --set hidden=0 --name unigram
    python benchmarks/pan.py --placebo          known sets exchanged between problems: AUC must be near .5
    python benchmarks/pan.py --table            print the stored results again, run nothing

Each corpus and seed is stored in benchmarks/results/pan-NAME.json as soon as it is done, and not run again while
settings and program stay the same. Both ways of ranking, and a radius of undecided answers, are measured on
the same trained networks.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np

import byline
from byline import __version__
from byline.answers import match_truth
from byline.interpret import centre, stretch
from byline.metrics import measure
from byline.problems import Problem, read_problems
from byline.questions import prepare_questions
from byline.settings import Settings, parse_assignments
from byline.truth import read_truth
from byline.verification import combine, fill_matrices

RESULTS = Path(__file__).parent / "results"
# Ways of reading the same matrix: name, ranking, radius of undecided answers.
VARIANTS = (("texts", "texts", 0.0), ("heads", "heads", 0.0), ("radius", "texts", 0.03))


def main() -> None:
    options = parse_options()
    name = options.name or ("placebo" if options.placebo else "default")
    path = RESULTS / f"pan-{name}.json"
    if options.table:
        print_table(json.loads(path.read_text(encoding="utf-8")))
        return
    settings = Settings().change(parse_assignments(options.set))
    stored = load(path, settings, options.placebo)
    data = Path(os.environ.get("BYLINE_DATA") or sys.exit("set BYLINE_DATA to the folder that holds the corpora"))
    corpora = sorted(child.name for child in data.iterdir() if (child / "truth.txt").exists())
    if options.corpora:
        corpora = [corpus for corpus in corpora if any(part in corpus for part in options.corpora.split(","))]
    done = {(row["corpus"], row["seed"]) for row in stored["runs"]}
    todo = [(corpus, seed) for seed in range(options.seeds) for corpus in corpora if (corpus, seed) not in done]
    with ProcessPoolExecutor(options.jobs) as pool:
        made_by = {"commit": commit(), "code": fingerprint()}  # before anything can change it
        jobs = [pool.submit(run, data / corpus, settings, seed, options.placebo) for corpus, seed in todo]
        for job in as_completed(jobs):
            row = {**job.result(), **made_by}
            stored["runs"].append(row)
            save(path, stored)
            print(f"{row['corpus']} seed {row['seed']}: {row['texts']['product']:.3f}", file=sys.stderr, flush=True)
    print_table(stored)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting, as in byline verify"
    )
    parser.add_argument("--name", help="under which the results are stored")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--corpora", help="parts of corpus names, joined by commas")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="corpora run side by side")
    parser.add_argument("--placebo", action="store_true", help="exchange known sets between problems")
    parser.add_argument("--table", action="store_true", help="print what is stored, run nothing")
    return parser.parse_args()


def run(folder: Path, settings: Settings, seed: int, placebo: bool) -> dict[str, object]:
    """One corpus, one seed: measures by ranking, and seconds of training and scoring on one core."""
    problems = list(read_problems(folder).problems)
    if placebo:
        problems = exchange(problems, np.random.default_rng(seed))
    prepared = prepare_questions(problems, settings)
    begin = time.perf_counter()
    matrices = fill_matrices(prepared.sides, settings, seed, members=1, workers=1)
    row: dict[str, object] = {"corpus": folder.name, "seed": seed, "seconds": round(time.perf_counter() - begin, 1)}
    truth = read_truth(folder)
    for name, ranking, radius in VARIANTS:
        scores = combine(matrices, prepared, settings.change({"ranking": ranking}))
        values = stretch(scores, centre(scores), radius)
        # a problem that can't be used has no answer, which counts as 0.5
        answers = {problem.id: float(value) for problem, value in zip(prepared.problems, values, strict=True)}
        measures = measure(*match_truth(answers, truth, folder.name))
        row[name] = {key: round(getattr(measures, key), 4) for key in ("auc", "c_at_1", "product")}
    return row


def exchange(problems: list[Problem], rng: np.random.Generator) -> list[Problem]:
    """Each problem gets the known texts of another that shares no text with it: what is right is right by chance."""
    texts = [{document.text for document in (*problem.known, problem.unknown)} for problem in problems]
    exchanged = []
    for place, problem in enumerate(problems):
        donors = [donor for donor in problems if texts[place].isdisjoint(document.text for document in donor.known)]
        exchanged.append(dataclasses.replace(problem, known=donors[rng.integers(len(donors))].known))
    return exchanged


def load(path: Path, settings: Settings, placebo: bool) -> dict[str, Any]:
    """What is stored under this name, as far as it was made by the same program."""
    fresh = {"settings": dataclasses.asdict(settings), "version": __version__, "placebo": placebo, "runs": []}
    if not path.exists():
        return fresh
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if stored["settings"] != fresh["settings"] or stored["placebo"] != placebo:
        sys.exit(f"{path} holds results of other settings; give --name, or remove it")
    stored["runs"] = [row for row in stored["runs"] if row["code"] == fingerprint()]
    return stored


def fingerprint() -> str:
    """Of everything in the package that answers depend on; settings are stored by themselves."""
    package = Path(byline.__file__).parent
    files = sorted(f for f in package.rglob("*.py") if "commands" not in f.parts and f.name != "settings.py")
    return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()[:12]


def save(path: Path, stored: dict[str, Any]) -> None:
    stored["runs"].sort(key=lambda row: (row["corpus"], row["seed"]))
    path.parent.mkdir(exist_ok=True)
    runs = ",\n    ".join(json.dumps(row) for row in stored["runs"])
    head = json.dumps({key: value for key, value in stored.items() if key != "runs"}, indent=2)[:-2]
    part = path.with_suffix(".part")
    part.write_text(f'{head},\n  "runs": [\n    {runs}\n  ]\n}}\n', encoding="utf-8")
    part.replace(path)


def commit() -> str:
    called = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False, cwd=RESULTS.parent
    )
    return called.stdout.strip() or "unknown"


def print_table(stored: dict[str, Any]) -> None:
    corpora = sorted({row["corpus"] for row in stored["runs"]})
    columns = [("texts", "auc"), ("texts", "c_at_1"), ("texts", "product"), ("heads", "product"), ("radius", "product")]
    print("| corpus | seeds | AUC | C@1 | product | product, heads ranked | product, radius .03 | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    lines = []
    for corpus in corpora:
        rows = [row for row in stored["runs"] if row["corpus"] == corpus]
        means = [float(np.mean([row[variant][key] for row in rows])) for variant, key in columns]
        means.append(float(np.mean([row["seconds"] for row in rows])))
        lines.append(means)
        print(f"| {corpus} | {len(rows)} | {_cells(means)} |")
    if lines:
        print(f"| plain mean | | {_cells(list(np.mean(lines, axis=0)))} |")


def _cells(means: list[float]) -> str:
    return " | ".join([*(f"{mean:.3f}" for mean in means[:-1]), f"{means[-1]:.0f}"])


if __name__ == "__main__":
    main()

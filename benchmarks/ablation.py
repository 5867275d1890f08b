"""Each part off in turn: members that `pan.py --preset best --runs DIR` kept are read again, nothing is trained.

    BYLINE_DATA=folder-of-corpora python benchmarks/ablation.py DIR         read the run folders in DIR
    python benchmarks/ablation.py --table                                   print what is stored, read nothing

Each variant is calibrated as in pan.py: every corpus by what was fitted on the others. The results are in
benchmarks/results/ablation.json.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from byline.corpora.answers import match_truth, read_truth
from byline.judgment.fusion import MemberScores
from byline.judgment.interpretation import JudgmentOptions, answer_problems, score_sides
from byline.judgment.metrics import measure
from byline.runs.folder import read_members, read_plan
from byline.runs.member_files import Record
from byline.runs.plan import Plan
from judging import Stored, calibrate, values_by_id
from stored import RESULTS, commit

PATH = RESULTS / "ablation.json"

Choose = Callable[[Record], bool]


def engine(*names: str) -> Choose:
    return lambda record: record.member.settings.engine in names


def masked(record: Record) -> bool:
    return record.member.settings.mask == "topic"


# Which members take part, and whether cohorts may be matched.
VARIANTS: dict[str, tuple[Choose, bool]] = {
    "everything": (lambda record: True, True),
    "cohorts never matched": (lambda record: True, False),
    "no topic masked": (lambda record: not masked(record), True),
    "topic always masked": (masked, True),
    "neither matched nor masked": (lambda record: not masked(record), False),
    "without networks": (engine("characters", "words", "punctuation", "ngram", "vectors"), True),
    "without frequencies": (engine("rnn", "ngram", "vectors"), True),
    "without punctuation": (engine("characters", "words", "rnn", "ngram", "vectors"), True),
    "without n-grams and vectors": (engine("characters", "words", "punctuation", "rnn"), True),
    "networks only": (engine("rnn"), True),
    "frequencies only": (engine("characters", "words", "punctuation"), True),
    "n-grams only": (engine("ngram"), True),
    "vectors only": (engine("vectors"), True),
}
RANKS = "ranks instead of relative scores"


def main() -> None:
    options = parse_options()
    if options.table:
        print_table(json.loads(PATH.read_text(encoding="utf-8")))
        return
    data = Path(os.environ.get("BYLINE_DATA") or sys.exit("set BYLINE_DATA to the folder that holds the corpora"))
    folders = sorted(folder for folder in options.runs.iterdir() if (folder / "plan.json").exists())
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in (*VARIANTS, RANKS)}
    truths = {}
    for folder in folders:
        corpus, _, seed = folder.name.rpartition("-")
        truth = read_truth(data / corpus)
        truths[corpus] = [truth[name] for name in sorted(truth)]
        plan = read_plan(folder)
        records = list(read_members(folder, plan))
        for name, (choose, matched) in VARIANTS.items():
            chosen = [record for record in records if choose(record)]
            if chosen:
                values = read(plan, chosen, matched, sorted(truth))
                rows[name].append({"corpus": corpus, "seed": int(seed), "values": values})
        rows[RANKS].append({"corpus": corpus, "seed": int(seed), "relative": rank(plan, records, truth)})
        print(folder.name, file=sys.stderr, flush=True)
    for name in VARIANTS:
        calibrate(rows[name], truths)
    variants = {name: summarize(part) for name, part in rows.items()}
    PATH.write_text(json.dumps({"commit": commit(), "variants": variants}, indent=1) + "\n", encoding="utf-8")
    print_table(json.loads(PATH.read_text(encoding="utf-8")))


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="?", help="the folder that pan.py --runs wrote to")
    parser.add_argument("--table", action="store_true", help="print what is stored, read nothing")
    options = parser.parse_args()
    if not options.table and options.runs is None:
        parser.error("name the folder that pan.py --preset best --runs wrote to, or give --table")
    return options


def read(plan: Plan, records: Sequence[Record], matched: bool, ids: Sequence[str]) -> Stored:
    """What ratios are fitted to, for each problem of the truth by id."""
    (group,) = plan.groups
    readings = []
    for record in records:
        whole = [
            dataclasses.replace(side, matrix=dataclasses.replace(side.matrix, parts=None)) for side in record.sides
        ]
        reading = score_sides(whole, len(group.ids), record.member.settings, "relative")
        readings.append(reading if matched else MemberScores(reading.engine, reading.scores[:1]))
    return values_by_id(plan, readings, "relative", ids)


def rank(plan: Plan, records: Sequence[Record], truth: dict[str, bool]) -> dict[str, float]:
    """The paper's interpretation of the same members."""
    (group,) = plan.groups
    readings = [score_sides(record.sides, len(group.ids), record.member.settings, "rank") for record in records]
    answers = answer_problems(group.ids, readings, JudgmentOptions("rank", 0.04)).answers
    measures = measure(*match_truth({answer.id: answer.rounded for answer in answers}, truth, "run"))
    return {key: round(getattr(measures, key), 4) for key in ("auc", "c_at_1", "product", "cllr")}


def summarize(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """By corpus, the mean over seeds."""
    found: dict[str, dict[str, float]] = {}
    for corpus in sorted({row["corpus"] for row in rows}):
        own = [row["relative"] for row in rows if row["corpus"] == corpus and "relative" in row]
        if own:
            means = {key: round(float(np.mean([row[key] for row in own])), 4) for key in own[0]}
            found[corpus] = {**means, "seeds": len(own)}
    return found


def print_table(stored: dict[str, Any]) -> None:
    """A line for each variant: products by corpus, their mean and the mean Cllr; nothing where no member was kept."""
    corpora = sorted(next(iter(stored["variants"].values())))
    print(f"| | {' | '.join(name.replace('-train-', ' ') for name in corpora)} | mean product | mean Cllr |")
    print("|---|" + "---|" * (len(corpora) + 2))
    for name, found in stored["variants"].items():
        cells = [f"{found[corpus]['product']:.3f}" if corpus in found else "-" for corpus in corpora]
        means = [np.mean([found[corpus][key] for corpus in found]) for key in ("product", "cllr")]
        print(f"| {name} | {' | '.join([*cells, *(f'{mean:.3f}' for mean in means)])} |")


if __name__ == "__main__":
    main()

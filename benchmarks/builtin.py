"""The calibrations inside the package, fitted anew on what pan.py has stored: a few numbers, no text.

    BYLINE_DATA=folder-of-corpora python benchmarks/builtin.py

Each is of the values of the first seed, corpora counting alike; its caps are the greatest ratios that corpora bear out
which took no part in the line, whatever the seed. Nothing that pan.py measures is answered
with these: there each corpus is calibrated on the others.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import Any

import byline
from byline.corpora.answers import read_truth
from byline.corpora.problems import read_problems
from byline.judgment.calibration import Calibration, write_calibration
from byline.judgment.calibration_fitting import CalibrationLine, fit_calibration, weigh_corpora
from byline.settings.settings import kinds_of, read_pool
from judging import doubt, learn_caps, numbers
from pan import truths_of
from stored import RESULTS

FOLDER = Path(byline.__file__).parent / "judgment" / "calibrations"
# Stored results, the preset that they are of, and its engines. fit_single_questions.py fits the preset cohort.
SOURCES = {
    "best": ("best", ("ngram", "rnn", "vectors")),
    "quick": ("best", ("ngram", "vectors")),
}


def main() -> None:
    data = Path(os.environ.get("BYLINE_DATA") or sys.exit("set BYLINE_DATA to the folder that holds the corpora"))
    for name, (preset, engines) in SOURCES.items():
        path = RESULTS / f"pan-{name}.json"
        if not path.exists():
            print(f"{path}: not there; see pan.py", file=sys.stderr)
            continue
        kinds = kinds_of(read_pool(preset).only(engines).rows)
        rows = json.loads(path.read_text(encoding="utf-8"))["runs"]
        fitted = fit(rows, data, kinds, preset)
        slope, offset = doubt(CalibrationLine(fitted.slope, fitted.offset), alone=False)
        caps = learn_caps(rows, truths_of(rows, data), alone=False)  # far less than their number allows
        fitted = dataclasses.replace(fitted, slope=slope, offset=offset, cap=caps.same, cap_different=caps.different)
        write_calibration(FOLDER / f"{name}.json", fitted)
        print(
            f"{name}: {fitted.interpretation} scores by {', '.join(fitted.engines)}; slope {fitted.slope:.3f},"
            f" offset {fitted.offset:.3f}, caps {caps.same:.2f} and {caps.different:.2f},"
            f" threshold {fitted.threshold:.3f}, {fitted.problems} problems, Cllr {fitted.cllr:.3f},"
            f" at best {fitted.cllr_min:.3f}"
        )


def fit(rows: list[dict[str, Any]], data: Path, kinds: tuple[str, ...], preset: str) -> Calibration:
    """The calibration of all corpora's values together."""
    values, truth, known, unknown, names = [], [], [], [], []
    for corpus in sorted({row["corpus"] for row in rows}):
        own = next(numbers(row["values"]) for row in rows if row["corpus"] == corpus and row["seed"] == 0)
        answers = read_truth(data / corpus)
        problems = {problem.id: problem for problem in read_problems(data / corpus).problems}
        for name, value in zip(sorted(answers), own, strict=True):
            if name in problems:
                values.append(float(value))
                truth.append(answers[name])
                known.append({document.text for document in problems[name].known})
                unknown.append(problems[name].unknown.text)
                names.append(corpus)
    return fit_calibration(
        values, truth, known, unknown, weigh_corpora(names, truth),
        interpretation="relative", engines=kinds, preset=preset,
        corpora=sorted(set(names)),
    )  # fmt: skip


if __name__ == "__main__":
    main()

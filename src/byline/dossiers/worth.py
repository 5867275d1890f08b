"""What answers are worth against the truth: measures with intervals, and curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from byline.answers import Answer
from byline.dossiers.parts import DIGITS, rounded
from byline.figures.curves import reliability_bins, roc_curve, tippett_curves
from byline.metrics import auc, c_at_1
from byline.problems import Problem
from byline.resampling import interval, measure_draws, weigh_texts


def worth_values(
    answers: Sequence[Answer], truth: Mapping[str, bool], problems: Mapping[str, Problem], seed: int = 0
) -> dict[str, Any]:
    """Measures and curves of the problems that could be judged, where the truth of both kinds is known.

    Intervals are byline evaluate's: they resample the texts.
    """
    judged = [answer for answer in answers if answer.id in truth and answer.score is not None]
    known = [truth[answer.id] for answer in judged]
    if len(set(known)) < 2:
        return dict.fromkeys(("measures", "measured", "roc", "tippett", "calibration"))
    values = [answer.rounded for answer in judged]
    calibrated = all(answer.llr is not None and answer.probability is not None for answer in judged)
    bans = [answer.llr or 0.0 for answer in judged]
    weights = weigh_texts([problems[answer.id] for answer in judged], np.random.default_rng(seed))
    drawn = measure_draws(known, values, weights, np.array(bans) * np.log(10) if calibrated else None)

    def with_interval(name: str, value: float) -> list[float]:
        reach = interval(drawn[name])
        return rounded([value, reach.low, reach.high])

    area, right = auc(known, values), c_at_1(known, values)
    curve = roc_curve(known, values)
    found: dict[str, Any] = {
        "measures": {
            "auc": with_interval("auc", area),
            "c@1": with_interval("c_at_1", right),
            "product": with_interval("product", area * right),
            "cllr": None,
        },
        "measured": {"problems": len(judged), "left_out": len(answers) - len(judged)},
        "roc": {"x": rounded(curve.false_alarms), "y": rounded(curve.hits)},
        "tippett": None,
        "calibration": None,
    }
    if calibrated:
        steps = tippett_curves(known, bans)
        found["measures"]["cllr"] = with_interval("cllr", steps.cllr)
        found["tippett"] = {
            "llr": rounded(steps.bans), "same": rounded(steps.same), "another": rounded(steps.different)
        }  # fmt: skip
        found["calibration"] = [
            {
                "predicted": round(each.probability, DIGITS),
                "observed": round(each.same, DIGITS),
                "low": round(each.interval.low, DIGITS),
                "high": round(each.interval.high, DIGITS),
                "count": each.problems,
            }
            for each in reliability_bins(known, [answer.probability or 0.0 for answer in judged])
        ]
    return found

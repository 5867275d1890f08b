"""Byline tells who wrote a text: author verification with a multi-headed recurrent language model."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

# Where each public name lives. They are loaded on first use, so that `import byline` is quick.
_HOMES = {
    "Answer": "answers",
    "AnswersError": "errors",
    "BylineError": "errors",
    "Calibration": "calibration",
    "Contest": "evaluation",
    "CorpusError": "errors",
    "Document": "documents",
    "Evaluation": "evaluation",
    "Interrupted": "execution",
    "Keep": "execution",
    "Measures": "metrics",
    "ModelFileError": "errors",
    "Pool": "pools",
    "Problem": "problems",
    "ProblemSet": "problems",
    "Reference": "reference",
    "RunError": "errors",
    "Settings": "settings",
    "SettingsError": "errors",
    "TooLittleText": "errors",
    "Verification": "execution",
    "build_reference": "reference",
    "builtin_problems": "builtin",
    "calibrate": "calibrating",
    "check_reference": "reference",
    "combine_runs": "combination",
    "compare_answers": "evaluation",
    "evaluate_answers": "evaluation",
    "examine_run": "agreement",
    "make_cases": "cases",
    "measure": "metrics",
    "read_calibration": "calibration",
    "read_pool": "pools",
    "read_problems": "problems",
    "read_question": "problems",
    "read_reference": "reference",
    "read_settings": "settings",
    "read_truth": "truth",
    "verify": "verification",
    "write_calibration": "calibration",
    "write_reference": "reference",
}

__all__ = [
    "Answer",
    "AnswersError",
    "BylineError",
    "Calibration",
    "Contest",
    "CorpusError",
    "Document",
    "Evaluation",
    "Interrupted",
    "Keep",
    "Measures",
    "ModelFileError",
    "Pool",
    "Problem",
    "ProblemSet",
    "Reference",
    "RunError",
    "Settings",
    "SettingsError",
    "TooLittleText",
    "Verification",
    "__version__",
    "build_reference",
    "builtin_problems",
    "calibrate",
    "check_reference",
    "combine_runs",
    "compare_answers",
    "evaluate_answers",
    "examine_run",
    "make_cases",
    "measure",
    "read_calibration",
    "read_pool",
    "read_problems",
    "read_question",
    "read_reference",
    "read_settings",
    "read_truth",
    "verify",
    "write_calibration",
    "write_reference",
]

if TYPE_CHECKING:
    from byline.agreement import examine_run
    from byline.answers import Answer
    from byline.builtin import builtin_problems
    from byline.calibrating import calibrate
    from byline.calibration import Calibration, read_calibration, write_calibration
    from byline.cases import make_cases
    from byline.combination import combine_runs
    from byline.documents import Document
    from byline.errors import (
        AnswersError,
        BylineError,
        CorpusError,
        ModelFileError,
        RunError,
        SettingsError,
        TooLittleText,
    )
    from byline.evaluation import Contest, Evaluation, compare_answers, evaluate_answers
    from byline.execution import Interrupted, Keep, Verification
    from byline.metrics import Measures, measure
    from byline.pools import Pool, read_pool
    from byline.problems import Problem, ProblemSet, read_problems, read_question
    from byline.reference import Reference, build_reference, check_reference, read_reference, write_reference
    from byline.settings import Settings, read_settings
    from byline.truth import read_truth
    from byline.verification import verify


def __getattr__(name: str) -> object:
    """Load a public name from its module when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'byline' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"byline.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

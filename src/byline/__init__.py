"""Byline tells who wrote a text: author verification with a multi-headed recurrent language model."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

# Where each public name lives. They are loaded on first use, so that `import byline` is quick.
_HOMES = {
    "Answer": "answers",
    "AnswersError": "errors",
    "Attribution": "attribution.attributing",
    "Attributions": "attribution.attributing",
    "Attributor": "estimators",
    "AuthorModel": "attribution.model",
    "BylineError": "errors",
    "Calibration": "calibration",
    "Caution": "cautions",
    "Cautions": "cautions",
    "Clustering": "clustering",
    "Contest": "evaluation",
    "CorpusError": "errors",
    "Document": "documents",
    "Evaluation": "evaluation",
    "Explanation": "dossiers.explanation",
    "Interrupted": "execution",
    "Keep": "execution",
    "Measures": "metrics",
    "ModelFileError": "errors",
    "Pool": "pools",
    "Problem": "problems",
    "ProblemSet": "problems",
    "Reference": "reference",
    "Rolling": "attribution.rolling",
    "RunError": "errors",
    "Settings": "settings",
    "SettingsError": "errors",
    "TooLittleText": "errors",
    "Verification": "execution",
    "Verifier": "estimators",
    "Writings": "attribution.writings",
    "attribute": "attribution.attributing",
    "build_reference": "reference",
    "builtin_problems": "builtin",
    "calibrate": "calibrating",
    "check_reference": "reference",
    "cluster_documents": "clustering",
    "combine_runs": "combination",
    "compare_answers": "evaluation",
    "enrol_authors": "attribution.model",
    "evaluate_answers": "evaluation",
    "examine_run": "agreement",
    "explain_problem": "dossiers.explanation",
    "generate": "attribution.generation",
    "make_cases": "cases",
    "measure": "metrics",
    "plot": "figures.plotting",
    "read_author_model": "attribution.file",
    "read_calibration": "calibration",
    "read_document": "documents",
    "read_pool": "pools",
    "read_problems": "problems",
    "read_question": "problems",
    "read_reference": "reference",
    "read_settings": "settings",
    "read_truth": "truth",
    "read_writings": "attribution.writings",
    "report_run": "reporting",
    "roll": "attribution.rolling",
    "train_authors": "attribution.model",
    "verify": "verification",
    "write_author_model": "attribution.file",
    "write_calibration": "calibration",
    "write_reference": "reference",
    "writings_of": "attribution.writings",
}

__all__ = [
    "Answer",
    "AnswersError",
    "Attribution",
    "Attributions",
    "Attributor",
    "AuthorModel",
    "BylineError",
    "Calibration",
    "Caution",
    "Cautions",
    "Clustering",
    "Contest",
    "CorpusError",
    "Document",
    "Evaluation",
    "Explanation",
    "Interrupted",
    "Keep",
    "Measures",
    "ModelFileError",
    "Pool",
    "Problem",
    "ProblemSet",
    "Reference",
    "Rolling",
    "RunError",
    "Settings",
    "SettingsError",
    "TooLittleText",
    "Verification",
    "Verifier",
    "Writings",
    "__version__",
    "attribute",
    "build_reference",
    "builtin_problems",
    "calibrate",
    "check_reference",
    "cluster_documents",
    "combine_runs",
    "compare_answers",
    "enrol_authors",
    "evaluate_answers",
    "examine_run",
    "explain_problem",
    "generate",
    "make_cases",
    "measure",
    "plot",
    "read_author_model",
    "read_calibration",
    "read_document",
    "read_pool",
    "read_problems",
    "read_question",
    "read_reference",
    "read_settings",
    "read_truth",
    "read_writings",
    "report_run",
    "roll",
    "train_authors",
    "verify",
    "write_author_model",
    "write_calibration",
    "write_reference",
    "writings_of",
]

if TYPE_CHECKING:
    from byline.agreement import examine_run
    from byline.answers import Answer
    from byline.attribution.attributing import Attribution, Attributions, attribute
    from byline.attribution.file import read_author_model, write_author_model
    from byline.attribution.generation import generate
    from byline.attribution.model import AuthorModel, enrol_authors, train_authors
    from byline.attribution.rolling import Rolling, roll
    from byline.attribution.writings import Writings, read_writings, writings_of
    from byline.builtin import builtin_problems
    from byline.calibrating import calibrate
    from byline.calibration import Calibration, read_calibration, write_calibration
    from byline.cases import make_cases
    from byline.cautions import Caution, Cautions
    from byline.clustering import Clustering, cluster_documents
    from byline.combination import combine_runs
    from byline.documents import Document, read_document
    from byline.dossiers.explanation import Explanation, explain_problem
    from byline.errors import (
        AnswersError,
        BylineError,
        CorpusError,
        ModelFileError,
        RunError,
        SettingsError,
        TooLittleText,
    )
    from byline.estimators import Attributor, Verifier
    from byline.evaluation import Contest, Evaluation, compare_answers, evaluate_answers
    from byline.execution import Interrupted, Keep, Verification
    from byline.figures.plotting import plot
    from byline.metrics import Measures, measure
    from byline.pools import Pool, read_pool
    from byline.problems import Problem, ProblemSet, read_problems, read_question
    from byline.reference import Reference, build_reference, check_reference, read_reference, write_reference
    from byline.reporting import report_run
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

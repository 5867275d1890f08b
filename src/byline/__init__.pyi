"""The public names of Byline and the modules they are loaded from on first use. This list is the only one."""

__version__: str

from .author_models.model import enroll_authors as enroll_authors
from .author_models.model import train_authors as train_authors
from .author_models.model_file import read_author_model as read_author_model
from .author_models.model_file import write_author_model as write_author_model
from .corpora.answers import read_truth as read_truth
from .corpora.author_corpus import make_author_corpus as make_author_corpus
from .corpora.author_corpus import read_author_corpus as read_author_corpus
from .corpora.documents import Document as Document
from .corpora.documents import read_document as read_document
from .corpora.problems import Problem as Problem
from .corpora.problems import ProblemSet as ProblemSet
from .corpora.problems import builtin_problems as builtin_problems
from .corpora.problems import read_problems as read_problems
from .corpora.problems import read_question as read_question
from .corpora.reference_building import build_reference as build_reference
from .corpora.reference_building import read_reference as read_reference
from .errors import BylineError as BylineError
from .estimators import Attributor as Attributor
from .estimators import Verifier as Verifier
from .figures.plot import plot as plot
from .judgment.calibration import Calibration as Calibration
from .judgment.calibration import read_calibration as read_calibration
from .judgment.calibration import write_calibration as write_calibration
from .judgment.metrics import measure as measure
from .report.verification import report_run as report_run
from .report.wording import explain_problem as explain_problem
from .runs.executor import Execution as Execution
from .runs.folder import RunOutput as RunOutput
from .runs.request import JudgmentRequest as JudgmentRequest
from .runs.run import Run as Run
from .settings.settings import Pool as Pool
from .settings.settings import Settings as Settings
from .settings.settings import read_pool as read_pool
from .tasks.attribute import attribute as attribute
from .tasks.calibrate import calibrate as calibrate
from .tasks.cluster import cluster_documents as cluster_documents
from .tasks.evaluate import evaluate_answers as evaluate_answers
from .tasks.rolling import roll as roll
from .tasks.verify import verify as verify

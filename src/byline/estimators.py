"""scikit-learn interface: attribution and verification as classifiers, which also work in a Pipeline.

Constructors only store parameters; `fit` checks them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence, Set
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from byline.author_models.model import train_authors
from byline.corpora.author_corpus import make_author_corpus, plain_name
from byline.corpora.documents import Document
from byline.corpora.problems import Problem, ProblemSet
from byline.corpora.reference import FEWEST, Reference, ReferenceText
from byline.engines.protocol import Runtime
from byline.errors import TooLittleText
from byline.judgment.calibration import Calibration
from byline.judgment.calibration_fitting import text_groups
from byline.judgment.likelihood_ratio import EVEN, parse_prior
from byline.runs.executor import Execution, Verification
from byline.runs.request import JudgmentRequest
from byline.runs.workers import count_cores
from byline.settings.settings import Pool, read_pool
from byline.tasks.attribute import Attributions, attribute, probability_table
from byline.tasks.calibrate import calibrate
from byline.tasks.verify import verify
from byline.text.languages import language_of, language_of_script

TableLike = NDArray[np.float64]
TextPair = tuple[str | Sequence[str], str]
"""The known text or texts, and the unknown text."""


class Attributor(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier that attributes texts to authors. X are texts, y their authors.

    >>> from byline import Attributor
    >>> texts = ["the sea was calm and the sea was gray " * 9, "the sea was calm, and gray was the sea " * 9,
    ...          "I say: no! Never, I say, never again! " * 9, "Never again! No, I say, no: never! " * 9]
    >>> attributor = Attributor().fit(texts, ["Ann", "Ann", "Ben", "Ben"])
    >>> attributor.predict(["gray and calm was the sea, the gray sea " * 5]).tolist()
    ['Ann']
    """

    def __init__(
        self, preset: str = "authors", language: str | None = None, seed: int = 0, threads: int | None = None
    ) -> None:
        self.preset = preset
        self.language = language
        self.seed = seed
        self.threads = threads

    def fit(self, X: Sequence[str], y: Sequence[Any]) -> Attributor:  # noqa: N803 - scikit-learn's name
        """Train a model of the authors."""
        _check_settings(self)
        texts = as_texts(X)
        classes, numbers = np.unique(as_labels(y, len(texts)), return_inverse=True)
        if len(classes) < 2:
            raise ValueError("y must have two classes at least, got 1 class")
        names = [plain_name(str(label)) for label in classes]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"y must spell each class in one way, got two that are both read as {twice!r}")
        documents = [Document(f"text {number}", text) for number, text in enumerate(texts)]
        pool = read_pool(self.preset)
        author_corpus = make_author_corpus(documents, [names[number] for number in numbers], self.language)
        model = train_authors(author_corpus, pool.take(pool.members, self.seed), self.seed, self._runtime())
        self.classes_, self.model_ = classes, model  # set last, so that a fit that fails leaves the one before
        return self

    def predict(self, X: Sequence[str]) -> NDArray[Any]:  # noqa: N803
        """(texts,): return the most probable author of each."""
        chances = self.predict_proba(X)  # raises NotFittedError
        found: NDArray[Any] = self.classes_[chances.argmax(axis=1)]
        return found

    def predict_proba(self, X: Sequence[str]) -> TableLike:  # noqa: N803
        """(texts, authors): return probabilities in the order of `classes_`, given that one of them wrote the text."""
        return probability_table(self.attribute(X), [plain_name(str(label)) for label in self.classes_])

    def attribute(self, X: Sequence[str], none: float = 0.0) -> Attributions:  # noqa: N803
        """Return rankings of the authors; `none` is the prior probability that none of them wrote a text.

        Labels that are not strings are converted with `str`.
        """
        check_is_fitted(self, "model_")
        documents = [Document(f"text {number}", text) for number, text in enumerate(as_texts(X))]
        return attribute(self.model_, documents, none, self._runtime())

    def _runtime(self) -> Runtime:
        return Runtime(threads=_threads(self) or count_cores())

    def __sklearn_tags__(self) -> Any:
        return _set_text_tags(super().__sklearn_tags__())


class Verifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier that verifies authorship. X are pairs of known texts and an unknown text, y whether they match.

    `fit` takes the texts of X as the reference population that each pair is compared with. It calibrates likelihood
    ratios on the pairs if there are enough of them; otherwise the built-in calibration is used. The texts must be by
    at least ten people, in each fold of a cross-validation too.
    """

    def __init__(
        self,
        preset: str = "cohort",
        language: str | None = None,
        prior: float = EVEN,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.preset = preset
        self.language = language
        self.prior = prior
        self.seed = seed
        self.threads = threads

    def fit(self, X: Sequence[TextPair], y: Sequence[Any]) -> Verifier:  # noqa: N803
        """Take the texts as a reference population, and calibrate on the pairs. The greater class is one author."""
        _check_settings(self)
        parse_prior(self.prior)
        pairs = as_pairs(X)
        labels = as_labels(y, len(pairs))
        classes = np.unique(labels)
        if len(classes) != 2:
            raise ValueError(f"y must have two classes, the greater for one author, got {len(classes)} class")
        same = (labels == classes[1]).tolist()
        every = [text for known, unknown in pairs for text in (*known, unknown)]
        language = language_of(self.language) if self.language else language_of_script(*every) or "unknown"
        reference, pool = _reference(pairs, same, language), read_pool(self.preset)
        calibration = self._calibrate(_problems(pairs, language), same, pool, reference)
        self.classes_, self.language_, self.reference_ = classes, language, reference
        self.pool_, self.calibration_ = pool, calibration
        return self

    def _calibrate(
        self, problems: ProblemSet, same: Sequence[bool], pool: Pool, reference: Reference
    ) -> Calibration | None:
        """Fit a calibration, or return None if there are too few pairs."""
        truth = {problem.id: value for problem, value in zip(problems.problems, same, strict=True)}
        with tempfile.TemporaryDirectory() as folder:
            try:
                return calibrate(
                    problems, truth, pool, Path(folder) / "run", "fit", seed=self.seed, reference=reference,
                    execution=Execution(_threads(self)),
                )  # fmt: skip
            except TooLittleText:  # the built-in calibration stays
                return None

    def predict(self, X: Sequence[TextPair]) -> NDArray[Any]:  # noqa: N803
        """(pairs,): return the more probable class of each."""
        chances = self.predict_proba(X)  # raises NotFittedError
        found: NDArray[Any] = self.classes_[(chances[:, 1] > EVEN).astype(np.int64)]
        return found

    def predict_proba(self, X: Sequence[TextPair]) -> TableLike:  # noqa: N803
        """(pairs, 2): return the probabilities of two authors and of one author, at the prior."""
        answers = {answer.id: answer for answer in self.verify(X).answers}
        ordered = [answers[name] for name in sorted(answers)]
        one = np.array([each.value if each.probability is None else each.probability for each in ordered], np.float64)
        return np.column_stack([1 - one, one])

    def verify(self, X: Sequence[TextPair]) -> Verification:  # noqa: N803
        """Return answers with likelihood ratios and intervals; ids are the numbers of the pairs."""
        check_is_fitted(self, "reference_")
        return verify(
            _problems(as_pairs(X), self.language_), self.pool_, seed=self.seed, reference=self.reference_,
            judgment=JudgmentRequest(prior=self.prior, calibration=self.calibration_),
            execution=Execution(_threads(self), cautions=False),
        )  # fmt: skip

    def __sklearn_tags__(self) -> Any:
        return _set_text_tags(super().__sklearn_tags__())


def _check_settings(estimator: Attributor | Verifier) -> None:
    """Raise ValueError if a parameter is invalid."""
    for name, kinds in (("preset", str), ("language", str | None), ("seed", Integral), ("threads", Integral | None)):
        value = getattr(estimator, name)
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise ValueError(f"{name} can't be {value!r}")
    if estimator.seed < 0:
        raise ValueError(f"seed must be 0 or more, got {estimator.seed}")
    if estimator.threads is not None and estimator.threads != -1 and estimator.threads < 1:
        raise ValueError(f"threads must be 1 or more, or -1 or None for all cores, got {estimator.threads}")


def _threads(estimator: Attributor | Verifier) -> int | None:
    return None if estimator.threads in (None, -1) else int(estimator.threads)


def as_texts(values: Any) -> list[str]:
    """Return the texts of a list, an array or a series; raise ValueError for anything else."""
    if isinstance(values, str | bytes):
        raise ValueError("X must be a sequence of texts, got one; put it into a list")
    found = _as_list(values, "texts")
    if not found:
        raise ValueError("X must have a text at least, got none")
    for number, value in enumerate(found):
        if not isinstance(value, str):
            raise ValueError(f"X must hold texts, got {type(value).__name__} at {number}")
        if not value.strip():
            raise ValueError(f"X must hold texts, got an empty one at {number}")
    return [str(value) for value in found]


def as_pairs(values: Any) -> list[tuple[tuple[str, ...], str]]:
    """Return pairs of known texts and an unknown text; raise ValueError for anything else."""
    pairs = []
    for number, value in enumerate(_as_list(values, "pairs")):
        if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray) or len(value) != 2:
            raise ValueError(f"X must hold pairs of known and unknown texts, got something else at {number}")
        known, unknown = value
        pairs.append((tuple(as_texts([known] if isinstance(known, str) else known)), as_texts([unknown])[0]))
    if not pairs:
        raise ValueError("X must have a pair at least, got none")
    return pairs


def as_labels(values: Any, count: int) -> NDArray[Any]:
    """(count,): return the classes; raise ValueError for anything else."""
    check_classification_targets(values)
    labels = np.asarray(values)
    if labels.ndim != 1:
        raise ValueError(f"y must have one dimension, got {labels.ndim}")
    if len(labels) != count:
        raise ValueError(f"X and y must be of the same length, got {count} and {len(labels)}")
    return labels


def _as_list(values: Any, what: str) -> list[Any]:
    """Return the items of a list, an array or a series, but not of a table, whose items would be its columns."""
    if not isinstance(values, Iterable) or isinstance(values, Mapping | Set) or hasattr(values, "columns"):
        raise ValueError(f"X must be a sequence of {what}, got {type(values).__name__}")
    return list(values)


def _problems(pairs: Sequence[tuple[tuple[str, ...], str]], language: str) -> ProblemSet:
    problems = [
        Problem(
            f"{number:09d}",
            tuple(Document(f"pair {number}, known {place}", text) for place, text in enumerate(known)),
            Document(f"pair {number}, unknown", unknown),
            language,
        )
        for number, (known, unknown) in enumerate(pairs)
    ]
    return ProblemSet(tuple(problems), "folders")


def _reference(pairs: Sequence[tuple[tuple[str, ...], str]], same: Sequence[bool], language: str) -> Reference:
    """Return each text once, with its author: one for the known texts of a pair, and for the unknown one if y says so.

    Pairs that share a text share its author.
    """
    sets: list[tuple[str, ...]] = []
    for (known, unknown), one in zip(pairs, same, strict=True):
        sets += [(*known, unknown)] if one else [known, (unknown,)]
    author_of = {text: f"author {group}" for held, group in zip(sets, text_groups(sets), strict=True) for text in held}
    texts = [
        ReferenceText(Document(f"text {number}", text), author_of[text])
        for number, text in enumerate(sorted(author_of))
    ]
    for number, ((known, unknown), one) in enumerate(zip(pairs, same, strict=True)):
        if not one and author_of[known[0]] == author_of[unknown]:
            raise ValueError(f"y contradicts itself: pair {number} is by two authors, but other pairs make it one")
    reference = Reference(language, tuple(texts))
    if (people := reference.count_distinct(set(author_of.values()))) < FEWEST:
        what = f"has texts by {people} people who are surely different, {FEWEST} are needed as a reference"
        raise TooLittleText(what, where="X", remedy="Add pairs by other people")
    return reference


def _set_text_tags(tags: Any) -> Any:
    """Tell scikit-learn that X holds texts, not numbers."""
    tags.input_tags.two_d_array = False
    tags.input_tags.string = True
    tags.input_tags.one_d_array = True
    tags.non_deterministic = False
    return tags

"""Attribution and verification as scikit-learn's estimators: fit, predict, predict_proba, score, in a Pipeline too.

The constructor stores, `fit` checks. Nothing is printed, nothing is shared between two estimators.
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

from byline.attribution.attributing import Attributions, attribute
from byline.attribution.model import train_authors
from byline.attribution.writings import plain_name, writings_of
from byline.calibrating import calibrate
from byline.calibration import Calibration
from byline.documents import Document
from byline.engines import Watch
from byline.ensemble import count_cores
from byline.errors import TooLittleText
from byline.execution import Verification
from byline.folds import text_groups
from byline.languages import language_of, language_of_script
from byline.likelihood import EVEN, parse_prior
from byline.pools import Pool, read_pool
from byline.problems import Problem, ProblemSet
from byline.reference import FEWEST, Reference
from byline.reference.texts import ReferenceText
from byline.verification import verify

Table = NDArray[np.float64]
Pair = tuple[str | Sequence[str], str]
"""The known text or texts, and the unknown one."""


class Attributor(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Which of some authors wrote a text; X are texts, y their authors.

    >>> from byline import Attributor
    >>> texts = ["the sea was calm and the sea was grey " * 9, "the sea was calm, and grey was the sea " * 9,
    ...          "I say: no! Never, I say, never again! " * 9, "Never again! No, I say, no: never! " * 9]
    >>> attributor = Attributor().fit(texts, ["Ann", "Ann", "Ben", "Ben"])
    >>> attributor.predict(["grey and calm was the sea, the grey sea " * 5]).tolist()
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
        """Learn the authors of texts."""
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
        writings = writings_of(documents, [names[number] for number in numbers], self.language)
        model = train_authors(writings, pool.take(pool.members, self.seed), self.seed, self._watch())
        self.classes_, self.model_ = classes, model  # only now: what fails leaves a fit of before as it was
        return self

    def predict(self, X: Sequence[str]) -> NDArray[Any]:  # noqa: N803
        """(texts,): the most probable author of each."""
        chances = self.predict_proba(X)  # which refuses what is not fitted
        found: NDArray[Any] = self.classes_[chances.argmax(axis=1)]
        return found

    def predict_proba(self, X: Sequence[str]) -> Table:  # noqa: N803
        """(texts, authors): how probable each is, in the order of `classes_`; one of them is taken to be right."""
        found = self.attribute(X)
        place_of = {plain_name(str(label)): place for place, label in enumerate(self.classes_)}
        chances = np.zeros((len(found), len(place_of)))
        for row, each in zip(chances, found, strict=True):
            for candidate in each.ranking:
                row[place_of[candidate.author]] = candidate.probability
        return chances

    def attribute(self, X: Sequence[str], none: float = 0.0) -> Attributions:  # noqa: N803
        """Rankings with bits a character and, with a prior for it, how probable none of the authors is.

        Authors are called as in y; where that has no strings, what `str` makes of it.
        """
        check_is_fitted(self, "model_")
        documents = [Document(f"text {number}", text) for number, text in enumerate(as_texts(X))]
        return attribute(self.model_, documents, none, self._watch())

    def _watch(self) -> Watch:
        return Watch(threads=_threads(self) or count_cores())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        return _of_texts(tags)


class Verifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Whether the author of known texts wrote another; X are pairs of known text or texts and an unknown one, y truth.

    The texts of X in `fit` become the reference population that questions are compared with, each by itself, and what
    likelihood ratios are calibrated on, if there are enough; otherwise the built-in calibration stays. They must be by
    ten people at least, in each fold too, where it is cross-validated.
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

    def fit(self, X: Sequence[Pair], y: Sequence[Any]) -> Verifier:  # noqa: N803
        """Take the texts as a reference, and learn what scores mean from which pairs are by one author."""
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
        """What scores of these pairs mean, or None, where there are too few of them to tell."""
        truth = {problem.id: value for problem, value in zip(problems.problems, same, strict=True)}
        with tempfile.TemporaryDirectory() as folder:
            try:
                return calibrate(
                    problems, truth, pool, Path(folder) / "run", "fit", seed=self.seed, reference=reference,
                    workers=_threads(self),
                )  # fmt: skip
            except TooLittleText:  # the built-in calibration stays
                return None

    def predict(self, X: Sequence[Pair]) -> NDArray[Any]:  # noqa: N803
        """(pairs,): the class of each; what is undecided is the more probable one."""
        chances = self.predict_proba(X)  # which refuses what is not fitted
        found: NDArray[Any] = self.classes_[(chances[:, 1] > EVEN).astype(np.int64)]
        return found

    def predict_proba(self, X: Sequence[Pair]) -> Table:  # noqa: N803
        """(pairs, 2): how probable two authors and one author are, at the prior."""
        answers = {answer.id: answer for answer in self.verify(X).answers}
        ordered = [answers[name] for name in sorted(answers)]
        one = np.array([each.value if each.probability is None else each.probability for each in ordered], np.float64)
        return np.column_stack([1 - one, one])

    def verify(self, X: Sequence[Pair]) -> Verification:  # noqa: N803
        """The answers with their likelihood ratios and intervals, by the pairs' numbers."""
        check_is_fitted(self, "reference_")
        return verify(
            _problems(as_pairs(X), self.language_), self.pool_, seed=self.seed, prior=self.prior,
            calibration=self.calibration_, reference=self.reference_, cautions=False, workers=_threads(self),
        )  # fmt: skip

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        return _of_texts(tags)


def _check_settings(estimator: Attributor | Verifier) -> None:
    """Refuse what the constructor stored and can't be."""
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
    """Texts in a list, an array or a series; anything else is refused."""
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
    """Pairs of known texts and an unknown one; anything else is refused."""
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
    """(count,): classes, one for each text or pair; anything else is refused."""
    check_classification_targets(values)
    labels = np.asarray(values)
    if labels.ndim != 1:
        raise ValueError(f"y must have one dimension, got {labels.ndim}")
    if len(labels) != count:
        raise ValueError(f"X and y must be of the same length, got {count} and {len(labels)}")
    return labels


def _as_list(values: Any, what: str) -> list[Any]:
    """The items of a list, an array or a series; a table, whose items would be its columns, is refused."""
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
    """All texts, each once, with their authors: known texts of a pair are by one, its unknown too where y says so.

    Pairs that share a text share its author.
    """
    sets = [
        held for (known, unknown), one in zip(pairs, same, strict=True) for held in _sets_by_one(known, unknown, one)
    ]
    author_of = {text: f"author {group}" for held, group in zip(sets, text_groups(sets), strict=True) for text in held}
    texts = [
        ReferenceText(Document(f"text {number}", text), author_of[text])
        for number, text in enumerate(sorted(author_of))
    ]
    for number, ((known, unknown), one) in enumerate(zip(pairs, same, strict=True)):
        if not one and author_of[known[0]] == author_of[unknown]:
            raise ValueError(f"y says of pair {number} that it is by two authors, and other pairs that it is by one")
    reference = Reference(language, tuple(texts))
    if (people := reference.count_people(set(author_of.values()))) < FEWEST:
        raise TooLittleText(
            f"X has texts by {people} people who surely are different, {FEWEST} are needed to compare with"
        )
    return reference


def _sets_by_one(known: tuple[str, ...], unknown: str, one: bool) -> list[tuple[str, ...]]:
    return [(*known, unknown)] if one else [known, (unknown,)]


def _of_texts(tags: Any) -> Any:
    """What scikit-learn is told of estimators whose input are texts."""
    tags.input_tags.two_d_array = False
    tags.input_tags.string = True
    tags.input_tags.one_d_array = True
    tags.non_deterministic = False
    return tags

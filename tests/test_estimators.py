"""The scikit-learn interface; results as pandas tables."""

from __future__ import annotations

import copy
import doctest
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_checks, get_tags

from byline import estimators
from byline.corpora.documents import Document
from byline.errors import BylineError, TooLittleText
from byline.estimators import Attributor, Verifier
from byline.settings.settings import read_pool
from byline.tasks.attribute import Attributions
from byline.tasks.cluster import cluster_documents
from byline.tasks.rolling import roll
from samples import phrase

NAMES = ("Cid", "Ann", "Ben")
X = [phrase(author, 400, salt) for salt in range(4) for author in range(3)]
Y = list(NAMES) * 4
NEW = [phrase(author, 300, 9) for author in (2, 0, 1)]

_SHARED = ["".join(np.random.default_rng(n).choice(list("etaoinshrdlu"), size=2 + n % 5)) for n in range(60)]


def voice(author: int, salt: int, length: int = 500) -> str:
    """Prose of a sort by any number of authors: the same words, of which each prefers others."""
    likes = np.random.default_rng(author).dirichlet(np.full(len(_SHARED), 0.3))
    picked = np.random.default_rng([author, salt]).choice(_SHARED, size=length, p=likes)
    return " ".join(picked)[:length]


PAIRS = [((voice(n, 0),), voice(n if n % 2 else n + 100, 1)) for n in range(16)]
SAME = [bool(n % 2) for n in range(16)]


@pytest.fixture(scope="module")
def attributor() -> Attributor:
    return Attributor().fit(X, Y)


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    return Verifier(threads=1).fit(PAIRS, SAME)


SOME = PAIRS[:3]


@pytest.fixture(scope="module")
def chances(verifier: Verifier) -> np.ndarray[Any, Any]:
    """What it says of some of the pairs."""
    return verifier.predict_proba(SOME)


CHECKS = [
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_set_params",
    "check_valid_tag_types",
]
"""Those of scikit-learn that need no table of numbers; a version may lack some."""


class TestManners:
    @pytest.mark.parametrize("kind", [Attributor, Verifier])
    @pytest.mark.parametrize("name", [name for name in CHECKS if hasattr(estimator_checks, name)])
    def test_scikit_learns_checks_pass(self, name: str, kind: type) -> None:
        getattr(estimator_checks, name)(kind.__name__, kind())

    @pytest.mark.parametrize("kind", [Attributor, Verifier])
    def test_it_is_made_from_nothing(self, kind: Any) -> None:
        estimator_checks.check_parameters_default_constructible(kind.__name__, kind())
        assert is_classifier(kind())
        tags = get_tags(kind())
        assert tags.input_tags.string
        assert not tags.input_tags.two_d_array

    def test_a_class_in_two_spellings_is_refused_and_in_one_is_kept(self) -> None:
        texts = [phrase(n % 2, 400, n) for n in range(4)]
        with pytest.raises(ValueError, match="one way"):
            Attributor().fit(texts, ["Jos\u00e9", "Bo", "Jose\u0301", "Bo"])
        found = Attributor().fit(texts, ["Jose\u0301", "Bo"] * 2).predict([phrase(0, 400, 9)])
        assert found.tolist() == ["Jose\u0301"]

    @pytest.mark.parametrize("method", ["predict", "predict_proba", "attribute", "verify"])
    def test_an_estimator_that_is_not_fitted_says_so(self, method: str, attributor: Attributor) -> None:
        for estimator, asked in ((clone(attributor), NEW), (Verifier(), PAIRS)):
            if hasattr(estimator, method):
                with pytest.raises(NotFittedError, match="not fitted yet"):
                    getattr(estimator, method)(asked)

    def test_fitting_gives_the_estimator_and_leaves_its_parameters_and_the_data(self) -> None:
        made, texts, names = Attributor(), list(X), list(Y)
        before = copy.deepcopy(made.get_params())
        assert made.fit(texts, names) is made
        assert made.get_params() == before
        assert (texts, names) == (X, Y)

    def test_the_example_runs(self) -> None:
        results = doctest.testmod(estimators, verbose=False)
        assert results.attempted >= 4
        assert results.failed == 0


class TestAttributor:
    def test_the_author_is_found(self, attributor: Attributor) -> None:
        assert attributor.classes_.tolist() == ["Ann", "Ben", "Cid"]
        assert attributor.predict(NEW).tolist() == ["Ben", "Cid", "Ann"]
        assert attributor.score(NEW, ["Ben", "Cid", "Cid"]) == pytest.approx(2 / 3)

    def test_probabilities_sum_to_1_in_the_order_of_the_classes(self, attributor: Attributor) -> None:
        chances = attributor.predict_proba(NEW)
        assert chances.shape == (3, 3)
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        assert chances.argmax(axis=1).tolist() == [1, 2, 0]

    @pytest.mark.parametrize(
        "labels", [[7, -3, 20], [20, 3, 100], ["b", "a", "10"], [True, False, True], np.array([2, 0, 1], np.int8)]
    )
    def test_labels_may_be_of_any_kind(self, labels: Any) -> None:
        found = Attributor().fit(X, [labels[place % 3] for place in range(12)])
        assert found.predict(NEW).tolist() == [labels[2], labels[0], labels[1]]
        assert found.classes_.tolist() == sorted(set(np.asarray(labels).tolist()))

    def test_many_classes_keep_their_order(self) -> None:
        """Eleven: as words, 10 would come before 2."""
        texts = [voice(author, salt, 300) for author in range(11) for salt in range(2)]
        found = Attributor().fit(texts, [place // 2 for place in range(22)])
        assert found.predict([voice(author, 5, 300) for author in range(11)]).tolist() == list(range(11))

    @pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, lambda texts: np.array(texts, object)])
    def test_texts_may_be_in_lists_arrays_and_series(self, kind: Callable[[Any], Any], attributor: Attributor) -> None:
        found = Attributor().fit(kind(X), kind(Y))
        np.testing.assert_array_equal(found.predict_proba(kind(NEW)), attributor.predict_proba(NEW))

    def test_what_is_said_of_a_text_does_not_depend_on_the_others(self, attributor: Attributor) -> None:
        together = attributor.predict_proba(NEW)
        alone = np.concatenate([attributor.predict_proba([text]) for text in NEW])
        turned = attributor.predict_proba(NEW[::-1])[::-1]
        np.testing.assert_allclose(alone, together, rtol=1e-6)
        np.testing.assert_allclose(turned, together, rtol=1e-6)

    def test_the_order_of_the_texts_learned_changes_nothing(self, attributor: Attributor) -> None:
        turned = Attributor().fit(X[::-1], Y[::-1])
        np.testing.assert_allclose(turned.predict_proba(NEW), attributor.predict_proba(NEW), rtol=1e-6)

    def test_a_fit_that_fails_leaves_the_one_before(self) -> None:
        estimator = Attributor().fit(X, Y)
        before = estimator.predict(NEW).tolist()
        with pytest.raises(BylineError):
            estimator.fit([*X[:-1], "no"], [f"other {label}" for label in Y])
        assert estimator.predict(NEW).tolist() == before

    @pytest.mark.parametrize(
        ("name", "value"), [("seed", -1), ("seed", 0.5), ("threads", 0), ("preset", None), ("language", 1)]
    )
    def test_settings_that_cant_be_are_named(self, name: str, value: object) -> None:
        for estimator in (Attributor(), Verifier()):
            with pytest.raises(ValueError, match=f"^{name} "):
                estimator.set_params(**{name: value}).fit(X, Y)

    def test_all_cores_may_be_called_minus_one(self, attributor: Attributor) -> None:
        assert Attributor(threads=-1).fit(X, Y).predict(NEW).tolist() == attributor.predict(NEW).tolist()

    def test_authors_keep_their_labels_in_rankings(self) -> None:
        numbers = Attributor().fit(X, [NAMES.index(label) * 7 for label in Y])
        (found,) = numbers.attribute(NEW[:1])
        assert found.author == "14"
        assert numbers.predict(NEW[:1]).tolist() == [14]

    def test_rankings_may_say_none_of_these(self, attributor: Attributor) -> None:
        (found,) = attributor.attribute([voice(50, 0)], none=0.5)
        assert found.author is None
        assert found.none > 0.5
        (certain,) = attributor.attribute(NEW[:1])
        assert certain.author is not None
        assert certain.author == "Ben"

    def test_it_works_in_a_pipeline(self, attributor: Attributor) -> None:
        def shout(texts: list[str]) -> list[str]:
            return [text.upper() for text in texts]

        line = make_pipeline(FunctionTransformer(shout), Attributor())
        assert line.fit(X, Y).predict(NEW).tolist() == ["Ben", "Cid", "Ann"]
        assert line.score(NEW, ["Ben", "Cid", "Ann"]) == 1
        assert line.set_params(attributor__seed=2).named_steps["attributor"].seed == 2

    def test_it_works_in_cross_validation_and_search(self) -> None:
        scores = cross_val_score(Attributor(threads=1), X, Y, cv=2, error_score="raise")
        assert scores.tolist() == [1, 1]
        line = Pipeline([("who", Attributor(threads=1))])
        search = GridSearchCV(line, {"who__language": ["en", None]}, cv=2, error_score="raise").fit(X, Y)
        assert search.best_score_ == 1
        assert search.predict(NEW).tolist() == ["Ben", "Cid", "Ann"]

    def test_it_survives_pickling(self, attributor: Attributor) -> None:
        again = pickle.loads(pickle.dumps(attributor))
        np.testing.assert_array_equal(again.predict_proba(NEW), attributor.predict_proba(NEW))
        assert again.classes_.tolist() == attributor.classes_.tolist()
        assert pickle.loads(pickle.dumps(Attributor(seed=5))).seed == 5

    def test_two_threads_at_once_give_what_one_after_the_other_does(self, attributor: Attributor) -> None:
        def work(turn: int) -> np.ndarray[Any, Any]:
            names = Y if turn % 2 else [name[::-1] for name in Y]
            return Attributor(threads=1).fit(X, names).predict_proba(NEW)

        apart = [work(turn) for turn in range(2)]
        with ThreadPoolExecutor(2) as pool:
            together = list(pool.map(work, range(4)))
        for turn, found in enumerate(together):
            np.testing.assert_array_equal(found, apart[turn % 2])

    def test_nothing_is_printed(self, verifier: Verifier, capfd: pytest.CaptureFixture[str]) -> None:
        Attributor().fit(X, Y).predict(NEW)
        verifier.predict(PAIRS[:1])
        assert capfd.readouterr() == ("", "")


class TestAttributorRefusals:
    @pytest.mark.parametrize(
        "values",
        [
            "one text", b"bytes", None, {"a": 1}, {"a"}, pd.DataFrame({"text": X}), [], [*X[:11], 3],
            [float("nan"), *X[:11]], [*X[:11], " \n"], np.array(X).reshape(6, 2), np.zeros((12, 3)),
        ],
        ids=lambda values: type(values).__name__,
    )  # fmt: skip
    def test_what_is_no_sequence_of_texts(self, attributor: Attributor, values: Any) -> None:
        with pytest.raises(ValueError, match=r"^X must "):
            Attributor().fit(values, Y)
        with pytest.raises(ValueError, match=r"^X must "):
            attributor.predict(values)

    @pytest.mark.parametrize(
        ("labels", "said"),
        [
            (Y[:11], "12 and 11"),
            (["Ann"] * 12, "two classes"),
            ([[name] for name in Y], "one dimension"),
            (np.linspace(0, 1, 12), "continuous"),
            (None, "y"),
        ],
    )
    def test_what_are_no_classes(self, labels: Any, said: str) -> None:
        with pytest.raises(ValueError, match=said):
            Attributor().fit(X, labels)

    def test_what_a_user_can_put_right_is_an_error_of_byline(self, attributor: Attributor) -> None:
        with pytest.raises(BylineError, match="nonsense"):
            Attributor(preset="nonsense").fit(X, Y)
        with pytest.raises(BylineError, match="12 are needed"):
            attributor.predict(["Oh."])


class TestVerifier:
    def test_it_learns_which_pairs_are_by_one_author(self, verifier: Verifier) -> None:
        assert verifier.classes_.tolist() == [False, True]
        assert verifier.calibration_ is not None
        new = [(voice(n, 0), voice(n + 200 * (n % 3 == 0), 7)) for n in range(300, 306)]
        truth = [n % 3 != 0 for n in range(300, 306)]
        chances = verifier.predict_proba(new)
        assert chances.shape == (6, 2)
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        assert chances[truth, 1].min() > chances[np.logical_not(truth), 1].max() + 0.2
        found = verifier.predict(new)
        assert found.tolist() == (chances[:, 1] > 0.5).tolist()
        assert verifier.score(new, truth) == (found == truth).mean() >= 4 / 6

    def test_labels_may_be_of_any_kind_the_greater_is_one_author(self, chances: np.ndarray[Any, Any]) -> None:
        found = Verifier(threads=1).fit(PAIRS, ["same" if one else "different" for one in SAME])
        assert found.classes_.tolist() == ["different", "same"]
        np.testing.assert_allclose(found.predict_proba(SOME), chances)

    def test_labels_that_contradict_each_other_are_refused(self) -> None:
        one, two, three = (voice(400, salt) for salt in range(3))
        pairs = [*PAIRS, (one, two), (one, three), (two, three)]
        with pytest.raises(ValueError, match="pair 18"):
            Verifier(threads=1).fit(pairs, [*SAME, True, True, False])

    def test_texts_by_too_few_people_are_refused(self) -> None:
        with pytest.raises(TooLittleText, match="6 people") as error:
            Verifier(threads=1).fit(PAIRS[:4], SAME[:4])
        assert error.value.where == "X"

    def test_members_are_those_of_the_fit(self, verifier: Verifier, chances: np.ndarray[Any, Any]) -> None:
        changed = copy.copy(verifier).set_params(preset="best")
        np.testing.assert_array_equal(changed.predict_proba(SOME), chances)

    def test_known_texts_may_be_several(self, verifier: Verifier) -> None:
        several = [((voice(300, 0), voice(300, 1)), voice(300, 2)), ([voice(301, 0)], voice(302, 2))]
        assert verifier.predict(several).tolist() == [True, False]

    def test_what_is_said_of_a_pair_does_not_depend_on_the_others(self, verifier: Verifier) -> None:
        new = [(voice(n, 0), voice(n + 200 * (n % 2), 7)) for n in range(300, 302)]
        together = verifier.predict_proba(new)
        alone = np.concatenate([verifier.predict_proba([pair]) for pair in new])
        np.testing.assert_allclose(alone, together, rtol=1e-6)

    def test_a_prior_moves_probabilities_one_way(self, verifier: Verifier, chances: np.ndarray[Any, Any]) -> None:
        doubting = copy.copy(verifier).set_params(prior=0.01)
        assert (doubting.predict_proba(SOME)[:, 1] < chances[:, 1]).all()

    def test_it_survives_pickling(self, verifier: Verifier, chances: np.ndarray[Any, Any]) -> None:
        again = pickle.loads(pickle.dumps(verifier))
        np.testing.assert_array_equal(again.predict_proba(SOME), chances)

    @pytest.mark.parametrize(
        "values",
        [
            None, [], "a text", [PAIRS[0], 5], [PAIRS[0], ("a", "b", "c")], [("known", 7)], [("known", " ")],
            [((), "unknown")], pd.DataFrame({"known": ["a"], "unknown": ["b"]}),
        ],
        ids=repr,
    )  # fmt: skip
    def test_what_are_no_pairs(self, verifier: Verifier, values: Any) -> None:
        with pytest.raises(ValueError, match=r"^X must "):
            verifier.predict(values)
        with pytest.raises(ValueError, match=r"^X must "):
            Verifier().fit(values, SAME)

    @pytest.mark.parametrize("labels", [[True] * 16, [0, 1, 2, 1] * 4, SAME[:15]])
    def test_more_or_fewer_than_two_classes(self, labels: list[Any]) -> None:
        with pytest.raises(ValueError, match="y must "):
            Verifier().fit(PAIRS, labels)


class TestTables:
    def test_of_attributions(self, attributor: Attributor) -> None:
        frame = attributor.attribute(NEW, none=0.1).to_pandas()
        assert list(frame.columns) == ["document", "rank", "author", "probability", "bits", "none"]
        assert frame["rank"].tolist() == [1, 2, 3] * 3
        np.testing.assert_allclose(frame.groupby("document")["probability"].sum() + frame["none"][::3].to_numpy(), 1)

    def test_of_verifications(self, verifier: Verifier) -> None:
        found = verifier.verify(PAIRS[:2])
        frame = found.to_pandas()
        assert list(frame.columns) == ["id", "answer", "score", "llr", "low", "high", "probability"]
        assert frame["llr"].tolist() == [answer.llr for answer in found.answers]

    def test_of_nothing_has_its_columns(self) -> None:
        frame = Attributions().to_pandas()
        assert frame.empty
        assert "probability" in frame.columns

    def test_without_pandas_what_to_install_is_said(
        self, attributor: Attributor, verifier: Verifier, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        texts = [Document(str(number), text) for number, text in enumerate(X[:4])]
        results = [
            attributor.attribute(NEW),
            verifier.verify(PAIRS[:1]),
            roll(attributor.model_, Document("book", phrase(0, 900)), 300, 300),
            cluster_documents(texts, read_pool("authors").only(["vectors"]).rows),
        ]
        monkeypatch.setitem(sys.modules, "pandas", None)
        for result in results:
            with pytest.raises(BylineError, match=r"byline\[pandas\]"):
                result.to_pandas()  # type: ignore[attr-defined]

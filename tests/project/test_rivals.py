"""The rival methods that results are compared with: each does on made-up texts what it says."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from byline.corpora.documents import Document
from byline.corpora.problems import Problem
from byline.errors import CorpusError
from paths import ROOT
from samples import MakeCorpus, phrase


@pytest.fixture
def rivals(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import rivals

    yield rivals
    for name in ("rivals", "stored"):
        sys.modules.pop(name, None)


def problem(name: str, known: list[str], unknown: str) -> Problem:
    documents = tuple(Document(f"{name}/known", text) for text in known)
    return Problem(name, documents, Document(f"{name}/unknown", unknown), "english")


def corpus_files(authors: int = 7, salt: int = 0) -> dict[str, dict[str, str]]:
    """Two problems an author: one with a text of his own, one with the next author's."""
    return {
        f"EN{2 * author + other:03d}": {
            "known01.txt": phrase(author, salt=salt + other),
            "known02.txt": phrase(author, salt=salt + other + 10),
            "unknown.txt": phrase(author + other, salt=salt + other + 20),
        }
        for author in range(authors)
        for other in (0, 1)
    }


def truth_of(files: dict[str, dict[str, str]]) -> str:
    return "".join(f"{name} {'N' if int(name[2:]) % 2 else 'Y'}\n" for name in files)


@pytest.fixture
def data(make_corpus: MakeCorpus) -> Path:
    """A corpus of each of two years, in one language."""
    for number, year in enumerate(("pan14", "pan15")):
        files = corpus_files(salt=100 * number)
        folder = make_corpus(files, {"language": "English"}, truth_of(files), f"{year}-train-english")
    return folder.parent


def test_known_sets_and_unknown_texts_that_recur_are_laid_out_once(rivals: ModuleType) -> None:
    texts = rivals.lay_out(
        [
            problem("1", ["One  text.", "Two\ntexts."], "What?"),
            problem("2", ["Two texts.", "One text."], "Who?"),
            problem("3", ["Other"], "What? "),
        ]
    )
    assert texts.known == ("One text. Two texts.", "Other")
    assert texts.unknown == ("What?", "Who?")
    assert texts.asked == ((0, 0), (1, 0), (0, 1))
    assert texts.different() == ["One text.", "Other", "Two texts.", "What?", "Who?"]


def test_the_upper_half_is_yes_and_the_median_undecided(rivals: ModuleType) -> None:
    assert rivals.answer(np.array([5.0, -1.0, 2.0, 9.0])) == [0.625, 0.125, 0.375, 0.875]
    assert rivals.answer(np.array([5.0, -1.0, 2.0]))[2] == 0.5
    zeros = rivals.answer(np.array([0.0, 0.0, 0.0, 0.0, 0.3]))
    assert zeros[:4] == [0.5] * 4
    assert zeros[4] > 0.5


def test_a_pair_is_normalized_by_its_row_and_its_column(rivals: ModuleType) -> None:
    texts = rivals.lay_out([problem(str(n), [f"k{n}"], f"u{n}") for n in range(4)])
    table = np.array([[9.0, 1.0, 2.0, 6.0], [5.0, 0.0, 1.0, 5.0], [4.0, 2.0, 2.0, 3.0], [8.0, 3.0, 5.0, 4.0]])
    # Of problem 0: the row 1, 2, 6 has median 2. The others' rows have medians 1, 2, 4, so that their columns have
    # -1, 0, -1; 0, 0, 1; 4, 1, 0 and medians -1, 0, 1, and the known set's own 4, 2, 4, median 4.
    # The row becomes -1 + 1, 0 - 0, 4 - 1.
    assert rivals.normalize(texts, texts, *[table] * 4)[0] == pytest.approx((9 - 2 - 4) / (3 / 3))


def test_what_shares_a_text_with_the_problem_takes_no_part(rivals: ModuleType) -> None:
    problems = [problem(str(n), [f"k{n}"], f"u{n}") for n in range(5)]
    shares = [problem("5", ["k0", "more"], "u5"), problem("6", ["u0"], "k0")]
    rng = np.random.default_rng(0)
    texts = rivals.lay_out([*problems, *shares])
    table = rng.random((len(texts.unknown), len(texts.known)))
    # u5 shares nothing with problem 0, so that its row is used, but not the columns of what shares k0 or u0
    rows = [0, 1, 2, 3, 4, 5]
    without = rivals.lay_out([*problems, problem("5", ["k1"], "u5")])
    expected = rivals.normalize(without, without, *[table[np.ix_(rows, range(5))]] * 4)[0]
    assert rivals.normalize(texts, texts, *[table] * 4)[0] == pytest.approx(expected)


def test_a_problem_without_others_is_refused(rivals: ModuleType) -> None:
    texts = rivals.lay_out([problem("1", ["a"], "b"), problem("2", ["a"], "c")])
    with pytest.raises(CorpusError, match="no other"):
        rivals.normalize(texts, texts, *[np.ones((2, 1))] * 4)


def test_the_character_model_is_witten_bells(rivals: ModuleType) -> None:
    grams, contexts, starts, kinds = rivals.number_grams(["abab", "ba"])
    assert kinds == 2
    mean = rivals.predict(grams, contexts, starts, kinds, np.array([0]), np.array([1])).item()
    single = (2 + 2 * 0.5) / (4 + 2)  # of b, and of a: each twice among four, and two kinds
    after = (1 + 1 * single) / (1 + 1)  # b was once followed, by a
    assert mean == pytest.approx((math.log2(single) + math.log2(after)) / 2)


def test_chances_of_the_character_model_add_up_to_one(rivals: ModuleType) -> None:
    letters = sorted(set(learned := phrase(1, 300)))
    context = learned[40:45]
    ends = [context + letter for letter in letters]
    grams, contexts, starts, kinds = rivals.number_grams([learned, context, *ends])
    means = rivals.predict(grams, contexts, starts, kinds, np.array([0]), np.arange(1, len(ends) + 2))[:, 0]
    chances = 2.0 ** (means[1:] * 6 - means[0] * 5)
    assert chances.sum() == pytest.approx(1)


def test_imposters_are_drawn_from_the_seed(rivals: ModuleType) -> None:
    texts = rivals.lay_out(
        [problem(str(n), [phrase(n, salt=1)], phrase(n + n % 2, salt=2)) for n in range(7)],
    )
    first, again, other = (rivals.score_imposters(texts, np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert (first == again).all()
    assert ((first >= 0) & (first <= 1)).all()
    assert first[0::2].mean() > first[1::2].mean()
    assert other.shape == first.shape


def test_every_rival_tells_made_up_authors_apart(rivals: ModuleType, data: Path) -> None:
    rows: list[dict[str, object]] = []
    todo = rivals.missing(rows, "pan15-train-english", rivals.RIVALS)
    assert len(todo) == 4 + 2 * 3
    for rival, seed in todo:
        rows.append(rivals.run(data, "pan15-train-english", rival, seed, rows))
    assert all(row["auc"] > 0.9 for row in rows)
    assert all(len(row["answers"]) == 14 for row in rows)
    assert not rivals.missing(rows, "pan15-train-english", rivals.RIVALS)
    assert rivals.missing([], "pan15-train-english", ["f"])[0] == ("b", None)

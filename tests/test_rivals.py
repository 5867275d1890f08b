"""The rival methods that results are compared with: each does on made-up texts what it says."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from byline.documents import Document
from byline.errors import CorpusError
from byline.problems import Problem, read_problems
from byline.truth import read_truth
from conftest import MakeCorpus, phrase

ROOT = Path(__file__).parent.parent


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


def test_a_pair_is_normalised_by_its_row_and_its_column(rivals: ModuleType) -> None:
    texts = rivals.lay_out([problem(str(n), [f"k{n}"], f"u{n}") for n in range(4)])
    table = np.array([[9.0, 1.0, 2.0, 6.0], [5.0, 0.0, 1.0, 5.0], [4.0, 2.0, 2.0, 3.0], [8.0, 3.0, 5.0, 4.0]])
    # Of problem 0: the row 1, 2, 6 has median 2. The others' rows have medians 1, 2, 4, so that their columns have
    # -1, 0, -1; 0, 0, 1; 4, 1, 0 and medians -1, 0, 1, and the known set's own 4, 2, 4, median 4.
    # The row becomes -1 + 1, 0 - 0, 4 - 1.
    assert rivals.normalise(texts, texts, *[table] * 4)[0] == pytest.approx((9 - 2 - 4) / (3 / 3))


def test_what_shares_a_text_with_the_problem_takes_no_part(rivals: ModuleType) -> None:
    problems = [problem(str(n), [f"k{n}"], f"u{n}") for n in range(5)]
    shares = [problem("5", ["k0", "more"], "u5"), problem("6", ["u0"], "k0")]
    rng = np.random.default_rng(0)
    texts = rivals.lay_out([*problems, *shares])
    table = rng.random((len(texts.unknown), len(texts.known)))
    # u5 shares nothing with problem 0, so that its row is used, but not the columns of what shares k0 or u0
    rows = [0, 1, 2, 3, 4, 5]
    without = rivals.lay_out([*problems, problem("5", ["k1"], "u5")])
    expected = rivals.normalise(without, without, *[table[np.ix_(rows, range(5))]] * 4)[0]
    assert rivals.normalise(texts, texts, *[table] * 4)[0] == pytest.approx(expected)


def test_a_problem_without_others_is_refused(rivals: ModuleType) -> None:
    texts = rivals.lay_out([problem("1", ["a"], "b"), problem("2", ["a"], "c")])
    with pytest.raises(CorpusError, match="no other"):
        rivals.normalise(texts, texts, *[np.ones((2, 1))] * 4)


def test_the_character_model_is_witten_bells(rivals: ModuleType) -> None:
    grams, contexts, starts, kinds = rivals.number_grams(["abab", "ba"])
    assert kinds == 2
    mean = rivals.predict(grams, contexts, starts, kinds, np.array([0]), np.array([1])).item()
    single = (2 + 2 * 0.5) / (4 + 2)  # of b, and of a: each twice among four, and two kinds
    after = (1 + 1 * single) / (1 + 1)  # b was once followed, by a
    assert mean == pytest.approx((math.log2(single) + math.log2(after)) / 2)


def test_chances_of_the_character_model_add_up_to_one(rivals: ModuleType) -> None:
    letters = sorted(set(learnt := phrase(1, 300)))
    context = learnt[40:45]
    ends = [context + letter for letter in letters]
    grams, contexts, starts, kinds = rivals.number_grams([learnt, context, *ends])
    means = rivals.predict(grams, contexts, starts, kinds, np.array([0]), np.arange(1, len(ends) + 2))[:, 0]
    chances = 2.0 ** (means[1:] * 6 - means[0] * 5)
    assert chances.sum() == pytest.approx(1)


def test_both_ways_of_prediction_are_unknown_by_known(rivals: ModuleType) -> None:
    texts = rivals.lay_out([problem("1", [phrase(1)], phrase(1, salt=1)), problem("2", [phrase(2)], phrase(2, salt=1))])
    for table in rivals.predict_both_ways(texts):
        assert table.shape == (2, 2)
        assert (np.diag(table) > table[[0, 1], [1, 0]]).all()


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


def test_answers_do_not_depend_on_the_truth(rivals: ModuleType, data: Path) -> None:
    before = rivals.run(data, "pan14-train-english", "ext", None, [])
    truth = data / "pan14-train-english" / "truth.txt"
    swapped = {"Y": "N", "N": "Y"}
    lines = [line.split() for line in truth.read_text().splitlines()]
    truth.write_text("".join(f"{name} {swapped[word]}\n" for name, word in lines))
    after = rivals.run(data, "pan14-train-english", "ext", None, [])
    assert before["answers"] == after["answers"]
    assert after["auc"] == pytest.approx(1 - before["auc"], abs=1e-3)


def test_results_are_stored_and_not_mixed_with_others(
    rivals: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "results" / "rivals.json"
    stored = rivals.load(path)
    row = {"corpus": "one", "seed": None, "auc": 0.75, "c_at_1": 0.5, "product": 0.375, "answers": [0.25, 0.75]}
    stored["runs"] = [{**row, "rival": "b"}, {**row, "rival": "a"}, {**row, "rival": "b", "corpus": "two", "auc": 0.25}]
    rivals.keep(path, stored)
    assert [row["rival"] for row in rivals.load(path)["runs"]] == ["a", "b", "b"]
    rivals.print_table(rivals.load(path)["runs"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "| one | 0.750/0.500/0.375 | 0.750/0.500/0.375 |"
    assert lines[3] == "| two |  | 0.250/0.500/0.375 |"
    assert lines[4] == "| plain mean | 0.750/0.500/0.375 | 0.500/0.500/0.375 |"
    path.write_text(json.dumps({**stored, "gram": 3}))
    with pytest.raises(SystemExit, match="other settings"):
        rivals.load(path)


def made_up(noise: float, corpus: str, seed: int) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    answers = np.clip([0.8 if place % 2 else 0.2 for place in range(40)] + noise * rng.standard_normal(40), 0, 1)
    return {"corpus": corpus, "seed": seed, "answers": answers.round(3).tolist()}


def test_better_answers_are_ahead_of_worse_ones(rivals: ModuleType) -> None:
    names = ("one", "two")
    problems = {corpus: [problem(f"{n:02d}", [f"k{n}"], f"u{n}") for n in range(40)] for corpus in names}
    truth = {corpus: {f"{n:02d}": n % 2 == 1 for n in range(40)} for corpus in names}
    good = [made_up(0.1, corpus, seed) for corpus in names for seed in range(2)]
    bad = [made_up(0.6, corpus, 7) for corpus in (*names, "three")]
    product, other, found = rivals.compare_products(good, bad, problems, truth)
    assert found.difference == pytest.approx(product - other)
    assert found.interval.low < found.difference < found.interval.high
    assert found.higher > 0.99
    back = rivals.compare_products(bad, good, problems, truth)[2]
    assert back.higher == pytest.approx(1 - found.higher)
    assert rivals.compare_products(good, good, problems, truth)[2].higher == 0.5
    with pytest.raises(CorpusError, match="40"):
        rivals.compare_products(good, [{"corpus": "one", "answers": [0.5]}], problems, truth)


def test_stored_results_are_compared_with_the_rivals(
    rivals: ModuleType, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rivals, "RESULTS", data)
    with pytest.raises(SystemExit, match="not found"):
        rivals.print_comparisons("some", [], data)
    corpus = "pan15-train-english"
    rows = [rivals.run(data, corpus, "a", None, [])]
    (data / "pan-some.json").write_text(json.dumps({"runs": [{"corpus": corpus, "seed": 0}]}))
    with pytest.raises(SystemExit, match="no answers"):
        rivals.print_comparisons("some", rows, data)
    (data / "pan-some.json").write_text(json.dumps({"runs": [{**rows[0], "seed": seed} for seed in range(2)]}))
    rivals.print_comparisons("some", rows, data)
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.startswith("| a | 1 | ")
    assert line.endswith(" | +0.000 | +0.000 to +0.000 | 0.500 |")


def test_stored_answers_are_worth_what_is_stored(rivals: ModuleType, pan_data: Path) -> None:
    rows = rivals.load(rivals.STORED)["runs"]
    assert rows
    truths = {name: read_truth(pan_data / name) for name in {row["corpus"] for row in rows}}
    names = {name: [problem.id for problem in read_problems(pan_data / name).problems] for name in truths}
    for row in rows:
        truth, ids = truths[row["corpus"]], names[row["corpus"]]
        assert ids == sorted(ids)
        assert rivals.measure([truth[name] for name in ids], row["answers"]).product == pytest.approx(
            row["product"], abs=1e-4
        )

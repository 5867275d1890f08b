"""Who seems to write each passage along a text: windows, the path through the authors, the command."""

from __future__ import annotations

import inspect
import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from byline.author_models.model import AuthorModel, train_authors
from byline.author_models.model_file import write_author_model
from byline.cli.rolling import print_rolling, rolling_command
from byline.corpora.author_corpus import make_author_corpus
from byline.corpora.documents import Document
from byline.engines.matrix import Table
from byline.errors import SettingsError, TooLittleText
from byline.settings.settings import read_pool
from byline.tasks import rolling
from byline.tasks.rolling import Rolling, roll
from programs import run
from samples import phrase

AUTHORS = ("Ann", "Ben", "Cid")
PASTED = Document("book.txt", phrase(0, 3000, 9) + " " + phrase(1, 2410, 9))
SEAM = len(phrase(0, 3000, 9))


@pytest.fixture(scope="module")
def model() -> AuthorModel:
    documents = [Document(f"{author}{salt}", phrase(author, 1200, salt)) for author in range(3) for salt in range(3)]
    return train_authors(make_author_corpus(documents, [AUTHORS[n // 3] for n in range(9)]), read_pool("authors").rows)


@pytest.fixture(scope="module")
def rolled(model: AuthorModel) -> Rolling:
    return roll(model, PASTED, 600, 200)


class TestWindows:
    def test_they_cover_the_whole_text_and_no_more(self, rolled: Rolling) -> None:
        length = len(PASTED.text)
        begins = [passage.begin for passage in rolled.passages]
        assert begins[:-1] == list(range(0, length - 600 + 1, 200))
        assert begins[-1] == length - 600
        assert all(passage.end - passage.begin == 600 for passage in rolled.passages)

    def test_a_text_as_long_as_a_window_is_one(self, model: AuthorModel) -> None:
        text = phrase(2, 700, 3)[:600]
        found = roll(model, Document("short", text), 600, 600)
        assert [(each.begin, each.end) for each in found.passages] == [(0, 600)]
        assert [(each.begin, each.end, each.author) for each in found.stretches] == [(0, 600, "Cid")]


class TestChanges:
    def test_a_text_pasted_from_two_authors_changes_once_near_the_seam(self, rolled: Rolling) -> None:
        assert rolled.document == "book.txt"
        (change,) = rolled.changes
        assert abs(change - SEAM) <= 200
        assert [each.author for each in rolled.stretches] == ["Ann", "Ben"]
        assert all(each.probability > 0.9 for each in rolled.stretches)

    def test_stretches_follow_each_other_from_end_to_end(self, rolled: Rolling) -> None:
        ends = [0, *(each.end for each in rolled.stretches)]
        assert [each.begin for each in rolled.stretches] == ends[:-1]
        assert ends[-1] == len(PASTED.text)

    def test_one_author_s_text_has_none(self, model: AuthorModel) -> None:
        found = roll(model, Document("book", phrase(1, 3000, 7)), 600, 200)
        assert found.changes == ()
        assert [(each.begin, each.end, each.author) for each in found.stretches] == [
            (0, len(phrase(1, 3000, 7)), "Ben")
        ]

    def test_a_table_has_a_row_for_each_passage_and_author(self, rolled: Rolling) -> None:
        frame = rolled.to_pandas()
        assert list(frame.columns) == ["begin", "end", "rank", "author", "probability"]
        wide = frame.pivot_table(index="begin", columns="author", values="probability")
        assert (list(wide.columns), list(wide.index)) == (list(AUTHORS), [each.begin for each in rolled.passages])
        np.testing.assert_allclose(wide.sum(axis=1), 1)
        first = frame[frame["rank"] == 1]["author"].tolist()
        assert first == [AUTHORS[n] for n in wide.to_numpy().argmax(axis=1)]

    def test_blank_pages_between_are_no_passages(self, model: AuthorModel) -> None:
        text = phrase(0, 2000, 7) + "\n" * 1500 + phrase(1, 2000, 7)
        found = roll(model, Document("book", text), 600, 200)
        assert len(found.passages) < (len(text) - 600) / 200 - 3
        assert [each.author for each in found.stretches] == ["Ann", "Ben"]
        (change,) = found.changes
        assert 1800 < change < 3700


class TestStandingOut:
    def test_the_terminal_says_so(self, rolled: Rolling, capsys: pytest.CaptureFixture[str]) -> None:
        faint = replace(rolled, stretches=(rolling.AuthorStretch(0, 5410, "Ann", 0.25),))
        print_rolling(faint)
        told = " ".join(capsys.readouterr().out.split())
        assert "nobody stands out; most like Ann (0.250 on average)" in told
        assert "changes may have been missed" in told


class TestKnownTexts:
    """No window is judged as if the model had not learned it."""

    def test_a_text_that_the_model_has_learned_is_named_once(
        self, model: AuthorModel, caplog: pytest.LogCaptureFixture
    ) -> None:
        roll(model, Document("book.txt", phrase(0, 1200, 0)), 600, 200)
        (record,) = caplog.records
        assert record.levelno == logging.WARNING
        assert record.getMessage().startswith("book.txt: shares 100 characters or more word for word with 00 by Ann")

    def test_of_others_nothing_is_said(self, model: AuthorModel, caplog: pytest.LogCaptureFixture) -> None:
        roll(model, PASTED, 600, 200)
        assert caplog.records == []


class TestPath:
    """Worked by hand: two authors, a step as long as a window."""

    CHANCES = np.array([[0.9, 0.1], [0.4, 0.6], [0.9, 0.1]])

    def test_the_probability_at_which_the_path_turns_is_worked_by_hand(self) -> None:
        # .6 c² = .4 (1 - c)² where c / (1 - c) is the root of 2/3, so c is .449
        assert rolling.most_probable_path(self.CHANCES, 1, 0.445) == [0, 0, 0]
        assert rolling.most_probable_path(self.CHANCES, 1, 0.455) == [0, 1, 0]

    def test_windows_that_overlap_count_less(self) -> None:
        turned = np.array([[0.9, 0.1]] * 4 + [[0.1, 0.9]] * 3)
        assert rolling.most_probable_path(turned[:-1], 1, 0.01) == [0] * 6  # a change costs 99 times, and gains 9²
        assert rolling.most_probable_path(turned, 1, 0.01) == [0, 0, 0, 0, 1, 1, 1]  # 9³ is more
        assert rolling.most_probable_path(turned, 0.5, 0.01) == [0] * 7  # the root of 9³ is less

    def test_an_impossible_author_does_not_stop_the_path(self) -> None:
        assert rolling.most_probable_path(np.array([[1.0, 0.0], [0.0, 1.0]]), 1, 0.01) == [0, 1]

    @given(
        chances=arrays(
            np.float64, st.tuples(st.integers(1, 12), st.integers(2, 6)), elements=st.floats(0.001, 1), unique=True
        ),
        share=st.floats(0.1, 1),
        changes=st.floats(0.01, 0.99),
    )
    @example(chances=np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]]), share=1.0, changes=0.95)  # changing is usual
    def test_no_path_is_more_probable(self, chances: Table, share: float, changes: float) -> None:
        """Beside the step from each author to each: its path may be another, but none is better."""
        logs = np.log(chances) * share
        count = chances.shape[1]
        moves = np.full((count, count), np.log(changes / (count - 1)))
        np.fill_diagonal(moves, np.log(1 - changes))
        best = logs[0]
        for row in logs[1:]:
            best = (best[:, None] + moves).max(axis=0) + row
        path = rolling.most_probable_path(chances, share, changes)
        reached = logs[np.arange(len(path)), path].sum() + moves[path[:-1], path[1:]].sum()
        assert reached == pytest.approx(best.max(), abs=1e-9)


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "values"),
        [
            *(("window", (window, 0)) for window in (199, 0, -1)),  # the first limit is named
            *(("step", (600, step)) for step in (0, 601, -5)),
            *(("changes", (600, 200, changes)) for changes in (0, 1, -0.1, float("nan"))),
        ],
    )
    def test_values_out_of_range(self, model: AuthorModel, name: str, values: tuple[Any, ...]) -> None:
        with pytest.raises(SettingsError) as error:
            roll(model, PASTED, *values)
        assert error.value.where == name

    @pytest.mark.parametrize("text", [phrase(0, 700)[:599], "中文" * 500])
    def test_a_text_shorter_than_a_window_or_of_unknown_letters(self, model: AuthorModel, text: str) -> None:
        with pytest.raises(TooLittleText) as error:
            roll(model, Document("note", text), 600, 200)
        assert error.value.where == "note"
        assert error.value.remedy

    def test_more_windows_than_can_be(self, model: AuthorModel, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(rolling, "MAX_WINDOWS", 10)
        with pytest.raises(SettingsError, match="10 at most") as error:
            roll(model, PASTED, 600, 200)
        assert "{step}" in str(error.value.remedy)


class TestCommand:
    def test_passages_and_stretches_are_printed(self, model: AuthorModel, rolled: Rolling, tmp_path: Path) -> None:
        write_author_model(tmp_path / "m.byline", model)
        (tmp_path / "book.txt").write_text(PASTED.text, "utf-8")
        words = ("rolling", tmp_path / "m.byline", tmp_path / "book.txt", "--window", "600", "--step", "200")
        done = run(*words, "--quiet")
        assert (done.returncode, done.stderr) == (0, "")
        (change,) = rolled.changes
        assert f"characters 0 to {change:,}: Ann" in done.stdout
        assert "1 change of author" in done.stdout
        found = json.loads(run(*words, "--json").stdout)
        assert found["changes"] == [change]
        assert [each["author"] for each in found["stretches"]] == ["Ann", "Ben"]
        assert [each["begin"] for each in found["passages"]] == [each.begin for each in rolled.passages]
        for row, passage in zip(found["passages"], rolled.passages, strict=True):
            assert row["probability"] == pytest.approx(passage.attribution.probability, abs=1e-6)
            assert len(row["ranking"]) == 3
        short = run(*words[:3], "--window", "9000")
        assert short.returncode == 1
        assert "fewer than a window of 9,000" in short.stderr
        for book in (tmp_path / "gone.txt", tmp_path):
            done = run("rolling", tmp_path / "m.byline", book)
            assert done.returncode == 1
            assert done.stderr.startswith(f"byline: {book}: ")

    def test_what_is_usual_is_what_the_library_takes(self) -> None:
        usual = {name: each.default for name, each in inspect.signature(rolling_command).parameters.items()}
        wanted = (rolling.WINDOW, rolling.STEP, rolling.CHANGES)
        assert (usual["window"], usual["step"], usual["changes"]) == wanted

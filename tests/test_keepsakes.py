"""What a run keeps to explain its answers: the very texts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from byline.combination import combine_runs
from byline.errors import RunError
from byline.execution import Keep
from byline.keepsakes import read_kept_problems
from byline.problems import read_problems
from byline.runs import TEXTS, read_plan
from byline.settings import Settings
from byline.testimony import read_evidence
from byline.verification import verify
from conftest import phrase

NGRAM = Settings(engine="ngram", order=3)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for number in range(6):
        own = folder / f"P{number}"
        own.mkdir()
        (own / "known01.txt").write_text("\ufeff  \u00c9tude:\r\n" + phrase(number, 300, 0), "utf-8")
        (own / "known02.txt").write_text(phrase(number, 300, 1) + "\u2026 \u2603", "utf-8")
        (own / "unknown.txt").write_text("No\u0308! " + phrase(number + number % 2, 300, 2 + number), "utf-8")
    return folder


@pytest.fixture(scope="module")
def kept(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept") / "run"
    verify(corpus, NGRAM.change({"train_on": "both"}), keep=Keep(folder))
    return folder


def test_the_texts_are_those_that_were_answered(corpus: Path, kept: Path) -> None:
    assert tuple(read_kept_problems(kept, read_plan(kept)).values()) == read_problems(corpus).problems


def test_what_was_not_kept_is_said(corpus: Path, tmp_path: Path) -> None:
    verify(corpus, NGRAM, keep=Keep(tmp_path / "run", evidence=False))
    assert read_evidence(tmp_path / "run/members/0001") == ()
    with pytest.raises(RunError, match=r"problems.jsonl: not there, so texts can't be shown; run byline verify again"):
        read_kept_problems(tmp_path / "run", read_plan(tmp_path / "run"))


def test_joined_runs_keep_texts_and_evidence(corpus: Path, tmp_path: Path) -> None:
    for seed in (0, 1):
        verify(corpus, Settings(hidden=3, sub_epochs=1), seed=seed, keep=Keep(tmp_path / str(seed)))
    combine_runs([tmp_path / "0", tmp_path / "1"], tmp_path / "both")
    assert len(read_kept_problems(tmp_path / "both", read_plan(tmp_path / "both"))) == 6
    assert all(read_evidence(tmp_path / f"both/members/000{n}") for n in (1, 2))


class TestDamage:
    def copy(self, kept: Path, tmp_path: Path) -> Path:
        return Path(shutil.copytree(kept, tmp_path / "run"))

    @pytest.mark.parametrize(
        "content", [b"", b"{", b"[]\n", b"\xff\n", b'{"id": "P0"}\n', b"null\n", b'{"id":1,"known":3}\n']
    )
    def test_texts(self, kept: Path, tmp_path: Path, content: bytes) -> None:
        run = self.copy(kept, tmp_path)
        (run / TEXTS).write_bytes(content)
        with pytest.raises(RunError, match=r"problems.jsonl: damaged"):
            read_kept_problems(run, read_plan(run))

    def test_texts_that_lack_a_problem(self, kept: Path, tmp_path: Path) -> None:
        run = self.copy(kept, tmp_path)
        lines = (run / TEXTS).read_text("utf-8").splitlines(keepends=True)
        for changed in (lines[:-1], [*lines, lines[0]]):
            (run / TEXTS).write_text("".join(changed), "utf-8")
            with pytest.raises(RunError, match="these are not the texts that were answered"):
                read_kept_problems(run, read_plan(run))

    def test_texts_that_are_gone_come_back_when_the_run_goes_on(self, corpus: Path, tmp_path: Path) -> None:
        verify(corpus, NGRAM, keep=Keep(tmp_path / "run", evidence=False))
        verify(corpus, NGRAM, keep=Keep(tmp_path / "run", resume=True))
        assert len(read_kept_problems(tmp_path / "run", read_plan(tmp_path / "run"))) == 6

    def test_other_texts(self, kept: Path, tmp_path: Path) -> None:
        run = self.copy(kept, tmp_path)
        rows = [json.loads(line) for line in (run / TEXTS).read_text("utf-8").splitlines()]
        rows[2]["unknown"]["text"] += "."
        (run / TEXTS).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        with pytest.raises(RunError, match="these are not the texts that were answered"):
            read_kept_problems(run, read_plan(run))

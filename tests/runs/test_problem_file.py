"""What a run keeps to explain its answers: the very texts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from byline.corpora.problems import read_problems
from byline.errors import RunError
from byline.runs.folder import TEXTS, RunOutput, read_plan, read_problem_file
from byline.runs.member_files import read_evidence
from byline.settings.settings import Settings
from byline.tasks.verify import verify

NGRAM = Settings(engine="ngram", order=3)


def test_the_texts_are_those_that_were_answered(marked_corpus: Path, marked_run: Path) -> None:
    assert tuple(read_problem_file(marked_run, read_plan(marked_run)).values()) == read_problems(marked_corpus).problems


def test_what_was_not_kept_is_said(marked_corpus: Path, tmp_path: Path) -> None:
    verify(marked_corpus, NGRAM, output=RunOutput(tmp_path / "run", evidence=False))
    assert read_evidence(tmp_path / "run/members/0001") == ()
    with pytest.raises(RunError, match="missing") as refused:
        read_problem_file(tmp_path / "run", read_plan(tmp_path / "run"))
    assert refused.value.where == str(tmp_path / "run" / TEXTS)
    assert "{overwrite}" in str(refused.value.remedy)


class TestDamage:
    def copy(self, marked_run: Path, tmp_path: Path) -> Path:
        return Path(shutil.copytree(marked_run, tmp_path / "run"))

    @pytest.mark.parametrize(
        "content", [b"", b"{", b"[]\n", b"\xff\n", b'{"id": "P0"}\n', b"null\n", b'{"id":1,"known":3}\n']
    )
    def test_texts(self, marked_run: Path, tmp_path: Path, content: bytes) -> None:
        self.require_refused(self.copy(marked_run, tmp_path), content)

    def require_refused(self, run: Path, content: bytes) -> None:
        (run / TEXTS).write_bytes(content)
        with pytest.raises(RunError, match="damaged") as refused:
            read_problem_file(run, read_plan(run))
        assert refused.value.where == str(run / TEXTS)
        assert "{resume}" in str(refused.value.remedy)

    def test_texts_that_lack_a_problem_or_repeat_or_change_one(self, marked_run: Path, tmp_path: Path) -> None:
        run = self.copy(marked_run, tmp_path)
        lines = (run / TEXTS).read_text("utf-8").splitlines(keepends=True)
        changed = json.loads(lines[2])
        changed["unknown"]["text"] += "."
        for other in (lines[:-1], [*lines, lines[0]], [*lines[:2], json.dumps(changed) + "\n", *lines[3:]]):
            self.require_refused(run, "".join(other).encode())

    def test_texts_that_are_gone_come_back_when_the_run_goes_on(self, marked_corpus: Path, tmp_path: Path) -> None:
        verify(marked_corpus, NGRAM, output=RunOutput(tmp_path / "run", evidence=False))
        verify(marked_corpus, NGRAM, output=RunOutput(tmp_path / "run", resume=True))
        assert len(read_problem_file(tmp_path / "run", read_plan(tmp_path / "run"))) == 6

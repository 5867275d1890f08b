"""What a member keeps of each question: evidence in the places of the originals."""

from __future__ import annotations

import shutil
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from byline.corpora.problems import read_problems
from byline.engines.matrix import find_head_levels, mean_gains
from byline.engines.ngram.engine import fill_matrix
from byline.engines.protocol import Runtime
from byline.engines.questions import find_sharing_texts, prepare_questions
from byline.errors import RunError
from byline.runs.executor import Execution
from byline.runs.folder import RunOutput
from byline.runs.member_files import EVIDENCE, GAINS, read_evidence, read_record
from byline.settings.settings import Settings
from byline.storage.files import checked_json, read_checked_json, sha256
from byline.tasks.verify import verify
from byline.text.encoder import values_by_character

NGRAM = Settings(engine="ngram", order=3)
BOTH = NGRAM.change({"train_on": "both"})
HALF = 2.0**-11
"""The part of a number that half precision may lose."""


def test_evidence_is_in_the_places_of_the_originals_and_adds_up(marked_corpus: Path, marked_run: Path) -> None:
    problems = read_problems(marked_corpus).problems
    prepared = prepare_questions(problems, BOTH, (), find_sharing_texts(problems))
    matrices = [side.matrix for side in read_record(marked_run / "members/0001").sides]
    levels = {
        (question.problem, way): mean_gains(side, matrix)[matrix.place(question.document, question.head)] - level
        for way, (side, matrix) in enumerate(zip(prepared.sides, matrices, strict=True), start=1)
        for question, level in zip(side.questions, find_head_levels(side, matrix), strict=True)
    }
    found = read_evidence(marked_run / "members/0001")
    assert sorted((each.problem, each.way) for each in found) == [(n, way) for n in range(6) for way in (1, 2)]
    ways = [fill_matrix(side, BOTH, np.random.default_rng(0), Runtime(evidence=True)) for side in prepared.sides]
    for each in found:
        problem = problems[each.problem]
        texts = [problem.unknown.text, *(document.text for document in problem.known)]
        assert sorted(each.gains) == ([0] if each.way == 1 else [1, 2])
        side, filled = prepared.sides[each.way - 1], ways[each.way - 1]
        (number,) = [n for n, question in enumerate(side.questions) if question.problem == each.problem]
        laid = [side.texts[text] for text in side.documents[side.questions[number].document]]
        parts = np.split(filled.gains[number], np.cumsum([len(text) for text in laid])[:-1])
        own = {text.tobytes(): part for text, part in zip(laid, parts, strict=True)}
        level = find_head_levels(side, filled.matrix)[number]
        counted, lost = 0, 0.0
        for document, gains in each.gains.items():
            assert len(gains) == len(texts[document])
            assert (gains != 0).mean() > 0.9
            symbols = prepared.encoder.encode(texts[document])
            part = own.pop(symbols.tobytes())
            exact = values_by_character(prepared.encoder, texts[document], np.where(part != 0, part - level, 0))
            np.testing.assert_allclose(gains.astype(np.float64), exact, rtol=HALF, atol=1e-7)
            lost += float(np.abs(exact).sum()) * HALF
            counted += len(symbols) - NGRAM.skip
        total = sum(gains.sum(dtype=np.float64) for gains in each.gains.values())
        beyond = levels[each.problem, each.way]
        assert not own
        assert total / counted == pytest.approx(beyond, abs=lost / counted + 1e-6)


def test_gains_stay_in_their_file(marked_run: Path) -> None:
    everything = read_evidence(marked_run / "members/0001")
    assert all(isinstance(gains, np.memmap) for each in everything for gains in each.gains.values())


@pytest.mark.parametrize("engine", ["ngram", "rnn", "vectors"])
def test_workers_and_threads_do_not_matter(marked_corpus: Path, tmp_path: Path, engine: str) -> None:
    settings = Settings(engine=engine, **({"hidden": 4, "sub_epochs": 1} if engine == "rnn" else {}))
    for workers in (1, 6):
        verify(marked_corpus, settings, output=RunOutput(tmp_path / str(workers)), execution=Execution(workers=workers))
    for name in (EVIDENCE, GAINS) if engine != "vectors" else (EVIDENCE,):
        one, other = ((tmp_path / f"{workers}/members/0001" / name).read_bytes() for workers in (1, 6))
        assert one == other


def test_a_way_that_judges_the_unknown_text_tells_of_that_alone(marked_corpus: Path, tmp_path: Path) -> None:
    verify(marked_corpus, NGRAM.change({"train_on": "known", "swap_short": False}), output=RunOutput(tmp_path / "run"))
    assert {tuple(each.gains) for each in read_evidence(tmp_path / "run/members/0001")} == {(0,)}


def test_vectors_name_n_grams_and_no_characters(marked_corpus: Path, tmp_path: Path) -> None:
    verify(marked_corpus, Settings(engine="vectors"), output=RunOutput(tmp_path / "run"))
    found = read_evidence(tmp_path / "run/members/0001")
    assert all(not each.gains and len(each.features) > 10 for each in found)
    assert all(np.sign(each.features[0].weight) == 1 for each in found)


class TestDamage:
    def copy(self, marked_run: Path, tmp_path: Path) -> Path:
        return Path(shutil.copytree(marked_run, tmp_path / "run"))

    def sign(self, home: Path, name: str, content: bytes) -> None:
        (home / name).write_bytes(content)
        values = read_checked_json(home / "member.json")
        values["files"][name] = sha256(content)
        (home / "member.json").write_bytes(checked_json(values))

    @pytest.mark.parametrize("name", [EVIDENCE, GAINS])
    def test_evidence_that_was_changed(self, marked_run: Path, tmp_path: Path, name: str) -> None:
        run = self.copy(marked_run, tmp_path)
        path = run / "members/0001" / name
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        with pytest.raises(RunError, match="damaged"):
            read_evidence(path.parent)

    @pytest.mark.parametrize("name", [EVIDENCE, GAINS])
    def test_evidence_that_is_gone(self, marked_run: Path, tmp_path: Path, name: str) -> None:
        home = self.copy(marked_run, tmp_path) / "members/0001"
        (home / name).unlink()
        with pytest.raises(RunError, match=f"{name} is missing"):
            read_evidence(home)

    @pytest.mark.parametrize(
        "content",
        [
            b"[{}]",
            b"3",
            b"[3]",
            b'[{"way": "x"}]',
            b"[" * 100_000,
            b'[{"way": 1, "problem": 0, "features": [], "gains": [[0, 0, 1000000]]}]',
            b'[{"way": 1, "problem": 0, "features": [], "gains": [[0, -5, 10]]}]',
            b'[{"way": 1, "problem": 0, "features": [], "gains": [[0, 0.5, 10]]}]',
        ],
    )
    def test_evidence_under_a_valid_checksum(self, marked_run: Path, tmp_path: Path, content: bytes) -> None:
        home = self.copy(marked_run, tmp_path) / "members/0001"
        self.sign(home, EVIDENCE, content)
        with pytest.raises(RunError, match="damaged"):
            read_evidence(home)

    @pytest.mark.parametrize(
        "array",
        [None, np.zeros(9, np.float16), np.zeros((9000, 1), np.float16), np.zeros(9000), np.array([None] * 9000)],
    )
    def test_gains_under_a_valid_checksum(self, marked_run: Path, tmp_path: Path, array: Any) -> None:
        home = self.copy(marked_run, tmp_path) / "members/0001"
        buffer = BytesIO()
        if array is not None:
            np.save(buffer, array)
        self.sign(home, GAINS, buffer.getvalue())
        with pytest.raises(RunError, match="damaged"):
            read_evidence(home)

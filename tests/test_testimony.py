"""What a member keeps of each question: evidence in the places of the originals."""

from __future__ import annotations

import shutil
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from byline.engines import Watch
from byline.engines.ngram import fill_matrix
from byline.errors import RunError
from byline.execution import Keep
from byline.gains import standings
from byline.places import spread_back
from byline.problems import read_problems
from byline.questions import prepare_questions, texts_sharing
from byline.runs import read_record
from byline.settings import Settings
from byline.storage import checked_json, read_checked_json, sha256
from byline.testimony import EVIDENCE, GAINS, OLD_GAINS, read_evidence
from byline.verification import verify
from conftest import phrase

NGRAM = Settings(engine="ngram", order=3)
BOTH = NGRAM.change({"train_on": "both"})
HALF = 2.0**-11
"""The part of a number that half precision may lose."""


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
    verify(corpus, BOTH, keep=Keep(folder))
    return folder


def test_evidence_is_in_the_places_of_the_originals_and_adds_up(corpus: Path, kept: Path) -> None:
    problems = read_problems(corpus).problems
    prepared = prepare_questions(problems, BOTH, (), texts_sharing(problems))
    matrices = [side.matrix for side in read_record(kept / "members/0001").sides]
    levels = {
        (question.problem, way): standing.relative - standing.level
        for way, (side, matrix) in enumerate(zip(prepared.sides, matrices, strict=True), start=1)
        for question, standing in zip(side.questions, standings(side, matrix), strict=True)
    }
    found = read_evidence(kept / "members/0001")
    assert sorted((each.problem, each.way) for each in found) == [(n, way) for n in range(6) for way in (1, 2)]
    ways = [fill_matrix(side, BOTH, np.random.default_rng(0), Watch(evidence=True)) for side in prepared.sides]
    for each in found:
        problem = problems[each.problem]
        texts = [problem.unknown.text, *(document.text for document in problem.known)]
        assert sorted(each.gains) == ([0] if each.way == 1 else [1, 2])
        side, filled = prepared.sides[each.way - 1], ways[each.way - 1]
        (number,) = [n for n, question in enumerate(side.questions) if question.problem == each.problem]
        laid = [side.texts[text] for text in side.documents[side.questions[number].document]]
        parts = np.split(filled.gains[number], np.cumsum([len(text) for text in laid])[:-1])
        own = {text.tobytes(): part for text, part in zip(laid, parts, strict=True)}
        level = standings(side, filled.matrix)[number].level
        counted, lost = 0, 0.0
        for document, gains in each.gains.items():
            assert len(gains) == len(texts[document])
            assert (gains != 0).mean() > 0.9
            symbols = prepared.view.encode(texts[document])
            part = own.pop(symbols.tobytes())
            exact = spread_back(prepared.view, texts[document], np.where(part != 0, part - level, 0))
            np.testing.assert_allclose(gains.astype(np.float64), exact, rtol=HALF, atol=1e-7)
            lost += float(np.abs(exact).sum()) * HALF
            counted += len(symbols) - NGRAM.skip
        total = sum(gains.sum(dtype=np.float64) for gains in each.gains.values())
        beyond = levels[each.problem, each.way]
        assert not own
        assert total / counted == pytest.approx(beyond, abs=lost / counted + 1e-6)


def test_one_problem_is_read_alone_and_its_gains_stay_in_the_file(kept: Path) -> None:
    everything = read_evidence(kept / "members/0001")
    own = read_evidence(kept / "members/0001", 3)
    assert [(each.problem, each.way) for each in own] == [(3, 1), (3, 2)]
    for each, same in zip(own, [each for each in everything if each.problem == 3], strict=True):
        assert each.features == same.features
        for document, gains in each.gains.items():
            np.testing.assert_array_equal(gains, same.gains[document])
            assert isinstance(gains, np.memmap)
    assert read_evidence(kept / "members/0001", 99) == ()


def test_gains_are_one_array_of_two_bytes_a_character(corpus: Path, kept: Path) -> None:
    characters = sum(
        len(document.text)
        for problem in read_problems(corpus).problems
        for document in (problem.unknown, *problem.known)
    )
    gains = np.load(kept / "members/0001" / GAINS)
    assert (gains.dtype, gains.shape) == (np.float16, (characters,))


@pytest.mark.parametrize("engine", ["ngram", "rnn", "vectors"])
def test_workers_and_threads_do_not_matter(corpus: Path, tmp_path: Path, engine: str) -> None:
    settings = Settings(engine=engine, **({"hidden": 4, "sub_epochs": 1} if engine == "rnn" else {}))
    for workers in (1, 6):
        verify(corpus, settings, keep=Keep(tmp_path / str(workers)), workers=workers)
    for name in (EVIDENCE, GAINS) if engine != "vectors" else (EVIDENCE,):
        one, other = ((tmp_path / f"{workers}/members/0001" / name).read_bytes() for workers in (1, 6))
        assert one == other


def test_a_way_that_judges_the_unknown_text_tells_of_that_alone(corpus: Path, tmp_path: Path) -> None:
    verify(corpus, NGRAM.change({"train_on": "known", "swap_short": False}), keep=Keep(tmp_path / "run"))
    assert {tuple(each.gains) for each in read_evidence(tmp_path / "run/members/0001")} == {(0,)}


def test_vectors_name_n_grams_and_no_characters(corpus: Path, tmp_path: Path) -> None:
    verify(corpus, Settings(engine="vectors"), keep=Keep(tmp_path / "run"))
    found = read_evidence(tmp_path / "run/members/0001")
    assert all(not each.gains and len(each.features) > 10 for each in found)
    assert all(np.sign(each.features[0].weight) == 1 for each in found)


class TestDamage:
    def copy(self, kept: Path, tmp_path: Path) -> Path:
        return Path(shutil.copytree(kept, tmp_path / "run"))

    def test_evidence_of_an_older_version_is_named(self, kept: Path, tmp_path: Path) -> None:
        home = self.copy(kept, tmp_path) / "members/0001"
        self.sign(home, OLD_GAINS, b"")
        with pytest.raises(RunError, match="kept by an older version; run byline verify again, with --overwrite"):
            read_evidence(home)

    def sign(self, home: Path, name: str, content: bytes) -> None:
        (home / name).write_bytes(content)
        values = read_checked_json(home / "member.json")
        values["files"][name] = sha256(content)
        (home / "member.json").write_bytes(checked_json(values))

    @pytest.mark.parametrize("name", [EVIDENCE, GAINS])
    def test_evidence_that_was_changed(self, kept: Path, tmp_path: Path, name: str) -> None:
        run = self.copy(kept, tmp_path)
        path = run / "members/0001" / name
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        with pytest.raises(RunError, match="its evidence is damaged"):
            read_evidence(path.parent)

    @pytest.mark.parametrize("name", [EVIDENCE, GAINS])
    def test_evidence_that_is_gone(self, kept: Path, tmp_path: Path, name: str) -> None:
        home = self.copy(kept, tmp_path) / "members/0001"
        (home / name).unlink()
        with pytest.raises(RunError, match=f"its evidence is damaged .{name} is missing"):
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
    def test_evidence_under_a_valid_checksum(self, kept: Path, tmp_path: Path, content: bytes) -> None:
        home = self.copy(kept, tmp_path) / "members/0001"
        self.sign(home, EVIDENCE, content)
        with pytest.raises(RunError, match="its evidence is damaged"):
            read_evidence(home)

    @pytest.mark.parametrize(
        "array",
        [None, np.zeros(9, np.float16), np.zeros((9000, 1), np.float16), np.zeros(9000), np.array([None] * 9000)],
    )
    def test_gains_under_a_valid_checksum(self, kept: Path, tmp_path: Path, array: Any) -> None:
        home = self.copy(kept, tmp_path) / "members/0001"
        buffer = BytesIO()
        if array is not None:
            np.save(buffer, array)
        self.sign(home, GAINS, buffer.getvalue())
        with pytest.raises(RunError, match="its evidence is damaged"):
            read_evidence(home)

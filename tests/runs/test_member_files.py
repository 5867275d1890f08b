"""The layout of a reference population in a member's matrix file: read as it was written, refused if it is damaged."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load, save

from byline.corpora.documents import Document
from byline.corpora.problems import Problem, ProblemSet
from byline.corpora.reference import Reference, ReferenceText
from byline.engines.matrix import Matrix, Side
from byline.engines.questions import Question, ReferenceLayout
from byline.engines.reference_questions import prepare_reference
from byline.errors import RunError
from byline.runs.folder import RunFolder, RunOutput, read_members, read_plan
from byline.runs.member_files import Record, matrix_bytes, read_record, sides_from_bytes
from byline.settings.settings import Settings
from byline.storage import files as storage
from byline.tasks.verify import verify
from samples import habits

NGRAM = Settings(engine="ngram")
LAYOUT = ReferenceLayout((0, 0, 1), (0, 1, 1), (0, 1), (True, False, False), (500, 250))
"""Of two problems with three own pairs, and two authors with three cases and two members of the cohort."""
COUNT = 2 + 3 + 3 + 2


def make_side(layout: ReferenceLayout | None = LAYOUT, way: int = 0) -> Side:
    rng = np.random.default_rng(way)
    matrix = Matrix(rng.random((COUNT, COUNT)), rng.random((COUNT, COUNT)) < 0.1)
    questions = Question(4, 0, 0), Question(2, 1, 1)
    return Side(matrix, questions, frozenset(questions[:1]), way, layout)


def read_back(*sides: Side) -> tuple[Side, ...]:
    return sides_from_bytes(matrix_bytes(sides), "bits per character")


def read_changed(changes: Mapping[str, np.ndarray | None]) -> tuple[Side, ...]:
    """Read a side, some of whose arrays are changed, or gone if they are None."""
    arrays = {**load(matrix_bytes([make_side()])), **changes}
    return sides_from_bytes(save({name: array for name, array in arrays.items() if array is not None}), "bits")


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


class TestRoundTrip:
    def test_a_layout_is_read_as_it_was_written(self) -> None:
        sides = make_side(), make_side(way=1)
        for kept, side in zip(read_back(*sides), sides, strict=True):
            assert kept.layout == LAYOUT
            assert (kept.questions, kept.incomparable, kept.way) == (side.questions, side.incomparable, side.way)
            np.testing.assert_array_equal(kept.matrix.excluded, side.matrix.excluded)

    def test_so_is_one_without_own_pairs(self) -> None:
        layout = replace(LAYOUT, own_pairs=(), cases=(0, 1, 1, 0, 0), halved=(False,) * 5, cohort=(0, 1, 1))
        assert read_back(make_side(layout))[0].layout == layout

    def test_a_side_without_a_reference_has_none(self) -> None:
        assert read_back(make_side(None))[0].layout is None

    def test_other_problems_may_have_another_layout(self) -> None:
        other = replace(
            make_side(replace(LAYOUT, lengths=(1000, 250))), questions=(Question(7, 0, 0), Question(5, 1, 1))
        )
        assert [side.layout.lengths for side in read_back(make_side(), other) if side.layout] == [
            (500, 250),
            (1000, 250),
        ]

    def test_the_layout_of_real_questions_is_kept(self) -> None:
        problems = [asked(), replace(asked(), id="EN002", known=asked().known * 2)]
        prepared = prepare_reference(problems, NGRAM, reference()).sides
        sides = [Side.of(Matrix(*np.zeros((2, len(each.documents), len(each.heads)))), each) for each in prepared]
        sides = [replace(side, matrix=replace(side.matrix, excluded=side.matrix.excluded > 0)) for side in sides]
        assert [side.layout for side in read_back(*sides)] == [side.layout for side in sides]
        assert all(side.layout is not None for side in sides)


class TestDamage:
    @pytest.mark.parametrize("name", ["own_pairs", "cases", "cohort", "halved", "lengths"])
    @pytest.mark.parametrize(
        "damage",
        [
            lambda array: None,
            lambda array: array.astype(np.int64),
            lambda array: array.astype(np.float32),
            lambda array: array[None],
            lambda array: array - array.max() - 1,
        ],
        ids=["gone", "int64", "float32", "two dimensions", "negative"],
    )
    def test_each_array_is_checked(self, name: str, damage) -> None:  # type: ignore[no-untyped-def]
        array = load(matrix_bytes([make_side()]))[f"{name}-1"]
        with pytest.raises(ValueError, match=f"{name} of its reference is damaged"):
            read_changed({f"{name}-1": damage(array)})

    @pytest.mark.parametrize(
        "changes",
        [
            {"own_pairs-1": ints(0, 0)},  # too few for the matrix
            {"own_pairs-1": ints(0, 0, 2)},  # there are two questions
            {"cases-1": ints(0, 1), "own_pairs-1": ints(0, 0, 1, 1)},  # one more may be a half
            {"cases-1": ints(), "halved-1": ints(), "own_pairs-1": ints(0, 0, 0, 1, 1, 1)},
            {"cases-1": ints(0, 1, 2)},  # an author who is not in the cohort
            {"cohort-1": ints(), "own_pairs-1": ints(0, 0, 1, 1, 1)},
            {"cohort-1": ints(0, 1, 1)},
            {"cohort-1": ints(0, 2_000_000_000), "cases-1": ints(0, 0, 0)},  # would take much memory
            {"halved-1": ints(1, 0)},
            {"halved-1": ints(2, 0, 0)},
            {"lengths-1": ints(500)},
            {"lengths-1": ints(500, 0)},
            {"lengths-1": ints(500, 250, 250)},
            {"questions-1": np.array([[4, 0, 0, 0], [2, 2, 2, 0]], np.int32)},  # not the place of the question
            {"questions-1": np.array([[4, 0, 0, 0], [2, 0, 1, 0]], np.int32)},
            {"heads-1": np.tile(np.arange(COUNT, dtype=np.int32)[::-1], (COUNT, 1))},
        ],
        ids=str,
    )
    def test_a_layout_that_does_not_fit_the_matrix_is_refused(self, changes: dict[str, np.ndarray]) -> None:
        with pytest.raises(ValueError, match="reference doesn't fit"):
            read_changed(changes)

    def test_both_ways_of_asking_have_the_same_layout(self) -> None:
        for other in (replace(LAYOUT, lengths=(500, 500)), replace(LAYOUT, cases=(0, 0, 1))):
            with pytest.raises(ValueError, match="different references"):
                read_back(make_side(), make_side(other, way=1))

    def test_all_problems_have_a_reference_or_none_has(self) -> None:
        other = replace(make_side(None), questions=(Question(7, 0, 0),))
        with pytest.raises(ValueError, match="only some"):
            read_back(make_side(), other)


def reference() -> Reference:
    return Reference(
        "english",
        tuple(ReferenceText(Document(f"{n}", habits(n, 400 + 50 * n)), f"person {n}") for n in range(11)),
    )


def asked() -> Problem:
    return Problem("EN001", (Document("k", habits("k", 300)),), Document("u", habits("u", 300)), "english")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("beside") / "run"
    verify(ProblemSet((asked(),), "folders"), NGRAM, reference=reference(), output=RunOutput(folder))
    return folder


@pytest.fixture
def copy(run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(run, tmp_path / "run"))


class TestRun:
    def change_matrix(self, folder: Path, changes: Mapping[str, np.ndarray | None]) -> Path:
        """Change arrays of the only member, or remove them; the checksums are set right."""
        member = folder / "members/0001"
        arrays = {**load((member / "matrix.safetensors").read_bytes()), **changes}
        content = save({name: array for name, array in arrays.items() if array is not None})
        (member / "matrix.safetensors").write_bytes(content)
        described = storage.read_checked_json(member / "member.json")
        described["files"]["matrix.safetensors"] = storage.sha256(content)
        (member / "member.json").write_bytes(storage.checked_json(described))
        return member

    def members(self, folder: Path) -> list[Record]:
        return list(read_members(folder, read_plan(folder)))

    def test_a_run_keeps_the_layout(self, run: Path) -> None:
        (record,) = self.members(run)
        prepared = prepare_reference([asked()], NGRAM, reference()).sides
        wanted = [Side.of(side.matrix, each).layout for side, each in zip(record.sides, prepared, strict=True)]
        assert [side.layout for side in record.sides] == wanted
        assert None not in wanted

    @pytest.mark.parametrize(
        "changes",
        [{"cases-1": None}, {"lengths-2": ints(250, 0)}, {"cohort-1": ints(3)}, {"halved-2": np.zeros(11)}],
        ids=str,
    )
    def test_a_damaged_layout_is_refused_and_the_member_ignored(
        self, copy: Path, changes: dict[str, np.ndarray | None], caplog: pytest.LogCaptureFixture
    ) -> None:
        member = self.change_matrix(copy, changes)
        with pytest.raises(RunError, match="reference") as refused:
            read_record(member)
        assert refused.value.where == str(member)
        assert self.members(copy) == []
        assert "made again if the run is resumed" in caplog.text

    def test_a_member_without_a_layout_is_of_another_run(self, copy: Path) -> None:
        names = [f"{name}-{way}" for way in (1, 2) for name in ("own_pairs", "cases", "cohort", "halved", "lengths")]
        member = self.change_matrix(copy, dict.fromkeys(names))
        assert [side.layout for side in read_record(member).sides] == [None, None]
        assert self.members(copy) == []

    def test_a_member_with_a_layout_is_of_no_run_without_a_reference(self, copy: Path) -> None:
        plan = read_plan(copy)
        assert RunFolder(copy, plan).load(plan.members[0], 0) is not None
        relative = replace(plan, judgment=replace(plan.judgment, interpretation="relative"))
        assert RunFolder(copy, relative).load(plan.members[0], 0) is None

    def test_a_run_of_the_earlier_layout_is_refused_with_a_remedy(self, copy: Path) -> None:
        values = storage.read_checked_json(copy / "plan.json")
        for earlier in (1, 2):
            (copy / "plan.json").write_bytes(storage.checked_json({**values, "format": earlier}))
            with pytest.raises(RunError, match="earlier Byline") as refused:
                read_plan(copy)
            assert refused.value.remedy

"""Run folders: what is kept, what goes on, what is refused."""

from __future__ import annotations

import errno
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load, save

from byline.corpora.answers import format_answers
from byline.corpora.problems import read_problems
from byline.engines.matrix import Side
from byline.engines.questions import prepare_questions
from byline.errors import BylineError, RunError
from byline.runs.combine import combine_runs
from byline.runs.executor import Execution, Interrupted, MemberJob, Verification, run_jobs
from byline.runs.folder import PLAN, TEXTS, RunFolder, RunOutput, find_run, lock_run, read_members, read_plan
from byline.runs.member_files import Record, read_evidence, read_record
from byline.runs.plan import Plan, describe_environment, find_differences
from byline.runs.workers import Finished, Planned
from byline.settings.settings import Pool, Settings
from byline.storage import files as storage
from byline.storage.files import replaced_folder
from byline.tasks.verify import verify
from sample_runs import SMALL, make_run
from samples import MakeCorpus, small_problems

POOL = Pool("two kinds", (SMALL, SMALL.change({"direction": "backward", "train_on": "known"})), members=4)


@pytest.fixture
def corpus(make_corpus: MakeCorpus) -> Path:
    return make_corpus(small_problems(6))


def written(result: Verification) -> str:
    return format_answers(result.answers, result.layout)


def records_of(folder: Path) -> tuple[Plan, list[Record]]:
    plan = read_plan(folder)
    return plan, list(read_members(folder, plan))


def tree(folder: Path) -> dict[str, bytes]:
    """What a folder holds, but for what names no result: timings and the lock."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("lock", "member.json")
    }


def test_a_run_keeps_its_plan_and_for_each_member_all_that_it_gave(corpus: Path, tmp_path: Path) -> None:
    result = verify(corpus, POOL, output=RunOutput(tmp_path / "run"), seed=3)
    plan, records = records_of(tmp_path / "run")
    assert plan == result.plan
    assert [record.member.settings for record in records] == [*POOL.rows, *POOL.rows]
    assert [(record.member.seed, record.member.number) for record in records] == [(3, n) for n in range(4)]
    described = json.loads((tmp_path / "run/members/0002/member.json").read_text("utf-8"))
    assert {"settings", "seed", "seconds", "versions", "inputs", "curves", "files"} <= described.keys()
    assert len(described["curves"][0]) == 2
    assert len(records[0].sides) == 2
    assert len(records[1].sides) == 1


def test_texts_of_an_earlier_begin_go_when_the_run_goes_on_without_evidence(corpus: Path, tmp_path: Path) -> None:
    make_run(tmp_path / "run")
    assert (tmp_path / "run" / TEXTS).exists()
    verify(corpus, SMALL, output=RunOutput(tmp_path / "run", resume=True, evidence=False))
    assert not (tmp_path / "run" / TEXTS).exists()


def test_answers_are_written_around_the_run_on_request(corpus: Path, tmp_path: Path) -> None:
    result = verify(corpus, SMALL, output=RunOutput(tmp_path / "run", answers=True))
    assert (tmp_path / "answers.txt").read_text("utf-8") == written(result)
    again = verify(corpus, SMALL, seed=1, output=RunOutput(tmp_path / "run", overwrite=True, answers=True))
    assert (tmp_path / "answers.txt").read_text("utf-8") == written(again) != written(result)


def test_a_plan_of_an_earlier_version_is_resumed(corpus: Path, tmp_path: Path) -> None:
    """Its request has other names for three of its parts."""
    make_run(tmp_path / "run")
    path = tmp_path / "run" / PLAN
    values = storage.read_checked_json(path)
    request = values["request"]
    for now, earlier in (("settings", "member"), ("judgment", "manner"), ("versions", "version of")):
        request[earlier] = request.pop(now)
    for name in ("mask_shared", "combined"):
        del request[name]
    path.write_bytes(storage.checked_json({**values, "request": request}))
    verify(corpus, SMALL, output=RunOutput(tmp_path / "run", resume=True))
    with pytest.raises(RunError, match="settings 1 hidden was 4, is 3"):
        verify(corpus, SMALL.change({"hidden": 3}), output=RunOutput(tmp_path / "run", resume=True))


def test_a_trace_holds_the_answers_after_each_sub_epoch(corpus: Path, tmp_path: Path) -> None:
    result = verify(corpus, SMALL, output=RunOutput(tmp_path / "run", trace=True))
    trace = tmp_path / "run/members/0001/trace"
    assert sorted(path.name for path in trace.iterdir()) == ["sub-epoch-01.txt", "sub-epoch-02.txt"]
    assert (trace / "sub-epoch-02.txt").read_text("utf-8") == written(result)
    first = verify(corpus, SMALL.change({"sub_epochs": 1}))
    assert (trace / "sub-epoch-01.txt").read_text("utf-8") == written(first)
    assert written(verify(corpus, SMALL)) == written(result)


def stop_after(members: int):  # type: ignore[no-untyped-def]
    """A report that is interrupted, as by Ctrl-C, once so many members are done."""
    done = 0

    def report(event: object) -> None:
        nonlocal done
        if isinstance(event, Finished):
            done += 1
            if done == members:
                raise KeyboardInterrupt

    return report


def test_an_interrupted_run_gives_the_answers_so_far_and_goes_on_to_the_same_end(corpus: Path, tmp_path: Path) -> None:
    whole = make_run(tmp_path / "whole", POOL)
    with pytest.raises(Interrupted) as stopped:
        verify(corpus, POOL, output=RunOutput(tmp_path / "run"), execution=Execution(workers=1, report=stop_after(2)))
    assert stopped.value.result is not None
    assert stopped.value.result.runs[0].members == 2
    assert written(stopped.value.result) == written(verify(corpus, POOL, members=2))
    events: list[object] = []
    resumed = verify(
        corpus, POOL, output=RunOutput(tmp_path / "run", resume=True), execution=Execution(report=events.append)
    )
    assert isinstance(events[0], Planned)
    assert events[0].kept == 2
    assert sum(isinstance(event, Finished) for event in events) == 2
    assert written(resumed) == written(whole)
    assert tree(tmp_path / "run") == tree(tmp_path / "whole")


def test_an_interruption_before_any_member_is_done_gives_no_answers(corpus: Path) -> None:
    def report(event: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        verify(corpus, POOL, execution=Execution(report=report))
    assert stopped.value.result is None


def test_a_member_that_was_kept_at_the_moment_of_an_interruption_counts(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = RunFolder.save

    def save_and_stop(run: RunFolder, *given: object) -> None:
        save(run, *given)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    monkeypatch.setattr(RunFolder, "save", save_and_stop)
    with pytest.raises(Interrupted) as stopped:
        verify(corpus, POOL, output=RunOutput(tmp_path / "run"), execution=Execution(workers=1))
    assert stopped.value.result is not None
    assert written(stopped.value.result) == written(verify(corpus, POOL, members=1))


def test_problems_in_another_order_are_the_same_problems(corpus: Path, tmp_path: Path) -> None:
    problems = read_problems(corpus)
    turned = replace(problems, problems=problems.problems[::-1])
    output = RunOutput(tmp_path / "run", resume=True)
    assert written(verify(problems, POOL, output=output)) == written(verify(turned, POOL, output=output))


def test_a_new_bad_problem_is_a_change(make_corpus: MakeCorpus, tmp_path: Path) -> None:
    corpus = make_corpus(small_problems(6))
    output = RunOutput(tmp_path / "run", resume=True)
    verify(corpus, SMALL, output=output, skip_bad=True)
    (corpus / "EN009").mkdir()
    (corpus / "EN009" / "known01.txt").write_text("Only a known text.", "utf-8")
    with pytest.raises(RunError, match="skipped EN009 is new"):
        verify(corpus, SMALL, output=output, skip_bad=True)


def test_members_of_other_texts_are_never_taken(make_corpus: MakeCorpus, tmp_path: Path) -> None:
    make_run(tmp_path / "one")
    problems = small_problems(6)
    problems["EN002"]["unknown.txt"] += " And more."
    other = make_corpus(problems, name="other")
    plain = verify(other, SMALL, output=RunOutput(tmp_path / "two"))
    shutil.rmtree(tmp_path / "two/members")
    shutil.copytree(tmp_path / "one/members", tmp_path / "two/members")
    assert written(verify(other, SMALL, output=RunOutput(tmp_path / "two", resume=True))) == written(plain)


def test_resuming_with_something_changed_is_refused_and_says_what(corpus: Path, tmp_path: Path) -> None:
    output = RunOutput(tmp_path / "run", resume=True)
    make_run(tmp_path / "run", POOL, members=2)
    for changed, match in (
        ({"seed": 1}, "seed was 0, is 1"),
        ({"members": 3}, "members was 2, is 3"),
        ({"preset": POOL.change({"hidden": 5})}, "settings 1 hidden was 4, is 5"),
        ({"control": read_problems(corpus).problems[0].known}, "control"),
    ):
        options = {"preset": POOL, "members": 2, **changed}
        with pytest.raises(RunError, match=match):
            verify(corpus, output=output, **options)  # type: ignore[arg-type]
    (corpus / "EN003" / "unknown.txt").write_text("Another text altogether, it is no longer what it was.", "utf-8")
    with pytest.raises(RunError, match="problems EN003 changed"):
        verify(corpus, POOL, output=output, members=2)
    shutil.rmtree(corpus / "EN003")
    with pytest.raises(RunError, match="problems EN003 is gone"):
        verify(corpus, POOL, output=output, members=2)


def test_a_run_is_kept_unless_told_to_go(corpus: Path, tmp_path: Path) -> None:
    make_run(tmp_path / "run")
    with pytest.raises(RunError, match="holds a run") as refused:
        verify(corpus, SMALL, output=RunOutput(tmp_path / "run"))
    assert refused.value.where == str(tmp_path / "run")
    assert "{resume}" in str(refused.value.remedy)
    assert "{overwrite}" in str(refused.value.remedy)
    verify(corpus, SMALL, seed=2, output=RunOutput(tmp_path / "run", overwrite=True))
    assert read_plan(tmp_path / "run").members[0].seed == 2


@pytest.mark.parametrize("name", ["matrix.safetensors", "member.json", "evidence.json", "evidence.npy"])
def test_a_damaged_member_is_made_again(
    corpus: Path, tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    output = RunOutput(tmp_path / "run", resume=True)
    first = make_run(tmp_path / "run", POOL, members=2)
    path = tmp_path / "run/members/0002" / name
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(bytes(content))
    again = verify(corpus, POOL, output=output, members=2)
    assert "damaged" in caplog.text
    assert written(again) == written(first)
    assert len(records_of(tmp_path / "run")[1]) == 2


def test_evidence_that_is_gone_is_made_again_where_the_run_goes_on(corpus: Path, tmp_path: Path) -> None:
    output = RunOutput(tmp_path / "run", resume=True)
    make_run(tmp_path / "run", POOL, members=2)
    path = tmp_path / "run/members/0002/evidence.npy"
    content = path.read_bytes()
    path.unlink()
    assert len(records_of(tmp_path / "run")[1]) == 2, "answers don't depend on it"
    verify(corpus, POOL, output=output, members=2)
    assert path.read_bytes() == content


def test_a_full_disk_keeps_what_is_done(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = verify(corpus, POOL)
    write, members = storage._write, tmp_path / "run/members"

    def fill_up(path: Path, content: bytes) -> None:
        if members.exists() and sum(1 for path in members.iterdir() if path.name[0] != ".") == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(path, content)

    monkeypatch.setattr(storage, "_write", fill_up)
    with pytest.raises(RunError, match="No space left on device") as refused:
        verify(corpus, POOL, output=RunOutput(tmp_path / "run"), execution=Execution(workers=1))
    assert "{resume}" in str(refused.value.remedy)
    assert sorted(path.name for path in members.iterdir()) == ["0001", "0002"]
    monkeypatch.undo()
    assert written(verify(corpus, POOL, output=RunOutput(tmp_path / "run", resume=True))) == written(whole)


def test_a_folder_that_another_holds_is_refused(corpus: Path, tmp_path: Path) -> None:
    with lock_run(tmp_path / "run"), pytest.raises(RunError, match="another process"):
        verify(corpus, SMALL, output=RunOutput(tmp_path / "run", resume=True))


@pytest.mark.parametrize("options", [{"budget": -1}, {"members": 0}, {"seed": -1}])
def test_a_refusal_leaves_nothing_behind(corpus: Path, tmp_path: Path, options: dict[str, object]) -> None:
    with pytest.raises(BylineError):
        verify(corpus, SMALL, output=RunOutput(tmp_path / "a" / "b" / "run"), **options)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == [corpus]


def test_unfinished_parts_are_swept_away(corpus: Path, tmp_path: Path) -> None:
    part = tmp_path / "run/members/.0001.12345.part"
    part.mkdir(parents=True)
    (part / "matrix.safetensors").write_bytes(b"half")
    verify(corpus, SMALL, output=RunOutput(tmp_path / "run"))
    assert not part.exists()


def test_a_folder_that_holds_other_files_is_not_replaced(corpus: Path, tmp_path: Path) -> None:
    make_run(tmp_path / "run")
    (tmp_path / "run/notes.txt").write_text("mine", "utf-8")
    with pytest.raises(RunError, match=r"notes\.txt") as refused:
        verify(corpus, SMALL, output=RunOutput(tmp_path / "run", overwrite=True))
    assert refused.value.remedy
    assert (tmp_path / "run/notes.txt").exists()


def test_a_run_that_was_being_replaced_when_the_process_died_is_found_again(tmp_path: Path) -> None:
    make_run(tmp_path / "out/run")
    before = tree(tmp_path / "out/run")
    (tmp_path / "out/run").rename(replaced_folder(tmp_path / "out/run"))
    with lock_run(tmp_path / "out/other"):  # another run's lock does not matter
        assert find_run(tmp_path / "out") == tmp_path / "out/run"
    assert tree(tmp_path / "out/run") == before


def test_a_run_is_found_by_its_folder_or_the_one_above(tmp_path: Path) -> None:
    make_run(tmp_path / "out" / "run")
    assert find_run(tmp_path / "out") == find_run(tmp_path / "out" / "run") == tmp_path / "out" / "run"
    with pytest.raises(RunError, match="no run found"):
        find_run(tmp_path)


def test_differences_are_named() -> None:
    old = {"a": 1, "b": {"x": 1, "y": 2}, "c": [{"d": 1}, {"d": 2}], "gone": 1, "h": "0123456789abcdef"}
    new = {"a": 2, "b": {"x": 1, "y": 3}, "c": [{"d": 1}, {"d": 3}], "new": 1, "h": None}
    assert find_differences(old, new) == [
        "a was 1, is 2", "b y was 2, is 3", "c 2 d was 2, is 3", "gone is gone", "h is gone", "new is new",
    ]  # fmt: skip
    assert find_differences({"c": [1]}, {"c": [1, 2]}) == ["c changed"]
    assert find_differences({"c": [1, 2]}, {"c": [1, 3]}) == ["c 2 was 2, is 3"]
    assert find_differences(old, old) == []


def test_the_number_of_workers_changes_no_byte(corpus: Path, tmp_path: Path) -> None:
    for workers in (1, 8):
        verify(corpus, POOL, output=RunOutput(tmp_path / str(workers)), execution=Execution(workers=workers))
    assert tree(tmp_path / "1") == tree(tmp_path / "8")


@pytest.mark.parametrize("settings", [SMALL, Settings(engine="words")])
def test_values_survive_the_disk_to_the_last_bit(corpus: Path, tmp_path: Path, settings: Settings) -> None:
    make_run(tmp_path / "run", settings)
    plan, (record,) = records_of(tmp_path / "run")
    sides = prepare_questions(read_problems(corpus).problems, settings).sides
    (outcome,) = run_jobs([MemberJob(plan.members[0], 0, 0, "english", sides)], 1, None, lambda _: None)
    for kept, filled, asked in zip(record.sides, outcome.filled, sides, strict=True):
        for name in ("values", "heads", "excluded"):
            np.testing.assert_array_equal(getattr(kept.matrix, name), getattr(filled.matrix, name))
        assert (kept.questions, kept.matrix.unit) == (asked.questions, filled.matrix.unit)
        assert (kept.way, kept.incomparable) == (asked.way, Side.of(filled.matrix, asked).incomparable)
    assert record.made_by == outcome.made_by == describe_environment()


def change_matrix(folder: Path, changes: dict[str, np.ndarray]) -> None:
    """Put other arrays into a member's matrix, the checksums set right."""
    arrays = load((folder / "matrix.safetensors").read_bytes())
    content = save({**arrays, **changes})
    (folder / "matrix.safetensors").write_bytes(content)
    described = storage.read_checked_json(folder / "member.json")
    described["files"]["matrix.safetensors"] = storage.sha256(content)
    (folder / "member.json").write_bytes(storage.checked_json(described))


@pytest.mark.parametrize("turned", [np.zeros(2, np.bool_), np.zeros(1), np.zeros((1, 1), np.bool_)])
def test_a_way_of_asking_that_can_be_none_is_refused_as_damaged(tmp_path: Path, turned: np.ndarray) -> None:
    make_run(tmp_path / "run")
    member = tmp_path / "run/members/0001"
    for way in (0, 1):
        change_matrix(member, {"turned-1": np.array([way == 1])})
        assert read_record(member).sides[0].way == way
    change_matrix(member, {"turned-1": turned})
    with pytest.raises(RunError, match="ways of asking"):
        read_record(member)


def test_what_is_no_run_but_has_members_is_not_replaced_unasked(corpus: Path, tmp_path: Path) -> None:
    make_run(tmp_path / "run")
    (tmp_path / "run/plan.json").unlink()
    for folder in ("run", "mine"):
        (tmp_path / folder / "members").mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "members/letter.txt").write_text("precious", "utf-8")
        with pytest.raises(RunError, match="without a plan"):
            verify(corpus, SMALL, output=RunOutput(tmp_path / folder, resume=True))
        assert (tmp_path / folder / "members/letter.txt").read_text("utf-8") == "precious"
    verify(corpus, SMALL, output=RunOutput(tmp_path / "run", overwrite=True))
    assert len(records_of(tmp_path / "run")[1]) == 1


@pytest.mark.parametrize("name", ["/proc/self/pagemap", "../../../../elsewhere", "C:\\x", "\\\\server\\share", ""])
def test_a_member_that_names_files_elsewhere_is_damaged_and_they_are_not_looked_at(tmp_path: Path, name: str) -> None:
    make_run(tmp_path / "run")
    path = tmp_path / "run/members/0001/member.json"
    values = storage.read_checked_json(path)
    path.write_bytes(storage.checked_json({**values, "files": {**values["files"], name: "0" * 64}}))
    (tmp_path / "elsewhere").write_text("x", "utf-8")
    for read in (read_record, read_evidence):
        with pytest.raises(RunError, match="own files"):
            read(path.parent)
    assert list(read_members(tmp_path / "run", read_plan(tmp_path / "run"))) == []
    with pytest.raises(RunError, match="no member is finished"):
        combine_runs([tmp_path / "run"], tmp_path / "joined")


@pytest.mark.skipif(not Path("/proc/self/pagemap").exists(), reason="a file without an end is wanted")
@pytest.mark.parametrize("name", ["matrix.safetensors", "evidence.json", "evidence.npy"])
def test_a_link_to_a_file_without_an_end_does_not_keep_a_reader_for_ever(tmp_path: Path, name: str) -> None:
    make_run(tmp_path / "run")
    path = tmp_path / "run/members/0001" / name
    path.unlink(missing_ok=True)
    path.symlink_to("/proc/self/pagemap")
    with pytest.raises(RunError, match="damaged"):
        (read_evidence if name.startswith("evidence") else read_record)(path.parent)


def test_a_member_that_a_newer_program_wrote_is_not_read(tmp_path: Path) -> None:
    make_run(tmp_path / "run")
    path = tmp_path / "run/members/0001/member.json"
    path.write_bytes(storage.checked_json({**storage.read_checked_json(path), "format": 99}))
    with pytest.raises(RunError, match="newer Byline"):
        read_record(path.parent)


@pytest.mark.parametrize(
    "change",
    [
        {"members": []}, {"members": 3}, {"request": []}, {"layout": "x"}, {"budget": 5}, {"radius": 1e9},
        {"radius": "x"}, {"groups": []}, {"groups": [{"language": "english", "problems": ["a", "a"]}]},
        {"skipped": [3]}, {"format": 99}, {"format": "x"}, {"members": [{"number": -1, "seed": 0, "settings": {}}]},
        {"members": [{"number": 0, "seed": 0, "settings": []}]},
        {"members": [{"number": 0, "seed": 0, "settings": {}}] * 2}, {"request": {"problems": 3}},
        {"request": {"problems": [[1, 2]]}}, {"budget": {"seconds": []}}, {"budget": {}},
    ],
)  # fmt: skip
def test_a_plan_that_makes_no_sense_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    make_run(tmp_path / "run")
    path = tmp_path / "run/plan.json"
    values = storage.read_checked_json(path)
    for content in (storage.checked_json({**values, **change}), json.dumps({**values, **change}).encode()):
        path.write_bytes(content)  # with and without a checksum
        with pytest.raises(RunError) as refused:
            read_plan(tmp_path / "run")
        assert refused.value.where == str(path)
        assert refused.value.remedy


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("values-1", np.full((6, 6), np.nan)), ("values-1", np.zeros((6, 6), np.float32)), ("values-1", np.zeros(36)),
        ("seen-1", np.zeros((6, 6))), ("heads-1", np.full((6, 6), -1, np.int32)),
        ("heads-1", np.full((6, 6), 2_000_000_000, np.int32)), ("heads-1", np.zeros((6, 5), np.int32)),
        ("questions-1", np.array([[0, 0, 99, 0]], np.int32)), ("questions-1", np.array([[0, 99, 0, 0]], np.int32)),
        ("questions-1", np.array([[-1, 0, 0, 0]], np.int32)), ("questions-1", np.array([[99, 0, 0, 0]], np.int32)),
        ("questions-1", np.zeros((2, 3), np.int32)),
    ],
)  # fmt: skip
def test_a_matrix_that_makes_no_sense_is_as_good_as_none(
    corpus: Path, tmp_path: Path, name: str, array: np.ndarray
) -> None:
    output = RunOutput(tmp_path / "run", resume=True)
    first = make_run(tmp_path / "run", SMALL.change({"train_on": "known"}))
    change_matrix(tmp_path / "run/members/0001", {name: array})
    assert written(verify(corpus, SMALL.change({"train_on": "known"}), output=output)) == written(first)


def test_a_members_folder_that_is_a_link_or_a_file_is_replaced(corpus: Path, tmp_path: Path) -> None:
    plain = make_run(tmp_path / "run")
    members = tmp_path / "run/members"
    members.rename(tmp_path / "elsewhere")
    members.symlink_to(tmp_path / "elsewhere")
    assert written(verify(corpus, SMALL, output=RunOutput(tmp_path / "run", overwrite=True))) == written(plain)
    assert not members.is_symlink()
    assert (tmp_path / "elsewhere/0001").exists()
    shutil.rmtree(members)
    members.write_text("x", "utf-8")
    assert written(verify(corpus, SMALL, output=RunOutput(tmp_path / "run", overwrite=True))) == written(plain)

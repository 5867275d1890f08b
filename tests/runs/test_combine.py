from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from byline.corpora.answers import format_answers
from byline.corpora.documents import Document
from byline.corpora.reference import Reference, ReferenceText
from byline.errors import AnswersError, RunError
from byline.judgment.calibration import builtin_calibration
from byline.judgment.fusion import average_members
from byline.judgment.interpretation import JudgmentOptions
from byline.runs.combine import combine_runs
from byline.runs.executor import Execution
from byline.runs.folder import RunOutput, read_members, read_plan
from byline.runs.member_files import copy_member, read_evidence
from byline.runs.plan import FORMAT, choose_calibration
from byline.runs.request import JudgmentRequest
from byline.runs.run import examine_run
from byline.runs.workers import Finished
from byline.settings.settings import Pool, kinds_of, read_pool
from byline.storage.files import prepared_folder
from byline.tasks.verify import verify
from sample_runs import SMALL, make_run
from samples import MakeCorpus, small_problems

TRUTH = {name: bool(int(name[2:]) % 2) for name in small_problems(6)}


@pytest.fixture
def corpus(make_corpus: MakeCorpus) -> Path:
    return make_corpus(small_problems(6))


def held(folder: Path) -> dict[str, bytes]:
    """All files in a folder, hidden ones too, except locks."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


class TestCombining:
    def test_the_answers_are_those_of_all_members(self, tmp_path: Path) -> None:
        runs = [make_run(tmp_path / str(seed), members=2, seed=seed) for seed in (1, 2)]
        joined = combine_runs([tmp_path / "1", tmp_path / "2"], tmp_path / "both")
        expected = average_members([np.array([answer.score for answer in run.answers]) for run in runs])
        np.testing.assert_allclose([answer.score for answer in joined.answers], expected)
        plan = read_plan(tmp_path / "both")
        records = list(read_members(tmp_path / "both", plan))
        assert [(member.seed, member.number) for member in plan.members] == [(1, 0), (1, 1), (2, 0), (2, 1)]
        assert len(records) == 4

    def test_halves_of_a_run_make_the_run(self, tmp_path: Path) -> None:
        whole = make_run(tmp_path / "whole", members=3)
        make_run(tmp_path / "part", members=2)
        joined = combine_runs([tmp_path / "part", tmp_path / "whole"], tmp_path / "both")
        assert joined.repeated == 2
        assert format_answers(joined.answers, "folders") == format_answers(whole.answers, "folders")

    def test_a_run_that_is_not_finished_is_said_to_be_so(self, tmp_path: Path) -> None:
        whole = make_run(tmp_path / "run", members=3)
        assert combine_runs([tmp_path / "run"], tmp_path / "all").unfinished == ()
        shutil.rmtree(tmp_path / "run/members/0002")
        joined = combine_runs([tmp_path / "run"], tmp_path / "some")
        assert joined.unfinished == ((tmp_path / "run", 2, 3),)
        assert len(joined.answers) == len(whole.answers)

    def test_runs_of_other_problems_are_refused(self, corpus: Path, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        make_run(tmp_path / "one")
        verify(make_corpus(small_problems(7), name="more"), SMALL, output=RunOutput(tmp_path / "two"))
        with pytest.raises(RunError, match="different problems"):
            combine_runs([tmp_path / "one", tmp_path / "two"], tmp_path / "both")
        problems = small_problems(6)
        problems["EN002"]["unknown.txt"] += " More."
        verify(make_corpus(problems, name="changed"), SMALL, output=RunOutput(tmp_path / "three"))
        with pytest.raises(RunError, match=r"different texts \(EN002 changed\)"):
            combine_runs([tmp_path / "one", tmp_path / "three"], tmp_path / "both")
        verify(corpus, SMALL.change({"radius": 0.1}), output=RunOutput(tmp_path / "four"))
        with pytest.raises(RunError, match="radius"):
            combine_runs([tmp_path / "one", tmp_path / "four"], tmp_path / "both")
        assert not (tmp_path / "both").exists()

    def test_a_run_is_not_joined_into_itself_nor_over_another(self, tmp_path: Path) -> None:
        make_run(tmp_path / "one")
        with pytest.raises(RunError, match="one of the runs"):
            combine_runs([tmp_path / "one"], tmp_path / "one", overwrite=True)
        combine_runs([tmp_path / "one"], tmp_path / "two")
        with pytest.raises(RunError) as refused:
            combine_runs([tmp_path / "one"], tmp_path / "two")
        assert "{overwrite}" in str(refused.value.remedy)
        combine_runs([tmp_path / "one"], tmp_path / "two", overwrite=True)

    @pytest.mark.parametrize("same", [True, False])
    @pytest.mark.parametrize(
        "place",
        [
            "members", "members/0001", "members/0001/member.json", "members/0001/matrix.safetensors",
            "members/0001/evidence.json", "members/0001/trace",
            "members/0001/trace/sub-epoch-01.txt", "problems.jsonl", "cautions.json",
        ],
    )  # fmt: skip
    def test_links_in_somebody_elses_run_are_refused(self, tmp_path: Path, place: str, same: bool) -> None:
        """Those that lead to what belongs there, too."""
        make_run(tmp_path / "one", trace=True)
        (tmp_path / "one" / place).rename(tmp_path / "there")
        (tmp_path / "secret").write_text("secret", "utf-8")
        (tmp_path / "one" / place).symlink_to(tmp_path / ("there" if same else "secret"))
        with pytest.raises(RunError, match="is a link") as refused:
            combine_runs([tmp_path / "one"], tmp_path / "two")
        assert refused.value.where == str(tmp_path / "one" / place)
        assert refused.value.remedy
        assert b"secret" not in held(tmp_path / "two").values()

    def test_what_lies_beside_a_members_own_files_is_not_copied(self, tmp_path: Path) -> None:
        make_run(tmp_path / "one")
        (tmp_path / "one/members/0001/note").write_text("secret", "utf-8")
        combine_runs([tmp_path / "one"], tmp_path / "two")
        copied = held(tmp_path / "two/members")
        assert "0001/matrix.safetensors" in copied
        assert b"secret" not in copied.values()

    @pytest.mark.parametrize("gone", ["trace", "trace/*-02*"])
    def test_what_was_deleted_to_save_room_is_not_missed(self, tmp_path: Path, gone: str) -> None:
        whole = make_run(tmp_path / "one", members=2, trace=True)
        removed = list((tmp_path / "one/members/0002").glob(gone))
        assert removed
        for path in removed:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        joined = combine_runs([tmp_path / "one"], tmp_path / "two")
        assert format_answers(joined.answers, "folders") == format_answers(whole.answers, "folders")
        assert held(tmp_path / "two/members") == held(tmp_path / "one/members")
        assert len(list(read_members(tmp_path / "two", joined.plan))) == 2

    @pytest.mark.parametrize("gone", ["evidence.npy", "evidence.json", "evidence.*"])
    def test_evidence_that_is_not_there_whole_is_left_out(
        self, tmp_path: Path, gone: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        make_run(tmp_path / "one", members=2)
        for path in list((tmp_path / "one/members/0002").glob(gone)):
            path.unlink()
        joined = combine_runs([tmp_path / "one"], tmp_path / "two")
        assert "0002: its evidence is incomplete" in caplog.text
        assert read_evidence(tmp_path / "two/members/0001")
        assert not read_evidence(tmp_path / "two/members/0002")
        assert not list((tmp_path / "two/members/0002").glob("evidence*"))
        assert len(list(read_members(tmp_path / "two", joined.plan))) == 2

    @pytest.mark.parametrize("name", ["problems.jsonl", "cautions.json"])
    def test_texts_and_cautions_are_of_the_first_run_that_has_them_undamaged(
        self, tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        for seed in (1, 2):
            make_run(tmp_path / str(seed), seed=seed)
        (tmp_path / "1" / name).write_text("{bad")
        combine_runs([tmp_path / "1", tmp_path / "2"], tmp_path / "both")
        assert (tmp_path / "both" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
        combine_runs([tmp_path / "1"], tmp_path / "alone")
        assert not (tmp_path / "alone" / name).exists()
        assert f"{name}: " in caplog.text
        assert "left out" in caplog.text

    def test_a_refused_one_leaves_what_was_there(self, tmp_path: Path) -> None:
        """Two runs, the second with a fault that shows only when its files are copied."""
        for seed in (1, 2):
            make_run(tmp_path / str(seed), seed=seed)
        combine_runs([tmp_path / "1"], tmp_path / "both")
        before = held(tmp_path / "both")
        evidence = tmp_path / "2/members/0001/evidence.json"
        evidence.write_bytes(evidence.read_bytes() + b" ")
        answers = tmp_path / "answers.txt"
        answers.write_text("EN001 0.5\n", encoding="utf-8")
        with pytest.raises(RunError, match="damaged") as refused:
            combine_runs([tmp_path / "1", tmp_path / "2"], tmp_path / "both", True, answers=True)
        assert refused.value.where == str(evidence)
        assert "{resume}" in str(refused.value.remedy)
        assert held(tmp_path / "both") == before
        assert answers.exists()
        evidence.unlink()
        joined = combine_runs([tmp_path / "1", tmp_path / "2"], tmp_path / "both", True, answers=True)
        assert len(read_plan(tmp_path / "both").members) == 2
        assert examine_run(tmp_path / "both").members
        assert answers.read_text("utf-8") == format_answers(joined.answers, "folders")

    @pytest.mark.parametrize("fault", [KeyboardInterrupt(), RunError("full")], ids=["stopped", "full"])
    def test_so_does_one_that_is_stopped_while_it_copies(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException
    ) -> None:
        """The answers of the old run stay too."""
        make_run(tmp_path / "one", members=2)
        make_run(tmp_path / "out/run", seed=2)
        (tmp_path / "out/answers.txt").write_text("EN001 0.5\n", encoding="utf-8")
        before = held(tmp_path / "out")

        def stop(source: Path, target: Path) -> None:
            copy_member(source, target)
            if source.name == "0002":
                raise fault

        with monkeypatch.context() as patches:
            patches.setattr("byline.runs.combine.copy_member", stop)
            with pytest.raises(type(fault)):
                combine_runs([tmp_path / "one"], tmp_path / "out/run", True, answers=True)
        assert held(tmp_path / "out") == before
        combine_runs([tmp_path / "one"], tmp_path / "out/run", True, answers=True)
        assert held(tmp_path / "out/run/members") == held(tmp_path / "one/members")

    def test_what_a_killed_one_left_is_removed_by_the_next(self, tmp_path: Path) -> None:
        make_run(tmp_path / "one")
        shutil.copytree(tmp_path / "one", prepared_folder(tmp_path / "two"))
        combine_runs([tmp_path / "one"], tmp_path / "two")
        assert not prepared_folder(tmp_path / "two").exists()

    def test_skipped_problems_stay_answered_a_half(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        problems = small_problems(7)
        problems["EN004"]["unknown.txt"] = ""
        corpus = make_corpus(problems)
        for seed in (1, 2):
            verify(corpus, SMALL, seed=seed, skip_bad=True, output=RunOutput(tmp_path / str(seed)))
        joined = combine_runs([tmp_path / "1", tmp_path / "2"], tmp_path / "both")
        assert [answer.value for answer in joined.answers if answer.id == "EN004"] == [0.5]
        assert len(joined.answers) == 7

    def test_advice_is_given_only_where_it_helps(self, corpus: Path, tmp_path: Path) -> None:
        quick = read_pool("best").only(["ngram", "vectors"])
        runs = [tmp_path / name for name in ("even", "likely", "rank")]
        verify(corpus, quick, output=RunOutput(runs[0]))
        verify(corpus, quick, judgment=JudgmentRequest(prior=0.9), output=RunOutput(runs[1]))
        verify(corpus, quick, judgment=JudgmentRequest(interpret="rank"), output=RunOutput(runs[2]))
        for interpret in (None, "relative"):
            with pytest.raises(RunError, match=r"prior was 0.5, is 0.9") as refused:
                combine_runs(runs[:2], tmp_path / "both", interpret=interpret)  # type: ignore[arg-type]
            assert "{prior}" in str(refused.value.remedy)
        with pytest.raises(RunError) as refused:
            combine_runs([runs[0], runs[2]], tmp_path / "both")
        assert "{interpret}" in str(refused.value.remedy)
        combine_runs([runs[0], runs[2]], tmp_path / "both", interpret="relative")


class TestExamining:
    def test_members_agree_and_are_worth_what_they_add(self, corpus: Path, tmp_path: Path) -> None:
        pool = Pool("two", (SMALL, SMALL.change({"direction": "backward"})))
        verify(corpus, pool, members=3, output=RunOutput(tmp_path / "run"))
        plain = examine_run(tmp_path / "run")
        assert [row.place for row in plain.members] == [0, 1, 2]
        assert all(row.agreement is not None and -1 <= row.agreement <= 1 for row in plain.members)
        assert all(row.product is None and row.adds is None for row in plain.members)
        known = examine_run(tmp_path / "run", TRUTH)
        (whole,) = known.products.values()
        without = examine_of(corpus, pool, tmp_path)
        assert known.members[2].adds == pytest.approx(whole - without)
        assert known.mean_adds == pytest.approx(np.mean([row.adds for row in known.members]))

    def test_a_lone_member_has_nobody_to_agree_with(self, tmp_path: Path) -> None:
        make_run(tmp_path / "run")
        (row,) = examine_run(tmp_path / "run", TRUTH).members
        assert (row.agreement, row.adds) == (None, None)

    def test_a_truth_of_another_corpus_is_refused(self, tmp_path: Path) -> None:
        make_run(tmp_path / "run")
        with pytest.raises(AnswersError, match="the truth has no"):
            examine_run(tmp_path / "run", {"XX001": True})

    def test_a_run_without_a_finished_member_is_said_to_be_so(self, corpus: Path, tmp_path: Path) -> None:
        def stop(event: object) -> None:
            if not isinstance(event, Finished):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            verify(corpus, SMALL, output=RunOutput(tmp_path / "run"), execution=Execution(report=stop))
        with pytest.raises(RunError, match="no member is finished"):
            examine_run(tmp_path / "run")
        with pytest.raises(RunError, match="no member is finished"):
            combine_runs([tmp_path / "run"], tmp_path / "both")
        assert json.loads((tmp_path / "run/plan.json").read_text("utf-8"))["format"] == FORMAT


def examine_of(corpus: Path, pool: Pool, tmp_path: Path) -> float:
    """The product of the first two members."""
    verify(corpus, pool, members=2, output=RunOutput(tmp_path / "two"))
    (product,) = examine_run(tmp_path / "two", TRUTH).products.values()
    return product


def test_runs_with_different_control_corpora_are_refused(corpus: Path, tmp_path: Path, english: Path) -> None:
    make_run(tmp_path / "one")
    verify(corpus, SMALL, control=english, output=RunOutput(tmp_path / "two"))
    with pytest.raises(RunError, match="different control corpora"):
        combine_runs([tmp_path / "one", tmp_path / "two"], tmp_path / "both")


def test_members_of_other_engines_are_read_without_a_calibration_that_is_not_theirs() -> None:
    """A run that was stopped before its networks began has not their calibration."""
    best = read_pool("best")
    quick = best.only(["ngram", "vectors"])
    judgment = JudgmentOptions("relative", 0.0, 0.2, builtin_calibration("relative", kinds_of(best.rows)))
    assert choose_calibration(judgment, best.rows) == judgment
    found = choose_calibration(judgment, quick.rows)
    assert found.calibration == builtin_calibration("relative", kinds_of(quick.rows)) != judgment.calibration
    assert found.prior == 0.2
    assert choose_calibration(judgment, quick.rows[:1]) == JudgmentOptions("relative")


def test_a_reference_whose_authors_are_others_is_another(tmp_path: Path) -> None:
    texts = [Document(f"{n}.txt", f"{n} " + "some words of a text by someone " * 10) for n in range(4)]
    apart = Reference("english", tuple(ReferenceText(text, text.name) for text in texts))
    together = Reference("english", tuple(ReferenceText(text, "one hand") for text in texts))
    assert apart.fingerprint != together.fingerprint
    assert apart.fingerprint == replace(apart, texts=apart.texts[::-1]).fingerprint
    doubtful = replace(apart, unclear_pairs=frozenset([frozenset(["0.txt", "1.txt"])]))
    assert doubtful.fingerprint != apart.fingerprint
    assert (apart.count_distinct(apart.by_author), doubtful.count_distinct(doubtful.by_author)) == (4, 3)

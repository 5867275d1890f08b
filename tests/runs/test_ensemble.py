from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from byline.corpora.problems import read_problems
from byline.engines.protocol import Progress
from byline.engines.questions import Questions, prepare_questions
from byline.errors import RunError, SettingsError, TooLittleText
from byline.runs.executor import Execution, MemberJob, run_jobs
from byline.runs.folder import RunOutput
from byline.runs.plan import Member
from byline.runs.request import MOST_IN_BUDGET, Ensemble, choose_members, parse_duration
from byline.runs.workers import Planned, TrainingProgress, run_here
from byline.settings.settings import Pool, Settings, read_pool
from byline.tasks.verify import verify
from samples import MakeCorpus, small_problems

SMALL = Settings(hidden=4, sub_epochs=2)


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("10m", 600),
        ("1.5h", 5400),
        ("1h30m", 5400),
        (" 2M ", 120),
        ("1d", 86_400),
        ("0.5s", 0.5),
    ],
)
def test_durations_are_read(words: str, seconds: float) -> None:
    assert parse_duration(words) == seconds


@pytest.mark.parametrize(
    "words", ["", "m", "ten", "-5m", "0", "5x", "1m30x", "inf", "nan", "1e999", "-5m10m", "5m-10s"]
)
def test_what_is_no_duration_is_refused(words: str) -> None:
    with pytest.raises(SettingsError, match="not a duration"):
        parse_duration(words)


@pytest.fixture
def sides(make_corpus: MakeCorpus) -> Callable[[Settings], list[tuple[Questions, ...]]]:
    problems = read_problems(make_corpus(small_problems(6, length=2000))).problems
    return lambda settings: [prepare_questions(problems, settings).sides]


class TestBudget:
    def test_more_time_gives_more_members_in_the_pools_order(self, sides) -> None:  # type: ignore[no-untyped-def]
        rows = tuple(SMALL.change({"hidden": 10 + n, "sub_epochs": 30}) for n in range(5))
        pool = Pool("five", rows)
        assert choose_members(pool, 0.01, 0, sides, workers=1)[0] == rows[:1]
        chosen, estimate = choose_members(pool, 1e6, 0, sides, workers=1)
        assert chosen == pool.take(MOST_IN_BUDGET, 0)
        assert estimate.member_seconds[0] > 0
        budget = 3.2 * sum(estimate.member_seconds) / MOST_IN_BUDGET
        some, estimate = choose_members(pool, budget, 0, sides, workers=1)
        offered = iter(chosen)
        assert all(settings in offered for settings in some)  # in order, some may be left out
        assert 1 <= len(some) < MOST_IN_BUDGET
        assert len(some) == 1 or estimate.estimate_seconds <= budget

    def test_an_estimate_is_of_the_right_size(self, sides) -> None:  # type: ignore[no-untyped-def]
        """Within a factor of four, on a machine that may be busy."""
        settings = SMALL.change({"hidden": 30, "sub_epochs": 60})
        _, found = choose_members(Pool("one", (settings,)), 60, 0, sides, workers=1)
        begin = time.perf_counter()
        list(
            run_jobs([MemberJob(Member(0, 0, settings), 0, 0, "english", sides(settings)[0])], 1, None, lambda _: None)
        )
        taken = time.perf_counter() - begin
        assert taken / 4 < found.member_seconds[0] < taken * 4

    def test_the_plan_is_written_down_and_a_resumed_run_does_the_same(
        self, make_corpus: MakeCorpus, tmp_path: Path
    ) -> None:
        corpus = make_corpus(small_problems(6))
        output = RunOutput(tmp_path / "run", resume=True)
        first = verify(corpus, SMALL, budget=0.001, output=output, execution=Execution(workers=1))
        assert len(first.plan.members) == 1
        assert first.plan.budget is not None
        assert (first.plan.budget.seconds, first.plan.budget.workers) == (0.001, 1)
        events: list[object] = []
        again = verify(corpus, SMALL, budget=0.001, output=output, execution=Execution(report=events.append))
        assert again.plan == first.plan
        assert isinstance(events[0], Planned)
        assert (events[0].kept, events[0].jobs) == (1, 1)
        with pytest.raises(RunError, match=r"budget was 0\.001, is 5"):
            verify(corpus, SMALL, budget=5, output=output)

    def test_beside_a_first_member_that_overruns_another_core_is_used(self, sides) -> None:  # type: ignore[no-untyped-def]
        long, short = SMALL.change({"hidden": 60, "sub_epochs": 200}), SMALL
        chosen, _ = choose_members(Pool("two", (long, short)), 0.05, 0, sides, workers=2)
        assert chosen[:2] == (long, short)

    def test_members_and_a_budget_exclude_each_other(self, make_corpus: MakeCorpus) -> None:
        with pytest.raises(SettingsError, match="exclude each other"):
            verify(make_corpus(small_problems(6)), SMALL, members=2, budget=5)

    @pytest.mark.parametrize("budget", [0, -3, float("inf"), float("nan")])
    def test_no_time_is_no_budget(self, budget: float) -> None:
        with pytest.raises(SettingsError, match="budget: must be"):
            Ensemble(Pool("one", (SMALL,)), budget=budget)


def test_members_may_differ_in_all_that_questions_depend_on(make_corpus: MakeCorpus) -> None:
    rows = (
        SMALL,
        SMALL.change({"text_rules": "scripts"}),
        SMALL.change({"train_on": "known"}),
        SMALL.change({"train_on": "unknown", "ranking": "heads"}),
    )
    corpus = make_corpus(small_problems(6))
    result = verify(corpus, Pool("mixed", rows), members=4)
    singles = [verify(corpus, Pool("mixed", rows), members=n) for n in (1, 2, 3, 4)]
    assert singles[-1].answers == result.answers
    assert len({tuple(answer.score for answer in single.answers) for single in singles}) == 4


def test_a_text_too_short_for_one_member_is_used_by_none(make_corpus: MakeCorpus) -> None:
    problems = small_problems(7)
    for number in range(1, 8):  # line breaks are common enough to be kept by the scripts' rules
        problems[f"EN{number:03d}"]["known01.txt"] = problems[f"EN{number:03d}"]["known01.txt"].replace(" ", "\n\n", 9)
    problems["EN003"]["unknown.txt"] = "abcdef\n\nghij"  # 11 characters, or 12 where line breaks count
    corpus = make_corpus(problems)
    rows = (SMALL, SMALL.change({"text_rules": "scripts"}))
    assert verify(corpus, rows[1]).skipped == ()
    for number in (0, 1):
        result = verify(corpus, Pool("mixed", (rows[number], rows[1 - number])), members=2, skip_bad=True)
        assert [offence.id for offence in result.skipped] == ["EN003"]
        assert len(result.answers) == 7


def test_one_text_and_many_candidates_are_asked_the_way_that_can_be_asked(make_corpus: MakeCorpus) -> None:
    """Learning the one unknown text gives one head, which says nothing; such a member learns the known texts."""
    problems = small_problems(6)
    for files in problems.values():
        files["unknown.txt"] = problems["EN001"]["unknown.txt"]
    corpus = make_corpus(problems)
    unknown = SMALL.change({"train_on": "unknown"})
    result = verify(corpus, Pool("mixed", (SMALL, unknown)), members=2)
    assert len(result.answers) == 6
    with pytest.raises(TooLittleText, match="1 different known set"):
        verify(corpus, unknown)
    assert verify(corpus, read_pool("rnn").change({"hidden": 4, "sub_epochs": 2})).runs[0].members == 4


def test_a_member_that_turns_round_and_a_text_too_short_for_another(make_corpus: MakeCorpus) -> None:
    """What one kind of member can't use is found before another, which can't ask its way, asks the other."""
    problems = small_problems(7)
    for files in problems.values():
        files["known01.txt"] = files["known01.txt"].replace(" ", "\n\n", 9)
        files["unknown.txt"] = problems["EN001"]["unknown.txt"]
    problems["EN003"]["known01.txt"] = "abcdef\n\nghij"  # 11 characters, or 12 where line breaks count
    corpus = make_corpus(problems)
    rows = (SMALL.change({"text_rules": "scripts"}), SMALL.change({"train_on": "unknown"}))
    result = verify(corpus, Pool("mixed", rows), members=2, skip_bad=True)
    assert [offence.id for offence in result.skipped] == ["EN003"]


def test_how_far_a_job_is_counts_both_ways() -> None:
    progress = Progress(sub_epoch=1, sub_epochs=4, share=0.5, characters=100, bits=3.0)
    advance = TrainingProgress(0, 0, "english", 1, 2, progress, 1.0)
    assert advance.share == (1 + 1.5 / 4) / 2
    assert TrainingProgress.from_values(advance.to_values()) == advance


def test_a_job_that_cant_be_stopped_at_once_is_waited_for_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("byline.runs.workers.STOP_SECONDS", 0.05)
    begun, ended = threading.Event(), threading.Event()

    def work(job: int, send: object, proceed: object) -> int:
        if job:
            begun.set()
            time.sleep(0.3)
            ended.set()
        return job

    results = run_here(work, [0, 1], 2, lambda _: None)
    assert next(results) == 0
    assert begun.wait(10)
    results.close()
    assert ended.is_set()
    assert "current step" in caplog.text

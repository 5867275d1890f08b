"""Runs that are killed, interrupted or run elsewhere end with the same bytes as one that was left in peace."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import programs
from byline.corpora.answers import format_answers
from byline.runs.folder import RunOutput
from byline.settings.settings import Settings
from byline.tasks.verify import verify
from programs import Started, run
from samples import MakeCorpus, small_problems

MEMBERS = ("--preset", "pool.toml", "--members", "5", "--workers", "2")
POOL = '[shared]\nhidden = 16\nsub_epochs = 8\n[[member]]\n[[member]]\ndirection = "backward"\ntrain_on = "known"\n'


def start(folder: Path, *words: object, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "byline", *map(str, words)]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)  # type: ignore[call-overload,no-any-return]


def finish(process: subprocess.Popen[str], expected: int = 0) -> tuple[str, str]:
    out, error = process.communicate(timeout=200)
    assert process.returncode == expected, error
    return out, error


@pytest.fixture
def home(make_corpus: MakeCorpus, tmp_path: Path) -> Path:
    """A folder with a corpus and a pool whose five members take a few seconds, and another that takes none."""
    make_corpus(small_problems(6, length=4000)).rename(tmp_path / "corpus")
    make_corpus(small_problems(6), name="small")
    (tmp_path / "pool.toml").write_text(POOL, "utf-8")
    (tmp_path / "small.toml").write_text("hidden = 4\nsub_epochs = 1\n", "utf-8")
    return tmp_path


def finished(folder: Path) -> int:
    return len(list(folder.glob("run/members/0*")))


def results(folder: Path) -> dict[str, bytes]:
    """All that depends on the texts and the seed; member.json holds timings, a plan the command as it was given."""
    kept = [path for name in ("*.safetensors", "evidence.*") for path in folder.glob(f"run/members/0*/{name}")]
    assert {path.suffix for path in kept} == {".safetensors", ".json", ".npy"}
    files = [folder / "answers.txt", *kept]
    plan = json.loads((folder / "run/plan.json").read_text("utf-8"))
    del plan["command"], plan["checksum"]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files} | {"plan": json.dumps(plan).encode()}


def warm(folder: Path, *words: object) -> Started:
    """A command without the time that starting takes; what it says in the end is in `errors`."""
    outputs = (os.devnull, str(folder / "errors"))
    return programs.start(*words, cwd=folder, outputs=outputs, environment=os.environ)


def test_a_run_killed_at_random_points_ends_with_the_same_bytes(home: Path) -> None:
    kills, members = (10, 40) if os.environ.get("BYLINE_SOAK") else (3, 12)
    many = (*MEMBERS, "--members", str(members), "--set", "sub_epochs=20")
    begin = time.monotonic()
    assert warm(home, "verify", "small", "-o", "whole", *many).wait() == 0, (home / "errors").read_text("utf-8")
    length = time.monotonic() - begin
    rng = random.Random(0)
    ends = []
    for _ in range(kills):
        before = finished(home / "killed")
        process = warm(home, "verify", "small", "-o", "killed", "--resume", *many)
        for _ in range(1000):  # until it is at work
            if finished(home / "killed") > before or not process.running():
                break
            time.sleep(0.01)
        time.sleep(rng.uniform(0, length / members))
        if process.running():
            os.kill(process.number, signal.SIGKILL)
        ends.append(process.wait())
    assert set(ends) <= {0, -signal.SIGKILL}
    assert ends[0] == -signal.SIGKILL, "it ended before it could be killed"
    last = warm(home, "verify", "small", "-o", "killed", "--resume", *many)
    assert last.wait() == 0, (home / "errors").read_text("utf-8")
    assert results(home / "killed") == results(home / "whole")
    assert not list((home / "killed").rglob("*.part"))


def test_a_run_that_dies_at_any_write_ends_with_the_same_bytes(home: Path) -> None:
    small = Settings(hidden=4, sub_epochs=1)
    whole = verify(home / "small", small, members=2)
    words = ("--settings", "small.toml", "--members", "2", "--workers", "1")
    point, code = 0, 9
    while code:
        point += 1
        out = home / str(point)
        died = run("verify", "small", "-o", out, *words, cwd=home, before=programs.DYING.replace("POINT", str(point)))
        code = died.returncode
        assert code in (0, 9), died.stderr
        resumed = verify(home / "small", small, members=2, output=RunOutput(out / "run", resume=True))
        assert resumed.answers == whole.answers
        assert sorted(path.name for path in out.glob("run/members/*")) == ["0001", "0002"]
        answers = out / "answers.txt"
        assert not answers.exists() or answers.read_text("utf-8") == format_answers(whole.answers, "folders")
    assert point > 21, "texts, cautions, a plan, two members and the answers are more than twenty writes and renames"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_or_the_system_stops_with_the_answers_so_far(home: Path, number: int) -> None:
    slow, log = ("--set", "sub_epochs=30", "--workers", "1"), home / "log.jsonl"
    process = start(home, "verify", "corpus", "-o", "out", *MEMBERS, *slow, "--log", log)
    for _ in range(5000):
        if (log.exists() and '"member done"' in log.read_text("utf-8")) or process.poll() is not None:
            break
        time.sleep(0.02)
    process.send_signal(number)
    out, error = finish(process, expected=128 + number)
    done = finished(home / "out")
    assert 1 <= done < 5
    assert f"interrupted; these are the answers of {done} member" in error
    assert "and --resume" in error
    assert len((home / "out/answers.txt").read_text("utf-8").splitlines()) == 6
    assert "same author" in out


def test_two_processes_never_work_on_one_run(home: Path) -> None:
    first = start(home, "verify", "corpus", "-o", "out", *MEMBERS, "--set", "sub_epochs=2000", "--workers", 1)
    for _ in range(2000):
        if (home / "out/run/plan.json").exists() or first.poll() is not None:
            break
        time.sleep(0.02)
    second = run("verify", "corpus", "-o", "out", "--resume", *MEMBERS, cwd=home)
    assert second.returncode == 1
    assert "another process" in second.stderr
    first.kill()
    first.communicate()
    third = run("verify", "corpus", "-o", "out", "--resume", *MEMBERS, cwd=home)
    assert third.returncode == 1
    assert "sub epochs was 2000, is 8" in third.stderr


def test_a_file_that_may_not_grow_ends_the_run_with_a_reason_and_it_goes_on_later(home: Path) -> None:
    """A real refusal by the system, of files over 8 kB: the evidence does not fit, all else does."""
    resource = pytest.importorskip("resource")

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, 8_000))

    larger = (*MEMBERS, "--members", "2", "--set", "sub_epochs=1")
    _, error = finish(start(home, "verify", "small", "-o", "out", *larger, preexec_fn=limit), expected=1)
    assert "File too large" in error
    assert "--resume" in error
    assert "Traceback" not in error
    assert not (home / "out/answers.txt").exists()
    later = run("verify", "small", "-o", "out", "--resume", *larger, cwd=home)
    assert later.returncode == 0, later.stderr
    assert finished(home / "out") == 2


IMPATIENT = "import byline.runs.workers as w, byline.__main__ as m; w.CONNECT_SECONDS = 0.5; m.main()"
"""The program, but for the seconds that it waits for a scheduler."""


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a scheduler on loopback."""
    pytest.importorskip("distributed", reason="byline[cluster] is not installed")
    note = tmp_path_factory.mktemp("scheduler") / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    process = subprocess.Popen([*command, "--no-dashboard", "--scheduler-file", str(note)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(2000):
            if note.exists() and note.read_text("utf-8").strip():
                break
            time.sleep(0.05)
        yield json.loads(note.read_text("utf-8"))["address"]
    finally:
        process.kill()
        process.wait()


class TestCluster:
    @pytest.fixture
    def workers(self, scheduler: str, tmp_path: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
        """Two worker processes of one thread each, which the scheduler knows."""
        command = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler, "--nthreads", "1", "--no-nanny"]
        logs = [tmp_path / f"worker{number}.log" for number in range(2)]
        processes = []
        for log in logs:
            with log.open("wb") as said:
                processes.append(subprocess.Popen([*command, "--no-dashboard"], cwd=tmp_path, stderr=said))
        try:
            for _ in range(1200):
                if all("Registered to:" in log.read_text("utf-8") for log in logs):
                    break
                time.sleep(0.05)
            else:
                pytest.fail(logs[0].read_text("utf-8") + logs[1].read_text("utf-8"))
            yield processes
        finally:
            for process in processes:
                process.kill()
                process.wait()

    def test_a_cluster_without_workers_is_refused(self, home: Path, scheduler: str) -> None:
        _, error = finish(start(home, "verify", "corpus", "-o", "out", *MEMBERS, "--cluster", scheduler), expected=1)
        assert "the cluster has no workers" in error

    def test_a_cluster_gives_the_same_bytes_even_if_a_worker_dies(
        self, home: Path, scheduler: str, workers: list[subprocess.Popen[bytes]]
    ) -> None:
        here = run("verify", "corpus", "-o", "here", *MEMBERS, cwd=home)
        assert here.returncode == 0, here.stderr
        process = start(home, "verify", "corpus", "-o", "there", *MEMBERS, "--cluster", scheduler)
        for _ in range(1200):
            if finished(home / "there") or process.poll() is not None:
                break
            time.sleep(0.02)
        assert process.poll() is None, "it ended before a worker could be killed"
        workers[0].kill()
        _, error = finish(process)
        assert results(home / "there") == results(home / "here")
        assert "Traceback" not in error

    def test_nobody_at_the_address_is_said(self, home: Path) -> None:
        words = ("verify", "corpus", "-o", "out", *MEMBERS, "--cluster", "tcp://127.0.0.1:9")
        done = subprocess.run(
            [sys.executable, "-c", IMPATIENT, *words], cwd=home, capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert "no Dask scheduler answers" in done.stderr
        assert "Traceback" not in done.stderr
        assert not (home / "out").exists()

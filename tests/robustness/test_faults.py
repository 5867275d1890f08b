"""Commands that are killed, or have no room or permission to write, lose no file and leave none half-written.

By default five commands have one fault of each kind; with BYLINE_SOAK=N, all commands have N (`make soak`).
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from numba.core.caching import _CacheLocator

import programs
from byline.engines.ngram import kernels as ngram_kernels
from byline.runs.folder import FOLDER, has_run, read_plan
from byline.storage.files import restore_folder
from samples import phrase, small_problems
from writing_commands import COMMANDS, SMALL, WritingCommand

SOAK = int(os.environ.get("BYLINE_SOAK", "0"))
LIMIT = 60.0
TRIED = COMMANDS if SOAK else ("verify", "train", "report", "reference", "calibrate")
DYING = COMMANDS if SOAK else ("verify", "train", "report", "reference")  # ended at each of their writes


def run(folder: Path, words: tuple[str, ...], **more: object) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "byline", *words], cwd=folder, capture_output=True, text=True, timeout=LIMIT * 5,
        check=False, **more,  # type: ignore[call-overload]
    )  # fmt: skip


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make everything that the commands read."""
    folder = tmp_path_factory.mktemp("inputs")
    for problem, files in small_problems(12).items():
        for name, text in files.items():
            (folder / "corpus" / problem).mkdir(parents=True, exist_ok=True)
            (folder / "corpus" / problem / name).write_text(text, encoding="utf-8")
    truth = "".join(f"{name} {'Y' if int(name[2:]) % 2 else 'N'}\n" for name in small_problems(12))
    (folder / "corpus/truth.txt").write_text(truth, encoding="utf-8")
    for place, people in (("authors", range(3)), ("more", range(3, 5))):
        for author in people:
            (folder / place / f"author{author}").mkdir(parents=True)
            for salt in range(2):
                file = folder / place / f"author{author}" / f"{salt}.txt"
                file.write_text(phrase(author, 900, salt), encoding="utf-8")
    for name, salt in (("long.txt", 8), ("other/long.txt", 9)):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(phrase(0, 1500, salt) + phrase(1, 1500, salt), encoding="utf-8")
    made = {
        "run": ("verify", "corpus", "-o", "run", "--seed", "1", *SMALL),
        "run2": ("verify", "corpus", "-o", "run2", "--seed", "2", *SMALL),
        "m.byline": ("train", "authors", "-o", "m.byline"),
    }
    for name, words in made.items():
        if any(name in (*COMMANDS[each].words, *COMMANDS[each].old) for each in (*TRIED, *DYING)):
            done = programs.run(*words, cwd=folder)
            assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def home(inputs: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(inputs, tmp_path / "home"))


@pytest.fixture(scope="module")
def whole(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[bytes, float]]:
    """Return a function that gives the output of an undisturbed command, and the seconds it takes."""
    known: dict[str, tuple[bytes, float]] = {}

    def give(name: str) -> tuple[bytes, float]:
        if name not in known:
            folder = Path(shutil.copytree(inputs, tmp_path_factory.mktemp("whole") / "home"))
            begin = time.perf_counter()
            done = run(folder, COMMANDS[name].words)
            assert done.returncode == 0, done.stderr
            known[name] = ((folder / COMMANDS[name].output).read_bytes(), time.perf_counter() - begin)
        return known[name]

    return give


def content(folder: Path) -> Mapping[str, bytes]:
    """Return all files of a folder except locks and hidden files."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".") and path.suffix != ".lock" and path.name != "lock"
    }


def signals() -> Iterator[tuple[str, int, int]]:
    """Yield commands and signals: one for each command, or all in a soak."""
    kinds = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
    for place, name in enumerate(TRIED):
        for turn in range(max(1, 3 * SOAK)):
            yield name, kinds[(place + turn) % 3], turn


@pytest.mark.parametrize(("name", "number", "turn"), list(signals()))
def test_a_command_stopped_anywhere_leaves_nothing_half_done(
    home: Path, whole: Callable[[str], tuple[bytes, float]], name: str, number: int, turn: int
) -> None:
    writer, (wanted, seconds) = COMMANDS[name], whole(name)
    before = content(home)
    process = subprocess.Popen(
        [sys.executable, "-m", "byline", *writer.words],
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(seconds * random.Random(f"{name} {number} {turn}").random())
    process.send_signal(number)
    _, error = process.communicate(timeout=LIMIT)
    if "Traceback" not in error or "byline" in error:  # else Python itself had not come to the program
        assert process.returncode in (0, 128 + number, -number), error
        assert "Traceback" not in error
    after = content(home)
    assert {path: after.get(path) for path in before} == before, "what was there is as it was"
    if writer.output in after:
        made = after[writer.output]
        assert not writer.same or made == wanted or name == "verify", "a file that is there is whole"
    done = programs.run(*writer.words, *writer.again, cwd=home)
    assert done.returncode == 0, done.stderr
    assert not writer.same or (home / writer.output).read_bytes() == wanted
    assert [path.name for path in home.rglob("*.part*")] == [], "nothing half-written is left"
    count(name, signal.Signals(number).name if process.returncode else "too late")


def seen(home: Path, writer: WritingCommand) -> tuple[bytes | None, object]:
    """Return what the next command finds: the output file, and the plan of its run if there is one."""
    place = home / "new"
    restore_folder(place)
    plan = [asdict(member) for member in read_plan(place / FOLDER).members] if has_run(place / FOLDER) else None
    output = home / writer.output
    return output.read_bytes() if output.exists() else None, plan


@pytest.mark.parametrize("name", DYING)
def test_a_command_that_dies_while_it_replaces_something_leaves_the_old_or_the_new(home: Path, name: str) -> None:
    """It dies at each half-written file, and before each renaming and removal."""
    writer = COMMANDS[name]
    made = programs.run(*writer.old, cwd=home)
    assert made.returncode == 0, made.stderr
    old = seen(home, writer)
    words = (*writer.words, *(("--overwrite",) if writer.again else ()))
    found, ends, code = [], set(), 9
    while code:
        folder = Path(shutil.copytree(home, home.parent / f"{name} {len(found)}", symlinks=True))
        died = programs.run(*words, cwd=folder, before=programs.DYING.replace("POINT", str(len(found) + 1)))
        code = died.returncode
        assert code in (0, 9), died.stderr
        found.append(seen(folder, writer))
        again = programs.run(*words, cwd=folder)
        assert again.returncode == 0, again.stderr
        assert [path.name for path in folder.rglob("*.part*")] == [], "nothing half-written is left"
        ends.add((folder / writer.output).read_bytes())
        shutil.rmtree(folder)
    new = found[-1]
    assert not writer.same or ends == {new[0]}, "given again, it ends as if nothing had been"
    assert new[0] != old[0]
    allowed = [old, new, *([(None, new[1])] if new[1] else [])]  # a run that has begun has no answers yet
    if not writer.same:  # it tells seconds, or when it was made
        allowed += [each for each in found if (each[0] or b"").rstrip().endswith(b"</html>")]
    assert [number for number, each in enumerate(found) if each not in allowed] == []
    assert old in found, "it died before it came to replace anything"
    for _ in found[:-1]:
        count(name, "at a write")


def count(name: str, way: str) -> None:
    """Record a fault that a command survived, for benchmarks/faults.py."""
    if tally := os.environ.get("BYLINE_TALLY"):
        with open(tally, "a", encoding="utf-8") as file:
            file.write(f"{name}\t{way}\n")


def small_files() -> None:
    """Limit files to 200 bytes, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))


@pytest.mark.parametrize("name", [name for name in TRIED if name != "attribute"])
def test_a_full_disk_is_named_and_nothing_is_left_behind(home: Path, name: str) -> None:
    writer = COMMANDS[name]
    before = content(home)
    done = run(home, writer.words, preexec_fn=small_files)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stderr.splitlines()[-1].startswith("byline: "), done.stderr
    assert "Traceback" not in done.stderr
    assert "can't be written" in done.stderr
    assert "make room there" in done.stderr or "choose another" in done.stderr, done.stderr
    after = content(home)
    assert {path: after.get(path) for path in before} == before
    assert writer.output not in after
    if name in ("verify", "calibrate"):  # which keep what is done on the way
        again = programs.run(*writer.words, *writer.again, cwd=home)
        assert again.returncode == 0, again.stderr


def unprivileged() -> None:
    """Drop root's right to ignore permissions."""
    if os.getuid() == 0:
        for right in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            ctypes.CDLL(None).prctl(24, right, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are others there")
@pytest.mark.parametrize("name", ["verify", "report", "reference"])
def test_a_folder_that_may_not_be_written_to_is_named_at_once(home: Path, name: str) -> None:
    home.chmod(0o555)
    done = run(home, COMMANDS[name].words, preexec_fn=unprivileged)
    home.chmod(0o755)
    assert done.returncode == 1, done.stdout + done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("byline: ")]
    assert "new" in line
    assert "Permission denied" in line or "may write" in line, line
    assert not (home / COMMANDS[name].output).exists()


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are others there")
def test_a_text_that_may_not_be_read_is_named(home: Path) -> None:
    secret = home / "corpus/EN003/known01.txt"
    secret.chmod(0)
    done = run(home, COMMANDS["verify"].words, preexec_fn=unprivileged)
    assert done.returncode == 1
    assert "EN003/known01.txt" in done.stderr
    assert not (home / "new").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are others there")
@pytest.mark.parametrize(
    "words", [("cluster", "authors"), ("train", "authors", "-o", "new.byline"), ("text", "authors")]
)
def test_texts_in_a_folder_that_may_not_be_read_are_not_left_out_silently(home: Path, words: tuple[str, ...]) -> None:
    (home / "authors/author1").chmod(0)
    done = run(home, words, preexec_fn=unprivileged)
    (home / "authors/author1").chmod(0o755)
    assert done.returncode == 1, done.stdout
    assert "authors/author1: can't be read (Permission denied)" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
@pytest.mark.parametrize(("gigabytes", "reason"), [(0.4, "limited to 0.4 GB"), (1.6, "out of memory")])
def test_little_memory_is_said_and_costs_nothing_that_is_done(home: Path, gigabytes: float, reason: str) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (int(gigabytes * 1e9), int(gigabytes * 1e9)))

    before = content(home)
    words = ("verify", "corpus", "-o", "new", "--set", "hidden=6000", "--workers", "1")
    done = run(home, words, preexec_fn=limit)
    assert done.returncode == 1, done.stderr
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
    after = content(home)
    assert {path: after.get(path) for path in before} == before
    assert "new/answers.txt" not in after


def test_a_damaged_cache_of_compiled_code_changes_nothing(home: Path, tmp_path: Path) -> None:
    """Damage the code or the index of three functions; more would take long to compile."""
    words = ("verify", "corpus", "-o", "new", "--engines", "ngram", "--members", "1", "--overwrite")
    assert run(home, words).returncode == 0
    wanted = (home / "new/answers.txt").read_bytes()
    cache = tmp_path / "cache" / _CacheLocator.get_suitable_cache_subpath(ngram_kernels.__file__)
    shutil.copytree(index_of(ngram_kernels.count_text).parent, cache, ignore=shutil.ignore_patterns("*.pyc*", "*.tmp*"))
    damaged = {}
    for function, suffix, damage in (
        (ngram_kernels.count_text, ".nbc", lambda data: data[: len(data) // 2]),
        (ngram_kernels.predict_text, ".nbi", lambda data: b""),
        (ngram_kernels.surprisal, ".nbc", lambda data: random.Random(1).randbytes(len(data))),
    ):
        files = list(cache.glob(f"{index_of(function).stem}*{suffix}"))
        assert files
        for path in files:
            damaged[path] = damage(path.read_bytes())
            path.write_bytes(damaged[path])
    done = run(home, words, env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")})
    assert done.returncode == 0, done.stderr
    assert (home / "new/answers.txt").read_bytes() == wanted
    assert [path.name for path, data in damaged.items() if path.read_bytes() == data] == [], "all were looked at"


def index_of(function: Any) -> Path:
    """Return the index file of a function's compiled code."""
    return Path(function._cache._cache_file._index_path)


CLOCK = """
import sys, time
real = time.time
begin = real()
time.time = lambda: begin - 30 * (real() - begin) - 86400  # it runs backwards, from yesterday on
time.time_ns = lambda: int(time.time() * 1e9)
from byline.__main__ import main
for more in ([], ["--resume"]):
    sys.argv[1:] = [*WORDS, *more]
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code
"""


def test_a_clock_that_runs_backwards_changes_nothing(home: Path, whole: Callable[[str], tuple[bytes, float]]) -> None:
    code = f"WORDS = {COMMANDS['verify'].words}" + CLOCK
    done = subprocess.run([sys.executable, "-c", code], cwd=home, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (home / "new/answers.txt").read_bytes() == whole("verify")[0]
    assert json.loads((home / "new/run/plan.json").read_text("utf-8"))

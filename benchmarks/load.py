"""What large jobs take: time and memory, each in a process of its own, on texts that are made up.

    python benchmarks/load.py                 all of them
    python benchmarks/load.py --only web      those whose name begins so
    python benchmarks/load.py --table         print what is stored, run nothing

Each is stored as soon as it is done, in the place of what was stored of it before.

Problems: pairs of 2,000 characters in one pairs.jsonl, answered by the n-grams of the usual preset, evidence and all;
twice as many should take twice as long. Authors: a thousand of them, learned and then asked about. Document: 50 MB of
text as one unknown. Files: a million tiny ones. Line: 200 MB without a line break. Web: clients that ask at once, and
jobs that wait. Seconds are of the wall and of all cores; memory is the most that was resident.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from stored import RESULTS, commit, save

STORED = RESULTS / "load.json"
TESTS = Path(__file__).parent.parent / "tests"
WORDS = tuple(
    word
    for line in (
        "the of and to a in is that it was for on with as he his be at by this had not are but from have they you",
        "which were their or we an she her him been has when who will more no if out so what up would there all",
    )
    for word in line.split()
)
Job = Callable[[Path], tuple[list[str], str]]


def prose(author: int, length: int, salt: int) -> str:
    """Words that everybody uses, some of them more than others do, and between them rarer ones that mean something.

    It has about as many different n-grams as prose has, on which time and memory depend (test_load.py).
    """
    habit = random.Random(author)
    weights = [habit.random() ** 2 for _ in WORDS]
    chance = random.Random(f"{author} {salt}")
    count = length // 6 + 20
    common = chance.choices(WORDS, weights, k=count)
    words, cumulated = dictionary()
    rare = chance.choices(words, cum_weights=cumulated, k=count)
    return " ".join(word for pair in zip(common, rare, strict=True) for word in pair)[:length]


@cache
def dictionary() -> tuple[list[str], list[float]]:
    """Words of one to four made-up syllables, the frequent ones first, and how often they come, added up."""
    chance = random.Random(0)
    begins = [*"bcdfghlmnprstw", "st", "tr"]
    syllables = [begin + middle + end for begin in begins for middle in "aeiou" for end in ("", *"nrstl")]
    words = list(
        dict.fromkeys("".join(chance.choices(syllables, k=chance.choice([1, 2, 2, 3, 4]))) for _ in range(20_000))
    )
    return words, list(accumulate(1 / (place + 10) for place in range(len(words))))


def pairs(count: int) -> Job:
    """Verify so many problems in one file."""

    def make(folder: Path) -> tuple[list[str], str]:
        with (folder / "pairs.jsonl").open("w", encoding="utf-8") as file:
            for number in range(count):
                author = number % (count // 2 or 1)
                other = author if number % 2 else author + 1
                pair = [prose(author, 2_000, 2 * number), prose(other, 2_000, 2 * number + 1)]
                file.write(json.dumps({"id": f"p{number}", "pair": pair}) + "\n")
        words = ["verify", "pairs.jsonl", "-o", "out", "--engines", "ngram,vectors", "--quiet", "--language", "english"]
        return words, "out/answers.jsonl"

    return make


def authors(count: int) -> Job:
    """Attribute texts to one of so many authors."""

    def make(folder: Path) -> tuple[list[str], str]:
        for author in range(count):
            place = folder / "authors" / f"a{author:04d}"
            place.mkdir(parents=True)
            for salt in range(2):
                (place / f"{salt}.txt").write_text(prose(author, 2_000, salt), encoding="utf-8")
        (folder / "asked").mkdir()
        for author in range(20):
            (folder / "asked" / f"{author}.txt").write_text(prose(author, 2_000, 9), encoding="utf-8")
        return ["attribute", "--known", "authors", "asked", "-o", "out.csv", "--quiet"], "out.csv"

    return make


def long_document(megabytes: int) -> Job:
    """Verify one unknown text of so many megabytes beside small ones."""

    def make(folder: Path) -> tuple[list[str], str]:
        for number in range(6):
            place = folder / "corpus" / f"EN{number:03d}"
            place.mkdir(parents=True)
            (place / "known01.txt").write_text(prose(number, 4_000, 0), encoding="utf-8")
            (place / "unknown.txt").write_text(prose(number, 4_000, 1), encoding="utf-8")
        page = prose(3, 100_000, 7) + "\n"
        (folder / "corpus/EN003/unknown.txt").write_text(
            (page * (10 * megabytes))[: megabytes * 1_000_000], encoding="utf-8"
        )
        words = ["verify", "corpus", "-o", "out", "--engines", "ngram,vectors", "--no-evidence", "--quiet"]
        return words, "out/answers.txt"

    return make


def tiny_files(count: int) -> Job:
    """Read so many texts of a few words each; they are too short, which has to be said."""

    def make(folder: Path) -> tuple[list[str], str]:
        for number in range(count):
            place = folder / "texts" / f"{number // 1000:04d}"
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{number}.txt").write_text(f"text {number}", encoding="utf-8")
        return ["prepare", "texts"], ""

    return make


def one_line(megabytes: int) -> Job:
    """Read a text that is one line of so many megabytes."""

    def make(folder: Path) -> tuple[list[str], str]:
        (folder / "line.txt").write_text("a word and " * (megabytes * 1_000_000 // 11), encoding="utf-8")
        return ["prepare", "line.txt"], ""

    return make


WEB = "web 20 clients, 200 jobs"
JOBS: Mapping[str, Job] = {
    "problems 1,250": pairs(1_250),
    "problems 2,500": pairs(2_500),
    "problems 10,000": pairs(10_000),
    "authors 1,000": authors(1_000),
    "document 50 MB": long_document(50),
    "files 1,000,000": tiny_files(1_000_000),
    "line 199 MB": one_line(199),
}


def measure(name: str) -> dict[str, Any]:
    """Do a job in a process of its own."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        words, output = JOBS[name](folder)
        begin = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "byline", *words],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        said: list[str] = []
        assert process.stderr
        with process.stderr:
            reader = threading.Thread(target=said.extend, args=(process.stderr,))
            reader.start()
            most = watch_memory(process.pid)
            _, status, used = os.wait4(process.pid, 0)
            reader.join()
        seconds = time.perf_counter() - begin
        process.returncode = code = os.waitstatus_to_exitcode(status)
        whole = not output or (folder / output).exists()
        end = "answered" if code == 0 and whole else said[-1].strip()[:80] if said else f"exit code {code}"
    cores = used.ru_utime + used.ru_stime
    return {
        "job": name,
        "seconds": round(seconds, 1),
        "core_seconds": round(cores, 1),
        "megabytes": most,
        "end": end,
    }


def watch_memory(pid: int) -> int:
    """The most that a process has held until it ends, in MiB; `ru_maxrss` would count what its parent held too."""
    most = 0
    while not os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        most = max(most, held_by(pid))
        time.sleep(0.02)
    return most


def held_by(pid: int) -> int:
    """The most that a living process has held so far, in MiB."""
    with Path(f"/proc/{pid}/status").open(encoding="utf-8") as file:
        return next((int(line.split()[1]) // 1024 for line in file if line.startswith("VmHWM")), 0)


def measure_web(clients: int = 20, jobs: int = 200, limit: float = 900) -> dict[str, Any]:
    """So many clients that put questions in line at once; all of them are done, and the page answers all the while.

    After `limit` seconds nothing is waited for any more, and fewer are done.
    """
    sys.path.insert(0, str(TESTS / "support"))
    import web_pages

    folder = Path(tempfile.mkdtemp())
    server = web_pages.begin(folder / "home", web_pages.STAND_IN)
    begin = time.perf_counter()
    slowest: list[float] = []

    def ask(client: int) -> None:
        for number in range(jobs // clients):
            server.ask(f"client {client} job {number}")
            asked = time.perf_counter()
            server.get("api/jobs")
            slowest.append(time.perf_counter() - asked)

    try:
        threads = [threading.Thread(target=ask, args=(client,)) for client in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        queued = time.perf_counter() - begin
        while True:
            states = [job["state"] for job in server.get("api/jobs")["jobs"]]
            if set(states) <= set(web_pages.ENDED) or time.perf_counter() - begin > limit:
                break
            time.sleep(0.2)
        done = states.count("done")
        seconds = time.perf_counter() - begin
        memory = held_by(server.process.pid)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    end = f"{done} of {jobs} done; in line after {queued:.0f} s; slowest list {max(slowest):.1f} s"
    return {"job": f"web {clients} clients, {jobs} jobs", "seconds": round(seconds, 1), "megabytes": memory, "end": end}


def table(stored: Mapping[str, Any]) -> str:
    """What is stored, as the documentation has it."""
    lines = ["| job | seconds | of all cores | MiB at the most | end |", "|---|---:|---:|---:|---|"]
    for row in stored["runs"]:
        cores = f"{row['core_seconds']:,.0f}" if "core_seconds" in row else ""
        lines.append(f"| {row['job']} | {row['seconds']:,.0f} | {cores} | {row['megabytes']:,} | {row['end']} |")
    return "\n".join(lines)


def keep(row: Mapping[str, Any]) -> None:
    """Store what a job took, in the order of jobs."""
    stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {"runs": []}
    order = [*JOBS, WEB]
    rows = {each["job"]: each for each in stored["runs"] if each["job"] in order} | {
        row["job"]: {**row, "commit": commit()}
    }
    save(STORED, {"cores": os.cpu_count(), "runs": sorted(rows.values(), key=lambda each: order.index(each["job"]))})


def main() -> None:
    """Measure and store, or print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="jobs whose name begins so")
    parser.add_argument("--table", action="store_true", help="print what is stored")
    asked = parser.parse_args()
    if not asked.table:
        for name in [*JOBS, WEB]:
            if name.startswith(asked.only):
                row = measure_web() if name == WEB else measure(name)
                keep(row)
                print(row, file=sys.stderr)
    print(table(json.loads(STORED.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()

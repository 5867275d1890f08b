"""A newcomer's walk: all that README.md tells one to type, in its order, as it stands there.

    python tests/walk.py            in a fresh clone in a temporary folder, beginning with `make demo`
    python tests/walk.py --here     the same with the program that is installed already: `byline demo` for `make demo`,
                                    texts cut short for the last commands, and no doctor, whom test_doctor tries

It ends with exit code 0 if every command ends well and the demo prints what README.md shows.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parent.parent
TYPED = {
    "problems": "practice/problems",
    "novels": "practice/authors",
    "letters": "practice/authors",
    "found.txt": "practice/problems/EN004/unknown.txt",
}
"""What the last commands want, and the built-in texts that stand for it."""
LEFT_OUT = ("make test", ". .venv/bin/activate")
"""The first would start this walk again; what the second does to a shell is done to the environment here."""
SHORT = 1_500
"""Characters that are left of a text that is cut short."""


def blocks_of(readme: str) -> list[tuple[str, str]]:
    """The fenced blocks, each with its language."""
    return re.findall(r"(?ms)^```(\w+)\n(.*?)^```$", readme)


def commands_of(block: str) -> list[str]:
    """The lines that are typed, without their comments."""
    return [line[2:].split("  #")[0].strip() for line in block.splitlines() if line.startswith("$ ")]


def plain(text: str) -> str:
    """Without what differs from run to run: seconds, and spaces at the ends of lines."""
    return re.sub(r"\d+\.\d s\b", "N s", re.sub(r" +$", "", text, flags=re.MULTILINE)).strip()


def is_like(shown: str, printed: str) -> bool:
    """Whether the same was printed, but for answers that another processor gives a hundredth higher or lower."""
    lines = plain(printed).splitlines()
    wanted = plain(shown).splitlines()
    there = next((lines[at : at + len(wanted)] for at, line in enumerate(lines) if line == wanted[0]), [])
    numbers = [[float(each) for each in re.findall(r"\b0\.\d+\b", "\n".join(one))] for one in (wanted, there)]
    alike = len(numbers[0]) == len(numbers[1]) and all(abs(a - b) < 0.02 for a, b in zip(*numbers, strict=True))
    words = [re.sub(r"[·|●]+|\b0\.\d+\b", "", "\n".join(one)) for one in (wanted, there)]
    return alike and words[0] == words[1]


def walk(folder: Path, readme: str, made: bool, environment: dict[str, str]) -> None:
    """Type everything; `made` says whether the folder is a clone in which to run make."""

    def type_in(line: str) -> str:
        began = time.perf_counter()
        done = subprocess.run(
            ["sh", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        print(f"{time.perf_counter() - began:6.1f} s  $ {line}", flush=True)
        if done.returncode:
            raise SystemExit(f"{line}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    shown = ""
    for language, block in blocks_of(readme):
        if language == "text" and "Byline read" in block and not is_like(block, shown):
            raise SystemExit(f"the demo did not print what README.md shows:\n{shown}")
        if language == "python":
            (folder / "session.py").write_text(block, encoding="utf-8")
            if "Answer(" not in type_in("python session.py"):
                raise SystemExit("the Python session printed no answer")
        for line in commands_of(block) if language == "console" else ():
            if line in LEFT_OUT or (line == "byline doctor" and not made):
                continue
            if line == "byline serve":
                serve(folder, environment)
                continue
            for name in set(TYPED) & set(re.findall(r"[\w.]+", line)):
                bring(folder / TYPED[name], folder / name, None if made else SHORT)
            shown = type_in(line if made or line != "make demo" else "byline demo")
    for name in ("byline-demo.html", "answer.html"):
        if "<html" not in (folder / name).read_text("utf-8")[:1000]:
            raise SystemExit(f"{name} is no page")


def bring(source: Path, target: Path, most: int | None) -> None:
    """Built-in texts in the place of one's own, with so many characters at the most."""
    if target.exists():
        return
    if target.name == "letters":
        target.mkdir()
        for path in sorted(source.glob("*/*.txt")):
            shutil.copy(path, target / f"{path.parent.name}-{path.name}")
    elif source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy(source, target)
    for text in [target, *target.rglob("*.txt")] if most else ():
        if text.is_file():
            text.write_text(text.read_text("utf-8")[:most], encoding="utf-8")


def serve(folder: Path, environment: dict[str, str]) -> None:
    """Start the page without a browser, open its address, and end it by Ctrl-C."""
    words = ["byline", "serve", "--no-browser", "--port", "0", "--home", str(folder / "home")]
    with subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        assert server.stdout
        try:
            address = next((found[0] for line in server.stdout if (found := re.search(r"http://127\S+", line))), None)
            if address is None:
                raise SystemExit("byline serve told no address")
            with urllib.request.urlopen(address, timeout=30) as answer:
                if b"Byline" not in answer.read():
                    raise SystemExit("the page is not Byline's")
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)
    print("          $ byline serve  answered", flush=True)


def main() -> None:
    """Walk, and say how it went."""
    readme = (ROOT / "README.md").read_text("utf-8")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "byline"
        if here := "--here" in sys.argv[1:]:
            folder.mkdir()
            binaries = Path(sys.executable).parent
        else:
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
            binaries = folder / ".venv" / "bin"
        environment = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100"}
        walk(folder, readme, not here, environment)
    print("Every command that README.md tells one to type ended well.")


if __name__ == "__main__":
    main()

"""Run every command that README.md tells a newcomer to type, in its order.

    python tests/support/readme_session.py          in a fresh clone in a temporary folder, beginning with `make demo`
    python tests/support/readme_session.py --here   with the installed program: `byline demo` for `make demo`, shortened
                                                    texts for the last commands, and without `byline doctor`

The exit code is 0 if every command succeeds and the demo prints what README.md shows.
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

from paths import ROOT

TYPED = {
    "problems": "practice/problems",
    "novels": "practice/authors",
    "letters": "practice/authors",
    "found.txt": "practice/problems/EN004/unknown.txt",
}
"""Files that the last commands name, and the built-in texts that replace them."""
LEFT_OUT = ("make test", ". .venv/bin/activate")
"""The first would run this script again; the second is replaced by a change of the environment."""
SHORT = 1_500  # characters of a shortened text


def blocks_of(readme: str) -> list[tuple[str, str]]:
    """Return the fenced blocks, each with its language."""
    return re.findall(r"(?ms)^```(\w+)\n(.*?)^```$", readme)


def commands_of(block: str) -> list[str]:
    """Return the lines that are typed, without comments."""
    return [line[2:].split("  #")[0].strip() for line in block.splitlines() if line.startswith("$ ")]


def plain(text: str) -> str:
    """Replace what differs from run to run: seconds, and spaces at the ends of lines."""
    return re.sub(r"\d+\.\d s\b", "N s", re.sub(r" +$", "", text, flags=re.MULTILINE)).strip()


def is_like(shown: str, printed: str) -> bool:
    """Return whether the same was printed; answers may differ by 0.01 on another processor."""
    lines = plain(printed).splitlines()
    wanted = plain(shown).splitlines()
    there = next((lines[at : at + len(wanted)] for at, line in enumerate(lines) if line == wanted[0]), [])
    numbers = [[float(each) for each in re.findall(r"\b0\.\d+\b", "\n".join(one))] for one in (wanted, there)]
    alike = len(numbers[0]) == len(numbers[1]) and all(abs(a - b) < 0.02 for a, b in zip(*numbers, strict=True))
    words = [re.sub(r"[·|●]+|\b0\.\d+\b", "", "\n".join(one)) for one in (wanted, there)]
    return alike and words[0] == words[1]


def run_all(folder: Path, readme: str, cloned: bool, environment: dict[str, str]) -> None:
    """Run all commands; `cloned` says whether the folder is a clone with a Makefile."""

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
            if line in LEFT_OUT or (line == "byline doctor" and not cloned):
                continue
            if line == "byline serve":
                serve(folder, environment)
                continue
            for name in set(TYPED) & set(re.findall(r"[\w.]+", line)):
                copy_texts(folder / TYPED[name], folder / name, None if cloned else SHORT)
            shown = type_in(line if cloned or line != "make demo" else "byline demo")
    for name in ("byline-demo.html", "answer.html"):
        if "<html" not in (folder / name).read_text("utf-8")[:1000]:
            raise SystemExit(f"{name} is no page")


def copy_texts(source: Path, target: Path, most: int | None) -> None:
    """Copy built-in texts to the place of the user's own, shortened to `most` characters."""
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
    """Start the web page without a browser, request its address, and stop it as Ctrl-C does."""
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
    """Run all commands of README.md."""
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
        run_all(folder, readme, not here, environment)
    print("Every command that README.md tells one to type ended well.")


if __name__ == "__main__":
    main()

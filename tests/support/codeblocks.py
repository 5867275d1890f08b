"""What the pages of the documentation hold: fenced blocks, commands, and a session in which commands can be run."""

from __future__ import annotations

import ast
import io
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer.main
from typer.testing import CliRunner

from byline.cli import LazyCommand, app
from byline.corpora.problems import builtin_problems
from byline.errors import BylineError
from paths import ROOT

PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    ]
)
NOT_RUN, QUOTED, FILE, PRINTED, CSV = "not run: ", "of ", "file ", "printed", "csv"
"""Comments above a block: why it is not run; the module that it quotes; the name under which it is written;
that it is what the Python above it prints; that it is a table."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    text: str
    mark: str
    """The comment above it, if there is one."""

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def reason(self) -> str:
        """Why it is not run; empty where it is."""
        return self.mark.removeprefix(NOT_RUN) if self.mark.startswith(NOT_RUN) else ""


@cache
def blocks_of(page: str) -> tuple[Block, ...]:
    """The fenced blocks of a page, in order."""
    found: list[Block] = []
    mark, begin, language, held = "", 0, "", []
    for number, line in enumerate((ROOT / page).read_text("utf-8").splitlines(), start=1):
        fence = re.match(r" {0,3}```(.*)$", line)
        if begin and fence and not fence[1].strip():
            found.append(Block(page, begin, language, "".join(held), mark))
            mark, begin, held = "", 0, []
        elif begin:
            held.append(line + "\n")
        elif fence:
            begin, language = number, fence[1].strip()
        elif comment := re.fullmatch(r"<!-- (.*) -->", line.strip()):
            mark = comment[1]
        elif line.strip():
            mark = ""
    assert not begin, f"{page}:{begin}: a block without an end"
    return tuple(found)


def prose_of(page: str) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"(?ms)^ {0,3}```.*?^ {0,3}```\s*?$", "", (ROOT / page).read_text("utf-8"))


@dataclass(frozen=True)
class Command:
    """A line that is typed, and what the page shows of its output."""

    words: tuple[str, ...]
    line: str
    shown: str


def commands_of(block: Block) -> list[Command]:
    """The commands of a console block: lines that begin with a dollar sign."""
    found: list[tuple[str, list[str]]] = []
    for line in re.sub(r"\\\n +", "", block.text).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            assert found, f"{block.where}: output before any command"
            found[-1][1].append(line)
    return [
        Command(tuple(shlex.split(line, comments=True)), line, "\n".join(shown).strip("\n")) for line, shown in found
    ]


def alike(shown: str, printed: str) -> bool:
    """Whether a page's output is what was printed: `...` stands for anything, seconds may differ."""

    def line_pattern(line: str) -> str:
        pattern = re.escape(line.rstrip()).replace(re.escape("..."), ".*")
        return re.sub(r"\d+(?:\\\.\d+)?(?=\\ s\b)", r"\\d+(?:\\.\\d+)?", pattern) + " *"

    patterns = [
        r"(?:.*\n)*" if line.strip() == "..." else line_pattern(line) + r"\n" for line in shown.strip("\n").splitlines()
    ]
    return re.fullmatch("".join(patterns), printed.strip("\n") + "\n") is not None


def typer_command(words: tuple[str, ...]) -> Any:
    """The command that the words after `byline` begin with, or None."""
    found: Any = typer.main.get_command(app)
    for word in words:
        if not hasattr(found, "list_commands"):
            break
        if word not in found.list_commands(None):
            return None if not word.startswith("-") else found
        found = found.get_command(None, word)
    return found.load() if isinstance(found, LazyCommand) else found


def find_fault(words: tuple[str, ...]) -> str:
    """What is wrong with a command that is not run: no such program, script, target, extra or option."""
    program, *rest = words
    program = program.removeprefix(".venv/bin/")
    options = {word.split("=")[0] for word in rest if re.match(r"--?[a-z]", word)}
    if program == "byline":
        plain = tuple(word for word in rest if not word.startswith("-") and word.islower())
        command = typer_command(plain)
        if command is None:
            return f"no command byline {' '.join(plain[:2])}"
        there = {name for one in (command, typer_command(())) for each in one.params for name in each.opts}
        return ", ".join(sorted(options - there - {"--help", "-h"}))
    if program == "make":
        targets = set(re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text("utf-8")))
        return ", ".join(sorted({word for word in rest if "=" not in word} - targets))
    if program in ("python", "python3") and rest and rest[0].endswith(".py"):
        if not (ROOT / rest[0]).is_file():
            return f"no script {rest[0]}"
        return ", ".join(sorted(options - options_of(rest[0])))
    if program == "pip":
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        extras = {extra for names in re.findall(r"\[([a-z,]+)\]", " ".join(rest)) for extra in names.split(",")}
        return ", ".join(sorted(extras - set(project["optional-dependencies"])))
    return ""


@cache
def options_of(script: str) -> set[str]:
    """The options that a script's parser is told of."""
    tree = ast.parse((ROOT / script).read_text("utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    words = [each.value for call in calls for each in call.args if isinstance(each, ast.Constant)]
    return {word for word in words if isinstance(word, str) and re.fullmatch(r"--?[a-z][a-z-]*", word)}


@dataclass
class Session:
    """A folder of its own in which the commands of one page are run, one after another."""

    folder: Path
    brief: bool
    """Whether networks learn for one sub-epoch only: a page that shows no answers needs no good ones."""
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    """What the page's Python session has."""
    printed: str = ""
    """By the last block of Python."""

    def run(self, command: Command, where: str) -> None:
        """Run a command as it stands; it must end as it should, and print what the page shows."""
        code, printed = self._call(command)
        refused = command.shown.startswith("byline: ")
        assert code == int(refused), f"{where}: {command.line}\n{printed}"
        if command.shown:
            assert alike(command.shown, printed), (
                f"{where}: {command.line}\nshown:\n{command.shown}\nprinted:\n{printed}"
            )

    def _call(self, command: Command) -> tuple[int, str]:
        words = list(command.words)
        if words[0] != "byline":
            done = subprocess.run(["sh", "-c", command.line], capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr
        words = [each for word in words[1:] for each in self._expand(word)]
        self._clear(words)
        assert words[0] != "serve", "it would not end"
        if (
            self.brief
            and words[0] in ("verify", "calibrate")
            and not {"--engines", "--reference", "mine.toml"} & set(words)
        ):
            words += ["--set", "sub_epochs=1"]
        if self.brief and words[0] == "demo" and "--texts" not in words:
            words += ["--members", "1"]
        result = CliRunner().invoke(app, words)
        if isinstance(result.exception, BylineError):
            return 1, f"byline: {result.exception}\n"
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout if result.exit_code == 0 else result.output

    def _expand(self, word: str) -> list[str]:
        """What a shell makes of a pattern."""
        return sorted(map(str, Path().glob(word))) if "*" in word else [word]

    def _clear(self, words: list[str]) -> None:
        """Commands below each other may be alternatives that write to one place; none says --overwrite."""
        if not {"--resume", "--overwrite"} & set(words) and self.brief and words[0] != "enroll":
            for option, place in pairwise(words):
                if option in ("-o", "--report") and (target := self.folder / place).exists():
                    shutil.rmtree(target) if target.is_dir() else target.unlink()

    def execute(self, block: Block) -> None:
        """Run a block of Python; a tutorial is one session, elsewhere an import at the beginning begins a new one."""
        if self.brief and re.match(r"(import|from) ", block.text):
            self.names = {"__name__": "__main__"}
        printed = io.StringIO()
        with redirect_stdout(printed), redirect_stderr(io.StringIO()):
            exec(compile(block.text, block.where, "exec"), self.names)
        self.printed = printed.getvalue()


def texts(problems: int = 12) -> Iterator[tuple[str, str, str]]:
    """Folder, name and the first part of each of the built-in texts."""
    with builtin_problems("english") as folder:
        for problem in sorted(path for path in folder.iterdir() if path.is_dir())[:problems]:
            for path in sorted(problem.iterdir()):
                yield problem.name, path.name, path.read_text("utf-8")[:1500].rpartition(" ")[0] + "\n"


NOVELISTS = ("Austen", "Brontë", "Collins", "Dickens", "Eliot", "Gaskell")


def sample_files() -> dict[str, str]:
    """Files that pages speak of, by path: small things of each kind."""
    found: dict[str, str] = {}
    heap = list(texts())
    with builtin_problems("english") as folder:
        truth = (folder / "truth.txt").read_text("utf-8")
    for corpus in ("problems", "pan15-english", "corpus-with-truth"):
        few = 12 if corpus == "corpus-with-truth" else 7
        ids = sorted({problem for problem, _, _ in heap})[:few]
        found |= {f"{corpus}/{problem}/{name}": text for problem, name, text in heap if problem in ids}
        found[f"{corpus}/truth.txt"] = "".join(line for line in truth.splitlines(True) if line.split()[0] in ids)
        found[f"{corpus}/contents.json"] = json.dumps({"language": "English", "problems": ids})
    signed = [(problem, name, text) for problem, name, text in heap if name.startswith("known")]
    for folder_name in ("other-texts", "texts"):
        found |= {f"{folder_name}/{problem}/{name}": text for problem, name, text in signed}
    found |= {f"novels/{NOVELISTS[int(problem[-2:]) - 1]}/{name}": text for problem, name, text in signed[:10]}
    found |= {f"further/{NOVELISTS[5]}/{name}": text for _, name, text in signed[10:12]}
    found |= {f"letters/{problem}-{name}": text for problem, name, text in signed[:20]}
    unsigned = [text for _, name, text in heap if name == "unknown.txt"]
    found |= {"found.txt": unsigned[1], "more/one.txt": unsigned[2], "more/two.txt": unsigned[3]}
    found["book.txt"] = "\n".join(unsigned[:6])
    found |= dict(zip(("letter1.txt", "letter2.txt", "disputed.txt"), (text for _, _, text in heap[:3]), strict=True))
    found |= dict(zip(("a.txt", "b.txt", "q.txt"), (text for _, _, text in heap[:3]), strict=True))
    found["mine.toml"] = 'members = 2\n[[member]]\nengine = "ngram"\n[[member]]\nengine = "vectors"\n'
    found |= pan19(signed, unsigned)
    return found


def pan19(signed: list[tuple[str, str, str]], unsigned: list[str]) -> dict[str, str]:
    """A collection of one problem, as PAN 2019 has them."""
    home, names = "pan19/problem00001", [f"candidate{number:05d}" for number in range(1, 7)]
    told = [{"unknown-text": "unknown00001.txt", "true-author": names[1]}]
    return {
        "pan19/collection-info.json": json.dumps([{"problem-name": "problem00001", "language": "en"}]),
        f"{home}/problem-info.json": json.dumps(
            {"unknown-folder": "unknown", "candidate-authors": [{"author-name": name} for name in names]}
        ),
        **{f"{home}/{names[n // 2]}/known{n:05d}.txt": text for n, (_, _, text) in enumerate(signed[:12])},
        f"{home}/unknown/unknown00001.txt": unsigned[1],
        f"{home}/ground-truth.json": json.dumps({"ground_truth": told}),
    }


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write files into a folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")

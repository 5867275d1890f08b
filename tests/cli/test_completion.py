"""Completion in the shell: asked as a shell asks, and in bash itself where there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
import typer

from byline.cli import app, load_commands
from byline.corpora.problems import Collection
from byline.figures.plot import KINDS
from byline.settings.settings import Interpretation, preset_names

PROGRAM = shutil.which("byline", path=str(Path(sys.executable).parent)) or ""


def ask(words: list[str], shell: str = "bash") -> list[str]:
    """What a shell is told when Tab is pressed at the end of the last word."""
    line = " ".join(["byline", *words])
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words))} if shell == "bash" else {"_TYPER_COMPLETE_ARGS": line}
    environment = {
        **os.environ, **asked, "_BYLINE_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "byline"], capture_output=True, text=True, env=environment, check=False
    )
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1]


def choices(command: str, parameter: str, begun: str = "") -> list[str]:
    """The words that are offered for a parameter of a command."""
    found = load_commands(typer.main.get_command(app))[command]
    (asked,) = (each for each in found.params if each.name == parameter)
    context = found.make_context(command, [], resilient_parsing=True)
    return [item.value for item in asked.shell_complete(context, begun)]


def test_commands_options_and_their_words_are_offered_in_bash() -> None:
    assert ask(["ver"]) == ["verify"]
    assert ask(["verify", "--pre"]) == ["--preset"]
    assert ask(["verify", "--preset", "paper-g"]) == ["paper-greek"]
    assert ask(["reference", "build", "--language", "g"]) == ["greek"]


def test_zsh_and_fish_are_told_in_their_own_ways() -> None:
    assert '"tippett"' in ask(["plot", "out", "t"], "zsh")[0]
    assert ask(["plot", "out", "t"], "fish") == ["tippett"]
    assert ask(["verify", "no-such-begin"], "zsh") == ["_files"]


def test_where_a_path_belongs_nothing_is_offered_so_that_the_shell_offers_files() -> None:
    assert ask(["verify", "pan"]) in ([], [""])
    assert ask(["verify", "--preset", "mine/"]) in ([], [""])


def test_each_fixed_set_is_whole() -> None:
    assert choices("plot", "kind") == list(KINDS)
    assert choices("presets", "name") == choices("verify", "preset") == preset_names()
    assert choices("demo", "collection") == list(get_args(Collection))
    ways = list(get_args(Interpretation))
    assert choices("verify", "interpret") == ways
    assert choices("combine", "interpret") == ways
    assert choices("verify", "mask", "t") == ["topic"]
    assert choices("verify", "control_heads") == ["one", "each"]
    assert choices("reference check", "language", "d") == ["dutch"]
    assert choices("verify", "seed") == []


def test_engines_are_offered_one_after_another_as_the_command_has_them() -> None:
    assert choices("verify", "engines") == ["rnn", "ngram", "vectors", "words", "characters", "punctuation", "grammar"]
    assert choices("train", "engines", "ngram,l") == ["ngram,linear"]
    assert choices("cluster", "engines", "vectors,") == ["vectors,ngram"]


SCRIPT = r"""
source "$1"
COMP_WORDS=(byline "${@:2}")
COMP_CWORD=$(($# - 1))
COMP_LINE="${COMP_WORDS[*]}"
COMP_POINT=${#COMP_LINE}
complete -p byline >&2
$(complete -p byline | sed 's/.*-F \([^ ]*\).*/\1/') byline "${COMP_WORDS[COMP_CWORD]}"
printf '%s\n' "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(not shutil.which("bash") or not PROGRAM, reason="no bash, or byline is not installed beside Python")
def test_bash_itself_completes(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(PROGRAM).parent}:{os.environ['PATH']}", "SHELL": "/bin/bash"}
    shown = {**environment, "_BYLINE_COMPLETE": "source_bash"}
    script = tmp_path / "byline.sh"
    script.write_text(subprocess.run([PROGRAM], capture_output=True, text=True, env=shown, check=True).stdout)

    def press(*words: str) -> subprocess.CompletedProcess[str]:
        command = ["bash", "--norc", "-c", SCRIPT, "bash", str(script), *words]
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=True)

    assert press("eva").stdout.split() == ["evaluate"]
    assert press("plot", "out", "ro").stdout.split() == ["rolling", "roc"]
    files = press("verify", "pa")
    assert files.stdout.split() == []
    assert "-o default" in files.stderr  # where nothing is offered, bash has its own file names


def test_help_names_the_option_that_installs_it() -> None:
    done = subprocess.run([sys.executable, "-m", "byline", "--help"], capture_output=True, text=True, check=True)
    assert "--install-completion" in done.stdout
    assert "--show-completion" in done.stdout


def test_installing_writes_to_the_home_folder_only(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "SHELL": "/bin/bash",
        "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
    }
    command = [sys.executable, "-m", "byline", "--install-completion", "bash"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    written = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert written == [".bash_completions/byline.sh", ".bashrc"]

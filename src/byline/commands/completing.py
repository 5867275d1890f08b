"""What a shell offers when Tab is pressed, where a word is one of a fixed set; where nothing fits it offers files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any, get_args

from typer.core import TyperGroup

from byline.builtin import Collection
from byline.commands.combine import OFFERED
from byline.languages import NAMES
from byline.settings import Interpretation, Mask

FIGURES = ("rolling", "heatmap", "roc", "tippett", "calibration", "pca", "mds", "dendrogram", "learning")
"""The kinds of figures.plotting, which is too heavy to be loaded for this."""


def preset_names() -> list[str]:
    """As pools.preset_names has them, without loading what it needs."""
    return sorted(path.name.removesuffix(".toml") for path in (files("byline") / "presets").iterdir())


WORDS: dict[str, Callable[[], Sequence[str]]] = {
    "preset": preset_names,
    "presets name": preset_names,
    "mask": lambda: get_args(Mask),
    "interpret": lambda: get_args(Interpretation),
    "combine interpret": lambda: OFFERED,
    "control_heads": lambda: ("one", "each"),
    "language": lambda: sorted(set(NAMES.values())),
    "plot kind": lambda: FIGURES,
    "demo collection": lambda: get_args(Collection),
}
"""By the name of a parameter, or of a command and its parameter."""
LISTS = ("engines",)
"""Whose words are joined by commas, as what its help shows for a value is."""


def offer(name: str, parameter: Any, incomplete: str) -> list[str] | None:
    """The words that can stand there and begin so; None where any word can."""
    if words := WORDS.get(f"{name} {parameter.name}", WORDS.get(parameter.name)):
        return [word for word in words() if word.startswith(incomplete)]
    if parameter.name in LISTS:
        done, comma, begun = incomplete.rpartition(",")
        left = [word for word in parameter.metavar.split(",") if word not in done.split(",")]
        return [f"{done}{comma}{word}" for word in left if word.startswith(begun)]
    return None


class Completing(TyperGroup):
    """Commands whose parameters know their words."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name."""
        command: Any = super().get_command(ctx, cmd_name)
        for parameter in getattr(command, "params", ()):
            if offer(cmd_name, parameter, "") is not None:
                # what autocompletion= of an option is kept as; here, so that the words of all options stand together
                parameter._custom_shell_complete = _Offer(cmd_name)
        return command


class _Offer:
    """What is asked for the words of a parameter of a command."""

    def __init__(self, command: str) -> None:
        self._command = command

    def __call__(self, _: Any, parameter: Any, incomplete: str) -> list[str]:
        """Those that can stand there."""
        return offer(self._command, parameter, incomplete) or []

"""Runs of the usual small problems: each is made once in a process of the tests, and copied to where it is wanted."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from byline.runs.executor import Verification
from byline.runs.folder import RunOutput
from byline.settings.settings import Pool, Settings
from byline.tasks.verify import verify
from samples import small_problems

SMALL = Settings(hidden=4, sub_epochs=2)


def make_run(
    place: Path,
    preset: Settings | Pool = SMALL,
    members: int | None = None,
    seed: int = 0,
    trace: bool = False,
) -> Verification:
    """What `verify(corpus, ...)` gives of six small problems; its run folder is in `place`, which was not there."""
    result, folder = _made(preset, members, seed, trace)
    shutil.copytree(folder, place)
    return result


@cache
def _made(preset: Settings | Pool, members: int | None, seed: int, trace: bool) -> tuple[Verification, Path]:
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    for name, files in small_problems(6).items():
        (folder / "corpus" / name).mkdir(parents=True)
        for file, text in files.items():
            (folder / "corpus" / name / file).write_text(text, "utf-8")
    output = RunOutput(folder / "run", trace=trace)
    return verify(folder / "corpus", preset, members=members, seed=seed, output=output), folder / "run"

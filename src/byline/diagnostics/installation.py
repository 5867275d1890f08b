"""Check what is installed and where: the machine, packages, extras, folders. A broken part is a finding, not an error.

Imports of other parts of Byline are inside the functions, because they may be what is broken.
"""

from __future__ import annotations

import os
import platform
import re
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Literal

import byline
from byline.errors import BylineError

FindingState = Literal["well", "note", "broken"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    name: str
    said: str
    state: FindingState = "well"
    remedy: str = ""
    """What to do, where it is not well."""


@dataclass(frozen=True)
class Section:
    """Findings of one kind, and for programs the figures behind them."""

    title: str
    findings: tuple[Finding, ...]
    figures: Mapping[str, Any] | None = None

    @property
    def broken(self) -> bool:
        """Whether something in it keeps Byline from working as it should."""
        return any(finding.state == "broken" for finding in self.findings)

    def to_values(self) -> dict[str, Any]:
        """As plain values."""
        values: dict[str, Any] = {"title": self.title, "findings": [asdict(finding) for finding in self.findings]}
        return {**values, "figures": dict(self.figures)} if self.figures is not None else values


def first_line(error: BaseException) -> str:
    """What kind of error it is, and the first line of what it says."""
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0]}" if said else type(error).__name__


EXTRAS = {
    "cluster": "trainings on a Dask cluster",
    "documents": "texts as .docx, .odt, .pdf, .epub, .html, .md and TEI",
    "figures": "byline plot",
    "pandas": "results as tables of pandas",
    "web": "byline serve",
}
"""Those that are for users, and what each is for."""
MODULES = {"scikit-learn": "sklearn", "markdown-it-py": "markdown_it"}
"""Packages whose module has another name."""
PARTS = {"pypdf[crypto]": "cryptography"}
"""What an extra of another package brings."""


def look_at_machine() -> Section:
    """Versions, cores and memory."""
    from byline.storage.process import available_memory

    held = available_memory()
    return Section(
        "This machine",
        (
            Finding("Byline", f"{byline.__version__}, in {Path(byline.__file__).parent}"),
            Finding("Python", f"{platform.python_version()}, {sys.executable}"),
            Finding("system", platform.platform()),
            Finding("cores", str(os.cpu_count())),
            Finding("memory", f"{held / 1e9:.1f} GB" if held else "not known"),
        ),
    )


@dataclass(frozen=True)
class _Requirement:
    name: str
    least: str
    extra: str | None


_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+(?:\[[^\]]*\])?)\s*(?:>=\s*([0-9.]+))?")
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")


def _requirements() -> list[_Requirement]:
    """What the package says that it needs; empty where it is not installed as one."""
    try:
        lines = metadata.requires("byline") or []
    except metadata.PackageNotFoundError:
        return []
    found = []
    for line in lines:
        words, _, marker = line.partition(";")
        if (match := _REQUIREMENT.match(words.strip())) is not None:
            extra = _EXTRA.search(marker)
            found.append(_Requirement(match[1], match[2] or "0", extra[1] if extra else None))
    return found


def look_at_packages() -> Section:
    """The packages that Byline can't do without."""
    needed = [each for each in _requirements() if each.extra is None]
    if not needed:
        finding = Finding(
            "byline", "not installed as a package", "note", "pip install it, and what it needs is looked at too"
        )
        return Section("Packages", (finding,))
    return Section("Packages", tuple(_look_at(each, "byline") for each in needed))


def look_at_extras() -> Section:
    """For each extra, whether all that it takes is there; one that is absent is no fault."""
    wanted = _requirements()
    return Section("Extras", tuple(_look_at_extra(extra, wanted) for extra in EXTRAS))


def _look_at_extra(extra: str, wanted: Sequence[_Requirement]) -> Finding:
    parts = [each for each in wanted if each.extra == extra]
    parts += [_Requirement(PARTS[each.name], "0", extra) for each in parts if each.name in PARTS]
    remedy = f"pip install 'byline[{extra}]'"
    looks = [_look_at(part, f"byline[{extra}]") for part in parts]
    if faulty := [look for look in looks if look.state == "broken" and look.said != MISSING]:
        said = "; ".join(f"{look.name} {look.said}" for look in faulty)
        return Finding(extra, said, "broken", faulty[0].remedy)
    if missing := [look.name for look in looks if look.said == MISSING]:
        return Finding(extra, f"not installed ({EXTRAS[extra]}): no {', '.join(missing)}", "note", remedy)
    if not parts:
        return Finding(extra, "not known: byline is not installed as a package", "note", remedy)
    return Finding(extra, ", ".join(f"{look.name} {look.said}" for look in looks))


MISSING = "missing"


def _look_at(requirement: _Requirement, wanted_by: str) -> Finding:
    """Whether a package is there, new enough, and can be loaded."""
    name = requirement.name.partition("[")[0]
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Finding(name, MISSING, "broken", f"pip install '{wanted_by}'")
    if not version:  # half removed
        return Finding(name, "damaged", "broken", f"pip install --force-reinstall {name}")
    if _release(version) < _release(requirement.least):
        least = f"{name}>={requirement.least}"
        return Finding(name, f"{version}, older than {requirement.least}", "broken", f"pip install '{least}'")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _load(MODULES.get(name, name.replace("-", "_")))
    except Exception as error:  # whatever a broken package raises
        remedy = f"pip install --force-reinstall '{name}'"
        return Finding(name, f"{version} can't be loaded ({first_line(error)})", "broken", remedy)
    return Finding(name, version)


def _load(module: str) -> None:
    """Import a module as the program would."""
    if module == "matplotlib":  # whatever backend the environment names
        from byline.figures.canvas import require_matplotlib

        with suppress(BylineError):  # below, in the words of what is wrong with it
            require_matplotlib()
    import_module(module)


def _release(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with, without zeros at the end."""
    match = re.match(r"\d+(\.\d+)*", version)
    numbers = [int(part) for part in match[0].split(".")] if match else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def look_at_places() -> Section:
    """Folders that Byline writes to or reads from."""
    return Section("Places", (_look_at_cache(), _look_at_home(), _look_at_data()))


def cache_folder() -> Path | None:
    """Where compiled code is kept; None where there is nowhere to."""
    from byline.engines.rnn import kernels

    place = getattr(getattr(kernels.train_text, "_cache", None), "cache_path", None)
    return Path(place) if place else None


def is_compiled() -> bool:
    """Whether code of this version is kept already."""
    from byline.engines.rnn import kernels

    kept = getattr(getattr(kernels.train_text, "_cache", None), "_cache_file", None)
    return Path(getattr(kept, "_index_path", "")).is_file()


SLOW_START = "runs work, but each compiles for some 13 s"
FIRST_TIME = "the self-test has to compile, which takes longer than all else, this once"


def _look_at_cache() -> Finding:
    name = "compiled code"
    remedy = "name a folder of yours in NUMBA_CACHE_DIR"
    folder = cache_folder()
    if folder is None:
        return Finding(name, f"nowhere to keep it; {SLOW_START}", "note", remedy)
    kept = [path.stat().st_size for path in folder.glob("*.nb[ci]")] if folder.is_dir() else []
    size = f"{len(kept)} files, {sum(kept) / 1e6:.1f} MB"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return Finding(name, f"{folder} can't be written to ({error.strerror}); {SLOW_START}", "note", remedy)
    return Finding(name, f"{folder}, {size}" if is_compiled() else f"{folder}, {size}; {FIRST_TIME}")


def _look_at_home() -> Finding:
    try:
        from byline.web.server import usual_home
    except ImportError:
        return Finding("the page", "none, byline serve needs the extra web")
    home = usual_home()
    return Finding("the page", f"{home}{'' if home.exists() else ', not yet made'}")


def _look_at_data() -> Finding:
    named = os.environ.get("BYLINE_DATA")
    if not named:
        return Finding("$BYLINE_DATA", "not set; only tests and benchmarks want it")
    if not Path(named).is_dir():
        remedy = "name the folder of PAN corpora, or unset it"
        return Finding("$BYLINE_DATA", f"{named}, where there is no folder", "note", remedy)
    return Finding("$BYLINE_DATA", named)

"""Check what is installed and where: the machine, packages, extras, folders. A broken part is a finding, not an error.

Imports of other parts of Byline are inside the functions, because they may be what is broken.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Literal

from packaging.requirements import Requirement

import byline
from byline.errors import BylineError

FindingState = Literal["well", "note", "broken"]
EXTRAS = {
    "cluster": "training on a Dask cluster",
    "documents": "texts as .docx, .odt, .pdf, .epub, .html, .md and TEI",
    "figures": "byline plot",
    "pandas": "results as tables of pandas",
    "web": "byline serve",
}
"""The extras for users, and the purpose of each."""
MODULES = {"scikit-learn": "sklearn", "markdown-it-py": "markdown_it"}
"""Packages whose module has another name."""
PARTS = {"pypdf": "cryptography"}
"""Packages that a package's own extra, such as pypdf[crypto], installs."""
MISSING = "missing"
SLOW_START = "runs work, but each compiles for about 13 s"
FIRST_TIME = "the self-test compiles the code first, which takes longer than all other checks"


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    name: str
    said: str
    state: FindingState = "well"
    remedy: str = ""
    """What to do, unless the state is well."""


@dataclass(frozen=True)
class Section:
    """Findings of one kind, and the figures behind them."""

    title: str
    findings: tuple[Finding, ...]
    figures: Mapping[str, Any] | None = None

    def to_values(self) -> dict[str, Any]:
        """Return plain values."""
        values: dict[str, Any] = {"title": self.title, "findings": [asdict(finding) for finding in self.findings]}
        return {**values, "figures": dict(self.figures)} if self.figures is not None else values


def check_installation() -> Iterator[Section]:
    """Yield one section after another, the quick ones first. With a broken package, nothing that needs it is tried."""
    yield check_machine()
    packages = check_packages()
    yield packages
    yield check_extras()
    if not any(finding.state == "broken" for finding in packages.findings):
        from byline.diagnostics import selftest  # needs the packages

        yield check_places()
        yield selftest.run_selftest()


def describe_error(error: BaseException) -> str:
    """Return the kind of an error and the first line of its message."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def check_machine() -> Section:
    """Return versions, cores and memory."""
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


def _requirements(extra: str = "") -> list[Requirement]:
    """Return the packages that Byline or one of its extras needs; none if Byline is not installed as a package."""
    try:
        requirements = map(Requirement, metadata.requires("byline") or [])
    except metadata.PackageNotFoundError:
        return []
    wanted = [each for each in requirements if each.marker is None or each.marker.evaluate({"extra": extra})]
    return [each for each in wanted if bool(extra) == ("extra" in str(each.marker))]


def check_packages() -> Section:
    """Check the packages that Byline needs."""
    found = tuple(_check_package(each, "byline") for each in _requirements())
    remedy = "pip install it, so that its requirements are checked too"
    return Section("Packages", found or (Finding("byline", "not installed as a package", "note", remedy),))


def check_extras() -> Section:
    """Check whether the packages of each extra are there; an absent extra is no fault."""
    return Section("Extras", tuple(map(_check_extra, EXTRAS)))


def _check_extra(extra: str) -> Finding:
    parts = _requirements(extra)
    parts += [Requirement(PARTS[each.name]) for each in parts if each.name in PARTS]
    remedy = f"pip install 'byline[{extra}]'"
    found = [_check_package(part, f"byline[{extra}]") for part in parts]
    if faulty := [each for each in found if each.state == "broken" and each.said != MISSING]:
        return Finding(extra, "; ".join(f"{each.name} {each.said}" for each in faulty), "broken", faulty[0].remedy)
    if missing := [each.name for each in found if each.said == MISSING]:
        return Finding(extra, f"not installed ({EXTRAS[extra]}): no {', '.join(missing)}", "note", remedy)
    if not parts:
        return Finding(extra, "not known: byline is not installed as a package", "note", remedy)
    return Finding(extra, ", ".join(f"{each.name} {each.said}" for each in found))


def _check_package(requirement: Requirement, wanted_by: str) -> Finding:
    """Check whether a package is there, new enough, and can be loaded."""
    name = requirement.name
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Finding(name, MISSING, "broken", f"pip install '{wanted_by}'")
    if not version:  # half removed
        return Finding(name, "damaged", "broken", f"pip install --force-reinstall {name}")
    if not requirement.specifier.contains(version, prereleases=True):
        wanted = f"{name}{requirement.specifier}"
        return Finding(name, f"{version}, but {requirement.specifier} is needed", "broken", f"pip install '{wanted}'")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _load(MODULES.get(name, name.replace("-", "_")))
    except Exception as error:  # whatever a broken package raises
        remedy = f"pip install --force-reinstall '{name}'"
        return Finding(name, f"{version} can't be loaded ({describe_error(error)})", "broken", remedy)
    return Finding(name, version)


def _load(module: str) -> None:
    """Import a module as the program would."""
    if module == "matplotlib":  # with any backend that the environment names
        from byline.figures.canvas import require_matplotlib

        with suppress(BylineError):  # the import below says what is wrong
            require_matplotlib()
    import_module(module)


def check_places() -> Section:
    """Check the folders that Byline writes to."""
    return Section("Places", (_check_cache(), _check_home()))


def cache_folder() -> Path | None:
    """Return the folder of compiled code, or None if no folder can be used."""
    from byline.engines.rnn import kernels

    place = getattr(getattr(kernels.train_text, "_cache", None), "cache_path", None)
    return Path(place) if place else None


def is_compiled() -> bool:
    """Return whether compiled code of this version is stored."""
    from byline.engines.rnn import kernels

    stored = getattr(getattr(kernels.train_text, "_cache", None), "_cache_file", None)
    return Path(getattr(stored, "_index_path", "")).is_file()


def _check_cache() -> Finding:
    name, remedy = "compiled code", "name a folder of yours in NUMBA_CACHE_DIR"
    folder = cache_folder()
    if folder is None:
        return Finding(name, f"no folder to store it in; {SLOW_START}", "note", remedy)
    stored = [path.stat().st_size for path in folder.glob("*.nb[ci]")] if folder.is_dir() else []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return Finding(name, f"{folder} can't be written to ({error.strerror}); {SLOW_START}", "note", remedy)
    said = f"{folder}, {len(stored)} files, {sum(stored) / 1e6:.1f} MB"
    return Finding(name, said if is_compiled() else f"{said}; {FIRST_TIME}")


def _check_home() -> Finding:
    try:
        from byline.web.server import usual_home
    except ImportError:
        return Finding("web page", "not available: byline serve needs the extra web")
    home = usual_home()
    return Finding("web page", f"{home}{'' if home.exists() else ', not yet made'}")

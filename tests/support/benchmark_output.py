"""What benchmarks print of what is stored, without a process for each."""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
from functools import cache
from pathlib import Path

from paths import ROOT

BENCHMARKS = ROOT / "benchmarks"


@cache
def printed_by(script: str, *options: str) -> str:
    """What `python benchmarks/SCRIPT OPTIONS` prints; the modules of that folder are forgotten again."""
    argv, path, modules = sys.argv, sys.path, set(sys.modules)
    out = io.StringIO()
    try:
        sys.argv, sys.path = [script, *options], [str(BENCHMARKS), *path]
        with contextlib.redirect_stdout(out):
            runpy.run_path(str(BENCHMARKS / script), run_name="__main__")
    finally:
        sys.argv, sys.path = argv, path
        for name in set(sys.modules) - modules:
            if Path(getattr(sys.modules[name], "__file__", None) or "/").parent == BENCHMARKS:
                del sys.modules[name]
    return out.getvalue().strip()

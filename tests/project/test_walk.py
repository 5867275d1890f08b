"""README.md alone leads a newcomer from nothing to a report, the page and the library."""

from __future__ import annotations

import subprocess
import sys

import readme_session


def test_everything_in_the_readme_can_be_typed() -> None:
    done = subprocess.run(
        [sys.executable, readme_session.__file__, "--here"], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for word in ("demo", "verify", "report", "serve", "session.py", "attribute", "cluster"):
        assert word in done.stdout, word

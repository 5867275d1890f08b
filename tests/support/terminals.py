"""The program on a terminal, but for the time that starting takes (see programs)."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

from programs import LIMIT, kill_server, start


def watch(*words: object, columns: int = 80, stdout: str | None = None) -> tuple[int, str]:
    """How `byline WORDS` ended and all that was shown there; where `stdout` names a file, that is what stderr had."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    terminal = os.ttyname(side)
    started = start(
        *words, cwd=os.getcwd(), outputs=[stdout or terminal, terminal], environment={**environment, "TERM": "xterm"}
    )
    shown = b""
    end = time.monotonic() + LIMIT
    try:
        while started.running() or select.select([main], [], [], 0)[0]:  # what is left when it has ended is read, too
            if select.select([main], [], [], 0.02)[0]:
                shown += os.read(main, 65536)
            if time.monotonic() > end:
                kill_server()
                raise subprocess.TimeoutExpired(started.words, LIMIT, shown)
        code = started.wait()
    finally:
        os.close(side)
        os.close(main)
    return code, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode()).replace("\r\n", "\n")

"""The program on a terminal, but for the time that starting takes (see programs)."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
from typing import Any

from programs import LIMIT, begin_server


def watch(*words: object, columns: int = 80, stdout: str | None = None) -> tuple[int, str]:
    """How `byline WORDS` ended and all that was shown there; where `stdout` names a file, that is what stderr had."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    terminal = os.ttyname(side)
    asked: dict[str, Any] = {
        "words": ["byline", *map(str, words)],
        "folder": os.getcwd(),
        "environment": {**environment, "TERM": "xterm"},
        "outputs": [stdout or terminal, terminal],
    }
    server = begin_server()
    assert server.stdin
    assert server.stdout
    shown, told = b"", False
    try:
        server.stdin.write(json.dumps(asked) + "\n")
        server.stdin.flush()
        while True:  # what is left on the terminal when the program has ended is read, too
            ready, _, _ = select.select([main] if told else [main, server.stdout], [], [], 0 if told else LIMIT)
            if main in ready:
                shown += os.read(main, 65536)
            elif told:
                break
            elif ready:
                told = True
            else:
                os.killpg(server.pid, signal.SIGKILL)
                server.wait()
                begin_server.cache_clear()
                raise subprocess.TimeoutExpired(asked["words"], LIMIT, shown)
        code = json.loads(server.stdout.readline())
    finally:
        os.close(side)
        os.close(main)
    return code, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode()).replace("\r\n", "\n")

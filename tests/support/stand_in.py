"""A worker that behaves as the job's title says, and sends messages as the real worker does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from byline.web.processes import connect_to_server


def main(home: Path, name: str) -> int:
    send, _ = connect_to_server()
    folder = home / "jobs" / name
    title, _, word = json.loads((folder / "job.json").read_bytes())["title"].partition(" ")
    send(stage=f"{title} {word}", share=0.25, left=9.0)
    if title == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        send(stage="stubborn now")
    if title in ("parent", "deserter"):
        child = subprocess.Popen(["sleep", "300"])  # which has the same standard output
        send(note=f"child {child.pid}")
        if title == "deserter":
            return 3
    if title in ("wait", "stubborn", "parent"):
        time.sleep(300)
    elif title == "nap":
        time.sleep(float(word))
    elif title == "break":
        raise RuntimeError("broken on purpose")
    elif title == "fail":
        send(error=word)
        return 1
    elif title == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    elif title == "shout":
        print("{}", "x" * 10_000)
        send(note="after it")
    for number in range(70 if title == "chatter" else 0):
        send(note=f"note {number} {word}")
    if title != "forgetful":
        (folder / "files").mkdir()
        (folder / "files" / "answers.txt").write_text("EN001 0.5\n")
        (folder / "files" / "heatmap.svg").write_text(
            "<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>"
        )
        (folder / "files" / "secret.txt").write_text("no download")
        (folder / "report.html").write_text("<!doctype html><title>report</title>")
        (folder / "run").mkdir()
        (folder / "run" / "texts.jsonl").write_text("the texts once more")
        (folder / "result.json").write_text(json.dumps({"kind": "clustering", "conclusion": "half \ud800 sign"}))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))

"""`byline serve`: a web page on this machine that answers questions about texts."""

from __future__ import annotations

import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from byline.errors import RunError


def serve_command(
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 is any free one."),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Don't open a browser.")] = False,
    home: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for the results (default: in your own data folder)."),
    ] = None,
) -> None:
    """Serve a page on this machine: drop texts on it, and read who is likely to have written them.

    Nothing leaves this machine. Press Ctrl-C to stop. Finished results are kept for next time.

    Example: byline serve
    """
    try:
        from byline.web.server import serve, usual_home  # an extra
    except ModuleNotFoundError as error:
        missing = (error.name or "byline").partition(".")[0]
        if missing == "byline":
            raise
        raise RunError(f"the page needs {missing}", remedy="Install it with pip install 'byline[web]'") from None

    serve(home or usual_home(), port, lambda url, door: _announce(url, None if no_browser else door))


def _announce(url: str, door: Path | None) -> None:
    """Print the address, and open the file that leads a browser there."""
    print(f"Byline is at {url}\nOnly this machine can reach it. Ctrl-C ends it.", flush=True)
    if door is not None:
        threading.Thread(target=webbrowser.open, args=(door.resolve().as_uri(),), daemon=True).start()

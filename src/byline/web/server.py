"""The page on this machine's own address, 127.0.0.1, where no other machine can reach it."""

from __future__ import annotations

import asyncio
import html
import logging
import os
import secrets
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import uvicorn
from platformdirs import user_data_path
from starlette.applications import Starlette
from starlette.types import ASGIApp

from byline.errors import RunError
from byline.storage import write_files
from byline.web.app import Page
from byline.web.connections import BACKLOG, Connection
from byline.web.formats import readable_formats
from byline.web.guard import Guard
from byline.web.home import Home
from byline.web.limits import Limits
from byline.web.refusals import HANDLERS

ADDRESS = "127.0.0.1"
PORT = 8465
"""That is taken where none is named, if it is free."""
TOKEN_BYTES = 32
DOOR = "open.html"
"""Leads a browser to the page: the address itself would stand in the list of processes, for all users to read."""
ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]


def usual_home() -> Path:
    """Where programs of a user keep what is theirs."""
    return user_data_path("byline", appauthor=False) / "page"


def serve(
    home: Path, port: int | None = None, opened: Callable[[str, Path], None] | None = None, limits: Limits | None = None
) -> None:
    """Serve the page until it is interrupted; `opened` is told its address, and a file that leads there."""
    limits = limits or Limits()
    place = Home(Path(os.path.abspath(home)))
    with place.hold(), _listen(port) as listener:
        number = listener.getsockname()[1]
        token = secrets.token_urlsafe(TOKEN_BYTES)
        url = f"http://{ADDRESS}:{number}/{token}/"
        config = uvicorn.Config(
            Guard(make_app(place, limits), token, number), http=Connection, ws="none", loop="asyncio", lifespan="on",
            log_level=logging.ERROR, access_log=False, server_header=False, proxy_headers=False, backlog=BACKLOG,
            timeout_graceful_shutdown=2, timeout_keep_alive=limits.head_seconds, h11_max_incomplete_event_size=65_536,
        )  # fmt: skip
        door = place.folder / DOOR
        write_files(place.folder, {DOOR: _door(url)})
        try:
            server = _Server(config, lambda: opened(url, door) if opened else None)
            server.run([listener])
        finally:
            door.unlink(missing_ok=True)
        if not server.started:
            raise RunError("the page could not be begun; what is written above says why")


def make_app(home: Home, limits: Limits) -> ASGIApp:
    """The whole page, without its guard."""
    page = Page(home, limits, *readable_formats())

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        page.jobs.load()
        page.line.start()
        sweep = asyncio.create_task(page.drafts.sweep())
        try:
            yield
        finally:
            sweep.cancel()
            await page.line.stop()
            await page.reader.close()
            page.jobs.forget()

    app = Starlette(routes=page.routes(), lifespan=lifespan, exception_handlers=HANDLERS)
    app.router.redirect_slashes = False
    return app


class _Server(uvicorn.Server):
    """Tells when it can be asked, and ends by itself, not by the signal that asked for it."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin, and tell."""
        await super().startup(sockets)
        if self.started:
            self._started()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Have signals end it in good order; a second Ctrl-C does at once."""
        before = {number: signal.signal(number, self.handle_exit) for number in ENDING}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _listen(port: int | None) -> socket.socket:
    """A socket of this machine's own address; any free port where none is named and the usual one is taken."""
    for number in [port] if port is not None else [PORT, 0]:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            if os.name == "posix":
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            else:  # where that would let others listen to the same port
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)  # type: ignore[attr-defined]
            listener.bind((ADDRESS, number))
            return listener
        except (OSError, OverflowError) as error:
            listener.close()
            reason = getattr(error, "strerror", None) or error
    raise RunError(f"port {port} can't be used ({reason}); name another with --port, or none")


def _door(url: str) -> bytes:
    address = html.escape(url, quote=True)
    return (
        f'<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Byline</title>'
        f'<meta http-equiv="refresh" content="0; url={address}"><p><a href="{address}">Open Byline</a></p>\n'
    ).encode()

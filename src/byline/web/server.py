"""Serve the page on 127.0.0.1, where no other machine can reach it."""

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
from byline.storage.files import write_files
from byline.web.access_guard import AccessGuard
from byline.web.app import ERROR_HANDLERS, Page
from byline.web.home import Home
from byline.web.limits import Limits

ADDRESS = "127.0.0.1"
PORT = 8465
"""The default, if it is free."""
TOKEN_BYTES = 32
REDIRECT = "open.html"
"""A file that leads a browser to the page. All users can read addresses in the list of processes."""
STOP_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]


def usual_home() -> Path:
    """Return the default folder, in the user's data folder."""
    return user_data_path("byline", appauthor=False) / "page"


def serve(
    home: Path, port: int | None = None, opened: Callable[[str, Path], None] | None = None, limits: Limits | None = None
) -> None:
    """Serve the page until it is interrupted; `opened` is called with its address and a file that leads there."""
    limits = limits or Limits()
    place = Home(Path(os.path.abspath(home)))
    with place.hold(), _listen(port) as listener:
        number = listener.getsockname()[1]
        token = secrets.token_urlsafe(TOKEN_BYTES)
        url = f"http://{ADDRESS}:{number}/{token}/"
        config = uvicorn.Config(
            AccessGuard(make_app(place, limits), token, number), http="h11", ws="none", loop="asyncio", lifespan="on",
            log_level=logging.ERROR, access_log=False, server_header=False, proxy_headers=False,
            timeout_graceful_shutdown=2, timeout_keep_alive=limits.keep_alive_seconds,
        )  # fmt: skip
        redirect = place.folder / REDIRECT
        write_files(place.folder, {REDIRECT: _redirect_to(url)})
        try:
            server = _Server(config, lambda: opened(url, redirect) if opened else None)
            server.run([listener])
        finally:
            redirect.unlink(missing_ok=True)
        if not server.started:
            raise RunError("the page could not be started; the reason is written above")


def make_app(home: Home, limits: Limits) -> ASGIApp:
    """Return the page without access control."""
    page = Page(home, limits)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        page.jobs.load()
        page.queue.start()
        cleaner = asyncio.create_task(page.drafts.remove_unused_forever())
        try:
            yield
        finally:
            cleaner.cancel()
            await page.queue.stop()
            await page.reader.close()
            page.jobs.delete_temporary()

    app = Starlette(routes=page.routes(), lifespan=lifespan, exception_handlers=ERROR_HANDLERS)
    app.router.redirect_slashes = False
    return app


class _Server(uvicorn.Server):
    """Reports when it has started, and exits normally after a signal."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start and report it."""
        await super().startup(sockets)
        if self.started:
            self._started()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Shut down after a signal; a second Ctrl-C ends it at once."""
        before = {number: signal.signal(number, self.handle_exit) for number in STOP_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _listen(port: int | None) -> socket.socket:
    """Return a socket on 127.0.0.1, by default on the usual port or, if that is taken, on any other."""
    for number in [port] if port is not None else [PORT, 0]:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            if os.name == "posix":
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            else:  # on Windows, SO_REUSEADDR would let others listen on the same port
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)  # type: ignore[attr-defined]
            listener.bind((ADDRESS, number))
            return listener
        except (OSError, OverflowError) as error:
            listener.close()
            reason = getattr(error, "strerror", None) or error
    raise RunError(f"port {port} can't be used ({reason})", remedy="Choose another with {port}, or none")


def _redirect_to(url: str) -> bytes:
    address = html.escape(url, quote=True)
    return (
        f'<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Byline</title>'
        f'<meta http-equiv="refresh" content="0; url={address}"><p><a href="{address}">Open Byline</a></p>\n'
    ).encode()

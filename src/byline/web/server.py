"""Serve the page on 127.0.0.1, where no other machine can reach it, to requests that come from the page itself.

A request for another host name (DNS rebinding), from another page (a foreign Origin) or without the token in its
address is refused first of all. The token is not a cookie, because cookies are sent to every port of a machine.
"""

from __future__ import annotations

import asyncio
import hmac
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
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from byline.errors import RunError
from byline.storage.files import write_files
from byline.web.app import ERROR_HANDLERS, Page
from byline.web.home import Home, Limits

ADDRESS = "127.0.0.1"
PORT = 8465
"""The default, if it is free."""
TOKEN_BYTES = 32
REDIRECT = "open.html"
"""A file that leads a browser to the page. All users can read addresses in the list of processes."""
STOP_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
WRONG_HOST = "the request uses another name than 127.0.0.1; open the address that byline serve printed"
WRONG_ORIGIN = "the request comes from another page than Byline's; open the address that byline serve printed"
NO_TOKEN = "the address lacks its token, or has an old one; open the address that byline serve printed last"


def usual_home() -> Path:
    """Return the default folder, in the user's data folder."""
    return user_data_path("byline", appauthor=False) / "page"


def serve(
    folder: Path,
    port: int | None = None,
    opened: Callable[[str, Path], None] = lambda url, redirect: None,
    limits: Limits | None = None,
) -> None:
    """Serve the page until it is interrupted; `opened` is called with its address and a file that leads there."""
    home = Home(Path(os.path.abspath(folder)), limits)
    with home.hold(), _listen(port) as listener:
        number = listener.getsockname()[1]
        token = secrets.token_urlsafe(TOKEN_BYTES)
        url = f"http://{ADDRESS}:{number}/{token}/"
        config = uvicorn.Config(
            AccessGuard(make_app(home), token, number), http="h11", ws="none", loop="asyncio", lifespan="on",
            log_level=logging.ERROR, access_log=False, server_header=False, proxy_headers=False,
            timeout_graceful_shutdown=2,
        )  # fmt: skip
        server = uvicorn.Server(config)
        redirect = home.folder / REDIRECT
        write_files(home.folder, {REDIRECT: _redirect_to(url)})
        try:
            with _stop_on_signal(server):
                opened(url, redirect)  # the listener holds requests until the server answers them
                server.run([listener])
        finally:
            redirect.unlink(missing_ok=True)
        if not server.started:
            raise RunError("the page could not be started; the reason is written above")


@contextmanager
def _stop_on_signal(server: uvicorn.Server) -> Iterator[None]:
    """Shut down after a signal; a second Ctrl-C ends the server at once.

    The server raises a signal again when it has ended. These handlers catch it then, so that the program exits
    normally.
    """
    before = {number: signal.signal(number, server.handle_exit) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def make_app(home: Home) -> ASGIApp:
    """Return the page without access control."""
    page = Page(home)

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
            await page.uploads.reader.close()
            page.jobs.delete_temporary()

    app = Starlette(routes=page.routes(), lifespan=lifespan, exception_handlers=ERROR_HANDLERS)
    app.router.redirect_slashes = False
    return app


class AccessGuard:
    """Passes on requests that come from the page, and adds security headers to all answers."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token.encode()
        names = ("127.0.0.1", "localhost")
        self._hosts = {f"{name}:{port}" for name in names} | ({*names} if port == 80 else set())
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        first, _, rest = scope["path"].removeprefix("/").partition("/")
        app: ASGIApp
        if reason := self._refusal(scope, first):
            app = JSONResponse({"error": reason}, 403, {"connection": "close"})
        elif f"/{first}" == scope["path"]:  # without the slash, the page's relative addresses would lack the token
            app = RedirectResponse(f"{first}/", 307)
        else:
            app = self._app
            scope = {**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode(), "root_path": ""}
        await app(scope, receive, send_guarded)

    def _refusal(self, scope: Scope, token: str) -> str | None:
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return WRONG_HOST
        if any(origin not in self._origins for origin in origins) or (
            scope["method"] not in ("GET", "HEAD") and not origins
        ):
            return WRONG_ORIGIN
        return None if hmac.compare_digest(token.encode("utf-8", "replace"), self._token) else NO_TOKEN


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
            listener.listen()
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

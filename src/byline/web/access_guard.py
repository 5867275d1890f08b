"""Access control: requests must come from the page itself, in a browser on this machine.

A request for another host name (DNS rebinding), from another page (a foreign Origin) or without the token in its
address is refused first of all. The token is not a cookie, because cookies are sent to every port of a machine.
"""

from __future__ import annotations

import hmac

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE = ("GET", "HEAD")
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
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        first, _, rest = scope["path"].removeprefix("/").partition("/")
        app: ASGIApp
        if reason := self._refusal(scope):
            app = JSONResponse({"error": reason}, 403, {"connection": "close"})
        elif f"/{first}" == scope["path"]:  # without the slash, the page's relative addresses would lack the token
            app = RedirectResponse(f"{first}/", 307)
        else:
            app = self._app
            scope = {**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode(), "root_path": ""}
        await app(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> str | None:
        hosts, origins = (_values(scope, name) for name in (b"host", b"origin"))
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return WRONG_HOST
        if any(origin not in self._origins for origin in origins) or (scope["method"] not in SAFE and not origins):
            return WRONG_ORIGIN
        first = scope["path"].removeprefix("/").partition("/")[0]
        return None if hmac.compare_digest(first.encode("utf-8", "replace"), self._token) else NO_TOKEN


def _values(scope: Scope, wanted: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name.lower() == wanted]

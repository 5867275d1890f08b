"""Who may ask: a browser of this machine, under a name of this machine, with the token, from the page itself.

Whoever asks under another name (DNS rebinding), from another page (a foreign Origin), or without the token that stands
in the address, is refused before anything else happens. The token is no cookie: those go to every port of a machine.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping

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
STRANGE_HOST = "asked under another name than 127.0.0.1; open the address that byline serve printed"
STRANGE_ORIGIN = "asked by another page than Byline's own; open the address that byline serve printed"
NO_TOKEN = "the address lacks its token, or has an old one; open the address that byline serve printed last"


class Guard:
    """Lets requests through that come from the page, and gives all answers headers that keep others out."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token.encode()
        names = ("127.0.0.1", "localhost")
        self._hosts = {f"{name}:{port}" for name in names} | ({*names} if port == 80 else set())
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let it through, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name.lower() for name, _ in message["headers"]}
                more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {
                    **message, "headers": [*message["headers"], *(each for each in more if each[0] not in there)]
                }  # fmt: skip
            await send(message)

        reason = self._refusal(scope)
        if reason is not None:
            await refuse(send_guarded, 403, reason)
            return
        first, _, rest = scope["path"].removeprefix("/").partition("/")
        if f"/{first}" == scope["path"]:  # without the slash, what stands in the page is not below the token
            await send_guarded(
                {"type": "http.response.start", "status": 307, "headers": [(b"location", b"%b/" % first.encode())]}
            )
            await send_guarded({"type": "http.response.body", "body": b""})
            return
        await self._app(
            {**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode(), "root_path": ""}, receive, send_guarded
        )

    def _refusal(self, scope: Scope) -> str | None:
        hosts, origins = (_values(scope, name) for name in (b"host", b"origin"))
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return STRANGE_HOST
        if any(origin not in self._origins for origin in origins) or (scope["method"] not in SAFE and not origins):
            return STRANGE_ORIGIN
        first = scope["path"].removeprefix("/").partition("/")[0]
        return None if hmac.compare_digest(first.encode("utf-8", "replace"), self._token) else NO_TOKEN


def _values(scope: Scope, wanted: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name.lower() == wanted]


async def refuse(send: Send, status: int, reason: str, headers: Mapping[bytes, bytes] | None = None) -> None:
    """Answer with the reason alone."""
    body = json.dumps({"error": reason}).encode()
    start = {b"content-type": b"application/json", b"content-length": str(len(body)).encode(), b"connection": b"close"}
    await send({"type": "http.response.start", "status": status, "headers": list({**start, **(headers or {})}.items())})
    await send({"type": "http.response.body", "body": body})

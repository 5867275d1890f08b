"""A browser's connection: whoever sends no whole request in time, or none at all, is let go, and told so."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from byline.web.guard import HEADERS

NO_REQUEST = "no request that can be read"
MOST = 100
"""Connections at once. Of more, the one that has waited longest without asking is let go: anybody can connect."""
BACKLOG = 64
"""Connections that are taken at once, before any of them is counted."""


class Connection(H11Protocol):
    """A connection as the server software has it, which would wait for ever, and answer nonsense without headers."""

    _head: asyncio.TimerHandle | None = None
    """Ends the connection if no whole head of a request has come by then."""

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._await_head()
        open_ones = [each for each in self.connections if not each.transport.is_closing()]
        if len(open_ones) > MOST:
            waiting = [each for each in open_ones if isinstance(each, Connection) and each._head]
            longest = min(waiting, key=lambda each: each._head.when() if each._head else 0.0, default=self)
            longest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take what comes; a request's head has to be whole in time, however it dribbles."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._head is None:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request, as all is answered here."""
        body = json.dumps({"error": NO_REQUEST}).encode()
        own = {"content-type": "application/json", "content-length": str(len(body)), "connection": "close"}
        events = (
            h11.Response(status_code=400, headers=[*HEADERS.items(), *own.items()], reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        )
        try:
            for event in events:
                self.transport.write(self.conn.send(event) or b"")
        except h11.LocalProtocolError:  # an answer is on its way already
            pass
        self.transport.close()

    def _await_head(self) -> None:
        self._head = self.loop.call_later(self.config.timeout_keep_alive, self._give_up)

    def _stop_waiting(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _give_up(self) -> None:
        self._head = None
        if not self.transport.is_closing():
            self.transport.close()

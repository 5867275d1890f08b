"""What an answer says where something can't be done: its status, and one line for a person."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from byline.errors import BylineError
from byline.storage import TOO_MANY
from byline.web.limits import RefusedError
from byline.web.names import one_line
from byline.web.uploads import FULL

SLOW = 408
UNDONE, NO_ROOM, BROKEN, BUSY = 422, 507, 500, 503
SAID = {404: "there is nothing here", 405: "not in this way"}


class Json(JSONResponse):
    """JSON in plain letters, which halves of signs in names and texts can't break."""

    def render(self, content: Any) -> bytes:
        """As bytes."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    headers = {"connection": "close"} if error.status == SLOW else None
    return Json({"error": one_line(error.reason)}, error.status, headers)


async def _byline_error(_: Request, error: Exception) -> Response:
    return Json({"error": one_line(str(error))}, _status_of(error.__context__))


async def _system_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, OSError)
    if _is_full(error):
        return Json({"error": "the disk is full; make room and try again"}, NO_ROOM)
    if error.errno in TOO_MANY:
        return Json({"error": "too much at once; try again in a minute"}, BUSY)
    return Json({"error": f"it can't be done ({error.strerror or error})"}, BROKEN)


async def _http_error(_: Request, error: Exception) -> Response:
    status = int(getattr(error, "status_code", BROKEN))
    return Json({"error": SAID.get(status, "it can't be done")}, status)


async def _fault(_: Request, error: Exception) -> Response:
    return Json({"error": "a fault of the program; byline serve's terminal says more"}, BROKEN)


def _status_of(cause: BaseException | None) -> int:
    if isinstance(cause, OSError) and cause.errno in TOO_MANY:
        return BUSY
    return NO_ROOM if _is_full(cause) else UNDONE


def _is_full(error: BaseException | None) -> bool:
    return isinstance(error, OSError) and error.errno in FULL


HANDLERS: Mapping[Any, Callable[[Request, Exception], Awaitable[Response]]] = {
    RefusedError: _refused,
    BylineError: _byline_error,
    OSError: _system_error,
    404: _http_error,
    405: _http_error,
    Exception: _fault,
}

"""What stands before the API: hosts and sites, a rate per client, few requests at once, one line of
log and one count for each; and before the pages, the cookie by which a browser is known again."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import secrets
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager, nullcontext
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kcnet_core.errors import KCNetError, LimitError
from kcnet_core.limits import (
    API_BODY_SECONDS,
    API_BURST,
    API_CLIENTS_REMEMBERED,
    API_REQUESTS_PER_MINUTE,
    MAX_API_BYTES,
    MAX_API_COMING,
    MAX_HELD_FILE_BYTES,
    MAX_HELD_FILES,
    MAX_MESSAGE_BYTES,
    MAX_UPLOAD_BYTES,
    MEGABYTE,
    UPLOAD_SECONDS,
)
from pages.ui.shell.streamlit_workarounds import held_files, host_allowed
from pages.ui.shell.visitor import COOKIE_SECONDS, OWNER_COOKIE, TOKEN

CLIENT_GONE = 499  # before the request was there; as nginx notes it
UPLOAD = "/_stcore/upload_file/"  # Streamlit's own, then the session and a name for the file
ROUTES = ("smell", "predict", "datasets", "runs", "openapi.json")  # first parts of the API's paths
log = logging.getLogger("kcnet.api")
requests: Counter[tuple[str, int]] = Counter()  # by route and status, since the start


class TooBusy(KCNetError):
    """As many requests as may be are being answered."""

    def __init__(self, most: int, what: str):
        super().__init__(f"{most} requests {what}, the most at a time. Ask again in a few seconds.")


class Places:
    """So many at a time, and no more than `each` of one client."""

    def __init__(self, most: int, what: str, each: int | None = None):
        self._most, self._what, self._each = most, what, each or most
        self._taken: Counter[str] = Counter()

    @contextmanager
    def one(self, client: str = "") -> Iterator[None]:
        """To be used on the server's own loop, so that it needs no lock."""
        if self._taken.total() >= self._most or self._taken[client] >= self._each:
            raise TooBusy(self._most, self._what)
        self._taken[client] += 1
        try:
            yield
        finally:
            self._taken[client] -= 1
            self._taken += Counter()  # forgets who has none


class Rate:
    """So many requests at once, then so many per minute, of each client by itself."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock, self._lock = clock, threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # requests left, when

    def seconds_to_wait(self, client: str) -> float:
        """0 if the client may ask now, which is then counted."""
        per_second, now = API_REQUESTS_PER_MINUTE / 60, self._clock()
        with self._lock:
            left, since = self._left.pop(client, (float(API_BURST), now))
            left = min(float(API_BURST), left + (now - since) * per_second)
            wait = 0.0 if left >= 1 else (1 - left) / per_second
            self._left[client] = (left if wait else left - 1, now)
            while len(self._left) > API_CLIENTS_REMEMBERED:
                self._left.popitem(last=False)
        return wait


class Gate:
    """ASGI middleware around all of Streamlit; only the API's own paths are held up."""

    def __init__(self, app: ASGIApp, prefix: str):
        self._app, self._prefix = app, prefix
        self._rate = Rate()
        self._files: Counter[str] = Counter()  # on their way to the pages, by session
        self._coming = Places(MAX_API_COMING, "are on their way or being answered", each=2)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(self._prefix):
            await self._guarded(scope, receive, send)
        elif scope["type"] == "http" and scope["method"] == "PUT" and UPLOAD in scope["path"]:
            await self._upload(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._app(scope, _short(receive), send)
        elif scope["type"] == "http" and scope["method"] == "GET":
            await self._app(scope, receive, _with_owner(scope, send))
        else:
            await self._app(scope, receive, send)

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, told = time.monotonic(), {"status": 500}

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                told["status"] = message["status"]
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, noted)
        else:
            await self._answered(scope, _bounded(receive, API_BODY_SECONDS), noted)
        # A path may hold a run's secret id, and anything else: only what we know of it is told.
        part = scope["path"][len(self._prefix) :].split("/")[0]
        route, status = part if part in ROUTES else "other", told["status"]
        requests[route, status] += 1
        line = {"event": "api", "method": scope["method"], "route": route, "status": status}
        log.info(json.dumps(line | {"seconds": round(time.monotonic() - began, 3)}))

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        host, origin = headers.get("host"), headers.get("origin")
        if not host_allowed(host):
            return problem(403, "This server is not called that; see server.allowedHosts.")
        if origin is not None and _host_of(origin) != host:
            return problem(403, "Pages of other sites may not use this API in a visitor's browser.")
        client = (scope.get("client") or ("",))[0]
        if wait := self._rate.seconds_to_wait(client):
            refused = LimitError(
                f"At most {API_REQUESTS_PER_MINUTE} requests per minute are answered for one "
                f"client, {API_BURST} of them at once. Ask again in {math.ceil(wait)} s."
            )
            return problem(429, str(refused), retry_after=wait)
        return None

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A file for a page, if there is room for it beside those that wait to be read."""
        session = scope["path"].partition(UPLOAD)[2].partition("/")[0]
        n_files, n_bytes = held_files(session)
        n_bytes += (self._files.total() + 1) * MAX_UPLOAD_BYTES
        if n_files + self._files[session] >= MAX_HELD_FILES or n_bytes > MAX_HELD_FILE_BYTES:
            refused = LimitError(
                f"The server holds {MAX_HELD_FILES} files for you (MAX_HELD_FILES), or too many of "
                "others (MAX_HELD_FILE_BYTES). Reload the page, or try again later."
            )
            await PlainTextResponse(str(refused), 413)(scope, receive, send)
            return
        self._files[session] += 1
        try:
            await self._app(scope, _bounded(receive, UPLOAD_SECONDS), send)
        except LimitError as late:
            await PlainTextResponse(str(late), 413)(scope, receive, send)
        finally:
            self._files -= Counter({session: 1})  # which also forgets who has none

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = (scope.get("client") or ("",))[0]
        try:
            with self._coming.one(client) if scope["method"] == "POST" else nullcontext():
                await self._app(scope, receive, send)
        except TooBusy as refused:
            await problem(503, str(refused), retry_after=2)(scope, receive, send)
        except LimitError as refused:
            await problem(413, str(refused))(scope, receive, send)
        except KCNetError as refused:
            await problem(422, str(refused))(scope, receive, send)
        except ClientDisconnect:
            await problem(CLIENT_GONE, "Whoever asked has gone.")(scope, receive, send)
        except Exception:
            code = secrets.token_hex(3)
            log.exception("an API request failed (reference %s)", code)
            sentence = f"Something went wrong that is not your fault; report reference {code}."
            await problem(500, sentence)(scope, receive, send)


def _host_of(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:  # such as a bracket that is not closed
        return ""


def problem(status: int, sentence: str, retry_after: float = 0.0) -> JSONResponse:
    headers = {"Retry-After": str(math.ceil(retry_after))} if retry_after else None
    return JSONResponse({"error": sentence}, status, headers)


def _bounded(receive: Receive, seconds: float) -> Receive:
    """The body, until it is larger than it may be or takes longer than it may take."""
    came, until = 0, time.monotonic() + seconds

    async def counted() -> Message:
        nonlocal came
        try:
            message = await asyncio.wait_for(receive(), max(0.0, until - time.monotonic()))
        except TimeoutError:
            raise LimitError(
                f"The request has not come within {seconds:g} s; send less at once."
            ) from None
        came += len(message.get("body", b""))
        if came > MAX_API_BYTES:
            raise LimitError(
                f"A request may hold {MAX_API_BYTES // MEGABYTE} MB at most; send fewer rows."
            )
        return message

    return counted


def _short(receive: Receive) -> Receive:
    """A visitor's messages; a longer one than any page asks for ends the connection, because what
    it says would be kept with the session."""

    async def checked() -> Message:
        message = await receive()
        if len(message.get("bytes") or message.get("text") or b"") > MAX_MESSAGE_BYTES:
            log.warning(
                str(LimitError("A message of a visitor was longer than MAX_MESSAGE_BYTES."))
            )
            return {"type": "websocket.disconnect", "code": 1009}
        return message

    return checked


def _with_owner(scope: Scope, send: Send) -> Send:
    """Give whoever opens a page the token by which its runs are known as theirs.

    No script of the page can read it, and over TLS it travels over TLS only.
    """
    headers = Headers(scope=scope)
    if "text/html" not in headers.get("accept", ""):
        return send
    secure = "https" in (scope.get("scheme"), headers.get("x-forwarded-proto", "").split(",")[0])
    token = _token(headers.get("cookie", "")) or secrets.token_urlsafe(32)
    cookie = (
        f"{OWNER_COOKIE}={token}; Path=/; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Strict"
        + ("; Secure" if secure else "")
    )

    async def with_cookie(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).append("set-cookie", cookie)
        await send(message)

    return with_cookie


def _token(header: str) -> str:
    """The owner's token among a request's cookies; empty if there is none of ours."""
    try:
        morsel = SimpleCookie(header).get(OWNER_COOKIE)
    except CookieError:
        return ""
    return morsel.value if morsel is not None and TOKEN.fullmatch(morsel.value) else ""

"""What a browser paints before the page's own scripts have come: middleware that adds it."""

from __future__ import annotations

from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

END = b"</body>"
MARKUP = Path(__file__).with_suffix(".html").read_bytes()


class FirstPaint:
    """Add our first paint to Streamlit's empty document; whatever else is served stays as it is."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", ""):
            # As it is: a document of some kilobytes, which we could not add to if it came packed.
            del MutableHeaders(scope=scope)["accept-encoding"]
            send = self._adding(send)
        await self._app(scope, receive, send)

    @staticmethod
    def _adding(send: Send) -> Send:
        start: Message = {}
        parts: list[bytes] = []

        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                kind = Headers(raw=message["headers"]).get("content-type", "")
                if kind.startswith("text/html"):
                    start.update(message)
                    return
            if not start:
                await send(message)
                return
            parts.append(message.get("body", b""))
            if message.get("more_body"):
                return
            body = b"".join(parts)
            if body:  # a HEAD has none
                body = body.replace(END, MARKUP + END)
                MutableHeaders(scope=start)["content-length"] = str(len(body))
            await send(start)
            await send({"type": "http.response.body", "body": body})

        return add

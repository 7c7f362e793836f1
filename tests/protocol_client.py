"""A visitor without a browser: Streamlit's own messages over a WebSocket, polls and all.

It costs next to nothing, so that many of them leave the machine to the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

ENDED = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
PATIENCE = 300.0  # seconds for one rerun: this measures, it does not race


class Visitor:
    """One open page: its widgets by label, and every timer that the server asks a browser for."""

    def __init__(self, url: str, public: str | None = None):
        """`public` is what the browser calls it, if a proxy stands before `url`."""
        self.url, self.public = urlsplit(url), public or url
        self.widgets: dict[str, Any] = {}  # label -> the element that was sent last
        self.fragments: dict[str, str] = {}  # label -> the part that is drawn when it is moved
        self.kinds: set[str] = set()  # of everything that was drawn; a fault is an "exception"
        self.sizes: dict[str, int] = {}  # bytes of the largest of each kind
        self.page, self.finished, self.polls = "", 0, 0
        self._timers: dict[str, asyncio.Task] = {}
        self._ended = asyncio.Condition()

    async def __aenter__(self) -> Visitor:
        from websockets.asyncio.client import connect

        named = urlsplit(self.public)
        self._socket = await connect(
            f"ws://{named.netloc}{named.path}/_stcore/stream",
            host=self.url.hostname, port=self.url.port, max_size=None, ping_interval=None,
            subprotocols=["streamlit"], origin=f"{named.scheme}://{named.netloc}",
        )  # fmt: skip
        self._listener = asyncio.create_task(self._listen())
        return self

    async def __aexit__(self, *_) -> None:
        self._listener.cancel()
        for timer in self._timers.values():
            timer.cancel()
        await self._socket.close()

    async def open(self, page: str = "", query: str = "") -> None:
        """Draw a page from its beginning, as its address would."""
        self.widgets, self.page = {}, ""
        await self._ask(lambda ask: setattr(ask, "page_name", page), query=query)

    async def change(self, label: str, **value: Any) -> float:
        """Move a control (`double_array_value=[3.0]` and the like); the seconds until drawn."""
        began = time.perf_counter()

        def tell(ask) -> None:
            ask.fragment_id = self.fragments[label]
            state = ask.widget_states.widgets.add(id=self.widgets[label].id)
            for kind, given in value.items():
                place = getattr(state, kind)
                if hasattr(place, "data"):
                    place.data.extend(given)
                else:
                    setattr(state, kind, given)

        await self._ask(tell)
        return time.perf_counter() - began

    async def _ask(self, tell: Callable[[Any], None], query: str = "") -> None:
        message = BackMsg()
        message.rerun_script.query_string = query
        message.rerun_script.page_script_hash = self.page
        tell(message.rerun_script)
        before = self.finished
        await self._socket.send(message.SerializeToString())
        async with self._ended:
            await asyncio.wait_for(self._ended.wait_for(lambda: self.finished > before), PATIENCE)

    async def _poll(self, fragment: str, seconds: float) -> None:
        """What a browser does for a fragment that wants to be drawn again and again."""
        while True:
            await asyncio.sleep(seconds)
            message = BackMsg()
            message.rerun_script.fragment_id = fragment
            message.rerun_script.is_auto_rerun = True
            message.rerun_script.page_script_hash = self.page
            await self._socket.send(message.SerializeToString())
            self.polls += 1

    async def _listen(self) -> None:
        message = ForwardMsg()
        async for frame in self._socket:
            message.ParseFromString(frame)
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self.page = message.new_session.page_script_hash
                if not message.metadata.run.fragment_ids:  # a whole page: its timers begin anew
                    for timer in self._timers.values():
                        timer.cancel()
                    self._timers.clear()
            elif kind == "auto_rerun":
                asked = message.auto_rerun
                if old := self._timers.pop(asked.fragment_id, None):
                    old.cancel()
                self._timers[asked.fragment_id] = asyncio.create_task(
                    self._poll(asked.fragment_id, asked.interval)
                )
            elif kind == "stop_auto_rerun":
                for fragment in message.stop_auto_rerun.fragment_ids:
                    if old := self._timers.pop(fragment, None):
                        old.cancel()
            elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                element = message.delta.new_element
                drawn = element.WhichOneof("type")
                self.kinds.add(drawn)
                self.sizes[drawn] = max(self.sizes.get(drawn, 0), element.ByteSize())
                body = getattr(element, drawn)
                with contextlib.suppress(AttributeError):
                    kept = type(body)()
                    kept.CopyFrom(body)
                    self.widgets[body.label] = kept
                    self.fragments[body.label] = message.delta.fragment_id
            elif kind == "script_finished" and message.script_finished in ENDED:
                async with self._ended:
                    self.finished += 1
                    self._ended.notify_all()

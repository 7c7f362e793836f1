"""How a molecule worker and its parent talk: a length, and that many bytes of JSON."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Sequence

_LENGTH = struct.Struct(">I")


def write_message(stream, message) -> None:
    payload = json.dumps(message).encode()
    stream.write(_LENGTH.pack(len(payload)) + payload)
    stream.flush()


def read_message(stream):
    """The next message, or None when the other side has gone."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    payload = stream.read(length)
    return json.loads(payload) if len(payload) == length else None


def pack(values: Sequence[float]) -> str:
    """Numbers as text that is quicker to write and to read than JSON's; `unpack` reads it."""
    return base64.b64encode(struct.pack(f"<{len(values)}d", *values)).decode()


def unpack(text: str) -> tuple[float, ...]:
    data = base64.b64decode(text)
    return struct.unpack(f"<{len(data) // 8}d", data)

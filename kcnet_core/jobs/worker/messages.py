"""Objects between two processes of this machine: large arrays in memory that both map, the rest as
bytes on a socket.

Both ends are processes of ours that were started together, so pickle is safe here.
"""

from __future__ import annotations

import mmap
import os
import pickle
import socket
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

HEADER = struct.Struct("!QQ")  # bytes of the message, and of the arrays beside it
WORTH_MAPPING = 2**16  # bytes of an array; smaller ones travel with the message
ALIGNED = 64  # bytes, as NumPy's own arrays are


def send(channel: socket.socket, thing: Any) -> None:
    arrays: list[memoryview] = []

    def keep_inside(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < WORTH_MAPPING:
            return True
        arrays.append(raw)
        return False

    body = pickle.dumps(thing, protocol=5, buffer_callback=keep_inside)
    places, size = [], 0
    for array in arrays:
        places.append((size, array.nbytes))
        size += -(-array.nbytes // ALIGNED) * ALIGNED
    message = pickle.dumps((body, places))
    header = HEADER.pack(len(message), size)
    if arrays:
        with _unnamed_file(size) as file:
            for array, (start, _) in zip(arrays, places, strict=True):
                _write(file, array, start)
            socket.send_fds(channel, [header], [file])
    else:
        channel.sendall(header)
    channel.sendall(message)


def receive(channel: socket.socket) -> Any:
    """What was sent next; EOFError when the other side is gone. Arrays may be written to: nobody
    else sees it."""
    first, files, _, _ = socket.recv_fds(channel, HEADER.size, 1)
    length, size = HEADER.unpack(first + _exactly(channel, HEADER.size - len(first)))
    message = _exactly(channel, length)
    body, places = pickle.loads(message)
    if not places:
        return pickle.loads(body)
    (file,) = files
    try:
        held = memoryview(mmap.mmap(file, size, mmap.MAP_PRIVATE))
    finally:
        os.close(file)
    return pickle.loads(body, buffers=[held[start : start + n] for start, n in places])


def _exactly(channel: socket.socket, length: int) -> bytearray:
    found = bytearray(length)
    view, done = memoryview(found), 0
    while done < length:
        n = channel.recv_into(view[done:])
        if not n:
            raise EOFError("the other side is gone")
        done += n
    return found


@contextmanager
def _unnamed_file(size: int) -> Iterator[int]:
    """A file in memory where there is such a thing; it goes when nobody maps it any more."""
    if hasattr(os, "memfd_create"):
        file = os.memfd_create("kcnet")
    else:
        with tempfile.TemporaryFile() as named:
            file = os.dup(named.fileno())
    try:
        os.ftruncate(file, size)
        yield file
    finally:
        os.close(file)


def _write(file: int, array: memoryview, start: int) -> None:
    done = 0
    while done < array.nbytes:
        done += os.pwrite(file, array[done:], start + done)

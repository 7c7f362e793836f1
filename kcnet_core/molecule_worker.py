"""The child process in which all RDKit work happens: `python -m kcnet_core.molecule_worker`.

A SMILES that makes RDKit hang or crash then costs its own row and never the server. The parent
(`molecule_process`) writes requests to stdin and reads one reply per item from stdout; each message
is a length and that many bytes of JSON. The process ends when its stdin closes, that is also when
the parent is killed; a computation that outlives its time is ended by the kernel.
"""

from __future__ import annotations

import base64
import contextlib
import gc
import json
import os
import signal
import struct
import sys
from collections.abc import Sequence

from kcnet_core.limits import WORKER_MEMORY_BYTES

_LENGTH = struct.Struct(">I")
# The parent kills at the limit; this much later the kernel does, should the parent be gone.
_GRACE_SECONDS = 2.0


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


def load_tasks() -> dict:
    """What a worker can do: name -> function of one item, returning something JSON can hold."""
    from kcnet_core.descriptor_values import descriptor_values
    from kcnet_core.molecule_check import check_smiles
    from kcnet_core.molecule_drawing import draw_svg
    from kcnet_core.molecules import without_stereo
    from kcnet_core.similarity import morgan_bits
    from kcnet_core.smell.atom_edits import without_each_atom

    return {
        "check": check_smiles,
        "describe": lambda smiles: pack(descriptor_values(smiles)),
        "draw": lambda arguments: draw_svg(*arguments),
        "fingerprint": morgan_bits,
        "skeleton": without_stereo,
        "without_atoms": without_each_atom,
    }


def serve(requests, replies, tasks: dict) -> None:
    """Answer requests until the parent has gone."""
    write_message(replies, {"ready": True})
    while (request := read_message(requests)) is not None:
        task = tasks[request["task"]]
        for item in request["items"]:
            _set_alarm(request["seconds"] + _GRACE_SECONDS)
            try:
                reply = {"value": task(item)}
            except Exception as error:
                first_line = (str(error).strip().splitlines() or [""])[0]
                reply = {"failure": f"RDKit cannot compute this molecule ({first_line[:200]})."}
            write_message(replies, reply)
        _set_alarm(0)


def _set_alarm(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _confine() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    if hasattr(signal, "SIGALRM"):
        # The default action needs no Python code, so it also ends a loop inside C++.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    try:
        import resource
    except ImportError:  # not on this platform
        return
    for kind, limit in (
        (resource.RLIMIT_AS, WORKER_MEMORY_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY or limit < hard:
            with contextlib.suppress(OSError, ValueError):  # not every system has every limit
                resource.setrlimit(kind, (limit, hard))


def main(load=load_tasks) -> None:
    requests = sys.stdin.buffer
    # Replies have a descriptor of their own, so that nothing a library prints can spoil them.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        _confine()
        tasks = load()
        gc.freeze()  # what is loaded stays, and need not be looked through again and again
    except Exception as error:
        write_message(replies, {"ready": False, "why": f"{type(error).__name__}: {error}"})
        return
    serve(requests, replies, tasks)


if __name__ == "__main__":
    main()

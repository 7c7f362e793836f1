"""The child process in which all RDKit work happens: `python -m kcnet_core.molecules.worker`.

A SMILES that makes RDKit hang or crash then costs its own row and never the server. The parent
(`molecules.process`) writes requests to stdin and reads one reply per item from stdout (`messages`
says how). The process ends when its stdin closes, that is also when
the parent is killed; a computation that outlives its time is ended by the kernel.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from collections.abc import Callable

from kcnet_core.limits import WORKER_MEMORY_BYTES
from kcnet_core.molecules.worker.messages import pack, read_message, write_message

# The parent kills at the limit; this much later the kernel does, should the parent be gone.
_GRACE_SECONDS = 2.0


def load_tasks() -> dict:
    """What a worker can do: name -> function of one item, returning something JSON can hold."""
    from kcnet_core.molecules.worker.atom_edits import without_each_atom
    from kcnet_core.molecules.worker.check import check_smiles, inchi_key, without_stereo
    from kcnet_core.molecules.worker.descriptors import (
        descriptor_values,
        morgan_bits,
        ring_scaffold,
    )
    from kcnet_core.molecules.worker.fingerprints import substructure_counts
    from kcnet_core.molecules.worker.layout import mol_file
    from kcnet_core.molecules.worker.one_step import one_step_edits
    from kcnet_core.molecules.worker.parts import parts_and_places

    return {
        "check": check_smiles,
        "describe": lambda smiles: pack(descriptor_values(smiles)),
        "draw": _drawing(),
        "fingerprint": morgan_bits,
        "inchi_key": inchi_key,
        "mol_file": mol_file,
        "one_step": one_step_edits,
        "parts": parts_and_places,
        "scaffold": ring_scaffold,
        "skeleton": without_stereo,
        "substructures": substructure_counts,
        "without_atoms": without_each_atom,
    }


def _drawing() -> Callable[[list], dict]:
    """RDKit's drawing alone needs libraries of the system; where one is missing, the answer is its
    name (`{"missing": ...}`), and everything else works."""
    try:
        from kcnet_core.molecules.worker.draw import draw_svg
    except ImportError as error:
        missing = str(error).partition(":")[0]
        return lambda arguments: {"missing": missing}
    return lambda arguments: draw_svg(*arguments)


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
    for kind, limit in ((resource.RLIMIT_AS, WORKER_MEMORY_BYTES), (resource.RLIMIT_CORE, 0)):
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

"""Write a file whole or not at all, so that no reader ever meets half of one."""

from __future__ import annotations

import glob
import os
import secrets
import time
from contextlib import suppress
from pathlib import Path

SECONDS_TO_WRITE = 600  # after which an unfinished neighbour belongs to a writer that was killed


def write_whole(path: str | os.PathLike, data: bytes) -> None:
    """Put `data` at `path`; a crash, a full disk or a kill at any moment leaves the old file.

    The bytes go to a hidden neighbour first and reach the disk (fsync) before the neighbour takes
    the name, because a rename inside one folder is atomic but says nothing about contents. A
    killed writer leaves its neighbour behind; a later write of the same name takes it away.
    """
    path = Path(path)
    _clear(path)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with open(part, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _clear(path: Path) -> None:
    """Remove what writers of `path` left that were killed long enough ago."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with suppress(OSError):  # gone meanwhile, or not ours to remove
            if part.stat().st_mtime + SECONDS_TO_WRITE < time.time():
                part.unlink()


def _sync_folder(folder: Path) -> None:
    """Make the rename itself survive a power cut, where the system lets a folder be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

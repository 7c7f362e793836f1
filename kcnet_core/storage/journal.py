"""A file to which finished work is appended, line by line, so that a killed run can go on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from kcnet_core.errors import KCNetError


class Journal:
    """Finished pieces of work by id; the last entry with an id counts.

    Every entry is one line of JSON, written with a single call between two line ends and flushed
    to the disk: a kill at any moment can only spoil the line being written, which is then skipped,
    and several processes may append to the same file. Its folder is made when something is written.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)
        self._entries: dict[str, dict] = {}
        self._read = 0
        self.refresh()

    def refresh(self) -> None:
        """Read what others have appended since."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self._read)
                news = file.read()
        except FileNotFoundError:
            return
        whole = news.rfind(b"\n") + 1  # the rest may still be being written
        self._read += whole
        for line in news[:whole].splitlines():
            if not line.strip():
                continue
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # cut off by a kill
            if isinstance(entry, dict) and isinstance(entry.get("id"), str):
                self._entries[entry["id"]] = entry

    def get(self, entry_id: str) -> dict | None:
        return self._entries.get(entry_id)

    def learn(self, entries: Iterable[Mapping]) -> None:
        """Know entries that stand elsewhere, too; those without an `id` are passed over."""
        for entry in entries:
            if isinstance(entry.get("id"), str):
                self._entries.setdefault(entry["id"], dict(entry))

    def append(self, entry: Mapping) -> None:
        """Add an entry, which must have an `id`; returns when it is on the disk."""
        text = json.dumps(dict(entry), separators=(",", ":"))
        data = b"\n" + text.encode() + b"\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                if os.write(handle, data) < len(data):
                    raise OSError("the disk is full")
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise KCNetError(
                f"Results cannot be written to the cache folder ({error.strerror or error}). Make "
                "room there, or set KCNET_CACHE to a folder that can be written to."
            ) from error
        self._entries[entry["id"]] = json.loads(text)  # as a reader of the file would know it

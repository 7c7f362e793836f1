"""A file to which finished work is appended, line by line, so that a killed run can go on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kcnet_core.errors import KCNetError

try:
    import fcntl
except ImportError:  # no file locks here: then nobody can be kept from doing the same work
    fcntl = None  # type: ignore[assignment]  # the usual mark of a module that is not there


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
        except OSError as error:
            raise KCNetError(
                f"What was measured before cannot be read ({error.strerror}). Let this user read "
                "the cache folder, or set KCNET_CACHE to another one."
            ) from error
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

    @contextmanager
    def claimed(self, work: str) -> Iterator[bool]:
        """Whether this process may do a piece of work now; False while another one is at it.

        A claim is a lock on a file, which the system takes away however its holder ends. What was
        appended before a claim was let go is known to whoever gets it next.
        """
        path = self.path.with_name(f".{work}.claim")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600) if fcntl else None
        except OSError:  # the journal will say that the folder cannot be written to
            handle = None
        if handle is None:
            yield True
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(handle).st_nlink == 0:  # its holder has just taken the name away
                raise FileNotFoundError(path)
        except OSError:
            os.close(handle)
            yield False
            return
        try:
            self.refresh()
            yield True
        finally:
            path.unlink(missing_ok=True)
            os.close(handle)

    def get(self, entry_id: str) -> dict | None:
        return self._entries.get(entry_id)

    def entries(self) -> list[dict]:
        """All that are known, each once."""
        return list(self._entries.values())

    def learn(self, entries: Iterable[Mapping]) -> None:
        """Know entries that stand elsewhere, too; those without an `id` are passed over."""
        for entry in entries:
            if isinstance(entry.get("id"), str):
                self._entries.setdefault(entry["id"], dict(entry))

    def having(self, field: str) -> list[dict]:
        """Entries with this field."""
        return [entry for entry in self._entries.values() if field in entry]

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

"""A journal of jobs on the disk, so that a run that a dying server took along is known as such."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import queue
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kcnet_core import limits
from kcnet_core.errors import KCNetError
from kcnet_core.jobs.job import Job, JobView
from kcnet_core.storage.journal import Journal

try:
    import fcntl
except ImportError:  # without file locks nobody can tell a dead server from a living one
    fcntl = None  # type: ignore[assignment]  # the usual mark of a module that is not there

log = logging.getLogger("kcnet.jobs")

SECONDS_BETWEEN_NOTES = 5.0  # of a running job, so that the journal knows how far it came
SECONDS_TO_GET_A_NAME = 60.0  # for a new file; it takes milliseconds
END = ".end"  # of the name of a file that says which job shall end
NOTES_WAITING = 1_000  # for a disk that hangs; more are dropped


@dataclass(frozen=True)
class Interruption:
    """A job that was under way when its server stopped."""

    kind: str
    title: str
    query: dict[str, str]  # its configuration as URL parameters; empty if it has no such form
    state: str  # queued, running or paused, when last noted
    seen: float  # when it was last noted
    reached: str  # how far it had come, in words; may be empty

    @property
    def sentence(self) -> str:
        when = time.strftime("%H:%M UTC on %d %B %Y", time.gmtime(self.seen))
        what = "still waiting" if self.state == "queued" and not self.reached else "interrupted"
        far = f", {self.reached}" if self.reached else ""
        return (
            f"This run was {what} when the server stopped (last seen at {when}{far}). "
            "Its settings are still here, so Start runs it again."
        )


class JobJournal:
    """What was under way in this process, and in earlier ones that share the folder.

    Each process appends to a file of its own and holds a lock on it; the system takes the lock
    away when the process ends, however it ends. So a job without an end in a file that nobody
    holds is interrupted, and servers that share the folder do not disturb each other.

    A note holds a hash of the job's id, never the id (whoever has it may watch) nor its owner.
    Notes are written by a thread of their own: a disk that is full, read-only or hangs costs the
    journal, and one warning in the log, but no job. The folder need not exist.
    """

    def __init__(self, folder: str | os.PathLike, clock: Callable[[], float] = time.time):
        self.folder, self._clock = Path(folder), clock
        self._notes: queue.Queue = queue.Queue(NOTES_WAITING)
        self._writer: threading.Thread | None = None
        self._journal: Journal | None = None
        self._handle: int | None = None  # holds the lock
        self._under_way: dict[str, dict] = {}  # the writer's own: latest note of each unended job
        self._warned = fcntl is None

    def note(self, job: Job) -> None:
        """Put down where the job is now; returns at once and never raises."""
        if fcntl is None:
            return
        try:
            if self._writer is None:
                writer = threading.Thread(target=self._write, name="job-journal", daemon=True)
                writer.start()
                self._writer = writer
            self._notes.put_nowait(_note(job, self._clock()))
        except queue.Full:
            self._warn("the disk does not answer")
        except Exception as error:  # no thread left, or a configuration without a query
            self._warn(type(error).__name__)

    def flush(self, timeout: float = 10.0) -> bool:
        """Wait until all notes so far are on the disk; False if they are not by then."""
        if self._writer is None:
            return True
        written = threading.Event()
        try:
            self._notes.put(written, timeout=timeout)
        except queue.Full:
            return False
        return written.wait(timeout)

    def interrupted(self, job_id: str) -> Interruption | None:
        """What is known of a job that was under way when its server stopped."""
        wanted = _hash(job_id)
        for path in self._files() if fcntl is not None else ():
            try:
                if wanted.encode() not in path.read_bytes():
                    continue
                note = Journal(path).get(wanted)
                if note is not None and note.get("ended") is None and not _alive(path):
                    query = {str(name): str(value) for name, value in dict(note["query"]).items()}
                    kind, title, state, reached = (
                        str(note[key]) for key in ("kind", "title", "state", "reached")
                    )
                    return Interruption(kind, title, query, state, float(note["seen"]), reached)
            except (OSError, KeyError, TypeError, ValueError):
                continue  # gone meanwhile, or not a file of ours
        return None

    def under_way(self) -> list[dict]:
        """The latest notes of all jobs that living servers have in this folder, oldest first."""
        notes: list[dict] = []
        for path in self._files() if fcntl is not None else ():
            with contextlib.suppress(OSError):
                if _alive(path):
                    notes += [note for note in Journal(path).entries() if note.get("ended") is None]
        return sorted(notes, key=lambda note: note.get("submitted") or 0.0)

    def end(self, note_id: str) -> None:
        """Leave word that a job shall end; its server finds it within seconds."""
        try:
            (self.folder / f"{note_id}{END}").touch(mode=0o600)
        except OSError as error:
            raise KCNetError(
                f"No word can be left in the cache folder ({error.strerror}); ask as the user that "
                "the server runs as."
            ) from error

    def told_to_end(self, job: Job) -> bool:
        """Whether somebody with access to the folder wants this job ended; asked once."""
        path = self.folder / f"{_hash(job.id)}{END}"
        try:
            path.unlink()
        except OSError:  # no such file, as nearly always
            return False
        return True

    def close(self) -> None:
        """Write what is left and let the lock go; what has not ended counts as interrupted."""
        self.flush()
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    # On the writer's thread

    def _write(self) -> None:
        while True:
            note = self._notes.get()
            if isinstance(note, threading.Event):
                note.set()
                continue
            try:
                self._append(note)
            except Exception as error:  # the writer must be there for the next note
                self._warn(getattr(error, "strerror", None) or error)

    def _append(self, note: dict) -> None:
        journal = self._journal
        if journal is None or _size(journal) > limits.MAX_JOURNAL_BYTES:
            journal = self._begin()
        self._under_way[note["id"]] = note
        if note["ended"] is not None:
            del self._under_way[note["id"]]
        journal.append(note)

    def _begin(self) -> Journal:
        """Go on in a new file that only has what is under way; it gets its name when locked."""
        self.folder.mkdir(parents=True, exist_ok=True)
        name = secrets.token_hex(8)
        unnamed, path = self.folder / f".{name}.part", self.folder / f"{name}.jsonl"
        handle = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.rename(unnamed, path)
            journal = Journal(path)
            for note in self._under_way.values():
                journal.append(note)
        except BaseException:
            os.close(handle)
            unnamed.unlink(missing_ok=True)
            path.unlink(missing_ok=True)
            raise
        before, held = self._journal, self._handle
        self._journal, self._handle = journal, handle
        if before is not None and held is not None:
            before.path.unlink(missing_ok=True)
            os.close(held)
        self._clear()
        return journal

    def _clear(self) -> None:
        """Let the files of dead processes go that are old, too many, or never got their name."""
        now = self._clock()
        dead = [path for path in self._files() if not _alive(path)]
        for k, path in enumerate(dead):
            if path.stat().st_mtime + limits.JOURNAL_SECONDS < now or k >= limits.MAX_JOURNALS:
                path.unlink(missing_ok=True)
        for path in self.folder.glob(".*.part"):
            if path.stat().st_mtime + SECONDS_TO_GET_A_NAME < now:
                path.unlink(missing_ok=True)

    # On any thread

    def _files(self) -> list[Path]:
        """The files of all processes, the latest first."""
        try:
            found = [(path.stat().st_mtime, path) for path in self.folder.glob("*.jsonl")]
        except OSError:
            return []
        return [path for _, path in sorted(found, reverse=True)]

    def _warn(self, reason: object) -> None:
        if not self._warned:
            self._warned = True
            log.warning(
                "The journal of jobs cannot be written (%s); runs go on, but after a restart "
                "interrupted ones will not be known.",
                reason,
            )


def _size(journal: Journal) -> int:
    """Bytes in our file; endless when somebody cleared the folder, so that we begin anew."""
    try:
        return journal.path.stat().st_size
    except FileNotFoundError:
        return limits.MAX_JOURNAL_BYTES + 1


def _alive(path: Path) -> bool:
    """Whether a process holds the lock on this file."""
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _hash(job_id: str) -> str:
    return hashlib.sha256(job_id.encode(errors="replace")).hexdigest()[:32]


def _note(job: Job, now: float) -> dict:
    view, config = job.view, job.config
    return {
        "id": _hash(job.id), "kind": job.kind, "title": job.title,
        "query": config.to_query() if hasattr(config, "to_query") else {},
        "state": view.state, "submitted": view.submitted, "started": view.started,
        "ended": view.ended, "seen": now, "reached": _reached(view),
    }  # fmt: skip


def _reached(view: JobView) -> str:
    """How far a job has come, in words."""
    records = getattr(view.snapshot, "records", None)
    parts = []
    if records and hasattr(records[-1], "epoch"):
        parts.append(f"epoch {records[-1].epoch}")
    if view.fraction:
        parts.append(f"{view.fraction:.0%} done")
    return ", ".join(parts)

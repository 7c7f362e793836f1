"""Jobs of other web processes at the same cluster: watched from here, steered by their owners."""

from __future__ import annotations

import contextlib
import logging
import pickle
import secrets
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kcnet_core.cluster import board
from kcnet_core.cluster.shared import n_threads, shared_client
from kcnet_core.cluster.showing import RESULT, Shown, name_of, owner_of, told
from kcnet_core.errors import KCNetError
from kcnet_core.jobs import Job, JobView, NotOwner, OtherProcesses

log = logging.getLogger("kcnet.cluster")

SECONDS_BETWEEN_ROUNDS = 0.5
SECONDS_UNTIL_NEXT_TRY = 5.0  # after the scheduler did not answer
SECONDS_TO_FIND = 4.0  # for its process to hear that somebody looks, and to tell
UNSEEN_SECONDS = board.WATCHED_SECONDS  # since a page asked, after which no more is asked for
FORGOTTEN_SECONDS = 600.0
LEFT = (
    "The web process in which this run was started has ended, or cannot be reached. If it comes "
    "back, open the link again."
)


class WatchedJob(Job):
    """A job as another process shows it."""

    def __init__(self, job_id: str, shown: Shown, wish: Callable[[str, str, float], None]):
        super().__init__(
            "", shown.kind, shown.config, None, estimate=shown.estimate, title=shown.title,
            submitted=shown.view.submitted, paused=False,
            finish=(lambda: None) if shown.can_finish else None,
            lock=threading.RLock(), steered=lambda *_: None,
        )  # fmt: skip
        self.id, self._owner, self._wish = job_id, shown.owner, wish
        self.version, self.parts = 0, dict[str, Any]()
        self.asked_for = time.monotonic()

    def owned_by(self, owner: str) -> bool:
        return secrets.compare_digest(self._owner, owner_of(self.id, str(owner)))

    def control(self, owner: str, action: str, seconds: float = 0.0) -> JobView:
        """Takes effect in the process that has the job, within a second or two."""
        if not self.owned_by(owner):
            raise NotOwner("Only the person who started this run can steer it; you can watch it.")
        if not self.view.finished:
            self._wish(owner, action, seconds)
        return self.view

    def update(self, shown: Shown, result: Any) -> None:
        """Show what was told."""
        view = shown.view
        if view.snapshot is not None and (shown.frames or shown.recent):
            frames, recent = (
                tuple(self.parts[name] for name in some if name in self.parts)
                for some in (shown.frames, shown.recent)
            )
            snapshot = replace(view.snapshot, frames=frames, recent=recent)
            view = replace(view, snapshot=snapshot)
        self.result = result
        with self._changed:
            self.view = view
            self._changed.notify_all()

    def leave(self) -> None:
        """Nobody tells of it any more."""
        if not self.view.finished:
            with self._changed:
                self.show(state="failed", error=LEFT, ended=time.time(), running_since=None)


class SharedJobs(OtherProcesses):
    """Jobs that processes at one cluster show each other.

    `data_of` loads the data of a run whose dataset every process can have.
    """

    def __init__(self, address: str, data_of: Callable[[Any], Any]):
        self._address, self._data_of = address, data_of
        self._own: weakref.WeakValueDictionary[str, Job] = weakref.WeakValueDictionary()
        self._told: dict[str, JobView] = {}
        self._watched: dict[str, WatchedJob] = {}
        # Connections to a scheduler that has a board: one that was started anew has none.
        self._ready: weakref.WeakSet = weakref.WeakSet()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def slots(self) -> int:
        return n_threads(self._address)

    def show(self, job: Job) -> None:
        self._own[name_of(job.id)] = job
        self._begin()

    def find(self, job_id: str) -> Job | None:
        job = self._watched.get(job_id)
        if job is None and job_id:
            job = self._found(job_id)
        if job is not None:
            job.asked_for = time.monotonic()
        return job

    def _found(self, job_id: str) -> WatchedJob | None:
        name, until = name_of(job_id), time.monotonic() + SECONDS_TO_FIND
        with contextlib.suppress(OSError, KCNetError):
            while time.monotonic() < until:
                said = self._say("look", name=name, version=0, have=[])
                if said is None:
                    return None
                if said[0]:
                    shown = pickle.loads(said[1])
                    job = WatchedJob(job_id, shown, lambda *wish: self._wished(name, wish))
                    self._take(job, said)
                    self._watched[job_id] = job
                    self._begin()
                    return job
                time.sleep(0.1)
        return None

    def _wished(self, name: str, wish: tuple) -> None:
        try:
            self._say("wish", name=name, wish=list(wish))
        except OSError as error:
            raise KCNetError(LEFT) from error
        self._wake.set()

    def _take(self, job: WatchedJob, said: tuple) -> None:
        """What the board says of a job."""
        version, head, parts = said
        if version == job.version or not version:
            return
        shown: Shown = pickle.loads(head)
        job.version = version
        job.parts |= {key: pickle.loads(part) for key, part in parts.items()}
        needed = {*shown.frames, *shown.recent, RESULT}
        job.parts = {key: part for key, part in job.parts.items() if key in needed}
        result = job.parts.get(RESULT)
        if result is not None and getattr(result, "dataset", result) is None:
            result = job.parts[RESULT] = replace(result, dataset=self._data_of(result.run))
        job.update(shown, result)

    # On a thread of its own

    def _begin(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._go, name="kcnet-shared", daemon=True)
                self._thread.start()
        self._wake.set()

    def _go(self) -> None:
        while True:
            self._wake.wait(SECONDS_BETWEEN_ROUNDS)
            self._wake.clear()
            try:
                if self._own:
                    self._tell()
                self._look()
            except (OSError, KCNetError):  # jobs themselves say that the scheduler is gone
                time.sleep(SECONDS_UNTIL_NEXT_TRY)
            except Exception:
                log.exception("Jobs cannot be shown to other web processes")
                time.sleep(SECONDS_UNTIL_NEXT_TRY)

    def _tell(self) -> None:
        """Which jobs there are, and how those are that somebody looks at."""
        own = dict(self._own)
        watched = self._say("post", names=list(own))
        for name, (version, parts, wishes) in watched.items():
            job = own[name]
            job.seen = time.time()
            for wish in wishes:
                with contextlib.suppress(KCNetError, ValueError):
                    job.control(*wish)
            view = job.view
            if version and self._told.get(name) is view:
                continue
            head, new, needed = told(job, set(parts))
            self._say("tell", name=name, head=head, parts=new, needed=needed)
            self._told[name] = view
        self._told = {name: view for name, view in self._told.items() if name in watched}

    def _look(self) -> None:
        for job_id, job in list(self._watched.items()):
            unseen = time.monotonic() - job.asked_for
            if unseen > FORGOTTEN_SECONDS:
                del self._watched[job_id]
            if unseen > UNSEEN_SECONDS or (job.view.finished and job.result is not None):
                continue
            have = list(job.parts)
            said = self._say("look", name=name_of(job_id), version=job.version, have=have)
            if said is None:
                job.leave()
                del self._watched[job_id]
            else:
                self._take(job, said)

    def _say(self, action: str, **message) -> Any:
        client = shared_client(self._address)
        if client.scheduler_comm not in self._ready:
            import cloudpickle  # which comes with dask

            cloudpickle.register_pickle_by_value(board)
            client.run_on_scheduler(board.install)
            self._ready.add(client.scheduler_comm)
        return client.sync(client.scheduler.kcnet_board, action=action, **message)

"""Jobs of this web process that others may watch: told to the scheduler's board while one does.

Told is what pages show: the view, with frames and the result as parts that travel once. Sums stay
here, and so do data that every process can load by itself.
"""

from __future__ import annotations

import copy
import hashlib
import pickle
from dataclasses import dataclass, replace
from typing import Any

from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.experiments.frames import Frame
from kcnet_core.experiments.training import TrainedRun, TrainView
from kcnet_core.jobs.job import Estimate, Job, JobView

RESULT = "result"
LARGEST_RESULT = 256 * 2**20  # bytes; a larger one is to be had where the job is


@dataclass(frozen=True)
class Shown:
    """The state of a job at one moment, without its parts."""

    kind: str
    title: str
    config: Any
    estimate: Estimate
    can_finish: bool
    owner: str  # not the token, but by which it is known
    view: JobView
    frames: tuple[str, ...] = ()
    recent: tuple[str, ...] = ()


def name_of(job_id: str) -> str:
    """By which the board knows a job: whoever has its id may watch it, the board has not."""
    return hashlib.sha256(b"board " + job_id.encode(errors="replace")).hexdigest()


def owner_of(job_id: str, owner: str) -> str:
    return hashlib.sha256(f"owner {job_id} {owner}".encode(errors="replace")).hexdigest()


def told(job: Job, known: set[str]) -> tuple[bytes, dict[str, bytes], list[str]]:
    """Head, parts that are not known yet, and the names of all parts."""
    view, parts = job.view, dict[str, Any]()
    frames: tuple[str, ...] = ()
    recent: tuple[str, ...] = ()
    snapshot = view.snapshot
    if isinstance(snapshot, TrainView):
        frames, recent = (_named(some, parts) for some in (snapshot.frames, snapshot.recent))
        log = snapshot.log[: snapshot.n_records]
        snapshot = replace(snapshot, log=log, frames=(), recent=())
    result = _light(job.result) if job.result is not None else None
    if result is not None:
        parts[RESULT] = result
    new = {key: pickle.dumps(part) for key, part in parts.items() if key not in known}
    if len(new.get(RESULT, b"")) > LARGEST_RESULT:
        del new[RESULT], parts[RESULT]
    head = Shown(
        job.kind, job.title, job.config, job.estimate, job.finish is not None,
        owner_of(job.id, job.owner), replace(view, snapshot=snapshot), frames, recent,
    )  # fmt: skip
    return pickle.dumps(head), new, list(parts)


def _named(frames: tuple[Frame, ...], parts: dict[str, Any]) -> tuple[str, ...]:
    """Frames are known by when they were made; at picture size."""
    for frame in frames:
        parts[repr(frame.made)] = replace(frame, S=None, W=None)
    return tuple(repr(frame.made) for frame in frames)


def _light(result: Any) -> Any:
    """A result without sums, and without data that can be loaded anywhere."""
    if not isinstance(result, TrainedRun):
        return result
    model = copy.copy(result.model)
    if getattr(model, "has_sums", False):
        model.forget_rows()
    public = result.run.dataset in CATALOGUE
    data: Any = None if public else result.dataset
    return replace(result, model=model, dataset=data, memo={})

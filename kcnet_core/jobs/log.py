"""What a job leaves behind: a line in the log, and a sentence when it failed."""

from __future__ import annotations

import dataclasses
import json
import logging
import secrets
import sys
from types import MappingProxyType
from typing import Any

from kcnet_core.errors import KCNetError
from kcnet_core.jobs.job import ID_PREFIX, Job
from kcnet_core.jobs.memory import LOWER, gigabytes, measure_memory

log = logging.getLogger("kcnet.jobs")

LOGGED_CONFIG_CHARACTERS = 2_000


class _ServerOutput(logging.Handler):
    """Prints to whatever is the standard error output at that moment."""

    def emit(self, record: logging.LogRecord):
        print(self.format(record), file=sys.stderr, flush=True)


def show_log() -> None:
    """Let our log lines reach the server's output: Python leaves out those that only inform."""
    ours = logging.getLogger("kcnet")
    if not any(isinstance(handler, _ServerOutput) for handler in ours.handlers):
        output = _ServerOutput()
        output.setFormatter(logging.Formatter("%(asctime)s %(name)s %(message)s"))
        ours.addHandler(output)
        ours.setLevel(logging.INFO)


def failure_sentence(error: BaseException, job: Job) -> str:
    """What a person is told when a job fails; a surprise goes to the log with its traceback."""
    if isinstance(error, KCNetError):
        return str(error)
    text = str(error).lower()
    if (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"  # torch on a GPU
        or "allocate memory" in text  # torch on a CPU
    ):
        free = gigabytes(measure_memory().available)
        return f"This run needed more memory than the machine had ({free} are free now). {LOWER}"
    code = secrets.token_hex(4)
    log.error("job %s failed, reference %s", job.id[:ID_PREFIX], code, exc_info=error)
    return (
        "Something went wrong inside this run; that is a fault of the program, not of your input. "
        f"Starting it again may help. To report it, quote the reference {code}."
    )


def log_line(event: str, job: Job, used: int) -> None:
    """One line of JSON about a job's start or end; `used` is the process's memory in bytes."""
    view = job.view
    line: dict[str, Any] = {"event": event, "job": job.id[:ID_PREFIX], "kind": job.kind}
    line["config"] = _loggable(job.config)
    line["memory_mb"] = used >> 20
    if view.started is not None:
        line["waited"] = round(view.started - view.submitted, 3)
    if event == "end":
        line["outcome"] = view.state
        line["seconds"] = round(view.worked, 3)
        line["snapshots"] = view.n_snapshots
        line["peak_memory_mb"] = max(view.peak_bytes, used) >> 20
        if view.error:
            line["error"] = view.error
    log.info(json.dumps(line))


def _loggable(config):
    """The configuration as plain JSON values, or as a bounded text where it is none or large."""
    try:
        if dataclasses.is_dataclass(config) and not isinstance(config, type):
            config = dataclasses.asdict(config)
        elif isinstance(config, MappingProxyType):
            config = dict(config)
        text = json.dumps(config, default=str)
        short = len(text) <= LOGGED_CONFIG_CHARACTERS
        return json.loads(text) if short else text[:LOGGED_CONFIG_CHARACTERS]
    except Exception:  # a log line must never be why a job cannot end
        return type(config).__name__

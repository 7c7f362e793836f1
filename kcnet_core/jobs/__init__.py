"""Background jobs: many visitors' runs share one machine, fairly, and can be watched and steered.

Policies, all kept by `JobManager`:

- Owners take turns: next is an owner without a slot before one with some, then whose last turn is
  longest ago; newcomers begin with the present turn. An owner's own jobs go first in, first out. A
  queue position is a place in exactly that order.
- While an owner without a slot waits, an owner with several gives the latest back: that job waits
  between two of its steps, first among its owner's own, and goes on later.
- A paused job gives its slot back, does not fill the queue, and queues again when resumed or
  stepped. Its memory stays planned, so a pause ends by itself after `limits.MAX_PAUSED_SECONDS`,
  or when more than `limits.MAX_PAUSED_JOBS` are paused.
- All plans of started jobs together stay below `limits.MEMORY_SHARE` of the memory that is free
  without them. A job that waits for memory holds the queue if the jobs now running will make room
  for it, and lets others pass while only paused jobs stand in its way.
- Arrays of finished jobs stay below `limits.MAX_FINISHED_BYTES`: the oldest first forget what only
  the lambda slider needs, then go.
- A `JobJournal` knows after a restart which jobs were interrupted.
- A job keeps one thread from its start to its end, because torch's grad mode and numpy's error
  state belong to a thread and may be held across a yield.
"""

from kcnet_core.jobs.interruptions import Interruption, JobJournal
from kcnet_core.jobs.job import FINISHED, GONE, Estimate, Job, JobView, NotOwner
from kcnet_core.jobs.log import show_log
from kcnet_core.jobs.manager import JobManager
from kcnet_core.jobs.memory import Memory, measure_memory
from kcnet_core.jobs.other_processes import OtherProcesses

__all__ = [
    "FINISHED",
    "GONE",
    "Estimate",
    "Interruption",
    "Job",
    "JobJournal",
    "JobManager",
    "JobView",
    "Memory",
    "NotOwner",
    "OtherProcesses",
    "measure_memory",
    "show_log",
]

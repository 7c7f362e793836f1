"""What the queue of one process knows of others that share its work."""

from __future__ import annotations

from kcnet_core.jobs.job import Job


class OtherProcesses:
    """Nothing: this process is alone."""

    def slots(self) -> int:
        """How many jobs may be done there at once."""
        return 0

    def show(self, job: Job) -> None:
        """Let whoever has the job's id watch it there."""

    def find(self, job_id: str) -> Job | None:
        """The job that another process has under this id."""
        return None


NOWHERE = OtherProcesses()

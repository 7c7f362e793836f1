"""A manager of jobs that a test can end, so that no thread of it is left behind."""

from __future__ import annotations

from kcnet_core.jobs import JobManager

SECONDS = 60.0  # after which a job that should end is taken as never ending


class EndingManager(JobManager):
    """Remembers what was submitted."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.submitted = []

    def submit(self, owner, *args, **options):
        job = super().submit(owner, *args, **options)
        self.submitted.append(job)
        return job

    def stop_all(self):
        for job in reversed(self.submitted):  # those that wait go first, so that none begins
            job.control(job.owner, "stop")

    def end(self):
        self.stop_all()
        assert all(job.wait(SECONDS) for job in self.submitted)

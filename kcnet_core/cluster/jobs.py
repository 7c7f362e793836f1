"""The app's measurements on the cluster that KCNET_CLUSTER names, so that it only has to draw.

Queue, ownership and memory admission stay those of the app; a job that is stopped gives up what
workers have in hand, and one that is paused takes no more rows until it goes on.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kcnet_core.experiments.comparison.rows import PlannedRows
    from kcnet_core.experiments.measured_job import MeasuredJob
    from kcnet_core.paper.recipe import Recipe


def app_cluster() -> str | None:
    """Where the app's measurements go; None: they stay in its process."""
    return os.environ.get("KCNET_CLUSTER") or None


def comparison_elsewhere(job: MeasuredJob, planned: PlannedRows) -> MeasuredJob:
    """The comparison as a job whose rows come from the cluster, if there is one."""
    address = app_cluster()
    if address is None:
        return job

    def measure():
        from kcnet_core.cluster.rows import compare_steps

        plan, data = planned.comparison, planned.dataset
        return compare_steps(plan, address, data, done=job.known, progress=True)

    return replace(job, measure=measure)


def recipe_elsewhere(job: MeasuredJob, recipe: Recipe) -> MeasuredJob:
    """The same for a recipe."""
    address = app_cluster()
    if address is None:
        return job

    def measure():
        from kcnet_core.cluster.rows import measured_at
        from kcnet_core.paper.engine import default_journal, saved_steps
        from kcnet_core.paper.result_file import own_results

        return saved_steps(recipe, default_journal(), own_results(), measure=measured_at(address))

    return replace(job, measure=measure)

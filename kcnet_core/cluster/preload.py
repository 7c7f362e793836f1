"""What a worker loads when it starts, and not with its first job: `dask worker --preload` this."""

from kcnet_core import KCNetClassifier, datasets
from kcnet_core.contracts import drain
from kcnet_core.experiments import training
from kcnet_core.experiments.run import Run

__all__ = ["KCNetClassifier"]


def dask_setup(worker) -> None:
    """Called by Dask in a worker: one small run loads all that any run needs."""
    small = Run("digits", rows=60, model="DOA", n_hidden=10, n_epochs=1)
    drain(training.train_steps(small, datasets.load("digits")))

"""The two hidden layers that grow: part of their units at a time, they are the estimators' own."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kcnet_core import KCNetClassifier
from kcnet_core.experiments.beside.networks import KenyonCells
from kcnet_core.network.kenyon import kenyon_activity


def test_cells_drawn_in_parts_are_active_as_all_of_them_together_on_many_rows():
    X = torch.from_numpy(np.random.default_rng(0).random((700, 30), dtype=np.float32))
    layer = KenyonCells.draw(KCNetClassifier(), 90, 30, seed=3)
    together = kenyon_activity(layer.wiring, X, layer.inhibition)
    parts = [layer.activity(X, slice(start, start + 30)) for start in (0, 30, 60)]
    assert torch.cat(parts).numpy() == pytest.approx(together.numpy(), abs=1e-5)

"""How the wiring of each plan is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial

import numpy as np

from kcnet_core.errors import KCNetError
from kcnet_core.network.wiring.fields import Fields, image_shape_of
from kcnet_core.network.wiring.hemibrain import hemibrain, random_like, shuffled
from kcnet_core.network.wiring.matrix import Wiring, smallest_of_rows

CELLS_AT_ONCE = 4096  # bounds the memory of the random keys
NEVER = 2.0  # a key above all that are drawn


@dataclass(frozen=True)
class Site:
    """What a plan may look at."""

    n_inputs: int
    fan_in: int
    image_shape: tuple | None = None
    min_field: int = 5
    max_field: int = 16
    local_share: float = 1.0
    connectome: np.ndarray | None = None
    min_synapses: int = 3
    synapse_counts: bool = False

    @classmethod
    def of(cls, model, n_inputs: int, fan_in: int) -> Site:
        """What an estimator was told."""
        if model.synapse_counts and model.n_epochs:
            raise KCNetError(
                "DOA makes W of ones and zeros: set synapse_counts=False or n_epochs=0."
            )
        told = (field.name for field in fields(cls) if field.name not in ("n_inputs", "fan_in"))
        return cls(n_inputs, fan_in, **{name: getattr(model, name) for name in told})


def anywhere(n_hidden: int, site: Site, rng: np.random.Generator) -> Wiring:
    return Wiring.sample(n_hidden, site.n_inputs, site.fan_in, rng)


def in_fields(n_hidden: int, site: Site, rng: np.random.Generator) -> Wiring:
    shape = image_shape_of(site.n_inputs, site.image_shape)
    n_local = round(site.local_share * n_hidden)
    local = Fields.sample(n_local, shape, site.min_field, site.max_field, rng)
    boxes = Fields.concatenate([local, Fields.whole(n_hidden - n_local, shape)]).boxes
    parts = []
    for start in range(0, n_hidden, CELLS_AT_ONCE):
        some = Fields(boxes[start : start + CELLS_AT_ONCE], shape)
        keys = rng.random((len(some.boxes), site.n_inputs), dtype=np.float32)
        inside = some.mask()
        keys[~inside] = NEVER
        W = np.zeros(keys.shape, bool)
        np.put_along_axis(W, smallest_of_rows(keys, site.fan_in), True, axis=1)
        # A small field may hold fewer inputs than a cell wants.
        parts.append(Wiring.from_matrix(W & inside, some))
    return Wiring.concatenate(parts)


DRAW: dict[str, Callable[[int, Site, np.random.Generator], Wiring]] = {
    "random": anywhere,
    "local": in_fields,
    "hemibrain": hemibrain,
    "hemibrain-shuffled": partial(hemibrain, rewired=shuffled),
    "hemibrain-random": partial(hemibrain, rewired=random_like),
}

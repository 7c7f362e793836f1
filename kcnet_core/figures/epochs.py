"""Records of epochs as numbers to draw: by submodel, their mean, and no more than can be seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

import numpy as np

from kcnet_core.network.history import EpochRecord


def by_submodel(records: Iterable[EpochRecord], most: int) -> dict[int, list[EpochRecord]]:
    """Records in one list per submodel, in order of epochs; of more than `most` epochs a part."""
    records = list(records)
    if len(records) > most:
        epochs = np.array(sorted({record.epoch for record in records}), dtype=int)
        kept = set(thinned(epochs, most).tolist())
        records = [record for record in records if record.epoch in kept]
    lines: dict[int, list[EpochRecord]] = {}
    for record in records:
        lines.setdefault(record.submodel, []).append(record)
    return {k: sorted(lines[k], key=lambda record: record.epoch) for k in sorted(lines)}


def points(part: Sequence[EpochRecord], field: str) -> tuple[np.ndarray, np.ndarray]:
    """Epochs and values of a field, where it was measured."""
    known = [(r.epoch, value) for r in part if (value := getattr(r, field)) is not None]
    table = np.array(known, dtype=float).reshape(-1, 2)
    return table[:, 0].astype(int), table[:, 1]


def mean_curve(curves: Iterable[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Mean at the epochs that every submodel has reached."""
    curves = [curve for curve in curves if len(curve[0])]
    if not curves:
        return np.array([], dtype=int), np.array([])
    epochs = reduce(np.intersect1d, [epochs for epochs, _ in curves])
    return epochs, np.mean([v[np.isin(e, epochs)] for e, v in curves], axis=0)


def thinned(values: np.ndarray, most: int) -> np.ndarray:
    """At most `most` of them, always with the first and the last."""
    if len(values) <= most:
        return values
    return values[np.unique(np.linspace(0, len(values) - 1, most).round().astype(int))]


def last_epoch(lines: Mapping[int, list[EpochRecord]], n_epochs: int | None) -> int:
    """Where an axis of epochs ends: the last one planned, or the last one seen."""
    return max([n_epochs or 1, *(part[-1].epoch for part in lines.values())])

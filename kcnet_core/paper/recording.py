"""What DOA leaves behind for the paper's figures: curves, and S and W as small pictures."""

from __future__ import annotations

import base64
import copy
import io
from collections.abc import Iterable

import numpy as np

from kcnet_core.experiments.frames import Frame, Replay
from kcnet_core.network.history import EpochRecord

SHADES = 16  # in a stored picture: noise does not compress, so every shade costs bytes
CURVE_FIELDS = ("submodel", "epoch", "train_metric", "validation_metric", "density")


class Recorded:
    """An estimator that keeps the matrices of its first and last epoch while it is fitted."""

    def __init__(self, model):
        self.model = model
        self.replay = Replay(model.n_submodels, capacity=2)

    def __getattr__(self, name):
        return getattr(self.model, name)

    def __copy__(self):
        return copy.copy(self.model)

    def fit_steps(self, X, y, groups=None, progress=False):
        for record in self.model.fit_steps(X, y, groups=groups, matrices=True, progress=progress):
            if isinstance(record, EpochRecord):
                self.replay.add(record)
            yield record
        self.replay.finish(self.model.n_epochs, self.model.scores_, self.model.weights_)


def updates_made(model) -> float:
    """Updates of the wiring before DOA ended, averaged over submodels."""
    last: dict[int, int] = {}
    for record in model.history_:
        last[record.submodel] = max(last.get(record.submodel, 0), record.epoch)
    # The published stop rule measures after an update of which there is no record yet.
    unseen = model.stop_rule == "published"
    return float(np.mean([epoch + (unseen and epoch < model.n_epochs) for epoch in last.values()]))


def curves_of(model) -> list[list]:
    """One line per epoch and submodel, with the fields `CURVE_FIELDS`."""
    return [[_short(getattr(record, f)) for f in CURVE_FIELDS] for record in model.history_]


def records_of(curves: Iterable[list]) -> list[EpochRecord]:
    """Stored curves as records, for the charts that draw them."""
    return [EpochRecord(**dict(zip(CURVE_FIELDS, line, strict=True))) for line in curves]


def matrices_of(recorded: Recorded) -> dict:
    """S and W before and after, block by block, as small grey pictures."""
    first, last = recorded.replay.frames[0], recorded.replay.frames[-1]
    return {
        "shape": list(first.shape),
        "density": [_short(first.density), _short(last.density)],
        "before": _pictures(first),
        "after": _pictures(last),
    }


def _pictures(frame: Frame) -> dict:
    if frame.S_small is None:
        raise ValueError("only a tuned wiring has scores to keep")
    return {"S": packed(frame.S_small, -1.0, 1.0), "W": packed(frame.W_small, 0.0, 1.0)}


def packed(M: np.ndarray, low: float, high: float) -> dict:
    """A small matrix as a grey PNG in base64, with the values of black and white."""
    from PIL import Image

    high = float(min(high, max(M.max(), low + 1e-6)))
    level = np.round((np.clip(M, low, high) - low) / (high - low) * (SHADES - 1))
    out = io.BytesIO()
    Image.fromarray(level.astype(np.uint8)).save(out, "PNG", optimize=True)
    picture = base64.b64encode(out.getvalue()).decode()
    return {"png": picture, "low": low, "high": high, "shades": SHADES}


def unpacked(picture: dict) -> np.ndarray:
    """The matrix that `packed` stored, to within a shade."""
    from PIL import Image

    level = np.asarray(Image.open(io.BytesIO(base64.b64decode(picture["png"]))), np.float32)
    span = picture["high"] - picture["low"]
    return (picture["low"] + span * level / (picture["shades"] - 1)).astype(np.float32)


def _short(value):
    return value if value is None or isinstance(value, int) else round(float(value), 5)

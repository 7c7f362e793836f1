"""Everything a training run shows while it runs and when it has ended, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from kcnet_core.experiments.run import DOA_MODELS, EPOCH_MODELS, KCNET_MODELS, Run
from kcnet_core.figures.curves import density_curve, flips_bars, score_histogram, validation_curve
from kcnet_core.figures.layout import Sketch
from kcnet_core.figures.matrices import matrix_picture
from kcnet_core.figures.pictures import input_usage_map

if TYPE_CHECKING:
    from kcnet_core.experiments.frames import Frame
    from kcnet_core.experiments.training import TrainView

MATRIX_HEIGHT, CURVE_HEIGHT = 340, 300
CURVE_SHARE = 1.7  # of the row's width, where the small charts have 1


@dataclass(frozen=True)
class Panel:
    """A place on the page, and the figure in it once there is something to draw."""

    key: str
    height: int
    share: float = 1.0
    figure: go.Figure | Sketch | None = None


def training_panels(
    run: Run,
    view: TrainView | None,
    *,
    image_shape: tuple[int, int] | None = None,
    dark: bool = False,
) -> list[list[Panel]]:
    """Rows of panels for this run: scores and weights, then what happens over the epochs.

    The places depend only on the kind of run, never on how far it has come, so that a page which
    leaves room for the empty ones does not move when the first epoch arrives.

    Parameters
    ----------
    view : TrainView or None
        How far the run has come; None before its first step.
    image_shape : (height, width), optional
        Adds a map of how often each pixel is used to a wiring that is not tuned.
    """
    frame = view.latest if view is not None else None
    records = view.records if view is not None else []
    figures = {}
    if frame is not None:
        figures |= _wiring(run, frame, image_shape, dark)
    if records and run.model in EPOCH_MODELS:
        figures |= _epochs(run, records, view.metric_name, dark)
    return [[_panel(key, figures.get(key)) for key in row] for row in _places(run, image_shape)]


def _places(run: Run, image_shape) -> list[tuple[str, ...]]:
    if run.model in DOA_MODELS:
        return [("S", "W"), ("curve", "flips", "density", "scores")]
    if run.model in EPOCH_MODELS:
        return [("curve",)]
    if run.model in KCNET_MODELS:
        return [("W",) if image_shape is None else ("W", "usage")]
    return []


def _panel(key: str, figure: go.Figure | None) -> Panel:
    height = MATRIX_HEIGHT if key in ("S", "W", "usage") else CURVE_HEIGHT
    return Panel(f"live_{key}", height, CURVE_SHARE if key == "curve" else 1.0, figure)


def _wiring(run: Run, frame: Frame, image_shape, dark: bool) -> dict[str, go.Figure]:
    parts = {
        "shape": frame.shape,
        "n_submodels": run.n_submodels if run.model == "Ensemble DOA" else 1,
        "dark": dark,
        "height": MATRIX_HEIGHT,
    }
    figures = {"W": matrix_picture(frame.W_small, "W", title="Weights W", **parts)}
    if frame.S_small is not None:
        figures["S"] = matrix_picture(frame.S_small, "S", title="Preference scores S", **parts)
        figures["scores"] = score_histogram(frame.S_counts, dark=dark, height=CURVE_HEIGHT)
    elif image_shape is not None:
        title = "How many cells use each pixel"
        figures["usage"] = input_usage_map(
            frame.usage, image_shape, title=title, dark=dark, height=MATRIX_HEIGHT
        )
    return figures


def _epochs(run: Run, records, metric_name: str, dark: bool) -> dict[str, go.Figure]:
    parts = {"n_epochs": run.n_epochs, "dark": dark, "height": CURVE_HEIGHT}
    stop = run.stop_metric or None
    figures = {
        "curve": validation_curve(
            records, metric_name, stop_metric=stop, model=run.model,
            mark_best=run.model in DOA_MODELS, **parts,
        )
    }  # fmt: skip
    if run.model in DOA_MODELS:
        figures["flips"] = flips_bars(records, **parts)
        figures["density"] = density_curve(records, **parts)
    return figures

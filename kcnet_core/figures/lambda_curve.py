"""The ridge path: what lambda does to the leave-one-out error and to the scores."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from kcnet_core.figures.axes import metric_range
from kcnet_core.figures.escaping import axis_title, escape_html
from kcnet_core.figures.layout import draw, level_line
from kcnet_core.figures.traces import scatter
from kcnet_core.palette import model_colour, theme


def lambda_path(
    alphas, loo_error, test_score, *, chosen: float, best: float, metric: str, dark: bool = False
) -> go.Figure:
    """Leave-one-out error (right axis) and the test score (left axis) over lambda.

    Marked are where the visitor's slider stands and what leave-one-out would choose.
    """
    alphas = np.asarray(alphas, dtype=float)
    score, error = f"test {escape_html(metric)}", "leave-one-out error"
    look = {"color": model_colour("KCNet", dark), "width": 2.5}
    broken = {"color": theme(dark).good, "width": 2, "dash": "dash"}
    at = "λ = %{x:.3g}<br>"
    traces = [
        scatter("lines", alphas, test_score, f"{at}{score} %{{y:.4f}}", name=score, line=look),
        scatter("lines", alphas, loo_error, f"{at}{error} %{{y:.4f}}", name=error, line=broken,
                yaxis="y2"),
    ]  # fmt: skip
    known = [(best, "best by leave-one-out", "dash"), (chosen, "λ now", "solid")]
    marks = sorted((at, text, dash) for at, text, dash in known if at)
    shapes, notes = [], []
    for (where, text, dash), side in zip(marks, ("right", "left")[-len(marks) :], strict=False):
        shapes.append(level_line(where, "x", dash))
        notes.append(
            {
                "text": text, "x": float(np.log10(where)), "xanchor": side, "y": 1, "yref": "paper",
                "yanchor": "top", "xshift": -3 if side == "right" else 3,
            }
        )  # fmt: skip
    lowest = int(np.nanargmin(loo_error))
    alt = (
        f"Ridge path over λ from {alphas[0]:.3g} to {alphas[-1]:.3g}: the leave-one-out error is "
        f"smallest at λ = {alphas[lowest]:.3g}, the test {metric} there is "
        f"{test_score[lowest]:.4f}; λ is now {chosen:.3g}."
    )
    return draw(
        traces,
        alt,
        dark,
        300,
        showlegend=True,
        hovermode="x",
        margin={"r": 66},
        shapes=shapes,
        annotations=notes,
        xaxis={
            "title": "Ridge penalty λ",
            "type": "log",
            "range": np.log10(alphas[[0, -1]]).tolist(),
            "dtick": 1,
            "exponentformat": "power",
            "tickfont": {"size": 11},
        },
        yaxis={"title": axis_title(metric), "range": metric_range(test_score), "nticks": 6},
        yaxis2={
            "title": "Leave-one-out error",
            "overlaying": "y",
            "side": "right",
            "showgrid": False,
            "tickmode": "auto",
            "nticks": 5,
        },
    )

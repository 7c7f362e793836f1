"""The ridge path: what lambda does to the leave-one-out error and to the scores."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from kcnet_core.figures.layout import bare, level_line, metric_range, note, plain, style
from kcnet_core.palette import model_colour, theme


def lambda_path(
    alphas,
    loo_error,
    test_score=None,
    *,
    loo_score=None,
    chosen: float | None = None,
    best: float | None = None,
    metric: str = "accuracy",
    model: str = "KCNet",
    dark: bool = False,
    height: int = 300,
) -> go.Figure:
    """Leave-one-out error (right axis) and scores (left axis) over lambda.

    Parameters
    ----------
    chosen : float
        Where the visitor's slider stands.
    best : float
        What leave-one-out would choose.
    """
    ink = theme(dark)
    colour = model_colour(model, dark)
    alphas = np.asarray(alphas, dtype=float)
    name = plain(metric)
    traces, scores = [], []
    for values, label, line in (
        (test_score, f"test {name}", {"color": colour, "width": 2.5}),
        (loo_score, f"leave-one-out {name}", {"color": colour, "width": 1.5, "dash": "dot"}),
    ):
        if values is not None:
            scores += list(values)
            traces.append(_line(alphas, values, label, line))
    line = {"color": ink.good, "width": 2, "dash": "dash"}
    traces.append({**_line(alphas, loo_error, "leave-one-out error", line), "yaxis": "y2"})
    marks = [(best, "best by leave-one-out", "dash"), (chosen, "λ now", "solid")]
    marks = sorted(mark for mark in marks if mark[0])
    shapes, notes = [], []
    for (at, text, dash), side in zip(marks, ("right", "left")[-len(marks) :], strict=False):
        shapes.append(level_line(at, ink.muted, "x", dash))
        place = {"x": float(np.log10(at)), "xanchor": side, "y": 1, "yref": "paper"}
        shift = -3 if side == "right" else 3
        notes.append(note(text, ink.muted, yanchor="top", xshift=shift, **place))
    loo_error = np.asarray(loo_error, dtype=float)
    alt = (
        f"Ridge path over λ from {alphas[0]:.3g} to {alphas[-1]:.3g}: the leave-one-out error is "
        f"smallest at λ = {alphas[np.nanargmin(loo_error)]:.3g}"
        + (f", the test {metric} there is {test_score[int(np.nanargmin(loo_error))]:.4f}"
           if test_score is not None else "")
        + (f"; λ is now {chosen:.3g}" if chosen else "")
        + "."
    )  # fmt: skip
    return style(
        bare(*traces),
        alt,
        dark=dark,
        x="Ridge penalty λ",
        y=name[:1].upper() + name[1:],
        height=height,
        legend=True,
        hovermode="x",
        margin={"r": 66},
        xaxis={
            "type": "log",
            "range": np.log10(alphas[[0, -1]]).tolist(),
            "dtick": 1,
            "exponentformat": "power",
            "tickfont": {"size": 11},
        },
        yaxis={"range": metric_range(scores), "nticks": 6},
        layout={
            "shapes": shapes,
            "annotations": notes,
            "yaxis2": {
                "title": {"text": "Leave-one-out error", "font": {"color": ink.text, "size": 13}},
                "overlaying": "y",
                "side": "right",
                "showgrid": False,
                "zeroline": False,
                "tickfont": {"color": ink.muted, "size": 12},
                "tickmode": "auto",
                "nticks": 5,
            },
        },
    )


def _line(x, y, name: str, line: dict) -> dict:
    return {
        "type": "scatter",
        "x": x,
        "y": y,
        "name": name,
        "mode": "lines",
        "line": line,
        "hovertemplate": f"λ = %{{x:.3g}}<br>{name} %{{y:.4f}}<extra></extra>",
    }

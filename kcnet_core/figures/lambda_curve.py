"""The ridge path: what lambda does to the leave-one-out error and to the scores."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from kcnet_core.figures.layout import metric_range, plain, style
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
    figure = go.Figure()
    scores = []
    for values, label, line in (
        (test_score, f"test {name}", {"color": colour, "width": 2.5}),
        (loo_score, f"leave-one-out {name}", {"color": colour, "width": 1.5, "dash": "dot"}),
    ):
        if values is None:
            continue
        scores += list(values)
        figure.add_trace(
            go.Scatter(
                x=alphas, y=values, name=label, mode="lines", line=line,
                hovertemplate=f"λ = %{{x:.3g}}<br>{label} %{{y:.4f}}<extra></extra>",
            )
        )  # fmt: skip
    figure.add_trace(
        go.Scatter(
            x=alphas, y=loo_error, name="leave-one-out error (right)", mode="lines", yaxis="y2",
            line={"color": ink.good, "width": 2, "dash": "dash"},
            hovertemplate="λ = %{x:.3g}<br>leave-one-out error %{y:.4f}<extra></extra>",
        )
    )  # fmt: skip
    marks = [(best, "best by leave-one-out", "dash"), (chosen, "λ now", "solid")]
    marks = sorted(mark for mark in marks if mark[0])
    for (at, text, dash), side in zip(marks, ("right", "left")[-len(marks) :], strict=False):
        figure.add_vline(x=at, line={"color": ink.muted, "width": 1, "dash": dash})
        figure.add_annotation(
            x=np.log10(at), y=0.02, yref="paper", text=f" {text} ", showarrow=False,
            xanchor=side, yanchor="bottom", font={"color": ink.muted, "size": 11},
        )  # fmt: skip
    loo_error = np.asarray(loo_error, dtype=float)
    alt = (
        f"Ridge path over λ from {alphas[0]:.3g} to {alphas[-1]:.3g}: the leave-one-out error is "
        f"smallest at λ = {alphas[np.nanargmin(loo_error)]:.3g}"
        + (f", the test {metric} there is {test_score[int(np.nanargmin(loo_error))]:.4f}"
           if test_score is not None else "")
        + (f"; λ is now {chosen:.3g}" if chosen else "")
        + "."
    )  # fmt: skip
    style(
        figure, alt, dark=dark, x="Ridge penalty λ", height=height, legend=True,
        hovermode="x", margin={"r": 66},
    )  # fmt: skip
    figure.update_layout(
        yaxis={"title": {"text": name[:1].upper() + name[1:]}, "range": metric_range(scores)},
        yaxis2={
            "title": {"text": "Leave-one-out error", "font": {"color": ink.text, "size": 13}},
            "overlaying": "y",
            "side": "right",
            "showgrid": False,
            "zeroline": False,
            "tickfont": {"color": ink.muted, "size": 12},
            "tickmode": "auto",
            "nticks": 5,
        },
    )
    ends = np.log10(alphas[[0, -1]])
    figure.update_xaxes(
        type="log", range=list(ends), dtick=1, exponentformat="power", tickfont_size=11
    )
    figure.update_yaxes(nticks=6, selector={"side": None})
    return figure

"""One figure for every step of a sample's way through the circuit."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from kcnet_core.figures.layout import plain, sign_colours, style, unique_labels
from kcnet_core.lessons.circuit import ForwardPass, tag_size
from kcnet_core.lessons.circuit_drawing import leading_answers, shown_answers
from kcnet_core.palette import colourscale, faded, theme

CELL_BINS = 44
LONGEST_NAME = 26
MOST_BARS = 12  # inputs named in a ranked bar chart


def rates_figure(forward: ForwardPass, meanings, dark=False) -> go.Figure:
    """The input vector as the brain receives it: one bar per glomerulus, in order."""
    ink = theme(dark)
    figure = go.Figure(
        go.Bar(
            x=np.arange(1, len(forward.rates) + 1),
            y=forward.rates,
            marker={"color": ink.primary, "line_width": 0},
            customdata=[plain(meaning) for meaning in meanings],
            hovertemplate="%{customdata}<br>rate %{y:.2f}<extra></extra>",
        )
    )
    figure.update_layout(bargap=0 if len(forward.rates) > 200 else 0.15)
    figure.update_xaxes(title="glomerulus")
    figure.update_yaxes(title="firing rate", range=[0, 1.04])
    return finish(
        figure, dark, alt="Firing rate of every glomerulus, in the order of the input vector."
    )


def cell_inputs_figure(forward: ForwardPass, cell: int, names, meanings, dark=False) -> go.Figure:
    """What one Kenyon cell listens to, and how loud each input is now."""
    ink = theme(dark)
    inputs = forward.inputs_of(cell)
    labels = [plain(names[i], LONGEST_NAME) for i in inputs]
    figure = go.Figure(
        go.Bar(
            x=forward.rates[inputs],
            y=np.arange(len(inputs)),
            orientation="h",
            width=0.55,
            marker={"color": ink.primary},
            hovertemplate="%{customdata}<br>rate %{x:.2f}<extra></extra>",
            customdata=[plain(meanings[i]) for i in inputs],
        )
    )
    figure.update_xaxes(title="firing rate", range=[0, 1.04])
    figure.update_yaxes(tickvals=np.arange(len(inputs)), ticktext=labels, autorange="reversed")
    return finish(
        figure, dark, across=True, alt="Firing rates of the inputs of the chosen Kenyon cell."
    )


def sums_figure(forward: ForwardPass, cell: int, dark=False) -> go.Figure:
    """All cells by what they receive, with their mean and the chosen cell."""
    ink = theme(dark)
    figure = _histogram(forward.sums, (0, forward.sums.max()), ink, ink.muted)
    figure.update_xaxes(title="sum of the inputs, x̄")
    mark(figure, ink, forward.mean, f"mean μ = {forward.mean:.2f}", ink.text, dash="dot", high=1.0)
    mark(
        figure,
        ink,
        forward.sums[cell],
        f"cell {cell + 1}: {forward.sums[cell]:.2f}",
        ink.primary,
        high=0.84,
        flip=forward.sums[cell] > 0.75 * forward.sums.max(),
    )
    return finish(
        figure,
        dark,
        alt="Histogram of the sums that all Kenyon cells receive, with the mean over all cells "
        "and the chosen cell marked.",
    )


def inhibited_figure(forward: ForwardPass, cell: int, dark=False) -> go.Figure:
    """The same cells after inhibition: everything moves left by C times the mean."""
    ink = theme(dark)
    # The axis holds every C from 0 to 2, so that the heap moves and the axis does not.
    span = (-2 * forward.mean, forward.sums.max())
    figure = _histogram(forward.inhibited, span, ink, sign_colours(dark)[0], ink.primary)
    shift = forward.inhibition * forward.mean
    figure.update_xaxes(title="after inhibition, x̂")
    mark(figure, ink, 0, "0", ink.text, high=1.0)
    if shift > 0:
        figure.add_annotation(
            x=forward.mean - shift,
            ax=forward.mean,
            axref="x",
            y=1.08,
            yref="paper",
            ay=0,
            text="",
            showarrow=True,
            arrowhead=3,
            arrowwidth=1.8,
            arrowcolor=ink.text,
        )
        figure.add_annotation(
            x=forward.mean - shift / 2,
            y=1.17,
            yref="paper",
            text=f"C μ = {shift:.2f}",
            showarrow=False,
        )
    mark(
        figure,
        ink,
        forward.inhibited[cell],
        f"cell {cell + 1}: {forward.inhibited[cell]:.2f}",
        ink.text,
        dash="dot",
        high=0.84,
        flip=forward.inhibited[cell] > 0.7 * forward.sums.max(),
    )
    return finish(
        figure,
        dark,
        top=52,
        alt="Histogram of all Kenyon cells after C times the mean is subtracted; cells below "
        "zero in one colour, above zero in another.",
    )


def activity_figure(forward: ForwardPass, dark=False) -> go.Figure:
    """Cells from the loudest to the silent ones; the tag is the loudest twentieth."""
    ink = theme(dark)
    ranked = np.sort(forward.activity)[::-1]
    share = 100 * np.arange(1, len(ranked) + 1) / len(ranked)
    size = tag_size(len(ranked))
    figure = go.Figure(
        go.Scatter(
            x=share,
            y=ranked,
            mode="lines",
            line={"color": ink.primary, "width": 2, "shape": "hv"},
            fill="tozeroy",
            fillcolor=faded(ink.primary, 0.16),
            hovertemplate="cell %{x:.1f}% of the way<br>activity %{y:.2f}<extra></extra>",
        )
    )
    figure.add_vrect(x0=0, x1=share[size - 1], fillcolor=ink.primary, opacity=0.28, line_width=0)
    figure.add_annotation(
        x=share[size - 1], y=1, yref="paper", text=" the tag: top 5%", showarrow=False,
        xanchor="left", yanchor="top",
    )  # fmt: skip
    active = 100 * forward.active_share
    if active < 100:
        mark(
            figure,
            ink,
            active,
            f"{active:.0f}% active",
            ink.text,
            dash="dot",
            high=0.62,
            flip=active > 75,
        )
    figure.update_xaxes(title="cells, loudest first", ticksuffix="%", range=[0, 100])
    figure.update_yaxes(title="activity h", rangemode="tozero")
    return finish(
        figure,
        dark,
        alt="Activity of all Kenyon cells after the ReLU, sorted from loudest to silent, with "
        "the top five percent marked as the tag.",
    )


def votes_figure(forward: ForwardPass, answer_names, dark=False) -> go.Figure:
    """For every answer: votes for it, votes against it, and what is left."""
    ink = theme(dark)
    shown = shown_answers(forward)
    votes = forward.votes[:, shown] if forward.votes.shape[1] > 1 else forward.votes
    names = [plain(answer_names[k]) for k in shown][: votes.shape[1]]
    in_favour = np.where(votes > 0, votes, 0).sum(axis=0)
    against = np.where(votes < 0, votes, 0).sum(axis=0)
    figure = go.Figure()
    for values, colour, label in (
        (in_favour, ink.primary, "for"),
        (against, sign_colours(dark)[0], "against"),
    ):
        figure.add_bar(
            x=values,
            y=names,
            orientation="h",
            name=label,
            width=0.55,
            marker={"color": colour, "opacity": 0.75},
            hovertemplate=f"%{{y}}: %{{x:.2f}} {label}<extra></extra>",
        )
    figure.add_scatter(
        x=votes.sum(axis=0),
        y=names,
        mode="markers",
        name="sum: the score",
        marker={"color": ink.text, "size": 9, "symbol": "diamond"},
        hovertemplate="%{y}: score %{x:.2f}<extra></extra>",
    )
    figure.update_layout(barmode="relative")
    figure.update_xaxes(title="votes, h × β", zeroline=True)
    figure.update_yaxes(autorange="reversed", type="category")
    return finish(
        figure,
        dark,
        across=True,
        legend=True,
        alt="For every answer, the sum of positive votes, the sum of negative votes, and their "
        "total.",
    )


def probabilities_figure(forward: ForwardPass, answer_names, dark=False) -> go.Figure:
    """How sure the network is of every answer."""
    ink = theme(dark)
    shown = shown_answers(forward)
    best = set(leading_answers(forward).tolist())
    percent = 100 * forward.probabilities[shown]
    figure = go.Figure(
        go.Bar(
            x=percent,
            y=[plain(answer_names[k]) for k in shown],
            orientation="h",
            width=0.6,
            text=[f"{value:.0f}%" for value in percent],
            textposition="outside",
            cliponaxis=False,
            marker={"color": [ink.primary if k in best else ink.grid for k in shown]},
            hovertemplate="%{y}: %{x:.1f}%<extra></extra>",
        )
    )
    figure.update_xaxes(title="probability", ticksuffix="%", range=[0, 112], tickvals=[0, 50, 100])
    figure.update_yaxes(autorange="reversed", type="category")
    return finish(figure, dark, across=True, alt="Probability of every answer, as bars.")


def pixel_map_figure(contribution, image_shape, dark=False) -> go.Figure:
    """Exact share of every pixel in a score: orange speaks for the answer, purple against it."""
    grid = np.asarray(contribution).reshape(image_shape)
    limit = max(float(np.abs(grid).max()), 1e-9)
    figure = go.Figure(
        go.Heatmap(
            z=grid,
            zmin=-limit,
            zmax=limit,
            colorscale=colourscale("diverging", dark),
            colorbar={"thickness": 10, "len": 0.8, "outlinewidth": 0, "title": "votes"},
            hovertemplate="row %{y}, column %{x}: %{z:.3f}<extra></extra>",
            xgap=0.5,
            ygap=0.5,
        )
    )
    figure.update_xaxes(visible=False, constrain="domain")
    figure.update_yaxes(visible=False, autorange="reversed", scaleanchor="x", constrain="domain")
    return finish(
        figure,
        dark,
        alt="Map of the exact contribution of every pixel to the leading answer: one colour for "
        "it, another against it.",
    )


def input_shares_figure(contribution, names, meanings, dark=False) -> go.Figure:
    """The inputs that speak loudest for and against an answer."""
    ink = theme(dark)
    contribution = np.asarray(contribution)
    top = np.argsort(-np.abs(contribution))[:MOST_BARS]
    top = top[np.argsort(-contribution[top])]
    figure = go.Figure(
        go.Bar(
            x=contribution[top],
            y=unique_labels([names[i] for i in top], LONGEST_NAME),
            orientation="h",
            width=0.6,
            marker={"color": np.where(contribution[top] > 0, ink.primary, sign_colours(dark)[0])},
            customdata=[plain(meanings[i]) for i in top],
            hovertemplate="%{customdata}: %{x:.3f}<extra></extra>",
        )
    )
    figure.update_xaxes(title="exact contribution to the score", zeroline=True)
    figure.update_yaxes(autorange="reversed", type="category")
    return finish(
        figure,
        dark,
        across=True,
        alt="The inputs with the largest exact contributions to the leading answer, for and "
        "against.",
    )


def _histogram(values, span, ink, below, above=None):
    # Edges at multiples of the width put one on 0, so that no bar is half one colour.
    width = max(span[1] - span[0], 1e-6) / CELL_BINS
    edges = width * np.arange(np.floor(span[0] / width), np.ceil(span[1] / width) + 1)
    counts, _ = np.histogram(values, edges)
    middles = (edges[1:] + edges[:-1]) / 2
    colours = below if above is None else np.where(middles > 0, above, below)
    figure = go.Figure(
        go.Bar(
            x=middles,
            y=counts,
            width=0.92 * width,
            marker={"color": colours, "line_width": 0},
            hovertemplate="%{x:.2f}: %{y} cells<extra></extra>",
        )
    )
    figure.update_yaxes(title="Kenyon cells")
    return figure


def mark(figure, ink, x, text, colour, *, dash="solid", high=1.0, flip=False):
    """A labelled upright line; `flip` puts the label on its left, where the right is the edge."""
    figure.add_shape(
        type="line", x0=x, x1=x, y0=0, y1=high, yref="paper",
        line={"color": colour, "width": 2, "dash": dash},
    )  # fmt: skip
    figure.add_annotation(
        x=x, y=high, yref="paper", text=text, showarrow=False, xshift=-4 if flip else 4,
        xanchor="right" if flip else "left", yanchor="top",
        font={"color": colour}, bgcolor=faded(ink.background, 0.85), borderpad=1,
    )  # fmt: skip


def finish(figure, dark, *, alt, legend=False, height=320, across=False, top=None):
    """The common look, with room for long names; `across` is for bars that lie on their side."""
    figure.update_yaxes(automargin=True)
    for axis in figure.select_xaxes(), figure.select_yaxes():
        for each in axis:
            if each.title.text:
                each.title.text = each.title.text[:1].upper() + each.title.text[1:]
    margin = {"t": top or (34 if legend else 14)}
    style(figure, alt, dark=dark, legend=legend, height=height, margin=margin)
    figure.update_xaxes(showgrid=across, showline=not across)
    figure.update_yaxes(showgrid=not across)
    return figure

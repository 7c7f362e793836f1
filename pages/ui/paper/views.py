"""How a measured result is drawn: tables as dots, sweeps, running times, wiring, searches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import streamlit as st

from kcnet_core import figures
from kcnet_core.experiments.models import MODELS
from kcnet_core.figures.reduction import KINDS
from kcnet_core.paper.outcomes import Outcome, Result, sentence
from kcnet_core.paper.recipe import Recipe, RecipeLine
from kcnet_core.paper.recording import records_of, unpacked
from pages.ui.paper.words import how
from pages.ui.shell import visitor
from pages.ui.shell.chart import chart
from pages.ui.shell.escaping import data_table
from pages.ui.shell.words import capital, setting_name, setting_value, settings_in_words

MOST_ROWS = 14  # of a table that is shown without scrolling


def in_columns(items: Sequence, most: int):
    """Every item inside its column, so many beside each other."""
    for start in range(0, len(items), most):
        for column, item in zip(st.columns(most), items[start : start + most], strict=False):
            with column:
                yield item


def panels(result: Result, by: tuple[str, ...] = ("panel",)):
    """(name, part of the table) of every panel, each inside its column."""
    parts = list(result.table().groupby(list(by), sort=False))
    for key, part in in_columns(parts, min(len(parts), 3 if len(parts) == 3 else 2)):
        some = " (part of the data)" if part["partial"].any() else ""
        yield " · ".join(filter(None, key)) + some, part


def dots(recipe: Recipe, result: Result) -> None:
    series = list(dict.fromkeys(how(line.series) for line in recipe.lines))
    for name, part in panels(result):
        figure = figures.paper_and_ours(
            part.assign(series=part["series"].map(how)),
            part["metric"].iloc[0],
            title=name,
            series=series,
            dark=visitor.dark(),
        )
        chart(figure, f"paper_{recipe.name}_{name}")


def sweeps(recipe: Recipe, result: Result) -> None:
    x = "Brightness of the background" if recipe.name == "clutter" else "Hidden size"
    for name, part in panels(result, ("panel", "series")):
        figure = figures.sweep(part, recipe.metric, x=x, title=name, dark=visitor.dark())
        chart(figure, f"paper_{recipe.name}_{name}")
    curves(recipe, result)


def curves(recipe: Recipe, result: Result) -> None:
    """Validation metric while DOA ran, where it was kept."""
    kept = result.kept.get("curves", {})
    if not kept:
        return
    st.subheader("Validation metric while DOA ran", anchor=False)
    for line in in_columns([line for line in recipe.lines if line.key in kept], 3):
        size = "" if line.x is None else f", {line.x:,.0f} cells"
        st.caption(f"{line.label}{size}")
        curve(recipe, line, kept, f"paper_curve_{recipe.name}_{line.key}", 240)


def curve(recipe: Recipe, line: RecipeLine, kept: Mapping, key: str, height: int, **more) -> None:
    drawn = figures.validation_curve(
        records_of(kept[line.key]), recipe.metric, model=line.model, dark=visitor.dark(), **more
    )
    st.echarts_chart(drawn.option, key=key, height=height, alt=drawn.alt)


def times(recipe: Recipe, result: Result) -> None:
    for name, part in panels(result):
        figure = figures.running_times(part, title=name, dark=visitor.dark())
        chart(figure, f"paper_{recipe.name}_{name}")
    load, cores = result.about.get("mean_load"), result.about.get("machine", {}).get("cores")
    if load is not None and cores and load > cores:
        st.warning(
            f"The machine was busy while these seconds were measured (on average {load:g} "
            f"processes wanted its {cores} cores): they are too long, and only their order means "
            "something.",
            icon=":material/hourglass_top:",
        )


def inside(recipe: Recipe, result: Result) -> None:
    """S and W before and after, and the validation curve, for DOA and for the ensemble."""
    films, kept = result.kept.get("matrices", {}), result.kept.get("curves", {})
    lines = [line for line in recipe.lines if line.key in films]
    for tab, line in zip(st.tabs([line.label for line in lines]), lines, strict=True):
        film = films[line.key]
        parts = {
            "shape": tuple(film["shape"]), "dark": visitor.dark(),
            "n_submodels": line.settings.get("n_submodels", 1), "height": 300,
        }  # fmt: skip
        with tab:
            wirings = {when: unpacked(film[when]["W"]) for when in ("before", "after")}
            limit = max(figures.nice_limit(W) for W in wirings.values())
            for kind in ("S", "W"):
                for column, when in zip(st.columns(2), ("before", "after"), strict=True):
                    M = wirings[when] if kind == "W" else unpacked(film[when]["S"])
                    figure = figures.matrix_picture(
                        M, kind, title=f"{KINDS[kind][2]}, {when}",
                        limit=limit if kind == "W" else None, **parts,
                    )  # fmt: skip
                    with column:
                        chart(figure, f"paper_{recipe.name}_{line.label}_{kind}_{when}")
            before, after = film["density"]
            outcome = result.outcome(line.key)
            each = " of every submodel (on average)" if parts["n_submodels"] > 1 else ""
            st.caption(
                f"{before:.2%} of all connections are on before, {after:.2%} after "
                f"{outcome.updates:.0f} updates{each}. Test {recipe.metric} {outcome.mean:.4f}, "
                "one run."
            )
            if line.key in kept:
                stop = line.settings.get("stop_metric")
                key = f"paper_{recipe.name}_{line.label}_curve"
                curve(recipe, line, kept, key, 300, stop_metric=stop)


def searches(recipe: Recipe, result: Result) -> None:
    trials = {recipe.line(key).label: tried for key, tried in result.kept.get("trials", {}).items()}
    chart(figures.best_so_far(trials, recipe.metric, dark=visitor.dark()), f"paper_{recipe.name}")
    found = {outcome.label: outcome.found or {} for outcome in result.outcomes}
    lines = [
        {
            "Model": name,
            "Parameter": setting_name(dimension.name, name),
            "The paper's range": dimension.describe(),
            "Found here": setting_value(dimension.name, found.get(name, {}).get(dimension.name)),
        }
        for name in dict.fromkeys(line.label for line in recipe.lines)
        for dimension in MODELS[name].space
    ]
    data_table(pd.DataFrame(lines), hide_index=True, height=400)


def table(recipe: Recipe, result: Result) -> None:
    """Paper and ours as numbers, with how each was measured."""
    form = "%.2f" if recipe.metric == "seconds" else "%.4f"
    frame = pd.DataFrame([_table_line(recipe, outcome) for outcome in result.outcomes])
    empty = [c for c in frame if frame[c].isna().all() or (frame[c] == "").all()]
    frame = frame.drop(columns=empty)
    settings = frame.filter(["Data", "Model", "How", "At", "Tried", "Settings"])
    frame = frame.drop(columns=["Tried", "Settings"], errors="ignore")
    number = st.column_config.NumberColumn
    data_table(
        frame,
        hide_index=True,
        height="content" if len(frame) <= MOST_ROWS else 36 * MOST_ROWS,
        placeholder="",
        column_config={
            **{name: number(format=form) for name in ("Paper", "Ours")},
            "± SD": number(format="%.3f", help="The paper's standard deviation"),
            "Low": number(format=form, help="Lower end of our 95% interval"),
            "High": number(format=form, help="Upper end of our 95% interval"),
            "Repeats": number(help="Splits, or seeds of the benchmark's own split"),
            "Updates": number(format="%.1f", help="Of the wiring by DOA, before it stopped"),
            "Ones in W": number(format="percent", help="Share of connections in the end"),
            "KiB": number(format="%.1f", help="Stored with output weights of 8 bits"),
            "In 8 bits": number(format="%.4f", help="Accuracy with output weights of 8 bits"),
            "Seconds": number(format="%.2f", help="To configure, train and evaluate once"),
            # As many pixels as the longest words take: most cells may be empty.
            **{
                name: st.column_config.TextColumn(width=24 + 6 * max(map(len, frame[name])))
                for name in ("How", "Beside the paper")
                if name in frame
            },
        },
    )
    if "Settings" in settings:
        settings_table(settings)


def settings_table(settings: pd.DataFrame) -> None:
    """What every line was trained with; apart, because beside the figures it would be cut off."""
    with st.expander("Settings", icon=":material/tune:"):
        st.caption(
            "Where models are tuned, on training rows only: how many settings were tried for each "
            "repeat, and what was found for the first."
        )
        if "At" in settings:
            settings = settings.assign(At=[f"{x:,g}" for x in settings["At"]])
        st.table(settings, hide_index=True)


def _table_line(recipe: Recipe, outcome: Outcome) -> dict:
    chosen = {**(outcome.settings or {}), **(outcome.found or {})}
    return {
        "Data": outcome.panel,
        "Model": outcome.label,
        "How": capital(how(outcome.series)),
        "At": outcome.x,
        "Paper": outcome.paper,
        "± SD": outcome.paper_sd,
        "Ours": outcome.mean,
        "Low": outcome.low,
        "High": outcome.high,
        "Beside the paper": ""
        if recipe.plot_only and not outcome.paper
        else capital(sentence(outcome)),
        "Repeats": outcome.n,
        "Updates": outcome.updates,
        "Ones in W": outcome.density,
        "KiB": outcome.stored_bytes_8bit and outcome.stored_bytes_8bit / 1024,
        "In 8 bits": outcome.accuracy_8bit,
        "Seconds": None if recipe.metric == "seconds" else outcome.seconds,
        "Tried": outcome.tried,
        "Settings": settings_in_words(chosen, outcome.model),
    }


VIEWS: dict[str, Callable[[Recipe, Result], None]] = {
    "table": dots,
    "sweep": sweeps,
    "times": times,
    "inside": inside,
    "search": searches,
}

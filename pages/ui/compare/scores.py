"""How good each model was, how long it took, and what it cost: the pictures of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from kcnet_core import figures
from kcnet_core.datasets.catalogue import is_image_set
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments.baselines import MIDPOINT_NOTE
from kcnet_core.experiments.comparison.plan import FSHN_SIZES, Comparison
from kcnet_core.experiments.comparison.rows import PlannedRows
from kcnet_core.experiments.evaluate import results_table, summary, trade_offs
from kcnet_core.experiments.metrics import METRICS, headline_metric
from kcnet_core.experiments.models import MODELS
from kcnet_core.experiments.protocols import PROTOCOLS
from kcnet_core.figures.compare import size_axis
from kcnet_core.jobs import Job
from pages.ui.compare.stored import stored
from pages.ui.shell import session_keys, visitor
from pages.ui.shell.chart import chart
from pages.ui.shell.escaping import data_table, escape_markdown
from pages.ui.shell.memo import memo
from pages.ui.shell.words import capital, seconds_format

TIMES_NOTE = (
    "Times are wall-clock seconds on this machine, one fit after another; other visitors' runs "
    "make all models slower alike."
)
SCALE_NOTE = (
    "An ELM's score depends much more on the scale of the pixels than a KCNet's: compare them with "
    "another one, too (Pixels, under More settings)."
)


@dataclass(frozen=True)
class Results:
    """The measured rows of the comparison that the controls show."""

    comparison: Comparison
    dataset: Dataset
    table: pd.DataFrame
    metric: str
    settled: bool  # whether no more rows are on their way

    @property
    def key(self) -> tuple:
        """Changes when a row, the metric or the plan does."""
        return (*self.table["id"], *self.table["variant"], self.metric, self.comparison)

    @property
    def lines(self) -> pd.DataFrame:
        by = ("variant", "model", "hidden")
        return memo("lines", self.key, lambda: summary(self.table, by=by))

    @property
    def points(self) -> pd.DataFrame:
        """Mean metric and mean seconds of every variant."""
        return memo("points", self.key, lambda: trade_offs(self.table, self.metric))

    def figure(self, slot: str, make: Callable):
        """A figure that is made anew only for new rows, another metric or another theme."""
        return memo(slot, (self.key, visitor.dark()), lambda: make(dark=visitor.dark()))

    @property
    def higher_wins(self) -> bool:
        return METRICS[self.metric].higher_is_better


def metric_of(dataset: Dataset) -> str:
    """The metric that the visitor looks at; by default the one for this kind of data."""
    usual = headline_metric(dataset)
    return st.session_state.get(session_keys.metric(usual)) or usual


def metric_picker(dataset: Dataset) -> None:
    st.segmented_control(
        "Metric",
        list(METRICS),
        default=headline_metric(dataset),
        required=True,
        format_func=capital,
        key=session_keys.metric(headline_metric(dataset)),
        persist_state="session",
        label_visibility="collapsed",
        help="  \n".join(f"**{name}**: {metric.explanation}" for name, metric in METRICS.items()),
    )


def about(found: Results) -> str:
    """What every score on the page is a score of."""
    table, comparison = found.table, found.comparison
    protocol = PROTOCOLS[table["protocol"].iloc[0]]
    repeats = table.groupby("variant")["repeat"].nunique()
    n = " to ".join(dict.fromkeys([str(repeats.min()), str(repeats.max())]))
    folds = f" × {comparison.n_folds} folds" if comparison.n_folds else ""
    target = f", {escape_markdown(comparison.target)}" if comparison.target else ""
    if protocol.name == "benchmark":
        interval = "over repeats on this one test part: how much the random choices matter"
    else:
        interval = "corrected for splits that share rows"
    plural = "s" if n != "1" else ""
    n_train, n_test = rows_in_words(table["n_train"]), rows_in_words(table["n_test"])
    return (
        f"{escape_markdown(found.dataset.title)}{target} · {protocol.title.lower()}, "
        f"{n_train} training and {n_test} test rows · "
        f"{n} repeat{plural}{folds}, seeds from {comparison.seed} · mean and 95% interval "
        f"({interval})."
    )


def rows_in_words(counts: pd.Series) -> str:
    """Whole molecules cannot be dealt out evenly, so splits may differ by a few rows."""
    return f"{'about ' * (counts.nunique() > 1)}{counts.mean():,.0f}"


def empty(text: str) -> None:
    with st.container(border=True):
        st.markdown(text)


def nothing_yet(comparison: Comparison) -> None:
    """An empty page that says what to do next, and what the names on the left stand for."""
    lines = [
        f"- **{name}**: {MODELS[name].title}" for name in comparison.models if MODELS[name].network
    ]
    baselines = [name for name in comparison.models if not MODELS[name].network]
    if baselines:
        lines.append(f"- **{', '.join(baselines)}**: the paper's baselines. {MIDPOINT_NOTE}")
    listed = "\n".join(lines)
    empty(
        "**Nothing has been compared yet.** Press **Start** (or the key **S**): every model learns "
        "from the same rows with the same seeds, and its score appears here as soon as it is "
        f"measured. Choose models, sizes and repeats on the left.\n\n{listed}"
    )


def with_rows(
    draw: Callable[[Results], None], planned: PlannedRows, seen: list[Mapping], job: Job | None
) -> None:
    """Draw what is made of measured rows, those `seen` and the job's, once there are any."""
    items = job.view.snapshot.items if job is not None and job.view.snapshot is not None else []
    rows = planned.known([*seen, *items])
    if not rows:
        nothing_yet(planned.comparison)
        return
    names = tuple((row["id"], row["variant"]) for row in rows)
    table = memo("table", names, lambda: results_table(rows))
    settled = job is None or job.view.finished
    draw(Results(planned.comparison, planned.dataset, table, metric_of(planned.dataset), settled))


# -- scores --------------------------------------------------------------------------------------


def scores(found: Results) -> None:
    comparison, metric, points = found.comparison, found.metric, found.points
    if points.empty:
        empty(f"None of these models gives a {metric}. Choose another metric.")
        return
    st.caption(about(found))
    left, right = st.columns(2)
    with left:
        chart(found.figure("hidden", partial(hidden_figure, found)), "compare_hidden")
    with right:
        make = partial(figures.metric_vs_time, points, metric)
        chart(found.figure("time", make), "compare_time")
    st.markdown(best_line(found, points))
    table = memo("variants", found.key, lambda: variants_table(found, points))
    data_table(
        table,
        key="compare_variants",
        hide_index=True,
        width="stretch",
        placeholder="—",
        alt=f"Mean {metric}, interval, seconds and parameters of every variant",
        column_config={
            capital(metric): st.column_config.NumberColumn(format="%.4f"),
            "Seconds": st.column_config.NumberColumn(format=seconds_format(table["Seconds"])),
            "Trained parameters": st.column_config.NumberColumn(format="localized"),
            "Best trade-off": st.column_config.CheckboxColumn(),
        },
    )
    st.caption(TIMES_NOTE)
    if is_image_set(comparison.dataset) and {"KCNet", "ELM"} <= set(comparison.models):
        st.caption(SCALE_NOTE)
        st.page_link(
            "pages/paper.py", label="Measured on three scales", icon=":material/psychology_alt:",
            query_params={"result": "pixel-scale"},
        )  # fmt: skip
    if found.higher_wins and found.settled:
        time_to_reach(found, points)


def hidden_figure(found: Results, dark: bool):
    figure = figures.metric_vs_hidden(found.lines, found.metric, dark=dark)
    # All planned sizes from the start, so that the axis stays while rows arrive.
    return figure.update_xaxes(size_axis(found.comparison.hidden))


def best_line(found: Results, points: pd.DataFrame) -> str:
    """The leader in one sentence; once all is measured, also who cannot be told apart from it."""
    known = points[points["mean"].notna()]
    best = known.loc[known["mean"].idxmax() if found.higher_wins else known["mean"].idxmin()]
    word = "Highest" if found.higher_wins else "Lowest"
    text = f"{word} mean {found.metric}: **{best['variant']}**, {interval(best)}."
    if not found.settled:
        return text
    if best["n"] < 2:
        return text + " One repeat cannot tell a difference from luck; add repeats."
    inside = known[
        (known["low"] <= best["high"]) & (known["high"] >= best["low"])
        & (known["variant"] != best["variant"])
    ]["variant"].tolist()  # fmt: skip
    if inside:
        listed = ", ".join(inside[:4]) + (" and others" if len(inside) > 4 else "")
        text += f" Its interval overlaps with that of {listed}: see Differences before calling it."
    return text


def interval(row) -> str:
    if np.isnan(row["low"]):
        return f"{row['mean']:.4f} (one value, no interval)"
    return f"{row['mean']:.4f} ({row['low']:.4f} to {row['high']:.4f}, {row['n']:.0f} values)"


def variants_table(found: Results, points: pd.DataFrame) -> pd.DataFrame:
    parameters = found.table.groupby("variant")["parameters"].mean()
    order = points.sort_values("mean", ascending=not found.higher_wins)
    return pd.DataFrame(
        {
            "Variant": order["variant"],
            capital(found.metric): order["mean"],
            "95% interval": [
                "—" if np.isnan(low) else f"{low:.4f} to {high:.4f}"
                for low, high in zip(order["low"], order["high"], strict=True)
            ],
            "Values": order["n"],
            "Seconds": order["seconds"],
            "Trained parameters": order["variant"].map(parameters),
            "Best trade-off": order["best"],
        }
    )


def time_to_reach(found: Results, points: pd.DataFrame) -> None:
    """The fastest variant of each model that is good enough: what speed claims come down to."""
    known = points[points["mean"].notna() & points["seconds"].notna()]
    best_of_each = sorted(known.groupby("model")["mean"].max())
    # The best that every model but the weakest reaches: there the comparison says most.
    default = float(np.floor(100 * best_of_each[min(1, len(best_of_each) - 1)]) / 100)
    st.header("How long does it take to get there?", anchor=False)
    key = session_keys.aim(found.comparison.dataset, found.metric)
    moved = st.session_state.setdefault(session_keys.AIMS_MOVED, set())
    if key not in moved:  # it follows the results until somebody chooses
        st.session_state[session_keys.aim(found.comparison.dataset, found.metric)] = default
    aim = st.slider(
        f"At least this mean {found.metric}", 0.0, 1.0, step=0.01, width=420, key=key,
        persist_state="session", on_change=moved.add, args=(key,),
    )  # fmt: skip
    enough = known[known["mean"] >= aim].sort_values("seconds", kind="stable")
    fastest = enough.groupby("model")[["variant", "seconds", "mean"]].first()
    fastest = fastest.reindex(known["model"].unique()).reset_index()
    fastest["variant"] = fastest["variant"].fillna("Not reached")
    fastest.columns = ["Model", "Fastest variant", "Seconds", capital(found.metric)]
    data_table(
        fastest.sort_values("Seconds", na_position="last", kind="stable"),
        key="compare_reach", hide_index=True, width="stretch",
        alt=f"Fastest variant of each model with a mean {found.metric} of at least {aim:.2f}",
        column_config={
            "Seconds": st.column_config.NumberColumn(format=seconds_format(known["seconds"])),
            capital(found.metric): st.column_config.NumberColumn(format="%.4f"),
        },
        placeholder="—",
    )  # fmt: skip
    st.caption("One fit each: configuration, training and evaluation together, on average.")


# -- cost ----------------------------------------------------------------------------------------


def costs(found: Results) -> None:
    comparison = found.comparison
    st.caption(about(found))
    chart(found.figure("split", partial(figures.time_split, found.lines)), "compare_split")
    st.caption(
        "**Configuration** makes the model and, for the random networks, draws the wiring; "
        "**training** is everything up to calibrated probabilities; **evaluation** predicts the "
        f"test rows. {TIMES_NOTE}"
    )
    if found.table["parameters"].notna().any():
        st.header("Trained parameters", anchor=False)
        make = partial(figures.parameters_bar, found.table)
        chart(found.figure("parameters", make), "compare_parameters")
        st.caption(
            "KCNet and ELM train their output weights only; DOA also trains a preference score "
            f"for every possible connection. FSHN has {FSHN_SIZES[comparison.fshn_size]}. Trees, "
            "neighbours and support vectors have no such number."
        )
    stored(found)

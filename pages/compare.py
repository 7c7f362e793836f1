"""Compare: KCNet beside ELM, growing live; and all models measured on the same rows."""

from __future__ import annotations

from functools import partial

import streamlit as st

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.comparison.rows import PlannedRows
from pages.ui.compare import (
    bar,
    controls,
    differences,
    downloads,
    inside,
    noise,
    scores,
    search,
    state,
    view,
)
from pages.ui.compare.beside import growing
from pages.ui.shell import address, visitor_data
from pages.ui.shell.frame import heading
from pages.ui.shell.memo import memo
from pages.ui.shell.watch import watch

# Tabs of measured rows; but for the last they are redrawn while rows arrive.
OF_ROWS = {
    "Scores": scores.scores,
    "Cost": scores.costs,
    "Differences": differences.differences,
    "Take home": downloads.take_home,
}
OTHERS = {"Noise": noise.noise, "Inside": inside.inside, "Tune": search.search}
TABS = ("Scores", "Cost", "Differences", "Noise", "Inside", "Tune", "Take home")
WITH_METRIC = ("Scores", "Differences", "Noise")


def main() -> None:
    ignored = address.adopt("compare", state.adopt_link)
    live = view.opened() == view.BESIDE
    comparison, wrong = controls.live_sidebar() if live else controls.sidebar()
    dataset = visitor_data.dataset(comparison)
    heading(
        "Compare models",
        "The same rows, splits and seeds for every model; intervals before verdicts.",
    )
    # Containers keep the places of what follows, so that charts are not drawn anew when a line
    # above them comes or goes.
    with st.container():
        address.warn(ignored)
    if live:
        growing.growing(comparison, dataset, wrong)
    else:
        measured_rows(comparison, dataset, wrong)


def measured_rows(comparison: Comparison, dataset: Dataset, wrong: str | None) -> None:
    """Any models with repeats, tests and costs."""
    view.picker()
    key = (comparison, id(dataset))
    planned = memo("planned", key, lambda: PlannedRows(comparison, dataset))
    job, drawn, seen = bar.bar(planned, wrong)
    for tab, name in zip(st.tabs(TABS, key="compare_tab", on_change="rerun"), TABS, strict=True):
        if not tab.open:
            continue
        with tab:
            if name in WITH_METRIC:
                scores.metric_picker(dataset)
            if name in OTHERS:
                OTHERS[name](planned)
                continue
            draw = partial(scores.with_rows, OF_ROWS[name], planned, seen, job)
            if name == TABS[-1]:
                draw()
            else:
                watch(job, drawn, draw, f"compare_{name}")
    address.write("compare", state.query_of(comparison) | state.job_query(comparison))


main()

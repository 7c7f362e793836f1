"""Compare: KCNet beside ELM, the fully trained net and the baselines, on the same rows."""

from __future__ import annotations

from functools import partial

import streamlit as st

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
)
from pages.ui.compare.scores import with_rows
from pages.ui.shell import address, visitor_data
from pages.ui.shell.frame import heading
from pages.ui.shell.watch import watch

# Tabs whose content is the measured rows are redrawn while these arrive.
LIVE = {
    "Scores": partial(with_rows, scores.scores),
    "Cost": partial(with_rows, scores.costs),
    "Differences": partial(with_rows, differences.differences),
}
STILL = {
    "Noise": noise.noise,
    "Inside": inside.inside,
    "Tune": search.search,
    "Take home": partial(with_rows, downloads.take_home),
}
WITH_METRIC = ("Scores", "Differences", "Noise")


def main() -> None:
    ignored = address.adopt("compare", state.adopt_link)
    comparison, wrong = controls.sidebar()
    dataset = visitor_data.dataset(comparison)
    heading(
        "Compare models",
        "The same rows, splits and seeds for every model; intervals before verdicts.",
    )
    # Containers keep the places of what follows, so that charts are not drawn anew when a line
    # above them comes or goes.
    with st.container():
        address.warn(ignored)
    planned = state.planned(comparison, dataset)
    job, drawn = bar.bar(planned, wrong)
    names = [*LIVE, *STILL]
    for tab, name in zip(st.tabs(names, key="compare_tab", on_change="rerun"), names, strict=True):
        if not tab.open:
            continue
        with tab:
            if name in WITH_METRIC:
                scores.metric_picker(dataset)
            if name in LIVE:
                watch(job, drawn, partial(LIVE[name], planned), f"compare_{name}")
            else:
                STILL[name](planned)
    address.write("compare", state.query_of(comparison) | state.job_query(comparison))


main()

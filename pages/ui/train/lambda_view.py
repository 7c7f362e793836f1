"""The lambda slider: one factorisation serves every lambda, so the result moves at once."""

from __future__ import annotations

import numpy as np
import streamlit as st

from kcnet_core import figures
from kcnet_core.experiments.lambda_path import LambdaPath
from kcnet_core.experiments.training import LAMBDA_PATH, TrainedRun
from pages.ui.shell import visitor
from pages.ui.shell.chart import chart
from pages.ui.shell.safety_net import fragment

QUICK_SIDE = 2_500  # a factorisation of this size takes a few seconds
FORGOTTEN = (
    "λ cannot be moved for this model: the sums over its training rows are not here. A model from "
    "a file never has them, and the server lets those of older runs go when newer ones need the "
    "memory. Everything else about the run is still here; Start trains it again, with them."
)


def explore_lambda(trained: TrainedRun) -> None:
    if not trained.has_sums:
        st.info(FORGOTTEN, icon=":material/inventory_2:")
        return
    side = min(trained.run.n_hidden, len(trained.train_rows))
    if LAMBDA_PATH not in trained.memo:
        if side > QUICK_SIDE and not st.button(
            f"Factorise the {side:,} × {side:,} matrix once (about {(side / 2500) ** 3 * 8:.0f} s)",
            key="factorise",
            help="After that, every λ is instant.",
        ):
            return
        with st.spinner("Factorising once, so that every λ is instant …"):
            trained.memo[LAMBDA_PATH] = LambdaPath(trained)
    slider(trained)


@fragment
def slider(trained: TrainedRun) -> None:
    path: LambdaPath | None = trained.memo.get(LAMBDA_PATH)
    if path is None:  # let go while the slider was on the page
        st.info(FORGOTTEN, icon=":material/inventory_2:")
        return
    exponents = np.round(np.log10(path.alphas), 6)
    start = float(np.log10(trained.model.alpha_))
    exponent = st.slider(
        "log₁₀ λ",
        float(exponents[0]),
        float(exponents[-1]),
        float(np.clip(start, exponents[0], exponents[-1])),
        0.05,
        key="lambda_exponent",
        help="Only the output weights change; the wiring stays as it was trained.",
    )
    alpha = 10.0**exponent
    at = path.at(alpha)
    with st.container(horizontal=True, gap="large"):
        st.metric("λ", f"{alpha:.3g}", width="content")
        name, value = trained.headline
        change = round(at.test_score - value, 4)
        st.metric(
            f"Test {name}",
            f"{at.test_score:.4f}",
            f"{change:+.4f}" if change else None,
            width="content",
        )
        st.metric(
            "Leave-one-out error",
            f"{at.loo_error:.4f}",
            width="content",
            help="Mean squared error of the outputs for training rows left out one by one.",
        )
        st.metric("Size of β (norm)", f"{at.coef_norm:.3g}", width="content")
    chart(
        figures.lambda_path(
            path.alphas, path.loo_error, path.test_scores, chosen=alpha,
            best=path.best_alpha, metric=name, dark=visitor.dark(),
        ),
        "lambda_path",
    )  # fmt: skip
    st.caption(
        f"Leave-one-out, which uses training rows only, would choose λ = {path.best_alpha:.3g}. "
        "The test curve is shown for understanding; choosing λ by it would be cheating."
    )

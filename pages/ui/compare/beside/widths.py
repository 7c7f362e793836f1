"""How good both networks are at every width, and how sure their difference is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments.beside.curves import Curves, curves, differences
from kcnet_core.experiments.beside.plan import LEVELS, Beside
from kcnet_core.experiments.beside.steps import Point, Scene
from kcnet_core.experiments.metrics import Interval, headline_metric
from kcnet_core.experiments.protocols import PROTOCOLS
from kcnet_core.figures.beside.growing import difference_curve, width_curve
from pages.ui.compare import view
from pages.ui.compare.differences import ENOUGH_SPLITS
from pages.ui.shell import visitor
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.memo import memo
from pages.ui.shell.words import signed

HEIGHTS = (220, 160)


def charts(plan: Beside, dataset: Dataset, points: Sequence[Point]) -> None:
    look, metric, dark = view.look(), headline_metric(dataset), visitor.dark()
    level = LEVELS.index(look.noise)
    width = width_looked_at(plan, look.width)
    drawn = width_curve(found(plan, points, level), metric, plan.widest, width, dark=dark)
    st.echarts_chart(drawn.option, key="beside_widths", height=HEIGHTS[0], alt=drawn.alt)
    here = differences(points, width, level)
    st.markdown(verdict(here, metric, width, look.noise))
    drawn = difference_curve(here, plan.seeds, metric, dark=dark)
    st.echarts_chart(drawn.option, key="beside_difference", height=HEIGHTS[1], alt=drawn.alt)


def width_looked_at(plan: Beside, wished: int) -> int:
    """The measured width nearest to what a control or a link asks for."""
    return min(plan.widths, key=lambda width: abs(np.log(width / wished)))


def found(plan: Beside, points: Sequence[Point], level: int) -> Curves:
    return memo("beside_curves", (plan, len(points), level), lambda: curves(points, level))


def verdict(here: Sequence[Interval], metric: str, width: int, noise: float) -> str:
    """The difference in one sentence, without calling what may be chance."""
    where = f"At {width:,} cells" + (f" with noise of {noise:g}" if noise else "")
    if not here:
        return f":gray[{where}: not there yet.]"
    last = here[-1]
    text = f"{where}: KCNet − ELM = **{signed(last.mean)}** {metric}"
    if last.n < 2:
        return f"{text}; one seed has no interval."
    text += f" ({signed(last.low)} to {signed(last.high)}, 95%, {last.n} seeds)"
    if last.low <= 0 <= last.high:
        return f"{text}: may be chance."
    better = "KCNet" if last.mean > 0 else "ELM"
    if last.n < ENOUGH_SPLITS:
        return f"{text}: **{better}** looks ahead; too few seeds to be sure."
    return f"{text}: **{better}** is ahead."


def exact_fit(n_train: int, widest: int) -> str:
    """Why an ELM's curve may fall and rise again, where the widths reach that far."""
    if n_train > widest:
        return ""
    return (
        f" With {n_train:,} cells, as many as training rows, ELM can fit every one of these "
        "exactly, whatever noise they hold; about there its curve may dip. KCNet's larger λ "
        "softens that."
    )


def about(dataset: Dataset, scene: Scene, points: Sequence[Point]) -> None:
    """What the numbers are numbers of."""
    first, protocol = points[0], PROTOCOLS[scene.split.protocol]
    kcnet, elm = scene.layers
    own = protocol.name == "benchmark"
    st.caption(
        f"{escape_markdown(dataset.title)} · {protocol.title.lower()} · "
        f"{first.n_train:,} training and {first.n_test:,} test rows, the same for both · "
        f"bands and interval: 95% "
        f"({'over seeds on this one test part' if own else 'corrected for splits that share rows'})"
        f". Each seed draws {max(kcnet.bytes):,} cells once; the first 10, 11, … of them are the "
        "narrower networks, all read out from one growing Cholesky factor. So the mean that "
        "inhibits KCNet's cells is here that **over all cells drawn**, at every width; a KCNet "
        "that is drawn narrow, as in the measured comparison, takes the mean of its own cells. "
        f"λ is {kcnet.alpha:g} for KCNet and {elm.alpha:.2g} for ELM (its pseudo-inverse), at "
        f"every width.{exact_fit(first.n_train, max(kcnet.bytes))}"
    )
    st.caption(
        "Bytes: KCNet's wiring as the numbers of its inputs, in as few bits as name them all; "
        "ELM's as 4 bytes a weight and bias; for both 4 bytes an output weight. Seconds: "
        "activities, products and solve for the training rows, up to this width. Noise: random "
        "numbers added to every input of the test rows, in standard deviations; both networks "
        "learn from clean rows."
    )

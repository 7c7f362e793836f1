"""Which differences between models are real: intervals and permutation tests in plain words."""

from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd
import streamlit as st

from kcnet_core import figures
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.evaluate import SIGNIFICANT, pairwise
from kcnet_core.limits import MAX_REPEATS
from kcnet_core.storage.safe_csv import harmless_table
from pages.ui.compare import state
from pages.ui.compare.scores import Results, about, empty
from pages.ui.shell import visitor
from pages.ui.shell.chart import chart
from pages.ui.shell.escaping import data_table
from pages.ui.shell.memo import memo
from pages.ui.shell.words import capital, signed

ALL = "all variants"
# With n splits the smallest p of a permutation test is 2 / 2^n.
ENOUGH_SPLITS = math.ceil(1 + math.log2(1 / SIGNIFICANT))
MOST_PAIRS_LISTED = 300


def differences(found: Results) -> None:
    comparison = found.comparison
    st.caption(about(found))
    which = size_picker(comparison)
    table = found.table
    if which != ALL:
        table = table[table["hidden"].isna() | (table["hidden"] == which)]
    # Remembered, because permutation tests take a moment.
    pairs = memo("pairs", (found.key, which), lambda: pairwise(table, found.metric))
    if pairs.empty:
        empty("**One variant alone differs from nothing.** Choose at least two models on the left.")
        return
    if pairs["n"].max() < 2:
        empty(
            "**One repeat cannot tell a difference from luck.** Raise the repeats on the left "
            f"(six or more are best) and press **Extend**; differences in {found.metric} then "
            "come with intervals."
        )
        more_repeats(comparison)
        return
    st.markdown(verdict(pairs, found))
    if pairs["n"].min() < ENOUGH_SPLITS:
        more_repeats(comparison)
    pair_table(pairs, found)
    left, right = st.columns([3, 2], gap="large")
    with left:
        chart(figures.pairwise_matrix(pairs, found.metric, dark=visitor.dark()), "compare_pairs")
        st.caption(
            "Row minus column. A difference has a colour when p, Holm is below "
            f"{SIGNIFICANT:g}; the others may be chance."
        )
    with right:
        st.markdown(explanation(found))


def pair_table(pairs: pd.DataFrame, found: Results) -> None:
    listed = pd.DataFrame(
        {
            "Difference": pairs["first"] + " − " + pairs["second"],
            "In words": [capital(in_words(pair)) for pair in pairs.itertuples()],
            "Mean": pairs["difference"],
            "95% interval": [
                "—" if math.isnan(pair.low) else f"{signed(pair.low)} to {signed(pair.high)}"
                for pair in pairs.itertuples()
            ],
            "p, permutation": pairs["p_permutation"],
            "p, Holm": pairs["p_holm"],
        }
    ).head(MOST_PAIRS_LISTED)
    three_digits = st.column_config.NumberColumn(format="%.3f")
    data_table(
        harmless_table(listed).style.format(
            {"Mean": signed}
        ),  # sorted as numbers, shown with a true minus
        key="compare_pair_table",
        hide_index=True,
        width="stretch",
        placeholder="—",
        alt=f"Differences in {found.metric} between all pairs, with intervals and p-values",
        column_config={
            "In words": st.column_config.TextColumn(width=290),
            "Mean": st.column_config.NumberColumn(width="small"),
            "p, permutation": three_digits,
            "p, Holm": three_digits,
        },
    )


def size_picker(comparison: Comparison) -> str | int:
    """Pairs at one hidden size answer one question; all variants at once answer too many."""
    if len(comparison.hidden) == 1:
        return comparison.hidden[0]
    options = [*comparison.hidden, ALL]
    return st.segmented_control(
        "Compare at hidden size",
        options,
        default=comparison.hidden[-1],
        required=True,
        format_func=lambda size: size if size == ALL else f"{size:,}",
        key=f"compare_pairs_at_{len(options)}_{comparison.hidden[-1]}",
        help="The more pairs are tested at once, the stronger the evidence that each needs. "
        "Deselect models on the left to look at fewer; their rows are kept.",
    )


def in_words(pair) -> str:
    if pair.n < 2:
        return "one value: no telling"
    if not pair.better:
        return "may be chance"
    if pair.p_permutation < SIGNIFICANT:
        return f"{pair.better} is better"
    if pair.n < ENOUGH_SPLITS:
        return f"{pair.better} looks better; too few repeats to be sure"
    return "may be chance: the permutation test disagrees"


def verdict(pairs: pd.DataFrame, found: Results) -> str:
    firm = pairs[(pairs["better"] != "") & (pairs["p_permutation"] < SIGNIFICANT)]
    likely = pairs[(pairs["better"] != "") & (pairs["n"] < ENOUGH_SPLITS)]
    n = len(pairs)
    count = f"of {n} pairs" if n > 1 else "pair"
    if len(firm):
        rest = n - len(firm)
        tail = f" The other {rest} may be chance." if rest else ""
        return (
            f"**{len(firm)} {count} differ{'s' * (len(firm) == 1)} in {found.metric} beyond "
            f"chance.**{tail}"
        )
    if len(likely):
        return (
            f"**{len(likely)} {count} look{'s' * (len(likely) == 1)} different**, judged by the "
            f"spread between repeats. With {pairs['n'].min()} repeats a permutation test cannot "
            f"go below p = {2 / 2 ** int(pairs['n'].min()):.2g}, so none of it is firm yet: "
            f"{ENOUGH_SPLITS} repeats can settle it."
        )
    return (
        f"**No difference in {found.metric} stands out from chance here.** That does not prove "
        "the models equal: more repeats would show smaller differences."
    )


def more_repeats(comparison: Comparison) -> None:
    if comparison.n_repeats < ENOUGH_SPLITS <= MAX_REPEATS and st.button(
        f"Set {ENOUGH_SPLITS} repeats", key="compare_more_repeats", icon=":material/add:",
        help="Then press Extend: what is measured is kept.",
    ):  # fmt: skip
        state.adopt(replace(comparison, n_repeats=ENOUGH_SPLITS))
        st.rerun()  # the whole page, not only the differences


def explanation(found: Results) -> str:
    own_part = (found.table["protocol"] == "benchmark").all()
    about_splits = (
        "All repeats use the benchmark's own test part, so the interval is about the models' "
        "random choices, not about other test rows."
        if own_part
        else "Splits share most of their rows, so the interval is widened for that (Nadeau & "
        "Bengio 2003)."
    )
    return (
        "**How to read this.** Each number is the first model's score minus the second's, on the "
        f"same splits with the same seeds. {about_splits}\n\n"
        "**p, permutation** flips the sign of each split's difference in every possible way and "
        "asks how often the mean is as far from zero as the one seen. **p, Holm** comes from the "
        "interval's t statistic and is raised for the number of pairs looked at together. A "
        f"difference is called real when both are below {SIGNIFICANT:g}; everything else may be "
        "chance, however large it looks."
    )

"""How intense and how pleasant a molecule is, with intervals, where people's ratings are here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import streamlit as st

from kcnet_core.errors import KCNetError
from kcnet_core.molecules.descriptor_table import DESCRIPTOR_NAMES
from kcnet_core.smell.answers import Answer
from kcnet_core.smell.parts import parts_of
from kcnet_core.smell.ratings import raters
from kcnet_core.smell.reasons import Reason, reasons_of
from pages.ui.shell.escaping import data_table, escape_markdown


@st.cache_resource(show_spinner="Learning from people's ratings …")
def taught() -> tuple[raters.Rater, ...]:
    """Once for all visitors."""
    return raters.raters()


def known() -> tuple[raters.Rater, ...]:
    """Whoever can rate; nobody where the ratings are not here, or damaged."""
    with suppress(KCNetError):
        return taught()
    return ()


def show(answer: Answer) -> None:
    if not raters.are_here():
        st.caption(raters.GET_IT)
        return
    try:
        every = taught()
    except KCNetError as error:
        st.caption(escape_markdown(error))
        return
    ((*ratings,),) = raters.rate_answers(every, [answer])
    with st.container(horizontal=True, gap="large", key="smell_ratings"):
        for one, rater in zip(ratings, every, strict=True):
            with st.container(gap=None, width="content"):
                st.metric(
                    f"{one.attribute}, 0 to 100", f"{one.value:.0f}", width="content",
                    help=f"What people would say on average, {raters.RATED[one.attribute]}. On "
                    f"molecules that were left out the correlation with what they said is "
                    f"{rater.r:.2f}.",
                )  # fmt: skip
                said = "" if one.rated is None else f"; people said {one.rated:.0f}"
                st.caption(f"{one.low:.0f} to {one.high:.0f}{said}")
    st.caption(
        f"Learned from {escape_markdown(raters.DATA_TITLE)}. In {raters.COVERAGE:.0%} of its "
        "molecules that were left out, people's mean lies in such an interval; a molecule they "
        "rated is answered as if it had not been met."
    )


def reasons(answer: Answer, bars: Callable[[Sequence[Reason], str, str], None]) -> None:
    """What pushed each rating up or down, drawn by `bars`."""
    every, values = known(), zip(DESCRIPTOR_NAMES, answer.descriptors, strict=True)
    absent = frozenset(name for name, value in values if value == 0)
    parts = parts_of(answer.smiles)
    for rater, column in zip(every, st.columns(max(1, len(every)), gap="medium"), strict=False):
        with column:
            shares = rater.shares(answer.descriptors)
            st.markdown(f"**{rater.attribute}**")
            bars(reasons_of(shares, absent, parts), shares.unit, f"smell_reasons_{rater.attribute}")
            st.caption(
                f"The shares of {len(shares.values):,} inputs and {shares.bias:.1f} to begin with "
                f"add up to {shares.total:.1f}, before it is kept between 0 and 100 and with this "
                "molecule among those taught if it is one. Exact."
            )


def challenge() -> None:
    """How good such ratings are on the molecules of the DREAM challenge, beside others."""
    from kcnet_core.smell.ratings.challenge import QUOTED, remembered_challenge, table

    found = remembered_challenge()
    if found is None:
        return
    with st.expander("Intensity and pleasantness, by the DREAM challenge", icon=":material/tune:"):
        data_table(
            table(found),
            hide_index=True,
            alt="Correlation of predicted and mean ratings on the challenge's test molecules",
        )
        inside = sum(found.coverage.values()) / len(found.coverage)
        st.caption(
            f"{escape_markdown(found.how[:1].upper() + found.how[1:])}. Intervals that should hold "
            f"{raters.COVERAGE:.0%} of the ratings held {inside:.1%} of them. Quoted are others' "
            f"figures. {escape_markdown(QUOTED)}."
        )

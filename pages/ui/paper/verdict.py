"""Where ours differs from the paper, and why, as far as an experiment has shown it."""

from __future__ import annotations

import streamlit as st

from kcnet_core.paper.differences import answer
from kcnet_core.paper.outcomes import AGREES, CLOSE, HIGHER, LOWER, Result, sentence
from kcnet_core.paper.recipe import Recipe
from kcnet_core.paper.recipes import RECIPES
from pages.ui.paper import state
from pages.ui.paper.words import title

MOST_LISTED = 8


def verdict(recipe: Recipe, result: Result) -> None:
    """Plain words under the chart."""
    compared = [outcome for outcome in result.outcomes if outcome.verdict]
    differ = [outcome for outcome in compared if outcome.verdict in (HIGHER, LOWER)]
    if recipe.plot_only:
        printed = any(outcome.paper for outcome in result.outcomes)
        st.markdown(
            "The paper gives only a plot here and prints no numbers"
            + (", except for the sizes that are in its tables (diamonds)." if printed else ".")
        )
    if compared:
        st.markdown(summary(compared, differ))
        listed = sorted(differ, key=lambda o: -abs(o.mean - o.paper))[:MOST_LISTED]
        if listed:
            st.markdown("\n".join(f"- **{title(o.key)}**: {sentence(o)}" for o in listed))
        if len(differ) > MOST_LISTED:
            st.caption(f"{len(differ) - MOST_LISTED} more are in the table.")
    elif not recipe.plot_only and any(outcome.paper for outcome in result.outcomes):
        reasons = dict.fromkeys(
            o.not_comparable or sentence(o) for o in result.outcomes if o.paper and o.mean
        )
        st.markdown(f"Nothing here can be compared with the paper yet: {'; '.join(reasons)}.")
    goals(result)
    answers(result)
    reasons_elsewhere(recipe, differ)


def summary(compared, differ) -> str:
    agree = sum(outcome.verdict == AGREES for outcome in compared)
    close = sum(outcome.verdict == CLOSE for outcome in compared)
    text = f"Of {len(compared)} figures that can be compared, {agree} of the paper's lie in our "
    text += "95% interval"
    if close:
        text += f", {close} beyond it but {reach(compared)}"
    below = sum(outcome.mean < outcome.paper for outcome in compared)
    sides = f"Ours is lower in {below} and higher in {len(compared) - below}."
    if not differ:
        return f"{text}. {sides}"
    return f"{text}, and {len(differ)} {'differ' if len(differ) > 1 else 'differs'}. {sides}"


def reach(compared) -> str:
    """How near a figure is that counts as close."""
    ways = []
    if any(outcome.paper_sd for outcome in compared):
        ways.append("within the paper's own standard deviation")
    if any(outcome.one_low is not None for outcome in compared):
        ways.append("where a single split may lie (the paper's figures are of one, ours are means)")
    return " or ".join(ways)


def goals(result: Result) -> None:
    wanted = [outcome for outcome in result.outcomes if outcome.goal_met is not None]
    missed = [outcome for outcome in wanted if not outcome.goal_met]
    if not wanted:
        return
    words = [
        f"{title(o.key)} is {o.mean:.4f} and should be "
        + (f"at least {o.goal[0]:g}" if o.goal[1] >= 1 else f"{o.goal[0]:g} to {o.goal[1]:g}")
        for o in missed
    ]
    st.markdown(
        f"This project's own goals: {len(wanted) - len(missed)} of {len(wanted)} are met"
        + (f". {'; '.join(words)}." if words else ".")
    )


def answers(result: Result) -> None:
    """The differences that this recipe measures."""
    if result.differences:
        st.markdown(
            "**Measured differences**, with 95% intervals. Whether one may be chance is judged for "
            "all of them together (Holm)."
            if len(result.differences) > 1
            else "**Measured difference**, with its 95% interval."
        )
        st.markdown("\n".join(f"- {d.question} **{answer(d)}**" for d in result.differences))


def reasons_elsewhere(recipe: Recipe, differ) -> None:
    """What other recipes have measured about the reasons."""
    if not recipe.see_also:
        return
    st.markdown("**Why?** What was measured about it:" if differ else "**Related questions**")
    for name in recipe.see_also:
        other = RECIPES[name]
        found = state.results(name)
        with st.container(border=True):
            st.markdown(f"**{other.title}** :gray[{other.question}]")
            if found and found[0].differences:
                kind = "Quick version: " if found[0].quick else ""
                clear = [d for d in found[0].differences if d.clear]
                shown = (clear or list(found[0].differences))[:4]
                st.markdown("\n".join(f"- {kind}{d.question} **{answer(d)}**" for d in shown))
                if not clear:
                    st.caption("None of its differences is clear; all may be chance.")
            elif not found:
                st.caption("Not measured yet.")
            st.button("Open", key=f"see_{recipe.name}_{name}", icon=":material/arrow_forward:",
                      on_click=state.choose, args=(name,))  # fmt: skip

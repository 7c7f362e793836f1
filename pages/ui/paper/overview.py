"""All results of the paper at a glance, and the box in which one is chosen."""

from __future__ import annotations

import streamlit as st

from kcnet_core.paper.outcomes import AGREES, CLOSE, HIGHER, LOWER, Result
from kcnet_core.paper.recipe import GROUPS, Recipe
from kcnet_core.paper.recipes import RECIPES, in_paper_order
from kcnet_core.smell.recipes import NOSE_RECIPES, NoseRecipe
from pages.ui.paper import nose, state
from pages.ui.shell import address, session_keys

ICONS = {
    "tables": ":material/table:",
    "figures": ":material/show_chart:",
    "questions": ":material/psychology_alt:",
}


def choice() -> Recipe | NoseRecipe | None:
    """The box with every table and figure; None for the overview."""
    asked, name = address.remembered(state.LINK), state.chosen()
    if asked != name:
        address.warn(["The link asks for a result that does not exist; here is what there is."])
    state.choose(name)
    st.session_state[session_keys.PAPER_CHOICE] = name
    st.selectbox(
        "Table, figure or question",
        [state.OVERVIEW, *(recipe.name for recipe in in_paper_order()), *NOSE_RECIPES],
        format_func=label,
        key=session_keys.PAPER_CHOICE,
        on_change=lambda: state.choose(st.session_state[session_keys.PAPER_CHOICE]),
    )
    return RECIPES.get(name) or NOSE_RECIPES.get(name)


def label(name: str) -> str:
    if not name:
        return "Overview of everything"
    if name in NOSE_RECIPES:
        return f"Question · {NOSE_RECIPES[name].title}"
    return f"{place(RECIPES[name])} · {RECIPES[name].title}"


def place(recipe: Recipe) -> str:
    return "Question" if recipe.group == "questions" else recipe.where


def overview() -> None:
    for group, title in GROUPS.items():
        st.header(title, anchor=False)
        with st.grid(min_column_width=270, border=True) as grid:
            for recipe in in_paper_order():
                if recipe.group == group:
                    with grid.cell():
                        card(recipe)
    nose.cards()


def card(recipe: Recipe) -> None:
    found = state.results(recipe.name)
    st.markdown(f"**{recipe.where}**  \n{recipe.title}")
    words = status(recipe, found[0] if found else None)
    st.caption(
        f"{words} A measurement was interrupted." if state.interrupted(recipe.name) else words
    )
    st.button(
        f"Open {recipe.where}" if recipe.group != "questions" else "Open the question",
        key=f"open_{recipe.name}",
        icon=ICONS[recipe.group],
        on_click=state.choose,
        args=(recipe.name,),
    )


def status(recipe: Recipe, result: Result | None) -> str:
    """What is known, in a few words."""
    if result is None:
        return "Not measured yet."
    rows = "" if result.complete else f" ({result.finished} of {result.planned} measurements)"
    kind = f"Quick version{rows}." if result.quick else f"Measured{rows}."
    if recipe.plot_only:
        return f"{kind} The paper shows a plot."
    if recipe.group == "questions" and result.differences:
        n, clear = len(result.differences), sum(d.clear for d in result.differences)
        return f"{kind} {clear} of {n} {'difference is' if n == 1 else 'differences are'} clear."
    if not any(line.paper for line in recipe.lines):
        return kind
    compared = [outcome for outcome in result.outcomes if outcome.verdict]
    if not compared:
        return f"{kind} Nothing to compare yet."
    return f"{kind} Of {len(compared)} figures {how_many(compared)}."


def how_many(compared) -> str:
    """'2 agree, 1 is close and 6 differ'."""
    verdicts = [outcome.verdict for outcome in compared]
    words = [
        f"{n} {one if n == 1 else many}"
        for n, one, many in (
            (verdicts.count(AGREES), "agrees", "agree"),
            (verdicts.count(CLOSE), "is close", "are close"),
            (verdicts.count(HIGHER) + verdicts.count(LOWER), "differs", "differ"),
        )
        if n
    ]
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))

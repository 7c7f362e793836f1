"""Search by smell: what is wished for, and the molecules that fit it, with their drawings."""

from __future__ import annotations

import math

import streamlit as st

from kcnet_core.errors import KCNetError
from kcnet_core.limits import MAX_MOLECULE_NAME_LENGTH
from kcnet_core.molecules.pictures import molecule_svgs
from kcnet_core.molecules.text import split_lines
from kcnet_core.smell.answers import Answer, smell
from kcnet_core.smell.applicability import RULE
from kcnet_core.smell.search import Hit, Wish, asked_candidates, known_candidates
from kcnet_core.smell.search import search as search_molecules
from kcnet_core.smell.volatility import COOLEST, HOTTEST
from kcnet_core.smell.volatility import RULE as BOILING_RULE
from pages.ui.shell import session_keys, visitor
from pages.ui.shell.escaping import escape_markdown
from pages.ui.smell import ask, models
from pages.ui.smell.models import STARTER, ChosenModel, choices

ASK, SEARCH = "ask", "search"
VIEWS = {ASK: "Ask about molecules", SEARCH: "Search by smell"}
KNOWN, MINE = "known", "mine"
LIGHTEST, HEAVIEST = 0, 500  # g/mol; the ends of a slider mean any
ELEMENTS = ("N", "O", "S", "Cl", "Br", "F", "P")
LONGEST = 80  # characters of a name
# How links call what widgets hold; texts as they are, lists separated by commas.
_LISTS = {
    "want": session_keys.SMELL_WANTED,
    "avoid": session_keys.SMELL_UNWANTED,
    "holding": session_keys.SMELL_HOLDING,
    "without": session_keys.SMELL_WITHOUT,
}
# Ranges, written "100-250", and the ends of their sliders.
_RANGES = {"mass": session_keys.SMELL_MASS, "boils": session_keys.SMELL_BOILS}
_ENDS = {"mass": (LIGHTEST, HEAVIEST), "boils": (COOLEST, HOTTEST)}
_OTHERS = (session_keys.SMELL_LIKE, session_keys.SMELL_VOLATILE, session_keys.SMELL_AMONG)


def keep() -> None:
    """Streamlit forgets what a widget held that is not drawn; the wish outlives a question."""
    for key in (*_LISTS.values(), *_RANGES.values(), *_OTHERS):
        if key in st.session_state:
            st.session_state[key] = st.session_state[key]


def chosen_view() -> str:
    if st.session_state.get(session_keys.SMELL_VIEW) not in VIEWS:
        st.session_state[session_keys.SMELL_VIEW] = ASK
    return st.segmented_control(
        "What to do", list(VIEWS), format_func=VIEWS.get, key=session_keys.SMELL_VIEW,
        required=True, label_visibility="collapsed",
    )  # fmt: skip


def adopt(query: dict[str, str]) -> None:
    """Take over the wish of a link."""
    if query.get("view") != SEARCH:
        if query:
            st.session_state[session_keys.SMELL_VIEW] = ASK
        return
    st.session_state[session_keys.SMELL_VIEW] = SEARCH
    for name, key in _LISTS.items():
        st.session_state[key] = [word for word in query.get(name, "").split(",") if word]
    st.session_state[session_keys.SMELL_LIKE] = query.get("like", "")[:MAX_MOLECULE_NAME_LENGTH]
    st.session_state[session_keys.SMELL_VOLATILE] = query.get("volatile") == "1"
    st.session_state[session_keys.SMELL_AMONG] = MINE if query.get("among") == MINE else KNOWN
    for name, key in _RANGES.items():
        st.session_state[key] = _read_range(query.get(name, ""), *_ENDS[name])


def _read_range(text: str, least: int, most: int) -> tuple[int, int]:
    ends = text.split("-")
    if len(ends) != 2 or not all(end.isascii() and end.isdigit() for end in ends):
        return least, most
    first, last = sorted(min(max(int(end[:9]), least), most) for end in ends)
    return first, last


def link_query(dilution: str | None) -> dict[str, str]:
    """The search as a link, a visitor's own list with it; none if that is too long."""
    query = {"view": SEARCH}
    if st.session_state.get(session_keys.SMELL_AMONG) == MINE and ask.n_lines() > 1:
        mine = ask.link_query(dilution)
        if not mine:
            return {}
        query |= mine | {"among": MINE}
    for name, key in _LISTS.items():
        if words := st.session_state.get(key):
            query[name] = ",".join(words)
    if like := (st.session_state.get(session_keys.SMELL_LIKE) or "").strip():
        query["like"] = like
    if st.session_state.get(session_keys.SMELL_VOLATILE):
        query["volatile"] = "1"
    for name, key in _RANGES.items():
        held = st.session_state.get(key)
        if held and tuple(held) != _ENDS[name]:
            query[name] = f"{held[0]}-{held[1]}"
    model = st.session_state.get(session_keys.SMELL_MODEL) or STARTER
    if model != STARTER and model in choices():
        query["model"] = model
    return query


def show(chosen: ChosenModel, dilution: str | None) -> None:
    models.who(chosen, dilution)
    wish, text = _wish(chosen)
    among = _among()
    try:
        like = _like(chosen, text, dilution)
        if among == MINE:
            answers = ask.answers(chosen.nose, dilution)
            if answers is None:
                return
            candidates = asked_candidates(chosen.nose, answers)
        else:
            candidates = known_candidates(chosen.nose)
        found = search_molecules(chosen.nose, wish, candidates, like)
    except KCNetError as error:
        st.info(escape_markdown(error), icon=":material/search:")
        return
    st.markdown(f"**{escape_markdown(found.sentence)}**")
    if found.given:
        st.caption(escape_markdown(found.given))
    _cards(found.hits)
    st.caption(
        "Percentages are the flies' probabilities, of known molecules as if never taught them. The "
        "fit of a predicted molecule is the mean of these (geometric); of a known one, what people "
        "say of it counts as the other half. “Not said” is not “proven absent”. "
        f"Boiling points: {BOILING_RULE}."
        + (" Likeness is half structure, half what the two smell of besides." if like else "")
    )


def _wish(chosen: ChosenModel) -> tuple[Wish, str]:
    """What the controls say: the wish, and the text of the molecule to be like."""
    nose = chosen.nose
    offered = [name for k, name in enumerate(nose.characters) if k in chosen.offered]
    for key, options in (
        (session_keys.SMELL_WANTED, offered), (session_keys.SMELL_UNWANTED, offered),
        (session_keys.SMELL_WITHOUT, ELEMENTS), (session_keys.SMELL_HOLDING, ELEMENTS),
    ):  # fmt: skip
        held = st.session_state.get(key) or []
        if any(one not in options for one in held):
            st.session_state[key] = [one for one in held if one in options]
    for name, key in _RANGES.items():
        st.session_state.setdefault(key, _ENDS[name])
    (left, right), (alike, made_of), (weighs, boils) = (st.columns(2, gap="medium") for _ in "abc")
    with left:
        wanted = st.multiselect("Shall smell of", offered, key=session_keys.SMELL_WANTED,
                                placeholder="any character")  # fmt: skip
    with alike:
        like = st.text_input("Like this molecule, but", key=session_keys.SMELL_LIKE,
                             max_chars=MAX_MOLECULE_NAME_LENGTH,
                             placeholder="a name, SMILES or CAS number; may stay empty",
                             help="With a molecule here, hits have more of what it shall smell of "
                             "and less of what it shall not.")  # fmt: skip
    with right:
        unwanted = st.multiselect("Shall not smell of", offered, key=session_keys.SMELL_UNWANTED,
                                  placeholder="any character")  # fmt: skip
    with made_of, st.container(horizontal=True, vertical_alignment="bottom"):
        holding = st.multiselect("With these elements", ELEMENTS, placeholder="any",
                                 key=session_keys.SMELL_HOLDING, width=170)  # fmt: skip
        without = st.multiselect("Without these", ELEMENTS, placeholder="any",
                                 key=session_keys.SMELL_WITHOUT, width=170)  # fmt: skip
    with weighs:
        light, heavy = _range("mass", "Molecular mass, g/mol", "as heavy as you like")
    with boils:
        cool, hot = _range("boils", "Boils at, °C", f"as high as you like. It is {BOILING_RULE}")
    volatile = st.toggle(
        "Only what a nose can smell", key=session_keys.SMELL_VOLATILE,
        help=f"Leaves out what our rule calls too heavy: {RULE}.",
    )  # fmt: skip
    return (
        Wish(tuple(wanted), tuple(unwanted), light, heavy, frozenset(without), frozenset(holding),
             volatile, cool, hot),
        like.strip(),
    )  # fmt: skip


def _range(name: str, label: str, most: str) -> tuple[float, float]:
    """A slider with two ends; at its own ends there is no limit."""
    ends = _ENDS[name]
    first, last = st.slider(label, *ends, step=5, key=_RANGES[name],
                            help=f"{ends[1]} means {most}.")  # fmt: skip
    return (
        float("-inf") if first <= ends[0] else float(first),
        float("inf") if last >= ends[1] else float(last),
    )


def _among() -> str:
    """Whose molecules are searched: known ones, or the visitor's own if there are several."""
    mine = ask.n_lines()
    if mine < 2:
        return KNOWN
    names = {KNOWN: "all known molecules", MINE: f"the {mine:,} that were asked about"}
    if st.session_state.get(session_keys.SMELL_AMONG) not in names:
        st.session_state[session_keys.SMELL_AMONG] = KNOWN
    return st.segmented_control("Among", list(names), format_func=names.get,
                                key=session_keys.SMELL_AMONG, required=True)  # fmt: skip


def _like(chosen: ChosenModel, text: str, dilution: str | None) -> Answer | None:
    if not text:
        return None
    answers = smell(chosen.nose, split_lines(text)[:1], dilution)
    for row in answers.errors:
        st.warning(escape_markdown(row.error or ""), icon=":material/question_mark:")
    return next(iter(answers.given), None)


def _cards(hits: tuple[Hit, ...]) -> None:
    pictures = molecule_svgs([hit.molecule.smiles for hit in hits], 190, 110, visitor.dark())
    with st.grid(min_column_width=170, border=True) as grid:
        for k, (hit, picture) in enumerate(zip(hits, pictures, strict=True)):
            with grid.cell(), st.container(gap="xsmall", key=f"smell_hit_{k}"):
                st.image(picture, alt=hit.name)
                st.text(hit.name[:LONGEST])
                like = f" · likeness {hit.likeness:.2f}" if hit.likeness is not None else ""
                boils = f" · boils at about {hit.boiling:.0f}\N{NO-BREAK SPACE}°C"
                mass = f"{hit.molecule.weight:.0f}\N{NO-BREAK SPACE}g/mol"
                st.caption(
                    f"fit {hit.fit:.2f}{like} · {mass}{boils if math.isfinite(hit.boiling) else ''}"
                )
                st.text(hit.reason.replace("; ", "\n"))
                if hit.smells_of:
                    said = "people say" if hit.known else "predicted"
                    st.caption(escape_markdown(f"{said}: {' · '.join(hit.smells_of)}"))
                st.button("Smell it", key=f"smell_hit_ask_{k}", icon=":material/air:",
                          type="tertiary", on_click=_ask,
                          args=(f"{hit.molecule.smiles} {hit.name}",))  # fmt: skip


def _ask(text: str) -> None:
    ask.put(text)
    st.session_state[session_keys.SMELL_VIEW] = ASK

"""What is asked on the Smell page: the text box, examples, a CSV, a link; and the answers to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import streamlit as st

from kcnet_core.errors import KCNetError
from kcnet_core.limits import MAX_CSV_ROWS, MAX_PASTED_CHARACTERS
from kcnet_core.molecules.read import Row, frame_lines
from kcnet_core.molecules.text import Line, costly, split_lines, too_long_sentence, with_lines
from kcnet_core.smell.answers import Answer, Answers, smell, smell_steps
from kcnet_core.smell.names.known_names import KnownNames
from kcnet_core.smell.names.spelling import normal
from kcnet_core.smell.nose import Nose
from kcnet_core.smell.table import frame_of, molecule_and_name_columns
from pages.ui.shell import address, session_keys
from pages.ui.shell.component import component
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.session_keys import SMELL_TABLE as TABLE
from pages.ui.shell.session_keys import SMELL_TEXT as TEXT
from pages.ui.shell.session_keys import SMELL_VERSION as VERSION
from pages.ui.smell.models import STARTER, choices
from pages.ui.smell.queued import from_queue

EXAMPLES = {
    "vanillin": "COc1cc(C=O)ccc1O",
    "muscone": "C[C@@H]1CCCCCCCCCCCCC(=O)C1",
    "limonene": "CC1=CC[C@@H](CC1)C(=C)C",
    "cinnamaldehyde": "O=C/C=C/c1ccccc1",
    "geosmin": "C[C@H]1CCC[C@@]2([C@@]1(CCCC2)O)C",
    "skatole": "Cc1c[nH]c2ccccc12",
    "ethyl butyrate": "CCCC(=O)OCC",
    "menthol": "C[C@@H]1CC[C@H]([C@@H](C1)O)C(C)C",
    "methyl salicylate": "COC(=O)c1ccccc1O",
    "ambroxide": "C[C@]12CCCC([C@@H]1CC[C@@]3([C@@H]2CCO3)C)(C)C",
    "β-damascenone": "C/C=C/C(=O)C1=C(C)C=CCC1(C)C",
    "furaneol": "CC1OC(C)=C(O)C1=O",
}
SEVERAL = "several at once"
LONGEST_LINK = 1_500  # characters of text in a link

_box = component(__file__, "kcnet_smell_box")


def adopt_link(search: Callable[[dict[str, str]], None]) -> None:
    """Take over what a link asks for; the first visit asks for an example."""
    query = address.opened("smell")
    search(query)
    if "smiles" in query:
        put(query["smiles"][:LONGEST_LINK])
    if query.get("model") in choices():
        st.session_state[session_keys.SMELL_MODEL] = query["model"]
    if "dilution" in query:
        st.session_state[session_keys.SMELL_DILUTION] = query["dilution"]
    if TEXT not in st.session_state:
        _take_example("vanillin")


def link_query(dilution: str | None) -> dict[str, str]:
    """The question as a link; longer ones have none."""
    text = st.session_state.get(TEXT, "")
    model = st.session_state.get(session_keys.SMELL_MODEL, STARTER)
    if not text.strip() or len(text) > LONGEST_LINK or TABLE in st.session_state:
        return {}
    query = {"smiles": text}
    if model != STARTER:
        query["model"] = model
    if dilution:
        query["dilution"] = dilution
    return query


def share(query: dict[str, str]) -> None:
    with st.popover("Share", icon=":material/link:", disabled=not query, key="smell_share",
                    help="" if query else "Only short questions fit into a link."):  # fmt: skip
        st.markdown("**The same question**, for the same model.")
        st.code(address.link(query), language=None, wrap_lines=True)


def put(text: str) -> None:
    """Replace what stands in the box, or the table in its place."""
    st.session_state[TEXT] = text
    st.session_state[VERSION] = st.session_state.get(VERSION, 0) + 1
    st.session_state[session_keys.SMELL_TOO_LONG] = 0
    st.session_state.pop(TABLE, None)
    st.session_state.pop(session_keys.SMELL_BEFORE, None)


def take(meant: Mapping[int, str]) -> None:
    """Put molecules (SMILES, by the number of their line) where something else was typed."""
    if TABLE not in st.session_state:
        put(with_lines(st.session_state.get(TEXT, ""), meant))
        return
    title, lines = st.session_state[TABLE]
    lines = [line._replace(text=new, smiles=new) if (new := meant.get(line.number)) else line
             for line in lines]  # fmt: skip
    st.session_state[TABLE] = (title, lines)


def change(answer: Answer, smiles: str) -> None:
    """Put another molecule in the place of one, which is remembered as what was before."""
    take({answer.row.number: smiles})
    st.session_state[session_keys.SMELL_BEFORE] = (answer.smiles, answer.name)


def take_suggestions(rows: Iterable[Row]) -> None:
    take({row.number: row.suggestion for row in rows if row.suggestion})


def _take_example(name: str) -> None:
    chosen = EXAMPLES if name == SEVERAL else {name: EXAMPLES[name]}
    put("\n".join(f"{smiles} {known}" for known, smiles in chosen.items()))


def show() -> None:
    """The text box with examples to click, or the table that has taken its place."""
    if TABLE in st.session_state:
        _table()
        return
    _box(
        key=session_keys.SMELL_BOX,
        data={
            "text": st.session_state.get(TEXT, ""),
            "version": st.session_state.setdefault(VERSION, 0),
            "longest": MAX_PASTED_CHARACTERS,
            "examples": [*EXAMPLES, SEVERAL],
            "lit": _lit(),
        },
        default={"typed": None},
        on_typed_change=_typed,
        on_example_change=_example,
        height="content",
    )
    if too_long := st.session_state.get(session_keys.SMELL_TOO_LONG):
        st.error(escape_markdown(too_long_sentence(too_long)), icon=":material/error:")


def _typed() -> None:
    """What came from the browser; stale news from before we replaced the text do not count.

    More than the box takes is refused, and the old text stays.
    """
    typed = (st.session_state.get(session_keys.SMELL_BOX) or {}).get("typed")
    if not isinstance(typed, dict) or typed.get("version") != st.session_state.get(VERSION):
        return
    length, new = typed.get("length"), typed.get("text")
    too_long = isinstance(length, int) and length > MAX_PASTED_CHARACTERS
    st.session_state[session_keys.SMELL_TOO_LONG] = length if too_long else 0
    if isinstance(new, str) and len(new) <= MAX_PASTED_CHARACTERS:
        st.session_state[TEXT] = new
        st.session_state.pop(session_keys.SMELL_BEFORE, None)


def _example() -> None:
    name = (st.session_state.get(session_keys.SMELL_BOX) or {}).get("example")
    if name in (*EXAMPLES, SEVERAL):
        _take_example(name)


def _lit() -> str | None:
    """The example that stands in the box."""
    here = normal(st.session_state.get(TEXT, ""))
    return next((name for name in EXAMPLES if here == normal(f"{EXAMPLES[name]} {name}")), None)


def upload(names: KnownNames) -> None:
    """A CSV whose molecules take the place of the box."""
    with st.popover("Upload", icon=":material/upload_file:", key=session_keys.SMELL_UPLOAD,
                    on_change="rerun"):  # fmt: skip
        st.caption(
            f"A column of SMILES, names or CAS numbers, perhaps one more of names; up to "
            f"{MAX_CSV_ROWS:,} rows."
        )
        file = st.file_uploader("Table of molecules", type=["csv", "tsv", "txt", "smi"],
                                key="smell_csv", label_visibility="collapsed")  # fmt: skip
        if file is None:
            return
        try:
            frame = frame_of(file.getvalue())
        except KCNetError as error:
            st.error(escape_markdown(error), icon=":material/error:")
            return
        titles = list(frame.columns)
        molecule, name = molecule_and_name_columns(frame, names)
        column = st.selectbox("SMILES, or names", titles, titles.index(molecule),
                              key="smell_csv_smiles")  # fmt: skip
        others = ["(none)", *(title for title in titles if title != column)]
        named = st.selectbox("Name", others, others.index(name) if name in others else 0,
                             key="smell_csv_name")  # fmt: skip
        lines = frame_lines(frame, column, None if named == "(none)" else named)
        st.button(f"Smell {len(frame):,} molecules", type="primary", icon=":material/air:",
                  key="smell_csv_go", on_click=_take_table, args=(file.name, lines))  # fmt: skip


def _take_table(title: str, lines: list[Line]) -> None:
    st.session_state[TABLE] = (title, lines)
    st.session_state[session_keys.SMELL_UPLOAD] = False  # else it lies over the answers


def _table() -> None:
    """What is shown in place of the box while a table is being answered."""
    name, lines = st.session_state[TABLE]
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.text(f"{name}: {len(lines):,} rows")
        st.button("Back to the text box", icon=":material/close:", key="smell_table_close",
                  on_click=lambda: st.session_state.pop(TABLE, None))  # fmt: skip


def n_lines() -> int:
    """How many molecules are asked about."""
    if TABLE in st.session_state:
        return len(st.session_state[TABLE][1])
    return len(split_lines(st.session_state.get(TEXT, "")))


def answers(nose: Nose, dilution: str | None) -> Answers | None:
    """What the nose says to the box or the table; None while it cannot say anything yet."""
    if TABLE in st.session_state:
        lines = st.session_state[TABLE][1]
    elif (text := st.session_state.get(TEXT, "")).strip():
        lines = split_lines(text)
    else:
        st.info("Nothing is asked yet. Paste a SMILES, type a name, draw, or click an example.")
        return None
    asked = (nose, lines, dilution)
    question, found = st.session_state.get(session_keys.SMELL_ANSWERS, (None, None))
    if question != asked:
        found = from_queue(
            "smell", asked, lambda: smell_steps(*asked), nose, len(lines),
            f"Smell {len(lines):,} molecules", on_cluster=(lines, dilution),
        ) if costly(lines) else smell(*asked)  # fmt: skip
        if found is not None:
            st.session_state[session_keys.SMELL_ANSWERS] = (asked, found)
    return found

"""What is asked on the Smell page: the text box, examples, a CSV, a link; and the answers to it."""

from __future__ import annotations

import hashlib
from urllib.parse import urlencode

import streamlit as st

from kcnet_core.errors import KCNetError
from kcnet_core.jobs import Estimate
from kcnet_core.jobs.from_callbacks import callback_steps
from kcnet_core.limits import MAX_CSV_ROWS
from kcnet_core.smell.answers import Answers, smell
from kcnet_core.smell.cost import answers_cost
from kcnet_core.smell.question import (
    NO_NAMES,
    frame_of,
    normal,
    read_molecules,
    read_table_molecules,
    smiles_and_name_columns,
)
from pages.ui.shell import address, visitor, visitor_jobs
from pages.ui.shell.escaping import plain
from pages.ui.shell.job_progress import job_progress
from pages.ui.smell import box
from pages.ui.smell.models import CHOICE, STARTER, Answering, choices

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
AT_ONCE = 40  # lines answered in the page itself; more become a job with a progress bar
LONGEST_LINK = 1_500  # characters of text in a link
CHECK_SHARE = 0.15  # of the time that checking takes beside describing
TABLE = "smell_table"  # an uploaded table takes the place of the text box


def adopt_link() -> None:
    """Take over what a link asks for; the first visit asks for an example."""
    query = address.opened("smell")
    if "smiles" in query:
        box.put(query["smiles"][:LONGEST_LINK])
        st.session_state.pop(TABLE, None)
    if query.get("model") in choices():
        st.session_state[CHOICE] = query["model"]
    if "dilution" in query:
        st.session_state["smell_dilution_wanted"] = query["dilution"]
    if box.TEXT not in st.session_state:
        take_example("vanillin")


def write_link(dilution: str | None) -> None:
    address.write("smell", link_query(dilution))


def link_query(dilution: str | None) -> dict[str, str]:
    """The question as a link; longer ones have none."""
    text, model = box.text(), st.session_state.get(CHOICE, STARTER)
    if not text.strip() or len(text) > LONGEST_LINK or TABLE in st.session_state:
        return {}
    query = {"smiles": text}
    if model != STARTER:
        query["model"] = model
    if dilution:
        query["dilution"] = dilution
    return query


def share(dilution: str | None) -> None:
    query = link_query(dilution)
    with st.popover("Share", icon=":material/link:", disabled=not query,
                    help="" if query else "Only short questions fit into a link."):  # fmt: skip
        base = (st.context.url or "").split("?")[0]
        st.markdown("**The same question**, for the same model.")
        st.code(f"{base}?{urlencode(query)}", language=None, wrap_lines=True)


def take_example(name: str) -> None:
    if name == SEVERAL:
        box.put("\n".join(f"{smiles} {known}" for known, smiles in EXAMPLES.items()))
    else:
        box.put(f"{EXAMPLES[name]} {name}")
    st.session_state.pop(TABLE, None)


def chips() -> None:
    """Examples to click; the one that stands in the box is lit."""
    names = [*EXAMPLES, SEVERAL]
    here = normal(box.text())
    lit = next((n for n in EXAMPLES if here == normal(f"{EXAMPLES[n]} {n}")), None)
    if st.session_state.get("smell_example") not in (lit, SEVERAL):
        st.session_state["smell_example"] = lit

    def taken():
        name = st.session_state["smell_example"]
        if name in names:
            take_example(name)
        if name == SEVERAL:
            st.session_state["smell_example"] = None

    st.pills("Examples", names, key="smell_example", on_change=taken, label_visibility="collapsed")


def upload() -> None:
    """A CSV whose molecules take the place of the box."""
    with st.popover("Upload", icon=":material/upload_file:"):
        st.caption(
            f"A column of SMILES (or known names), perhaps one of names; up to {MAX_CSV_ROWS:,} "
            "rows."
        )
        file = st.file_uploader("Table of molecules", type=["csv", "tsv", "txt", "smi"],
                                key="smell_csv", label_visibility="collapsed")  # fmt: skip
        if file is None:
            return
        try:
            frame = frame_of(file.getvalue())
        except KCNetError as error:
            st.error(plain(error), icon=":material/error:")
            return
        titles = list(frame.columns)
        smiles, name = smiles_and_name_columns(titles)
        column = st.selectbox("SMILES", titles, titles.index(smiles) if smiles else 0,
                              key="smell_csv_smiles")  # fmt: skip
        others = ["(none)", *(title for title in titles if title != column)]
        named = st.selectbox("Name", others, others.index(name) if name in others else 0,
                             key="smell_csv_name")  # fmt: skip
        if st.button(f"Smell {len(frame):,} molecules", type="primary", icon=":material/air:",
                     key="smell_csv_go"):  # fmt: skip
            st.session_state[TABLE] = (
                file.name, frame, column, None if named == "(none)" else named,
            )  # fmt: skip
            st.rerun()


def asked_table() -> None:
    """What is shown in place of the box while a table is being answered."""
    name, frame, *_ = st.session_state[TABLE]
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.text(f"{name}: {len(frame):,} rows")
        st.button("Back to the text box", icon=":material/close:", key="smell_table_close",
                  on_click=lambda: st.session_state.pop(TABLE, None))  # fmt: skip


def answers(answering: Answering, text: str, dilution: str | None) -> Answers | None:
    """The answers, or None while there are none yet: nothing is asked, or a job is on its way."""
    nose = answering.nose
    names = nose.known.spoken if nose.known else NO_NAMES
    if TABLE in st.session_state:
        _, frame, column, named = st.session_state[TABLE]
        n_rows, key = len(frame), f"table {id(frame)} {column} {named}"

        def read(**report):
            return read_table_molecules(frame, column, named, names, **report)
    else:
        n_rows, key = text.count("\n") + 1, hashlib.sha256(text.encode()).hexdigest()
        if not text.strip():
            return None

        def read(**report):
            return read_molecules(text, names, **report)

    key = f"{key} {answering.key} {dilution}"
    kept = st.session_state.get("smell_answers")
    if kept is not None and kept[0] == key:
        return kept[1]
    if n_rows <= AT_ONCE:
        found = smell(nose, read(), dilution=dilution)
    else:
        found = _from_job(
            key, n_rows, lambda **report: _work(nose, read, dilution, **report),
            answers_cost(nose, n_rows),
        )  # fmt: skip
    if found is not None:
        st.session_state["smell_answers"] = (key, found)
    return found


def _work(nose, read, dilution, progress, should_stop) -> Answers:
    """Check, then describe and answer; both count the same molecules, so progress is shared out."""

    def part(start, share):
        def report(done, total):
            if total:
                progress(int(total * (start + share * done / total)), total)

        return {"progress": report, "should_stop": should_stop}

    rows = read(**part(0.0, CHECK_SHARE))
    return smell(nose, rows, dilution=dilution, **part(CHECK_SHARE, 1 - CHECK_SHARE))


def _from_job(key: str, n_rows: int, work, cost: Estimate) -> Answers | None:
    asked, job_id = st.session_state.get("smell_job", ("", ""))
    job = visitor_jobs.jobs().get(job_id) if asked == key else None

    def start():
        try:
            new = visitor_jobs.jobs().submit(
                visitor.owner(), "smell", {"molecules": n_rows}, lambda: callback_steps(work),
                estimate=cost, title=f"Smell {n_rows:,} molecules",
            )  # fmt: skip
        except KCNetError as refused:
            st.error(plain(refused), icon=":material/error:")
            return None
        st.session_state["smell_job"] = (key, new.id)
        return new

    if job is None:
        old = visitor_jobs.jobs().get(job_id)
        if old is not None and old.owned_by(visitor.owner()):
            old.control(visitor.owner(), "stop")  # nobody waits for the answer to another question
        job = start()
    if job is None:
        return None
    if job.view.state == "done":
        return job.result
    job_progress(job, "smell", unit="molecules", again=start)
    return None

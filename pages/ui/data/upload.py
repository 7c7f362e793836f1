"""Your own data: a table of molecules, a zip of images, or an .npz file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, replace
from weakref import ref

import streamlit as st

from kcnet_core.contracts import Counted, Steps
from kcnet_core.datasets.dataset import Dataset, RowError, left_out
from kcnet_core.datasets.uploads.cells import ENCODINGS, SEPARATORS
from kcnet_core.datasets.uploads.columns import (
    LABEL_KINDS,
    LIST_SEPARATORS,
    TableGuess,
    guess_table,
)
from kcnet_core.datasets.uploads.images import images_bytes, images_steps
from kcnet_core.datasets.uploads.quota import UploadBytes
from kcnet_core.datasets.uploads.table import check_columns, table_bytes, table_steps
from kcnet_core.errors import KCNetError, OutOfMemory
from kcnet_core.experiments.run import Run
from kcnet_core.jobs import Estimate
from kcnet_core.jobs.memory import gigabytes
from kcnet_core.limits import MAX_CSV_ROWS, MAX_IMAGES, MAX_UPLOAD_BYTES, MEGABYTE
from kcnet_core.storage.safe_csv import harmless
from pages.ui.shell import current_run, session_keys, visitor, visitor_data, visitor_jobs
from pages.ui.shell.escaping import data_table, escape_markdown
from pages.ui.shell.job_progress import job_progress
from pages.ui.shell.memo import memo

NONE = "(none)"
RECOGNISE = "recognise it"
TITLES = {"table": "Read an uploaded table", "images": "Read uploaded images"}
SMALLER = {
    "table": "Bring fewer rows or columns",
    "images": "Choose a smaller size in pixels, bring fewer images",
}
HEADERS = {True: "the first row holds titles", False: "the first row is data"}


def upload() -> None:
    kind = st.segmented_control(
        "What do you have?",
        ["molecules", "images"],
        default="molecules",
        required=True,
        key="upload_kind",
    )
    if kind == "molecules":
        table()
    else:
        images()


def table() -> None:
    st.caption(
        f"A CSV with a SMILES column and one or more label columns, up to {MAX_CSV_ROWS:,} rows "
        f"and {MAX_UPLOAD_BYTES // MEGABYTE} MB. Separator, encoding and columns are recognised; "
        "correct them below."
    )
    file = st.file_uploader("Table", type=["csv", "tsv", "txt"], key="table_file")
    if file is None:
        return
    content = file.getvalue()
    reading = chosen_reading(file.file_id)
    guess, trouble = guessed(content, reading)
    if trouble:
        st.error(escape_markdown(trouble), icon=":material/error:")
        return
    st.caption(
        f"Read with the separator {SEPARATORS[guess.separator]} and the encoding {guess.encoding}; "
        f"{HEADERS[guess.has_header]}."
    )
    guess = corrected(guess, "_".join(map(str, reading)))
    text_table(dict(zip(guess.columns, zip(*guess.preview, strict=True), strict=True)))
    for note in guess.notes:
        st.caption(escape_markdown(note))
    lacking = what_is_lacking(guess)
    go = st.button("Compute descriptors and use this table", type="primary", key="table_go",
                   disabled=bool(lacking), icon=":material/science:")  # fmt: skip
    if lacking:
        st.caption(f":material/arrow_upward: {escape_markdown(lacking)}")
    if go:
        submit(
            "table",
            lambda: table_steps(content, guess, title=file.name),
            lambda: table_bytes(content, guess),
        )
    follow()


def chosen_reading(file_id: str) -> tuple:
    """The file, and what a person says about its form; None is found out."""
    separator, encoding, header = st.columns(3)
    return (
        file_id,
        separator.selectbox("Separator", [None, *SEPARATORS], key=f"up_cut_{file_id}",
                            format_func=lambda s: SEPARATORS.get(s, RECOGNISE)),
        encoding.selectbox("Encoding", [None, *ENCODINGS], key=f"up_encoding_{file_id}",
                           format_func=lambda e: e or RECOGNISE),
        header.selectbox("First row", [None, *HEADERS], key=f"up_header_{file_id}",
                         format_func=lambda h: HEADERS.get(h, RECOGNISE)),
    )  # fmt: skip


def guessed(content: bytes, reading: tuple):
    """How a table may be read, or why it cannot; found out once, not at every rerun."""

    def guess():
        _, separator, encoding, has_header = reading
        form = {"separator": separator, "encoding": encoding, "has_header": has_header}
        try:
            return guess_table(content, **form), ""
        except KCNetError as error:
            return None, str(error)

    return memo("table_guess", reading, guess)


def what_is_lacking(guess: TableGuess) -> str:
    """Why a table cannot be read with these columns yet; empty when it can."""
    try:
        check_columns(guess)
    except KCNetError as error:
        return str(error)
    return ""


def corrected(guess: TableGuess, reading: str) -> TableGuess:
    """The guess as widgets, so that a person can mend it; read in another way it starts anew."""
    optional = [NONE, *guess.columns]

    def column(place, label, value):
        index = optional.index(value) if value in optional else 0
        choice = place.selectbox(label, optional, index, key=f"up_{label}_{reading}")
        return None if choice == NONE else choice

    smiles, name, dilution = st.columns(3)
    columns = {
        "smiles_column": column(smiles, "SMILES", guess.smiles_column),
        "name_column": column(name, "Name", guess.name_column),
        "dilution_column": column(dilution, "Dilution", guess.dilution_column),
    }
    labels, how, separator = st.columns(3)
    label_columns = labels.multiselect(
        "Labels", guess.columns, list(guess.label_columns), key=f"up_labels_{reading}"
    )
    kinds = list(LABEL_KINDS)
    label_kind = how.selectbox(
        "The labels are", kinds, kinds.index(guess.label_kind), format_func=LABEL_KINDS.get,
        key=f"up_kind_{reading}",
    )  # fmt: skip
    list_separator = guess.list_separator
    if label_kind == "list":
        options = list(dict.fromkeys([guess.list_separator, *LIST_SEPARATORS]))
        list_separator = separator.selectbox("separated by", options, key=f"up_separator_{reading}")
    return replace(
        guess,
        **columns,
        label_columns=tuple(label_columns),
        label_kind=label_kind,
        list_separator=list_separator,
    )


def text_table(columns: dict) -> None:
    """Somebody's text as a table, which can be downloaded from its corner and opened elsewhere."""
    safe = {}
    for title, cells in columns.items():
        title = harmless(title)
        while title in safe:
            title += " "  # made harmless, it is the same as another; both have to be seen
        safe[title] = [harmless(cell) for cell in cells]
    data_table(safe, hide_index=True)


def images() -> None:
    st.caption(
        "A zip with one folder of images per class, or an .npz with arrays X and y; up to "
        f"{MAX_IMAGES:,} images and {MAX_UPLOAD_BYTES // MEGABYTE} MB. Images become grey and are "
        "brought to one size."
    )
    file = st.file_uploader("Images", type=["zip", "npz"], key="image_file")
    if file is None:
        return
    content = file.getvalue()
    side, invert = st.columns(2)
    size = side.select_slider(
        "Size in pixels", [8, 16, 20, 28, 32, 48, 64], 28, key="up_size",
        help="Every image is brought to this height and width.",
    )  # fmt: skip
    inverted = invert.toggle(
        "Invert", key="up_invert", help="For dark ink on white paper: MNIST is light on dark."
    )
    options = {"title": file.name, "size": (size, size), "invert": inverted}
    if st.button("Read these images", type="primary", icon=":material/image:", key="images_go"):
        submit(
            "images",
            lambda: images_steps(content, **options),
            lambda: images_bytes(content, options["size"]),
        )
    follow()


def submit(
    what: str,
    steps: Callable[[], Steps[Counted, tuple[Dataset, tuple[RowError, ...]]]],
    n_bytes: Callable[[], UploadBytes],
) -> None:
    """Queue the reading of a file; `n_bytes()` is the memory that it will need.

    Log and journal learn only what kind of file it is: what it is called is its owner's.
    """
    uploads, old = visitor_data.uploads(), visitor_data.uploaded()
    instead_of = None if old is None else ref(old)

    def read():
        dataset, errors = yield from steps()
        uploads.add(dataset, instead_of)
        return dataset, errors

    try:
        need = n_bytes()
        uploads.refuse_beyond(need.kept, instead_of)
        job = visitor_jobs.jobs().submit(
            visitor.owner(),
            "upload",
            {"file": what},
            read,
            estimate=Estimate(bytes=need.reading),
            title=TITLES[what],
        )
    except OutOfMemory:
        st.error(
            f"Reading this file needs about {gigabytes(need.reading)} of memory, more than this "
            f"server can spare now. {SMALLER[what]}, or try again later.",
            icon=":material/error:",
        )
    except KCNetError as refused:
        st.error(escape_markdown(refused), icon=":material/error:")
    else:
        st.session_state[session_keys.UPLOAD_JOB] = job.id


def follow() -> None:
    job = visitor_jobs.jobs().get(st.session_state.get(session_keys.UPLOAD_JOB, ""))
    if job is None:
        return
    done = job.view.state == "done"
    if done and job.result is not None:
        dataset, errors = job.result
        visitor_data.keep_uploaded(dataset)  # every page of this session works with them now
        current_run.adopt(
            Run(dataset=visitor_data.UPLOADED, model="KCNet", n_hidden=1000, alpha_loo=True)
        )
        st.session_state[session_keys.UPLOAD_USED] = job.id, errors
        job.let_go()  # from here on the session alone holds the data, and may replace them
        st.rerun()
    used, errors = st.session_state.get(session_keys.UPLOAD_USED, ("", ()))
    if used == job.id and (dataset := visitor_data.uploaded()) is not None:
        title = escape_markdown(dataset.title)
        st.success(f"{title}: {len(dataset.X):,} rows are ready and in use.",
                   icon=":material/check_circle:")  # fmt: skip
        if errors:
            show_left_out(errors, "row" if dataset.kind == "odor" else "image")
    elif done:
        st.error("What was read is not kept any more. Upload the file again.",
                 icon=":material/error:")  # fmt: skip
    else:
        job_progress(job, "upload")


def show_left_out(errors, what: str) -> None:
    """What of an upload could not be used, where it stands and why; no column is empty."""
    st.markdown(f"**{left_out(len(errors), what)}**")
    titles = ("Where", "Text", "Reason", "Offered instead")
    columns = zip(*map(astuple, errors), strict=True)
    text_table({title: cells for title, cells in zip(titles, columns, strict=True) if any(cells)})

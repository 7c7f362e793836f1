"""The data that a visitor can use: the catalogue's, loaded once, and their own upload."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from kcnet_core.datasets.catalogue import is_image_set
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments.run import Run
from pages.ui.shell import current_run, session_keys
from pages.ui.shell.memo import memo

if TYPE_CHECKING:
    from kcnet_core.datasets.uploads.quota import HeldUploads
    from kcnet_core.experiments.comparison.plan import Comparison

UPLOADED = "uploaded"  # the name of what the visitor brought, among datasets
LOOK_SECONDS = 3.0  # for which one look at the data folders is enough
SPLITS_REMEMBERED = 4  # the run of the controls and the one on the page, and what was before


def public_title(data: Dataset) -> str:
    """The title for watchers, log and journal: what a visitor's file is called is not for them."""
    return "an uploaded dataset" if data.name == UPLOADED else data.title


@st.cache_resource(show_spinner=False)
def uploads() -> HeldUploads:
    """What all sessions together have uploaded and still hold."""
    from kcnet_core.datasets.uploads.quota import HeldUploads

    return HeldUploads()


def uploaded() -> Dataset | None:
    """What this visitor brought, if anything."""
    return st.session_state.get(session_keys.UPLOADED)


def keep_uploaded(data: Dataset) -> None:
    st.session_state[session_keys.UPLOADED] = data


@st.cache_resource(show_spinner=False, max_entries=6)
def loaded(name: str, options: tuple[tuple[str, object], ...]) -> Dataset:
    from kcnet_core import datasets

    return datasets.load(name, **dict(options))


def dataset(of: Run | Comparison | None = None) -> Dataset:
    """What a run or a comparison works on; an upload lives in the visitor's own session only."""
    of = of or current_run.run()
    if of.dataset == UPLOADED:
        own = uploaded()
        if own is None:
            from kcnet_core.errors import DataError

            raise DataError(
                "This run uses a dataset that was uploaded in another session. "
                "Upload it again on the Data page, or choose another dataset."
            )
        return own
    return loaded(of.dataset, tuple(sorted(of.data_options().items())))


def split_sizes(of: Run, data: Dataset) -> tuple[str, int, int]:
    """Protocol, training rows and test rows of a run; remembered, because every redrawing asks."""

    def sizes() -> tuple[str, int, int]:
        from kcnet_core.experiments.protocols import split_of

        protocol, split = split_of(of, data)
        return protocol, len(split.train), len(split.test)

    key = (of.dataset, of.target, of.protocol, of.rows, of.seed, id(data))
    return memo("split_sizes", key, sizes, SPLITS_REMEMBERED)


def dataset_titles() -> dict[str, str]:
    """Names and titles of what can be trained on right now, without a download."""
    from kcnet_core.storage.folders import data_folders

    titles = dict(titles_in(tuple(map(str, data_folders()))))
    if (own := uploaded()) is not None:
        titles[UPLOADED] = own.title
    return titles


@st.cache_resource(show_spinner=False, ttl=LOOK_SECONDS)
def titles_in(folders: tuple[str, ...]) -> dict[str, str]:
    """Of the catalogue's datasets; every redrawing asks, and each file looked for takes a turn."""
    from kcnet_core import datasets

    here = (info for info in datasets.available() if info.status != "download")
    return {info.name: info.title for info in here if info.kind in ("odor", "image")}


def odor_targets(name: str, characters: str = "") -> tuple[str, ...]:
    """The odor characters among which one may be chosen; empty for images. Of DoOR's odorants,
    `characters` says whose."""
    if name == UPLOADED or is_image_set(name):
        return ()
    everything = dataset(Run(dataset=name, characters=characters))
    return everything.target_names if everything.multilabel else ()

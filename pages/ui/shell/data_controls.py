"""Which data the controls show: dataset, odor character and scale of the pixels, for all pages."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from kcnet_core.datasets.catalogue import is_glomerular, is_image_set
from kcnet_core.datasets.fly.characters import STARTER, is_here
from kcnet_core.datasets.fly.door import CHARACTERS
from kcnet_core.errors import KCNetError
from kcnet_core.experiments import presets
from kcnet_core.experiments.run import Run, settings
from pages.ui.shell import current_run, visitor_data
from pages.ui.shell.current_run import adopt, control_key
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.words import setting_value

if TYPE_CHECKING:
    from kcnet_core.datasets.dataset import Dataset
    from kcnet_core.experiments.comparison.plan import Comparison


def use(name: str) -> None:
    """Train, compare and smell with this dataset from now on."""
    visitor_data.titles_in.clear()  # it may have arrived a moment ago
    adopt(first_run(name, like=current_run.run()))


def first_run(name: str, like: Run) -> Run:
    """What a dataset starts with; seed and device are the visitor's."""
    return replace(presets.our_presets(name)[0].run, seed=like.seed, device=like.device)


def data_controls(run: Run) -> Run:
    titles = visitor_data.dataset_titles()
    titles.setdefault(run.dataset, run.dataset)
    names = list(titles)
    name = st.selectbox(
        "Dataset",
        names,
        index=names.index(run.dataset),
        format_func=titles.__getitem__,
        key=control_key("dataset"),
        help="More datasets, uploads and a look at the rows are on the Data page.",
    )
    if name != run.dataset:
        adopt(first_run(name, like=run))
        st.rerun()
    read(run, titles[name])
    targets = visitor_data.odor_targets(run.dataset, run.characters)
    if targets:
        options = ["", *targets]
        target = st.selectbox(
            "Odor character",
            options,
            index=options.index(run.target) if run.target in options else 0,
            format_func=lambda t: t or "all of them at once",
            key=control_key("target"),
            help=settings()["target"].help,
        )
        run = replace(run, target=target)
    return run


def read(run: Run, title: str) -> None:
    """Have the data in memory, and say that it is being read where that takes a while: all that
    follows on the page needs it. What is wrong with it, the page says."""
    with st.spinner(f"Reading {escape_markdown(title)}"), suppress(KCNetError):
        visitor_data.dataset(run)


def pixel_scale(of: Run | Comparison, key: str) -> str:
    """How a run or a comparison shall scale pixels; what was uploaded is scaled already."""
    return _option("pixels", of.pixels, key) if is_image_set(of.dataset) else ""


def missing_responses(of: Run | Comparison, key: str) -> str:
    """What a run or a comparison shall do about responses that nobody measured."""
    return _option("missing", of.missing, key) if is_glomerular(of.dataset) else ""


def characters_from(of: Run | Comparison, key: str) -> str:
    """Whose odor characters a run or a comparison shall learn: of the odor sets that are here."""
    if of.dataset != CHARACTERS:
        return ""
    here = tuple(
        name
        for name in settings()["characters"].options
        if name == of.characters or is_here(name or STARTER)
    )
    return _option("characters", of.characters, key, here)


def retina(of: Run | Comparison, dataset: Dataset, key: Callable[[str], str]) -> tuple[str, int]:
    """Through what a run or a comparison shall see images, and how many patches it learns."""
    if dataset.image_shape is None:
        return "", of.n_patches
    chosen = _option("retina", of.retina, key("retina"))
    about = settings()["n_patches"]
    if chosen != "patches":
        return chosen, of.n_patches
    low, high, step = (int(value or 1) for value in (about.low, about.high, about.step))
    return chosen, st.number_input(
        about.label, low, high, of.n_patches, step, key=key("n_patches"), help=about.help
    )


def _option(name: str, value: str, key: str, options: tuple[str, ...] = ()) -> str:
    about = settings()[name]
    options = options or about.options
    return st.selectbox(
        about.label,
        options,
        index=options.index(value),
        format_func=lambda option: setting_value(name, option),
        key=key,
        help=about.help,
    )

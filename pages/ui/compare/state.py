"""The comparison that the Compare page shows, and its link."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from kcnet_core.datasets.catalogue import CATALOGUE, is_glomerular
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.models import MODELS
from kcnet_core.experiments.obstacles import obstacle, retina_obstacle
from kcnet_core.experiments.run import Run
from pages.ui.compare import view
from pages.ui.shell import (
    address,
    current_run,
    measured,
    session_keys,
    visitor_data,
    visitor_jobs,
)
from pages.ui.shell.data_controls import use

ROWS_GONE = (
    "The rows of this link are not on the server any more; press Start to measure them again."
)
# For odors two strong baselines stand beside the networks from the start; test parts are small
# there, so as many repeats as a permutation test needs.
ODOR_DEFAULTS = {
    "models": ("KCNet", "DOA", "ELM", "FSHN", "XGBoost", "SVM"),
    "hidden": (100, 300, 1000),
    "n_repeats": 6,
}


# -- the comparison ------------------------------------------------------------------------------


def comparison() -> Comparison:
    """What the controls show; it follows the dataset that was chosen on whichever page."""
    run, current = current_run.run(), st.session_state.get(session_keys.COMPARISON)
    if current is None or (current.dataset, current.target) != (run.dataset, run.target):
        current = adopt(following(current, run))
    return current


def adopt(new: Comparison) -> Comparison:
    """Make all controls show `new`."""
    st.session_state[session_keys.COMPARISON] = new
    st.session_state[session_keys.COMPARISON_ADOPTED] = n_adopted() + 1
    return new


def n_adopted() -> int:
    return st.session_state.get(session_keys.COMPARISON_ADOPTED, 0)


def key(name: str) -> str:
    """Widget keys change when a whole comparison is adopted, so that controls show its values."""
    return f"compare_{name}_{n_adopted()}"


def following(current: Comparison | None, run: Run) -> Comparison:
    """The comparison carried over to another dataset, as far as it makes sense there."""
    kind = visitor_data.dataset(run).kind
    before = st.session_state.get(session_keys.COMPARISON_KIND)
    st.session_state[session_keys.COMPARISON_KIND] = kind
    place = {"dataset": run.dataset, "target": run.target}
    if current is None or before != kind:
        return Comparison(**place, **(ODOR_DEFAULTS if kind == "odor" else {}))
    return replace(
        current, **place, options=(), protocol="", n_folds=0, rows=0, oversampling=False,
        settings=(),
    )  # fmt: skip


def comparable_models(of: Dataset) -> list[str]:
    """The networks; for odors also the paper's six baselines."""
    return [name for name, model in MODELS.items() if model.network or of.kind == "odor"]


# -- the link ------------------------------------------------------------------------------------


def adopt_link(query: dict[str, str]) -> list[str]:
    """Take over what a link says; sentences for what was unusable."""
    ignored = view.adopt(query)
    new, unusable = Comparison.from_query(query)
    ignored += unusable
    if "job" in query:
        watched = visitor_jobs.jobs().get(query["job"])
        if watched is None or watched.kind != "compare":
            interrupted = visitor_jobs.jobs().interrupted(query["job"])
            ignored.append(interrupted.sentence if interrupted else ROWS_GONE)
        else:
            measured.look_at("compare", watched.id)
    before = current_run.run()
    try:
        if new.dataset not in visitor_data.dataset_titles():
            known = CATALOGUE.get(new.dataset)
            raise KCNetError(
                f"The link compares on {known.title if known else repr(new.dataset[:40])}, which "
                "is not here. Get it on the Data page and open the link again; until then the "
                "dataset stays as it is."
            )
        if (before.dataset, before.target) != (new.dataset, new.target):
            use(new.dataset)
            current_run.adopt(replace(current_run.run(), target=new.target))
        data = visitor_data.dataset(new)
    except KCNetError as error:
        current_run.adopt(before)
        return [*ignored, str(error)]
    pixels, real = data.image_shape is not None, is_glomerular(data.name)
    for name in new.wirings:
        if why := obstacle(name, data.title, pixels, real):
            ignored.append(f"The link's wiring was not used: {why}")
            rest = tuple(other for other in new.wirings if other != name)
            new = replace(new, wirings=rest or ("random",))
    if why := retina_obstacle(new.retina, data.title, pixels):
        ignored.append(f"The link's retina was not used: {why}")
        new = replace(new, retina="")
    if view.opened() == view.BESIDE and data.kind == "odor":  # such a link names no models
        new = replace(new, **ODOR_DEFAULTS)
    unknown = [name for name in new.models if name not in comparable_models(data)]
    if unknown:
        ignored.append(f"{', '.join(unknown)}: compared on odors only, so left out here.")
        rest = tuple(name for name in new.models if name not in unknown)
        new = replace(new, models=rest or Comparison().models)
    st.session_state[session_keys.COMPARISON_KIND] = data.kind
    adopt(new)
    return ignored


def query_of(of: Comparison) -> dict[str, str]:
    """A comparison as URL parameters; the dataset is always named, since each visitor has one."""
    return {"dataset": of.dataset} | of.to_query()


def job_query(of: Comparison) -> dict[str, str]:
    current = measured.job("compare")
    return {"job": current.id} if current is not None and current.config == of else {}


def links(of: Comparison) -> None:
    """What the Share button opens."""
    st.markdown("**The same comparison**: opens with these settings, ready to run.")
    st.code(address.link(query_of(of)), language=None, wrap_lines=True)
    if watched := job_query(of):
        st.markdown("**These very rows**: others watch them arrive, only you can cancel.")
        st.code(address.link(query_of(of) | watched), language=None, wrap_lines=True)

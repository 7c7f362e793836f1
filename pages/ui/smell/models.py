"""Who answers on the Smell page: which model, taught on what, with which measured quality."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property

import streamlit as st

from kcnet_core.cluster.jobs import placed
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.datasets.substructures import with_substructures
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.cost import quality_cost
from kcnet_core.limits import MAX_UPLOAD_BYTES
from kcnet_core.smell.elsewhere import Elsewhere, remembered_elsewhere, taught_nose
from kcnet_core.smell.label_sets import COVERAGES, USUAL
from kcnet_core.smell.nose import Nose
from kcnet_core.smell.quality import (
    Quality,
    measure_steps,
    quality_key,
    remember_quality,
    remembered_quality,
)
from pages.ui.shell import visitor, visitor_data, visitor_jobs
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.job_progress import job_progress
from pages.ui.shell.memo import memo
from pages.ui.shell.session_keys import SMELL_COVERAGE, SMELL_DILUTION, SMELL_FILE
from pages.ui.shell.session_keys import SMELL_MODEL as CHOICE

STARTER, RUN, FILE = "starter", "run", "file"
TEACHERS = {  # datasets that flies may be taught here, once they are on this machine
    STARTER: "the starter odorants",
    "gs_lf": "GS-LF",
    "keller_2016": "Keller 2016",
}


@dataclass(frozen=True)
class ChosenModel:
    """A nose with what is known about its quality; `key` tells noses apart."""

    key: str
    nose: Nose
    quality: Quality | None
    quality_note: str = ""  # why there is none
    dataset: Dataset | None = None  # that flies were taught here; None for given models
    elsewhere: Elsewhere | None = None  # how it fares on other people's data
    coverage: float = USUAL  # share of true characters that shall be named

    @cached_property
    def offered(self) -> set[int]:
        """Characters that are better than guessing; all of them until that is measured."""
        names = self.nose.characters
        if self.quality is None:
            return set(range(len(names)))
        found = {q.character: q.better_than_chance for q in self.quality.characters}
        return {k for k, name in enumerate(names) if found.get(name, True)}


def choices() -> dict[str, str]:
    """What may answer right now, and how it is called."""
    there = visitor_data.dataset_titles()
    found = {name: f"KCNet, taught {what}" for name, what in TEACHERS.items() if name in there}
    uploaded = visitor_data.uploaded()
    if uploaded is not None and uploaded.kind == "odor":
        found[visitor_data.UPLOADED] = "KCNet, taught your uploaded table"
    if _finished_run() is not None:
        found[RUN] = "The model from the Train page"
    found[FILE] = "A model file …"
    return found


def choose() -> ChosenModel | None:
    """Who shall answer, taught now if it has to be; None while a file is still to be given."""
    options = choices()
    if st.session_state.get(CHOICE) not in options:
        st.session_state[CHOICE] = STARTER
    choice = st.selectbox(
        "Who answers", list(options), format_func=options.get, key=CHOICE,
        help="Datasets come from the Data page, trained models from the Train page.",
    )  # fmt: skip
    if choice == RUN:
        return _of_run()
    if choice == FILE:
        return _of_file()
    with st.spinner("Teaching the flies …", show_time=True):
        if choice == visitor_data.UPLOADED:
            given = visitor_data.uploaded()
            # The dataset stands beside its nose, so that no other can get its id.
            nose, dataset, _ = memo("smell_uploaded", id(given), lambda: (*_teach(given), given))
        else:
            nose, dataset = taught(choice)
    quality = _quality(choice, dataset, nose)
    note = "" if quality else "Quality on unseen molecules is being measured."
    elsewhere = remembered_elsewhere(dataset, nose.settings)
    return ChosenModel(choice, nose, quality, note, dataset, elsewhere)


def choose_dilution(nose: Nose) -> str | None:
    if not nose.dilutions:
        return None
    if st.session_state.get(SMELL_DILUTION) not in nose.dilutions:
        st.session_state[SMELL_DILUTION] = nose.dilutions[0]
    return st.segmented_control(
        "Dilution", nose.dilutions, key=SMELL_DILUTION, required=True, format_func=escape_markdown,
        help="People rated each molecule at these dilutions, and the model knows them apart.",
    )  # fmt: skip


def choose_coverage(chosen: ChosenModel) -> ChosenModel:
    """How many of the true characters shall be named; models without left-out answers have no
    choice."""
    if not chosen.nose.lines:
        return chosen
    if st.session_state.get(SMELL_COVERAGE) not in COVERAGES:
        st.session_state[SMELL_COVERAGE] = USUAL
    coverage = st.segmented_control(
        "Name so many of the true characters", COVERAGES, key=SMELL_COVERAGE, required=True,
        format_func=lambda share: f"{share:.0%}",
        help="More true characters among those named means more false ones too. The dotted line of "
        "the profile moves with it: whatever reaches it is named.",
    )  # fmt: skip
    return replace(chosen, coverage=coverage)


@st.cache_resource(show_spinner=False, max_entries=3)
def taught(name: str) -> tuple[Nose, Dataset]:
    """Flies that were taught one of `TEACHERS`, once for all visitors."""
    return _teach(visitor_data.loaded(name, ()))


def _teach(dataset: Dataset) -> tuple[Nose, Dataset]:
    """The nose, and the data with all inputs that it was taught from."""
    described = with_substructures(dataset)
    return taught_nose(described), described


def _finished_run():
    job = visitor_jobs.job()
    if job is None or job.view.state != "done" or job.result is None:
        return None
    if visitor_jobs.is_private(job):  # who answers would show the molecules that it was taught
        return None
    return job.result if job.result.dataset.kind == "odor" else None


def _of_run() -> ChosenModel:
    from kcnet_core.smell.model_nose import nose_of_run

    trained = _finished_run()
    nose, quality, _ = memo("smell_run", id(trained), lambda: (*nose_of_run(trained), trained))
    return ChosenModel(f"run {id(trained)}", nose, quality)


def _of_file() -> ChosenModel | None:
    from kcnet_core.model_file import load_model
    from kcnet_core.smell.model_nose import nose_of_file

    file = st.file_uploader("Model file", type=["kcnet"], key="smell_file_upload")
    kept = st.session_state.get(SMELL_FILE)
    if file is not None:
        content = file.getvalue()
        key = hashlib.sha256(content).hexdigest()[:16]
        if kept is None or kept.key != key:
            try:
                if len(content) > MAX_UPLOAD_BYTES:
                    raise KCNetError("The file is too large.")
                nose, quality = nose_of_file(load_model(content), file.name)
            except KCNetError as error:
                st.error(escape_markdown(error), icon=":material/error:")
                return None
            kept = st.session_state[SMELL_FILE] = ChosenModel(
                key, nose, quality,
                "" if quality else "The file's training data are not here, so its quality on "
                "unseen molecules cannot be measured, nor whether a molecule is near them.",
            )  # fmt: skip
    if kept is None:
        st.caption("Save a model on the Train page under “Take home”, and give its file here.")
    return kept


# -- quality -----------------------------------------------------------------------------------


@st.cache_resource(show_spinner=False)
def _measuring() -> dict[str, str]:
    """Job by quality key: one measurement serves all visitors."""
    return {}


def _quality(choice: str, dataset: Dataset, nose: Nose) -> Quality | None:
    """What was measured before, or the result of a job that measures it now."""
    key = quality_key(dataset, nose.settings)
    if key in nose.shelf:
        return nose.shelf[key]
    found = remembered_quality(dataset, nose.settings)
    job = visitor_jobs.jobs().get(_measuring().get(key, ""))
    done = job is not None and job.view.state == "done"
    if found is None and done and job.result is not None:
        found = job.result
        if choice != visitor_data.UPLOADED:  # what a visitor uploaded is not kept on disk
            remember_quality(found)
    if found is not None:
        nose.shelf[key] = found
    elif job is None or done:
        _measure(key, dataset, nose)
    return found


def _measure(key: str, dataset: Dataset, nose: Nose) -> None:
    settings = nose.settings
    cost = quality_cost(
        len(dataset.X), n_hidden=nose.flies[0].n_hidden, n_flies=settings.n_flies,
        n_characters=len(dataset.target_names),
    )  # fmt: skip
    steps, cost = placed(
        "quality", dataset, (settings,), cost, lambda: measure_steps(dataset, settings)
    )
    try:
        job = visitor_jobs.jobs().submit(
            visitor.owner(),
            "smell quality",
            {"dataset": dataset.name},
            steps,
            estimate=cost,
            title=f"Quality on unseen molecules, {visitor_data.public_title(dataset)}",
        )
    except KCNetError as refused:
        st.caption(escape_markdown(refused))
        return
    _measuring()[key] = job.id


def who(chosen: ChosenModel, dilution: str | None) -> None:
    """Which model answers, on what data, how good it is; the measurement's progress until known."""
    nose, quality = chosen.nose, chosen.quality
    diluted = f" at {dilution}" if dilution else ""
    line = f"{nose.title}, taught {nose.data_title}{diluted}"
    with st.container(gap=None, width="stretch"):
        if chosen.elsewhere is not None:
            there = chosen.elsewhere.outside
            st.caption(
                f"{escape_markdown(line)} · measured by the labels of "
                f"{escape_markdown(chosen.elsewhere.source)}, on {there.n_molecules:,} of its "
                f"molecules that it was never taught: mean AUROC **{there.auroc.mean:.2f}** "
                f"({there.auroc.low:.2f} to {there.auroc.high:.2f}); the character it is surest of "
                f"is confirmed in **{there.confirmed.mean:.0%}**, where it says "
                f"{there.stated.mean:.0%}"
            )
            return
        if quality is not None:
            st.caption(
                f"{escape_markdown(line)} · measured by the labels of the same source, on unseen "
                f"molecules: mean AUROC **{quality.auroc.mean:.3f}** ({quality.auroc.low:.3f} to "
                f"{quality.auroc.high:.3f}), {len(chosen.offered)} of {len(nose.characters)} "
                "characters better than guessing"
            )
            return
        st.caption(f"{escape_markdown(line)}. {chosen.quality_note}")
        if chosen.dataset is None:
            return
        key = quality_key(chosen.dataset, nose.settings)
        job = visitor_jobs.jobs().get(_measuring().get(key, ""))
        if job is not None:
            job_progress(
                job, "smell_quality", unit="splits", again=lambda: _measuring().pop(key, None)
            )

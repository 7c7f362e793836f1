"""How good the model is on molecules it has never met, beside other models."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from kcnet_core import figures
from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.datasets.pyrfume.archives import ARCHIVES
from kcnet_core.datasets.vocabulary import words_of
from kcnet_core.smell import benchmark, elsewhere
from kcnet_core.smell import quality as measured_quality
from kcnet_core.smell.benchmark import Benchmark, remembered_benchmark
from kcnet_core.smell.elsewhere import SOURCE, Elsewhere
from kcnet_core.smell.quality import Measured
from pages.ui.shell import visitor
from pages.ui.shell.chart import chart
from pages.ui.shell.escaping import data_table, escape_markdown
from pages.ui.smell import ratings
from pages.ui.smell.models import STARTER, ChosenModel


def quality(chosen: ChosenModel) -> None:
    nose, found = chosen.nose, chosen.quality
    about = f"**{escape_markdown(nose.title)}**, taught {escape_markdown(nose.data_title)}"
    if nose.known is not None:
        about += f" ({int(nose.known.taught.sum()):,} rows)"
    if nose.settings is not None:
        s = nose.settings
        about += (
            f". Each has {nose.flies[0].n_hidden:,} Kenyon cells with {s.fan_in} inputs, "
            f"C = {s.inhibition:g}, and λ = {nose.alpha:.3g}, chosen by leaving molecules out. "
            f"Inputs are {len(nose.described):,} descriptors and "
            f"{len(nose.feature_names) - len(nose.described):,} substructures"
        )
    st.markdown(about + ".")
    if chosen.elsewhere is not None:
        levels(chosen.elsewhere)
    ratings.challenge()
    if found is None:
        st.info(chosen.quality_note, icon=":material/hourglass_empty:")
        return
    st.caption(
        f"Measured by {escape_markdown(found.how)}. AUROC is the chance that a molecule with the "
        "character scores above one without it; 0.5 is guessing. F1 counts what is named from one "
        "line on that is drawn on the training molecules. In brackets: how many rows have the "
        "character."
    )
    with st.container(horizontal=True, gap="large"):
        for name, value in (("Mean AUROC", found.auroc),
                            ("Calibration error", found.calibration_error)):  # fmt: skip
            st.metric(name, f"{value.mean:.3f}", width="content",
                      help=f"95% interval {value.low:.3f} to {value.high:.3f}")  # fmt: skip
    metric = st.segmented_control("Metric", ["AUROC", "F1"], default="AUROC", required=True,
                                  key="smell_metric", label_visibility="collapsed")  # fmt: skip
    values = [q.auroc if metric == "AUROC" else q.f1 for q in found.characters]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        chart(
            figures.character_quality(
                [q.character for q in found.characters],
                *bounds(values),
                [q.n_positive for q in found.characters],
                metric=metric,
                chance=0.5 if metric == "AUROC" else None,
                dark=visitor.dark(),
            ),
            "smell_character_quality",
        )
    with right:
        rivals(chosen)
        with st.expander("The same as a table", icon=":material/table:"):
            data_table(
                measured_quality.table(found),
                hide_index=True,
                alt="Quality of every character with 95% intervals",
            )


def levels(found: Elsewhere) -> None:
    """Quality by whose labels and on which molecules it was measured."""
    st.markdown("**How far it can be trusted**, by whose labels it was measured")
    data_table(
        elsewhere.table(found),
        hide_index=True,
        alt="Quality on unseen molecules and ring systems, by whose labels it was measured",
    )
    st.caption(
        f"{escape_markdown(found.how)}. The columns “named at” hold the share of true characters "
        "that were named when so many were asked for."
    )
    with st.expander("Which words count as which character", icon=":material/translate:"):
        vocabulary()


def vocabulary() -> None:
    """What the words of any source that can be measured on mean in our characters."""
    source = st.selectbox(
        "Words of",
        [SOURCE, *ARCHIVES],
        format_func=lambda name: CATALOGUE[name].title,
        key="smell_vocabulary",
    )
    words = words_of(source)
    data_table(
        {"word": list(words), "counts as": [" · ".join(words[word]) or None for word in words]},
        hide_index=True,
        alt="The vocabulary: words of the other source and the characters they stand for",
    )
    mapped = sum(map(bool, words.values()))
    st.caption(
        f"{mapped:,} of {len(words):,} words stand for one or several of our characters, the "
        "others for none. The table is assets/vocabulary.csv, for all to correct."
    )


def rivals(chosen: ChosenModel) -> None:
    """The flies beside other models, where both were measured on the same folds."""
    if chosen.key in (STARTER, SOURCE) and (found := remembered_benchmark()) is not None:
        benchmarked(found)
        return
    st.caption("How KCNet fares beside other models on any dataset: the Compare page.")
    st.page_link("pages/compare.py", label="Compare models", icon=":material/balance:")


def benchmarked(found: Benchmark) -> None:
    """GS-LF as the field measures it, and what others have published."""
    st.markdown("**The field's benchmark**, flies taught GS-LF beside other models")
    chart(
        figures.rival_scores(list(found.auroc), *bounds(found.auroc.values()), dark=visitor.dark()),
        "smell_rivals",
    )
    data_table(
        benchmark.table(found),
        column_config={"seconds a fold": st.column_config.NumberColumn(format="%.0f")},
        hide_index=True,
        alt="Mean AUROC of models on GS-LF, five folds",
    )  # fmt: skip
    st.caption(
        f"{escape_markdown(found.how[:1].upper() + found.how[1:])}. Published figures are on folds "
        "of their own."
    )


def bounds(values: Iterable[Measured]) -> list[list[float]]:
    """Means, lower and upper ends."""
    return [[getattr(value, end) for value in values] for end in ("mean", "low", "high")]

"""The controls on the left of the Compare page: every choice that a comparison consists of."""

from __future__ import annotations

from dataclasses import fields, replace

import streamlit as st

from kcnet_core.datasets.catalogue import is_glomerular
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import KCNetError
from kcnet_core.experiments import protocols
from kcnet_core.experiments.beside.plan import MAX_ROWS, MOST_SEEDS, PAIR, WIDEST
from kcnet_core.experiments.comparison.plan import (
    FSHN_SIZES,
    MAX_FOLDS,
    SHARED_FIELDS,
    Comparison,
)
from kcnet_core.experiments.models import MODELS
from kcnet_core.experiments.obstacles import plans_for
from kcnet_core.experiments.presets import SPARSE_TRAINED, paper_presets
from kcnet_core.experiments.run import KCNET_MODELS, Run, settings
from kcnet_core.limits import MAX_HIDDEN_SIZES, MAX_REPEATS
from pages.ui.compare import state, view
from pages.ui.shell import current_run, data_controls, session_keys, visitor_data
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.words import setting_value

SIZES = (50, 100, 200, 300, 600, 1000, 2000, 3000, 4500, 6500)
OURS, PAPER, SPARSE, CHOSEN = "ours", "the paper's", "kept sparse", "chosen"


def sidebar() -> tuple[Comparison, str | None]:
    """Draw the controls; the comparison they describe, and what is wrong with it, if anything."""
    with st.sidebar:
        current_run.set_run(data_controls.data_controls(current_run.run()))
        comparison = state.comparison()
        dataset = visitor_data.dataset(comparison)
        chosen = {
            "models": models(comparison, dataset),
            "hidden": sizes(comparison),
            "wirings": wirings(comparison, dataset),
            "n_repeats": st.number_input(
                "Repeats",
                1,
                MAX_REPEATS,
                comparison.n_repeats,
                key=state.key("repeats"),
                help="Every model is trained and tested this often, each time with another seed "
                "and, unless the benchmark has its own, another split. Six or more let a "
                "permutation test find anything.",
            ),
            "protocol": protocol(comparison, dataset),
        }
        chosen["settings"] = settings_picker(comparison)
        with st.expander("More settings", icon=":material/tune:"):
            chosen |= more(comparison, dataset, chosen)
    return _taken(comparison, chosen)


def live_sidebar() -> tuple[Comparison, str | None]:
    """The controls of the live view: what decides both networks, and no other models."""
    with st.sidebar:
        current_run.set_run(data_controls.data_controls(current_run.run()))
        comparison = state.comparison()
        dataset = visitor_data.dataset(comparison)
        view.look()  # so that each control has something to show
        st.select_slider(
            "Grow to", WIDEST, format_func=lambda size: f"{size:,} cells",
            key=session_keys.BESIDE_WIDEST, persist_state="session",
            help="Both networks are drawn at this width. What narrower ones say comes on the way.",
        )  # fmt: skip
        st.number_input(
            "Seeds", 1, MOST_SEEDS, key=session_keys.BESIDE_SEEDS, persist_state="session",
            help="Each draws both networks anew and, unless the benchmark has its own, the split.",
        )  # fmt: skip
        chosen = {
            "wirings": one_wiring(comparison, dataset),
            "protocol": protocol(comparison, dataset),
            "settings": settings_picker(comparison),
        }
        with st.expander("More settings", icon=":material/tune:"):
            chosen |= more(comparison, dataset, {**chosen, "models": PAIR}, live=True)
    return _taken(comparison, chosen)


def _taken(comparison: Comparison, chosen: dict) -> tuple[Comparison, str | None]:
    """The comparison with what was `chosen`, kept for the next drawing, unless it is not one."""
    try:
        new = replace(comparison, **chosen)
    except KCNetError as error:
        return comparison, str(error)
    st.session_state[session_keys.COMPARISON] = new
    return new, None


def models(comparison: Comparison, dataset: Dataset) -> tuple[str, ...]:
    names = state.comparable_models(dataset)
    return tuple(
        st.pills(
            "Models",
            names,
            selection_mode="multi",
            default=[name for name in comparison.models if name in names],
            key=state.key("models"),
            help="  \n".join(f"**{name}**: {MODELS[name].title}" for name in names),
        )
    )


def sizes(comparison: Comparison) -> tuple[int, ...]:
    known = sorted({*SIZES, *comparison.hidden})
    chosen = st.multiselect(
        "Hidden sizes 𝓑",
        [str(size) for size in known],
        default=[str(size) for size in comparison.hidden],
        max_selections=MAX_HIDDEN_SIZES,
        accept_new_options=True,
        key=state.key("hidden"),
        help="Kenyon cells (or hidden units) of every network. Type any other number and press "
        "Enter.",
    )
    numbers, wrong = [], []
    for text in chosen:
        digits = text.replace(",", "").replace(" ", "")
        (numbers if digits.isdecimal() else wrong).append(digits)
    if wrong:
        st.caption(
            f":orange[{escape_markdown(wrong[0][:30])} is not a whole number and was left out.]"
        )
    return tuple(int(number) for number in numbers)


def wirings(comparison: Comparison, dataset: Dataset) -> tuple[str, ...]:
    """The plans of the KCNets' wiring, where the inputs leave a choice."""
    plans = plans_for(dataset.name, dataset.image_shape is not None)
    if len(plans) == 1 or not set(KCNET_MODELS) & set(comparison.models):
        return ("random",)
    about, now = settings()["wiring"], [name for name in comparison.wirings if name in plans]
    return tuple(
        st.pills(
            about.label, plans, selection_mode="multi", default=now or ["random"],
            format_func=lambda name: setting_value("wiring", name), key=state.key("wirings"),
            help=f"Of the KCNets; each is a line of its own.  \n{about.help}",
        )
    )  # fmt: skip


def one_wiring(comparison: Comparison, dataset: Dataset) -> tuple[str, ...]:
    """The plan of the one KCNet that is shown: the first of those compared, until it is changed."""
    plans = plans_for(dataset.name, dataset.image_shape is not None)
    if len(plans) == 1:
        return ("random",)
    about, now = settings()["wiring"], comparison.wirings
    name = st.segmented_control(
        f"{about.label} of KCNet", plans, default=now[0], required=True,
        format_func=lambda plan: setting_value("wiring", plan), key=state.key("wiring"),
        help=about.help,
    )  # fmt: skip
    return now if name == now[0] else (name,)


def protocol(comparison: Comparison, dataset: Dataset) -> str:
    usable = {p.name: p for p in protocols.PROTOCOLS.values() if p.applies(dataset)}
    default = protocols.default_protocol(dataset)
    current = comparison.protocol if comparison.protocol in usable else default
    name = st.selectbox(
        "Split protocol",
        list(usable),
        index=list(usable).index(current),
        format_func=lambda name: usable[name].title,
        key=state.key("protocol"),
        help="  \n".join(f"**{p.title}**: {p.explanation}" for p in usable.values()),
    )
    return "" if name == default else name


def settings_picker(comparison: Comparison) -> tuple:
    """Ours, or the paper's where it prints some for this dataset, or a trained network as sparse
    as a fly where inputs are glomeruli, or those found by a search."""
    paper = replace(comparison, settings=paper_settings(comparison)).settings
    sparse = replace(comparison, settings={"DOA": SPARSE_TRAINED}).settings
    trainable = is_glomerular(comparison.dataset) and "DOA" in comparison.models
    forms = {OURS: ()} | ({PAPER: paper} if paper else {}) | ({SPARSE: sparse} if trainable else {})
    if comparison.settings not in forms.values():
        forms[CHOSEN] = comparison.settings
    if len(forms) == 1:
        return comparison.settings
    current = next(name for name, form in forms.items() if form == comparison.settings)
    name = st.segmented_control(
        "Settings of the models",
        list(forms),
        default=current,
        required=True,
        key=state.key("settings"),
        help="**ours**: the defaults of this app, the baselines at the middle of the paper's "
        "ranges.  \n**the paper's**: λ, epochs, learning rate and stop metric as printed for this "
        "dataset, with the paper's DOA rule.  \n**kept sparse**: DOA begins with the fan-ins of a "
        "real fly's cells and chooses which glomeruli they hear, never how many; its line stands "
        "beside the wirings of KCNet.  \n**chosen**: what a search in the tab Tune found, "
        "or what the link said.",
    )
    return forms[name]


def paper_settings(comparison: Comparison) -> dict[str, dict]:
    shared = (*SHARED_FIELDS, "n_hidden", "n_submodels")
    chosen = {}
    for preset in paper_presets(comparison.dataset, comparison.target):
        differing = {
            field.name: getattr(preset.run, field.name)
            for field in fields(Run)
            if field.name not in shared and getattr(preset.run, field.name) != field.default
        }
        if differing:
            chosen[preset.run.model] = differing
    return chosen


def more(comparison: Comparison, dataset: Dataset, chosen: dict, live: bool = False) -> dict:
    own_split = (chosen["protocol"] or protocols.default_protocol(dataset)) == "benchmark"
    folds = comparison.n_folds if live and not own_split else 0
    if not own_split and not live:
        folds = st.number_input(
            "Folds", 0, MAX_FOLDS, comparison.n_folds, key=state.key("folds"),
            help="0 tests on one tenth of the rows per repeat; with folds, every row is tested "
            "once per repeat, which costs that many fits.",
        )  # fmt: skip
    pixels = data_controls.pixel_scale(comparison, state.key("pixels"))
    missing = data_controls.missing_responses(comparison, state.key("missing"))
    characters = data_controls.characters_from(comparison, state.key("characters"))
    retina, n_patches = data_controls.retina(comparison, dataset, state.key)
    rows = st.number_input(
        "Training rows", 0, 1_000_000, comparison.rows, 1000, key=state.key("rows"),
        help="0 uses every training row of a split; fewer train faster."
        + f" The live view takes {MAX_ROWS:,} at most." * live,
    )  # fmt: skip
    fshn = comparison.fshn_size
    if "FSHN" in chosen["models"]:
        fshn = st.selectbox(
            "Size of FSHN", list(FSHN_SIZES), index=list(FSHN_SIZES).index(comparison.fshn_size),
            format_func=lambda name: f"same {name}", key=state.key("fshn"),
            help="  \n".join(f"**same {name}**: {text}" for name, text in FSHN_SIZES.items()),
        )  # fmt: skip
    oversampling = False
    if dataset.kind == "odor" and not dataset.multilabel:
        oversampling = st.toggle(
            "Oversample rare classes", comparison.oversampling, key=state.key("oversampling"),
            help="ADASYN, as in the paper, but on training rows only.",
        )  # fmt: skip
    seed = st.number_input(
        "Seed", 0, 2**31 - 1 - MAX_REPEATS, comparison.seed, key=state.key("seed"),
        help="Repeat r uses seed + r for splits and models alike.",
    )  # fmt: skip
    return {
        "options": comparison.with_options(pixels, missing, characters).options,
        "retina": retina, "n_patches": n_patches, "n_folds": 0 if folds == 1 else folds,
        "rows": rows, "fshn_size": fshn, "oversampling": oversampling, "seed": seed,
    }  # fmt: skip

"""The controls on the left of the Train page: every field of a `Run`, with its symbol."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from kcnet_core.datasets.catalogue import is_image_set
from kcnet_core.errors import KCNetError
from kcnet_core.experiments import presets, protocols
from kcnet_core.experiments.obstacles import plans_for
from kcnet_core.experiments.run import (
    FLY_FIELDS,
    KCNET_MODELS,
    MODEL_EXPLANATIONS,
    NETWORK_NAMES,
    Run,
    settings,
)
from kcnet_core.network.wiring import PLANS
from pages.ui.shell import current_run, session_keys, visitor_data
from pages.ui.shell.current_run import adopt, control_key
from pages.ui.shell.data_controls import (
    characters_from,
    data_controls,
    missing_responses,
    pixel_scale,
    retina,
)
from pages.ui.shell.safety_net import fragment
from pages.ui.shell.streamlit_workarounds import retry_if_interrupted
from pages.ui.shell.words import setting_value

SETTINGS = settings()
# Log-spaced stops that people actually mean; the current value is added when it is none of them.
STOPS = {
    "n_hidden": (10, 20, 50, 82, 100, 200, 300, 500, 650, 1000, 1300, 2000, 3000, 4500, 6500, 7000,
                 10_000, 20_000),
    "alpha": (*(m * 10.0**k for k in range(-3, 4) for m in (1, 2, 5)), 1e4),
    "n_epochs": (1, 2, 5, 10, 20, 30, 40, 60, 80, 100, 120, 150, 200, 300, 500, 1000),
    "learning_rate": (5e-7, 1e-6, 1e-5, 5e-5, 1e-4, 1e-3, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05,
                      0.1, 0.2, 0.5),
}  # fmt: skip
METHOD = ("n_hidden", "fan_in", "wiring", "inhibition", "alpha_loo", "alpha")
FIELD_AT_MOST = int(SETTINGS["max_field"].high or 64)
TUNING = ("doa_rule", "n_epochs", "learning_rate", "stop_metric", "n_submodels")
FINE = ("local_share", "leave_field", "batch_rows", "fan_in_penalty", "keep_fan_in")


def sidebar(drawn: Callable[[Run, bool], None]) -> Run:
    """Draw the controls and return the run they describe.

    They alone are drawn again when one of them is moved; whoever waits at another slider then
    waits half as long. `drawn` is called each time, and told whether they were drawn alone.
    """
    alone = False

    def draw() -> None:
        nonlocal alone
        current_run.set_run(controls())
        drawn(current_run.run(), alone)
        alone = True

    with st.sidebar:
        fragment(draw)()
    return current_run.run()


def controls() -> Run:
    run = current_run.run()
    run = preset_picker(run)
    run = data_controls(run)
    st.header("Network", anchor=False)
    run = model_picker(run)
    run = retina_picker(run)
    run = fields(run, METHOD)
    if any(run.model in SETTINGS[name].models for name in TUNING):
        st.header("Tuning", anchor=False)
        run = fields(run, TUNING)
    with st.expander("More settings", icon=":material/tune:"):
        run = fields(run, FINE)
        run = replace(run, pixels=pixel_scale(run, control_key("pixels")),
                      missing=missing_responses(run, control_key("missing")),
                      characters=characters_from(run, control_key("characters")))  # fmt: skip
        run = protocol_picker(run)
        return fields(run, ("rows", "seed", "device"))


def preset_picker(run: Run) -> Run:
    choices = {
        p.title: p
        for p in [
            *presets.our_presets(run.dataset, run.target),
            *presets.paper_presets(run.dataset, run.target),
        ]
    }

    @retry_if_interrupted
    def chosen():
        title = st.session_state.get(session_keys.PRESET)
        if title:
            adopt(replace(choices[title].run, seed=run.seed, device=run.device))
            st.session_state[session_keys.PRESET] = None

    st.selectbox(
        "Presets",
        list(choices),
        index=None,
        key=session_keys.PRESET,
        placeholder="Load a preset …",
        on_change=chosen,
        help="The paper's best settings for this dataset, as printed, and ours.",
        label_visibility="collapsed",
    )
    return run


def model_picker(run: Run) -> Run:
    model = st.selectbox(
        "Model",
        NETWORK_NAMES,
        index=NETWORK_NAMES.index(run.model),
        key=control_key("model"),
        help="  \n".join(f"**{name}**: {text}" for name, text in MODEL_EXPLANATIONS.items()),
    )
    st.caption(MODEL_EXPLANATIONS[model])
    if model != run.model and model == "FSHN":
        # The paper's FSHN: as many trained parameters as KCNet, five epochs at 0.1.
        run = replace(run, n_hidden=82, n_epochs=5, learning_rate=0.1)
        adopt(replace(run, model=model))
        st.rerun()
    if model != run.model and run.model == "FSHN":
        default = Run()
        adopt(
            replace(
                run,
                model=model,
                n_hidden=default.n_hidden,
                n_epochs=default.n_epochs,
                learning_rate=default.learning_rate,
            )
        )
        st.rerun()
    return replace(run, model=model)


def fields(run: Run, names: tuple[str, ...]) -> Run:
    for name in names:
        if not run.uses(name) or (name == "alpha" and run.alpha_loo):
            continue
        if name == "wiring":
            run = wiring_picker(run)
            continue
        if name == "batch_rows" and run.doa_rule == "paper":
            continue
        run = replace(run, **{name: control(name, getattr(run, name), run.model)})
    return run


def wiring_picker(run: Run) -> Run:
    """The plan of the wiring, where the inputs leave a choice, and the sides of its fields."""
    plans = plans_for(run.dataset, has_pixels(run) and not run.retina)
    if len(plans) == 1:
        return replace(run, wiring="random")
    run = replace(run, wiring=control("wiring", run.wiring, run.model, plans))
    if run.wiring != "local":
        return fields(run, FLY_FIELDS)
    about = SETTINGS["min_field"]
    low, high = st.slider(
        "Field, pixels a side",
        int(about.low or 1),
        FIELD_AT_MOST,
        tuple(sorted((run.min_field, run.max_field))),
        key=control_key("field"),
        help="Each side of a cell's rectangle is drawn evenly between these two.",
    )
    return replace(run, min_field=low, max_field=high)


def retina_picker(run: Run) -> Run:
    """Through what the network sees images; behind a retina there are no pixels to have fields."""
    try:
        chosen, n_patches = retina(run, visitor_data.dataset(run), control_key)
    except KCNetError:  # the page says so
        return run
    wiring = "random" if chosen and PLANS[run.wiring].needs_image else run.wiring
    return replace(run, retina=chosen, n_patches=n_patches, wiring=wiring)


def has_pixels(run: Run) -> bool:
    try:
        return visitor_data.dataset(run).image_shape is not None
    except KCNetError:  # the page says so
        return is_image_set(run.dataset)


def control(name: str, value, model: str, options: tuple[str, ...] = ()):
    about = SETTINGS[name]
    title = "Hidden units" if name == "n_hidden" and model not in KCNET_MODELS else about.label
    label = f"{title} {about.symbol}".strip()
    common = {"label": label, "help": about.help, "key": control_key(name)}
    if isinstance(value, bool):
        return st.toggle(value=value, **common)
    if about.options:
        return st.segmented_control(
            options=list(options or about.options),
            default=value,
            required=True,
            format_func=lambda option: setting_value(name, option),
            **common,
        )
    if name in STOPS:
        return st.select_slider(
            options=with_value(STOPS[name], value), value=value, format_func=compact, **common
        )
    kind = type(value)
    bounds = {"min_value": kind(about.low), "max_value": kind(about.high)}
    if about.high <= 100:
        return st.slider(value=value, step=kind(about.step), **bounds, **common)
    return st.number_input(value=value, step=kind(about.step or 1), **bounds, **common)


def with_value(stops: tuple, value) -> list:
    stops = list(stops)
    if value not in stops:
        bisect.insort(stops, value)
    return stops


def compact(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:g}"


def protocol_picker(run: Run) -> Run:
    try:
        dataset = visitor_data.dataset(run)
    except KCNetError:  # the page says so; a run that is under way can still be watched
        return run
    usable = [p for p in protocols.PROTOCOLS.values() if p.applies(dataset)]
    names = [p.name for p in usable]
    current = run.protocol if run.protocol in names else protocols.default_protocol(dataset)
    chosen = st.selectbox(
        "Split protocol",
        names,
        index=names.index(current),
        format_func={p.name: p.title for p in usable}.get,
        key=control_key("protocol"),
        help="  \n".join(f"**{p.title}**: {p.explanation}" for p in usable),
    )
    return replace(run, protocol="" if chosen == protocols.default_protocol(dataset) else chosen)

"""One frozen description of a comparison, from which controls, URL and job derive."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from kcnet_core.errors import KCNetError
from kcnet_core.experiments.baselines import Model
from kcnet_core.experiments.described import Described
from kcnet_core.experiments.models import find_model
from kcnet_core.experiments.protocols import PROTOCOLS
from kcnet_core.experiments.run import ANY_DATA, Run
from kcnet_core.limits import MAX_HIDDEN_SIZES, MAX_REPEATS
from kcnet_core.network.scaling import METHODS

FSHN_SIZES = {
    "hidden": "as many hidden units as the KCNet beside it",
    "parameters": "as many trained parameters as the KCNet beside it, as in the paper",
}
MAX_FOLDS = 20
# Fields of a run that a comparison decides for all models alike.
SHARED_FIELDS = (
    "dataset", "target", "pixels", "missing", "characters", "retina", "n_patches", "rows",
    "model", "protocol", "seed", "device",
)  # fmt: skip
DEFAULT_OPTIONS = {  # as a run and as the loader calls them
    "normalise": ("", "global"),
    "missing": ("", "spontaneous"),
    "characters": ("", "starter"),
}
OTHER_OPTIONS = ("target", "progress")  # a field of its own, or not data


Pairs = tuple[tuple[str, Any], ...]  # a mapping that can be hashed, sorted by name


@dataclass(frozen=True)
class Comparison(Described):
    """Everything that decides the outcome of a comparison.

    Options and settings may be given as mappings, or as JSON, as links have them.
    """

    dataset: str = "mnist_sample"
    target: str = ""  # odor character; empty for images or all characters at once
    options: Pairs = ()  # {"per": "compound"} as pairs: further options of the dataset
    models: tuple[str, ...] = ("KCNet", "DOA", "ELM", "FSHN")
    hidden: tuple[int, ...] = (100, 250, 500)
    wirings: tuple[str, ...] = ("random",)  # plans of the KCNets, each a line of its own
    protocol: str = ""  # empty: the default of the dataset
    n_repeats: int = 3
    n_folds: int = 0  # 0: one test part per repeat
    rows: int = 0  # training rows at most; 0: all
    scaling: str = ""  # empty: the default of the dataset
    oversampling: bool = False
    fshn_size: str = "hidden"
    seed: int = 0
    settings: tuple[tuple[str, Pairs], ...] = ()  # {"DOA": {"n_epochs": 20}} as pairs
    retina: str = ""  # through which all models see images
    n_patches: int = 100  # of the retina

    def __post_init__(self):
        object.__setattr__(self, "models", tuple(dict.fromkeys(self.models)))
        object.__setattr__(self, "hidden", tuple(sorted(set(self.hidden))))
        object.__setattr__(self, "wirings", tuple(dict.fromkeys(self.wirings)))
        _require(self.wirings, "Choose at least one wiring.")
        for name in self.models:
            find_model(name)
        _require(self.models, "Choose at least one model.")
        _require(self.hidden, "Choose at least one hidden size.")
        _require(
            len(self.hidden) <= MAX_HIDDEN_SIZES,
            f"{len(self.hidden)} hidden sizes were given; the limit is {MAX_HIDDEN_SIZES}.",
        )
        for size in self.hidden:
            Run(n_hidden=size)
        _within("Repeats", self.n_repeats, 1, MAX_REPEATS)
        _within("Folds", self.n_folds, 0, MAX_FOLDS)
        _within("Rows", self.rows, 0, 1_000_000)
        _within("The seed", self.seed, 0, 2**31 - 1 - MAX_REPEATS)
        _one_of("The protocol", self.protocol, ("", *PROTOCOLS))
        _one_of("The scaling", self.scaling, ("", *METHODS))
        _one_of("The size of FSHN", self.fshn_size, FSHN_SIZES)
        object.__setattr__(self, "options", _checked_options(self.options))
        # Refuses names that are too long, and fields or a scale of pixels where there are none.
        for wiring in self.wirings:
            Run(dataset=self.dataset, target=self.target, pixels=self.pixels, wiring=wiring,
                missing=self.missing, characters=self.characters, retina=self.retina,
                n_patches=self.n_patches)  # fmt: skip
        object.__setattr__(self, "settings", _checked_settings(self.settings))

    @property
    def pixels(self) -> str:
        """The scale of the pixels, as a `Run` calls it."""
        return self.data_options().get("normalise", "")

    @property
    def missing(self) -> str:
        """What is done about missing responses, as a `Run` calls it."""
        return self.data_options().get("missing", "")

    @property
    def characters(self) -> str:
        """Where the odor characters come from, as a `Run` calls it."""
        return self.data_options().get("characters", "")

    def with_options(self, pixels: str, missing: str, characters: str = "") -> Comparison:
        """The same comparison with these options of its data; others stay."""
        chosen = {"normalise": pixels, "missing": missing, "characters": characters}
        return replace(self, options=_pairs(dict(self.options) | chosen))

    def model_settings(self, name: str) -> dict:
        """Settings that were chosen for one model."""
        return dict(dict(self.settings).get(name, ()))

    def with_settings(self, name: str, chosen: Mapping) -> Comparison:
        """The same comparison with other settings for one model (such as tuned ones)."""
        return replace(self, settings=_pairs({**dict(self.settings), name: _pairs(chosen)}))

    def data_options(self) -> dict[str, Any]:
        return dict(self.options) | ({"target": self.target} if self.target else {})


def _checked_options(given) -> Pairs:
    """Options of a dataset in one form; which of them exist, the loader says."""
    options = _as_dict(given, "The options of the dataset", '{"per": "compound"}')
    for name, value in options.items():
        known = isinstance(value, str | int | float) and value == value
        if name in OTHER_OPTIONS or not known:
            raise KCNetError(f"{name[:40]} cannot be given as an option of the dataset here.")
    for name, defaults in DEFAULT_OPTIONS.items():
        if options.get(name) in defaults:
            del options[name]
    return _pairs(options)


def _checked_settings(given) -> tuple[tuple[str, Pairs], ...]:
    """Settings in one form; every name and value must be known to its model."""
    every = {}
    for name, of_model in _as_dict(given, "The settings", '{"DOA": {"n_epochs": 20}}').items():
        model = find_model(name)
        if not isinstance(of_model, Mapping | tuple):
            raise KCNetError("The settings must name a model and then its settings.")
        check = _checked_network if model.network else _checked_baseline
        if chosen := check(model, dict(of_model)):
            every[name] = _pairs(chosen)
    return _pairs(every)


def _as_dict(given, what: str, example: str) -> dict:
    try:
        value = json.loads(given or "{}") if isinstance(given, str) else given
    except (json.JSONDecodeError, RecursionError):
        value = None
    if not isinstance(value, Mapping | tuple):
        raise KCNetError(f"{what} must look like {example}.")
    return dict(value)


def _pairs(mapping: Mapping) -> Pairs:
    return tuple(sorted(mapping.items()))


def _checked_baseline(model: Model, chosen: dict) -> dict:
    space = {dimension.name: dimension for dimension in model.space}
    for key in chosen:
        _one_of(f"A setting of {model.name}", key, space)
    return {key: space[key].checked(value) for key, value in chosen.items()}


def _checked_network(model: Model, chosen: dict) -> dict:
    defaults = Run()
    allowed = [f.name for f in fields(Run) if f.name not in SHARED_FIELDS]
    for key, value in chosen.items():
        _one_of(f"A setting of {model.name}", key, allowed)
        kind = type(getattr(defaults, key))
        fits = isinstance(value, kind) or (kind is float and isinstance(value, int))
        if not fits or (isinstance(value, bool) and kind is not bool):
            raise KCNetError(f"{key} of {model.name} must be of the kind {kind.__name__}.")
        chosen[key] = kind(value)
    Run(ANY_DATA, model=model.name, **chosen)
    return chosen


def _require(condition, sentence):
    if not condition:
        raise KCNetError(sentence)


def _within(what, value, low, high):
    _require(low <= value <= high, f"{what} must lie between {low} and {high}, not {value}.")


def _one_of(what, value, options):
    _require(value in options, f"{what} must be one of {', '.join(filter(None, options))}.")

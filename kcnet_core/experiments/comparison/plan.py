"""One frozen description of a comparison, from which controls, URL and job derive."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.models import find_model
from kcnet_core.experiments.protocols import PROTOCOLS
from kcnet_core.experiments.run import Run, parsed, written
from kcnet_core.limits import MAX_HIDDEN_SIZES, MAX_REPEATS
from kcnet_core.network.scaling import METHODS

FSHN_SIZES = {
    "hidden": "as many hidden units as the KCNet beside it",
    "parameters": "as many trained parameters as the KCNet beside it, as in the paper",
}
MAX_FOLDS = 20
# Fields of a run that a comparison decides for all models alike.
SHARED_FIELDS = ("dataset", "target", "pixels", "rows", "model", "protocol", "seed", "device")
DEFAULT_PIXELS = ("", "global")  # as a run and as the loader calls the paper's scale
OTHER_OPTIONS = ("target", "progress")  # a field of its own, or not data


@dataclass(frozen=True)
class Comparison:
    """Everything that decides the outcome of a comparison."""

    dataset: str = "mnist_sample"
    target: str = ""  # odor character; empty for images or all characters at once
    options: str = ""  # JSON: {"per": "compound"}, further options of the dataset
    models: tuple[str, ...] = ("KCNet", "DOA", "ELM", "FSHN")
    hidden: tuple[int, ...] = (100, 250, 500)
    protocol: str = ""  # empty: the default of the dataset
    n_repeats: int = 3
    n_folds: int = 0  # 0: one test part per repeat
    rows: int = 0  # training rows at most; 0: all
    scaling: str = ""  # empty: the default of the dataset
    oversampling: bool = False
    fshn_size: str = "hidden"
    seed: int = 0
    settings: str = ""  # JSON: {"DOA": {"n_epochs": 20}}, what differs from the defaults

    def __post_init__(self):
        object.__setattr__(self, "models", tuple(dict.fromkeys(self.models)))
        object.__setattr__(self, "hidden", tuple(sorted(set(self.hidden))))
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
        # Refuses names that are too long, and a scale of pixels where there are none.
        Run(dataset=self.dataset, target=self.target, pixels=self.pixels)
        object.__setattr__(self, "settings", _checked_settings(self.settings))

    @property
    def pixels(self) -> str:
        """The scale of the pixels, as a `Run` calls it."""
        return self.data_options().get("normalise", "")

    def with_pixels(self, pixels: str) -> Comparison:
        """The same comparison on another scale of the pixels; other options stay."""
        options = json.loads(self.options) if self.options else {}
        return replace(self, options=json.dumps({**options, "normalise": pixels}))

    def model_settings(self, name: str) -> dict:
        """Settings that were chosen for one model."""
        return json.loads(self.settings).get(name, {}) if self.settings else {}

    def with_settings(self, name: str, chosen: Mapping) -> Comparison:
        """The same comparison with other settings for one model (such as tuned ones)."""
        every = json.loads(self.settings) if self.settings else {}
        return replace(self, settings=json.dumps({**every, name: dict(chosen)}))

    def to_query(self) -> dict[str, str]:
        """The fields that differ from their defaults, as URL parameters."""
        query = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                many = isinstance(value, tuple)
                query[field.name] = ",".join(map(str, value)) if many else written(value)
        return query

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> tuple[Comparison, list[str]]:
        """A comparison from URL parameters, and a sentence for each that could not be used."""
        comparison, ignored = cls(), []
        for field in fields(cls):
            if field.name not in query:
                continue
            try:
                value = _from_text(query[field.name], field.default)
                comparison = replace(comparison, **{field.name: value})
            except KCNetError as error:
                ignored.append(f"The link's {field.name} was not used: {error}")
        return comparison, ignored

    def data_options(self) -> dict:
        """Options of `kcnet_core.datasets.load` for the dataset of this comparison."""
        options = json.loads(self.options) if self.options else {}
        return options | ({"target": self.target} if self.target else {})

    def load(self) -> Dataset:
        from kcnet_core import datasets

        return datasets.load(self.dataset, **self.data_options())


def _checked_options(text):
    """Options of a dataset as JSON in one form; which of them exist, the loader says."""
    options = _parsed_json(text, "The options of the dataset", '{"per": "compound"}')
    for name, value in options.items():
        if name in OTHER_OPTIONS or not isinstance(value, str | int | float):
            raise KCNetError(f"{name[:40]} cannot be given as an option of the dataset here.")
    if options.get("normalise") in DEFAULT_PIXELS:
        del options["normalise"]
    return _one_form(options)


def _checked_settings(text):
    """Settings as JSON in one form; every name and value must be known to its model."""
    every = _parsed_json(text, "The settings", '{"DOA": {"n_epochs": 20}}')
    if not all(isinstance(chosen, dict) for chosen in every.values()):
        raise KCNetError("The settings must name a model and then its settings.")
    for name, chosen in every.items():
        model = find_model(name)
        if model.network:
            _check_network_settings(name, chosen)
            continue
        space = {dimension.name: dimension for dimension in model.space}
        for key, value in chosen.items():
            _one_of(f"A setting of {name}", key, space)
            chosen[key] = space[key].checked(value)
    return _one_form({name: chosen for name, chosen in every.items() if chosen})


def _parsed_json(text, what, example):
    if not text:
        return {}
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise KCNetError(f"{what} must look like {example}.")
    return value


def _one_form(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")) if value else ""


def _check_network_settings(name, chosen):
    defaults = Run()
    allowed = [f.name for f in fields(Run) if f.name not in SHARED_FIELDS]
    for key, value in chosen.items():
        _one_of(f"A setting of {name}", key, allowed)
        kind = type(getattr(defaults, key))
        fits = isinstance(value, kind) or (kind is float and isinstance(value, int))
        if not fits or (isinstance(value, bool) and kind is not bool):
            raise KCNetError(f"{key} of {name} must be of the kind {kind.__name__}.")
        if kind is float:
            chosen[key] = float(value)
    Run(model=name, **chosen)


def _from_text(text, default):
    if not isinstance(default, tuple):
        return parsed(text, type(default))
    kind = type(default[0])
    return tuple(parsed(part.strip(), kind) for part in text.split(",") if part.strip())


def _require(condition, sentence):
    if not condition:
        raise KCNetError(sentence)


def _within(what, value, low, high):
    _require(low <= value <= high, f"{what} must lie between {low} and {high}, not {value}.")


def _one_of(what, value, options):
    _require(value in options, f"{what} must be one of {', '.join(filter(None, options))}.")

"""One frozen description of a run: controls, URL, job, command line and script derive from it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Self

from kcnet_core.contracts import Network
from kcnet_core.datasets.catalogue import CATALOGUE, is_image_set
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.datasets.pixels import NORMALISATIONS
from kcnet_core.errors import KCNetError
from kcnet_core.limits import MAX_EPOCHS, MAX_HIDDEN, MAX_SUBMODELS

KCNET_MODELS = ("KCNet", "DOA", "Ensemble DOA")
NETWORK_NAMES = (*KCNET_MODELS, "ELM", "FSHN")
DOA_MODELS = ("DOA", "Ensemble DOA")
EPOCH_MODELS = (*DOA_MODELS, "FSHN")
RIDGE_MODELS = (*KCNET_MODELS, "ELM")

# Fields that the estimators have too, each for the models that its setting names.
ESTIMATOR_FIELDS = (
    "fan_in", "inhibition", "alpha", "n_epochs", "doa_rule", "learning_rate", "stop_metric",
    "batch_rows", "fan_in_penalty", "n_submodels",
)  # fmt: skip
NONE_FOR_0 = ("stop_metric", "batch_rows")  # what an estimator calls None, a control calls 0

MODEL_EXPLANATIONS = {
    "KCNet": "Random wiring, one ridge solve",
    "DOA": "The wiring itself is tuned, epoch by epoch",
    "Ensemble DOA": "Several small tuned wirings, joined and solved once more",
    "ELM": "Dense random weights and a sigmoid: the classic rival",
    "FSHN": "Every weight trained by gradient descent",
}


@dataclass(frozen=True)
class Setting:
    """What a control needs to know about one field of `Run`."""

    label: str
    help: str
    symbol: str = ""  # as the paper writes it
    low: float | None = None
    high: float | None = None
    step: float | None = None
    log: bool = False
    options: tuple[str, ...] = ()
    models: tuple[str, ...] = NETWORK_NAMES  # for which models the setting means anything


def setting(default, label, help, span=(), **about):
    """A field of a `Run`; `span` is its lowest and highest value and the step between."""
    about |= zip(("low", "high", "step"), span, strict=False)
    return field(default=default, metadata={"setting": Setting(label, help, **about)})


of_kcnet = partial(setting, models=KCNET_MODELS)
of_doa = partial(setting, models=DOA_MODELS)
of_epochs = partial(setting, models=EPOCH_MODELS)


class Described:
    """A frozen dataclass that says everything of some work, also as URL parameters."""

    dataset: str

    def to_query(self) -> dict[str, str]:
        """The fields that differ from their defaults, as URL parameters."""
        return {
            f.name: written(value)
            for f in fields(self)  # type: ignore[arg-type]  # its children are dataclasses
            if (value := getattr(self, f.name)) != f.default
        }

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> tuple[Self, list[str]]:
        """One from URL parameters, and a sentence for each parameter that could not be used."""
        made, ignored = cls(), []
        for f in fields(cls):  # type: ignore[arg-type]
            if f.name not in query:
                continue
            try:
                made = replace(made, **{f.name: parsed(query[f.name], f.default)})  # type: ignore[type-var]
            except KCNetError as error:
                ignored.append(f"The link's {f.name} was not used: {error}")
        return made, ignored

    def data_options(self) -> dict[str, Any]:
        """Options of `kcnet_core.datasets.load` for its dataset."""
        raise NotImplementedError

    def load(self) -> Dataset:
        from kcnet_core import datasets

        return datasets.load(self.dataset, **self.data_options())


@dataclass(frozen=True)
class Run(Described):
    """Everything that decides the outcome of one training run.

    A run with the same fields, on the same machine, gives the same result.
    """

    dataset: str = setting("mnist_sample", "Dataset", "What the network learns from")
    target: str = setting("", "Odor character", "One odor character, or all of them at once")
    pixels: str = setting(
        "",
        "Pixels",
        "Standardised with one mean and deviation, as in the paper; or with those of each pixel "
        "(per_pixel), or on a fixed scale from 0 to 1 (none) or from −1 to 1 (half)",
        options=("", *list(NORMALISATIONS)[1:]),
    )
    rows: int = setting(
        0, "Training rows", "0 uses every training row; fewer train faster", (0, 1_000_000)
    )
    model: str = setting("DOA", "Model", "Which of the paper's networks", options=NETWORK_NAMES)
    n_hidden: int = setting(
        200,
        "Kenyon cells",
        "Width of the hidden layer, in all submodels together",
        (10, MAX_HIDDEN, 10),
        symbol="𝓑",
        log=True,
    )
    fan_in: int = of_kcnet(
        7,
        "Inputs per cell",
        "Ones in each row of W; a fly has about seven",
        (1, 50, 1),
        symbol="Nᵢₙ",
    )
    inhibition: float = of_kcnet(
        1.0,
        "Global inhibition",
        "How much of the mean activity is subtracted from every cell",
        (0.0, 3.0, 0.05),
        symbol="C",
    )
    alpha: float = of_kcnet(
        13.0,
        "Ridge penalty",
        "Larger values keep the output weights smaller",
        (1e-3, 1e4),
        symbol="λ",
        log=True,
    )
    alpha_loo: bool = of_kcnet(
        False,
        "Choose λ by leave-one-out",
        "Tries a whole path of λ and keeps the best on rows left out one by one",
    )
    n_epochs: int = of_epochs(
        60,
        "Epochs",
        "How often the wiring (or, for FSHN, every weight) is revised",
        (1, MAX_EPOCHS, 1),
        log=True,
    )
    learning_rate: float = of_epochs(
        0.05,
        "Learning rate",
        "How far the preference scores move in one epoch",
        (5e-7, 0.5),
        symbol="α",
        log=True,
    )
    stop_metric: float = of_doa(
        0.0,
        "Stop metric",
        "Stop early once the validation metric is this good; 0 never stops early",
        (0.0, 1.0, 0.01),
    )
    doa_rule: str = of_doa(
        "varpro",
        "DOA rule",
        "Ours (varpro): exact gradient of the squared loss with the output weights solved for, "
        "Adam steps; paper: Algorithm 1, cross-entropy on validation rows",
        options=("varpro", "paper"),
    )
    batch_rows: int = of_doa(
        0,
        "Rows per epoch",
        "Rows drawn for each varpro epoch; 0 chooses by width and data size",
        (0, 60_000, 500),
    )
    fan_in_penalty: float = of_doa(
        0.0,
        "Fan-in penalty",
        "Holds the number of inputs per cell near its start; 0 lets W grow denser",
        (0.0, 1.0, 0.01),
    )
    n_submodels: int = setting(
        10,
        "Submodels",
        "The cells are divided among this many independently tuned networks",
        (2, MAX_SUBMODELS, 1),
        models=("Ensemble DOA",),
    )
    protocol: str = setting(
        "",
        "Split protocol",
        "Which rows are kept for the test",
        options=("", "benchmark", "unseen_molecules", "paper_split"),
    )
    seed: int = setting(0, "Seed", "Every random choice follows from it", (0, 2**31 - 1, 1))
    device: str = setting(
        "auto", "Device", "Where the heavy work runs", options=("auto", "cpu", "cuda", "mps")
    )

    def __post_init__(self):
        for name, about in settings().items():
            check(getattr(self, name), about)
        if self.pixels and not is_image_set(self.dataset):
            raise KCNetError("A scale of pixels can be chosen for the catalogue's image sets only.")

    def to_link(self) -> dict[str, str]:
        """Every field that means something to the model: a link that outlives new defaults."""
        known = settings()
        return {
            f.name: written(getattr(self, f.name))
            for f in fields(self)
            if self.model in known[f.name].models and getattr(self, f.name) != ""
        }

    def describe(self) -> str:
        """A short title: what was trained on what."""
        what = self.model
        if self.model == "Ensemble DOA":
            what += f" {self.n_submodels} × {self.n_hidden // self.n_submodels}"
        else:
            what += f" {self.n_hidden}"
        where = CATALOGUE[self.dataset].title if self.dataset in CATALOGUE else "your own data"
        target = f" ({self.target})" if self.target else ""
        scale = f", {NORMALISATIONS[self.pixels]}" if self.pixels else ""
        return f"{what} on {where}{target}{scale}, seed {self.seed}"

    def data_options(self) -> dict[str, Any]:
        options = {"target": self.target, "normalise": self.pixels}
        return {name: value for name, value in options.items() if value}

    # -- the estimator -------------------------------------------------------------------------

    def estimator_parameters(self) -> dict:
        """Arguments of the estimator class that this run stands for."""
        known = settings()
        chosen = {n: getattr(self, n) for n in ESTIMATOR_FIELDS if self.model in known[n].models}
        if self.alpha_loo and "alpha" in chosen:
            chosen["alpha"] = "loo"
        chosen |= {name: chosen[name] or None for name in NONE_FOR_0 if name in chosen}
        common = {"n_hidden": self.n_hidden, "device": self.device, "random_state": self.seed}
        return common | chosen

    @property
    def estimator_name(self) -> str:
        return {"ELM": "ELMClassifier", "FSHN": "FSHNClassifier"}.get(self.model, "KCNetClassifier")

    def estimator(self) -> Network:
        import kcnet_core

        return getattr(kcnet_core, self.estimator_name)(**self.estimator_parameters())


def settings() -> dict[str, Setting]:
    return {f.name: f.metadata["setting"] for f in fields(Run)}


def written(value) -> str:
    """The shortest text from which `parsed` gives the same value back; pairs as JSON."""
    if isinstance(value, tuple):
        if not isinstance(value[0], tuple):
            return ",".join(map(str, value))
        nested = {key: dict(inner) if isinstance(inner, tuple) else inner for key, inner in value}
        return json.dumps(nested, sort_keys=True, separators=(",", ":"))
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return short if float(short := f"{value:g}") == value else repr(value)
    return str(value)


def parsed(text: str, default):
    """A value like `default`; pairs stay JSON, which a comparison reads itself."""
    if isinstance(default, tuple) and default:
        return tuple(parsed(part.strip(), default[0]) for part in text.split(",") if part.strip())
    if isinstance(default, bool):
        return text.strip().lower() in ("1", "true", "yes", "on")
    if isinstance(default, str | tuple):
        return text
    try:
        number = float(text)
        return number if isinstance(default, float) else int(number)
    except (ValueError, OverflowError):
        raise KCNetError(f"{text[:40]!r} is not a number.") from None


def check(value, about: Setting) -> None:
    """Refuse a value that is not allowed with a sentence that says what is."""
    if about.options and value not in about.options:
        raise KCNetError(f"{about.label} must be one of {', '.join(filter(None, about.options))}.")
    if about.low is not None:
        if not math.isfinite(value):
            raise KCNetError(f"{about.label} must be a number.")
        if not about.low <= value <= about.high:
            raise KCNetError(
                f"{about.label} must lie between {about.low:g} and {about.high:g}, not {value:g}."
            )
    if isinstance(value, str) and len(value) > 100:
        raise KCNetError(f"{about.label} is longer than 100 characters.")

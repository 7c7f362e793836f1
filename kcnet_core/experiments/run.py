"""One frozen description of a run: controls, URL, job, command line and script derive from it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

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


def setting(default, label, help, **about):
    return field(default=default, metadata={"setting": Setting(label, help, **about)})


@dataclass(frozen=True)
class Run:
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
        0, "Training rows", "0 uses every training row; fewer train faster", low=0, high=1_000_000
    )
    model: str = setting("DOA", "Model", "Which of the paper's networks", options=NETWORK_NAMES)
    n_hidden: int = setting(
        200,
        "Kenyon cells",
        "Width of the hidden layer, in all submodels together",
        symbol="𝓑",
        low=10,
        high=MAX_HIDDEN,
        step=10,
        log=True,
    )
    fan_in: int = setting(
        7,
        "Inputs per cell",
        "Ones in each row of W; a fly has about seven",
        symbol="Nᵢₙ",
        low=1,
        high=50,
        step=1,
        models=KCNET_MODELS,
    )
    inhibition: float = setting(
        1.0,
        "Global inhibition",
        "How much of the mean activity is subtracted from every cell",
        symbol="C",
        low=0.0,
        high=3.0,
        step=0.05,
        models=KCNET_MODELS,
    )
    alpha: float = setting(
        13.0,
        "Ridge penalty",
        "Larger values keep the output weights smaller",
        symbol="λ",
        low=1e-3,
        high=1e4,
        log=True,
        models=KCNET_MODELS,
    )
    alpha_loo: bool = setting(
        False,
        "Choose λ by leave-one-out",
        "Tries a whole path of λ and keeps the best on rows left out one by one",
        models=KCNET_MODELS,
    )
    n_epochs: int = setting(
        60,
        "Epochs",
        "How often the wiring (or, for FSHN, every weight) is revised",
        low=1,
        high=MAX_EPOCHS,
        step=1,
        log=True,
        models=EPOCH_MODELS,
    )
    learning_rate: float = setting(
        0.05,
        "Learning rate",
        "How far the preference scores move in one epoch",
        symbol="α",
        low=5e-7,
        high=0.5,
        log=True,
        models=EPOCH_MODELS,
    )
    stop_metric: float = setting(
        0.0,
        "Stop metric",
        "Stop early once the validation metric is this good; 0 never stops early",
        low=0.0,
        high=1.0,
        step=0.01,
        models=DOA_MODELS,
    )
    doa_rule: str = setting(
        "varpro",
        "DOA rule",
        "Ours (varpro): exact gradient of the squared loss with the output weights solved for, "
        "Adam steps; paper: Algorithm 1, cross-entropy on validation rows",
        options=("varpro", "paper"),
        models=DOA_MODELS,
    )
    batch_rows: int = setting(
        0,
        "Rows per epoch",
        "Rows drawn for each varpro epoch; 0 chooses by width and data size",
        low=0,
        high=60_000,
        step=500,
        models=DOA_MODELS,
    )
    fan_in_penalty: float = setting(
        0.0,
        "Fan-in penalty",
        "Holds the number of inputs per cell near its start; 0 lets W grow denser",
        low=0.0,
        high=1.0,
        step=0.01,
        models=DOA_MODELS,
    )
    n_submodels: int = setting(
        10,
        "Submodels",
        "The cells are divided among this many independently tuned networks",
        low=2,
        high=MAX_SUBMODELS,
        step=1,
        models=("Ensemble DOA",),
    )
    protocol: str = setting(
        "",
        "Split protocol",
        "Which rows are kept for the test",
        options=("", "benchmark", "unseen_molecules", "paper_split"),
    )
    seed: int = setting(
        0, "Seed", "Every random choice follows from it", low=0, high=2**31 - 1, step=1
    )
    device: str = setting(
        "auto", "Device", "Where the heavy work runs", options=("auto", "cpu", "cuda", "mps")
    )

    def __post_init__(self):
        for name, about in settings().items():
            object.__setattr__(self, name, checked(name, getattr(self, name), about))
        if self.pixels and not is_image_set(self.dataset):
            raise KCNetError("A scale of pixels can be chosen for the catalogue's image sets only.")

    # -- text forms ---------------------------------------------------------------------------

    def to_query(self) -> dict[str, str]:
        """The fields that differ from their defaults, as URL parameters."""
        return {
            f.name: written(value)
            for f in fields(self)
            if (value := getattr(self, f.name)) != f.default
        }

    def to_link(self) -> dict[str, str]:
        """Every field that means something to the model: a link that outlives new defaults."""
        known = settings()
        return {
            f.name: written(getattr(self, f.name))
            for f in fields(self)
            if self.model in known[f.name].models and getattr(self, f.name) != ""
        }

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> tuple[Run, list[str]]:
        """A run from URL parameters, and a sentence for each parameter that could not be used."""
        run, ignored = cls(), []
        for f in fields(cls):
            if f.name not in query:
                continue
            try:
                run = replace(run, **{f.name: parsed(query[f.name], type(f.default))})
            except KCNetError as error:
                ignored.append(f"The link's {f.name} was not used: {error}")
        return run, ignored

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

    # -- the data ------------------------------------------------------------------------------

    def data_options(self) -> dict[str, str]:
        """Options of `kcnet_core.datasets.load` for the dataset of this run."""
        options = {"target": self.target, "normalise": self.pixels}
        return {name: value for name, value in options.items() if value}

    def load(self) -> Dataset:
        from kcnet_core import datasets

        return datasets.load(self.dataset, **self.data_options())

    # -- the estimator -------------------------------------------------------------------------

    def estimator_parameters(self) -> dict:
        """Arguments of the estimator class that this run stands for."""
        common = {"n_hidden": self.n_hidden, "device": self.device, "random_state": self.seed}
        if self.model == "ELM":
            return common
        if self.model == "FSHN":
            return {**common, "n_epochs": self.n_epochs, "learning_rate": self.learning_rate}
        parameters = {
            **common,
            "fan_in": self.fan_in,
            "inhibition": self.inhibition,
            "alpha": "loo" if self.alpha_loo else self.alpha,
        }
        if self.model in DOA_MODELS:
            parameters |= {
                "n_epochs": self.n_epochs,
                "doa_rule": self.doa_rule,
                "learning_rate": self.learning_rate,
                "stop_metric": self.stop_metric or None,
                "batch_rows": self.batch_rows or None,
                "fan_in_penalty": self.fan_in_penalty,
            }
        if self.model == "Ensemble DOA":
            parameters["n_submodels"] = self.n_submodels
        return parameters

    @property
    def estimator_name(self) -> str:
        return {"ELM": "ELMClassifier", "FSHN": "FSHNClassifier"}.get(self.model, "KCNetClassifier")

    def estimator(self) -> Network:
        import kcnet_core

        return getattr(kcnet_core, self.estimator_name)(**self.estimator_parameters())


def network_estimator(model: str, chosen: Mapping, seed: int) -> Network:
    """The unfitted network with `chosen` settings; all others are as in a run."""
    return Run(model=model, seed=seed, **chosen).estimator()


def settings() -> dict[str, Setting]:
    return {f.name: f.metadata["setting"] for f in fields(Run)}


def written(value) -> str:
    """The shortest text from which `parsed` gives the same value back."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return short if float(short := f"{value:g}") == value else repr(value)
    return str(value)


def parsed(text: str, kind: type):
    if kind is bool:
        return text.strip().lower() in ("1", "true", "yes", "on")
    if kind is str:
        return text
    try:
        number = float(text)
        return number if kind is float else int(number)
    except (ValueError, OverflowError):
        raise KCNetError(f"{text[:40]!r} is not a number.") from None


def checked(name: str, value, about: Setting):
    """The value if it is allowed; otherwise a sentence that says what is."""
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
    return value

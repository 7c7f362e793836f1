"""One frozen description of a run: controls, URL, job, command line and script derive from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

from kcnet_core.contracts import Network
from kcnet_core.datasets.catalogue import CATALOGUE, is_glomerular
from kcnet_core.datasets.fly.characters import SOURCES
from kcnet_core.datasets.fly.door import CHARACTERS
from kcnet_core.datasets.pixels import NORMALISATIONS
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.described import Described, written
from kcnet_core.experiments.obstacles import BEHIND_A_RETINA, dataset_obstacle, option_obstacle
from kcnet_core.limits import MAX_EPOCHS, MAX_HIDDEN, MAX_SUBMODELS
from kcnet_core.network.retina import RETINAS
from kcnet_core.network.wiring import PLANS

KCNET_MODELS = ("KCNet", "DOA", "Ensemble DOA")
NETWORK_NAMES = (*KCNET_MODELS, "ELM", "FSHN")
DOA_MODELS = ("DOA", "Ensemble DOA")
EPOCH_MODELS = (*DOA_MODELS, "FSHN")
RIDGE_MODELS = (*KCNET_MODELS, "ELM")

# Fields that the estimators have too, each for the models that its setting names.
ESTIMATOR_FIELDS = (
    "fan_in", "inhibition", "alpha", "n_epochs", "doa_rule", "learning_rate", "stop_metric",
    "batch_rows", "fan_in_penalty", "keep_fan_in", "n_submodels", "wiring", "min_field",
    "max_field", "local_share", "min_synapses", "synapse_counts",
)  # fmt: skip
LOCAL_FIELDS = ("min_field", "max_field", "local_share", "leave_field")  # of local wiring only
FLY_FIELDS = ("min_synapses", "synapse_counts")  # of a real fly's wiring only
ANY_DATA = ""  # where a run stands for its model's settings alone, whatever that will learn from
NONE_FOR_0 = ("stop_metric", "batch_rows")  # what an estimator calls None, a control calls 0

MODEL_EXPLANATIONS = {
    "KCNet": "The wiring stays as it is drawn, one ridge solve",
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
        "(per_pixel), or on a fixed scale from 0 to 1 (none) or from −1 to 1 (half); or each first "
        "mixed with its eight neighbours, as by a soft lens (soft)",
        options=("", *list(NORMALISATIONS)[1:]),
    )
    missing: str = setting(
        "",
        "Missing responses",
        "Of glomeruli that nobody measured with an odorant: set to the spontaneous rate, or only "
        "odorants and glomeruli that were all measured with each other (complete)",
        options=("", "complete"),
    )
    characters: str = setting(
        "",
        "Odor characters from",
        "Which odor set says what DoOR's odorants smell of to people: the starter set, another "
        "one, or every one that is on this machine (all)",
        options=("", *SOURCES[1:]),
    )
    retina: str = setting(
        "",
        "Retina",
        "What stands between an image and the network: nothing, or  \n"
        + "  \n".join(f"**{name}**: {about}" for name, about in RETINAS.items()),
        options=("", *RETINAS),
    )
    n_patches: int = setting(
        100, "Patches of the retina", "How many typical patches it learns", (10, 1_600, 10)
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
        "Ones in each row of W; a fly's cell has about seven claws",
        (1, 50, 1),
        symbol="Nᵢₙ",
    )
    wiring: str = of_kcnet(
        "random",
        "Wiring",
        "  \n".join(f"**{plan.title}** ({name}): {plan.about}" for name, plan in PLANS.items()),
        options=tuple(PLANS),
    )
    min_field: int = of_kcnet(
        5, "Smallest field", "Shortest side of a cell's rectangle, in pixels", (1, 64, 1)
    )
    max_field: int = of_kcnet(
        16, "Largest field", "Longest side of a cell's rectangle, in pixels", (1, 64, 1)
    )
    local_share: float = of_kcnet(
        1.0,
        "Cells with a field",
        "Share of cells; the others see the whole image",
        (0.0, 1.0, 0.05),
    )
    min_synapses: int = of_kcnet(
        3, "Least synapses", "From which on a cell of the hemibrain hears a glomerulus", (1, 20, 1)
    )
    synapse_counts: bool = setting(
        False,
        "Count synapses",
        "Connections of the hemibrain count by their synapses instead of all alike",
        models=("KCNet",),
    )
    leave_field: bool = of_doa(
        False,
        "Tuning may leave the field",
        "DOA may connect a cell to any input; otherwise to those in its field and one pixel around",
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
    keep_fan_in: bool = of_doa(
        False,
        "Keep every fan-in",
        "Each cell keeps exactly as many inputs as it began with; DOA only chooses which",
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
        why = option_obstacle(
            self.dataset, self.pixels, self.missing, self.characters
        ) or dataset_obstacle(self.dataset, self.wiring, self.retina)
        if why:
            raise KCNetError(why)
        if self.retina and PLANS[self.wiring].needs_image:
            raise KCNetError(BEHIND_A_RETINA)

    def to_link(self) -> dict[str, str]:
        """Every field that means something to the model: a link that outlives new defaults."""
        return {
            f.name: written(getattr(self, f.name))
            for f in fields(self)
            if self.uses(f.name) and getattr(self, f.name) != ""
        }

    def uses(self, name: str) -> bool:
        """Whether a field means anything to this run's model and wiring."""
        real = PLANS[self.wiring].needs_glomeruli
        fits = {
            **dict.fromkeys(LOCAL_FIELDS, self.wiring == "local"),
            **dict.fromkeys(FLY_FIELDS, real),
            "fan_in": not real,
            "missing": is_glomerular(self.dataset),
            "characters": self.dataset == CHARACTERS,
            "n_patches": self.retina == "patches",
        }
        return fits.get(name, True) and self.model in settings()[name].models

    @property
    def n_networks(self) -> int:
        """Wirings that are tuned one beside the other; there is one but in an ensemble."""
        return self.n_submodels if self.model == "Ensemble DOA" else 1

    def describe(self) -> str:
        """A short title: what was trained on what."""
        what = self.model
        plan = (
            "" if self.wiring == "random" or not self.uses("wiring") else f", {self.wiring} wiring"
        )
        if self.model == "Ensemble DOA":
            what += f" {self.n_submodels} × {self.n_hidden // self.n_submodels}"
        else:
            what += f" {self.n_hidden}"
        where = CATALOGUE[self.dataset].title if self.dataset in CATALOGUE else "your own data"
        target = f" ({self.target})" if self.target else ""
        scale = f", {NORMALISATIONS[self.pixels]}" if self.pixels else ""
        scale += f", retina of {self.retina}" if self.retina else ""
        return f"{what} on {where}{target}{scale}{plan}, seed {self.seed}"

    def data_options(self) -> dict[str, Any]:
        options = {
            "target": self.target, "normalise": self.pixels, "missing": self.missing,
            "characters": self.characters,
        }  # fmt: skip
        return {name: value for name, value in options.items() if value}

    # -- the estimator -------------------------------------------------------------------------

    def estimator_parameters(self) -> dict:
        """Arguments of the estimator class that this run stands for."""
        chosen = {name: getattr(self, name) for name in ESTIMATOR_FIELDS if self.uses(name)}
        if self.wiring == "random":
            chosen.pop("wiring", None)  # the paper's, and the estimator's own
        if self.uses("leave_field") and self.leave_field:
            chosen["gradient_mask"] = "none"
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

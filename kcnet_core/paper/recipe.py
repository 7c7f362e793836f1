"""What a recipe is: a result of the paper as data, from which one engine can measure it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kcnet_core.experiments.models import MODELS
from kcnet_core.experiments.presets import paper_presets
from kcnet_core.experiments.run import Run, settings

# Training rows that the paper had; a measurement on fewer is not compared with its figures.
PAPER_ROWS = {"mnist": 60_000, "fashion_mnist": 60_000, "emnist_balanced": 112_800}
GROUPS = {"tables": "Tables", "figures": "Figures", "questions": "What a careful reader asks"}
SETTING_NAMES = (
    "n_hidden", "alpha", "n_submodels", "n_epochs", "learning_rate", "stop_metric", "doa_rule",
)  # fmt: skip


@dataclass(frozen=True)
class Paper:
    """A figure that the paper prints, and its standard deviation over five experiments."""

    mean: float
    sd: float | None = None


@dataclass(frozen=True)
class Tuning:
    """Settings that a line does not fix are searched with Optuna, on training rows only."""

    n_trials: int  # settings tried; the first is the untuned one
    n_folds: int = 3  # inner ones; of many rows one inner part is held out, as in the paper
    # Tune this model instead and use what it found: an ensemble takes over what suits a submodel.
    model: str = ""
    settings: Mapping = field(default_factory=dict)
    untuned: Mapping = field(default_factory=dict)  # in place of defaults, in the first setting


@dataclass(frozen=True)
class RecipeLine:
    """One model with its settings on one dataset under one protocol: one number of a table."""

    label: str  # row of a chart; with panel, series and x it names the line in its recipe
    model: str  # key of `experiments.models.MODELS`
    dataset: str  # with target and options for `kcnet_core.datasets.load`
    settings: Mapping = field(default_factory=dict)  # fields of `Run`, or a baseline's own
    panel: str = ""
    series: str = ""  # kind of marker
    beyond: Mapping = field(default_factory=dict)  # of `KCNetClassifier`, what no `Run` has
    target: str = ""
    options: Mapping = field(default_factory=dict)
    alteration: tuple[str, float] | None = None  # of the whole dataset, see `altered_data`
    protocol: str = "benchmark"  # "paper_split" also hides which rows are one molecule
    oversampling: bool = False  # ADASYN inside the training rows
    rows: int = 0  # training rows at most; 0: all
    tuning: Tuning | None = None  # None: the settings stand as they are
    paper: Paper | None = None  # None when the paper shows only a plot
    goal: tuple[float, float] | None = None  # where this project wants its mean to be
    x: float | None = None  # place on the horizontal axis, in sweeps
    # Of "curves", "matrices" and "trials", what to store, or "stored", the bytes that the network
    # takes and its accuracy in 8 bits. "times" stores nothing more, but a row
    # that has it is never taken over from a recipe where much may have run beside it.
    keep: tuple[str, ...] = ()
    repeats: int = 0  # in place of the recipe's; 0: the recipe's
    comparable: bool = True  # False when a quick version trains something smaller

    @property
    def key(self) -> str:
        place = "" if self.x is None else f"{self.x:g}"
        return " · ".join(filter(None, (self.panel, self.label, self.series, place)))

    @property
    def tried(self) -> int:
        """Settings tried for one result."""
        return self.tuning.n_trials if self.tuning else 1

    @property
    def searched(self) -> tuple[str, Mapping]:
        """Model and fixed settings of a line's search."""
        if self.tuning and self.tuning.model:
            return self.tuning.model, self.tuning.settings
        return self.model, self.settings

    def make(self, seed: int, found: Mapping | None = None):
        """The unfitted estimator; `found` are tuned settings."""
        model = MODELS[self.model].build({**self.settings, **(found or {})}, seed)
        return model.set_params(**self.beyond) if self.beyond else model

    def run(self, repeat: int = 0, found: Mapping | None = None) -> Run | None:
        """The same experiment for the Train page; None for a model that is no network."""
        if not MODELS[self.model].network:
            return None
        return Run(
            dataset=self.dataset,
            target=self.target,
            pixels=self.options.get("normalise", ""),
            missing=self.options.get("missing", ""),
            characters=self.options.get("characters", ""),
            rows=self.rows,
            model=self.model,
            protocol=self.protocol,
            seed=repeat,
            **{**self.settings, **(found or {})},
        )


@dataclass(frozen=True)
class Contrast:
    """Two lines on the same splits, whose difference answers a question."""

    question: str
    first: str  # key of a line; the difference is first minus second
    second: str


@dataclass(frozen=True)
class Quick:
    """What a version of a few minutes leaves out."""

    repeats: int = 2
    rows: int = 0  # training rows at most; 0: all
    cells: int = 1  # the hidden layer is divided by this
    epochs: int = 0  # at most; 0: all
    trials: int = 3
    xs: tuple[float, ...] = ()  # of a sweep, only these places
    panels: tuple[str, ...] = ()  # only these panels


@dataclass(frozen=True)
class Recipe:
    """One result of the paper, or one question about it."""

    name: str  # on the command line and in links
    title: str
    where: str  # in the paper ("Table 1")
    question: str  # what it shows, in a sentence
    group: str  # key of `GROUPS`
    lines: tuple[RecipeLine, ...]
    view: str = "table"  # how it is drawn: or "sweep", "times", "inside", "search"
    # Of `experiments.metrics.METRICS`, or "seconds", or "score": weighted F1 for odors and
    # accuracy for images.
    metric: str = "accuracy"
    repeats: int = 5  # splits, or seeds of a benchmark's own split
    quick: Quick = Quick()
    contrasts: tuple[Contrast, ...] = ()
    notes: tuple[str, ...] = ()  # where the paper contradicts itself, what differs here
    plot_only: bool = False  # the paper shows a plot and prints no numbers
    see_also: tuple[str, ...] = ()  # recipes that measure why figures may differ
    is_quick: bool = False

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(line.dataset for line in self.lines))

    def line(self, key: str) -> RecipeLine | None:
        return next((line for line in self.lines if line.key == key), None)

    def metric_of(self, line: RecipeLine) -> str:
        if self.metric != "score":
            return self.metric
        return "accuracy" if line.protocol == "benchmark" else "weighted F1"

    def units(self) -> list[tuple[RecipeLine, int]]:
        """All (line, repeat), first repeats of every line first, so that results appear soon."""
        longest = max(line.repeats or self.repeats for line in self.lines)
        return [
            (line, repeat)
            for repeat in range(longest)
            for line in self.lines
            if repeat < (line.repeats or self.repeats)
        ]


def quickened(recipe: Recipe) -> Recipe:
    """The version of a few minutes: fewer repeats, and where needed fewer rows, cells, epochs."""
    if recipe.is_quick:
        return recipe
    quick = recipe.quick
    lines = tuple(
        _quick_line(line, quick)
        for line in recipe.lines
        if (not quick.xs or line.x in quick.xs) and (not quick.panels or line.panel in quick.panels)
    )
    keys = {line.key for line in lines}
    contrasts = tuple(c for c in recipe.contrasts if {c.first, c.second} <= keys)
    return replace(
        recipe, lines=lines, contrasts=contrasts, repeats=min(quick.repeats, recipe.repeats),
        is_quick=True,
    )  # fmt: skip


def _quick_line(line: RecipeLine, quick: Quick) -> RecipeLine:
    if line.dataset not in PAPER_ROWS:  # small data are quick with all their rows and cells
        quick = replace(quick, rows=0, cells=1)
    smaller = _smaller(line.settings, quick)
    tuning = line.tuning and replace(
        line.tuning,
        n_trials=min(line.tuning.n_trials, quick.trials),
        settings=_smaller(line.tuning.settings, quick),
    )
    rows = min(filter(None, (line.rows, quick.rows)), default=0)
    same = smaller == dict(line.settings) and rows == line.rows
    return replace(
        line, settings=smaller, tuning=tuning, rows=rows, repeats=0,
        comparable=line.comparable and same,
    )  # fmt: skip


def _smaller(chosen: Mapping, quick: Quick) -> dict:
    smaller = dict(chosen)
    if "n_hidden" in smaller and quick.cells > 1:
        smaller["n_hidden"] = max(10, smaller["n_hidden"] // quick.cells)
    if "n_epochs" in smaller and quick.epochs:
        smaller["n_epochs"] = min(smaller["n_epochs"], quick.epochs)
    return smaller


def tuned_on(protocol: str, repeat: int) -> int:
    """The repeat whose training rows are searched: all of a benchmark have the same rows, so that
    one search serves them."""
    return 0 if protocol == "benchmark" else repeat


def printed(dataset: str, target: str = "") -> dict[str, dict]:
    """The paper's settings of its networks on one dataset: those that matter for each of them."""
    about = settings()
    return {
        (run := preset.run).model: {
            name: getattr(run, name) for name in SETTING_NAMES if run.model in about[name].models
        }
        for preset in paper_presets(dataset, target)
    }

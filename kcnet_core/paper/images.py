"""Recipes on images: Table 2, accuracy against hidden size, running times, and clutter."""

from __future__ import annotations

from dataclasses import replace

from kcnet_core.experiments.presets import TUNED
from kcnet_core.experiments.run import DOA_MODELS
from kcnet_core.paper.odor import ALGORITHM_1, PUBLISHED
from kcnet_core.paper.recipe import Contrast, Paper, Quick, Recipe, RecipeLine, Tuning, printed

TITLES = {
    "mnist": "MNIST",
    "fashion_mnist": "Fashion-MNIST",
    "emnist_balanced": "EMNIST-Balanced",
}
WHOLE = ("mnist", "fashion_mnist")  # sets of which nothing is missing here
# Table 2: test accuracy, mean and standard deviation over five experiments.
TABLE_2 = {
    "ELM": (Paper(0.9658, 0.002), Paper(0.8813, 0.006), Paper(0.7747, 0.002)),
    "FSHN": (Paper(0.975, 0.002), Paper(0.8671, 0.002), Paper(0.8179, 0.002)),
    "KCNet": (Paper(0.9735, 0.003), Paper(0.8849, 0.002), Paper(0.7762, 0.002)),
    "DOA": (Paper(0.9731, 0.002), Paper(0.8845, 0.002), Paper(0.7761, 0.002)),
    "Ensemble DOA": (Paper(0.9776, 0.001), Paper(0.886, 0.001), Paper(0.8058, 0.002)),
}
# What this project wants to reach: near the paper where its own settings are used, above with ours.
GOALS = {
    ("mnist", "KCNet", ""): (0.9705, 0.9765),
    ("mnist", "ELM", ""): (0.9598, 0.9718),
    ("mnist", "FSHN", ""): (0.969, 0.981),
    ("mnist", "Ensemble DOA", "our rule"): (0.982, 1.0),
    ("fashion_mnist", "KCNet", ""): (0.8789, 0.8909),
    ("fashion_mnist", "Ensemble DOA", "our rule"): (0.888, 1.0),
}
STOP_RULES = {"Algorithm 1": ALGORITHM_1, "published stop rule": PUBLISHED}
OUR_RULE = "our rule"
N_TRIALS = 10
SMALLEST = 500
LARGEST = {"mnist": 6500, "fashion_mnist": 7500, "emnist_balanced": 4500}
# Half the cells: submodels then still pass the stop metric at once, as they do in full.
QUICK = Quick(repeats=2, rows=6_000, cells=2, epochs=20, trials=2)
LEVELS = (0.0, 0.25, 0.5, 1.0)

EMNIST_NOTE = (
    "The EMNIST-Balanced here is a part of the set (9,120 of 112,800 training and 304 of 18,800 "
    "test images) unless the whole set has been downloaded; figures on a part are not compared "
    "with the paper's."
)
STOP_NOTE = (
    "The paper's stop metric ends Algorithm 1 before its first update wherever the random wiring "
    "is already that good: its DOA rows are then plain KCNets. The published code measures after "
    "the update with the old output weights, so it goes on; 'Stopping on stale output weights' "
    "measures both."
)
OURS_NOTE = (
    f"Our rule (varpro) tries {N_TRIALS} settings for one submodel on a validation part of the "
    "training images: our preset (itself the best of six on held-out training images of MNIST), "
    "then settings of the paper's search space. The test images are used once per seed."
)
TIME_NOTE = (
    "Seconds are wall-clock time for configuration, training and evaluation on the machine and "
    "with the load that stand below, each measured for this figure alone; the paper used one "
    "processor of another machine, without GPU."
)


def image_line(model: str, dataset: str, settings: dict, series: str = "", **more) -> RecipeLine:
    """A row of Table 2, with the paper's figure and our goal."""
    return RecipeLine(
        model, model, dataset, settings, panel=TITLES[dataset], series=series,
        paper=TABLE_2[model][list(TITLES).index(dataset)],
        goal=GOALS.get((dataset, model, series)), **more,
    )  # fmt: skip


def paper_lines(dataset: str, models=tuple(TABLE_2), stop_rules=None) -> list[RecipeLine]:
    """Rows of Table 2 with the paper's settings; DOA rows by Algorithm 1, or by `stop_rules`."""
    rules = stop_rules or {"": ALGORITHM_1}
    return [
        image_line(model, dataset, printed(dataset)[model], series, beyond=beyond)
        for model in models
        for series, beyond in (rules if model in DOA_MODELS else {"": {}}).items()
    ]


def our_ensemble(dataset: str) -> RecipeLine:
    """The paper's ensemble with our rule, tuned on training images."""
    chosen = printed(dataset)["Ensemble DOA"]
    first = dict(TUNED)
    rows = {"batch_rows": first.pop("batch_rows")}
    fixed = {"alpha": chosen["alpha"], "doa_rule": "varpro", **rows}
    submodel = {**fixed, "n_hidden": chosen["n_hidden"] // chosen["n_submodels"]}
    whole = {**fixed, "n_hidden": chosen["n_hidden"], "n_submodels": chosen["n_submodels"]}
    tuning = Tuning(N_TRIALS, model="DOA", settings=submodel, untuned=first)
    return image_line("Ensemble DOA", dataset, whole, OUR_RULE, tuning=tuning)


TABLE = Recipe(
    name="table2",
    title="Image classification: five models, three datasets",
    where="Table 2",
    question="How well do KCNet and its variants read images, beside an ELM and a trained network?",
    group="tables",
    lines=tuple(
        line for dataset in TITLES for line in [*paper_lines(dataset), our_ensemble(dataset)]
    ),
    quick=QUICK,
    contrasts=tuple(
        Contrast(
            f"{title}: what does our rule add to the ensemble?",
            f"{title} · Ensemble DOA · {OUR_RULE}",
            f"{title} · Ensemble DOA",
        )
        for title in TITLES.values()
    ),
    notes=(STOP_NOTE, OURS_NOTE, EMNIST_NOTE),
    see_also=("stop-rule", "pixel-scale", "doa-rules"),
)


def hidden_sizes(dataset: str, where: str) -> Recipe:
    """Accuracy of KCNet and ELM against hidden size."""
    title, lines = TITLES[dataset], []
    for size in range(SMALLEST, LARGEST[dataset] + 1, 500):
        for line in paper_lines(dataset, ("KCNet", "ELM")):
            paper = line.paper if size == line.settings["n_hidden"] else None
            sized = {**line.settings, "n_hidden": size}
            lines.append(replace(line, settings=sized, paper=paper, goal=None, x=size))
    return Recipe(
        name=f"hidden-{dataset.replace('_', '-')}",
        title=f"{title}: accuracy against hidden size",
        where=where,
        question="Is KCNet better than an ELM of the same width, and at which widths?",
        group="figures",
        view="sweep",
        lines=tuple(lines),
        quick=Quick(repeats=2, rows=6_000, xs=(500, 1000, 1500)),
        contrasts=tuple(
            Contrast(
                f"{size:,} hidden units: how much better is KCNet than ELM?",
                f"{title} · KCNet · {size}",
                f"{title} · ELM · {size}",
            )
            for size in (SMALLEST, 1500, 3000, LARGEST[dataset])
        ),
        notes=(
            "Sizes are the paper's; lambda is the paper's best for the largest of them.",
            *([EMNIST_NOTE] if dataset == "emnist_balanced" else []),
        ),
        plot_only=True,
    )


def _timed(lines) -> tuple[RecipeLine, ...]:
    """Lines whose seconds count: of these the paper shows only a plot."""
    return tuple(replace(line, paper=None, goal=None, keep=("times",)) for line in lines)


RUNNING_TIME = Recipe(
    name="running-time",
    title="Running time of KCNet, ELM and FSHN",
    where="Figure 3(b)",
    question="Is KCNet faster than an ELM and a trained network of as many parameters?",
    group="figures",
    view="times",
    metric="seconds",
    lines=_timed(
        line for dataset in TITLES for line in paper_lines(dataset, ("KCNet", "ELM", "FSHN"))
    ),
    quick=QUICK,
    notes=(
        "The paper says that KCNet was much faster than both others on every dataset. The number "
        "of operations speaks against it: for MNIST the Gram matrix of 6,500 cells takes "
        "1.3 × 10¹² multiplications, five epochs of a trained network with 65,200 parameters take "
        "6 × 10¹⁰.",
        TIME_NOTE,
        EMNIST_NOTE,
    ),
    plot_only=True,
)

RUNNING_TIME_VARIANTS = Recipe(
    name="running-time-variants",
    title="Running time of the KCNet variants",
    where="Figure A-5(b)",
    question="What does DOA cost, and does dividing the cells among submodels make it cheaper?",
    group="figures",
    view="times",
    metric="seconds",
    lines=_timed(
        [
            *paper_lines("mnist", ("KCNet", "DOA", "Ensemble DOA"), STOP_RULES),
            our_ensemble("mnist"),
        ]
    ),
    quick=QUICK,
    notes=(
        TIME_NOTE,
        STOP_NOTE,
        "The seconds of our rule do not include the search for its settings.",
    ),
    plot_only=True,
)

SCALES = {
    "standardised": {},
    "from −1 to 1": {"normalise": "half"},
    "from 0 to 1": {"normalise": "none"},
}

PIXEL_SCALE = Recipe(
    name="pixel-scale",
    title="Pixels standardised, from −1 to 1, or from 0 to 1",
    where="Asked of Table 2",
    question="How much do KCNet and ELM owe to the scale of the pixels?",
    group="questions",
    lines=tuple(
        replace(line, series=series, goal=None, options=options)
        for dataset in WHOLE
        for line in paper_lines(dataset, ("KCNet", "ELM"))
        for series, options in SCALES.items()
    ),
    quick=QUICK,
    contrasts=tuple(
        Contrast(
            f"{title}, pixels {scale}: how much better is KCNet than ELM?",
            f"{title} · KCNet · {scale}",
            f"{title} · ELM · {scale}",
        )
        for title in map(TITLES.get, WHOLE)
        for scale in SCALES
    ),
    notes=(
        "The paper applies 'a standard normalization' to the images and does not say which. "
        "Standardised: the mean and deviation of all training pixels. The two others are usual, "
        "too.",
        "An ELM's sigmoid saturates on large sums, so that the scale decides how well it does. A "
        "KCNet only sees lambda change: what is added to all pixels, global inhibition takes away.",
        "All settings are the paper's for every scale.",
    ),
)

CLUTTER = Recipe(
    name="clutter",
    title="CIFAR-10 and the limits: images with a background",
    where="Appendix E, Limitations",
    question="Does KCNet suffer more than a trained network when inputs carry a background that "
    "means nothing?",
    group="figures",
    view="sweep",
    lines=tuple(
        RecipeLine(
            model,
            model,
            "mnist",
            {**printed("mnist")[model], **({} if model == "FSHN" else {"n_hidden": 2000})},
            panel="MNIST over random pixels",
            alteration=("background", level),
            rows=20_000,
            x=level,
        )
        for level in LEVELS
        for model in ("KCNet", "ELM", "FSHN")
    ),
    quick=Quick(repeats=2, rows=4_000, cells=4),
    notes=(
        "The paper reports about 51% on CIFAR-10 and blames backgrounds and the number of inputs. "
        "CIFAR-10 is not among the datasets here, so this tests the explanation, not the figure: "
        "MNIST digits over random pixels of growing brightness, in training and in test.",
        "20,000 training images; KCNet and ELM have 2,000 hidden units, FSHN has the paper's 82.",
    ),
)

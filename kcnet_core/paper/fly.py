"""A recipe beyond the paper: a real fly's wiring beside shuffled, random and trained ones."""

from __future__ import annotations

from kcnet_core.experiments.comparison.rows import ODOR_SETTINGS
from kcnet_core.experiments.presets import SPARSE_TRAINED
from kcnet_core.paper.recipe import Contrast, Quick, Recipe, RecipeLine
from kcnet_core.paper.wiring import WHERE

DOA_ON_ODORS = {name: ODOR_SETTINGS[name] for name in ("n_epochs", "learning_rate")}
ZHENG = (
    "Another whole brain, traced at synaptic resolution, has food-responsive glomeruli converging "
    "on αβ and α′β′ cells more than by chance; in simulations it told odors apart worse than a "
    "random network, except when all signal came through those glomeruli (Zheng and others 2022, "
    "Current Biology 32, 3334, doi 10.1016/j.cub.2022.06.031)."
)
FLY_CELLS = 1400  # all wirings have so many cells, whichever glomeruli a split leaves
FLY_PLANS: dict[str, tuple[str, dict]] = {
    "real": ("KCNet", {"wiring": "hemibrain"}),
    "shuffled": ("KCNet", {"wiring": "hemibrain-shuffled"}),
    "random, its fan-ins": ("KCNet", {"wiring": "hemibrain-random"}),
    "random, 7 inputs": ("KCNet", {"wiring": "random"}),
    "real, synapses count": ("KCNet", {"wiring": "hemibrain", "synapse_counts": True}),
    "sparse trained": ("DOA", SPARSE_TRAINED | DOA_ON_ODORS),
}
FLY_TASKS: dict[str, tuple[str, dict]] = {
    "Chemical class": ("door", {}),
    "Odor characters": ("door_characters", {}),
    "Odor characters, complete cases": ("door_characters", {"missing": "complete"}),
    "Odor characters of Keller 2016": ("door_characters", {"characters": "keller_2016"}),
    "Odor characters of GS-LF": ("door_characters", {"characters": "gs_lf"}),
}
FLY_QUESTIONS = {
    "is real better than shuffled?": ("real", "shuffled"),
    "is real better than random, its fan-ins?": ("real", "random, its fan-ins"),
    "does training that keeps every fan-in help?": ("sparse trained", "random, its fan-ins"),
}
REAL_FLY = Recipe(
    name="real-fly",
    title="A real fly's wiring beside shuffled, random and trained",
    where=WHERE,
    question="Does the wiring of a real fly's Kenyon cells tell odorants apart better than chance?",
    group="questions",
    metric="AUROC",
    lines=tuple(
        RecipeLine(
            "KCNet",
            model,
            dataset,
            {"n_hidden": FLY_CELLS, "alpha_loo": True, **plan},
            panel=panel,
            series=series,
            options=options,
            protocol="unseen_molecules",
        )
        for panel, (dataset, options) in FLY_TASKS.items()
        for series, (model, plan) in FLY_PLANS.items()
    ),
    repeats=20,
    quick=Quick(repeats=5),
    contrasts=tuple(
        Contrast(f"{panel}: {question}", f"{panel} · KCNet · {one}", f"{panel} · KCNet · {other}")
        for panel in FLY_TASKS
        for question, (one, other) in FLY_QUESTIONS.items()
    ),
    notes=(
        "Inputs are the responses of glomeruli that DoOR gathered. The wiring is the hemibrain's: "
        "a cell hears a glomerulus through at least three synapses in the calyx. Shuffled keeps "
        "how many glomeruli each cell and how many cells each glomerulus has; random keeps the "
        "first only. With one seed all three are of the same cells.",
        "Sparse trained begins with the random wiring; DOA then chooses which glomeruli a cell "
        "hears, never how many, and keeps the wiring that is best on rows held out of the training "
        "rows, be it the first. Epochs and learning rate are those of DOA on any odor set here, "
        "not tuned on these odorants.",
        "Half of the responses were never measured and stand at the spontaneous rate; complete "
        "cases are the odorants and glomeruli that were all measured with each other.",
        "Lambda is chosen by leave-one-out on the training rows. Intervals and p are those of the "
        "corrected resampled t test, because splits share most of their training rows, and p is "
        "made larger for the number of questions (Holm). The permutation test, by flipping signs "
        "of the repeats, is told beside it: it takes splits for independent and every question "
        "alone, so that its p is too small.",
        ZHENG,
    ),
)

"""A recipe that is measured in a second, for tests of the command and the page."""

from kcnet_core.paper.recipe import Contrast, Paper, Quick, Recipe, RecipeLine

_CELLS = {"n_hidden": 30, "alpha": 1.0}

TINY = Recipe(
    name="tiny",
    title="A tiny table",
    where="Table T",
    question="Can it be measured at all?",
    group="tables",
    view="table",
    metric="accuracy",
    lines=(
        RecipeLine("KCNet", "KCNet", "digits", _CELLS, panel="Digits", paper=Paper(0.2, 0.01)),
        RecipeLine("more cells", "KCNet", "digits", {**_CELLS, "n_hidden": 60}, panel="Digits"),
    ),
    repeats=5,
    quick=Quick(repeats=2),
    contrasts=(Contrast("Do more cells help?", "Digits · more cells", "Digits · KCNet"),),
    notes=("Only for tests.",),
    see_also=("twin-leak",),
)

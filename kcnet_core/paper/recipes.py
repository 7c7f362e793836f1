"""Every result of the paper as a recipe, in the order in which an unattended run makes them."""

from __future__ import annotations

from kcnet_core.errors import KCNetError
from kcnet_core.paper import doa, fly, images, odor, wiring
from kcnet_core.paper.recipe import GROUPS, Recipe

RECIPES = {
    recipe.name: recipe
    for recipe in (
        odor.TABLE,
        images.TABLE,
        images.RUNNING_TIME,
        odor.TWIN_LEAK,
        odor.MUSKY_OVERSAMPLING,
        doa.DOA_RULES,
        doa.STOP_RULE,
        images.PIXEL_SCALE,
        images.RUNNING_TIME_VARIANTS,
        odor.HIDDEN_SIZES,
        *doa.INSIDE,
        images.CLUTTER,
        images.hidden_sizes("emnist_balanced", "Figure A-6(b)"),
        images.hidden_sizes("mnist", "Figure 3(a)"),
        doa.DOA_BY_SIZE,
        doa.SEARCH_SPACE,
        images.hidden_sizes("fashion_mnist", "Figure A-6(a)"),
        wiring.TIME_TO_ACCURACY,
        wiring.WIRING_PLANS,
        wiring.ACCURACY_PER_BYTE,
        fly.REAL_FLY,
        wiring.PHOTOGRAPHS,
        odor.EQUAL_BUDGET,
    )
}


def in_paper_order() -> list[Recipe]:
    """Tables and figures as they come in the paper, then the questions, most important first."""

    def place(recipe):
        asked = recipe.group == "questions"
        words = "" if asked else recipe.where.replace("Figures", "Figure")
        return list(GROUPS).index(recipe.group), words.startswith("Appendix"), words

    return sorted(RECIPES.values(), key=place)


def find_recipe(name: str) -> Recipe:
    if name not in RECIPES:
        raise KCNetError(f"There is no recipe {name[:40]!r}; choose from {', '.join(RECIPES)}.")
    return RECIPES[name]

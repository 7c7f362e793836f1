"""Why a wiring, a retina or an option cannot be used with some data, as a sentence."""

from __future__ import annotations

from kcnet_core.datasets.catalogue import CATALOGUE, is_glomerular, is_image_set
from kcnet_core.datasets.fly.door import CHARACTERS
from kcnet_core.network.wiring import PLANS

BEHIND_A_RETINA = (
    "Behind a retina a network gets no pixels, and local wiring draws each cell's inputs inside a "
    "rectangle of an image: choose random wiring, or no retina."
)


def obstacle(wiring: str, title: str, pixels: bool, glomeruli: bool) -> str:
    """Why this wiring cannot be used with some data; empty if it can."""
    if PLANS[wiring].needs_image and not pixels:
        return (
            f"{title} has no pixels, and {wiring} wiring draws each cell's inputs inside a "
            f"rectangle of an image: choose images, or random wiring."
        )
    if PLANS[wiring].needs_glomeruli and not glomeruli:
        return (
            f"{title} has no glomeruli, and {wiring} wiring is of the cells of a real fly, which "
            f"hear glomeruli: choose DoOR, or random wiring."
        )
    return ""


def dataset_obstacle(name: str, wiring: str, retina: str) -> str:
    """Why a network cannot learn so from a dataset of the catalogue; empty if it can."""
    info = CATALOGUE.get(name)
    if info is None:
        return ""
    if info.kind == "ratings":
        return (
            f"{info.title} holds numbers, and Train and Compare teach classes and labels. "
            "Choose another dataset; the Smell page and KCNetRegressor use this one."
        )
    pixels = is_image_set(name)
    return retina_obstacle(retina, info.title, pixels) or obstacle(
        wiring, info.title, pixels, info.glomeruli
    )


def option_obstacle(dataset: str, pixels: str, missing: str, characters: str) -> str:
    """Why an option that was chosen means nothing to this dataset; empty if all do."""
    if pixels and not is_image_set(dataset):
        return "A scale of pixels can be chosen for the catalogue's image sets only."
    if missing and not is_glomerular(dataset):
        return "Missing responses are a setting of DoOR's datasets only."
    if characters and dataset != CHARACTERS:
        return "Where odor characters come from is a setting of door_characters only."
    return ""


def retina_obstacle(retina: str, title: str, pixels: bool) -> str:
    """Why some data cannot be seen through this retina; empty if they can."""
    if retina and not pixels:
        return f"{title} has no pixels, and a retina looks at images: choose images, or no retina."
    return ""


def plans_for(dataset: str, pixels: bool) -> tuple[str, ...]:
    """The plans by which a network can be wired that learns from this dataset."""
    real = is_glomerular(dataset)
    return tuple(name for name in PLANS if not obstacle(name, "", pixels, real))

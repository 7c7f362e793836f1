"""Why a wiring or a retina cannot be used with some data, as a sentence."""

from __future__ import annotations

from kcnet_core.datasets.catalogue import is_glomerular
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


def retina_obstacle(retina: str, title: str, pixels: bool) -> str:
    """Why some data cannot be seen through this retina; empty if they can."""
    if retina and not pixels:
        return f"{title} has no pixels, and a retina looks at images: choose images, or no retina."
    return ""


def plans_for(dataset: str, pixels: bool) -> tuple[str, ...]:
    """The plans by which a network can be wired that learns from this dataset."""
    real = is_glomerular(dataset)
    return tuple(name for name in PLANS if not obstacle(name, "", pixels, real))

"""A feature stage for photographs in front of the network, learned without its labels.

Classes are loaded when first used, because controls and links read only the table.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kcnet_core.network.retina.patches import PatchRetina
    from kcnet_core.network.retina.pretrained import PretrainedRetina

RETINAS = {  # by the name of the setting
    "patches": "typical patches of the training images, found by k-means; how much of each an "
    "image holds, in each quarter, is what the network gets",
    "pretrained": "a network of torchvision that was taught with ImageNet; its weights (5 MB) are "
    "downloaded once",
}
_HOME = {"PatchRetina": "patches", "PretrainedRetina": "pretrained"}

__all__ = ["RETINAS", "PatchRetina", "PretrainedRetina", "is_retina"]


def is_retina(scaler: object) -> bool:
    """Whether what stands before a network makes other inputs of an image's pixels."""
    return hasattr(scaler, "transform_steps")


def __getattr__(name):
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

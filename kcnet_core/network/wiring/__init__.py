"""Who connects to whom: the 0/1 matrix W, and the plans by which it is drawn.

Names that need torch are loaded when first used, because controls and links read only the plans.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from kcnet_core.network.wiring.plans import PLANS

if TYPE_CHECKING:
    from kcnet_core.network.wiring.drawing import DRAW, Site
    from kcnet_core.network.wiring.fields import Fields
    from kcnet_core.network.wiring.matrix import DENSE_ABOVE, FanInLowered, Wiring, allowed_fan_in

_HOME = {
    "DENSE_ABOVE": "matrix",
    "DRAW": "drawing",
    "FanInLowered": "matrix",
    "Fields": "fields",
    "Site": "drawing",
    "Wiring": "matrix",
    "allowed_fan_in": "matrix",
}

__all__ = [
    "DENSE_ABOVE",
    "DRAW",
    "PLANS",
    "FanInLowered",
    "Fields",
    "Site",
    "Wiring",
    "allowed_fan_in",
]


def __getattr__(name):
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

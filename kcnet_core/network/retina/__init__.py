"""A feature stage for photographs in front of the network, learned without labels."""

from kcnet_core.network.retina.patches import PatchRetina

__all__ = ["PatchRetina"]

"""Descriptors as the firing rates of glomeruli: between 0 and 1, by rank among training molecules.

Global inhibition subtracts C times the mean over the Kenyon cells. With rates that are never
negative a C above 1 leaves only the strongest cells active, as in a fly, and molecules share cells
only with molecules that are much alike; standardised descriptors have mean 0, and C does nothing.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from kcnet_core.network.scaling import FeatureScaler


class RateScaler(FeatureScaler):
    """Share of training molecules with a smaller value, ties counted half; float32 in (0, 1).

    Parameters, attributes and what is dropped are those of `FeatureScaler(method="rank")`.
    """

    def __init__(self, method="rank", clip=None):
        super().__init__(method=method, clip=clip)

    def transform(self, X):
        """Rates of shape (n, n_kept)."""
        return ndtr(super().transform(X)).astype(np.float32)

"""Our volatility rule: about where a molecule boils, from its size and its polar groups.

A sum over a dozen descriptors, fitted by least squares to the boiling points at one atmosphere of
`assets/boiling_points.csv`, which is ours, written from general chemical knowledge. Of those left
out one at a time, half are met within 10 °C and nine of ten within 34 °C (the terms were chosen on
the same molecules, so this flatters a little). It is an estimate to sort by, not a measurement:
many odorants decompose before they boil, and large ones are extrapolated. Ions do not boil.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kcnet_core.contracts import drain
from kcnet_core.molecules.descriptor_table import DESCRIPTOR_NAMES
from kcnet_core.molecules.read import descriptor_steps

TYPICAL_ERROR = 34  # °C: nine of ten are met within it
COOLEST, HOTTEST = 0, 400  # °C between which a range is asked for
RULE = (
    f"an estimate from size and polar groups, fitted to known boiling points; nine of ten are met "
    f"within {TYPICAL_ERROR} °C"
)
DESCRIPTORS = (
    "HeavyAtomCount", "MolWt", "TPSA", "NumHDonors", "NumAromaticRings", "fr_ester", "fr_lactone",
    "fr_Ar_OH", "fr_furan", "fr_aldehyde", "fr_ether",
)  # fmt: skip
# What one, the root of the heavy atoms, the hydrogen-bond donors beyond the first and each of the
# other descriptors add, in °C.
COEFFICIENTS = (
    -109.062, 41.838, 39.771, 1.015, 1.262, 19.790, 32.242, -30.410, 100.262, -19.702, -38.842,
    9.023, -9.178,
)  # fmt: skip


def terms(columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """(n, terms) from the columns (n,) of `DESCRIPTORS`."""
    size, donors = (np.asarray(columns[name]) for name in ("HeavyAtomCount", "NumHDonors"))
    others = [columns[name] for name in DESCRIPTORS[1:]]
    return np.column_stack(
        [np.ones(len(size)), np.sqrt(size), np.maximum(donors - 1, 0), *others]
    ).astype(float)


def boiling_points(
    X: np.ndarray, names: Sequence[str] = DESCRIPTOR_NAMES, smiles: Sequence[str] = ()
) -> np.ndarray:
    """(n,) °C of molecules with raw features X (n, d), called `names`.

    Where a descriptor is not among them, the molecules are described anew by their `smiles`; NaN
    of one that cannot be.
    """
    if missing := set(DESCRIPTORS) - set(names):
        if len(smiles) != len(X):
            raise ValueError(f"{sorted(missing)[0]} is not among the features")
        described = drain(descriptor_steps(list(dict.fromkeys(smiles))))
        unknown = np.full(len(DESCRIPTOR_NAMES), np.nan)
        X = np.array([described.get(one, unknown) for one in smiles])
        names = DESCRIPTOR_NAMES
    place = {name: k for k, name in enumerate(names)}
    columns = {name: X[:, place[name]] for name in DESCRIPTORS}
    return terms(columns) @ np.array(COEFFICIENTS)

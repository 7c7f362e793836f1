"""Molecules that hardly reach the nose: a stated rule, not a model.

A molecule must evaporate before anybody can smell it. Two things hold it back: its size, and the
hydrogen bonds that it gives. The limits lie where known odorants end: of the 781 molecules of the
starter set the rule names no odorant but 29 of the 55 that are known to be odorless (what it lets
pass are small acids, glycols and solids, which only their crystals keep from evaporating). That
volatility and hydrophobicity decide whether a molecule smells at all is the finding of Mayhew et
al. (2022), doi 10.1073/pnas.2116576119; the limits here are ours.
"""

from __future__ import annotations

MOST_HEAVY_ATOMS = 22  # sclareol, the largest odorant of the starter set
MOST_DONORS = 2  # hydrogens on N and O that bind neighbours
RULE = (
    f"more than {MOST_HEAVY_ATOMS} heavy atoms, more than {MOST_DONORS} hydrogen-bond donors, "
    "or a charge"
)


def odourless_warning(heavy_atoms: int, donors: int, charge: int = 0) -> str | None:
    """Why a molecule is probably not volatile enough to be smelled, or None."""
    reasons = []
    if heavy_atoms > MOST_HEAVY_ATOMS:
        reasons.append(
            f"it has {heavy_atoms} heavy atoms (the largest known odorants have about 22)"
        )
    if donors > MOST_DONORS:
        reasons.append(f"it has {donors} hydrogen-bond donors, which hold it in its liquid")
    if charge:
        reasons.append(f"it is an ion (charge {charge:+d}), and ions do not evaporate")
    if not reasons:
        return None
    return f"Probably odorless, whatever the characters below say: {' and '.join(reasons)}."

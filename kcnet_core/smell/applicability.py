"""Whether a molecule lies where the model has seen anything: inside, at the edge, or outside.

Two measures, each compared with what the training molecules give for themselves:

- distance: to the nearest training molecule, root mean square over standardised descriptors;
  for a training molecule, to its nearest other one;
- leverage: h' (H'H + lambda I)^-1 h of a molecule's activity h, the factor by which ridge's
  prediction is uncertain there; for a training molecule, from a solve without it.

Up to the 95th percentile of the training molecules is inside, beyond the 99.5th outside, and so is
an element that no training molecule has.

And whether it reaches a nose at all: a stated rule, not a model. A molecule must evaporate before
anybody can smell it. Two things hold it back: its size, and the hydrogen bonds that it gives. The
limits lie where known odorants end: of the 1,398 molecules of the starter set the rule names no
odorant but 29 of the 58 that are known to be odorless (what it lets pass are small acids, glycols
and solids, which only their crystals keep from evaporating). That volatility and hydrophobicity
decide whether a molecule smells at all is the finding of Mayhew et al. (2022),
doi 10.1073/pnas.2116576119; the limits here are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kcnet_core.molecules.read import Molecule, elements
from kcnet_core.network.scaling import FeatureScaler
from kcnet_core.smell.known_molecules import Known
from kcnet_core.smell.nose import Nose

INSIDE, OUTSIDE = 0.95, 0.995
WORDS = {
    "inside": ("Inside", ""),
    "edge": ("At the edge of", " Read the probabilities with care."),
    "outside": ("Outside", " The probabilities are guesses."),
}
FARTHEST = 10.0  # standard deviations in one descriptor; a single absurd one must not be all
MOST_ROWS = 5_000  # training rows compared; beyond, an even sample
MOST_HEAVY_ATOMS = 22  # sclareol, the largest odorant of the starter set
MOST_DONORS = 2  # hydrogens on N and O that bind neighbours
ODORLESS = "Odorless"  # the character of molecules that nobody smells
RULE = (
    f"more than {MOST_HEAVY_ATOMS} heavy atoms, more than {MOST_DONORS} hydrogen-bond donors, "
    "or a charge"
)


@dataclass(frozen=True)
class Verdict:
    """Where a molecule stands, and why."""

    level: str  # "inside", "edge" or "outside"
    sentence: str


def n_compared(nose: Nose) -> int:
    """How many training molecules a molecule is compared with."""
    return 0 if nose.known is None else min(len(nose.known.X), MOST_ROWS)


class Domain:
    """The training molecules of a nose as a measure for others."""

    def __init__(self, nose: Nose, known: Known):
        taught = np.flatnonzero(known.taught)
        even = np.linspace(0, len(taught) - 1, min(len(taught), MOST_ROWS)).astype(int)
        self._known, self._rows = known, taught[even]
        self._columns = nose.described
        own = known.X[self._rows][:, self._columns]
        self._scaler = FeatureScaler(clip=FARTHEST).fit(own)
        self._places = self._scaler.transform(own)
        groups = self._rows if known.groups is None else known.groups[self._rows]
        self._own_distances = np.sort(_nearest_of_others(self._places, groups))
        self._elements = elements([known.smiles[row] for row in self._rows])
        self._leverage = None
        if nose.alpha is not None:
            self._leverage = _Leverage(nose.activity(nose.inputs(known.X[self._rows])), nose.alpha)

    def judge(
        self, X: np.ndarray, activity: np.ndarray, molecules: Sequence[Molecule]
    ) -> list[Verdict]:
        """One verdict per molecule with raw features X (n, d) and hidden activity (n, B)."""
        places = self._scaler.transform(X[:, self._columns])
        squares = _squared_distances(places, self._places)
        nearest = squares.argmin(axis=1)
        distances = np.sqrt(squares.min(axis=1) / self._places.shape[1])
        by_distance = np.searchsorted(self._own_distances, distances) / len(self._own_distances)
        by_leverage = self._leverage.percentiles(activity) if self._leverage else np.zeros(len(X))
        return [
            self._verdict(*parts)
            for parts in zip(molecules, self._rows[nearest], by_distance, by_leverage, strict=True)
        ]

    def _verdict(
        self, molecule: Molecule, row: int, by_distance: float, by_leverage: float
    ) -> Verdict:
        """`row` is the nearest training molecule's; the rest are shares of the training molecules
        that lie nearer to others, or have less leverage, than this one."""
        foreign = sorted(molecule.elements - self._elements)
        worst = max(by_distance, by_leverage)
        level = "outside" if foreign or worst > OUTSIDE else "edge" if worst > INSIDE else "inside"
        name, title = self._known.names[row], self._known.title
        if self._known.smiles[row] == molecule.smiles:
            near = f"it is one of the training molecules ({name})"
        else:
            near = f"its nearest training molecule is {name}"
            if by_distance > INSIDE:
                near += f", further away than {by_distance:.0%} of them are from each other"
        parts = [near]
        if foreign:
            parts.insert(0, f"no molecule of {title} holds {' or '.join(foreign)}")
        if by_leverage > INSIDE:
            parts.append(
                f"it stirs Kenyon cells in a way that {by_leverage:.0%} of them do not (leverage)"
            )
        head, tail = WORDS[level]
        return Verdict(level, f"{head} what the model knows: {', and '.join(parts)}.{tail}")


def domain_of(nose: Nose) -> Domain | None:
    """The nose's domain, made once; None when its training molecules are not at hand."""
    if nose.known is None:
        return None
    if "domain" not in nose.shelf:
        nose.shelf["domain"] = Domain(nose, nose.known)
    return nose.shelf["domain"]


def _nearest_of_others(places: np.ndarray, groups: np.ndarray) -> np.ndarray:
    squares = _squared_distances(places, places)
    squares[groups[:, None] == groups] = np.inf
    best = squares.min(axis=1)
    return np.sqrt(best[np.isfinite(best)] / places.shape[1])


def _squared_distances(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    A, B = A.astype(float), B.astype(float)
    return np.maximum((A**2).sum(1)[:, None] - 2 * A @ B.T + (B**2).sum(1), 0)


class _Leverage:
    """Leverage among the activities H (n, B) of training molecules, at ridge's lambda."""

    def __init__(self, H: np.ndarray, alpha: float):
        import torch

        rows = torch.from_numpy(H).double()
        self._rows = rows if len(rows) < rows.shape[1] else None  # fewer than cells: dual form
        gram = rows.T @ rows if self._rows is None else rows @ rows.T
        mean = float(rows.square().sum()) / rows.shape[1]  # of the diagonal of H'H
        self._alpha = max(float(alpha), 1e-6 * mean)
        gram.diagonal().add_(self._alpha)
        self._factor = torch.linalg.cholesky(gram)
        inside = self._of(H)  # with itself among the rows; h / (1 - h) without
        self._own = np.sort(inside / np.maximum(1 - inside, 1e-9))

    def _of(self, H: np.ndarray) -> np.ndarray:
        import torch

        rows = torch.from_numpy(H).double()
        among = rows.T if self._rows is None else self._rows @ rows.T
        found = torch.linalg.solve_triangular(self._factor, among, upper=False).square().sum(0)
        if self._rows is not None:  # h'(H'H + aI)^-1 h = (h'h - k'(HH' + aI)^-1 k) / a, k = Hh
            found = (rows.square().sum(1) - found) / self._alpha
        return found.numpy()

    def percentiles(self, H: np.ndarray) -> np.ndarray:
        return np.searchsorted(self._own, self._of(H)) / len(self._own)


def odourless_verdict(verdict: Verdict | None, known: bool) -> Verdict | None:
    """The verdict on a molecule that probably reaches no nose: a neighbour that smells vouches for
    nothing then. One that is known to be odorless keeps its verdict."""
    if verdict is None or known:
        return verdict
    _, _, why = verdict.sentence.partition(": ")
    head, tail = WORDS["outside"]
    reason = "it probably does not evaporate, unlike the odorants that the model was taught"
    why = why.removesuffix(tail).removesuffix(WORDS["edge"][1])
    return Verdict("outside", f"{head} what the model knows: {reason}; {why}{tail}")


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

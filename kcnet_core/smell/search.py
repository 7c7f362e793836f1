"""Searching the other way round: from wished odor characters to molecules.

A molecule has a character as far as its value says: of a predicted molecule that is the flies'
probability; of a known one half of it is what people say (1 or 0), the other half the flies'
probability, had they not been taught it. The fit of a molecule is the geometric mean of its values
for what is wanted and of one minus its values for what is not.

"Like this one, but": the molecules that have more of what is wanted and less of what is not than a
given one, ranked by fit times likeness. Likeness is the mean of two: Tanimoto similarity of the
structures, and the cosine of what the two smell of besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kcnet_core.errors import DataError
from kcnet_core.molecules.read import Molecule, molecules
from kcnet_core.molecules.similarity import morgan_similarity
from kcnet_core.smell.answers import Answer, Answers
from kcnet_core.smell.applicability import MOST_DONORS, MOST_HEAVY_ATOMS
from kcnet_core.smell.nose import Nose
from kcnet_core.smell.volatility import boiling_points

TOP = 24


@dataclass(frozen=True)
class Wish:
    """What is searched for; what is left empty does not matter."""

    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    lightest: float = 0.0  # g/mol
    heaviest: float = float("inf")
    without: frozenset[str] = frozenset()  # elements
    holding: frozenset[str] = frozenset()  # elements that must be there
    volatile: bool = False  # light enough for a nose, by the rule of `applicability`
    coolest: float = float("-inf")  # °C at which it boils, by the rule of `volatility`
    hottest: float = float("inf")

    @property
    def asks_boiling(self) -> bool:
        return self.coolest > float("-inf") or self.hottest < float("inf")

    @property
    def limits(self) -> tuple[str, ...]:
        """What is asked of a molecule besides its smell, in words."""
        asked = {
            "this mass": self.lightest > 0 or self.heaviest < float("inf"),
            "these elements": bool(self.holding or self.without),
            "this boiling point": self.asks_boiling,
            "the lightness that a nose needs": self.volatile,
        }
        return tuple(words for words, there in asked.items() if there)


@dataclass(frozen=True)
class Candidates:
    """Molecules to search among; arrays have one row each."""

    title: str
    molecules: tuple[Molecule, ...]
    names: tuple[str, ...]
    P: np.ndarray  # (n, c) probabilities, of known molecules as if never taught
    truth: np.ndarray  # (n, c) 1 or 0; NaN where nobody has said
    donors: np.ndarray  # (n,) of hydrogen bonds
    boiling: np.ndarray  # (n,) °C, estimated; NaN where nothing can be said

    def __len__(self) -> int:
        return len(self.molecules)

    @property
    def values(self) -> np.ndarray:
        """(n, c) how far each molecule has each character."""
        return np.where(np.isnan(self.truth), self.P, (self.P + np.nan_to_num(self.truth)) / 2)


# By name: the flies' probability, and whether people say so; None where nobody has.
Characters = tuple[tuple[str, float, bool | None], ...]


def _reason(characters: Characters) -> str:
    said = {True: "known", False: "not said", None: "predicted"}
    return "; ".join(f"{name} {p:.0%} ({said[truth]})" for name, p, truth in characters)


@dataclass(frozen=True)
class Hit:
    """A molecule that was found: how well it fits, and by whose word."""

    molecule: Molecule
    name: str
    fit: float  # 0 to 1
    likeness: float | None  # to the given molecule, where there is one
    boiling: float  # °C, estimated; NaN where nothing can be said
    characters: Characters  # that were wished for or not
    smells_of: tuple[str, ...] = ()  # all that people say of it, or the flies where nobody has

    @property
    def known(self) -> bool:
        return any(said is not None for _, _, said in self.characters)

    @property
    def reason(self) -> str:
        """What the hit has of each character that was wished for or not, and who says so."""
        return _reason(self.characters)


@dataclass(frozen=True)
class Found:
    """The hits, best first; when nothing meets the wish, those that come nearest."""

    hits: tuple[Hit, ...]
    n_met: int  # molecules that meet all of it
    n_searched: int
    limits: tuple[str, ...] = ()  # what the wish asks of a molecule besides its smell, in words
    given: str = ""  # what the molecule to be like has itself, for comparison

    @property
    def sentence(self) -> str:
        if self.n_met:
            best = f"; the best {len(self.hits):,} of them" if self.n_met > len(self.hits) else ""
            return f"{self.n_met:,} of {self.n_searched:,} molecules meet the wish{best}."
        if self.hits:
            return (
                f"None of {self.n_searched:,} molecules meets all of it; these come nearest. Leave "
                "out a character, or widen the range."
            )
        asked = " and ".join(filter(None, (", ".join(self.limits[:-1]), *self.limits[-1:])))
        return f"None of {self.n_searched:,} molecules has {asked}: ask for less."


def known_candidates(nose: Nose) -> Candidates:
    """All molecules that a nose knows, described once."""
    if nose.known is None:
        raise DataError(
            "This model's training molecules are not here, so there is nothing to search among. "
            "Give molecules of your own, or choose another model."
        )
    if "candidates" not in nose.shelf:
        nose.shelf["candidates"] = _known_candidates(nose)
    return nose.shelf["candidates"]


def _known_candidates(nose: Nose) -> Candidates:
    known = nose.known
    assert known is not None
    rows = known.molecules
    checked = molecules([known.smiles[row] for row in rows])
    kept = [k for k, molecule in enumerate(checked) if molecule is not None]
    rows = rows[kept]
    if nose.left_out is not None and nose.calibration is not None:
        raw = nose.left_out[:, rows].mean(axis=0)
        P = nose.calibration.probabilities(raw)[:, nose.columns]
    else:
        P = nose.answer(nose.inputs(known.X[rows]))[0]
    truth = np.array(
        [[name in known.characters[row] for name in nose.characters] for row in rows], float
    ).reshape(len(rows), len(nose.characters))
    names = nose.feature_names
    donors = known.X[rows, names.index("NumHDonors")] if "NumHDonors" in names else 0 * rows
    return Candidates(
        known.title,
        tuple(one for one in checked if one is not None),
        tuple(nose.names.called.get(known.smiles[row], known.names[row]) for row in rows),
        P,
        truth,
        donors,
        boiling_points(known.X[rows], names, [known.smiles[row] for row in rows]),
    )


def asked_candidates(nose: Nose, answers: Answers) -> Candidates:
    """The molecules of a question or an upload that were answered."""
    given = answers.given
    if not given:
        raise DataError("None of these lines is a molecule, so there is nothing to search among.")
    names = nose.feature_names
    donors = names.index("NumHDonors") if "NumHDonors" in names else None
    return Candidates(
        "your molecules",
        tuple(answer.molecule for answer in given),
        tuple(answer.name for answer in given),
        np.array([answer.probabilities for answer in given]),
        np.array([_truth(nose, answer.known) for answer in given]),
        np.array([0.0 if donors is None else answer.features[donors] for answer in given]),
        boiling_points(np.array([answer.descriptors for answer in given])),
    )


def _truth(nose: Nose, row: int | None) -> list[float]:
    if row is None:
        return [float("nan")] * len(nose.characters)
    return [float(name in nose.truth(row)) for name in nose.characters]


def search(
    nose: Nose,
    wish: Wish,
    candidates: Candidates | None = None,
    like: Answer | None = None,
    top: int = TOP,
) -> Found:
    """The molecules that fit a wish, best first; by default among those that the nose knows.

    Raises
    ------
    DataError
        A character is not one of the nose's, or nothing is wished for.
    """
    candidates = known_candidates(nose) if candidates is None else candidates
    wanted, unwanted = columns_of(nose, wish.wanted), columns_of(nose, wish.unwanted)
    if not wanted and not unwanted and like is None:
        raise DataError("Nothing is wished for yet: choose characters, or a molecule to be like.")
    if both := set(wish.wanted) & set(wish.unwanted):
        raise DataError(f"{sorted(both)[0]} is both wanted and unwanted; choose one of the two.")
    values = candidates.values
    agreement = np.concatenate([values[:, wanted], 1 - values[:, unwanted]], axis=1)  # (n, k)
    fit = np.exp(np.log(np.clip(agreement, 1e-6, 1)).mean(axis=1)) if agreement.size else None
    possible = _possible(wish, candidates)
    if like is None:
        line = nose.line()
        meets = (agreement[:, : len(wanted)] >= line).all(axis=1)
        meets &= (values[:, unwanted] < line).all(axis=1)
        likeness, rank = None, fit
    else:
        own = np.array(_truth(nose, like.known))
        own = np.where(np.isnan(own), like.probabilities, (like.probabilities + own) / 2)
        meets = (values[:, wanted] > own[wanted]).all(axis=1)
        meets &= (values[:, unwanted] < own[unwanted]).all(axis=1)
        possible &= np.array([one.smiles != like.smiles for one in candidates.molecules], bool)
        likeness = np.zeros(len(candidates))
        likeness[possible] = _likeness(
            [one for one, may in zip(candidates.molecules, possible, strict=True) if may],
            values[possible], own, like.smiles, [*wanted, *unwanted],
        )  # fmt: skip
        rank = likeness if fit is None else fit * likeness
    assert rank is not None
    meets &= possible
    rows = np.flatnonzero(meets if meets.any() else possible)
    rows = rows[np.argsort(-rank[rows], kind="stable")][:top]
    chosen = [*wanted, *unwanted] or _most(values, rows)
    return Found(
        tuple(_hit(nose, candidates, int(row), fit, likeness, chosen) for row in rows),
        int(meets.sum()),
        len(candidates),
        wish.limits,
        "" if like is None else _given(nose, like, chosen),
    )


def _given(nose: Nose, like: Answer, chosen: list[int]) -> str:
    has = _characters(nose, like.probabilities, np.array(_truth(nose, like.known)), chosen)
    return f"{like.name} itself: {_reason(has)}."


def columns_of(nose: Nose, names: Sequence[str]) -> list[int]:
    """The places of characters among the nose's; a DataError names one that is not there."""
    places = {name.casefold(): k for k, name in enumerate(nose.characters)}
    foreign = [name for name in names if name.casefold() not in places]
    if foreign:
        raise DataError(
            f"{foreign[0]!r} is not a character of {nose.data_title}; those are "
            f"{', '.join(nose.characters)}."
        )
    return [places[name.casefold()] for name in names]


def _possible(wish: Wish, candidates: Candidates) -> np.ndarray:
    """(n,) which molecules have the mass, the elements, the volatility and the boiling point."""
    light = MOST_HEAVY_ATOMS if wish.volatile else float("inf")
    possible = [
        wish.lightest <= one.weight <= wish.heaviest
        and not wish.without & one.elements
        and wish.holding <= one.elements
        and one.heavy_atoms <= light
        for one in candidates.molecules
    ]
    kept = np.array(possible, bool)
    if wish.volatile:
        kept &= candidates.donors <= MOST_DONORS
    if wish.asks_boiling:
        neutral = np.array([not one.charge for one in candidates.molecules], bool)
        kept &= (candidates.boiling >= wish.coolest) & (candidates.boiling <= wish.hottest)
        kept &= neutral  # ions do not boil
    return kept


def _likeness(there: list[Molecule], values, own, smiles: str, named: list[int]) -> np.ndarray:
    others = [k for k in range(values.shape[1]) if k not in named]
    A, b = values[:, others], own[others]
    cosine = A @ b / np.maximum(np.linalg.norm(A, axis=1) * np.linalg.norm(b), 1e-9)
    structure = morgan_similarity(smiles, [one.smiles for one in there])
    return (np.nan_to_num(structure) + cosine) / 2


def _most(values: np.ndarray, rows: np.ndarray) -> list[int]:
    """The characters that are named when none was wished for."""
    return [] if not len(rows) else [int(k) for k in np.argsort(-values[rows].mean(axis=0))[:3]]


def _hit(nose, candidates: Candidates, row: int, fit, likeness, chosen: list[int]) -> Hit:
    truth = candidates.truth[row]
    return Hit(
        candidates.molecules[row],
        candidates.names[row],
        1.0 if fit is None else float(fit[row]),
        None if likeness is None else float(likeness[row]),
        float(candidates.boiling[row]),
        _characters(nose, candidates.P[row], truth, chosen),
        _smells_of(nose, candidates.P[row], truth),
    )


def _characters(nose: Nose, P: np.ndarray, truth: np.ndarray, chosen: list[int]) -> Characters:
    return tuple(
        (nose.characters[k], float(P[k]), None if np.isnan(truth[k]) else bool(truth[k]))
        for k in chosen
    )


def _smells_of(nose: Nose, probabilities: np.ndarray, truth: np.ndarray) -> tuple[str, ...]:
    """What people say, the surest first; where nobody has, what the flies name."""
    has = probabilities >= nose.line() if np.isnan(truth).any() else truth > 0
    return tuple(nose.characters[k] for k in np.argsort(-probabilities, kind="stable") if has[k])

"""The nose that answers: several flies, each with a random wiring of its own, or one given model.

Every fly is a KCNet taught the same molecules. Their raw scores are averaged, and one calibration,
fitted to outputs for molecules that were left out, turns the mean into a probability; the same
calibration applied to each fly alone shows how much the random wiring matters. All of it but the
last sigmoid is linear, so the exact shares of the inputs in each fly's score average as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kcnet_core.contracts import Network, Scaler
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.protocols import label_matrix
from kcnet_core.molecules.descriptor_table import DESCRIPTOR_NAMES
from kcnet_core.molecules.fingerprint_table import PLACES
from kcnet_core.molecules.fingerprints import substructure_counts
from kcnet_core.molecules.read import scaffolds
from kcnet_core.smell.known_molecules import Known
from kcnet_core.smell.label_sets import NAMED_FROM, USUAL, lines_for
from kcnet_core.smell.names.known_names import KnownNames, our_names

if TYPE_CHECKING:  # these import torch
    from kcnet_core.network.calibration import Calibration
    from kcnet_core.smell.flies import FlySettings

DILUTION = "dilution "  # how the inputs that stand for a dilution are named


@dataclass(frozen=True, eq=False)
class Nose:
    """Whoever answers, with all that is needed to say how far to trust the answer.

    A nose equals itself alone.
    """

    title: str  # which model answers
    data_title: str  # what it was taught
    flies: tuple[Network, ...]  # fitted
    scaler: Scaler | None  # from raw features to the flies' inputs
    feature_names: tuple[str, ...]  # raw: descriptors, perhaps followed by one-hot dilutions
    characters: tuple[str, ...]
    columns: np.ndarray  # (c,) the estimators' outputs that stand for the characters
    calibration: Calibration | None = None  # of mean raw scores; else the estimators' own
    # By coverage, the probability from which on characters are named (`label_sets`).
    lines: Mapping[float, float] = field(default_factory=dict)
    far_lines: Mapping[float, float] = field(default_factory=dict)  # for ring systems not taught
    known: Known | None = None  # the molecules it was taught, where they are at hand
    alpha: float | None = None  # the lambda that was chosen; None where ridge has not solved
    second_alpha: float | None = None  # of the second ridge, where there is one
    settings: FlySettings | None = None  # of flies that were taught here
    left_out: np.ndarray | None = None  # (F, n, outputs) raw scores of `known` if untaught
    shelf: dict[Any, Any] = field(default_factory=dict, repr=False)  # computed once, kept

    def __post_init__(self):
        own = [n for n in self.feature_names if not n.startswith(DILUTION)]
        foreign = [n for n in own if n not in DESCRIPTOR_NAMES and n not in PLACES]
        if foreign:
            raise KCNetError(
                f"This model was trained on inputs that are not molecular descriptors ({foreign[0]}"
                f"{' and others' if len(foreign) > 1 else ''}), so it cannot smell. Choose a model "
                "that was trained on odor data."
            )

    @cached_property
    def dilutions(self) -> tuple[str, ...]:
        """Dilutions that the model tells apart, as the dataset writes them."""
        return tuple(n.removeprefix(DILUTION) for n in self.feature_names if n.startswith(DILUTION))

    @cached_property
    def input_names(self) -> tuple[str, ...]:
        """The flies' inputs, after the scaler has dropped what carries nothing."""
        if self.scaler is None:
            return self.feature_names
        return tuple(np.asarray(self.feature_names)[self.scaler.kept_])

    @cached_property
    def names(self) -> KnownNames:
        """Names that a visitor may type."""
        return our_names() if self.known is None else self.known.spoken

    @property
    def circuits(self) -> tuple[Any, ...]:
        """The flies that have Kenyon cells; an ELM or an FSHN has none."""
        return tuple(fly for fly in self.flies if hasattr(fly, "tags"))

    def truth(self, row: int | None) -> tuple[str, ...]:
        """True characters of a known molecule; none of one that is not known."""
        return () if self.known is None or row is None else self.known.characters[row]

    @cached_property
    def _substructures(self) -> np.ndarray:
        """Which features are counts of substructures."""
        return np.flatnonzero([name in PLACES for name in self.feature_names])

    @cached_property
    def described(self) -> np.ndarray:
        """Which features are not: descriptors and dilutions, by which distances are measured."""
        return np.flatnonzero([name not in PLACES for name in self.feature_names])

    def features(
        self, descriptors: np.ndarray, dilution: str | None = None, smiles: Sequence[str] = ()
    ) -> np.ndarray:
        """Raw features (n, d) from a matrix of descriptors in the order of DESCRIPTOR_NAMES.

        `smiles` of the same molecules are needed where substructures are among the features.

        `dilution` is one of `dilutions`; by default the first, the strongest.
        """
        descriptors = np.atleast_2d(np.asarray(descriptors, np.float32))
        place = {name: k for k, name in enumerate(DESCRIPTOR_NAMES)}
        if self.dilutions:
            dilution = self.dilutions[0] if dilution is None else dilution
            if dilution not in self.dilutions:
                raise KCNetError(
                    f"There is no dilution {dilution}; choose one of {', '.join(self.dilutions)}."
                )
        X = np.zeros((len(descriptors), len(self.feature_names)), np.float32)
        for k, name in enumerate(self.feature_names):
            if name in place:
                X[:, k] = descriptors[:, place[name]]
            elif name not in PLACES:
                X[:, k] = name == f"{DILUTION}{dilution}"
        if len(self._substructures):
            counts = substructure_counts(smiles)
            wanted = [PLACES[self.feature_names[k]] for k in self._substructures]
            X[:, self._substructures] = counts[:, wanted]
        return X

    def inputs(self, X: np.ndarray) -> np.ndarray:
        """The flies' inputs for raw features X (n, d)."""
        return X if self.scaler is None else self.scaler.transform(X)

    def activity(self, inputs: np.ndarray) -> np.ndarray:
        """What the first fly's hidden cells make of inputs (n, d), (n, B)."""
        return self.flies[0].hidden(inputs)

    def answer(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities of the characters: of all flies together (n, c), and of each (F, n, c)."""
        if self.calibration is None:
            each = np.stack([fly.predict_proba(inputs) for fly in self.flies])
            together = each.mean(axis=0)
        else:
            raw = np.stack([fly.class_scores(inputs) for fly in self.flies]).astype(float)
            together, each = _calibrated(self.calibration, raw)
        return together[:, self.columns], each[:, :, self.columns]

    def answer_unseen(self, row: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Probabilities (c,) and (F, c) of a known molecule, had it not been taught.

        None when the model was not taught here.
        """
        if self.left_out is None or self.calibration is None:
            return None
        together, each = _calibrated(self.calibration, self.left_out[:, [row]])
        return together[0, self.columns], each[:, 0, self.columns]

    def line(self, coverage: float = USUAL, far: bool = False) -> float:
        """The probability from which on a character is named; `far` from what was taught?"""
        lines = self.far_lines if far and self.far_lines else self.lines
        return lines.get(coverage, NAMED_FROM)

    def are_far(self, smiles: Sequence[str]) -> np.ndarray:
        """Which molecules have a ring system that no taught one has, (n,); none if no line asks."""
        if not self.far_lines or self.known is None:
            return np.zeros(len(smiles), bool)
        if "rings" not in self.shelf:
            self.shelf["rings"] = {"", *scaffolds(self.known.smiles)}
        return np.array([one not in self.shelf["rings"] for one in scaffolds(smiles)], bool)

    def log_odds(self, inputs: np.ndarray) -> np.ndarray:
        """(n, c) log-odds of the probabilities of all flies together."""
        P = np.clip(self.answer(inputs)[0], 1e-9, 1 - 1e-9)
        return np.log(P / (1 - P))


def _calibrated(calibration: Calibration, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    each = np.stack([calibration.probabilities(Z) for Z in raw])
    return calibration.probabilities(raw.mean(axis=0)), each


def train_nose(dataset: Dataset, settings: FlySettings | None = None) -> Nose:
    """Teach odor data, multi-label or with one class per molecule, to several flies."""
    from kcnet_core.smell.flies import teach, usual_settings
    from kcnet_core.smell.glomeruli import GlomeruliScaler, groups_of

    settings = settings or usual_settings(len(dataset.y))
    if dataset.kind != "odor":
        raise KCNetError(f"{dataset.title} holds images; the Smell page needs molecules.")
    scaler = GlomeruliScaler(dataset.feature_names).fit(dataset.X)
    inputs = scaler.transform(dataset.X)
    glomeruli = groups_of(np.asarray(dataset.feature_names)[scaler.kept_].tolist())
    taught = teach(inputs, dataset.y, dataset.groups, settings, glomeruli)
    characters, columns = characters_of(dataset.target_names, dataset.multilabel)
    unseen = taught.calibration.probabilities(taught.left_out.mean(axis=0))
    return Nose(
        title=f"{settings.n_flies} KCNets with different random wirings",
        data_title=dataset.title,
        flies=taught.flies,
        scaler=scaler,
        feature_names=tuple(dataset.feature_names),
        characters=characters,
        columns=columns,
        calibration=taught.calibration,
        lines=lines_for(unseen[:, columns], true_labels(dataset)[:, columns]),
        known=Known.of(dataset),
        alpha=taught.alpha,
        second_alpha=taught.second_alpha,
        settings=settings,
        left_out=taught.left_out,
    )


def true_labels(dataset: Dataset, rows=slice(None)) -> np.ndarray:
    """(n, c) 0/1, one column per target name."""
    if dataset.multilabel:
        return label_matrix(dataset.y[rows])
    return (dataset.y[rows][:, None] == np.arange(len(dataset.target_names))).astype(np.int64)


def characters_of(names: Sequence[str], multilabel: bool) -> tuple[tuple[str, ...], np.ndarray]:
    """Characters and their output columns; of "not X" against "X" only X is a character."""
    names = tuple(names)
    if not multilabel and len(names) == 2 and names[0] == f"not {names[1]}":
        return names[1:], np.array([1])
    return names, np.arange(len(names))

"""From molecules and odor characters to a `Dataset`, the same way for every odor set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import DataError
from kcnet_core.molecules.descriptor_table import DESCRIPTOR_NAMES
from kcnet_core.molecules.read import skeletons

MIN_POSITIVES = 20  # fewer rows than this cannot be split five ways and still be learned


def odor_dataset(
    *,
    smiles: Sequence[str],
    X: np.ndarray,
    descriptor_names: Sequence[str] = DESCRIPTOR_NAMES,
    dilutions: Sequence[str] | None = None,
    report: Sequence[str] = (),
    **fields,
) -> Dataset:
    """Wrap up described molecules (canonical SMILES, raw descriptors) with the other `fields`.

    Rows of the same molecule, or of stereoisomers, form a group; dilutions become one-hot columns
    after the descriptors; `report`, what was decided before, is continued.
    """
    report = list(report)
    X, feature_names = _usable_columns(X, descriptor_names, report)
    if dilutions is not None:
        levels = sorted(set(dilutions), key=_dilution_factor)
        one_hot = np.array(dilutions)[:, None] == np.array(levels)
        X = np.hstack([X, one_hot.astype(np.float32)])
        feature_names += tuple(f"dilution {level}" for level in levels)
    # Stereoisomers have nearly the same 2D descriptors; on two sides of a split one would give the
    # other away.
    _, groups = np.unique(np.array(skeletons(smiles)), return_inverse=True)
    return Dataset(
        X=np.ascontiguousarray(X, dtype=np.float32),
        feature_names=feature_names,
        groups=groups,
        smiles=tuple(smiles),
        report=tuple(report),
        **fields,
    )


def character_targets(
    labels: np.ndarray,
    characters: Sequence[str],
    target: str | None,
    min_positives: int,
    report: list[str],
) -> dict:
    """The fields `y` and `target_names` of a `Dataset`, from a mask (n, n_characters).

    One character as `target` gives a two-class problem; None (or "") all of them at once,
    multi-label, without those that fewer than `min_positives` rows have (or lack).
    """
    positives = labels.sum(axis=0)
    counts = ", ".join(
        f"{characters[k]} {positives[k]} ({positives[k] / len(labels):.1%})"
        for k in np.argsort(-positives, kind="stable")
    )
    report.append(f"Positives among {len(labels):,} rows: {counts}.")
    if target:
        k = _index_of(target, characters)
        y = labels[:, k].astype(np.int64)
        if y.min() == y.max():
            raise DataError(
                f"{'Every' if y[0] else 'No'} row is {characters[k]}, so there is nothing to tell "
                "apart. Choose another character."
            )
        return {"y": y, "target_names": (f"not {characters[k]}", characters[k])}
    fewest = np.minimum(positives, len(labels) - positives)
    keep = fewest >= max(1, min_positives)
    if not keep.any():
        raise DataError(
            f"No odor character has {min_positives} rows with and {min_positives} without it; "
            "lower min_positives or bring more rows."
        )
    if not keep.all():
        left_out = ", ".join(
            f"{characters[k]} ({positives[k]})" for k in np.flatnonzero(~keep).tolist()
        )
        report.append(
            f"Characters left out because fewer than {min_positives} rows have them (or lack "
            f"them): {left_out}."
        )
    kept = np.flatnonzero(keep).tolist()
    return {
        "y": labels[:, kept].astype(np.int64),
        "target_names": tuple(characters[k] for k in kept),
    }


def shortened(said: list[str]) -> list[str]:
    """What was said of single rows, as one sentence of each kind: there are some 150."""
    dropped = [text.removeprefix("Dropped: ") for text in said if text.startswith("Dropped: ")]
    sentences = []
    if dropped:
        sentences.append(
            f"{len(dropped)} rows hold no organic molecule (metal salts, water, minerals) and were "
            f"dropped; the first: {dropped[0]}"
        )
    if parts := len(said) - len(dropped):
        sentences.append(
            f"{parts} salts and mixtures are described by their largest organic part, as "
            "descriptors are of one molecule at a time."
        )
    return sentences


def _index_of(target: str, characters) -> int:
    for k, character in enumerate(characters):
        if character.casefold() == target.casefold():
            return k
    raise DataError(
        f"There is no odor character {target!r}; choose one of {', '.join(characters)}."
    )


def _usable_columns(X, names, report):
    finite = np.isfinite(X).all(axis=0)
    constant = finite & (X.max(axis=0) == X.min(axis=0))
    for mask, why in (
        (~finite, "not a finite number for every molecule"),
        (constant, "the same for every molecule"),
    ):
        if mask.any():
            dropped = [names[k] for k in np.flatnonzero(mask)]
            report.append(
                f"{len(dropped)} of {len(names)} descriptors are {why} and were dropped: "
                f"{', '.join(dropped)}."
            )
    kept = np.flatnonzero(finite & ~constant)
    if not len(kept):
        raise DataError(
            "Every descriptor is the same for all molecules, so there is nothing to learn from; "
            "bring molecules that differ."
        )
    return X[:, kept], tuple(names[k] for k in kept)


def _dilution_factor(level: str):
    """Strongest first: 1/10 before 1/1000; levels that are no fractions after them, by name."""
    try:
        numerator, _, denominator = level.partition("/")
        return (0, -float(numerator) / float(denominator or 1), level)
    except (ValueError, ZeroDivisionError):
        return (1, 0.0, level)

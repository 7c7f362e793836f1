"""Checked molecules -> a matrix of RDKit's 2D descriptors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kcnet_core.limits import MAX_MOLECULES
from kcnet_core.molecules.descriptor_table import (
    DESCRIPTOR_NAMES,
    DESCRIPTORS,
    GROUPS,
    Descriptor,
)
from kcnet_core.molecules.read import Progress, Row, ShouldStop
from kcnet_core.molecules.tasks import RememberedTask
from kcnet_core.molecules.worker.messages import unpack

__all__ = ["DESCRIPTORS", "DESCRIPTOR_NAMES", "GROUPS", "Descriptor", "describe"]


def _float32(packed: str) -> np.ndarray:
    with np.errstate(over="ignore"):  # what overflows float32 counts as not finite
        return np.array(unpack(packed), dtype=np.float32)


_describe = RememberedTask("describe", capacity=MAX_MOLECULES, decode=_float32)


def describe(
    rows: Sequence[Row],
    progress: Progress | None = None,
    should_stop: ShouldStop | None = None,
) -> tuple[list[Row], np.ndarray]:
    """Compute the descriptors of every row that holds a molecule.

    Parameters
    ----------
    rows : sequence of Row
        From `read_smiles` or `read_frame`; rows with an error are passed on as they are.
    progress : callable(done, total), optional
        Called in this thread; molecules already known are not counted.
    should_stop : callable() -> bool, optional
        Rows not reached come back with an error that says so.

    Returns
    -------
    rows : list of Row
        As given, but rows whose computation failed, took too long or gave a value that is not
        finite in float32 have lost their molecule and say why.
    X : ndarray of shape (n_ok, n_descriptors), float32
        One line per row that still holds a molecule, in order; columns as in DESCRIPTOR_NAMES.
    """
    pending = [row for row in rows if row.ok]
    answers = iter(_describe([row.molecule.smiles for row in pending], progress, should_stop))
    described, lines = [], []
    for row in rows:
        if row.ok:
            answer = next(answers)
            error = answer.failure or _not_finite(answer.value)
            if error is None:
                lines.append(answer.value)
            else:
                row = replace(row, molecule=None, error=error)
        described.append(row)
    X = np.stack(lines) if lines else np.empty((0, len(DESCRIPTOR_NAMES)), np.float32)
    return described, X


def _not_finite(values: np.ndarray) -> str | None:
    bad = np.flatnonzero(~np.isfinite(values))
    if not len(bad):
        return None
    names = [DESCRIPTOR_NAMES[i] for i in bad]
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    why = ""
    if any("Charge" in name or "CHG" in name for name in names):
        why = " RDKit's charge model does not know one of its atoms in this state."
    return f"Not finite: {shown}.{why} The molecule is left out."

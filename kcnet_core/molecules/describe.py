"""Checked molecules -> a matrix of RDKit's 2D descriptors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kcnet_core.contracts import Counted, Steps, drain
from kcnet_core.limits import MAX_MOLECULES
from kcnet_core.molecules.descriptor_table import DESCRIPTOR_NAMES
from kcnet_core.molecules.read import Row
from kcnet_core.molecules.tasks import RememberedTask
from kcnet_core.molecules.worker.messages import unpack

CHECK_SHARE = 0.15  # of the time that checking and describing molecules takes


def _float32(packed: str) -> np.ndarray:
    with np.errstate(over="ignore"):  # what overflows float32 counts as not finite
        return np.array(unpack(packed), dtype=np.float32)


_describe = RememberedTask("describe", capacity=MAX_MOLECULES, decode=_float32)


def describe(rows: Sequence[Row]) -> tuple[list[Row], np.ndarray]:
    """Compute the descriptors of every row that holds a molecule.

    Parameters
    ----------
    rows : sequence of Row
        From `read_smiles` or `read_frame`; rows with an error are passed on as they are.

    Returns
    -------
    rows : list of Row
        As given, but rows whose computation failed, took too long or gave a value that is not
        finite in float32 have lost their molecule and say why.
    X : ndarray of shape (n_ok, n_descriptors), float32
        One line per row that still holds a molecule, in order; columns as in DESCRIPTOR_NAMES.
    """
    return drain(describe_steps(rows))


def describe_steps(rows: Sequence[Row]) -> Steps[Counted, tuple[list[Row], np.ndarray]]:
    """`describe`, molecule by molecule; those already known are not counted."""
    smiles = [row.molecule.smiles for row in rows if row.molecule is not None]
    replies = iter((yield from _describe.steps(smiles)))
    described, lines = [], []
    for row in rows:
        if row.ok:
            reply = next(replies)
            error = reply.failure or _not_finite(reply.value)
            if error is None:
                lines.append(reply.value)
            else:
                row = replace(row, molecule=None, error=error)
        described.append(row)
    X = np.stack(lines) if lines else np.empty((0, len(DESCRIPTOR_NAMES)), np.float32)
    return described, X


def descriptors(smiles: Sequence[str]) -> dict[str, np.ndarray]:
    """The descriptors of canonical SMILES; those that cannot be described are left out."""
    replies = zip(smiles, _describe(smiles), strict=True)
    return {
        text: reply.value
        for text, reply in replies
        if reply.failure is None and not _not_finite(reply.value)
    }


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

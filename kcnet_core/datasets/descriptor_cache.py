"""Descriptors of a fixed set of molecules, kept in the cache folder so that they are computed once.

A cache file is a plain npz (never pickled) named by a digest of the SMILES, the descriptor names
and RDKit's version; one that is damaged is ignored and written anew, one that cannot be written is
done without. Only successes are kept: a molecule that failed may succeed on a quieter machine.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import numpy as np

from kcnet_core.contracts import Counted, Steps, share_of_work
from kcnet_core.errors import DataError
from kcnet_core.molecules.descriptor_table import DESCRIPTOR_NAMES
from kcnet_core.molecules.read import (
    CHECK_SHARE,
    check_steps,
    describe_steps,
    frame_lines,
    read_frame,
)
from kcnet_core.storage.atomic_write import write_whole
from kcnet_core.storage.folders import cache_folder


@dataclass(frozen=True)
class DescribedTexts:
    """Canonical SMILES and descriptors by the SMILES as written; reasons for those without."""

    smiles: dict[str, str] = field(default_factory=dict)
    values: dict[str, np.ndarray] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    parts: dict[str, str] = field(default_factory=dict)  # salts: the organic part that was taken


def describe_texts_steps(texts: Sequence[str]) -> Steps[Counted, DescribedTexts]:
    """Check and describe every distinct SMILES, from the cache as far as it goes.

    Closing it writes nothing to the cache.
    """
    texts = list(dict.fromkeys(texts))
    path = cache_folder() / "descriptors" / f"{_digest(texts)}.npz"
    described = _read(path, set(texts))
    unknown = [text for text in texts if text not in described.values]
    if unknown:
        n_known = len(described.values)
        yield from _compute(unknown, described)
        if len(described.values) > n_known:
            _write(path, described)
    return described


def described_rows_steps(
    texts: Sequence[str], names: Sequence[str], report: list[str]
) -> Steps[Counted, tuple[np.ndarray, list[str], np.ndarray]]:
    """Describe the rows of a dataset; what could not be described is named in `report`.

    Returns the rows that have descriptors, their canonical SMILES, and the descriptors.
    """
    found = yield from describe_texts_steps(texts)
    rows: dict[str, list[int]] = {}
    for row, text in enumerate(texts):
        rows.setdefault(text, []).append(row)
    for text, numbers in rows.items():
        who = ", ".join(names[row] for row in numbers)
        if text in found.parts:
            report.append(f"{who}: a salt, described by its organic part {found.parts[text]}.")
        elif text not in found.values:
            report.append(f"Dropped: {who}. {found.errors[text]}")
    kept = [row for row, text in enumerate(texts) if text in found.values]
    if not kept:
        raise DataError(f"None of the molecules could be described. {' '.join(report[-1:])}")
    smiles = [found.smiles[texts[row]] for row in kept]
    return np.array(kept), smiles, np.stack([found.values[texts[row]] for row in kept])


def _digest(texts: list[str]) -> str:
    identity = json.dumps([version("rdkit"), DESCRIPTOR_NAMES, texts])
    return hashlib.sha256(identity.encode()).hexdigest()[:32]


def _compute(texts: list[str], described: DescribedTexts) -> Steps[Counted, None]:
    import pandas as pd

    lines = frame_lines(pd.DataFrame({"smiles": texts}), "smiles")
    rows = yield from share_of_work(check_steps(lines, keep_duplicates=True), 0.0, CHECK_SHARE)
    salts = [row for row in rows if not row.ok and row.suggestion]
    offered = pd.DataFrame({"smiles": [row.suggestion for row in salts]})
    for salt, part in zip(salts, read_frame(offered, "smiles", keep_duplicates=True), strict=True):
        if part.molecule is not None:
            rows[salt.number - 1] = part
            described.parts[salt.text] = part.molecule.smiles
    rows, X = yield from share_of_work(describe_steps(rows), CHECK_SHARE, 1 - CHECK_SHARE)
    vectors = iter(X)
    for text, row in zip(texts, rows, strict=True):
        if row.molecule is not None:
            described.smiles[text] = row.molecule.smiles
            described.values[text] = next(vectors)
        else:
            described.errors[text] = row.error or ""


def _read(path: Path, wanted: set[str]) -> DescribedTexts:
    try:
        with np.load(path, allow_pickle=False) as file:
            texts, smiles, parts = (file[key].tolist() for key in ("texts", "smiles", "parts"))
            X = file["X"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return DescribedTexts()
    if not (X.ndim == 2 and len(texts) == len(smiles) == len(parts) == len(X)):
        return DescribedTexts()
    if X.dtype != np.float32 or not np.isfinite(X).all() or not set(texts) <= wanted:
        return DescribedTexts()
    return DescribedTexts(
        smiles=dict(zip(texts, smiles, strict=True)),
        values=dict(zip(texts, X, strict=True)),
        parts={text: part for text, part in zip(texts, parts, strict=True) if part},
    )


def _write(path: Path, described: DescribedTexts) -> None:
    texts = list(described.values)
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        texts=np.array(texts),
        smiles=np.array([described.smiles[text] for text in texts]),
        parts=np.array([described.parts.get(text, "") for text in texts]),
        X=np.stack([described.values[text] for text in texts]),
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, buffer.getvalue())
    except OSError:  # read-only or full: the next time computes again
        return

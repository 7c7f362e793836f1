"""From the hemibrain's export to a table: how many synapses each Kenyon cell has from a glomerulus.

The export lists every traced neuron with its type, and for every pair of neurons the synapses in
each region of the brain. Type names say what is needed: `DA1_lPN` is a projection neuron of the
glomerulus DA1 alone, `KCg-m` a Kenyon cell of the gamma lobe; `VP1m+VP2_lvPN1` and `M_adPNm4` hear
several glomeruli and are left out. They meet in the calyx, region `CA`. The archive is read as a
stream and in blocks of rows, so that its size does not matter for memory.
"""

from __future__ import annotations

import gzip
import re
import tarfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from kcnet_core.errors import DataError
from kcnet_core.limits import MAX_DOWNLOAD_BYTES

NEURONS, CONNECTIONS = "traced-neurons.csv", "traced-roi-connections.csv"
COLUMNS = {
    NEURONS: ("bodyId", "type"),
    CONNECTIONS: ("bodyId_pre", "bodyId_post", "roi", "weight"),
}
ROWS_AT_ONCE = 200_000  # of the table of connections, some 30 MB
UNIGLOMERULAR = re.compile(r"(?!MZ?_)([A-Z]{1,2}\d?[a-z]?)_[a-z0-9]*PN\d*")
VERSION = "v1.2"
VERSIONED = re.compile(r"exported-traced-adjacencies-(v[0-9.]*[0-9])")
# The parts of Kenyon cells without a type hear 3.0 glomeruli, cells with one 5.4: with them the
# cut-out would have 1,829 cells instead of 1,750.
KENYON = "KC"
CALYX = re.compile(r"CA(\([LR]\))?")
CLASSES = {"γ": "KCg", "α′β′": "KCa'b'", "αβ": "KCab"}  # lobes, and how their types begin


@dataclass(frozen=True)
class Connectome:
    """Synapses in the calyx, from glomeruli to Kenyon cells."""

    glomeruli: tuple[str, ...]
    cells: np.ndarray  # (n,) the export's numbers of the cells
    types: tuple[str, ...]  # of the cells, as the export names them
    synapses: np.ndarray  # (n, glomeruli), whole numbers
    n_untyped: int = 0  # neurons that the export gives no type
    n_pieces: int = 0  # of these, named as parts of Kenyon cells

    def heard(self, min_synapses: int) -> np.ndarray:
        """Who hears whom (n, glomeruli): at least so many synapses."""
        return self.synapses >= min_synapses

    @property
    def lobes(self) -> tuple[str, ...]:
        """The class of every cell."""
        return tuple(lobe_of(name) for name in self.types)

    def tables(self, min_synapses: int) -> dict[str, dict[str, list]]:
        """Counts per type, per glomerulus and per cell, the largest first, column by column."""
        heard, types = self.heard(min_synapses), np.array(self.types)
        fan_in, fan_out = heard.sum(axis=1), heard.sum(axis=0)
        named = Counter(types[fan_in > 0]).most_common()
        order = [k for k in np.argsort(-fan_out, kind="stable") if fan_out[k]]
        by_fan_in = np.bincount(fan_in[fan_in > 0])
        numbers = np.flatnonzero(by_fan_in)
        return {
            "types": {
                "Type": [str(name) for name, _ in named],
                "Lobe": [lobe_of(name) for name, _ in named],
                "Cells": [count for _, count in named],
                "Glomeruli per cell": [
                    round(float(fan_in[(types == name) & (fan_in > 0)].mean()), 2)
                    for name, _ in named
                ],
            },
            "glomeruli": {
                "Glomerulus": [self.glomeruli[k] for k in order],
                "Cells": fan_out[order].tolist(),
            },
            "cells": {"Glomeruli": numbers.tolist(), "Cells": by_fan_in[numbers].tolist()},
        }

    def describe(self, min_synapses: int) -> list[str]:
        """How many cells hear how many glomeruli, by lobe, and what was left out, in sentences."""
        heard = self.heard(min_synapses)
        hears = heard.any(axis=1)
        if not hears.any():
            return [f"No cell has {min_synapses} synapses from one glomerulus."]
        fan_in, lobes = heard[hears].sum(axis=1), np.array(self.lobes)[hears]
        by_lobe = ", ".join(
            f"{lobe} {np.count_nonzero(lobes == lobe):,} cells with "
            f"{fan_in[lobes == lobe].mean():.1f}"
            for lobe in (*CLASSES, "other")
            if (lobes == lobe).any()
        )
        return [
            f"{len(fan_in):,} of {len(self.cells):,} Kenyon cells hear {heard.any(axis=0).sum()} "
            f"glomeruli through at least {min_synapses} synapses each in the calyx: "
            f"{fan_in.mean():.2f} glomeruli a cell on average, {fan_in.max()} at most. The “about "
            "seven” of textbooks counts claws, and two claws of a cell may hold one glomerulus.",
            f"By lobe, with glomeruli per cell: {by_lobe}. A network has the cells that hear one "
            "of its inputs: with DoOR, which lacks some glomeruli, a few less.",
            f"Left out: {self.n_untyped:,} traced neurons without a type ({self.n_pieces:,} are "
            "named as parts of Kenyon cells, most cut off at a gap in the images), and projection "
            "neurons of several glomeruli.",
        ]


def lobe_of(type_name: str) -> str:
    """The lobe of a Kenyon cell by the name of its type."""
    found = (lobe for lobe, start in CLASSES.items() if type_name.startswith(start))
    return next(found, "other")


def read_export(source: Path) -> Connectome:
    """Read the official archive, or a folder with its two tables, plain or gzipped."""
    with _readable(NEURONS), _table(source, NEURONS, to_the_end=False) as blocks:
        glomerulus_of, cells, types, n_untyped, n_pieces = _neurons(blocks)
    glomeruli = tuple(sorted(set(glomerulus_of.values())))
    column = {name: k for k, name in enumerate(glomeruli)}
    row_of = {body: k for k, body in enumerate(cells)}
    synapses = np.zeros((len(cells), len(glomeruli)), np.int64)
    with _readable(CONNECTIONS), _table(source, CONNECTIONS) as blocks:
        for block in blocks:
            calyx = block["roi"].astype(str).str.fullmatch(CALYX)
            used = calyx & block["bodyId_pre"].isin(glomerulus_of)
            used &= block["bodyId_post"].isin(row_of)
            block = block[used]
            rows = block["bodyId_post"].map(row_of).to_numpy(int)
            columns = block["bodyId_pre"].map(glomerulus_of).map(column).to_numpy(int)
            np.add.at(synapses, (rows, columns), block["weight"].to_numpy(int))
    connected = synapses.sum(axis=1) > 0
    if not connected.any() or synapses.min() < 0:
        raise DataError(
            f"{CONNECTIONS} of the hemibrain holds no synapses from projection neurons to Kenyon "
            "cells in the calyx (region CA): it is damaged, or of another version than v1.2."
        )
    heard = synapses.sum(axis=0) > 0
    return Connectome(
        tuple(name for name, used in zip(glomeruli, heard, strict=True) if used),
        np.array(cells)[connected],
        tuple(name for name, used in zip(types, connected, strict=True) if used),
        synapses[connected][:, heard],
        n_untyped,
        n_pieces,
    )


def _neurons(blocks) -> tuple[dict[int, str], list[int], list[str], int, int]:
    """Glomeruli of projection neurons, Kenyon cells and their types, and how many neurons have no
    type and how many of these are parts of Kenyon cells."""
    glomerulus_of, cells, types, n_untyped, n_pieces = {}, [], [], 0, 0
    for block in blocks:
        untyped = block[block["type"].isna()]
        n_untyped += len(untyped)
        if "instance" in untyped:
            n_pieces += int(untyped["instance"].astype(str).str.startswith(KENYON).sum())
        for body, name in zip(block["bodyId"], block["type"].fillna("").astype(str), strict=True):
            if found := UNIGLOMERULAR.fullmatch(name):
                glomerulus_of[int(body)] = found[1]
            elif name.startswith(KENYON):
                cells.append(int(body))
                types.append(name)
    if not glomerulus_of or not cells:
        what = "Kenyon cells (KCg-m)" if glomerulus_of else "projection neurons (DA1_lPN)"
        raise DataError(
            f"{NEURONS} of the hemibrain names no {what} among its types: it is damaged, or of "
            "another version than v1.2, whose type names are needed."
        )
    return glomerulus_of, cells, types, n_untyped, n_pieces


@contextmanager
def _table(source: Path, name: str, to_the_end: bool = True) -> Iterator:
    """The rows of one table, block by block, with the columns that are needed."""
    import pandas as pd

    with _opened(source, name, to_the_end) as file:
        blocks = pd.read_csv(file, chunksize=ROWS_AT_ONCE)
        yield (_with_columns(block, name) for block in blocks)


def _with_columns(block, name: str):
    missing = [column for column in COLUMNS[name] if column not in block]
    if missing:
        raise DataError(
            f"{name} of the hemibrain lacks the column {missing[0]}; it should have "
            f"{', '.join(COLUMNS[name])}."
        )
    whole = [column for column in COLUMNS[name] if column not in ("type", "roi")]
    if not all(block[column].dtype.kind == "i" for column in whole):
        raise ValueError("numbers that are none")
    return block


@contextmanager
def _opened(source: Path, name: str, to_the_end: bool) -> Iterator[Any]:
    """A table as a stream of bytes."""
    if source.is_dir():
        plain, packed = source / name, source / f"{name}.gz"
        with plain.open("rb") if plain.is_file() else gzip.open(packed) as file:
            yield file
        return
    with gzip.open(source) as unpacked, tarfile.open(fileobj=unpacked, mode="r|") as pack:
        for entry in pack:
            if entry.isfile() and PurePosixPath(entry.name).name == name:
                _require_version(entry.name, source.name)
                if entry.size > MAX_DOWNLOAD_BYTES:
                    raise DataError(f"{name} in {source.name} is larger than any export has been.")
                yield pack.extractfile(entry)
                while to_the_end and unpacked.read(2**20):  # the checksum stands at the very end
                    pass
                return
    raise DataError(
        f"{source.name} does not hold {name}: it is not the archive of traced adjacencies."
    )


def _require_version(inside: str, archive: str) -> None:
    """The tables lie in a folder that is named by their version."""
    found = VERSIONED.search(inside)
    if found and found[1] != VERSION:
        raise DataError(
            f"{archive} holds {found[1]} of the hemibrain's export, and {VERSION} is needed: its "
            "cells and types are others. Download it on the Data page."
        )


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Whatever can be wrong with a file, as a sentence."""
    try:
        yield
    except DataError:
        raise
    except PermissionError as error:
        raise DataError(
            f"{name} of the hemibrain may not be read by this program; give it the right to."
        ) from error
    except (OSError, EOFError, ValueError, zlib.error, tarfile.TarError) as error:
        raise DataError(
            f"The hemibrain's export cannot be read: it is cut short or damaged where {name} "
            "should be. Delete it and download it again."
        ) from error

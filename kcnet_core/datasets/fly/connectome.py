"""The hemibrain's wiring as networks take it: found on disk, read once, laid out for their inputs.

What was read from the archive is kept in the cache folder as a plain npz (never pickled); one that
is damaged is ignored and written anew, one that cannot be written is done without.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from kcnet_core.datasets import store
from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.datasets.downloads import problem_with
from kcnet_core.datasets.fly.export import CONNECTIONS, NEURONS, VERSION, Connectome, read_export
from kcnet_core.errors import DataError
from kcnet_core.storage.atomic_write import write_whole
from kcnet_core.storage.folders import cache_folder

NAME = "hemibrain"
ARCHIVE = f"{NAME}/exported-traced-adjacencies-{VERSION}.tar.gz"
TABLES = (f"{NAME}/{NEURONS}", f"{NAME}/{CONNECTIONS}")
MIN_SYNAPSES = 3  # of a connection that counts: fewer are often errors of the reconstruction


def files() -> tuple[str, ...]:
    """What a data folder must hold: the archive, or the two tables out of it."""
    return TABLES if store.find(TABLES) else (ARCHIVE,)


def published() -> tuple[int, str]:
    """How many bytes the official archive has, and its MD5."""
    return CATALOGUE[NAME].size_bytes, CATALOGUE[NAME].checked.removeprefix("MD5 ")


def connectome() -> Connectome:
    """The fly that is on this machine; a sentence says how to get it when there is none."""
    found = store.find(TABLES)
    source = found / NAME if found else store.require(NAME, (ARCHIVE,)) / ARCHIVE
    parts = sorted(source.glob("traced-*")) if found else [source]
    return _kept(source, tuple((part.stat().st_size, part.stat().st_mtime_ns) for part in parts))


def synapses_for(inputs: Sequence[str]) -> np.ndarray:
    """Synapses (cells, inputs) of every Kenyon cell with the glomeruli that inputs are named by."""
    fly = connectome()
    place = {name: k for k, name in enumerate(fly.glomeruli)}
    unknown = [name for name in inputs if name not in place]
    if unknown:
        raise DataError(
            f"The hemibrain's cells hear glomeruli, and {unknown[0]!r:.60} is none: its wiring is "
            "for data whose inputs are glomeruli, like DoOR."
        )
    return fly.synapses[:, [place[name] for name in inputs]]


@lru_cache(maxsize=2)
def _kept(source: Path, identity: tuple) -> Connectome:
    digest = hashlib.sha256(repr((source.name, identity)).encode()).hexdigest()[:32]
    path = cache_folder() / NAME / f"{digest}.npz"
    fly = _read(path)
    if fly is None:
        if source.is_file():
            _require_published(source)
        fly = read_export(source)
        _write(path, fly)
    return fly


def _require_published(archive: Path) -> None:
    """An archive that was packed anew is sound for gzip, and may say anything."""
    size, md5 = published()
    try:
        with archive.open("rb") as file:
            problem = problem_with(file, md5=md5, size=size)
    except OSError:  # whoever reads it says so
        return
    if problem:
        raise DataError(
            f"{archive.name} is not the archive that was published: {problem}. It is cut short or "
            "was changed. Delete it and download it again."
        )


def _read(path: Path) -> Connectome | None:
    try:
        with np.load(path, allow_pickle=False) as file:
            glomeruli, types = (tuple(file[key].tolist()) for key in ("glomeruli", "types"))
            cells, synapses = file["cells"], file["synapses"]
            left_out = int(file["untyped"]), int(file["pieces"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return None
    if synapses.shape != (len(cells), len(glomeruli)) or len(types) != len(cells):
        return None
    return Connectome(glomeruli, cells, types, synapses, *left_out)


def _write(path: Path, fly: Connectome) -> None:
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer, glomeruli=np.array(fly.glomeruli), types=np.array(fly.types), cells=fly.cells,
        synapses=fly.synapses, untyped=fly.n_untyped, pieces=fly.n_pieces,
    )  # fmt: skip
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, buffer.getvalue())
    except OSError:  # read-only or full: the next time reads the export again
        return

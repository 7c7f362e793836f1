"""Files whose checksum nobody publishes: they must stay what this machine saw first.

Their address names a commit, so the same address always means the same bytes. What differs later
was damaged, or somebody stands between us and the source.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from kcnet_core.errors import DataError
from kcnet_core.storage.atomic_write import write_whole
from kcnet_core.storage.folders import cache_folder, download_folder


def check(name: str, folder: Path, files: tuple[str, ...]) -> None:
    """Refuse downloaded files of a dataset that differ from the first ones; remember new ones.

    A data folder that was given is its owner's business.
    """
    if folder != download_folder():
        return
    record = cache_folder() / "first_seen" / f"{name}.json"
    try:
        known = dict(json.loads(record.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        known = {}
    found = {file: _digest(folder / file) for file in files if os.path.isfile(folder / file)}
    changed = [
        Path(file).name for file, digest in found.items() if known.get(file, digest) != digest
    ]
    if changed:
        raise DataError(
            f"{', '.join(changed)} of {name} is not what this machine downloaded first, though "
            "its address has not changed. Delete the folder with the dataset's name from the "
            "downloads and fetch it again; if you trust the new file, delete "
            f"first_seen/{record.name} from the cache folder as well."
        )
    if found.keys() - known.keys():
        try:
            record.parent.mkdir(parents=True, exist_ok=True)
            write_whole(record, json.dumps(known | found, indent=1).encode())
        except OSError:  # done without, like every cache
            return


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:  # reading says what is wrong
        return ""

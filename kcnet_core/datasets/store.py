"""Datasets on disk: whether a data folder holds one, and what is missing when none does."""

from __future__ import annotations

import os
from pathlib import Path

from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.errors import DataError
from kcnet_core.storage.folders import data_folder, data_folders, download_folder


def find(files: tuple[str, ...]) -> Path | None:
    """The first data folder that holds every one of `files`, packed (.gz) or not.

    A dataset is read whole from one folder: files of two releases never mix.
    """
    return next((folder for folder in data_folders() if not missing(folder, files)), None)


def missing(folder: Path, files: tuple[str, ...]) -> list[str]:
    """Which of `files` are neither there plain nor packed, as far as we may look."""
    # Path.is_file would raise, with the path, for a folder that may not be searched.
    return [
        file
        for file in files
        if not any(os.path.isfile(folder / name) for name in (file, f"{file}.gz"))
    ]


def require(name: str, files: tuple[str, ...]) -> Path:
    """Like `find`, with a sentence about what is missing and how to get it."""
    folder = find(files)
    if folder is not None:
        return folder
    info = CATALOGUE[name]
    for folder in data_folders():
        try:
            os.stat(folder / files[0])
        except PermissionError as error:
            variable = "KCNET_CACHE" if folder == download_folder() else "KCNET_DATA"
            raise DataError(
                f"{info.title} cannot be looked for: this program may not search its folder for "
                f"data ({variable}). Give it the right to, or set {variable} to another folder."
            ) from error
        except OSError:
            continue  # not there
    absent = missing(data_folder(), files)
    size = f"{info.megabytes} MB"
    some = "" if len(absent) == len(files) else f" ({', '.join(Path(f).name for f in absent)})"
    raise DataError(
        f"{info.title} is not on this machine yet{some}. Download it ({size}) on the Data page or "
        f'with kcnet_core.datasets.fetch("{name}"), or set KCNET_DATA to a folder that holds it.'
    )

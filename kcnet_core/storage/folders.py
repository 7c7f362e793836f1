"""Where things lie: the bundled assets, folders that are only read, and the one we write to."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def assets() -> Path:
    """The bundled data: inside an installed package, or beside it in a checkout."""
    inside = _PACKAGE / "assets"
    return inside if inside.is_dir() else _PACKAGE.parent / "assets"


def cache_folder() -> Path:
    """The one folder we write to: KCNET_CACHE, or `kcnet` in the user's cache folder."""
    if os.environ.get("KCNET_CACHE"):
        return Path(os.environ["KCNET_CACHE"]).expanduser()
    try:
        if sys.platform == "win32":
            base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:  # a container's user without a name has no home
        return Path(tempfile.gettempdir()) / f"kcnet-{os.getuid()}"
    return Path(base) / "kcnet"


def download_folder() -> Path:
    """Where downloads go, in the same layout as any data folder."""
    return cache_folder() / "data"


def data_folders() -> tuple[Path, ...]:
    """Where datasets are looked for, in order: KCNET_DATA when it is set, then our own downloads.

    The folder named by KCNET_DATA is only ever read.
    """
    given = os.environ.get("KCNET_DATA")
    return (Path(given).expanduser(), download_folder()) if given else (download_folder(),)


def data_folder() -> Path:
    """The first place where datasets are looked for."""
    return data_folders()[0]

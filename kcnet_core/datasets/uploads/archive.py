"""Look into an uploaded archive without trusting it; nothing is ever unpacked to disk."""

from __future__ import annotations

import io
import zipfile
from pathlib import PurePosixPath

from kcnet_core.errors import DataError, LimitError
from kcnet_core.limits import (
    MAX_UNZIPPED_BYTES,
    MAX_UPLOAD_BYTES,
    MAX_ZIP_ENTRIES,
    MAX_ZIP_RATIO,
    MEGABYTE,
)


def open_zip(content: bytes) -> tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]:
    """The archive and its files, after every check that needs only the table of contents.

    Raises
    ------
    DataError, LimitError
        Not an archive, encrypted, a path that leads out of it, or beyond a limit.
    """
    if len(content) > MAX_UPLOAD_BYTES:
        raise LimitError(
            f"The file has {len(content) / MEGABYTE:,.0f} MB; the limit is "
            f"{MAX_UPLOAD_BYTES // MEGABYTE} MB (MAX_UPLOAD_BYTES)."
        )
    if content.count(b"PK\x01\x02") > 2 * MAX_ZIP_ENTRIES:  # a table that takes long to read
        raise LimitError(
            f"The archive holds far more files than the limit of {MAX_ZIP_ENTRIES:,} "
            "(MAX_ZIP_ENTRIES)."
        )
    try:
        pack = zipfile.ZipFile(io.BytesIO(content))
        entries = [entry for entry in pack.infolist() if not entry.is_dir()]
    except Exception as error:  # zipfile raises nearly everything on hostile bytes
        raise DataError("The file is no zip archive, or a damaged one; pack it again.") from error
    if len(entries) > MAX_ZIP_ENTRIES:
        raise LimitError(
            f"The archive holds {len(entries):,} files; the limit is {MAX_ZIP_ENTRIES:,} "
            "(MAX_ZIP_ENTRIES)."
        )
    total = sum(entry.file_size for entry in entries)
    if total > MAX_UNZIPPED_BYTES:
        raise LimitError(
            f"Unpacked, the archive would have {total / MEGABYTE:,.0f} MB; the limit is "
            f"{MAX_UNZIPPED_BYTES // MEGABYTE} MB (MAX_UNZIPPED_BYTES)."
        )
    if total > MAX_ZIP_RATIO * len(content):
        raise LimitError(
            f"Unpacked, the archive would be {total / len(content):,.0f} times as large; the limit "
            f"is {MAX_ZIP_RATIO} times (MAX_ZIP_RATIO)."
        )
    for entry in entries:
        _refuse_escape(entry.filename)
        if entry.flag_bits & 1:
            raise DataError("The archive is encrypted; pack it without a password.")
    return pack, entries


def read_entry(pack: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """One file of the archive; never more bytes than its table of contents announced."""
    try:
        with pack.open(entry) as file:
            return file.read(entry.file_size + 1)[: entry.file_size]
    except Exception as error:
        raise DataError(f"{entry_name(entry)} is damaged inside the archive.") from error


def entry_name(entry: zipfile.ZipInfo) -> str:
    """A file's path as a person would write it, short enough to show."""
    name = entry.filename.replace("\\", "/")
    return name if len(name) <= 120 else f"…{name[-119:]}"


def _refuse_escape(name: str):
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in name.split("/")[0]:
        raise DataError(
            f"The archive holds a path that leads out of it ({name[:80]!r}); pack it again from "
            "inside its folder."
        )

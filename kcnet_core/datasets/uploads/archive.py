"""Look into an uploaded archive without trusting it; nothing is ever unpacked to disk."""

from __future__ import annotations

import io
import zipfile
from pathlib import PurePosixPath, PureWindowsPath
from typing import BinaryIO

from kcnet_core.datasets.uploads.quota import refuse_large
from kcnet_core.errors import DataError, LimitError
from kcnet_core.limits import MAX_UNZIPPED_BYTES, MAX_ZIP_ENTRIES, MAX_ZIP_RATIO, MEGABYTE

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # Python unpacks others in one gulp
_CHUNK_BYTES = MEGABYTE


class UploadedZip(zipfile.ZipFile):
    """A zip of which no more than `bytes_left` bytes will be unpacked from now on."""

    bytes_left = 0


def open_zip(content: bytes) -> tuple[UploadedZip, list[zipfile.ZipInfo]]:
    """An uploaded archive and its files, like `open_archive`, with the limits of an upload."""
    refuse_large(content)
    pack, entries = open_archive(io.BytesIO(content), MAX_UNZIPPED_BYTES)
    total = sum(entry.file_size for entry in entries)
    if total > MAX_ZIP_RATIO * len(content):
        raise LimitError(
            f"Unpacked, the archive would be {total / len(content):,.0f} times as large; the limit "
            f"is {MAX_ZIP_RATIO} times (MAX_ZIP_RATIO)."
        )
    return pack, entries


def open_archive(file: BinaryIO, max_bytes: int) -> tuple[UploadedZip, list[zipfile.ZipInfo]]:
    """The archive and its files, after every check that needs only the table of contents.

    `file` must stay open as long as files are read from it; `read_entry` will unpack no more than
    `max_bytes` in all. Refused are an archive that is encrypted, packed in an unusual way or beyond
    a limit, a path that leads out of it, and files that overlap.
    """
    n_packed, n_files = _measure(file)
    if n_files > 2 * MAX_ZIP_ENTRIES:  # a table that takes long to read
        raise LimitError(
            f"The archive holds far more files than the limit of {MAX_ZIP_ENTRIES:,} "
            "(MAX_ZIP_ENTRIES)."
        )
    try:
        pack = UploadedZip(file)
        entries = [entry for entry in pack.infolist() if not entry.is_dir()]
    except Exception as error:  # zipfile raises nearly everything on hostile bytes
        raise DataError("The file is no zip archive, or a damaged one; pack it again.") from error
    if len(entries) > MAX_ZIP_ENTRIES:
        raise LimitError(
            f"The archive holds {len(entries):,} files; the limit is {MAX_ZIP_ENTRIES:,} "
            "(MAX_ZIP_ENTRIES)."
        )
    total = sum(entry.file_size for entry in entries)
    if total > max_bytes:
        raise LimitError(
            f"Unpacked, the archive would have {total / MEGABYTE:,.0f} MB; the limit is "
            f"{max_bytes / MEGABYTE:,.0f} MB (MAX_UNZIPPED_BYTES). Divide it."
        )
    if sum(entry.compress_size for entry in entries) > n_packed:
        raise DataError("Files of the archive overlap; pack it again.")
    for entry in entries:
        _refuse_escape(entry.filename)
        if entry.flag_bits & 1:
            raise DataError("The archive is encrypted; pack it without a password.")
        if entry.compress_type not in _METHODS:
            raise DataError(
                f"{entry_name(entry)} is packed in a way that is not read; pack the archive again "
                'as an ordinary zip (method "deflate" or "store").'
            )
    pack.bytes_left = max_bytes
    return pack, entries


def read_entry(pack: UploadedZip, entry: zipfile.ZipInfo, *, max_bytes: int | None = None) -> bytes:
    """One file of the archive, or its first `max_bytes` bytes.

    Bytes are counted as they are unpacked, because the table of contents may lie; only a glance at
    the first ones is free, for the file will be read in earnest.
    """
    wanted = entry.file_size if max_bytes is None else min(max_bytes, entry.file_size)
    if max_bytes is None and wanted > pack.bytes_left:
        raise LimitError(
            "The archive unpacks to more than the limit (MAX_UNZIPPED_BYTES). Divide it."
        )
    content = io.BytesIO()  # grows with what is there, not with what was announced
    try:
        with pack.open(entry) as file:
            while chunk := file.read(min(_CHUNK_BYTES, wanted - content.tell())):
                content.write(chunk)
                if max_bytes is None:
                    pack.bytes_left -= len(chunk)
    except Exception as error:
        raise DataError(
            f"{entry_name(entry)} is damaged inside the archive; pack it again."
        ) from error
    if content.tell() < wanted:
        raise DataError(f"{entry_name(entry)} is shorter than the archive says; pack it again.")
    return content.getvalue()


def entry_name(entry: zipfile.ZipInfo) -> str:
    """A file's path as a person would write it, short enough to show."""
    name = entry.filename.replace("\\", "/")
    return name if len(name) <= 120 else f"…{name[-119:]}"


def _measure(file: BinaryIO) -> tuple[int, int]:
    """Bytes of the file, and about how many lines its table of contents has."""
    n_bytes = n_files = 0
    file.seek(0)
    while chunk := file.read(_CHUNK_BYTES):
        n_bytes += len(chunk)
        n_files += chunk.count(b"PK\x01\x02")
    return n_bytes, n_files


def _refuse_escape(name: str):
    path = PurePosixPath(name.replace("\\", "/"))
    drive = PureWindowsPath(name).drive
    if path.is_absolute() or ".." in path.parts or drive:
        raise DataError(
            f"The archive holds a path that leads out of it ({name[:80]!r}); pack it again from "
            "inside its folder."
        )

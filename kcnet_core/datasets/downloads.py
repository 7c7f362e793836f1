"""Download one file so that it is either whole and checked, or not there at all.

Bytes arrive in `<name>.part` beside the target, which is kept when something goes wrong, so that
the next try goes on where the last one ended. Only a file with the right checksum gets its name.
"""

from __future__ import annotations

import errno
import hashlib
import http.client
import os
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedRandom, BufferedReader
from pathlib import Path

from kcnet_core.contracts import Counted, Steps
from kcnet_core.errors import DataError, LimitError
from kcnet_core.limits import MAX_DOWNLOAD_BYTES

try:
    import fcntl
except ImportError:  # Windows: without the lock two downloads of one file would disturb each other
    fcntl = None  # type: ignore[assignment]  # the usual mark of a module that is not there

CHUNK_BYTES = 2**18
SILENCE_SECONDS = 20.0  # a server that sends nothing for so long is given up
ATTEMPTS = 3  # a connection that breaks is taken up again so many times in all


class _Broken(Exception):
    """The connection ended early; worth another attempt."""


def download_steps(
    url: str,
    target: Path,
    *,
    sha256: str | None = None,
    md5: str | None = None,
    size: int | None = None,
    timeout: float = SILENCE_SECONDS,
) -> Steps[Counted, None]:
    """Fetch `url` into `target`, going on from a partial file when there is one.

    Yields the bytes that are here and the bytes in all (None when unknown). Closing it ends the
    download; what has arrived is kept for the next time. A target that is there is left alone. The
    whole file must have the digest (or what is given of its beginning) and the size; a server that
    is silent for `timeout` seconds is given up.
    """
    target = Path(target)
    if os.path.isfile(target):
        return
    if not url.startswith(("https://", "http://")):
        raise DataError(f"{target.name} can only be downloaded over http or https.")
    part = target.with_name(f"{target.name}.part")
    with _writing(target), _part_file(part) as file:
        transfer = _Transfer(url, target.name, file, size, timeout)
        resumed = transfer.n_here > 0
        yield from transfer.steps()
        problem = problem_with(file, sha256, md5, size)
        if problem and resumed:
            # The old partial file may stem from another version of the source: once from the start.
            transfer.restart()
            yield from transfer.steps()
            problem = problem_with(file, sha256, md5, size)
        if problem:
            part.unlink()
            raise DataError(
                f"{target.name} arrived, but {problem}: the download was damaged or its source has "
                "changed. It was thrown away; try again, and if that does not help, get the file "
                "from another place and put it into the folder that KCNET_DATA names."
            )
        file.flush()
        os.fsync(file.fileno())
        os.replace(part, target)


class _Transfer:
    """Bytes from a url to an open partial file, over as many connections as it takes."""

    def __init__(self, url: str, name: str, file: BufferedRandom, size: int | None, timeout: float):
        self.url, self.name, self.file, self.size = url, name, file, size
        self.timeout = timeout
        self.n_here = file.seek(0, os.SEEK_END)
        if size is not None and self.n_here > size:
            self.restart()

    def restart(self) -> None:
        self.file.seek(0)
        self.file.truncate()
        self.n_here = 0

    def steps(self) -> Steps[Counted, None]:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                yield from self._connect()
                return
            except _Broken as broken:
                if attempt == ATTEMPTS:
                    raise DataError(
                        f"{self.name}: {broken}. {self.n_here:,} bytes are kept; "
                        "try again and the download goes on from there."
                    ) from broken

    def _connect(self) -> Steps[Counted, None]:
        yield Counted(self.n_here, self.size)
        if self.n_here == self.size:
            return
        request = urllib.request.Request(self.url, headers={"User-Agent": "kcnet"})
        if self.n_here:
            request.add_header("Range", f"bytes={self.n_here}-")
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as response:
                yield from self._receive(response)
        except urllib.error.HTTPError as error:
            if error.code == 416 and self.n_here:  # nothing after our last byte: is it all there?
                return
            if error.code >= 500:
                raise _Broken(f"the server answered {error.code} {error.reason}") from error
            raise DataError(
                f"{self.name} cannot be downloaded: the server answered {error.code} "
                f"{error.reason}."
            ) from error
        except urllib.error.URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise _Broken(f"the server did not answer in {self.timeout:g} seconds") from error
            raise DataError(
                f"{self.name} cannot be downloaded: its server cannot be reached. "
                "Check the network connection and try again."
            ) from error
        except (ConnectionError, http.client.HTTPException) as error:
            raise _Broken("the connection broke") from error
        except TimeoutError as error:
            raise _Broken(f"the server did not answer in {self.timeout:g} seconds") from error

    def _receive(self, response: http.client.HTTPResponse) -> Steps[Counted, None]:
        content_range = response.headers.get("Content-Range", "")
        goes_on = response.status == 206 and content_range.startswith(f"bytes {self.n_here}-")
        if self.n_here and not goes_on:
            self.restart()
        announced = response.headers.get("Content-Length", "")
        total = self.n_here + int(announced) if announced.isdigit() else self.size
        if (total or 0) > MAX_DOWNLOAD_BYTES:
            raise _too_large(self.name)
        missing = (total or 0) - self.n_here
        free = shutil.disk_usage(os.path.dirname(self.file.name) or ".").free
        if missing > free:
            raise DataError(
                f"{self.name} needs {missing / 1e6:,.1f} MB and the disk has {free / 1e6:,.1f} MB "
                "free. Make room, or set KCNET_CACHE to a folder on another disk."
            )
        yield Counted(self.n_here, total)
        while chunk := self._read(response):
            self.file.write(chunk)
            self.n_here += len(chunk)
            if self.n_here > (total or MAX_DOWNLOAD_BYTES):
                raise _too_large(self.name)
            yield Counted(self.n_here, total)
        if total is not None and self.n_here < total:
            raise _Broken(f"the connection ended after {self.n_here:,} of {total:,} bytes")

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        try:
            return response.read1(CHUNK_BYTES)
        except TimeoutError as error:
            raise _Broken(f"the server sent nothing for {self.timeout:g} seconds") from error
        except (OSError, http.client.HTTPException) as error:
            raise _Broken("the connection broke") from error


def problem_with(
    file: BufferedReader | BufferedRandom,
    sha256: str | None = None,
    md5: str | None = None,
    size: int | None = None,
) -> str | None:
    """What is wrong with a whole file, or None."""
    n_bytes = file.seek(0, os.SEEK_END)
    if size is not None and n_bytes != size:
        return f"it has {n_bytes:,} bytes instead of {size:,}"
    for algorithm, expected in (("sha256", sha256), ("md5", md5)):
        if expected is not None:
            file.seek(0)
            empty = hashlib.new(algorithm, usedforsecurity=False)
            if not hashlib.file_digest(file, empty.copy).hexdigest().startswith(expected):
                return f"its {algorithm.upper()} checksum is not the published one"
    return None


def _too_large(name: str) -> LimitError:
    return LimitError(
        f"{name} is larger than it should be; no download may exceed "
        f"{MAX_DOWNLOAD_BYTES:,} bytes (MAX_DOWNLOAD_BYTES)."
    )


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    """Turn the operating system's refusals into sentences (without naming local paths)."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DataError(
                f"The disk became full while {target.name} was downloaded. Make room and try "
                "again, or set KCNET_CACHE to a folder on another disk."
            ) from error
        raise DataError(
            f"{target.name} cannot be stored: the cache folder cannot be written to "
            f"({error.strerror}). Set KCNET_CACHE to a folder that can."
        ) from error


@contextmanager
def _part_file(part: Path) -> Iterator[BufferedRandom]:
    """The partial file, open for appending by nobody else."""
    with open(part, "ab+") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise DataError(
                    f"{part.stem} is being downloaded already; wait until that has ended."
                ) from error
        try:
            yield file
        except BaseException:
            if file.seek(0, os.SEEK_END) == 0:  # nothing worth keeping
                part.unlink(missing_ok=True)
            raise

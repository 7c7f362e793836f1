"""Fetch what a dataset is missing, from its public source into the cache folder."""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kcnet_core.contracts import Counted, Steps, drain
from kcnet_core.datasets import cifar, dream, gs_lf, images, keller, store
from kcnet_core.datasets.catalogue import CATALOGUE, info_of
from kcnet_core.datasets.downloads import download_steps
from kcnet_core.datasets.fly import connectome, door
from kcnet_core.datasets.pyrfume import archives
from kcnet_core.datasets.uploads.archive import open_archive, read_entry
from kcnet_core.errors import DataError, LimitError
from kcnet_core.limits import MAX_DOWNLOAD_BYTES, MAX_UNZIPPED_BYTES
from kcnet_core.storage import folders
from kcnet_core.storage.atomic_write import write_whole

_KELLER_FILES = (
    ("molecules", 35_670, "5f862b6ea62dd3ee0a15138605ea2567d06a527263284348a5982844f9bec81f"),
    ("stimuli", 59_481, "49c1a6bfb8c1665a31e13f515add95a95291f29416be1bb0b54d3317efb6665b"),
    ("behavior", 68_163_172, "ab31c17c475c8b471706822f89aaf9e148bebe5f50f33ff03ebc42b32ac94df8"),
)
# The commit whose file the checksum is of; the newest may still be the same, should it be gone.
_GS_LF_URLS = tuple(
    f"https://raw.githubusercontent.com/BioMachineLearning/openpom/{version}/openpom/data/"
    "curated_datasets/curated_GS_LF_merged_4983.csv"
    for version in ("d0c011c", "main")
)
_GS_LF_DIGEST = "0c18b6e9f0f99b772203ba4da30a96b3d60db700349376cbafe23512a9baa704"
_DREAM_URLS = tuple(
    f"https://raw.githubusercontent.com/dream-olfaction/olfaction-prediction/{version}/data/"
    for version in ("fb47cb3", "master")
)
_DREAM_DIGESTS = {
    "leaderboard": "f7a8d0e2c30a087b55ec6c13bcec487944f8a78cf5b7d0abbad7dbf8b28eab5b",
    "test": "226e919e7257f5c0397ea8eb882d4666794065614731acb3fa88af07db184760",
}
_DOOR_URLS = tuple(
    f"https://raw.githubusercontent.com/ropensci/DoOR.data/{version}/data/"
    for version in ("db323a49", "master")
)
_HEMIBRAIN_URL = "https://storage.googleapis.com/hemibrain/v1.2/"


@dataclass(frozen=True)
class RemoteFile:
    """A file of a dataset and where the world keeps it; the urls are tried in turn."""

    path: str  # in the data folder
    urls: tuple[str, ...]
    size: int | None = None
    sha256: str | None = None
    md5: str | None = None
    members: tuple[str, ...] = ()  # an archive: unpack these beside it, then delete it


def remote_files(name: str) -> tuple[RemoteFile, ...]:
    """What `fetch_steps` downloads for a dataset; none for a bundled one."""
    if name == "keller_2016":
        return tuple(
            RemoteFile(
                f"{keller.FOLDER}/{kind}.csv",
                (f"{archives.URL}{keller.FOLDER}/{kind}.csv",),
                size,
                sha256=digest,
            )
            for kind, size, digest in _KELLER_FILES
        )
    if name in archives.ARCHIVES:  # whose checksums nobody publishes: `pyrfume.first_seen`
        return tuple(RemoteFile(file, (archives.URL + file,)) for file in archives.files(name))
    if name == "dream":
        lists = (
            RemoteFile(
                path, tuple(url + PurePosixPath(path).name for url in _DREAM_URLS), 399,
                sha256=_DREAM_DIGESTS[part],
            )
            for part, path in dream.LISTS.items()
        )  # fmt: skip
        return (*lists, *remote_files("keller_2016"))
    if name == "gs_lf":
        size = CATALOGUE[name].size_bytes
        return (RemoteFile(gs_lf.FILE, _GS_LF_URLS, size, sha256=_GS_LF_DIGEST),)
    if name in door.NAMES:
        return tuple(
            RemoteFile(
                f"{door.FOLDER}/{file}", tuple(url + file for url in _DOOR_URLS), size, digest
            )
            for file, size, digest in door.PUBLISHED
        )
    if name == connectome.NAME:
        url = _HEMIBRAIN_URL + PurePosixPath(connectome.ARCHIVE).name
        size, md5 = connectome.published()
        return (RemoteFile(connectome.ARCHIVE, (url,), size, md5=md5),)
    if name == "cifar10":
        return _cifar_files(CATALOGUE[name].size_bytes)
    if name in images.IDX_SETS:
        return _torchvision_files(images.IDX_SETS[name], CATALOGUE[name].size_bytes)
    return ()


def fetch(name: str, progress: Callable[[int, int | None], None] | None = None) -> None:
    """Do `fetch_steps` at once; `progress` hears the bytes that are here and the bytes in all."""
    drain(fetch_steps(name), progress)


def fetch_steps(name: str) -> Steps[Counted, None]:
    """Download what is missing of a dataset; nothing when it is bundled or present.

    Yields the bytes that are here and the bytes in all. Closing it ends the download; what has
    arrived is kept, and the next time goes on from there.
    """
    if info_of(name).status == "bundled" or store.find(files(name)):
        return
    folder = folders.download_folder()
    done, total = 0, CATALOGUE[name].size_bytes
    for remote in remote_files(name):
        target = folder / remote.path
        if remote.members and not store.missing(target.parent, remote.members):
            continue
        with closing(_download_from_any(remote, target)) as steps:
            for arrived in steps:
                yield Counted(min(done + arrived.done, total), total)
        done += target.stat().st_size
        for _ in _unpacked(target, remote.members) if remote.members else ():
            yield Counted(min(done, total), total)
    yield Counted(total, total)


def checksums(name: str) -> list[str]:
    """The digest that each file of a download must have, where its source publishes one."""
    return [
        f"{PurePosixPath(one.path).name}: {algorithm} {digest}"
        for one in remote_files(name)
        for algorithm, digest in (("SHA-256", one.sha256), ("MD5", one.md5))
        if digest
    ]


def fetch_weights_steps(network: str) -> Steps[Counted, None]:
    """Download the weights of a network that a retina looks with, if they are not here."""
    from kcnet_core.network.retina import pretrained

    if pretrained.weights_file(network) is None:
        url = pretrained.published(network)
        name = PurePosixPath(url).name
        digest = PurePosixPath(url).stem.rpartition("-")[2]  # the first of its SHA-256
        target = folders.download_folder() / pretrained.FOLDER / name
        yield from download_steps(url, target, sha256=digest)


def files(name: str) -> tuple[str, ...]:
    """What a data folder must hold of a dataset that is not bundled."""
    if name == connectome.NAME:
        return connectome.files()
    fixed = {"keller_2016": keller.FILES, "dream": dream.FILES, "gs_lf": gs_lf.FILES}
    fixed |= {"cifar10": cifar.FILES, **dict.fromkeys(door.NAMES, door.FILES)}
    fixed |= {archive: archives.files(archive) for archive in archives.ARCHIVES}
    return fixed[name] if name in fixed else images.IDX_SETS[name].files()


def _cifar_files(size_bytes: int) -> tuple[RemoteFile, ...]:
    """torchvision's archive, which holds its batches in a folder of their own."""
    from kcnet_core.network.retina.torchvision_guard import import_torchvision

    source = import_torchvision().datasets.CIFAR10
    folder = PurePosixPath(cifar.ARCHIVE).parent
    members = tuple(str(PurePosixPath(file).relative_to(folder)) for file in cifar.FILES)
    return (
        RemoteFile(cifar.ARCHIVE, (source.url,), size_bytes, md5=source.tgz_md5, members=members),
    )


def _torchvision_files(idx_set: images.IdxSet, size_bytes: int) -> tuple[RemoteFile, ...]:
    """Mirrors and checksums are torchvision's own; it keeps them up to date."""
    from kcnet_core.network.retina.torchvision_guard import import_torchvision

    source = getattr(import_torchvision().datasets, idx_set.torchvision_class)
    if idx_set.torchvision_class == "EMNIST":
        return (
            RemoteFile(
                f"{idx_set.folder}/gzip.zip",
                (source.url,),
                size=size_bytes,
                md5=source.md5,
                members=tuple(f"{name}.gz" for name in idx_set.names),
            ),
        )
    return tuple(
        RemoteFile(
            f"{idx_set.folder}/{file}", tuple(mirror + file for mirror in source.mirrors), md5=md5
        )
        for file, md5 in source.resources
    )


def _download_from_any(remote: RemoteFile, target: Path) -> Steps[Counted, None]:
    for url in remote.urls:
        try:
            yield from download_steps(
                url, target, sha256=remote.sha256, md5=remote.md5, size=remote.size
            )
            return
        except DataError:
            if url == remote.urls[-1]:
                raise


def _unzipped(archive: Path, members: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    with archive.open("rb") as file:
        pack, entries = open_archive(file, MAX_DOWNLOAD_BYTES)
        inside = {PurePosixPath(entry.filename).name: entry for entry in entries}
        for member in members:
            yield member, read_entry(pack, inside[member])


def _untarred(archive: Path, members: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Nothing is ever extracted to a path of the archive's own."""
    with tarfile.open(archive) as pack:
        for entry in pack:
            content = pack.extractfile(entry) if entry.name in members else None
            if content is not None and entry.size <= MAX_UNZIPPED_BYTES:
                yield entry.name, content.read()
    if not all((archive.parent / name).is_file() for name in members):
        raise KeyError


def _unpacked(archive: Path, members: tuple[str, ...]) -> Iterator[str]:
    """Take only `members` out of the archive, each whole or not at all, and delete the archive."""
    try:
        for member, content in (_untarred if ".tar" in archive.name else _unzipped)(
            archive, members
        ):
            target = archive.parent / member
            target.parent.mkdir(exist_ok=True)
            write_whole(target, content)
            yield member
    except (DataError, LimitError, KeyError, EOFError, zlib.error, tarfile.TarError) as error:
        archive.unlink(missing_ok=True)
        raise DataError(
            f"{archive.name} does not hold the files it should; it was thrown away. "
            "Try the download again."
        ) from error
    except OSError as error:
        raise DataError(
            f"{archive.name} cannot be unpacked: {error.strerror}. "
            "Make room, or set KCNET_CACHE to a folder on another disk, and try again."
        ) from error
    archive.unlink()

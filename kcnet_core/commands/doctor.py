"""`doctor`: versions, folders, memory, cluster and data of this machine, and what is wrong here."""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kcnet_core.errors import KCNetError

LEAST_FREE_BYTES = 500 * 2**20  # what the app and its molecule workers need to work at ease
LEAST_DISK_BYTES = 200 * 2**20
SOMETHING_WRONG = 1  # the exit code


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """There is nothing to choose."""


def main(args: argparse.Namespace) -> int:
    wrong: list[str] = []
    for look in (_versions, _folders, _machine, _cluster, _molecules, _datasets):
        for name, value in look(wrong):
            print(f"{name:<14}{value}")
    print()
    for sentence in wrong:
        print(f"Wrong: {sentence}")
    if not wrong:
        print("Nothing is wrong here.")
    return SOMETHING_WRONG if wrong else 0


def _versions(wrong: list[str]) -> Iterator[tuple[str, str]]:
    from importlib.metadata import PackageNotFoundError, version

    from kcnet_core.experiments.report import versions

    known = dict(versions())
    for name in ("rdkit", "streamlit"):
        try:
            known[name] = version(name)
        except PackageNotFoundError:
            known[name] = "not installed"
    if known["rdkit"] == "not installed":
        wrong.append("RDKit is not installed, so no molecule can be read; pip install rdkit.")
    yield "versions", ", ".join(f"{name} {number}" for name, number in known.items())


def _folders(wrong: list[str]) -> Iterator[tuple[str, str]]:
    from kcnet_core.storage.folders import assets, cache_folder, data_folders

    cache = cache_folder()
    problem = _not_writable(cache)
    if problem:
        wrong.append(
            f"The cache folder cannot be written to ({problem}): downloads, descriptors and the "
            "journal of runs are lost. Set KCNET_CACHE to a folder that can be."
        )
        yield "cache", f"{cache} (not writable)"
    else:
        free = shutil.disk_usage(_nearest(cache)).free
        if free < LEAST_DISK_BYTES:
            wrong.append(f"Only {free >> 20:,} MB are free where the cache folder is; make room.")
        yield "cache", f"{cache} ({free / 2**30:,.1f} GB free)"
    for folder in data_folders()[:-1]:
        there = folder.is_dir()
        if not there:
            wrong.append(f"KCNET_DATA names {folder}, which is not there; correct it or leave it.")
        yield "data", f"{folder}{'' if there else ' (not there)'}"
    if not (assets() / "odorants.csv").is_file():
        wrong.append("The bundled odorants are missing; install the package again.")


def _nearest(folder: Path) -> Path:
    """The folder itself, or the first of those around it that is there."""
    return next((one for one in (folder, *folder.parents) if one.is_dir()), Path("/"))


def _not_writable(folder: Path) -> str:
    """Why no file can be written there; empty if one can."""
    try:
        with tempfile.TemporaryFile(dir=_nearest(folder)):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def _machine(wrong: list[str]) -> Iterator[tuple[str, str]]:
    from kcnet_core.jobs.memory import measure_memory
    from kcnet_core.network.devices import choose_device

    free = measure_memory().available
    if free < LEAST_FREE_BYTES:
        wrong.append(
            f"Only {free >> 20:,} MB of memory are free; the app wants "
            f"{LEAST_FREE_BYTES >> 20:,} MB besides what it holds. Close something, or see the "
            "low-memory profile in assets/guides/running-for-others.md."
        )
    yield "memory", f"{free / 2**30:,.1f} GB free, in this container if it is one"
    affinity = getattr(os, "sched_getaffinity", None)
    yield "cores", str(len(affinity(0)) if affinity else os.cpu_count())
    yield "device", str(choose_device("auto"))


def _cluster(wrong: list[str]) -> Iterator[tuple[str, str]]:
    from kcnet_core.cluster.connection import connected, worker_addresses
    from kcnet_core.cluster.jobs import named_cluster

    named = named_cluster()
    if named is None:
        yield "cluster", "none (KCNET_CLUSTER names one)"
        return
    try:
        with connected(named) as client:
            yield "cluster", f"{named}: {len(worker_addresses(client))} workers"
    except KCNetError as error:
        wrong.append(str(error))
        yield "cluster", f"{named} (cannot be used)"


def _molecules(wrong: list[str]) -> Iterator[tuple[str, str]]:
    from kcnet_core.molecules.pictures import SYSTEM_LIBRARIES, missing_library
    from kcnet_core.molecules.pool import shared_pool

    try:
        answered = shared_pool().run("check", ["CCO"])[0].failure is None
    except KCNetError as error:
        wrong.append(str(error))
        yield "molecules", "cannot be read"
        return
    yield "molecules", "can be read" if answered else "are read with errors"
    if (missing := missing_library()) is None:
        yield "drawings", "can be made"
        return
    package = SYSTEM_LIBRARIES.get(missing)
    how = f"install the package {package} (Debian, Ubuntu)" if package else "install it"
    wrong.append(f"Molecules cannot be drawn: the library {missing} is missing; {how}.")
    yield "drawings", f"cannot be made ({missing} is missing)"


def _datasets(wrong: list[str]) -> Iterator[tuple[str, str]]:
    from kcnet_core import datasets

    infos = datasets.available()
    for heading, statuses in (("datasets", ("bundled", "present")), ("to download", ("download",))):
        names = [info.name for info in infos if info.status in statuses]
        yield heading, ", ".join(names) or "none"

"""Datasets by name: what there is, fetching it, and loading it as one `Dataset` type."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from numbers import Integral

from kcnet_core.datasets import dream, gs_lf, images, keller, starter, store
from kcnet_core.datasets.catalogue import CATALOGUE, DatasetInfo
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.datasets.fly import door
from kcnet_core.datasets.pyrfume.archives import ARCHIVES
from kcnet_core.datasets.pyrfume.loader import load_archive
from kcnet_core.datasets.sources import fetch, fetch_steps, files
from kcnet_core.errors import DataError

__all__ = ["Dataset", "DatasetInfo", "available", "fetch", "fetch_steps", "load"]

_IMAGE_OPTIONS = ("normalise", "n_train", "n_test", "seed")
_ODOR_OPTIONS = ("target", "min_positives", "progress")
_DOOR_OPTIONS = (*_ODOR_OPTIONS, "missing", "min_measured")
_LOADERS: dict[str, tuple[Callable[..., Dataset], tuple[str, ...]]] = {  # and their options
    "starter": (starter.load_starter, _ODOR_OPTIONS),
    "keller_2016": (keller.load_keller, (*_ODOR_OPTIONS, "top_k", "per")),
    "gs_lf": (gs_lf.load_gs_lf, _ODOR_OPTIONS),
    **{name: (partial(load_archive, name), _ODOR_OPTIONS) for name in ARCHIVES},
    "dream": (dream.load_dream, ("progress",)),
    door.CLASSES: (partial(door.load_door, door.CLASSES), _DOOR_OPTIONS),
    door.CHARACTERS: (partial(door.load_door, door.CHARACTERS), (*_DOOR_OPTIONS, "characters")),
    **{
        name: (partial(images.load_images, name), _IMAGE_OPTIONS)
        for name in ("mnist_sample", "digits", *images.IDX_SETS, "cifar10")
    },
}


def available() -> list[DatasetInfo]:
    """Every dataset that `load` knows, with its status: bundled, present or download."""
    return [_with_status(info) for info in CATALOGUE.values()]


def load(name: str, **options) -> Dataset:
    """Load a dataset.

    Parameters
    ----------
    name : str
        One of the names in `available()`.
    **options
        Image sets: normalise, n_train, n_test, seed (see `images.load_images`).
        Odor sets: target, min_positives, progress; keller_2016 also top_k and per (see
         `keller.load_keller`), door and door_characters missing and min_measured, the latter
         also characters (see `fly.door.load_door`).

    Raises
    ------
    DataError
        The name or an option is unknown, or the data are missing or damaged; the message says
        what to do.

    Examples
    --------
    >>> from kcnet_core.datasets import load
    >>> load("mnist_sample", n_train=1000, n_test=200).X.shape
    (1200, 784)
    """
    if name == "hemibrain":
        raise DataError(
            "The hemibrain has no rows to learn from: it is a wiring. Read it with "
            "kcnet_core.datasets.fly.connectome.connectome(), and give a network "
            "connectome=synapses_for(names) for data whose inputs are glomeruli, like DoOR."
        )
    if name not in _LOADERS:
        raise DataError(f"There is no dataset {name!r}; choose one of {', '.join(_LOADERS)}.")
    loader, allowed = _LOADERS[name]
    unknown = sorted(set(options) - set(allowed))
    if unknown:
        raise DataError(
            f"{CATALOGUE[name].title} has no option {', '.join(unknown)}; "
            f"it has {', '.join(allowed)}."
        )
    for option, value in options.items():
        _check_option(option, value)
    return loader(**options)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 0


_TEXT = ("text", lambda value: isinstance(value, str))
_OTHERWISE = ("a whole number, not below 0", _is_whole)
_OPTIONS = {
    **dict.fromkeys(("normalise", "target", "per", "missing", "characters"), _TEXT),
    "progress": ("a function", callable),
}
_MAY_BE_NONE = ("n_train", "n_test", "target", "progress")


def _check_option(name: str, value: object) -> None:
    """Options may come from a link, where anything can stand."""
    what, holds = _OPTIONS.get(name, _OTHERWISE)
    if not (holds(value) or (value is None and name in _MAY_BE_NONE)):
        shown = repr(value) if len(repr(value)) <= 40 else "something else"
        raise DataError(f"{name} must be {what}; it is {shown}.")


def _with_status(info: DatasetInfo) -> DatasetInfo:
    with suppress(DataError):  # damaged files: loading says so, the list still shows
        if info.name == "starter":
            n_rows, n_classes = starter.size()
            return replace(info, n_rows=n_rows, n_classes=n_classes)
        if info.status == "download" and (folder := store.find(files(info.name))):
            info = replace(info, status="present")
            if info.name in images.IDX_SETS:
                return replace(info, n_rows=images.n_present_rows(info.name, folder))
    return info

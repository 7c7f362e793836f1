"""Names of a recipe's series, lines and datasets as a reader meets them."""

from __future__ import annotations

from kcnet_core.datasets.catalogue import CATALOGUE

HOW = {
    "none": "no oversampling",
    "inside the training rows": "oversampled inside the training rows",
    "before the split": "oversampled before the split",
}


def how(series: str) -> str:
    """How a line was measured; the recipes on oversampling name theirs in a word or two."""
    return HOW.get(series, series)


def title(key: str) -> str:
    """A line's key in words."""
    return " · ".join(how(part) for part in key.split(" · "))


def dataset_title(name: str) -> str:
    return CATALOGUE[name].title if name in CATALOGUE else name

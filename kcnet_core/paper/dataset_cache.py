"""The datasets that a recipe's lines want, altered where they want it, a few of them held."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.paper.altered_data import ALTERATIONS
from kcnet_core.paper.recipe import RecipeLine

HELD_BYTES = 300 * 2**20  # of datasets, besides the one in use
SAMPLED_ROWS = 100  # of a dataset, to tell one release of its inputs from another


class DatasetCache:
    """The datasets of a recipe, the last few of them held."""

    def __init__(self, load: Callable[..., Dataset]):
        self._load = load
        self._held: OrderedDict[str, Dataset] = OrderedDict()
        self._fingerprints: dict[str, list] = {}

    def dataset(self, line: RecipeLine, repeat: int) -> Dataset:
        """As the line wants it; an alteration is drawn anew for every repeat."""
        dataset = self.plain(line)
        if line.protocol == "paper_split":
            dataset = replace(dataset, groups=None)
        if line.alteration:
            name, value = line.alteration
            dataset = ALTERATIONS[name](dataset, value, repeat)
        return dataset

    def fingerprint(self, line: RecipeLine) -> list:
        """Tells one dataset, or one release of it, from another."""
        key = self.key(line)
        if key not in self._fingerprints:
            n_rows, n_inputs, X, y = self.plain(line).fingerprint(SAMPLED_ROWS)
            self._fingerprints[key] = [key, n_rows, n_inputs, y, X]
        return self._fingerprints[key]

    def key(self, line: RecipeLine) -> str:
        """The same for lines that use the same dataset."""
        return json.dumps([line.dataset, line.target, dict(line.options)], sort_keys=True)

    def plain(self, line: RecipeLine) -> Dataset:
        """The dataset of a line, unaltered."""
        key = self.key(line)
        if key not in self._held:
            options = {**line.options, **({"target": line.target} if line.target else {})}
            while sum(held.X.nbytes for held in self._held.values()) > HELD_BYTES:
                self._held.popitem(last=False)
            self._held[key] = self._load(line.dataset, **options)
        self._held.move_to_end(key)
        return self._held[key]

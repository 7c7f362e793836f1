"""What the words of other people's data mean in ours: `assets/vocabulary.csv`, for all to correct.

A word stands for the character that `assets/ODORANTS.md` describes it by ("woody: cedar,
sandalwood, pine, vetiver"); one that no character covers stands for none. The table was written
from these descriptions, before anything was measured with it. Words of "pyrfume" serve all of its
archives, beside those of GS-LF; a source's own words come last and win.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.datasets.pyrfume.archives import ARCHIVES
from kcnet_core.storage.asset_table import asset_rows
from kcnet_core.storage.folders import assets

PATH = assets() / "vocabulary.csv"
COLUMNS = ("source", "word", "characters")


@cache
def words_of(source: str) -> Mapping[str, tuple[str, ...]]:
    """The words of a dataset (by its name in the catalogue) and the characters they stand for."""
    sources = ("gs_lf", "pyrfume", source) if source in ARCHIVES else (source,)
    return {
        row["word"].strip().capitalize(): tuple(
            filter(None, (one.strip().capitalize() for one in row["characters"].split(";")))
        )
        for one_source in sources
        for row in asset_rows(PATH, COLUMNS, "vocabulary")
        if row["source"] == one_source
    }


def translated(dataset: Dataset, characters: Sequence[str]) -> np.ndarray:
    """The labels of a multi-label dataset in other `characters`, (n, c) 0/1.

    A molecule has a character when people gave it any of the words that stand for it. Characters
    that no word of the dataset stands for are all zero.
    """
    words = words_of(dataset.name)
    labels = np.zeros((len(dataset.y), len(characters)), dtype=np.int64)
    for column, word in enumerate(dataset.target_names):
        for character in words.get(word, ()):
            if character in characters:
                labels[:, characters.index(character)] |= dataset.y[:, column]
    return labels

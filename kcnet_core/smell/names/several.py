"""Names that are no single molecule: natural materials, and names that several molecules share.

They are asked about, never taken: `assets/several.csv` says which molecules they may be, or what a
material mostly smells by.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from kcnet_core.smell.names.spelling import plain, spelling, spellings
from kcnet_core.storage.asset_table import asset_rows
from kcnet_core.storage.folders import assets

PATH = assets() / "several.csv"
COLUMNS = ("name", "kind", "molecules")
MIXTURE = "mixture"
# What stands on bottles of natural materials besides the plant; without accents.
_MADE_FROM = re.compile(
    r"\b(?:oils?|oel|ol|absolutes?|absolue|absoluto|abs|resinoide?|concrete|essence|extra(?:c|k)t|"
    r"tincture|teinture|tinktur|huile|aceite|esencia|eo)\b"
)
_BESIDES = re.compile(
    r"\b(?:essential|essentielle|esencial|a?e?therisches|of|de|du|des|la|d)\b|['’]"
)


@dataclass(frozen=True)
class Several:
    """What a name may stand for: names of molecules, or the best known of a mixture."""

    mixture: bool
    molecules: tuple[str, ...]

    def sentence(self, near: list[str]) -> str:
        which = " or ".join(filter(None, (", ".join(near[:-1]), *near[-1:])))
        if self.mixture:
            said = "This is a mixture of many molecules, and the flies smell one at a time."
            return f"{said} Ask about one of them: {which}?" if near else said
        said = "This name stands for several molecules."
        return f"{said} Is it {which}?" if near else said


@cache
def _table() -> Mapping[str, Several]:
    return {
        key: Several(row["kind"] == MIXTURE, tuple(filter(None, row["molecules"].split("|"))))
        for row in asset_rows(PATH, COLUMNS, "table of mixtures")
        for name in row["name"].split("|")
        for key in spellings(name)
    }


def several(text: str) -> Several | None:
    """What a text means that is no name of one molecule; None if it may be one."""
    if found := _table().get(spelling(text)):
        return found
    words = plain(text)
    if (rest := _MADE_FROM.sub(" ", words)) == words:
        return None
    return _table().get(spelling(_BESIDES.sub(" ", rest))) or Several(True, ())

"""Which archives of pyrfume-data are read, and in what each departs from the common layout.

An archive is a folder with `molecules.csv` (CID, IsomericSMILES, name), `stimuli.csv` (which
molecule a stimulus is) and words about the stimuli: a column of lists, or a table with one column
for every word. All of it is read at the one commit that Keller's files come from, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

COMMIT = "8054ea98ed675005ec10e67359902f500e4911b0"
URL = f"https://raw.githubusercontent.com/pyrfume/pyrfume-data/{COMMIT}/"
MOLECULES, STIMULI = "molecules.csv", "stimuli.csv"


@dataclass(frozen=True)
class Archive:
    """One archive; its name is that of its folder, in the repository and in a data folder."""

    behavior: str  # the file with the words
    column: str | None  # of this file, with a list in every cell; None: one column for every word
    cid: str = "CID"  # column of stimuli.csv; "" where the stimulus' number is the molecule's
    from_value: float = 1.0  # of a table: the number from which on a word counts
    only: tuple[str, str] | None = None  # a column of stimuli.csv and the value that it must have
    quirk: str = ""  # a sentence for the report
    formerly: Mapping[str, str] = field(default_factory=dict)  # other names of the words' columns


ARCHIVES = {
    "leffingwell": Archive(
        "behavior.csv",
        None,
        quirk="Molecules that PubChem does not list have a number made from their SMILES.",
    ),
    "goodscents": Archive(
        "behavior.csv",
        "Descriptors",
        quirk="A stimulus is a product by its CAS number; words of several products that are one "
        "molecule are put together.",
    ),
    "arctander_1960": Archive(
        "behavior_1_sparse.csv",
        "Labels",
        cid="new_CID",
        quirk="The words are those that Chastrette drew from Arctander's prose.",
        # The repository's own script writes the rows' index and their words under these names.
        formerly={"Arctander ID": "Stimulus", "ChastretteDetails": "Labels"},
    ),
    "dravnieks_1985": Archive(
        "behavior_2.csv",
        None,
        from_value=20.0,
        only=("Conc", "high"),
        quirk="A word counts when at least 20% of the panel used it, a line that is ours; of "
        "molecules that were smelled at two strengths the stronger one is taken.",
    ),
    "flavornet": Archive("behavior.csv", "Descriptors"),
    "sigma_2014": Archive(
        "behavior_sparse.csv",
        "descriptors",
        cid="",
        quirk="Stimuli with a number below zero are oils and extracts, not molecules.",
    ),
    "aromadb": Archive("behavior.csv", "Filtered Descriptors"),
}


def files(name: str) -> tuple[str, ...]:
    """What a data folder must hold of an archive."""
    archive = ARCHIVES[name]
    kinds = (MOLECULES, archive.behavior, *((STIMULI,) if archive.cid else ()))
    return tuple(f"{name}/{kind}" for kind in kinds)

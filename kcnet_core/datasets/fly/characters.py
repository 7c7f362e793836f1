"""What odorants smell of to people: looked up in the odor sets that know the same molecule.

Other sets have words of their own; `assets/vocabulary.csv` says which of our characters they stand
for. A molecule that a set does not know by its mirror image is looked up without stereo marks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from kcnet_core.contracts import drain
from kcnet_core.datasets import starter, store
from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.datasets.gs_lf import FILES as GS_LF_FILES
from kcnet_core.datasets.gs_lf import load_gs_lf
from kcnet_core.datasets.keller import FILES as KELLER_FILES
from kcnet_core.datasets.keller import load_keller
from kcnet_core.datasets.pyrfume.archives import ARCHIVES
from kcnet_core.datasets.pyrfume.archives import files as archive_files
from kcnet_core.datasets.pyrfume.loader import load_archive
from kcnet_core.datasets.vocabulary import translated
from kcnet_core.errors import DataError
from kcnet_core.molecules.read import Molecule, Row, check_steps, frame_lines, skeletons

STARTER, ALL = "starter", "all"
_LOADERS: dict[str, Callable[..., Dataset]] = {
    "keller_2016": partial(load_keller, per="compound"),  # both dilutions have the same words
    "gs_lf": load_gs_lf,
    **{name: partial(load_archive, name) for name in ARCHIVES},
}
SOURCES = (STARTER, *_LOADERS, ALL)
Characters = frozenset[str]
WORDS = "; its words stand for characters as assets/vocabulary.csv lists them."


def checked(texts: Sequence[str], progress=None) -> list[Row]:
    """Each SMILES as a molecule, or why it is none."""
    import pandas as pd

    lines = frame_lines(pd.DataFrame({"smiles": texts}, dtype=object), "smiles")
    return drain(check_steps(lines, keep_duplicates=True), progress)


def is_here(source: str) -> bool:
    """Whether a source can be asked: it comes with the project, or somebody downloaded it."""
    if source in (STARTER, ALL):
        return True
    own = {"keller_2016": KELLER_FILES, "gs_lf": GS_LF_FILES}
    return store.find(own.get(source) or archive_files(source)) is not None


def asked_sets(source: str) -> list[str]:
    """The odor sets that a source comes to."""
    if source not in SOURCES:
        raise DataError(f"characters is {source[:40]!r}; it must be one of {', '.join(SOURCES)}.")
    return [name for name in SOURCES[:-1] if is_here(name)] if source == ALL else [source]


def attribution(source: str) -> dict[str, str]:
    """Whom to name for the characters: the fields `citation` and `licence` of a `Dataset`."""
    sets = [CATALOGUE[name] for name in asked_sets(source)]
    return {
        "citation": "; ".join(info.citation for info in sets),
        "licence": "; ".join(f"{info.title}: {info.licence}" for info in sets),
    }


def characters_of(
    molecules: Sequence[Molecule], source: str, report: list[str], progress=None
) -> list[Characters | None]:
    """The characters that a source gives to each molecule; None for those it does not know. `ALL`
    puts together what every source on this machine says."""
    asked = asked_sets(source)
    found: list[Characters | None] = [None] * len(molecules)
    for name in asked:
        exact, flat = _entries(name, progress)
        given = [exact.get(one.smiles, flat.get(one.skeleton)) for one in molecules]
        found = [
            other if one is None else one | (other or frozenset())
            for one, other in zip(found, given, strict=True)
        ]
        report.append(
            f"{sum(one is not None for one in given)} of {len(molecules)} odorants are in "
            f"{CATALOGUE[name].title}, which says what they smell of to people"
            f"{'.' if name == STARTER else WORDS}"
        )
    if source == ALL and (absent := [name for name in SOURCES[:-1] if name not in asked]):
        titles = ", ".join(CATALOGUE[name].title for name in absent)
        report.append(f"Not on this machine, and so not asked: {titles}.")
    return found


def all_characters() -> list[str]:
    words = {word for entry in starter.entries() for word in entry["characters"]}
    return sorted(word.capitalize() for word in words)


def _entries(name: str, progress) -> tuple[dict[str, Characters], dict[str, Characters]]:
    """What a source says, by canonical SMILES, and by the same without stereo marks."""
    exact, flat = dict[str, Characters](), dict[str, Characters]()
    for smiles, skeleton, words in _starter() if name == STARTER else _other(name, progress):
        exact.setdefault(smiles, words)
        flat.setdefault(skeleton, words)
    return exact, flat


def _starter() -> Iterator[tuple[str, str, Characters]]:
    known = starter.entries()
    for entry, row in zip(known, checked([one["smiles"] for one in known]), strict=True):
        if row.molecule is not None:
            words = frozenset(word.capitalize() for word in entry["characters"])
            yield row.molecule.smiles, row.molecule.skeleton, words


def _other(name: str, progress) -> Iterator[tuple[str, str, Characters]]:
    dataset, ours = _LOADERS[name](min_positives=1, progress=progress), all_characters()
    smiles = dataset.smiles or ()
    for text, flat, row in zip(smiles, skeletons(smiles), translated(dataset, ours), strict=True):
        yield text, flat, frozenset(word for word, has in zip(ours, row, strict=True) if has)

"""What is measured of the nose as recipes of `reproduce`: each is one file of `assets/results`.

They are no lines of models and splits as the paper's are, so every one has its own way of measuring
and its own table; name, title and question are as there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kcnet_core.contracts import drain
from kcnet_core.errors import KCNetError
from kcnet_core.storage.atomic_write import write_whole
from kcnet_core.storage.folders import assets, cache_folder

WHERE = "Beyond the paper"
Say = Callable[[str], None]


def quality(say: Say, data: str = "starter") -> str:
    """Unseen molecules of the nose's own data, character by character, as JSON."""
    from kcnet_core import datasets
    from kcnet_core.datasets.substructures import with_substructures
    from kcnet_core.smell import quality

    steps = quality.measure_steps(with_substructures(datasets.load(data)))
    return quality.to_json(drain(steps, lambda done, total: say(f"{done} of {total} splits")))


def elsewhere(say: Say, data: str = "starter", other: str = "gs_lf") -> str:
    """Other people's labels of molecules that the nose was never taught, as JSON."""
    from kcnet_core import datasets
    from kcnet_core.datasets.substructures import with_substructures
    from kcnet_core.smell import elsewhere

    theirs = elsewhere.other_people(other)
    steps = elsewhere.measure_steps(with_substructures(datasets.load(data)), theirs)
    return elsewhere.to_json(drain(steps, lambda done, total: say(f"{done} of {total} steps")))


def benchmark(say: Say, journal: Path | None = None) -> str:
    """GS-LF in five folds beside rivals, as JSON; `journal` keeps what is known of a part of it."""
    from kcnet_core import datasets
    from kcnet_core.datasets.substructures import with_substructures
    from kcnet_core.smell import benchmark

    if journal is None:  # of these very settings
        rivals = benchmark.KERNELS, benchmark.FOREST, benchmark.BOOSTER
        settings = json.dumps([asdict(benchmark.FLIES), *rivals])
        digest = hashlib.sha256(settings.encode()).hexdigest()[:12]
        journal = cache_folder() / "reproduce" / f"gs-lf-{digest}.jsonl"
        journal.parent.mkdir(parents=True, exist_ok=True)
    data = with_substructures(datasets.load("gs_lf"))
    return benchmark.to_json(benchmark.journaled(data, journal, say))


def dream(say: Say) -> str:
    """Ratings of the DREAM challenge's test molecules beside ridge and a forest, as JSON."""
    from kcnet_core import datasets
    from kcnet_core.datasets.substructures import with_substructures
    from kcnet_core.molecules.fingerprint_table import FOUR
    from kcnet_core.smell.ratings import challenge

    data = with_substructures(datasets.load("dream"), FOUR)
    return challenge.to_json(challenge.measured(data, say))


@dataclass(frozen=True)
class NoseRecipe:
    """A measurement of the nose. `read` gives a result from its file, by default the one that
    ships with the project, or None; it has a sentence `how`, and `table` makes columns of it."""

    name: str  # on the command line and in links
    title: str
    question: str
    file: str  # of its result
    duration: str  # in words
    measure: Callable[[Say], str]
    read: Callable[..., Any]
    table: Callable[[Any], dict[str, list]]

    @property
    def path(self) -> Path:
        """The result that ships with the project."""
        return assets() / "results" / self.file

    def save(self, folder: Path, text: str) -> Path:
        path = folder / self.file
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(path, text.encode())
        except OSError as error:
            raise KCNetError(
                f"The result cannot be written ({error.strerror}); choose a folder that can be."
            ) from error
        return path


def _of(module: str, name: str) -> Callable:
    """A function of a module of this folder that is imported when it is called: some need torch."""

    def call(*given):
        from importlib import import_module

        return getattr(import_module(f"kcnet_core.smell.{module}"), name)(*given)

    return call


NOSE_RECIPES = {
    recipe.name: recipe
    for recipe in (
        NoseRecipe(
            "nose-elsewhere",
            "The nose by other people's labels",
            "How right is a nose about molecules, ring systems and experts that it has never met?",
            "smell_elsewhere.json",
            "minutes",
            elsewhere,
            _of("elsewhere", "read_elsewhere"),
            _of("elsewhere", "table"),
        ),
        NoseRecipe(
            "nose-quality",
            "The nose on its own data, character by character",
            "Which characters does the nose tell on molecules that it was not taught?",
            "smell_quality.json",
            "a minute",
            quality,
            _of("quality", "read_quality"),
            _of("quality", "table"),
        ),
        NoseRecipe(
            "gs-lf",
            "The field's benchmark: 138 words of GS-LF",
            "How does KCNet fare beside trees, neighbours and what others have published?",
            "gs_lf_benchmark.json",
            "an hour",
            benchmark,
            _of("benchmark", "remembered_benchmark"),
            _of("benchmark", "table"),
        ),
        NoseRecipe(
            "dream",
            "Intensity and pleasantness: the DREAM challenge",
            "How well are the ratings of a panel foretold?",
            "smell_dream.json",
            "a minute",
            dream,
            _of("ratings.challenge", "remembered_challenge"),
            _of("ratings.challenge", "table"),
        ),
    )
}

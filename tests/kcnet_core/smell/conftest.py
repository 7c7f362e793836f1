"""A small nose, taught once."""

from __future__ import annotations

import pytest

from kcnet_core import datasets
from kcnet_core.datasets.substructures import with_substructures
from kcnet_core.molecules.text import split_lines
from kcnet_core.smell.answers import smell
from kcnet_core.smell.flies import FlySettings
from kcnet_core.smell.nose import train_nose

SMALL = FlySettings(n_flies=3, n_hidden=300)
SMALLEST = FlySettings(n_flies=1, n_hidden=200, n_group_cells=200)


@pytest.fixture(scope="session")
def starter():
    return datasets.load("starter")


@pytest.fixture(scope="session")
def nose(starter):
    return train_nose(starter, SMALL)


@pytest.fixture(scope="session")
def smelled(nose):
    """`smelled("vanillin")`: the answer for one line."""
    return Smelled(nose)


@pytest.fixture(scope="session")
def informed(starter):
    """As `smelled`, by flies that are told of substructures too."""
    return Smelled(train_nose(with_substructures(starter), SMALLEST))


class Smelled:
    def __init__(self, nose):
        self.nose = nose

    def __call__(self, text: str):
        answers = smell(self.nose, split_lines(text))
        assert answers.given, answers.errors[0].error
        return answers.given[0]

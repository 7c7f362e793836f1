"""A small nose, taught once."""

from __future__ import annotations

import pytest

from kcnet_core import datasets
from kcnet_core.molecules.text import split_lines
from kcnet_core.smell.flies import FlySettings
from kcnet_core.smell.nose import train_nose

SMALL = FlySettings(n_flies=3, n_hidden=300)


@pytest.fixture(scope="session")
def starter():
    return datasets.load("starter")


@pytest.fixture(scope="session")
def nose(starter):
    return train_nose(starter, SMALL)


@pytest.fixture(scope="session")
def smelled(nose):
    """`smelled("vanillin")`: the answer for one line."""
    from kcnet_core.smell.answers import smell

    def answer(text: str):
        answers = smell(nose, split_lines(text))
        assert answers.given, answers.errors[0].error
        return answers.given[0]

    return answer

"""The circuit of the first screen: real samples through a real fly, one frame at a time."""

import numpy as np
import pytest

from kcnet_core.datasets import load
from kcnet_core.lessons.circuit import Glomeruli
from kcnet_core.lessons.circuit_drawing import FILM_STEPS
from pages.ui.shell.circuit import living_circuit

PARTS = {"step", "label", "titles", "inputs", "cells", "chosen", "answers", "votes", "colours"}


@pytest.fixture(scope="module")
def pictures():
    """The frames as the browser completes them."""
    whole, found = {}, []
    for frame in living_circuit.film("image", False)["frames"]:
        whole = {**whole, **frame}
        found.append(whole)
    return found


def test_every_sample_goes_through_all_steps_and_only_what_is_new_is_sent(pictures):
    steps = [picture["step"] for picture in pictures]
    assert steps == list(FILM_STEPS) * living_circuit.SAMPLES
    assert all(picture.keys() >= PARTS for picture in pictures)
    frames = living_circuit.film("image", False)["frames"]
    sent = [number for number, frame in enumerate(frames) if "inputs" in frame]
    assert sent == list(range(0, len(frames), len(FILM_STEPS)))


def test_the_samples_are_held_out_and_of_different_kinds(pictures):
    glomeruli = Glomeruli(load("mnist_sample"))
    unseen = np.rint(100 * glomeruli.rates[glomeruli.test]).astype(int)
    names = {picture["titles"]["inputs"][1] for picture in pictures}
    assert len(names) == living_circuit.SAMPLES
    for picture in pictures[:: len(FILM_STEPS)]:
        assert (unseen == picture["inputs"]["values"]).all(axis=1).any()
        assert max(answer["probability"] for answer in picture["answers"]) > 20

"""What answers and their quality take is known before they are worked out."""

from __future__ import annotations

from dataclasses import replace

from kcnet_core.experiments.cost import FIXED_BYTES
from kcnet_core.limits import MAX_MOLECULES
from kcnet_core.smell.cost import answers_cost, quality_cost
from kcnet_core.smell.flies import FlySettings

MEGABYTE = 2**20


def test_answers_cost_more_for_more_molecules_and_less_without_known_ones(nose):
    few, many = answers_cost(nose, 100).bytes, answers_cost(nose, MAX_MOLECULES).bytes
    assert FIXED_BYTES < few < many
    assert many - FIXED_BYTES == 200 * (few - FIXED_BYTES)
    assert answers_cost(replace(nose, known=None), 100).bytes < few


def test_quality_costs_more_for_more_cells_flies_and_characters(starter):
    settings = FlySettings()
    cost = quality_cost(starter, settings).bytes
    for more in (replace(settings, n_hidden=2_000), replace(settings, n_flies=16)):
        assert quality_cost(starter, more).bytes > cost
    assert 150 * MEGABYTE < cost < 300 * MEGABYTE

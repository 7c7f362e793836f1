"""What answers and their quality take is known before they are worked out."""

from __future__ import annotations

from kcnet_core.experiments.cost import FIXED_BYTES, answers_cost, quality_cost
from kcnet_core.limits import MAX_MOLECULES

MEGABYTE = 2**20
NOSE = {"n_known": 781, "n_flies": 3, "n_characters": 29}
FLIES = {"n_hidden": 1_000, "n_flies": 8, "n_characters": 29}


def test_answers_cost_more_for_more_molecules_and_less_without_known_ones():
    few, many = answers_cost(100, **NOSE).bytes, answers_cost(MAX_MOLECULES, **NOSE).bytes
    assert FIXED_BYTES < few < many
    assert many - FIXED_BYTES == 200 * (few - FIXED_BYTES)
    assert answers_cost(100, **NOSE | {"n_known": 0}).bytes < few


def test_quality_costs_more_for_more_cells_flies_and_characters():
    cost = quality_cost(781, **FLIES).bytes
    for more in ({"n_hidden": 2_000}, {"n_flies": 16}, {"n_characters": 58}):
        assert quality_cost(781, **FLIES | more).bytes > cost
    assert 150 * MEGABYTE < cost < 300 * MEGABYTE

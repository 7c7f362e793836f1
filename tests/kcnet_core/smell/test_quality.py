"""Quality is measured on unseen molecules, remembered, and never shown for other data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kcnet_core.datasets.substructures import with_substructures
from kcnet_core.smell import quality as q
from kcnet_core.smell.flies import FlySettings
from kcnet_core.smell.quality import CharacterQuality, Measured

TINY = FlySettings(n_flies=1, n_hidden=100)


def drained(steps):
    seen = []
    while True:
        try:
            seen.append(next(steps))
        except StopIteration as end:
            return end.value, seen


@pytest.fixture(scope="module")
def measured(starter):
    noise = np.random.default_rng(0).integers(0, 2, len(starter.y))
    keep = [list(starter.target_names).index(name) for name in ("Musky", "Sweet")]
    y = np.column_stack([starter.y[:, keep], noise])
    data = replace(starter, y=y, target_names=("Musky", "Sweet", "Noise"))
    return data, *drained(q.measure_steps(data, TINY, n_repeats=2, n_folds=4))


def test_what_can_be_told_is_better_than_chance_and_noise_is_not(measured):
    _, quality, _ = measured
    musky, noise = quality.of("Musky"), quality.of("Noise")
    assert musky.better_than_chance and musky.reason == ""
    assert musky.auroc.low < musky.auroc.mean < musky.auroc.high
    assert not noise.better_than_chance and "0.5" in noise.reason


def test_progress_counts_the_splits(measured):
    _, _, seen = measured
    assert [step.done for step in seen] == list(range(9)) and seen[-1].fraction == 1


def test_a_measurement_survives_writing_and_reading(measured, tmp_path, monkeypatch):
    data, quality, _ = measured
    monkeypatch.setenv("KCNET_CACHE", str(tmp_path))
    assert q.from_json(q.to_json(quality)) == quality
    assert q.remembered_quality(data, TINY) is None
    q.remember_quality(quality)
    assert q.remembered_quality(data, TINY) == quality


def test_other_data_or_settings_do_not_inherit_a_measurement(measured):
    data, quality, _ = measured
    assert quality.key == q.quality_key(data, TINY)
    assert quality.key != q.quality_key(data, replace(TINY, inhibition=1.2))
    assert quality.key != q.quality_key(replace(data, y=1 - data.y), TINY)


def test_a_damaged_file_is_ignored(measured, tmp_path, monkeypatch):
    data, quality, _ = measured
    monkeypatch.setenv("KCNET_CACHE", str(tmp_path))
    q.remember_quality(quality)
    next((tmp_path / "smell").iterdir()).write_text('{"key": 3')
    assert q.remembered_quality(data, TINY) is None


def test_a_character_that_could_not_be_measured_is_not_offered():
    nothing = Measured(float("nan"), float("nan"), float("nan"))
    rare = CharacterQuality("Rare", 1, nothing, nothing)
    assert not rare.better_than_chance and "too few" in rare.reason


def test_the_shipped_measurement_holds_for_the_shipped_data_and_settings(starter):
    shipped = q.remembered_quality(with_substructures(starter), FlySettings())
    assert shipped is not None, "assets/results/smell_quality.json belongs to other data or code"
    assert len(shipped.characters) == len(starter.target_names)
    assert shipped.auroc.low > 0.9
    assert all(character.better_than_chance for character in shipped.characters)

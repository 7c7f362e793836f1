"""The boiling points that our rule gives, against those it was fitted to and those it was not."""

from __future__ import annotations

import numpy as np
import pytest

from kcnet_core.contracts import drain
from kcnet_core.molecules.descriptor_table import DESCRIPTOR_NAMES
from kcnet_core.molecules.read import descriptor_steps
from kcnet_core.smell import volatility
from kcnet_core.storage.asset_table import asset_rows
from kcnet_core.storage.folders import assets


@pytest.fixture(scope="module")
def known():
    path = assets() / "boiling_points.csv"
    rows = asset_rows(path, ("smiles", "name", "celsius"), "boiling points")
    described = drain(descriptor_steps([row["smiles"] for row in rows]))
    X = np.stack([described[row["smiles"]] for row in rows]).astype(float)
    return X, np.array([float(row["celsius"]) for row in rows])


def test_the_coefficients_are_those_of_the_table(known):
    X, celsius = known
    place = {name: k for k, name in enumerate(DESCRIPTOR_NAMES)}
    T = volatility.terms({name: X[:, place[name]] for name in volatility.DESCRIPTORS})
    fitted = np.linalg.lstsq(T, celsius, rcond=None)[0]
    np.testing.assert_allclose(volatility.boiling_points(X), T @ fitted, atol=0.2)


def test_molecules_left_out_are_met_as_far_as_the_rule_says(known):
    X, celsius = known
    place = {name: k for k, name in enumerate(DESCRIPTOR_NAMES)}
    T = volatility.terms({name: X[:, place[name]] for name in volatility.DESCRIPTORS})
    hat = T @ np.linalg.pinv(T)
    left_out = np.abs(celsius - hat @ celsius) / (1 - np.diag(hat))
    assert np.quantile(left_out, 0.5) <= 10
    assert np.quantile(left_out, 0.9) <= volatility.TYPICAL_ERROR


def test_features_without_the_descriptors_are_described_anew():
    by_smiles = volatility.boiling_points(np.zeros((2, 1)), ["MolWt"], ["CCO", "CCCCCCCCCCO"])
    assert by_smiles[0] == pytest.approx(78, abs=35) and by_smiles[1] > by_smiles[0] + 100
    with pytest.raises(ValueError, match="not among the features"):
        volatility.boiling_points(np.zeros((2, 1)), ["MolWt"])

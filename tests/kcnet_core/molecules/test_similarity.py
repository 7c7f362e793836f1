"""Structural similarity agrees with RDKit's own Tanimoto similarity."""

from __future__ import annotations

import numpy as np
import pytest

from kcnet_core.molecules.similarity import morgan_similarity

OTHERS = ["COc1cc(C=O)ccc1O", "CCOc1cc(C=O)ccc1O", "CC1CCCCCCCCCCCCC(=O)C1", "C", "CCO"]


def test_similarity_is_rdkits_tanimoto_of_morgan_fingerprints():
    from rdkit import Chem, DataStructs
    from rdkit.Chem import rdFingerprintGenerator

    make = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048).GetFingerprint
    prints = [make(Chem.MolFromSmiles(smiles)) for smiles in OTHERS]
    theirs = DataStructs.BulkTanimotoSimilarity(prints[0], prints)
    np.testing.assert_allclose(morgan_similarity(OTHERS[0], OTHERS), theirs)


def test_ethyl_vanillin_is_nearer_to_vanillin_than_muscone_is():
    same, ethyl, musk = morgan_similarity(OTHERS[0], OTHERS)[:3]
    assert same == 1.0 and same > ethyl > musk


def test_what_has_no_fingerprint_is_nan_and_does_not_disturb_the_rest():
    found = morgan_similarity("CCO", ["C1CC", "CCO"])
    assert np.isnan(found[0]) and found[1] == pytest.approx(1.0)
    assert np.isnan(morgan_similarity("C1CC", ["CCO"])).all()


def test_no_others_give_no_values():
    assert morgan_similarity("CCO", []).shape == (0,)

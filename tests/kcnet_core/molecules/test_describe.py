"""Descriptors: the table matches RDKit, and every good row gets finite numbers."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from kcnet_core.molecules.descriptor_table import DESCRIPTOR_NAMES, DESCRIPTORS, GROUPS
from kcnet_core.molecules.read import describe, read_frame, read_smiles


def test_the_table_names_exactly_rdkits_descriptors_but_ipc_and_avgipc():
    from rdkit.Chem import Descriptors

    installed = {name for name, _ in Descriptors.descList} - {"Ipc", "AvgIpc"}
    assert set(DESCRIPTOR_NAMES) == installed
    assert len(DESCRIPTOR_NAMES) == len(installed)


def test_each_descriptor_has_a_known_group_and_a_meaning_of_its_own():
    assert {descriptor.group for descriptor in DESCRIPTORS} == set(GROUPS)
    meanings = [descriptor.meaning for descriptor in DESCRIPTORS]
    assert len(set(meanings)) == len(meanings)
    assert all(10 < len(meaning) < 110 for meaning in meanings)


def test_the_ranges_in_the_meanings_are_rdkits_bins():
    from rdkit.Chem import Descriptors

    functions = dict(Descriptors.descList)
    binned = [d for d in DESCRIPTORS if d.group == "MOE-type" and d.name != "LabuteASA"]
    assert len(binned) == 57
    for descriptor in binned:
        theirs = re.findall(r"-?\d+\.\d+", functions[descriptor.name].__doc__)
        ours = re.findall(r"-?\d+\.?\d*", descriptor.meaning)
        assert [float(edge) for edge in ours] == [float(edge) for edge in theirs]


def test_values_equal_rdkits_own_in_table_order():
    from rdkit import Chem
    from rdkit.Chem import Descriptors

    rows, X = describe(read_smiles("COc1cc(C=O)ccc1O vanillin\nCC1CCCCCCCCCCCCC(=O)C1 muscone"))
    assert X.dtype == np.float32
    for row, values in zip(rows, X, strict=True):
        mol = Chem.MolFromSmiles(row.molecule.smiles)
        theirs = Descriptors.CalcMolDescriptors(mol)
        np.testing.assert_allclose(values, [theirs[name] for name in DESCRIPTOR_NAMES], rtol=1e-5)


def test_values_of_the_real_molecules_equal_rdkits_own(shared_data):
    from rdkit import Chem
    from rdkit.Chem import Descriptors

    table = pd.read_csv(shared_data / "keller_2016" / "molecules.csv")
    rows, X = describe(read_frame(table, "CanonicalSMILES"))
    good = [row for row in rows if row.ok]
    assert len(good) == len(X) == 470 and np.isfinite(X).all()
    for row, values in list(zip(good, X, strict=True))[::3]:
        theirs = Descriptors.CalcMolDescriptors(Chem.MolFromSmiles(row.molecule.smiles))
        np.testing.assert_allclose(values, [theirs[name] for name in DESCRIPTOR_NAMES], rtol=1e-5)


def test_rows_with_an_error_pass_through_and_x_has_one_line_per_good_row():
    given = read_smiles("CCO\nnonsense\nCCC")
    rows, X = describe(given)
    assert [row.ok for row in rows] == [True, False, True]
    assert rows[1] == given[1]
    assert X.shape == (2, len(DESCRIPTOR_NAMES))


def test_a_descriptor_that_is_not_finite_is_a_row_error_that_names_it():
    rows, X = describe(read_smiles("C[Se]C dimethyl selenide\nCCO"))
    assert "BCUT2D_CHGHI" in rows[0].error
    assert rows[0].molecule is None
    assert len(X) == 1 and np.isfinite(X).all()


def test_no_rows_give_an_empty_matrix_of_the_right_width():
    rows, X = describe([])
    assert rows == [] and X.shape == (0, len(DESCRIPTOR_NAMES))

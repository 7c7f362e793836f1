"""Metrics agree with their definitions and with scikit-learn, and intervals cover."""

from itertools import product

import numpy as np
import pytest
from sklearn import metrics as reference

from kcnet_core.experiments import metrics
from tests.kcnet_core.experiments.made_data import blobs, labelled, made_dataset

RNG = np.random.default_rng(0)


def test_labels_that_auroc_leaves_out_are_named():
    y = np.array([[1, 0, 1], [0, 0, 1], [1, 0, 0]])
    scores = np.array([[0.9, 0.1, 0.2], [0.1, 0.3, 0.3], [0.8, 0.2, 0.1]])
    assert "Musky" in metrics.auroc_note(y, scores, ("Sweet", "Musky", "Fruit"))
    assert metrics.auroc_note(y[:, [0, 2]], scores[:, [0, 2]]) == ""


def test_confusion_has_truth_in_rows():
    table = metrics.confusion([0, 0, 1, 2], [0, 1, 1, 1], n_classes=3)
    assert table.tolist() == [[1, 1, 0], [0, 1, 0], [0, 1, 0]]
    y, p = RNG.integers(0, 2, (30, 3)), RNG.integers(0, 2, (30, 3))
    assert np.array_equal(metrics.confusion(y, p), reference.multilabel_confusion_matrix(y, p))


def test_all_scores_has_every_metric_that_the_outputs_allow():
    y, p = RNG.integers(0, 3, 50), RNG.dirichlet(np.ones(3), 50)
    assert set(metrics.all_scores(y, p.argmax(1), p)) == set(metrics.METRICS)
    assert "calibration error" not in metrics.all_scores(y, p.argmax(1), p, probabilities=False)
    assert set(metrics.all_scores(y, p.argmax(1))) == {"accuracy", "weighted F1"}


def test_headline_metric_follows_the_data():
    assert metrics.headline_metric(blobs()) == "weighted F1"
    assert metrics.headline_metric(labelled()) == "AUROC"
    images = made_dataset(np.zeros((4, 4)), [0, 1, 0, 1], image_shape=(2, 2))
    assert metrics.headline_metric(images) == "accuracy"


def test_mean_interval_is_the_t_interval_for_independent_repeats():
    interval = metrics.mean_interval([1.0, 2.0, 3.0])
    assert interval.mean == 2.0
    assert interval.high - 2.0 == pytest.approx(4.3027 / np.sqrt(3), rel=1e-4)


def test_overlapping_training_rows_widen_the_interval_by_nadeau_and_bengio():
    values = RNG.normal(size=10)
    plain = metrics.mean_interval(values)
    corrected = metrics.mean_interval(values, n_train=90, n_test=10)
    ratio = (corrected.high - corrected.mean) / (plain.high - plain.mean)
    assert ratio == pytest.approx(np.sqrt((1 / 10 + 1 / 9) / (1 / 10)))


def test_plain_interval_covers_the_mean_in_95_of_100_experiments():
    rng = np.random.default_rng(1)
    covered = [
        (i := metrics.mean_interval(rng.normal(3, 2, 5))).low < 3 < i.high for _ in range(2000)
    ]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize("values, n", [([], 0), ([0.7], 1), ([np.nan, 0.7], 1)])
def test_too_few_values_have_no_interval(values, n):
    interval = metrics.mean_interval(values)
    assert interval.n == n and np.isnan(interval.low)


def test_permutation_test_counts_all_sign_patterns_for_few_splits():
    differences = np.array([0.02, 0.01, -0.005, 0.03])
    sums = [abs(np.dot(s, differences)) for s in product((1, -1), repeat=4)]
    expected = np.mean([s >= abs(differences.sum()) - 1e-12 for s in sums])
    assert metrics.permutation_test(differences) == expected
    assert metrics.permutation_test([0.1] * 5) == 2 / 2**5
    assert metrics.permutation_test([0.0, 0.0]) == 1.0


def test_permutation_test_samples_patterns_for_many_splits_and_stays_fair():
    rng = np.random.default_rng(2)
    p = [metrics.permutation_test(rng.normal(size=20), seed=k) for k in range(100)]
    assert 0.0 <= np.mean(np.array(p) < 0.05) <= 0.12
    assert metrics.permutation_test(np.full(40, 0.1)) == pytest.approx(1 / 20_000)


def test_holm_multiplies_the_smallest_p_by_the_number_of_comparisons():
    np.testing.assert_allclose(metrics.holm([0.01, 0.04, np.nan, 0.03]), [0.03, 0.06, np.nan, 0.06])


@pytest.mark.parametrize("seed", range(3))
def test_a_difference_between_unpaired_values_is_that_of_welch(seed):
    from scipy.stats import ttest_ind

    rng = np.random.default_rng(seed)
    first, second = rng.normal(1, 2, 9), rng.normal(0, 1, 14)
    found = metrics.difference_interval(first, second)
    expected = ttest_ind(first, second, equal_var=False)
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == pytest.approx(expected.confidence_interval(0.95))
    wider = metrics.difference_interval(first, second, n_train=90, n_test=10)
    assert wider.high - wider.low > found.high - found.low


def test_one_more_split_lies_in_its_range_95_times_of_100_although_splits_share_rows():
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(4000):
        shared = rng.normal(0, 3)  # moves all splits of the same rows alike
        *known, new = shared + rng.normal(0, 1, 8)
        low, high = metrics.single_split_range(known)
        inside.append(low <= new <= high)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.012)

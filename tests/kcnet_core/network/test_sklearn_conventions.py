"""The three classifiers and the regressor are scikit-learn citizens."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from kcnet_core import ELMClassifier, FSHNClassifier, KCNetClassifier, KCNetRegressor


@parametrize_with_checks(
    [KCNetClassifier(), ELMClassifier(), FSHNClassifier(), KCNetRegressor(100)]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)

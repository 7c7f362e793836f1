"""The three classifiers are scikit-learn citizens."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from kcnet_core import ELMClassifier, FSHNClassifier, KCNetClassifier


@parametrize_with_checks([KCNetClassifier(), ELMClassifier(), FSHNClassifier()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)

"""What the classifiers have in common: answers from raw scores."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin

from kcnet_core.network.calibration import Calibration
from kcnet_core.network.labels import TargetCode
from kcnet_core.network.readout import NetworkEstimator, RidgeReadout


class NetworkClassifier(ClassifierMixin, NetworkEstimator):
    """Base of the classifiers. Subclasses give `class_scores` and `_calibration`, too."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _forget_fit(self, code: TargetCode) -> None:
        super()._forget_fit(code)
        self.classes_ = code.classes

    @property
    def multilabel(self) -> bool:
        """Whether every label is answered by itself, instead of one class being chosen."""
        return self.target_code_.kind == "multilabel"

    @property
    def _calibration(self) -> Calibration:
        """From raw scores to probabilities."""
        raise NotImplementedError

    def decision_function(self, X) -> np.ndarray:
        """How far each row is on the side of a class.

        Binary: (n,), the score of `classes_[1]` minus that of `classes_[0]`. Multi-class: the raw
        class scores (n, c). Multi-label: log-odds (n, c), above 0 where the label is predicted.
        """
        Z = self.class_scores(X)
        if self.multilabel:
            return self._calibration.log_odds(Z.astype(np.float64))
        if Z.shape[1] == 1:
            return Z[:, 0]
        return Z[:, 1] - Z[:, 0] if Z.shape[1] == 2 else Z

    def predict(self, X) -> np.ndarray:
        """The most probable class, or for multi-label data every label with probability >= 0.5."""
        Z = self.class_scores(X)
        if self.multilabel:
            return self.target_code_.decode(self._calibration.log_odds(Z.astype(np.float64)) >= 0)
        return self.target_code_.decode(Z.argmax(1))

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities (n, c): over classes, or one per label."""
        Z = self.class_scores(X)
        return self._calibration.probabilities(Z.astype(np.float64))


class RidgeClassifier(NetworkClassifier, RidgeReadout):
    """Base of the classifiers with a fixed hidden layer."""

    @property
    def _calibration(self) -> Calibration:
        """Fitted to leave-one-out outputs of the training rows."""
        return self.calibration_

    def _keep_left_out(self, Z, Y, w):
        self.calibration_ = Calibration.fit(Z, Y, w, self.target_code_.kind)

    def class_scores(self, X) -> np.ndarray:
        """Raw outputs H beta of shape (n, c), one column per class or label."""
        return self._outputs(X)

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Add rows; the result equals one `fit` on all rows, in any order and chunking.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes : array, optional
            All classes that will ever come; needed with the first call when the first rows do not
            hold every class.

        Returns
        -------
        self
        """
        return self._add_rows(X, y, classes, sample_weight)

"""What scikit-learn's checks do not try: fits that end early, other classes, extreme data."""

from __future__ import annotations

import numpy as np
import pytest

from kcnet_core import ELMClassifier, FSHNClassifier, KCNetClassifier
from kcnet_core.errors import DataError, KCNetError

RNG = np.random.default_rng(0)
X, y = RNG.random((200, 20)), RNG.integers(0, 3, 200)
MODELS = {
    "KCNet": lambda: KCNetClassifier(30, random_state=0),
    "DOA": lambda: KCNetClassifier(30, n_epochs=3, random_state=0),
    "ELM": lambda: ELMClassifier(30, random_state=0),
    "FSHN": lambda: FSHNClassifier(20, n_epochs=3, random_state=0),
}
each_model = pytest.mark.parametrize("name", MODELS)


@each_model
def test_a_fit_that_is_given_up_leaves_the_model_as_it_was(name):
    model = MODELS[name]().fit(X, y)
    before = model.predict_proba(X)
    steps = model.fit_steps(X[:, :10], y > 0, progress=True)
    next(steps)
    steps.close()
    assert (model.predict_proba(X) == before).all()
    assert model.n_features_in_ == 20 and list(model.classes_) == [0, 1, 2]


@each_model
def test_a_fit_that_fails_leaves_the_model_as_it_was(name):
    model = MODELS[name]().fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError):
        model.fit(np.full((5, 3), np.nan), [0, 1, 0, 1, 0])
    assert (model.predict_proba(X) == before).all()


@pytest.mark.parametrize("name", ["KCNet", "ELM"])
def test_later_rows_cannot_bring_other_classes(name):
    model = MODELS[name]().partial_fit(X, y, classes=[0, 1, 2])
    model.partial_fit(X, y, classes=[2, 1, 0])
    with pytest.raises(DataError, match=r"\[0, 1, 5\] are not those of the first call"):
        model.partial_fit(X, y, classes=[0, 1, 5])


@pytest.mark.parametrize("n_submodels", [1, 2])
def test_data_that_overflow_get_a_sentence(n_submodels):
    model = KCNetClassifier(30, n_epochs=2, n_submodels=n_submodels, random_state=0)
    with pytest.raises(KCNetError, match="not finite; look for extreme values"):
        model.fit(1e30 * X, y)


def test_all_cores_may_search_at_once():
    settings = {"n_hidden": 30, "n_epochs": 2, "n_submodels": 2, "random_state": 0}
    one = KCNetClassifier(**settings).fit(X, y)
    many = KCNetClassifier(**settings, n_jobs=-1).fit(X, y)
    assert (one.weights_ == many.weights_).all()
    with pytest.raises(KCNetError, match="n_jobs must be a whole number other than 0"):
        KCNetClassifier(**settings, n_jobs=0).fit(X, y)


def test_what_is_set_after_a_fit_changes_no_prediction():
    model = MODELS["KCNet"]().fit(X, y)
    before = model.predict_proba(X)
    assert (model.set_params(inhibition=0.2).predict_proba(X) == before).all()

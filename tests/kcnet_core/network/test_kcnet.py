"""KCNetClassifier as a whole."""

from __future__ import annotations

import re
import threading
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kcnet_core import ELMClassifier, FSHNClassifier, KCNetClassifier
from kcnet_core.errors import DataError, KCNetError
from kcnet_core.network.history import EpochRecord, Progress
from kcnet_core.network.validation import check_rows


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    return X[:900], y[:900], X[900:], y[900:]


def net(**options):
    return KCNetClassifier(**{"n_hidden": 60, "random_state": 0, **options})


def doa(**options):
    return net(**{"n_epochs": 4, **options})


# -- the method -------------------------------------------------------------------------------


def test_the_whole_network_equals_ten_lines_of_numpy(digits):
    X, y, X_test, _ = digits
    model = net(alpha=2.5).fit(X.astype(np.float64), y)

    def hidden(X):
        xbar = X @ model.weights_.T
        return np.maximum(xbar - xbar.mean(1, keepdims=True), 0)

    H, Y = hidden(X.astype(np.float64)), np.eye(10)[y]
    beta = np.linalg.inv(H.T @ H + 2.5 * np.eye(60)) @ H.T @ Y
    np.testing.assert_allclose(model.hidden(X), H, atol=1e-6)
    np.testing.assert_allclose(model.coef_, beta, atol=1e-5)
    Z = hidden(X_test.astype(np.float64)) @ beta
    np.testing.assert_allclose(model.class_scores(X_test), Z, atol=1e-5)
    assert (model.predict(X_test) == Z.argmax(1)).mean() > 0.999


def test_large_data_in_chunks_gives_the_same_as_small_data_in_one(digits, monkeypatch):
    X, y, X_test, _ = digits
    whole = net().fit(X, y)
    monkeypatch.setattr("kcnet_core.network.ridge.CHUNK_ROWS", 64)
    monkeypatch.setattr("kcnet_core.network.devices.SMALL_PROBLEM", 0)
    parts = net().fit(X, y)
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=2e-4)
    np.testing.assert_allclose(parts.class_scores(X_test), whole.class_scores(X_test), atol=1e-3)


def test_plain_doa_and_ensemble_learn_digits(digits):
    X, y, X_test, y_test = digits
    plain = net(n_hidden=500).fit(X, y).score(X_test, y_test)
    small = net(n_hidden=40).fit(X, y).score(X_test, y_test)
    tuned = net(n_hidden=40, n_epochs=40).fit(X, y).score(X_test, y_test)
    ensemble = net(n_hidden=200, n_epochs=15, n_submodels=5).fit(X, y).score(X_test, y_test)
    assert plain > 0.93
    assert tuned > small + 0.03
    assert ensemble > 0.91


def test_plain_and_doa_start_from_the_same_wiring(digits):
    X, y, *_ = digits
    first = next(doa().fit_steps(X, y, matrices=True))
    assert (net().fit(X, y).weights_ == first.W).all()


def test_submodels_take_turns_and_share_the_cells(digits):
    X, y, *_ = digits
    model = doa(n_hidden=50, n_submodels=3, n_epochs=2)
    records = list(model.fit_steps(X, y, matrices=True))
    assert [(r.epoch, r.submodel) for r in records] == [(e, k) for e in range(3) for k in range(3)]
    assert [len(r.W) for r in records[:3]] == [17, 17, 16]
    assert model.weights_.shape == model.scores_.shape == (50, 64)
    assert (model.weights_ == (model.scores_ > 0)).all()
    assert model.coef_.shape == (50, 10)
    assert model.stopped_.count("Submodel") == 3


def test_submodels_searched_at_once_find_what_they_find_in_turns(digits):
    X, y, *_ = digits
    in_turns, at_once = (doa(n_submodels=2, n_jobs=n).fit(X, y) for n in (None, 2))
    assert (at_once.weights_ == in_turns.weights_).all()
    assert (at_once.coef_ == in_turns.coef_).all()
    assert at_once.stopped_ == in_turns.stopped_
    for a, b in zip(at_once.history_, in_turns.history_, strict=True):
        assert replace(a, seconds=0) == replace(b, seconds=0)


@pytest.mark.parametrize("progress", [False, True])
def test_submodels_in_threads_find_what_they_find_one_by_one(digits, monkeypatch, progress):
    """On any number of cores the same bits come, and records in the same order."""
    X, y, *_ = digits
    found = []
    for n_cores in (1, 2):
        monkeypatch.setattr("kcnet_core.network.ensemble.n_cores", lambda n=n_cores: n)
        model = doa(n_hidden=50, n_submodels=3, n_epochs=3)
        steps = model.fit_steps(X, y, progress=progress)
        found.append((model, [s for s in steps if isinstance(s, EpochRecord)]))
    (one, records), (two, others) = found
    assert (one.scores_ == two.scores_).all()
    assert (one.coef_ == two.coef_).all()
    assert [replace(r, seconds=0) for r in records] == [replace(r, seconds=0) for r in others]


def test_a_fit_that_is_given_up_leaves_no_thread_at_work(digits, monkeypatch):
    X, y, *_ = digits
    monkeypatch.setattr("kcnet_core.network.ensemble.n_cores", lambda: 2)
    steps = doa(n_submodels=3, n_epochs=50).fit_steps(X, y)
    next(steps)
    steps.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("submodel")]


def test_submodels_are_independent_of_each_other(digits):
    X, y, *_ = digits
    parts = doa(n_submodels=2).fit(X, y).weights_
    assert (parts[:30] != parts[30:]).any()


@pytest.mark.parametrize(
    "model",
    [
        KCNetClassifier(60, n_epochs=3, n_submodels=2, random_state=0),
        ELMClassifier(60, random_state=0),
        FSHNClassifier(20, n_epochs=3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_time_between_two_steps_does_not_count_as_training(digits, model, monkeypatch):
    X, y, *_ = digits
    clock, away = time.perf_counter, [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock() + away[0])
    for _ in model.fit_steps(X, y, progress=True):
        away[0] += 1000.0  # a viewer pauses
    assert 0 < sum(model.timings_.values()) < 1000


def test_history_records_and_timings_describe_the_fit(digits):
    X, y, *_ = digits
    model = doa()
    steps = list(model.fit_steps(X, y, matrices=True, progress=True))
    epochs = [s for s in steps if isinstance(s, EpochRecord)]
    assert {s.stage for s in steps if isinstance(s, Progress)} == {"gram", "solve"}
    assert len(model.history_) == len(epochs) == 5
    assert all(r.W is None and r.S is None for r in model.history_)
    assert all(0 < r.train_metric <= 1 and 0 < r.validation_metric <= 1 for r in epochs)
    assert set(model.timings_) == {"wiring", "doa", "gram", "solve", "calibrate"}
    assert model.timings_["doa"] > 0
    assert model.n_trained_parameters_ == 60 * 10 + 60 * 64
    assert "rows that beta is fitted to" in model.doa_notes_
    plain = net().fit(X, y)
    assert [(r.epoch, r.density) for r in plain.history_] == [(0, pytest.approx(7 / 64))]
    assert plain.n_trained_parameters_ == 600
    assert plain.scores_ is None


def test_inside_a_long_epoch_it_is_told_how_far_and_nothing_changes(digits, monkeypatch):
    X, y, *_ = digits
    settings = {"n_hidden": 60, "n_epochs": 2, "n_submodels": 2, "random_state": 0}
    expected = KCNetClassifier(**settings).fit(X, y)
    monkeypatch.setattr("kcnet_core.network.doa.rows_per_chunk", lambda n_hidden: 200)
    clock, away = time.perf_counter, [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock() + away[0])
    model, told = KCNetClassifier(**settings), []
    for step in model.fit_steps(X, y, progress=True):
        if isinstance(step, Progress) and step.stage == "doa":
            told.append(step)
        away[0] += 1000.0  # a viewer pauses
    assert [step.done for step in told] == sorted({step.done for step in told})
    assert all(step.done < step.total for step in told)
    assert "submodel 2 of 2, epoch 1 of 2: gradient" in "; ".join(step.says for step in told)
    assert all(record.seconds < 1000 for record in model.history_)
    assert model.coef_ == pytest.approx(expected.coef_, rel=1e-3, abs=1e-5)


def test_the_plain_record_reports_the_leave_one_out_metric(digits):
    X, y, X_test, y_test = digits
    model = net(n_hidden=300)
    (record,) = model.fit_steps(X, y, matrices=True)
    assert (model.weights_ == record.W).all()
    assert record.validation_metric == model.loo_score_
    assert record.validation_metric < record.train_metric
    assert abs(model.loo_score_ - model.score(X_test, y_test)) < 0.05


def test_an_abandoned_fit_leaves_no_half_fitted_model(digits):
    X, y, *_ = digits
    model = doa()
    steps = model.fit_steps(X, y)
    next(steps)
    steps.close()
    with pytest.raises(ValueError, match="not fitted"):
        model.predict(X)


# -- lambda -----------------------------------------------------------------------------------


def test_loo_chooses_a_lambda_that_no_other_on_its_grid_beats(digits):
    X, y, *_ = digits
    for n_hidden in (60, 1500):
        model = net(n_hidden=n_hidden, alpha="loo").fit(X, y)
        path = model.ridge_path(np.logspace(-3, 5, 33))
        assert model.alpha_ == path.best_alpha
        assert model.loo_error_ == pytest.approx(path.loo_error.min(), rel=1e-5)


def test_the_path_of_a_model_reproduces_fits_with_other_lambdas(digits):
    X, y, X_test, _ = digits
    for n_hidden in (60, 1500):
        path = net(n_hidden=n_hidden).fit(X, y).ridge_path([0.3, 30.0])
        again = net(n_hidden=n_hidden, alpha=30.0).fit(X, y)
        np.testing.assert_allclose(path.coef(30.0), again.coef_, atol=1e-4)
        assert path.loo_error[1] == pytest.approx(again.loo_error_, rel=1e-3)
        projected = path.project(again.hidden(X_test))
        np.testing.assert_allclose(
            path.decision(projected, 30.0), again.class_scores(X_test), atol=1e-3
        )


def test_doa_settles_lambda_by_leave_one_out_too(digits):
    X, y, *_ = digits
    for n_hidden in (60, 1000):
        model = doa(n_hidden=n_hidden, alpha="loo", n_epochs=1).fit(X, y)
        assert model.alpha_ > 0
        assert "lambda" in model.doa_notes_


# -- incremental fitting ----------------------------------------------------------------------


@pytest.mark.parametrize("make", [net, lambda **o: ELMClassifier(n_hidden=60, random_state=0)])
@pytest.mark.parametrize("n_rows", [40, 900])
def test_partial_fit_equals_fit_for_any_order_and_chunking(digits, make, n_rows):
    X, y, X_test, _ = (a[:n_rows].astype(np.float64) for a in digits)
    once = make().fit(X, y)
    order = np.random.default_rng(1).permutation(n_rows)
    parts = make()
    for chunk in np.split(order, [3, 17, n_rows // 2]):
        parts.partial_fit(X[chunk], y[chunk], classes=np.arange(10))
    np.testing.assert_allclose(
        parts.coef_, once.coef_, rtol=1e-5, atol=1e-5 * abs(once.coef_).max()
    )
    np.testing.assert_allclose(parts.predict_proba(X_test), once.predict_proba(X_test), atol=1e-4)
    assert parts.loo_error_ == pytest.approx(once.loo_error_, rel=1e-4)


def test_partial_fit_continues_on_the_wiring_that_doa_found(digits):
    X, y, *_ = digits
    model = doa().fit(X[:600], y[:600])
    W = model.weights_
    model.partial_fit(X[600:], y[600:])
    assert (model.weights_ == W).all()
    H = model.hidden(X).astype(np.float64)
    beta = np.linalg.solve(H.T @ H + np.eye(60), H.T @ np.eye(10)[y])
    np.testing.assert_allclose(model.coef_, beta, atol=1e-3)


def test_partial_fit_cannot_begin_with_doa():
    with pytest.raises(KCNetError, match="n_epochs=4: DOA needs all rows at once"):
        doa().partial_fit(np.eye(10), np.arange(10) % 2)


def test_a_model_that_forgot_its_rows_predicts_alike_and_says_what_it_cannot_do(digits):
    X, y, X_test, _ = digits
    model = net().fit(X, y)
    before = model.predict_proba(X_test)
    model.forget_rows()
    np.testing.assert_array_equal(model.predict_proba(X_test), before)
    with pytest.raises(KCNetError, match="rows cannot be added"):
        model.partial_fit(X, y)
    with pytest.raises(KCNetError, match="other lambdas cannot be tried"):
        model.ridge_path([1.0])


# -- weights, groups, kinds of targets --------------------------------------------------------


@pytest.mark.parametrize("n_hidden", [30, 400])
def test_weights_count_like_repeated_rows(digits, n_hidden):
    X, y, X_test, _ = (a[:200].astype(np.float64) for a in digits)
    w = np.random.default_rng(0).integers(0, 4, 200)
    weighted = net(n_hidden=n_hidden).fit(X, y, sample_weight=w)
    repeated = net(n_hidden=n_hidden).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-9)
    np.testing.assert_allclose(
        weighted.predict_proba(X_test), repeated.predict_proba(X_test), atol=1e-8
    )


def test_weights_and_groups_reach_doa(digits):
    X, y, *_ = digits
    w = np.where(y == 3, 20.0, 1.0)
    groups = np.arange(len(X)) // 2
    plain, weighted = (doa(restore_best=False).fit(X, y, v, groups) for v in (None, w))
    assert (plain.scores_ != weighted.scores_).any()
    with pytest.raises(DataError, match="groups has 3"):
        doa().fit(X, y, groups=[1, 2, 3])


def test_all_weights_zero_is_refused(digits):
    X, y, *_ = digits
    with pytest.raises(DataError, match="Every sample_weight is zero"):
        net().fit(X, y, sample_weight=np.zeros(len(X)))


def test_two_classes_have_two_columns_and_one_decision(digits):
    X, y, X_test, _ = digits
    model = net().fit(X, np.where(y < 5, "low", "high"))
    assert model.coef_.shape == (60, 2)
    Z, decision = model.class_scores(X_test), model.decision_function(X_test)
    np.testing.assert_allclose(decision, Z[:, 1] - Z[:, 0], atol=1e-6)
    assert (model.predict(X_test) == np.where(decision > 0, "low", "high")).all()
    assert model.metric_ == "weighted_f1"


@pytest.mark.parametrize("make", [net, doa, ELMClassifier, FSHNClassifier])
def test_multilabel_targets_predict_a_matrix(digits, make):
    X, y, X_test, y_test = digits

    def labels(y):
        return np.c_[y % 2 == 0, y > 4, y == 1, np.zeros(len(y), bool)].astype(int)

    options = {"n_epochs": 20} if make is FSHNClassifier else {}
    model = make(random_state=0, **options).fit(X, labels(y))
    predicted, P = model.predict(X_test), model.predict_proba(X_test)
    assert predicted.shape == P.shape == (len(X_test), 4)
    assert (predicted == (P >= 0.5)).all()
    assert (predicted == (model.decision_function(X_test) >= 0)).all()
    assert (predicted[:, :2] == labels(y_test)[:, :2]).mean() > 0.8
    assert predicted[:, 3].sum() == 0
    assert model.metric_ == "auroc"


@pytest.mark.parametrize("make", [net, doa, ELMClassifier, FSHNClassifier])
def test_a_single_class_is_predicted_for_every_row(make):
    X = np.random.default_rng(0).normal(size=(12, 5))
    model = make(random_state=0).fit(X, ["rose"] * 12)
    assert (model.predict(X) == "rose").all()
    assert (model.predict_proba(X) == 1).all()


# -- randomness -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: doa(n_epochs=6),
        lambda: doa(n_submodels=3),
        lambda: doa(doa_rule="paper"),
        lambda: ELMClassifier(n_hidden=50, random_state=0),
        lambda: FSHNClassifier(random_state=0),
    ],
)
def test_the_same_seed_gives_the_same_model_also_with_two_fits_at_once(digits, make):
    X, y, *_ = digits
    alone = make().fit(X, y)
    together = [make(), make()]
    threads = [threading.Thread(target=model.fit, args=(X, y)) for model in together]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for model in together:
        assert (model.weights_ == alone.weights_).all()
        assert (model.coef_ == alone.coef_).all()


def test_another_seed_gives_another_wiring(digits):
    X, y, *_ = digits
    a, b = (net(random_state=seed).fit(X, y).weights_ for seed in (0, 1))
    assert (a != b).any()


# -- in scikit-learn --------------------------------------------------------------------------


@pytest.mark.parametrize("model", [net(), doa(n_epochs=2), ELMClassifier(50), FSHNClassifier()])
def test_works_in_pipeline_grid_search_and_cross_validation(digits, model):
    X, y, X_test, y_test = digits
    pipeline = make_pipeline(StandardScaler(), clone(model)).set_output(transform="pandas")
    name = f"{type(model).__name__.lower()}__n_hidden"
    search = GridSearchCV(pipeline, {name: [10, 60]}, cv=2).fit(X[:300], y[:300])
    assert search.best_params_ == {name: 60}
    assert search.score(X_test, y_test) > 0.5
    assert cross_val_score(model, X[:300], y[:300], cv=2).min() > 0.2


@pytest.mark.parametrize("kind", [KCNetClassifier, ELMClassifier, FSHNClassifier])
def test_every_parameter_and_fitted_attribute_is_documented(digits, kind):
    X, y, *_ = digits
    text = kind.__doc__
    parameters, attributes = text.split("Attributes\n")
    for name in kind().get_params():
        assert re.search(rf"^    {name} : |^    {name},|, {name} : ", parameters, re.M), name
    fitted = kind(n_hidden=20).fit(X[:60], y[:60])
    for name in vars(fitted):
        if name.endswith("_") and not name.startswith("_"):
            assert re.search(rf"\b{name}\b", attributes), name


# -- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "said"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")]
)
@pytest.mark.parametrize("kind", [KCNetClassifier, ELMClassifier, FSHNClassifier])
def test_the_first_value_that_is_no_number_is_named(bad, said, kind):
    X = np.ones((6, 4))
    X[3, 2] = bad
    with pytest.raises(DataError, match=f"Row 3, column 2 of X is {said}"):
        kind().fit(X, [0, 1] * 3)


def test_it_is_found_among_many_rows_and_large_values_are_none():
    X = np.full((5000, 2), 3e38, np.float32)  # whose sum is beyond float32
    assert check_rows(KCNetClassifier(), X, reset=True) is X
    X[4321, 1] = np.nan
    with pytest.raises(DataError, match="Row 4321, column 1 of X is NaN"):
        check_rows(KCNetClassifier(), X, reset=True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_hidden": 0}, "n_hidden must be a whole number at least 1; got 0"),
        ({"alpha": "best"}, "alpha must be a number at least 0 or 'loo'; got 'best'"),
        ({"alpha": -1.0}, "alpha must be"),
        ({"doa_rule": "adam"}, "doa_rule must be one of 'varpro', 'paper'"),
        ({"validation_fraction": 1.0}, "above 0 and below 1"),
        ({"n_submodels": 70, "n_epochs": 1}, "70 submodels cannot share 60 cells"),
        ({"stop_rule": "never"}, "stop_rule must be one of"),
    ],
)
def test_a_bad_setting_is_refused_with_what_is_allowed(digits, options, said):
    X, y, *_ = digits
    with pytest.raises(KCNetError, match=re.escape(said)):
        net(**options).fit(X, y)


finite = st.floats(-1e3, 1e3, width=32)


@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(2, 12), st.integers(2, 8), st.sampled_from([0, 2]))
def test_any_finite_rows_give_finite_probabilities(data, n, d, n_epochs):
    """Constant columns, duplicate rows, one class, tiny data: no crash, no nonsense."""
    X = data.draw(arrays(np.float32, (n, d), elements=finite))
    y = data.draw(arrays(np.int64, n, elements=st.integers(0, 2)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KCNetClassifier(n_hidden=9, n_epochs=n_epochs, random_state=0).fit(X, y)
        P = model.predict_proba(X)
    assert P.shape == (n, len(np.unique(y)))
    assert np.isfinite(P).all()
    np.testing.assert_allclose(P.sum(1), 1, atol=1e-6)
    assert set(model.predict(X)) <= set(y)
    assert model.tags(X, 0.2).sum(1).max() <= 2

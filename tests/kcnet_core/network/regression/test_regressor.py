"""KCNetRegressor: ridge with an intercept on Kenyon cells, exact when rows are left out."""

from __future__ import annotations

import io
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kcnet_core import KCNetRegressor
from kcnet_core.commands.predict import answer_table
from kcnet_core.errors import DataError, KCNetError, ModelFileError
from kcnet_core.experiments.reopen import run_of
from kcnet_core.model_file import load_model, save_model
from kcnet_core.model_file.container import pack, unpack_arrays, unpack_header
from kcnet_core.network.explain import contributions
from kcnet_core.network.regression.chunks import fit_chunks
from kcnet_core.smell.model_nose import nose_of_file

RNG = np.random.default_rng(0)
X = RNG.random((90, 12))
Y = np.column_stack([50 + 30 * X[:, 0] - 9 * X[:, 3], 1000 * X[:, 5] ** 2]) + RNG.normal(
    0, [2, 40], (90, 2)
)
WEIGHTS = np.array([1.0, 2.0, 3.0])[np.arange(90) % 3]
SIZES = pytest.mark.parametrize("n_hidden", [40, 200])  # from sums, and from the rows themselves


def net(n_hidden=40, **settings) -> KCNetRegressor:
    return KCNetRegressor(n_hidden, **{"fan_in": 3, "random_state": 1, **settings})


@SIZES
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_it_is_ridge_with_a_free_intercept_on_the_kenyon_cells(n_hidden, weights):
    model = net(n_hidden, alpha=2.0).fit(X, Y, weights)
    ridge = Ridge(2.0).fit(model.hidden(X), Y, weights)
    np.testing.assert_allclose(model.intercept_, ridge.intercept_, rtol=1e-6)
    np.testing.assert_allclose(model.predict(X), ridge.predict(model.hidden(X)), rtol=1e-6)


@SIZES
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("alpha", [2.0, "loo"])
def test_leave_one_out_is_what_a_fit_without_the_row_says(n_hidden, weights, alpha):
    model = net(n_hidden, alpha=alpha).fit(X, Y, weights)
    H, alphas = model.hidden(X), np.broadcast_to(model.alpha_, 2)
    for i in (0, 1, 2, 77):
        w = np.ones(len(X)) if weights is None else weights.copy()
        w[i] -= 1  # one copy of the row
        without = Ridge(alphas).fit(H, Y, w).predict(H[[i]])[0]
        np.testing.assert_allclose(model.loo_predictions_[i], without, rtol=1e-6)
    np.testing.assert_allclose(model.loo_predictions_ + model.loo_residuals_, Y)


@SIZES
def test_every_output_has_the_lambda_that_suits_it(n_hidden):
    model = net(n_hidden, alpha="loo").fit(X, Y)
    path = model.ridge_path(np.logspace(-3, 5, 33))
    errors = np.stack([path.leave_one_out(alpha).errors for alpha in path.alphas])
    assert (model.alpha_ == path.alphas[errors.argmin(0)]).all()
    for k, alpha in enumerate(model.alpha_):
        alone = net(n_hidden, alpha=alpha).fit(X, Y[:, k])
        np.testing.assert_allclose(alone.predict(X), model.predict(X)[:, k], rtol=1e-6)
    other = net(n_hidden, alpha=7.0).fit(X, Y)
    np.testing.assert_allclose(path.coef(7.0), other.coef_, rtol=1e-6, atol=1e-8)
    decided = path.decision(path.project(model.hidden(X)), 7.0)
    np.testing.assert_allclose(decided, other.predict(X), rtol=1e-6)


@SIZES
def test_partial_fit_equals_fit_for_any_chunking(n_hidden):
    whole = net(n_hidden).fit(X, Y, WEIGHTS)
    order = np.random.default_rng(3).permutation(90)
    parts = net(n_hidden)
    for rows in np.split(order, [5, 50, 51]):
        parts.partial_fit(X[rows], Y[rows], WEIGHTS[rows])
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), rtol=1e-6)
    chunks = [(X[rows], Y[rows], WEIGHTS[rows]) for rows in np.split(order, 3)]
    np.testing.assert_allclose(fit_chunks(net(n_hidden), chunks).predict(X), whole.predict(X))


def test_one_number_per_row_stays_one_number_per_row():
    assert net().fit(X, Y[:, 0]).predict(X).shape == (90,)
    assert net().fit(X, Y[:, :1]).predict(X).shape == (90, 1)


def test_intervals_hold_the_truth_as_often_as_asked():
    rng = np.random.default_rng(5)
    x = rng.random((2400, 8))
    y = 10 * x[:, 0] + rng.normal(size=2400)
    model = net(60, alpha="loo").fit(x[:400], y[:400])
    for coverage in (0.5, 0.9):
        low, high = model.predict_interval(x[400:], coverage)
        share = ((low <= y[400:]) & (y[400:] <= high)).mean()
        assert abs(share - coverage) < 0.05
    low, high = net().fit(X[:8], Y[:8]).predict_interval(X, 0.95)
    assert np.isinf(low).all() and np.isinf(high).all()  # eight rows cannot tell 95%
    with pytest.raises(KCNetError, match="coverage must lie between 0 and 1"):
        model.predict_interval(X, 90)


def test_contributions_and_the_intercept_add_up_to_the_prediction():
    model = net(200).fit(X, Y)
    shares = contributions(model, X)
    np.testing.assert_allclose(shares.sum(1) + model.intercept_, model.predict(X), rtol=1e-6)
    model.set_params(inhibition=0.0)  # changes nothing that was learned
    assert (contributions(model, X) == shares).all()


@pytest.mark.parametrize("n_submodels", [1, 2])
def test_doa_improves_the_wiring_for_outputs_of_any_size(n_submodels):
    rng = np.random.default_rng(7)
    x = rng.random((600, 30))
    y = np.column_stack([5e5 + 1e4 * x[:, 0] * x[:, 1], 1e-3 * x[:, 2]])
    settings = {"alpha": 0.1, "validation_fraction": 0.3, "gradient_rows": "batch"}
    plain = net(30, **settings).fit(x[:400], y[:400])
    doa = net(30, n_epochs=30, n_submodels=n_submodels, **settings).fit(x[:400], y[:400])
    assert doa.score(x[400:], y[400:]) > plain.score(x[400:], y[400:]) + 0.02
    assert "R²" in doa.stopped_
    with pytest.raises(KCNetError, match="doa_rule must be one of 'varpro'; got 'paper'"):
        net(n_epochs=2, doa_rule="paper").fit(X, Y)


def test_wiring_plans_and_searches_work_as_for_its_sisters():
    images = RNG.random((60, 36))
    local = net(25, wiring="local", min_field=2, max_field=4).fit(images, images[:, 7])
    assert local.fields_.shape == (25, 4)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), net()), {"kcnetregressor__n_hidden": [2, 60]}
    )
    assert search.fit(X, Y).best_params_ == {"kcnetregressor__n_hidden": 60}


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (np.where(np.arange(90) == 4, np.nan, Y[:, 0]), "Row 4, output 0 of y is NaN"),
        (np.full((90, 2), np.inf), "Row 0, output 0 of y is infinity"),
        (np.array(["sweet"] * 90), "y must hold numbers"),
        (np.zeros((90, 2, 2)), "one number per row"),
    ],
)
def test_targets_that_are_no_numbers_get_a_sentence(bad, sentence):
    with pytest.raises(DataError, match=sentence):
        net().fit(X, bad)


def test_later_rows_must_have_as_many_numbers():
    with pytest.raises(DataError, match="was fitted to 2 numbers per row"):
        net().fit(X, Y).partial_fit(X, Y[:, 0])


def test_every_parameter_and_fitted_attribute_is_documented():
    parameters, attributes = KCNetRegressor.__doc__.split("Attributes\n")
    for name in KCNetRegressor().get_params():
        assert re.search(rf"\b{name}\b", parameters), name
    for name in vars(net().fit(X, Y)):
        if name.endswith("_") and not name.startswith("_"):
            assert re.search(rf"\b{name}\b", attributes), name


# -- as a file ---------------------------------------------------------------------------------


def as_file(model, names=("pleasant", "strong")) -> bytes:
    out = io.BytesIO()
    inputs = [f"input {k}" for k in range(12)]
    save_model(out, model, feature_names=inputs, target_names=names, info={})
    return out.getvalue()


@pytest.mark.parametrize("alpha", [1.0, "loo"])
@pytest.mark.parametrize("y", [Y, Y[:, 0]], ids=["two", "one"])
def test_a_loaded_model_predicts_bit_for_bit_the_same(alpha, y):
    model = net(200, alpha=alpha).fit(X, y)
    names = ("pleasant", "strong")[: 1 if y.ndim == 1 else 2]
    saved = load_model(as_file(model, names))
    assert saved.predicts_numbers and saved.class_names == names
    assert (saved.model.predict(X) == model.predict(X)).all()
    for ours, theirs in zip(
        saved.model.predict_interval(X), model.predict_interval(X), strict=True
    ):
        assert (ours == theirs).all()
    assert (contributions(saved.model, X) == contributions(model, X)).all()
    assert np.array_equal(saved.model.alpha_, model.alpha_)


def test_kcnet_predict_writes_numbers_and_between_which_they_are():
    model = net().fit(X, Y)
    table = answer_table(load_model(as_file(model)), X[:5], pd.DataFrame({"who": list("abcde")}))
    assert list(table) == ["who", "pleasant", "low(pleasant)", "high(pleasant)",
                           "strong", "low(strong)", "high(strong)"]  # fmt: skip
    np.testing.assert_allclose(table[["pleasant", "strong"]], model.predict(X[:5]))
    low, high = model.predict_interval(X[:5])
    np.testing.assert_allclose(table[["low(strong)", "high(strong)"]].T, [low[:, 1], high[:, 1]])


def test_where_classes_are_needed_a_model_of_numbers_is_refused():
    saved = load_model(as_file(net().fit(X, Y)))
    with pytest.raises(KCNetError, match="predicts numbers, not odor characters"):
        nose_of_file(saved)
    with pytest.raises(ModelFileError, match="predicts numbers, and Train teaches classes"):
        run_of(saved)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda d: d["targets"].update(kind="multilabel"), "classes are of an unknown kind"),
        (lambda d: d["targets"].update(kind="number"), "calls 2 outputs one number"),
        (lambda d: d["fitted"].update(alpha_=[1.0]), "1 lambdas for another number"),
        (lambda d: d["fitted"].update(alpha_=["a", 1.0]), "alpha_ must be a number, or one"),
        (lambda d: d.update(target_names=["one"]), "1 target names for 2"),
    ],
)
def test_files_that_contradict_themselves_are_refused(change, sentence):
    data = as_file(net(alpha="loo").fit(X, Y))
    document, _ = unpack_header(data)
    change(document)
    with pytest.raises(ModelFileError, match=sentence):
        load_model(pack(document, unpack_arrays(data)))

"""Local wiring: each cell draws its inputs inside a rectangle of the image, and DOA stays there."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from kcnet_core import KCNetClassifier
from kcnet_core.errors import DataError, KCNetError
from kcnet_core.network.wiring import DRAW, PLANS, Fields, Site, Wiring
from kcnet_core.network.wiring.fields import image_shape_of

DIGITS = load_digits()
X, y = (DIGITS.data / 16).astype(np.float32), DIGITS.target


def draw(n_hidden=300, n_inputs=20 * 12, fan_in=6, seed=0, **site) -> Wiring:
    site = {"image_shape": (20, 12), "min_field": 3, "max_field": 7, **site}
    rng = np.random.default_rng(seed)
    return DRAW["local"](n_hidden, Site(n_inputs, fan_in, **site), rng)


def test_every_plan_that_can_be_chosen_can_be_drawn():
    assert set(DRAW) == set(PLANS)


def test_the_papers_wiring_is_drawn_as_before():
    site = Site(30, 7)
    drawn = DRAW["random"](50, site, np.random.default_rng(1))
    before = Wiring.sample(50, 30, 7, np.random.default_rng(1))
    assert (drawn.matrix() == before.matrix()).all()
    assert drawn.fields is None


def test_inputs_lie_inside_a_rectangle_of_the_wished_size():
    wiring = draw()
    assert (wiring.fan_in == 6).all()
    for wires, (top, left, bottom, right) in zip(
        wiring.matrix().reshape(-1, 20, 12), wiring.fields.boxes, strict=True
    ):
        rows, columns = np.nonzero(wires)
        assert top <= rows.min() and rows.max() < bottom <= 20
        assert left <= columns.min() and columns.max() < right <= 12
        assert 3 <= bottom - top <= 7 and 3 <= right - left <= 7


def test_fields_reach_every_corner_and_all_sizes():
    boxes = draw(4000).fields.boxes
    sides = boxes[:, 2:] - boxes[:, :2]
    assert set(np.unique(sides)) == {3, 4, 5, 6, 7}
    assert boxes.min(0).tolist()[:2] == [0, 0]
    assert boxes.max(0).tolist()[2:] == [20, 12]


def test_a_field_is_never_larger_than_the_image_and_may_hold_fewer_inputs_than_wished():
    wiring = draw(image_shape=(2, 120), min_field=3, max_field=3, fan_in=9)
    boxes = wiring.fields.boxes
    assert (boxes[:, 2] - boxes[:, 0] == 2).all()
    assert (wiring.fan_in == 6).all()


def test_a_share_of_the_cells_sees_the_whole_image():
    wiring = draw(200, local_share=0.25)
    whole = (wiring.fields.boxes == [0, 0, 20, 12]).all(1)
    assert whole.sum() == 150
    assert (wiring.fan_in == 6).all()


def test_channels_of_a_pixel_belong_to_the_same_field():
    wiring = draw(n_inputs=10 * 10 * 3, image_shape=None, fan_in=27, min_field=3, max_field=3)
    assert wiring.fields.shape == (10, 10, 3)
    W = wiring.matrix().reshape(-1, 10, 10, 3)
    assert (W.sum((1, 2, 3)) == 27).all()
    assert (W.min(3) == W.max(3)).all()


@pytest.mark.parametrize(
    ("n_inputs", "given", "shape"),
    [
        (784, None, (28, 28, 1)),
        (3072, None, (32, 32, 3)),
        (240, (20, 12), (20, 12, 1)),
        (480, [20, 12, 2], (20, 12, 2)),
    ],
)
def test_the_shape_of_an_image_follows_from_its_inputs_or_is_given(n_inputs, given, shape):
    assert image_shape_of(n_inputs, given) == shape


def test_a_mask_holds_the_field_and_its_margin():
    fields = Fields(np.array([[0, 1, 2, 3]], np.int32), (4, 5, 1))
    assert fields.mask().sum() == 4
    around = fields.mask(1).reshape(4, 5)
    assert around[:3, :4].all() and around.sum() == 12


def test_the_same_seed_gives_the_same_local_wiring_and_another_seed_another():
    a, b, c = (draw(seed=seed).matrix() for seed in (1, 1, 2))
    assert (a == b).all()
    assert (a != c).any()


# -- the estimator -------------------------------------------------------------------------------


def local(**options):
    settings = {"n_hidden": 40, "min_field": 3, "max_field": 5, "random_state": 0, **options}
    return KCNetClassifier(wiring="local", **settings)


def test_local_wiring_reads_digits_better_than_chance_and_knows_its_fields():
    model = local(n_hidden=200).fit(X[:1000], y[:1000])
    assert model.score(X[1000:], y[1000:]) > 0.9
    assert model.fields_.shape == (200, 4)
    assert KCNetClassifier(20, random_state=0).fit(X, y).fields_ is None
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("rule", ["varpro", "paper"])
@pytest.mark.parametrize("n_submodels", [1, 2])
def test_doa_keeps_every_cell_inside_its_field_and_one_pixel_around(rule, n_submodels):
    model = local(n_epochs=8, learning_rate=0.2, doa_rule=rule, n_submodels=n_submodels).fit(X, y)
    start = local(n_submodels=n_submodels).fit(X, y)
    np.testing.assert_array_equal(model.fields_, start.fields_)
    allowed = model.wiring_.fields.mask(1)
    assert (model.weights_ != start.weights_).any()
    assert not model.weights_[~allowed].any()


def test_doa_leaves_the_fields_when_it_may():
    model = local(n_epochs=8, learning_rate=0.2, gradient_mask="none").fit(X, y)
    assert model.weights_[~model.wiring_.fields.mask(1)].any()


def test_a_fan_in_penalty_does_not_push_cells_out_of_their_field():
    model = local(
        n_epochs=30, learning_rate=0.2, fan_in_penalty=1.0, fan_in_target=60, restore_best=False
    ).fit(X, y)
    assert not model.weights_[~model.wiring_.fields.mask(1)].any()


def test_kept_fan_ins_stay_inside_their_field():
    model = local(n_epochs=8, learning_rate=0.2, keep_fan_in=True, restore_best=False).fit(X, y)
    assert not model.weights_[~model.wiring_.fields.mask(1)].any()
    assert (model.weights_.sum(1) == local().fit(X, y).weights_.sum(1)).all()


def test_rows_may_come_in_parts():
    parts = local().partial_fit(X[:900], y[:900]).partial_fit(X[900:], y[900:])
    whole = local().fit(X, y)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("options", "columns", "sentence"),
    [
        ({}, 63, "no square image"),
        ({"image_shape": (7, 8)}, 64, "has 56 inputs, but the data has 64"),
        ({"min_field": 6, "max_field": 5}, 64, "min_field=6 is larger than max_field=5"),
        ({"image_shape": "8x8"}, 64, "image_shape must be"),
        ({"local_share": 1.5}, 64, "at most 1"),
    ],
)
def test_what_cannot_be_wired_is_refused_with_a_sentence(options, columns, sentence):
    with pytest.raises(KCNetError, match=sentence):
        local(**options).fit(X[:, :columns], y)


def test_only_local_wiring_can_keep_to_its_fields():
    with pytest.raises(KCNetError, match='only wiring="local" has any'):
        KCNetClassifier(20, n_epochs=1, gradient_mask="field", random_state=0).fit(X, y)


def test_an_unknown_plan_is_refused():
    with pytest.raises(KCNetError, match="wiring must be one of 'random', 'local'"):
        KCNetClassifier(20, wiring="planned").fit(X, y)


def test_data_errors_name_the_remedy():
    with pytest.raises(DataError, match=r'wiring="random"'):
        local().fit(X[:, :63], y)

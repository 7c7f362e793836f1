"""Labels in, labels out, and the metrics of outputs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

from kcnet_core.errors import DataError
from kcnet_core.network.labels import TargetCode, score_outputs


def outputs(n=80, c=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(c, size=n)
    Z = np.eye(c)[y] + rng.normal(size=(n, c))
    return Z, np.eye(c)[y], y


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["musk", "rose", "mint", "tar"]), min_size=1, max_size=30))
def test_labels_survive_encoding(labels):
    y = np.array(labels)
    code = TargetCode.learn(y)
    Y = code.encode(y)
    assert Y.shape == (len(y), len(set(labels)))
    assert (Y.sum(1) == 1).all()
    assert (code.decode(Y.argmax(1)) == y).all()
    assert code.kind == ("multiclass" if len(set(labels)) > 2 else "binary")


def test_a_matrix_of_labels_is_multilabel_and_keeps_its_columns():
    y = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 0]])
    code = TargetCode.learn(y)
    assert code.kind == "multilabel"
    assert (code.encode(y) == y).all()
    with pytest.raises(DataError, match="fitted to 3 labels"):
        code.encode(y[:, :2])


def test_an_unknown_class_is_named():
    code = TargetCode.learn(np.array([0, 1, 1]))
    with pytest.raises(DataError, match=r"\[7\].*first call of partial_fit"):
        code.encode(np.array([1, 7]))
    with pytest.raises(DataError, match="does not list"):
        TargetCode.learn(np.array([0, 1, 9]), classes=[0, 1, 2])


def test_metrics_agree_with_scikit_learn():
    Z, Y, y = outputs()
    assert score_outputs("accuracy", Z, Y, "multiclass") == accuracy_score(y, Z.argmax(1))
    assert score_outputs("weighted_f1", Z, Y, "multiclass") == pytest.approx(
        f1_score(y, Z.argmax(1), average="weighted")
    )
    assert score_outputs("auroc", Z, Y, "multiclass") == pytest.approx(
        np.mean([roc_auc_score(Y[:, k], Z[:, k]) for k in range(4)])
    )


def test_multilabel_metrics_agree_with_scikit_learn():
    rng = np.random.default_rng(1)
    Y = (rng.random((60, 5)) < 0.4).astype(float)
    Z = np.round(Y + rng.normal(size=Y.shape), 1)  # rounding makes ties
    given = Z >= 0.5
    assert score_outputs("accuracy", Z, Y, "multilabel") == pytest.approx((given == Y).mean())
    assert score_outputs("weighted_f1", Z, Y, "multilabel") == pytest.approx(
        f1_score(Y, given, average="weighted")
    )
    assert score_outputs("auroc", Z, Y, "multilabel") == pytest.approx(roc_auc_score(Y, Z))


def test_auroc_leaves_out_labels_that_never_vary():
    Z, Y, _ = outputs(c=2)
    Z3, Y3 = np.c_[Z, Z[:, 0]], np.c_[Y, np.zeros(len(Y))]
    assert score_outputs("auroc", Z3, Y3, "multilabel") == score_outputs(
        "auroc", Z, Y, "multilabel"
    )
    assert np.isnan(score_outputs("auroc", Z, np.ones_like(Y), "multilabel"))

"""Labels in, labels out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcnet_core.errors import DataError
from kcnet_core.network.labels import TargetCode


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

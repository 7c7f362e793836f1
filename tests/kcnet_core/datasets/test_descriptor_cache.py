"""Descriptors of a fixed set are computed once, and no state of the cache folder breaks loading."""

from __future__ import annotations

import numpy as np
import pytest

from kcnet_core.contracts import drain
from kcnet_core.datasets import descriptor_cache
from kcnet_core.datasets.descriptor_cache import describe_texts_steps

TEXTS = ["CCO", "OCC", "c1ccccc1C=O", "O", "CC(=O)[O-].[Na+]"]


def describe_texts(texts):
    return drain(describe_texts_steps(texts))


def cache_file(cache):
    (path,) = (cache / "descriptors").iterdir()
    return path


def forbid_computing(monkeypatch, allowed=()):
    compute = descriptor_cache._compute

    def guarded(texts, *rest):
        assert set(texts) <= set(allowed)
        return compute(texts, *rest)

    monkeypatch.setattr(descriptor_cache, "_compute", guarded)


def test_molecules_salts_and_failures_are_told_apart():
    found = describe_texts(TEXTS)
    assert found.smiles["OCC"] == found.smiles["CCO"] == "CCO"
    assert found.parts == {"CC(=O)[O-].[Na+]": "CC(=O)O"}
    assert list(found.errors) == ["O"]
    assert "No carbon" in found.errors["O"]
    np.testing.assert_array_equal(found.values["OCC"], found.values["CCO"])


def test_the_second_time_only_failures_are_tried_again(cache, monkeypatch):
    first = describe_texts(TEXTS)
    forbid_computing(monkeypatch, allowed=["O"])
    second = describe_texts(TEXTS)
    assert second.smiles == first.smiles
    assert second.parts == first.parts
    assert second.errors == first.errors
    for text in first.values:
        np.testing.assert_array_equal(second.values[text], first.values[text])


@pytest.mark.parametrize(
    "spoil", [lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b"junk" * 99]
)
def test_a_broken_cache_is_ignored_and_written_anew(cache, monkeypatch, spoil):
    first = describe_texts(TEXTS[:3])
    path = cache_file(cache)
    whole = path.read_bytes()
    path.write_bytes(spoil(whole))
    again = describe_texts(TEXTS[:3])
    np.testing.assert_array_equal(again.values["CCO"], first.values["CCO"])
    forbid_computing(monkeypatch)
    describe_texts(TEXTS[:3])


def test_a_cache_with_pickled_content_is_never_unpickled(cache):
    describe_texts(TEXTS[:3])
    path = cache_file(cache)
    with open(path, "wb") as file:
        np.savez(file, texts=np.array([object()], dtype=object), smiles=1, parts=1, X=1)
    assert set(describe_texts(TEXTS[:3]).values) == set(TEXTS[:3])


def test_a_cache_with_values_that_are_not_finite_is_ignored(cache):
    first = describe_texts(TEXTS[:3])
    path = cache_file(cache)
    with np.load(path) as file:
        content = dict(file)
    content["X"] = np.full_like(content["X"], np.nan)
    with open(path, "wb") as file:
        np.savez(file, **content)
    np.testing.assert_array_equal(describe_texts(TEXTS[:3]).values["CCO"], first.values["CCO"])


def test_a_cache_folder_that_cannot_be_written_breaks_nothing(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("KCNET_CACHE", str(blocked))
    assert set(describe_texts(TEXTS[:3]).values) == set(TEXTS[:3])


def test_another_set_of_molecules_has_another_cache(cache):
    describe_texts(TEXTS[:2])
    describe_texts(TEXTS[:3])
    assert len(list((cache / "descriptors").iterdir())) == 2


def test_closing_ends_the_work_and_writes_nothing(cache):
    texts = ["C" * n + "OC(C)C" for n in range(1, 60)]
    steps = describe_texts_steps(texts)
    first = next(steps)
    assert (first.done, first.total) == (0, len(texts))
    steps.close()
    assert not (cache / "descriptors").exists()
    seen = []
    drain(describe_texts_steps(texts), lambda done, total: seen.append(done))
    assert seen == sorted(seen) and seen[-1] == len(texts), "checking and describing are one count"

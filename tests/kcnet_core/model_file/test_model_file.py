"""A saved model comes back as it was; any other file is refused with a sentence."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import pickle
import signal
import struct
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import kcnet_core
from kcnet_core import ELMClassifier, FSHNClassifier, KCNetClassifier, limits
from kcnet_core.errors import DataError, KCNetError, ModelFileError
from kcnet_core.model_file import load_model, save_model
from kcnet_core.model_file.container import METADATA_KEY, pack, unpack_arrays, unpack_header
from kcnet_core.model_file.schema import KINDS
from kcnet_core.network.explain import contributions
from kcnet_core.network.scaling import FeatureScaler

D = 11  # not a multiple of eight, so that W's packed bits have padding
NAMES = [f"descriptor {i}" for i in range(D)]
X = np.random.default_rng(0).normal(3, 2, size=(150, D)).astype(np.float32)
LABELS = {
    "binary": np.arange(150) % 2 == 0,
    "multiclass": np.arange(150) % 4,
    "multilabel": np.random.default_rng(1).integers(0, 2, (150, 3)),
    "text": np.array(["floral", "musky", "sweet"])[np.arange(150) % 3],
}
MODELS = {
    "plain": lambda: KCNetClassifier(40, fan_in=3, random_state=1),
    "more cells than rows": lambda: KCNetClassifier(200, fan_in=3, random_state=1),
    "DOA": lambda: KCNetClassifier(30, fan_in=3, n_epochs=3, restore_best=False, random_state=1),
    "ensemble": lambda: KCNetClassifier(30, fan_in=3, n_epochs=2, n_submodels=3, random_state=1),
    "ELM": lambda: ELMClassifier(30, random_state=1),
    "FSHN": lambda: FSHNClassifier(12, n_epochs=2, validation_fraction=0.2, random_state=1),
}


def saved(model, scaler=None, **changes) -> bytes:
    out = io.BytesIO()
    arguments = {
        "feature_names": NAMES,
        "target_names": [str(k) for k in model.classes_],
        "info": {"title": "Keller", "seed": 1},
        **changes,
    }
    save_model(out, model, scaler=scaler, **arguments)
    return out.getvalue()


def test_fshn_in_float64_comes_back_as_it_was():
    model = MODELS["FSHN"]().fit(X.astype(np.float64), LABELS["multilabel"])
    assert model.coef_.dtype == np.float64
    again = load_model(saved(model)).model
    assert (again.predict_proba(X) == model.predict_proba(X)).all()


@pytest.fixture(scope="module")
def model():
    return MODELS["DOA"]().fit(X, LABELS["multiclass"])


@pytest.fixture(scope="module")
def data(model) -> bytes:
    return saved(model)


def test_a_large_model_is_saved_small_and_exact():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(300, 784)).astype(np.float32)
    model = KCNetClassifier(2000, random_state=0).fit(wide, rng.integers(0, 10, 300))
    data = saved(model, feature_names=[f"pixel {i}" for i in range(784)])
    assert len(data) < 500_000
    np.testing.assert_array_equal(load_model(data).model.weights_, model.weights_)


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_predicts_bit_for_bit_the_same(name, kind):
    model = MODELS[name]().fit(X, LABELS[kind])
    loaded = load_model(saved(model)).model
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    for method in ("predict", "predict_proba", "decision_function", "class_scores", "hidden"):
        mine, theirs = getattr(model, method)(X), getattr(loaded, method)(X)
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)
    for name in ("coef_", "weights_", "classes_", "n_trained_parameters_", "timings_", "metric_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(loaded, name))


def test_a_loaded_network_keeps_scores_history_and_reasons(model):
    loaded = load_model(saved(model)).model
    np.testing.assert_array_equal(loaded.scores_, model.scores_)
    assert loaded.history_ == model.history_
    assert len(loaded.history_) > 2
    assert (loaded.stopped_, loaded.doa_notes_) == (model.stopped_, model.doa_notes_)
    np.testing.assert_array_equal(contributions(loaded, X), contributions(model, X))
    np.testing.assert_array_equal(loaded.tags(X), model.tags(X))


def test_a_loaded_network_keeps_its_fields():
    model = KCNetClassifier(
        20, fan_in=2, wiring="local", image_shape=(1, D), min_field=3, max_field=5, random_state=0
    ).fit(X, LABELS["binary"])
    loaded = load_model(saved(model)).model
    np.testing.assert_array_equal(loaded.fields_, model.fields_)
    assert loaded.wiring_.fields.shape == (1, D, 1)
    assert loaded.get_params() == model.get_params()


def test_fields_that_lie_outside_the_image_are_refused():
    model = KCNetClassifier(
        20, fan_in=2, wiring="local", image_shape=(1, D), min_field=3, max_field=5, random_state=0
    ).fit(X, LABELS["binary"])
    model.wiring_.fields.boxes[3, 3] = D + 1
    with pytest.raises(ModelFileError, match="do not lie on an image"):
        saved(model)


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float32, bool, object])
def test_class_labels_keep_their_type(dtype):
    y = (np.arange(150) % 2).astype(dtype) if dtype is not object else LABELS["text"].astype(object)
    loaded = load_model(saved(KCNetClassifier(20, random_state=0).fit(X, y))).model
    assert loaded.classes_.dtype == dtype
    assert set(loaded.predict(X)) <= set(y)


@pytest.mark.parametrize("method", ["standard", "rank", "none"])
def test_preprocessing_travels_with_the_model(method):
    rows = X.copy()
    rows[:, 4] = 7.0  # constant: dropped, unless nothing is scaled
    scaler = FeatureScaler(method, clip=2.5).fit(rows)
    model = KCNetClassifier(30, random_state=0).fit(scaler.transform(rows), LABELS["binary"])
    loaded = load_model(saved(model, scaler))
    np.testing.assert_array_equal(loaded.inputs(rows), scaler.transform(rows))
    np.testing.assert_array_equal(
        loaded.model.predict_proba(loaded.inputs(rows)),
        model.predict_proba(scaler.transform(rows)),
    )
    assert loaded.feature_names == tuple(NAMES)
    assert list(loaded.scaler.dropped_) == ([] if method == "none" else ["descriptor 4"])


def test_names_and_info_travel_with_the_model(model):
    info = {
        "title": "Düfte 🌸",
        "scores": {"accuracy": np.float64(0.5), "AUROC": float("nan")},
        "rows": (1, np.int64(2)),
        "confusion": np.eye(2, dtype=int),
        "note": None,
    }
    names = ["süß", "=1+1", "<b>", ""]
    loaded = load_model(saved(model, target_names=names, info=info))
    assert loaded.target_names == tuple(names) == loaded.class_names
    assert loaded.info == {
        "title": "Düfte 🌸",
        "scores": {"accuracy": 0.5, "AUROC": None},
        "rows": [1, 2],
        "confusion": [[1, 0], [0, 1]],
        "note": None,
    }


def test_classes_that_a_model_has_not_met_keep_the_others_names():
    model = KCNetClassifier(20, random_state=0).fit(X, np.array([1, 4])[np.arange(150) % 2])
    loaded = load_model(saved(model, target_names=["a", "b", "c", "d", "e"]))
    assert loaded.class_names == ("b", "e")


def test_column_names_of_a_data_frame_are_kept():
    frame = pd.DataFrame(X, columns=NAMES)
    model = KCNetClassifier(20, random_state=0).fit(frame, LABELS["binary"])
    loaded = load_model(saved(model)).model
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[NAMES[::-1]])


def test_a_loaded_model_says_why_it_takes_no_more_rows(data):
    loaded = load_model(data).model
    with pytest.raises(KCNetError, match="Fit it anew"):
        loaded.partial_fit(X, LABELS["multiclass"])
    with pytest.raises(NotFittedError, match="Fit it anew"):
        loaded.ridge_path([1.0])
    assert loaded.fit(X, LABELS["multiclass"]).predict(X).shape == (150,)


def test_the_same_model_gives_the_same_bytes(model, data):
    assert saved(model) == data == saved(load_model(data).model)


def test_a_model_trained_on_a_missing_device_runs_on_what_there_is(model):
    if torch.cuda.is_available():
        pytest.skip("this machine has the device")
    document, _ = unpack_header(saved(model))
    document["parameters"]["device"] = "cuda"
    loaded = load_model(pack(document, unpack_arrays(saved(model)))).model
    assert loaded.device == "auto"
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_inhibition_is_saved_as_it_was_fitted():
    model = MODELS["plain"]().fit(X, LABELS["binary"]).set_params(inhibition=0.2)
    loaded = load_model(saved(model)).model
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_a_parameter_that_an_older_file_does_not_know_takes_its_default(data):
    document, _ = unpack_header(data)
    del document["parameters"]["n_jobs"]
    assert load_model(pack(document, unpack_arrays(data))).model.n_jobs is None


@pytest.mark.parametrize("name", KINDS)
def test_every_constructor_parameter_and_fitted_array_has_its_place_in_the_schema(name):
    estimator = getattr(kcnet_core, name)()
    assert set(KINDS[name].parameters) == set(estimator.get_params())
    estimator.set_params(n_hidden=8).fit(X, LABELS["binary"])
    public = {key for key in vars(estimator) if key.endswith("_")}
    elsewhere = {"classes_", "target_code_", "n_features_in_", "calibration_", "device_", "dtype_"}
    elsewhere |= {"inhibition_"}  # among the parameters
    assert public <= set(KINDS[name].fitted) | set(KINDS[name].arrays) | elsewhere


# -- saving ------------------------------------------------------------------------------------


def test_what_cannot_be_saved_is_named(model):
    for bad, sentence in (
        (KCNetClassifier(), "not been fitted"),
        (object(), "Only KCNetClassifier"),
        (FeatureScaler(), "Only KCNetClassifier"),
    ):
        with pytest.raises(ModelFileError, match=sentence):
            save_model(io.BytesIO(), bad, feature_names=NAMES, target_names=["a"])
    for change, sentence in (
        ({"feature_names": NAMES[:-1]}, "10 feature names, but 11 inputs"),
        ({"target_names": ["a"]}, "1 target names for 4 classes"),
        ({"info": {"model": object()}}, "not object"),
        ({"info": {1: "a"}}, "text keys"),
        ({"info": ["a"]}, "JSON object"),
        ({"info": {"a": "\ud800"}}, "may hold text"),
        ({"feature_names": ["x" * 501] * D}, "at most 500 characters"),
        ({"scaler": FeatureScaler()}, "fitted FeatureScaler"),
        ({"info": {"a": "x" * 1_000_000, "b": ["y" * 999_999] * 8}}, "8 MB allowed"),
    ):
        with pytest.raises(ModelFileError, match=sentence):
            saved(model, **change)


def test_settings_changed_after_fitting_are_not_saved_silently(model):
    changed = load_model(saved(model)).model.set_params(n_hidden=31)
    with pytest.raises(ModelFileError, match="shape 31"):
        saved(changed)
    with pytest.raises(ModelFileError, match="inhibition must be a number at least 0"):
        saved(changed.set_params(n_hidden=30, inhibition=-1.0))


def test_saving_replaces_the_file_and_leaves_nothing_else(tmp_path, model):
    path = tmp_path / "net.kcnet"
    path.write_bytes(b"old")
    save_model(path, model, feature_names=NAMES, target_names=list("abcd"))
    assert load_model(path).target_names == tuple("abcd")
    assert [p.name for p in tmp_path.iterdir()] == ["net.kcnet"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_says_so(tmp_path, model, monkeypatch, call):
    path = tmp_path / "net.kcnet"
    path.write_bytes(b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(ModelFileError, match="No space left on device"):
        save_model(path, model, feature_names=NAMES, target_names=list("abcd"))
    assert [p.name for p in tmp_path.iterdir()] == ["net.kcnet"]
    assert path.read_bytes() == b"old"


def test_a_folder_that_is_not_there_is_named(tmp_path, model):
    with pytest.raises(ModelFileError, match="No such file or directory"):
        save_model(tmp_path / "no" / "a.kcnet", model, feature_names=NAMES, target_names="abcd")


def test_a_kill_halfway_leaves_the_old_file(tmp_path):
    path = tmp_path / "net.kcnet"
    path.write_bytes(b"old")
    script = (
        "import os, signal, sys\n"
        "from kcnet_core.storage.atomic_write import write_whole\n"
        "os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_whole(sys.argv[1], bytes(1_000_000))\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, path], cwd=os.getcwd())
    assert ended.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"


# -- foreign, damaged and crafted files --------------------------------------------------------


def refused(data: bytes, sentence: str | None = None):
    with pytest.raises(ModelFileError, match=sentence) as caught:
        load_model(data)
    assert len(str(caught.value)) < 400
    return caught


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as pack_:
        pack_.writestr("data.pkl", b"x")
    return out.getvalue()


def torch_file() -> bytes:
    out = io.BytesIO()
    torch.save({"a": torch.zeros(3)}, out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "empty or cut short"),
        (b"\0" * 7, "empty or cut short"),
        (b"\0" * 5000, "not a .kcnet model file"),
        (pickle.dumps({"a": [1] * 100}), "a Python pickle"),
        (pickle.dumps({"a": [1] * 100}, protocol=0), "not a .kcnet model file"),
        (zipped(), "a zip archive"),
        (torch_file(), "a zip archive"),
        (b"\x93NUMPY" + b"\0" * 100, "a NumPy array"),
        (b"a,b,c\n1,2,3\n" * 10, "not a .kcnet model file"),
        (struct.pack("<Q", 2**63) + b"{}" * 50, "announces a header"),
        (struct.pack("<Q", 500) + b"{}" * 50, "cut short inside its header"),
        (struct.pack("<Q", 2) + b"{}", "metadata is missing"),
        (struct.pack("<Q", 3) + b"{a}", "not valid JSON"),
        (struct.pack("<Q", 31) + b'{"a":' + b"9" * 25 + b"}", "not valid JSON"),
        (struct.pack("<Q", 100_000) + b"{" + b'"a":[' * 40_000, "not valid JSON"),
    ],
)
def test_foreign_files_are_called_what_they_are(content, sentence):
    refused(content, sentence)


def test_unreadable_paths_are_named(tmp_path):
    with pytest.raises(ModelFileError, match="No such file"):
        load_model(tmp_path / "none.kcnet")
    with pytest.raises(ModelFileError, match="is not a file"):
        load_model(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="is not a file"):
        load_model(tmp_path / "pipe")


def test_a_file_above_the_limit_is_not_read(tmp_path, data, monkeypatch):
    path = tmp_path / "huge.kcnet"
    with open(path, "wb") as file:
        file.truncate(limits.MAX_MODEL_FILE_BYTES + 1)  # sparse: takes no room
    with pytest.raises(ModelFileError, match="may have 400 MB"):
        load_model(path)


@pytest.mark.parametrize("part", [1, 8, 9, 200, 0.3, 0.6, 0.999])
def test_a_file_cut_short_anywhere_is_refused(data, part):
    refused(data[: part if isinstance(part, int) else int(part * len(data))])
    refused(data[:-1], "cut short: 1 of")
    refused(data + b"x", "goes on for 1 bytes")


def header_of(data: bytes) -> tuple[dict, bytes]:
    (length,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def with_header(header: dict | bytes, body: bytes) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [2**40, 2**40]},
        {"shape": [2**62, 4]},
        {"shape": [-1, 4]},
        {"shape": [30.0, 4]},
        {"shape": "30"},
        {"shape": [4, 30]},
        {"data_offsets": [0, 2**60]},
        {"data_offsets": [8, 0]},
        {"data_offsets": [0]},
        {"dtype": "F16"},
        {"dtype": ["F64"]},
        {"dtype": "U8"},
        {"extra": 1},
    ],
)
def test_arrays_that_lie_about_themselves_are_refused(data, change):
    header, body = header_of(data)
    header["coef_"].update(change)
    refused(with_header(header, body))


def test_keys_that_occur_twice_are_refused(data):
    header, body = header_of(data)
    text = json.dumps(header).encode()
    again = b',"coef_":' + json.dumps(header["coef_"]).encode() + b"}"
    refused(with_header(text[:-1] + again, body), "same key twice")
    inner = header["__metadata__"][METADATA_KEY]
    header["__metadata__"][METADATA_KEY] = inner[:-1] + ',"version":1}'
    refused(with_header(header, body), "same key twice")


def test_metadata_of_another_kind_is_refused(data):
    header, body = header_of(data)
    for metadata in (None, {}, {"format": "pt"}, [], {METADATA_KEY: 3}, {METADATA_KEY: "[]"}):
        refused(with_header({**header, "__metadata__": metadata}, body))


def test_a_changed_number_is_noticed(data):
    refused(data[:-5] + bytes([data[-5] ^ 1]) + data[-4:], "checksum")
    header, body = header_of(data)
    text = header["__metadata__"][METADATA_KEY]
    header["__metadata__"][METADATA_KEY] = text.replace("Keller", "Kessler")
    refused(with_header(header, body), "checksum")


CRAFTED = {  # path in the document: value, what the refusal says
    "version": (2, "version 2; this program reads version 1"),
    "format": ("other", "not a KCNet model"),
    "class": ("os.system", "this version knows KCNetClassifier"),
    "surplus": (1, "incomplete or too long"),
    "parameters": ([], "lacks its table of parameters"),
    "parameters.n_hidden": (10**9, "may hold 1 to 20,000 hidden cells"),
    "parameters.inhibition": ("1", "inhibition must be a number"),
    "parameters.fan_in": (True, "fan_in must be a whole number"),
    "parameters.__class__": (1, "unknown parameter"),
    "parameters.device": ("meta", "device must be one of"),
    "parameters.random_state": (-1, "random_state must be"),
    "fitted.alpha_": (None, "alpha_ must be"),
    "fitted.timings_": ({"gram": "x"}, "timings_ must be"),
    "fitted.predict": (1, "unknown fitted value"),
    "targets.classes": ([3, 2, 1, 0], "not in order"),
    "targets.kind": ("binary", "calls 4 classes binary"),
    "targets.type": ("object", "not of one type"),
    "n_features_in": (12, "feature names, but 12 inputs"),
    "feature_names": (["a"] * 10, "10 feature names"),
    "target_names": ([["a"]] * 4, "target names of a model must be texts"),
    "feature_names_in": (["\ud800"] * 11, "must be texts"),
    "dtype": ("float16", "laid out"),
    "column_major": (0, "laid out"),
    "scaler": ({"method": "none", "clip": None}, "lacks the array 'scaler.kept_'"),
    "scaler.method": ("pickle", "lacks its table of setting"),
    "info": ({"a": {"b": None}}, None),
}


@pytest.mark.parametrize("where", CRAFTED)
def test_crafted_descriptions_are_refused(data, where):
    value, sentence = CRAFTED[where]
    document, _ = unpack_header(data)
    *path, last = where.split(".")
    place = document
    for step in path:
        if not isinstance(place.get(step), dict):
            place[step] = []
            break
        place = place[step]
    else:
        place[last] = value
    crafted = pack(document, unpack_arrays(data))
    if sentence is None:
        assert load_model(crafted).info == value
    else:
        refused(crafted, sentence)


def test_a_header_of_millions_of_lists_is_refused_before_it_is_read():
    header = b'{"a":[' + b"[]," * (limits.MAX_MODEL_HEADER_BYTES // 3 - 10) + b"0]}"
    tracemalloc.start()
    refused(struct.pack("<Q", len(header)) + header, "MAX_MODEL_HEADER_BRACKETS")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * len(header)  # some 25 times as much when it is read


def test_deeply_nested_info_is_refused(data):
    document, _ = unpack_header(data)
    for _ in range(25):
        document["info"] = {"a": document["info"]}
    refused(pack(document, unpack_arrays(data)), "nested 20 deep")


def corrupt(name, change):
    def apply(arrays):
        arrays[name] = arrays[name].copy()
        change(arrays[name])

    return apply


def put(place, value):
    return lambda array: array.__setitem__(place, value)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (corrupt("coef_", put((0, 0), np.nan)), "out of range or NaN"),
        (corrupt("coef_", put((0, 0), np.inf)), "out of range or NaN"),
        (corrupt("coef_", put((3, 1), 1e39)), "out of range or NaN"),
        (corrupt("scores_", put((0, 0), 1.5)), "out of range or NaN"),
        (corrupt("wiring_", put((0, -1), 0xFF)), "beyond the 11"),
        (corrupt("history_", put((0, 0), -1)), "history in the file is damaged"),
        (corrupt("scaler.kept_", put(0, 2)), "out of range"),
        (corrupt("scaler.kept_", put(0, 0)), "does not keep the 11 columns"),
        (corrupt("scaler.quantiles_", put((0, 0), 1e9)), "not in order"),
        (lambda arrays: arrays.pop("coef_"), "lacks the array 'coef_'"),
        (lambda arrays: arrays.update(more=np.zeros(3)), "not expected, 'more'"),
        (lambda arrays: arrays.update(coef_=arrays["coef_"].T.copy()), "shape 30 x 4"),
        (lambda arrays: arrays.update(coef_=arrays["coef_"].astype("f4")), "should be float64"),
        (lambda arrays: arrays.update(wiring_=np.zeros((30, 0), "u1")), "shape 30 x 2"),
    ],
)
def test_crafted_numbers_are_refused(model, change, sentence):
    data = saved(model, FeatureScaler("rank").fit(X))
    document, _ = unpack_header(data)
    arrays = unpack_arrays(data)
    change(arrays)
    refused(pack(document, arrays), sentence)


# -- fuzz --------------------------------------------------------------------------------------


def loads_or_refuses(data: bytes) -> None:
    try:
        loaded = load_model(data)
    except ModelFileError as error:
        assert str(error)
        return
    rows = np.ones((2, len(loaded.feature_names)), np.float32)
    # A scaler that divides by 1e-300 is a valid one; the model then says that its inputs overflow.
    with contextlib.suppress(DataError):
        loaded.model.predict_proba(loaded.inputs(rows))


def resealed(data: bytes) -> bytes:
    """The same file with a checksum that fits, so that the other checks are reached."""
    try:
        document, _ = unpack_header(data)
        return pack(document, safetensors.numpy.load(data))
    except Exception:
        return data


@pytest.fixture(scope="module")
def corpus() -> list[bytes]:
    files = [saved(MODELS[name]().fit(X, LABELS["multilabel"])) for name in ("DOA", "ELM", "FSHN")]
    scaler = FeatureScaler("standard").fit(X)
    model = MODELS["plain"]().fit(scaler.transform(X), LABELS["text"])
    return [*files, saved(model, scaler)]


FLIPS = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), max_size=6)


@settings(max_examples=400, deadline=None)
@given(which=st.integers(0, 3), flips=FLIPS, end=st.floats(0, 1), head=st.booleans())
def test_damage_at_random_never_gives_another_error(corpus, which, flips, end, head):
    data = bytearray(corpus[which])
    (length,) = struct.unpack("<Q", data[:8])
    reach = length + 8 if head else len(data)
    for place, bits in flips:
        data[int(place * reach)] ^= bits
    if end < 0.3:
        del data[int(end / 0.3 * len(data)) :]
    loads_or_refuses(bytes(data))
    loads_or_refuses(resealed(bytes(data)))


WORD = st.text(max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | WORD,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORD, inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(which=st.integers(0, 3), value=JSON, choice=st.randoms(use_true_random=False))
def test_any_json_anywhere_in_the_description_never_gives_another_error(
    corpus, which, value, choice
):
    document, _ = unpack_header(corpus[which])
    place = document
    while True:
        key = choice.choice(sorted(place))
        if not isinstance(place[key], dict) or not place[key] or choice.random() < 0.3:
            place[key] = value
            break
        place = place[key]
    try:
        data = pack(document, unpack_arrays(corpus[which]))
    except (ValueError, TypeError):  # NaN is no JSON: nobody can write such a file with `pack`
        return
    loads_or_refuses(data)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_refused(content):
    refused(content)
    refused(struct.pack("<Q", len(content) + 2) + b"{" + content + b"}")

"""Save and load a trained model with its preprocessing and names, as one file that holds no code.

A `.kcnet` file is safetensors with a JSON description (`container`). What it may hold is laid
down in `schema` and checked in full before anything is built from it.
The sums over training rows stay out: a loaded model predicts and explains, but takes no more rows.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias

import numpy as np
import torch

import kcnet_core
from kcnet_core.contracts import Network
from kcnet_core.errors import KCNetError, ModelFileError
from kcnet_core.limits import MAX_MODEL_FILE_BYTES, MEGABYTE
from kcnet_core.model_file.checks import check_header, check_values, json_safe
from kcnet_core.model_file.container import pack, unpack_arrays, unpack_header
from kcnet_core.model_file.schema import (
    EPOCH_FIELDS,
    FORMAT,
    KINDS,
    MAY_BE_MISSING,
    VERSION,
    retina_of,
)
from kcnet_core.network.calibration import Calibration
from kcnet_core.network.devices import choose_device
from kcnet_core.network.history import EpochRecord
from kcnet_core.network.labels import TargetCode
from kcnet_core.network.regression.number_code import NumberCode
from kcnet_core.network.retina import PatchRetina, PretrainedRetina
from kcnet_core.network.scaling import FeatureScaler
from kcnet_core.network.wiring import Fields, Wiring
from kcnet_core.network.wiring.fields import image_shape_of
from kcnet_core.storage.atomic_write import write_whole

ROWS_UNPACKED = 500  # cells of W
COPIED = ("weights_", "biases_", "intercept_", "coef_", "loo_predictions_", "loo_residuals_")
Before: TypeAlias = FeatureScaler | PatchRetina | PretrainedRetina
_LEARNED = {FeatureScaler: "kept_", PatchRetina: "filters_", PretrainedRetina: "center_"}


@dataclass(frozen=True)
class SavedModel:
    """A model as it came out of a file."""

    model: Network
    scaler: Before | None  # turns rows of these columns into its inputs
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    info: dict  # what was said when it was saved: dataset, protocol, scores, versions, seed

    def inputs(self, X) -> np.ndarray:
        """Rows X (n, len(feature_names)) as the model takes them."""
        return X if self.scaler is None else self.scaler.transform(X)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The name of every column of the model's scores.

        Target names count classes from 0; a model may not have met all of them.
        """
        names = self.target_names
        if len(names) == self.model.coef_.shape[1]:
            return names
        return tuple(names[k] for k in self.model.classes_)

    @property
    def predicts_numbers(self) -> bool:
        """Whether it predicts numbers, instead of classes or labels."""
        return not hasattr(self.model, "classes_")


def save_model(
    target: str | os.PathLike | IO[bytes],
    model: Network,
    *,
    scaler: Before | None = None,
    feature_names: Sequence[str],
    target_names: Sequence[str],
    info: dict | None = None,
) -> None:
    """Save a fitted estimator with all that is needed to use it elsewhere.

    A path is written whole or not at all: an interrupted save leaves the old file. `feature_names`
    are the columns of the rows that go into the scaler, or into the model when there is none;
    `target_names` are one per class or label, or one per value that integer classes index; `info`
    may hold text, numbers, lists and dicts, and numbers that are not finite are saved as null. A
    `ModelFileError` says why the model cannot be saved as it is, or the file not be written.
    """
    data = _to_bytes(model, scaler, feature_names, target_names, info)
    if not isinstance(target, (str, os.PathLike)):
        target.write(data)
        return
    path = Path(target)
    try:
        write_whole(path, data)
    except OSError as error:
        raise ModelFileError(
            f"The model could not be saved as {path.name}: {error.strerror or error}. "
            "Choose a folder that can be written to and has room."
        ) from error


def load_model(source: str | os.PathLike | bytes | bytearray | memoryview) -> SavedModel:
    """Load a model that `save_model` wrote; it predicts bit for bit what the saved one did.

    `source` is a path, or the file's bytes. A `ModelFileError` says whether the file is missing,
    damaged, foreign or of another version.
    """
    data = bytes(source) if isinstance(source, (bytes, bytearray, memoryview)) else _read(source)
    document, specs = unpack_header(data)
    check_header(document, specs)
    arrays = unpack_arrays(data)
    check_values(document, arrays)
    return SavedModel(
        model=_rebuild_model(document, arrays),
        scaler=_rebuild_scaler(document, arrays),
        feature_names=tuple(document["feature_names"]),
        target_names=tuple(document["target_names"]),
        info=document["info"],
    )


def _read(path) -> bytes:
    path = Path(path)
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise ModelFileError(f"{path.name} is not a file.")
        if about.st_size > MAX_MODEL_FILE_BYTES:
            raise ModelFileError(
                f"{path.name} has {about.st_size / MEGABYTE:,.0f} MB; a model file may have "
                f"{MAX_MODEL_FILE_BYTES / MEGABYTE:,.0f} MB."
            )
        with open(path, "rb") as file:
            return file.read(about.st_size + 1)  # Python sets aside as much as it is told to read
    except OSError as error:
        raise ModelFileError(f"{path.name} cannot be read: {error.strerror}.") from error


# -- from a model to a file --------------------------------------------------------------------


def _to_bytes(model, scaler, feature_names, target_names, info) -> bytes:
    name = type(model).__name__
    if name not in KINDS or type(model) is not getattr(kcnet_core, name):
        raise ModelFileError(f"Only {', '.join(KINDS)} can be saved, not {name}.")
    if not model.__sklearn_is_fitted__():
        raise ModelFileError("The model has not been fitted yet, so there is nothing to save.")
    known = (isinstance(scaler, kind) and hasattr(scaler, name) for kind, name in _LEARNED.items())
    if not (scaler is None or any(known)):
        raise ModelFileError(
            "Only a fitted FeatureScaler or retina can be saved along with a model."
        )
    parameters = model.get_params(deep=False)
    if not isinstance(parameters["random_state"], (int, np.integer)):
        parameters["random_state"] = None  # a generator's state at the time of fitting is gone
    if "connectome" in parameters:
        parameters["connectome"] = None  # W has what was taken from it
    set_since = parameters.get("inhibition")
    if set_since is not None and KINDS[name].parameters["inhibition"].allows(set_since):
        parameters["inhibition"] = model.inhibition_  # with which it was fitted
    code = model.target_code_
    fitted = {key: getattr(model, key, None) for key in KINDS[name].fitted}
    classes = np.arange(code.n_outputs) if isinstance(code, NumberCode) else code.classes
    class_type = "str" if classes.dtype.kind == "U" else classes.dtype.name
    document = {
        "format": FORMAT,
        "version": VERSION,
        "class": name,
        "parameters": json_safe(parameters),
        "fitted": json_safe(fitted),
        "targets": {"kind": code.kind, "type": class_type, "classes": classes.tolist()},
        "n_features_in": int(model.n_features_in_),
        "feature_names_in": _texts(getattr(model, "feature_names_in_", None)),
        "dtype": str(model.dtype_).removeprefix("torch."),
        "column_major": not model.coef_.flags.c_contiguous,
        "scaler": None if scaler is None else json_safe(_settings_of(scaler)),
        "feature_names": _texts(feature_names),
        "target_names": _texts(target_names),
        "info": json_safe(info or {}),
    }
    arrays = _arrays(model, KINDS[name].arrays)
    for key, array in ({} if scaler is None else scaler.get_state()).items():
        arrays[f"scaler.{key}"] = array.astype(np.uint8) if array.dtype == bool else array
    check_header(document, {key: (a.dtype.name, a.shape) for key, a in arrays.items()})
    check_values(document, arrays)
    data = pack(document, arrays)
    unpack_header(data)  # whatever is written can be read again
    return data


def _settings_of(scaler: Before) -> dict:
    settings = scaler.get_params(deep=False)
    if isinstance(scaler, PatchRetina):
        settings["contrast_"] = scaler.contrast_
    if not isinstance(scaler, FeatureScaler):
        settings["image_shape"] = scaler.shape_[: 3 if scaler.shape_[2] > 1 else 2]
        if not isinstance(settings["random_state"], (int, np.integer)):
            settings["random_state"] = None
    return settings


def _texts(names) -> list[str] | None:
    return None if names is None else [str(name) for name in names]


def _arrays(model, table) -> dict[str, np.ndarray]:
    special = {
        "wiring_": lambda: np.packbits(model.wiring_.matrix(), axis=1),
        "synapses_": lambda: None if model.wiring_.counts is None else model.wiring_.matrix(),
        "calibration_slope": lambda: model.calibration_.slope,
        "calibration_bias": lambda: model.calibration_.bias,
        "history_": lambda: np.array(
            [[getattr(record, key) for key in EPOCH_FIELDS] for record in model.history_], float
        ).reshape(-1, len(EPOCH_FIELDS)),
    }
    arrays = {name: special.get(name, lambda n=name: getattr(model, n))() for name in table}
    return {name: array for name, array in arrays.items() if array is not None}


# -- from a file to a model --------------------------------------------------------------------


def _rebuild_model(document, arrays):
    """Build the estimator from parts that have all been checked."""
    parameters = document["parameters"]
    if parameters.get("image_shape") is not None:
        parameters = {**parameters, "image_shape": tuple(parameters["image_shape"])}
    model = getattr(kcnet_core, document["class"])(**parameters)
    try:
        model.device_ = choose_device(model.device)
    except KCNetError:  # trained on a device that this machine does not have
        model.device_ = choose_device(model.set_params(device="auto").device)
    targets = document["targets"]
    classes = np.array(targets["classes"], dtype=targets["type"])
    if targets["kind"] in KINDS["KCNetRegressor"].targets:
        model.target_code_ = NumberCode(targets["kind"], len(classes))
    else:
        model.target_code_, model.classes_ = TargetCode(targets["kind"], classes), classes
    model.n_features_in_ = document["n_features_in"]
    if document["feature_names_in"] is not None:
        model.feature_names_in_ = np.array(document["feature_names_in"], dtype=object)
    for name, value in document["fitted"].items():
        if name.startswith("loo_") and value is None:
            value = float("nan")
        if value is not None:
            setattr(model, name, np.array(value) if isinstance(value, list) else value)
    model.history_ = [_record(row) for row in arrays["history_"]]
    for name in COPIED:
        if name in arrays:
            setattr(model, name, arrays[name].copy())
    if document["column_major"]:  # another order in memory would round sums differently
        model.coef_ = np.asfortranarray(model.coef_)
    if "calibration_slope" in arrays:
        slope, bias = arrays["calibration_slope"].copy(), arrays["calibration_bias"].copy()
        model.calibration_ = Calibration(targets["kind"], slope, bias)
    if document["class"] != "FSHNClassifier":
        model.dtype_ = getattr(torch, document["dtype"])
    if "wiring_" in arrays:
        if "synapses_" in arrays:
            model.wiring_ = Wiring.from_matrix(arrays["synapses_"], counted=True)
        else:
            model.wiring_ = _wiring(arrays["wiring_"], model.n_features_in_)
        model.inhibition_ = model.inhibition
        if "fields_" in arrays:
            shape = image_shape_of(model.n_features_in_, model.image_shape)
            model.wiring_.fields = Fields(arrays["fields_"].copy(), shape)
        model.scores_ = arrays["scores_"].copy() if "scores_" in arrays else None
    return model


def _wiring(packed: np.ndarray, n_inputs: int) -> Wiring:
    """From the bits of W, some rows at a time, because unpacked they take eight times the room."""
    parts = []
    for start in range(0, len(packed), ROWS_UNPACKED):
        block = packed[start : start + ROWS_UNPACKED]
        parts.append(Wiring.from_matrix(np.unpackbits(block, axis=1, count=n_inputs)))
    return Wiring.concatenate(parts)


def _record(row: np.ndarray) -> EpochRecord:
    values = dict(zip(EPOCH_FIELDS, row.tolist(), strict=True))
    values |= {name: None for name in MAY_BE_MISSING if np.isnan(values[name])}
    values |= {name: int(values[name]) for name in ("epoch", "submodel", "flips_on", "flips_off")}
    return EpochRecord(**values)


def _rebuild_scaler(document, arrays):
    if document["scaler"] is None:
        return None
    state = {
        name.removeprefix("scaler."): array.copy()
        for name, array in arrays.items()
        if name.startswith("scaler.")
    }
    settings = dict(document["scaler"])
    if kind := retina_of(settings):
        settings["image_shape"] = tuple(settings["image_shape"])
        if kind == "network":
            return PretrainedRetina.from_state(settings, state)
        return PatchRetina.from_state(settings, state, contrast_=settings.pop("contrast_"))
    return FeatureScaler.from_state(settings, state, document["feature_names"])

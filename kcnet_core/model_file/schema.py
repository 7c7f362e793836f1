"""What a model file of each kind must hold, as tables; `checks` enforces them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from kcnet_core.limits import MAX_INPUTS
from kcnet_core.network import circuit, elm, fshn
from kcnet_core.network.devices import DEVICES
from kcnet_core.network.history import EpochRecord
from kcnet_core.network.parameters import Choice, Number, Other
from kcnet_core.network.regression import regressor
from kcnet_core.network.retina import patches, pretrained
from kcnet_core.network.scaling import METHODS, STATE
from kcnet_core.network.scores import KEYWORDS, NUMBER_KEYWORDS
from kcnet_core.network.wiring.fields import is_image_shape

FORMAT, VERSION = "KCNet model", 1
MAX_NAME_LENGTH = 500
MAX_HISTORY = 100_000  # epochs of all submodels together
MAX_QUANTILES = 10_000
LARGEST = 1e37  # of weights, so that no product overflows float32 before it is added up
EPOCH_FIELDS = tuple(field.name for field in fields(EpochRecord) if field.name not in ("W", "S"))
MAY_BE_MISSING = ("train_metric", "validation_metric")
CLASS_TYPES = {  # NumPy's name: JSON's type
    "bool": bool,
    **{f"{sign}int{bits}": int for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float32": float,
    "float64": float,
    "str": str,
    "object": str,
}


def is_text(value, longest: int = MAX_NAME_LENGTH) -> bool:
    """A string that can be written as UTF-8."""
    if not isinstance(value, str) or len(value) > longest:
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def _seconds_by_stage(value) -> bool:
    if not isinstance(value, dict) or not all(map(is_text, value)):
        return False
    return all(map(Number(float, least=0).allows, value.values()))


def _is_lambda(value) -> bool:
    return all(map(Number(float, least=0).allows, value if isinstance(value, list) else [value]))


TEXT = Other("a text", lambda value: value is None or is_text(value, 100_000))
FLAG = Other("true or false", lambda value: isinstance(value, bool))
SECONDS = Other("seconds by stage", _seconds_by_stage)

# Letters in shapes: B cells, d inputs of the network, c classes or labels, p bytes for d bits of W,
# f sides of a field, k terms of the calibration, r fields of an epoch, D columns before scaling, s
# patches of a retina, v values of a patch; these stand for any size from the first to the second
# number: h epochs of the history, q quantiles, or rows left out.
FREE_SIZES = {"h": (0, MAX_HISTORY), "q": (1, MAX_QUANTILES)}


@dataclass(frozen=True)
class Array:
    """A tensor: its type, its shape in letters, and the range of its values."""

    dtype: str
    shape: tuple[str, ...]
    low: float = -LARGEST
    high: float = LARGEST
    optional: bool = False
    also: str = ""  # another type that it may have


@dataclass(frozen=True)
class Kind:
    """One estimator class: its constructor's parameters, fitted values and fitted arrays."""

    parameters: dict
    fitted: dict
    arrays: dict[str, Array]
    targets: tuple[str, ...] = ("binary", "multiclass", "multilabel")


COMMON_PARAMETERS = {
    "device": Choice(*DEVICES),
    "random_state": Number(int, least=0, words=(None,)),
}
COMMON_FITTED = {
    "metric_": Choice(*KEYWORDS),
    "n_trained_parameters_": Number(int, least=0),
    "timings_": SECONDS,
}
RIDGE_FITTED = {
    **COMMON_FITTED,
    "alpha_": Number(float, least=0),
    "loo_error_": Number(float, words=(None,)),
    "loo_score_": Number(float, words=(None,)),
}
HISTORY = Array("float64", ("h", "r"))
HIDDEN_ARRAYS = {"weights_": Array("float32", ("B", "d")), "biases_": Array("float32", ("B",))}
RIDGE_ARRAYS = {
    "coef_": Array("float64", ("B", "c")),
    "calibration_slope": Array("float64", ("k",)),
    "calibration_bias": Array("float64", ("k",)),
    "history_": HISTORY,
}
WIRING_ARRAYS = {
    "wiring_": Array("uint8", ("B", "p"), 0, 255),  # W, eight connections to a byte
    "scores_": Array("float32", ("B", "d"), -1, 1, optional=True),
    "fields_": Array("int32", ("B", "f"), 0, MAX_INPUTS, optional=True),
    "synapses_": Array("uint8", ("B", "d"), 0, 255, optional=True),  # where W counts them
}
KINDS = {
    "KCNetClassifier": Kind(
        {**circuit.PARAMETERS, **COMMON_PARAMETERS, "restore_best": FLAG},
        {**RIDGE_FITTED, "stopped_": TEXT, "doa_notes_": TEXT},
        {**RIDGE_ARRAYS, **WIRING_ARRAYS},
    ),
    "KCNetRegressor": Kind(
        {**regressor.PARAMETERS, **COMMON_PARAMETERS, "restore_best": FLAG},
        {
            **RIDGE_FITTED,
            "stopped_": TEXT,
            "doa_notes_": TEXT,
            "metric_": Choice(*NUMBER_KEYWORDS),
            "alpha_": Other("a number, or one per output", _is_lambda),
        },
        {
            "coef_": RIDGE_ARRAYS["coef_"],
            "history_": HISTORY,
            "intercept_": Array("float64", ("c",)),
            "loo_predictions_": Array("float64", ("q", "c")),
            "loo_residuals_": Array("float64", ("q", "c")),
            **WIRING_ARRAYS,
        },
        ("number", "numbers"),
    ),
    "ELMClassifier": Kind(
        {**elm.PARAMETERS, **COMMON_PARAMETERS},
        RIDGE_FITTED,
        {**RIDGE_ARRAYS, **HIDDEN_ARRAYS},
    ),
    "FSHNClassifier": Kind(
        {**fshn.PARAMETERS, **COMMON_PARAMETERS},
        COMMON_FITTED,
        {  # trained in float32, or in float64 where the rows ask for it
            **{name: replace(array, also="float64") for name, array in HIDDEN_ARRAYS.items()},
            "coef_": Array("float32", ("B", "c"), also="float64"),
            "intercept_": Array("float32", ("c",), also="float64"),
            "history_": HISTORY,
        },
    ),
}
SCALER_PARAMETERS = {"method": Choice(*METHODS), "clip": Number(float, above=0, words=(None,))}
SCALER_ARRAYS = {
    "kept_": Array("uint8", ("D",), 0, 1),
    "mean_": Array("float64", ("d",)),
    "scale_": Array("float64", ("d",), np.nextafter(0, 1)),
    "quantiles_": Array("float64", ("q", "d")),
}
_OF_IMAGES = {
    "image_shape": Other(
        "the height, width and perhaps 3 colours of an image",
        lambda value: value is not None and is_image_shape(value) and value[2:] in ([], [3]),
    ),
    "random_state": Number(int, least=0, words=(None,)),
}
PATCHES_PARAMETERS = {
    **patches.PARAMETERS,
    **_OF_IMAGES,
    "contrast_": Number(float, above=0),  # learned, but a single number
}
PRETRAINED_PARAMETERS = {**pretrained.PARAMETERS, **_OF_IMAGES}
PATCHES_ARRAYS = {
    "patches_": Array("float32", ("s", "v")),
    "filters_": Array("float32", ("v", "s")),
    "mean_": Array("float32", ("v",)),
    "center_": Array("float32", ("d",)),
    "spread_": Array("float32", ("d",), np.nextafter(np.float32(0), np.float32(1))),
}
PRETRAINED_ARRAYS = {name: PATCHES_ARRAYS[name] for name in pretrained.STATE}
# What may stand before a network, by a setting that only it has: its parameters and arrays.
RETINAS = {
    "n_patches": (PATCHES_PARAMETERS, PATCHES_ARRAYS),
    "network": (PRETRAINED_PARAMETERS, PRETRAINED_ARRAYS),
}
DTYPES = ("float32", "float64")  # in which a network computes
DOCUMENT = {
    "format",
    "version",
    "class",
    "parameters",
    "fitted",
    "targets",
    "n_features_in",
    "feature_names_in",
    "dtype",
    "column_major",
    "scaler",
    "feature_names",
    "target_names",
    "info",
}


def expected_arrays(document: dict) -> dict[str, Array]:
    """The arrays that belong to a document, by their names in the file."""
    scaler = document["scaler"]
    if kind := retina_of(scaler):
        table = RETINAS[kind][1]
    else:
        names = () if scaler is None else ("kept_", *STATE[scaler["method"]])
        table = {name: SCALER_ARRAYS[name] for name in names}
    return {
        **KINDS[document["class"]].arrays,
        **{f"scaler.{name}": array for name, array in table.items()},
    }


def retina_of(scaler: object) -> str:
    """Which of `RETINAS` stands before the network in a file; empty if none does."""
    named = scaler if isinstance(scaler, dict) else {}
    return next((kind for kind in RETINAS if kind in named), "")

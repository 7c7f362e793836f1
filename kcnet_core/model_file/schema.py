"""What a model file of each kind must hold, as tables; `checks` enforces them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kcnet_core.network import elm, fshn, kcnet
from kcnet_core.network.devices import DEVICES
from kcnet_core.network.parameters import Choice, Number
from kcnet_core.network.scaling import METHODS
from kcnet_core.network.scores import KEYWORDS

FORMAT, VERSION = "KCNet model", 1
MAX_NAME_LENGTH = 500
MAX_HISTORY = 100_000  # epochs of all submodels together
MAX_QUANTILES = 10_000
LARGEST = 1e37  # of weights, so that no product overflows float32 before it is added up
EPOCH_FIELDS = (
    "epoch",
    "submodel",
    "train_metric",
    "validation_metric",
    "flips_on",
    "flips_off",
    "density",
    "seconds",
)
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


class Text:
    """A string, or nothing where a fit left none."""

    def allows(self, value) -> bool:
        return value is None or is_text(value, 100_000)

    def __str__(self):
        return "a text"


class Flag:
    """Yes or no."""

    def allows(self, value) -> bool:
        return isinstance(value, bool)

    def __str__(self):
        return "true or false"


class Seconds:
    """Seconds by stage."""

    def allows(self, value) -> bool:
        seconds = Number(float, least=0)
        return (
            isinstance(value, dict)
            and all(map(is_text, value))
            and all(map(seconds.allows, value.values()))
        )

    def __str__(self):
        return "seconds by stage"


# Letters in shapes: B cells, d inputs of the network, c classes or labels, p bytes for d bits of W,
# k terms of the calibration, r fields of an epoch, D columns before scaling; these stand for any
# size from the first to the second number: h epochs of the history, q quantiles.
FREE_SIZES = {"h": (0, MAX_HISTORY), "q": (1, MAX_QUANTILES)}


@dataclass(frozen=True)
class Array:
    """A tensor: its type, its shape in letters, and the range of its values."""

    dtype: str
    shape: tuple[str, ...]
    low: float = -LARGEST
    high: float = LARGEST
    optional: bool = False


@dataclass(frozen=True)
class Kind:
    """One estimator class: its constructor's parameters, fitted values and fitted arrays."""

    parameters: dict
    fitted: dict
    arrays: dict[str, Array]


COMMON_PARAMETERS = {
    "device": Choice(*DEVICES),
    "random_state": Number(int, least=0, words=(None,)),
}
COMMON_FITTED = {
    "metric_": Choice(*KEYWORDS),
    "n_trained_parameters_": Number(int, least=0),
    "timings_": Seconds(),
}
RIDGE_FITTED = {
    **COMMON_FITTED,
    "alpha_": Number(float, least=0),
    "loo_error_": Number(float, words=(None,)),
    "loo_score_": Number(float, words=(None,)),
}
HISTORY = Array("float64", ("h", "r"))
RIDGE_ARRAYS = {
    "coef_": Array("float64", ("B", "c")),
    "calibration_slope": Array("float64", ("k",)),
    "calibration_bias": Array("float64", ("k",)),
    "history_": HISTORY,
}
KINDS = {
    "KCNetClassifier": Kind(
        {**kcnet.PARAMETERS, **COMMON_PARAMETERS, "restore_best": Flag()},
        {**RIDGE_FITTED, "stopped_": Text(), "doa_notes_": Text()},
        {
            **RIDGE_ARRAYS,
            "wiring_": Array("uint8", ("B", "p"), 0, 255),  # W, eight connections to a byte
            "scores_": Array("float32", ("B", "d"), -1, 1, optional=True),
        },
    ),
    "ELMClassifier": Kind(
        {**elm.PARAMETERS, **COMMON_PARAMETERS},
        RIDGE_FITTED,
        {
            **RIDGE_ARRAYS,
            "weights_": Array("float32", ("B", "d")),
            "biases_": Array("float32", ("B",)),
        },
    ),
    "FSHNClassifier": Kind(
        {**fshn.PARAMETERS, **COMMON_PARAMETERS},
        COMMON_FITTED,
        {
            "weights_": Array("float32", ("B", "d")),
            "biases_": Array("float32", ("B",)),
            "coef_": Array("float32", ("B", "c")),
            "intercept_": Array("float32", ("c",)),
            "history_": HISTORY,
        },
    ),
}
SCALER_PARAMETERS = {"method": Choice(*METHODS), "clip": Number(float, above=0, words=(None,))}
SCALER_ARRAYS = {  # by method
    "none": {"kept_": Array("uint8", ("D",), 0, 1)},
    "standard": {
        "kept_": Array("uint8", ("D",), 0, 1),
        "mean_": Array("float64", ("d",)),
        "scale_": Array("float64", ("d",), np.nextafter(0, 1)),
    },
    "rank": {
        "kept_": Array("uint8", ("D",), 0, 1),
        "quantiles_": Array("float64", ("q", "d")),
    },
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
    arrays = SCALER_ARRAYS[scaler["method"]] if scaler is not None else {}
    return {
        **KINDS[document["class"]].arrays,
        **{f"scaler.{name}": array for name, array in arrays.items()},
    }

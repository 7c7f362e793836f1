"""Whether a model file may be believed: header first, numbers later, before anything is built.

`check_header` looks at names, settings and shapes only, so that nothing of a wrong size is ever
unpacked; `check_values` then looks at the numbers. Both raise `ModelFileError` with a sentence.
"""

from __future__ import annotations

from itertools import pairwise
from math import prod

import numpy as np

from kcnet_core import limits
from kcnet_core.errors import KCNetError, ModelFileError
from kcnet_core.model_file.schema import (
    CLASS_TYPES,
    DOCUMENT,
    DTYPES,
    EPOCH_FIELDS,
    FORMAT,
    FREE_SIZES,
    KINDS,
    MAX_NAME_LENGTH,
    MAY_BE_MISSING,
    RETINAS,
    SCALER_PARAMETERS,
    VERSION,
    Array,
    expected_arrays,
    is_text,
    retina_of,
)
from kcnet_core.network.parameters import Number
from kcnet_core.network.retina.pretrained import NETWORKS
from kcnet_core.network.wiring.fields import image_shape_of

MAX_NESTING = 20  # of the info


def check_header(document: dict, specs: dict[str, tuple[str, tuple[int, ...]]]) -> None:
    """Check everything that can be known before the arrays are unpacked."""
    _check_version(document)
    if set(document) != DOCUMENT:
        raise ModelFileError("The file's description of the model is incomplete or too long.")
    if not is_text(document["class"]) or document["class"] not in KINDS:
        raise ModelFileError(
            f"The file holds a {document['class']!r:.60}; this version knows {', '.join(KINDS)}."
        )
    kind = KINDS[document["class"]]
    _check_table("parameter", document["parameters"], kind.parameters, all_needed=False)
    _check_table("fitted value", document["fitted"], kind.fitted)
    _check_targets(document["targets"], kind.targets)
    _check_lambdas(document)
    if document["dtype"] not in DTYPES or not isinstance(document["column_major"], bool):
        raise ModelFileError("The file does not say how its numbers are laid out.")
    if document["scaler"] is not None:
        retina = retina_of(document["scaler"])
        table = RETINAS[retina][0] if retina else SCALER_PARAMETERS
        what = f"setting of the {'retina' if retina else 'scaler'}"
        _check_table(what, document["scaler"], table)
    json_safe(document["info"])
    if not isinstance(document["info"], dict):
        raise ModelFileError("The info of a model file must be a JSON object.")
    sizes = _sizes(document)
    _check_names("feature_names", document["feature_names"], sizes["D"])
    if document["feature_names_in"] is not None:
        _check_names("feature_names_in", document["feature_names_in"], sizes["d"])
    _check_names("target_names", document["target_names"])
    _check_target_names(document)
    _check_specs(expected_arrays(document), specs, sizes)


def check_values(document: dict, arrays: dict[str, np.ndarray]) -> None:
    """Check the numbers themselves: finite, in range, and consistent with each other."""
    expected = expected_arrays(document)
    for name, values in arrays.items():
        if name == "history_":
            _check_history(values)
        elif values.size and not (
            values.min() >= expected[name].low and values.max() <= expected[name].high
        ):
            raise ModelFileError(f"The array {name!r} holds values that are out of range or NaN.")
    d = document["n_features_in"]
    if "wiring_" in arrays and d % 8 and (arrays["wiring_"][:, -1] & (0xFF >> d % 8)).any():
        raise ModelFileError(f"The wiring names inputs beyond the {d} that there are.")
    counts = arrays.get("synapses_")
    if counts is not None and (np.packbits(counts, axis=1) != arrays["wiring_"]).any():
        raise ModelFileError("The wiring and its numbers of synapses are not of one network.")
    if "fields_" in arrays:
        _check_fields(document["parameters"].get("image_shape"), d, arrays["fields_"])
    if "scaler.kept_" in arrays and int(arrays["scaler.kept_"].sum()) != d:
        raise ModelFileError(f"The scaler does not keep the {d} columns that the network takes.")
    if "scaler.quantiles_" in arrays and (np.diff(arrays["scaler.quantiles_"], axis=0) < 0).any():
        raise ModelFileError("The scaler's quantiles are not in order.")


def json_safe(value, depth: int = 0):
    """`value` in JSON's own types; numbers that are not finite become null."""
    if depth > MAX_NESTING:
        raise ModelFileError(f"The info of a model may be nested {MAX_NESTING} deep at most.")
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if value is None or isinstance(value, (bool, int)) or is_text(value, 1_000_000):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, dict) and all(map(is_text, value)):
        return {key: json_safe(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_safe(item, depth + 1) for item in value]
    raise ModelFileError(
        f"The info of a model may hold text, numbers, lists and dicts with text keys, "
        f"not {type(value).__name__}."
    )


def _check_version(document):
    if document.get("format") != FORMAT:
        raise ModelFileError("The file holds tensors, but not a KCNet model.")
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version != VERSION:
        raise ModelFileError(
            f"The model file has version {version!r:.20}; this program reads version {VERSION}. "
            "Open it with the program that saved it, or train and save the model again."
        )


def _check_table(what: str, given, table: dict, all_needed=True) -> None:
    if not isinstance(given, dict):
        raise ModelFileError(f"The file lacks its table of {what}s.")
    for name in sorted(set(given) ^ set(table)):
        if name in given:
            raise ModelFileError(f"The file names an unknown {what}, {name!r:.60}.")
        if all_needed:
            raise ModelFileError(f"The file lacks the {what} {name!r}.")
    for name, value in given.items():
        if not table[name].allows(value):
            raise ModelFileError(
                f"The {what} {name} must be {table[name]}; the file has {value!r:.60}."
            )


def _check_targets(targets, kinds: tuple[str, ...]) -> None:
    if not isinstance(targets, dict) or set(targets) != {"kind", "type", "classes"}:
        raise ModelFileError("The file's description of the classes is damaged.")
    kind, classes = targets["kind"], targets["classes"]
    if kind not in kinds or targets["type"] not in tuple(CLASS_TYPES):
        raise ModelFileError("The file's classes are of an unknown kind.")
    if not isinstance(classes, list) or not 1 <= len(classes) <= limits.MAX_TARGETS:
        raise ModelFileError(f"A model may have 1 to {limits.MAX_TARGETS:,} classes or labels.")
    python_type = CLASS_TYPES[targets["type"]]
    well_typed = all(type(value) is python_type for value in classes)
    if well_typed and python_type is str:
        well_typed = all(map(is_text, classes))
    elif well_typed and python_type is int:
        bounds = np.iinfo(targets["type"])
        well_typed = all(bounds.min <= value <= bounds.max for value in classes)
    if not well_typed or any(a >= b for a, b in pairwise(classes)):
        raise ModelFileError("The file's classes are damaged: not of one type, or not in order.")
    count = len(classes)
    if (kind == "binary" and count > 2) or (kind == "multiclass" and count < 3):
        raise ModelFileError(f"The file calls {count} classes {kind}.")
    if kind in ("multilabel", "number", "numbers") and classes != list(range(count)):
        raise ModelFileError("The file's labels are not numbered from 0.")
    if kind == "number" and count > 1:
        raise ModelFileError(f"The file calls {count} outputs one number.")


def _check_lambdas(document) -> None:
    lambdas = document["fitted"].get("alpha_")
    if isinstance(lambdas, list) and len(lambdas) != len(document["targets"]["classes"]):
        raise ModelFileError(f"The file has {len(lambdas)} lambdas for another number of outputs.")


def _sizes(document) -> dict[str, int]:
    """What the letters in the tables' shapes stand for in this file."""
    B, d = document["parameters"].get("n_hidden"), document["n_features_in"]
    for size, name, most in (
        (B, "hidden cells", limits.MAX_HIDDEN),
        (d, "inputs", limits.MAX_INPUTS),
    ):
        if not Number(int, least=1).allows(size) or size > most:
            raise ModelFileError(f"A model file may hold 1 to {most:,} {name}, not {size!r:.30}.")
    if B * d > limits.MAX_CONNECTIONS:
        raise ModelFileError(
            f"{B:,} cells times {d:,} inputs are more than the {limits.MAX_CONNECTIONS:,} "
            "connections that a model file may hold."
        )
    c = len(document["targets"]["classes"])
    names, scaler = document["feature_names"], document["scaler"]
    n_columns = len(names) if isinstance(names, list) and scaler is not None else d
    retina = {}
    if kind := retina_of(scaler):
        if kind == "n_patches":
            depth = (*scaler["image_shape"], 1)[2]
            retina = {"s": scaler["n_patches"], "v": scaler["patch_size"] ** 2 * depth}
            given = 2 * scaler["n_pools"] ** 2 * retina["s"]
        else:
            given = NETWORKS[scaler["network"]]
        if d != given:
            raise ModelFileError(f"The retina does not give the {d} inputs that the network takes.")
        if prod(scaler["image_shape"]) != n_columns:
            raise ModelFileError("The retina does not look at images of the file's inputs.")
    return {
        **retina,
        "B": B,
        "d": d,
        "c": c,
        "p": -(-d // 8),  # bytes that hold d bits
        "f": 4,
        "k": c if document["targets"]["kind"] == "multilabel" else 1,  # calibration terms
        "D": n_columns,
        "r": len(EPOCH_FIELDS),
    }


def _check_names(part: str, names, count: int | None = None) -> None:
    what = part.replace("_", " ")
    if not isinstance(names, list) or not all(map(is_text, names)):
        raise ModelFileError(
            f"The {what} of a model must be texts of at most {MAX_NAME_LENGTH} characters."
        )
    if len(names) > limits.MAX_INPUTS or (count is not None and len(names) != count):
        raise ModelFileError(f"There are {len(names):,} {what}, but {count:,} inputs.")


def _check_target_names(document) -> None:
    targets, names = document["targets"], document["target_names"]
    classes = targets["classes"]
    indices = type(classes[0]) is int and classes[0] >= 0 and classes[-1] < len(names)
    by_index = indices and targets["kind"] in ("binary", "multiclass")
    if len(names) != len(classes) and not by_index:
        raise ModelFileError(
            f"There are {len(names)} target names for {len(classes)} classes or labels."
        )


def _check_specs(expected: dict[str, Array], specs: dict, sizes: dict[str, int]) -> None:
    for name, array in expected.items():
        if name not in specs:
            if array.optional:
                continue
            raise ModelFileError(f"The file lacks the array {name!r}.")
        dtype, shape = specs[name]
        fits = len(shape) == len(array.shape) and all(
            FREE_SIZES[letter][0] <= size <= FREE_SIZES[letter][1]
            if letter in FREE_SIZES
            else size == sizes[letter]
            for letter, size in zip(array.shape, shape, strict=True)
        )
        if dtype not in (array.dtype, array.also or array.dtype) or not fits:
            wanted = " x ".join(str(sizes.get(letter, letter)) for letter in array.shape)
            raise ModelFileError(
                f"The array {name!r} should be {array.dtype} of shape {wanted}, "
                f"but is {dtype} of shape {' x '.join(map(str, shape))}."
            )
    extra = sorted(set(specs) - set(expected))
    if extra:
        raise ModelFileError(f"The file holds an array that is not expected, {extra[0]!r:.60}.")


def _check_fields(given, d: int, boxes: np.ndarray) -> None:
    try:
        height, width, _ = image_shape_of(d, given)
    except KCNetError as error:
        raise ModelFileError(f"The file has fields, but no image to lay them on. {error}") from None
    top, left, bottom, right = boxes.T
    if not ((top < bottom) & (left < right) & (bottom <= height) & (right <= width)).all():
        raise ModelFileError(f"The fields do not lie on an image of {height} x {width} pixels.")


def _check_history(values: np.ndarray) -> None:
    needed = [k for k, name in enumerate(EPOCH_FIELDS) if name not in MAY_BE_MISSING]
    numbers = values[:, needed]
    if not (np.isfinite(numbers).all() and (numbers >= 0).all() and (numbers < 2**53).all()):
        raise ModelFileError("The training history in the file is damaged.")

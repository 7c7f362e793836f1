"""The outer layer of a model file: one JSON document and named arrays, as strict safetensors.

Layout: eight bytes with the header's length, a JSON header (the document sits in its metadata under
`METADATA_KEY`), then the arrays' bytes. Nothing in it can run code. A file is distrusted until its
header has been read as strict JSON and agrees with the bytes that are there. A SHA-256 of document
and arrays tells a damaged file from a good one; it is no proof of where a file came from.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Mapping

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from kcnet_core.errors import ModelFileError
from kcnet_core.limits import (
    MAX_MODEL_FILE_BYTES,
    MAX_MODEL_HEADER_BRACKETS,
    MAX_MODEL_HEADER_BYTES,
    MEGABYTE,
)

METADATA_KEY = "kcnet"
SEAL = '{"sha256":"%s",'  # how the document begins; the digest covers all that follows
DTYPES = {"F64": "float64", "F32": "float32", "I64": "int64", "I32": "int32", "U8": "uint8"}

FOREIGN = (  # how other files begin, and what to call them
    (b"PK\x03\x04", "a zip archive (perhaps a .pt, .npz or .keras file)"),
    ((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"), "a Python pickle"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x89PNG", "a picture"),
    (b"%PDF", "a PDF"),
)


def pack(document: Mapping, arrays: Mapping[str, np.ndarray]) -> bytes:
    """One file's bytes; the same contents always give the same bytes."""
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = SEAL % _digest(text[1:], arrays) + text[1:]
    size = len(text) + sum(array.nbytes for array in arrays.values())
    if size > MAX_MODEL_FILE_BYTES:
        raise ModelFileError(
            f"The model needs {size / MEGABYTE:,.0f} MB, more than the "
            f"{MAX_MODEL_FILE_BYTES / MEGABYTE:,.0f} MB that a model file may have."
        )
    data = save(arrays, metadata={METADATA_KEY: text})
    (length,) = struct.unpack("<Q", data[:8])
    if length > MAX_MODEL_HEADER_BYTES:
        raise ModelFileError(
            f"The names and settings of the model take {length / MEGABYTE:.1f} MB, more than the "
            f"{MAX_MODEL_HEADER_BYTES / MEGABYTE:.0f} MB allowed; shorten the names or the info."
        )
    return data


def unpack_header(data: bytes) -> tuple[dict, dict[str, tuple[str, tuple[int, ...]]]]:
    """The document, and dtype and shape of every array, without touching the arrays' bytes."""
    if len(data) > MAX_MODEL_FILE_BYTES:
        raise ModelFileError(
            f"The file is larger than the {MAX_MODEL_FILE_BYTES / MEGABYTE:,.0f} MB that a model "
            "file may have."
        )
    looks_right = data[8:9] == b"{"  # a header's length may well begin like a foreign file
    for start, kind in FOREIGN:
        if data.startswith(start) and not looks_right:
            raise ModelFileError(
                f"This is {kind}, not a .kcnet model file. Only files saved by KCNet Lab can be "
                "opened; pickles and archives are never loaded, because they could run code."
            )
    if len(data) < 10:
        raise ModelFileError("The file is empty or cut short; save or copy the model again.")
    (length,) = struct.unpack("<Q", data[:8])
    if not looks_right or length < 2:
        raise ModelFileError("This is not a .kcnet model file, or its beginning is damaged.")
    if length > MAX_MODEL_HEADER_BYTES:
        raise ModelFileError(
            f"This is not a .kcnet model file, or its beginning is damaged: it announces a header "
            f"of {length:,} bytes, and at most {MAX_MODEL_HEADER_BYTES:,} are allowed."
        )
    if 8 + length > len(data):
        raise ModelFileError("The file is cut short inside its header; copy the model again.")
    header = strict_json(data[8 : 8 + length], "header")
    metadata = header.pop("__metadata__", None)
    if not isinstance(metadata, dict) or set(metadata) != {METADATA_KEY}:
        raise ModelFileError("The file holds tensors, but no KCNet model: its metadata is missing.")
    document = strict_json(metadata[METADATA_KEY], "description of the model")
    document.pop("sha256", None)
    specs = {name: _spec(name, entry) for name, entry in header.items()}
    _check_extent(header, specs, len(data) - 8 - length)
    return document, specs


def unpack_arrays(data: bytes) -> dict[str, np.ndarray]:
    """The arrays of a file whose header has been checked."""
    try:
        arrays = load(data)
    except (SafetensorError, KeyError, ValueError, TypeError, OverflowError) as error:
        raise ModelFileError(f"The file's arrays are damaged ({error}).") from None
    (length,) = struct.unpack("<Q", data[:8])
    text = strict_json(data[8 : 8 + length], "header")["__metadata__"][METADATA_KEY]
    start = len(SEAL % ("0" * 64))
    if text[:start] != SEAL % _digest(text[start:], arrays):
        raise ModelFileError(
            "The file is damaged: its contents do not match its checksum. Copy or download the "
            "model again, or save it anew."
        )
    return arrays


def strict_json(text: str | bytes, what: str) -> dict:
    """A JSON object with no key twice and no number that NumPy could not hold."""

    def unique(pairs):
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ModelFileError(f"The file's {what} names the same key twice.")
        return found

    def whole(literal):
        if len(literal) > 20 or not -(2**63) <= int(literal) < 2**64:
            raise ValueError(literal)
        return int(literal)

    def finite(literal):
        number = float(literal)
        if not math.isfinite(number):
            raise ValueError(literal)
        return number

    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        if isinstance(text, str) and sum(map(text.count, "[{")) > MAX_MODEL_HEADER_BRACKETS:
            raise ModelFileError(
                f"The file's {what} has more than {MAX_MODEL_HEADER_BRACKETS:,} lists and tables "
                "(MAX_MODEL_HEADER_BRACKETS)."
            )
        value = json.loads(
            text,
            object_pairs_hook=unique,
            parse_int=whole,
            parse_float=finite,
            parse_constant=finite,
        )
    except ModelFileError:
        raise
    except (ValueError, TypeError, RecursionError):
        raise ModelFileError(f"The file's {what} is damaged: it is not valid JSON.") from None
    if not isinstance(value, dict):
        raise ModelFileError(f"The file's {what} is damaged: it is not a JSON object.")
    return value


def _digest(text: str, arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.name} {array.shape}".encode("utf-8", "surrogatepass"))
        digest.update(array.data)
    return digest.hexdigest()


def _spec(name: str, entry) -> tuple[str, tuple[int, ...]]:
    def whole(value):
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62

    well_formed = (
        isinstance(entry, dict)
        and set(entry) == {"dtype", "shape", "data_offsets"}
        and all(isinstance(entry[key], list) for key in ("shape", "data_offsets"))
        and all(map(whole, entry["shape"] + entry["data_offsets"]))
        and len(entry["data_offsets"]) == 2
        and isinstance(entry["dtype"], str)
        and entry["dtype"] in DTYPES
    )
    if not well_formed:
        raise ModelFileError(f"The file's description of the array {name[:60]!r} is damaged.")
    return DTYPES[entry["dtype"]], tuple(entry["shape"])


def _check_extent(header: dict, specs: dict, n_bytes: int) -> None:
    """Arrays fill the bytes behind the header without holes, overlaps or surplus."""
    place = 0
    for name in sorted(header, key=lambda name: header[name]["data_offsets"]):
        dtype, shape = specs[name]
        begin, end = header[name]["data_offsets"]
        if begin != place or end - begin != math.prod(shape) * np.dtype(dtype).itemsize:
            raise ModelFileError(f"The array {name[:60]!r} lacks the bytes its shape needs.")
        place = end
    if place > n_bytes:
        raise ModelFileError(
            f"The file is cut short: {place - n_bytes:,} of its {place:,} bytes of numbers are "
            "missing. Copy or download the model again."
        )
    if place < n_bytes:
        raise ModelFileError(f"The file goes on for {n_bytes - place:,} bytes after its end.")

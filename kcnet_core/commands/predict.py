"""`predict`: a saved model applied to a table of rows, its answers as a CSV."""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kcnet_core.datasets.pixels import softening
from kcnet_core.errors import DataError, LimitError, ModelFileError
from kcnet_core.limits import MAX_UNZIPPED_BYTES
from kcnet_core.storage.safe_csv import harmless

if TYPE_CHECKING:
    from pandas import DataFrame

    from kcnet_core.model_file import SavedModel

NAMES_IN_MESSAGE = 5
CHUNK_VALUES = 4_000_000  # inputs that are wider than in their file at one moment


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL.kcnet", help="a saved model")
    parser.add_argument(
        "rows",
        type=Path,
        metavar="ROWS",
        help="a .csv with one column per input of the model, found by name (other columns are "
        "copied to the output), or an .npz with an array X (rows, inputs) or (images, height, "
        "width); pixels are 0 to 255 or 0 to 1",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="CSV", help="where the answers go (default: printed)"
    )


def main(args: argparse.Namespace) -> None:
    """Read the model and the rows, predict, and write one line per row."""
    from kcnet_core.model_file import load_model

    saved = load_model(args.model)
    read = read_npz if args.rows.suffix.lower() == ".npz" else read_csv
    try:
        X, others = read(args.rows, saved.feature_names)
    except OSError as error:
        raise DataError(f"{args.rows} cannot be read: {error.strerror}.") from error
    answers = answer_table(saved, X, others)
    text = csv_text(answers)
    if args.output is None:
        sys.stdout.write(text)
        return
    from kcnet_core.storage.atomic_write import write_whole

    try:
        write_whole(args.output, text.encode("utf-8"))
    except OSError as error:
        raise DataError(f"{args.output} cannot be written: {error.strerror}.") from error
    print(f"{len(answers):,} rows answered in {args.output}.", file=sys.stderr)


def read_csv(
    path: Path, feature_names: Sequence[str], most_others: int | None = None
) -> tuple[np.ndarray, DataFrame]:
    """Inputs (n, d) in the model's order, and a frame of the columns it does not use, of which
    there may be `most_others`.

    Not with pandas' reader: a hundred thousand columns take it minutes.
    """
    import pandas as pd

    titles, lines, rows = _records(path, len(feature_names), most_others)
    place = {title: k for k, title in reversed([*enumerate(titles)])}  # of equal ones the first
    missing = [name for name in feature_names if name not in place]
    if missing:
        listed = ", ".join(map(repr, missing[:NAMES_IN_MESSAGE]))
        more = len(missing) - NAMES_IN_MESSAGE
        listed += f" and {more} more" if more > 0 else ""
        raise DataError(
            f"{path.name} lacks {listed} of the {len(feature_names)} columns that the "
            "model takes. Give each a column with that very name."
        )
    used = [place[name] for name in feature_names]
    cells = [row[k] for row in rows for k in used]
    flat = pd.to_numeric(pd.Series(cells, dtype=object), errors="coerce").to_numpy(np.float64)
    if not np.isfinite(flat).all():
        n = int(np.argmin(np.isfinite(flat)))
        row, column = divmod(n, len(used))
        raise DataError(
            f"Line {lines[row]} of {path.name}, column {feature_names[column]!r}: "
            f"{cells[n][:40]!r} is not a number."
        )
    taken = set(used)
    others = [k for k in range(len(titles)) if k not in taken]
    frame = pd.DataFrame([[row[k] for k in others] for row in rows], dtype=str)
    frame.columns = [titles[k] for k in others] if len(frame.columns) else []
    return flat.reshape(len(rows), len(used)), frame


def _records(
    path: Path, wanted: int, most_others: int | None
) -> tuple[list[str], list[int], list[list[str]]]:
    """The titles of a CSV, and of each row the line on which it ends and its cells."""
    lines: list[int] = []
    rows: list[list[str]] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            titles = next(reader, [])
            if not titles:
                raise csv.Error("its first line is empty")
            if most_others is not None and len(titles) > wanted + most_others:
                raise LimitError(
                    f"The table has {len(titles):,} columns; the model takes {wanted:,}, and the "
                    f"limit for others is {most_others} (MAX_CSV_COLUMNS)."
                )
            for row in filter(None, reader):
                if len(row) != len(titles):
                    raise csv.Error(
                        f"line {reader.line_num} has {len(row):,} cells, the first {len(titles):,}"
                    )
                lines.append(reader.line_num)
                rows.append(row)
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path.name} is not a CSV table in UTF-8: {error}.") from error
    return titles, lines, rows


def read_npz(
    path: Path, feature_names: Sequence[str], most_bytes: int | None = None
) -> tuple[np.ndarray, DataFrame]:
    """Inputs (n, d) from the array X, of its own type; images are laid out row by row."""
    import pandas as pd

    from kcnet_core.datasets.uploads.archive import open_archive
    from kcnet_core.datasets.uploads.arrays import array_header, arrays_by_name, read_array

    wanted = len(feature_names)
    try:
        with path.open("rb") as file:
            pack, entries = open_archive(file, most_bytes or MAX_UNZIPPED_BYTES)
            entry = arrays_by_name(entries).get("X")
            if entry is None:
                raise DataError("It has no X.")
            shape, dtype = array_header(pack, entry, "X")
            fits = len(shape) >= 2 and math.prod(shape[1:]) == wanted
            fits = fits and dtype.kind in "buif" and dtype.itemsize <= 8  # models know float64
            X = read_array(pack, entry, "X") if fits else None
    except DataError as error:
        raise DataError(
            f"{path.name} is not an .npz file with an array of numbers called X; save it with "
            f"numpy.savez(file, X=rows). {error}"
        ) from error
    if X is None:
        raise DataError(
            f"X in {path.name} has shape {shape} and type {dtype}; the model takes {wanted} "
            "numbers per row."
        )
    X = X.reshape(len(X), wanted)
    low, high = _range(X)
    if not math.isfinite(low + high):
        row = next(k for k, values in enumerate(X) if not np.isfinite(values).all())
        raise DataError(f"Row {row} of X has a value not finite.")
    return X, pd.DataFrame(index=range(len(X)))


def answer_table(saved: SavedModel, X: np.ndarray, others: DataFrame) -> DataFrame:
    """The unused columns, the prediction, and one probability per class or label; of a model for
    numbers these, and between which two they are in 90% of cases.

    Rows are scaled and answered a few at a time: as float64 all of them may not fit into memory.
    """
    import pandas as pd

    if not len(X):
        raise DataError("The table has no rows.")
    names = list(saved.class_names)
    as_trained = _scaling(saved, X)
    parts = []
    n_rows = max(1, CHUNK_VALUES // X.shape[1])
    for start in range(0, len(X), n_rows):
        inputs = saved.inputs(as_trained(X[start : start + n_rows].astype(np.float64)))
        parts.append(_answers(saved, inputs))
    table = others.reset_index(drop=True).map(harmless)
    if saved.predicts_numbers:
        numbers = np.concatenate([np.stack(part, axis=2) for part in parts])  # (n, c, 3)
        titles = [word.format(name) for name in names for word in ("{}", "low({})", "high({})")]
        answered = pd.DataFrame(numbers.reshape(len(numbers), -1), columns=titles)
        return _harmless_columns(pd.concat([table, answered], axis=1))
    predicted, probabilities = (np.concatenate(chunks) for chunks in zip(*parts, strict=True))
    if predicted.ndim == 2:
        given = (np.flatnonzero(row) for row in predicted)
        answers = ["; ".join(names[k] for k in columns) for columns in given]
    else:
        answers = [names[k] for k in np.searchsorted(saved.model.classes_, predicted)]
    table["prediction"] = [harmless(answer) for answer in answers]
    chances = pd.DataFrame(probabilities, columns=[f"p({name})" for name in names])
    return _harmless_columns(pd.concat([table, chances], axis=1))


def _answers(saved: SavedModel, inputs: np.ndarray) -> tuple[np.ndarray, ...]:
    """Predictions and probabilities; of numbers the predictions and their 90% intervals, (n, c)."""
    model: Any = saved.model
    if not saved.predicts_numbers:
        return model.predict(inputs), model.predict_proba(inputs)
    three = model.predict(inputs), *model.predict_interval(inputs)
    return tuple(part.reshape(len(inputs), -1) for part in three)


def _harmless_columns(table: DataFrame) -> DataFrame:
    """Each with a title of its own, whatever a table's other columns are called."""
    titles: dict[str, None] = {}
    for column in table.columns:
        title, n = harmless(str(column)), 2
        unique = title
        while unique in titles:
            unique, n = f"{title} ({n})", n + 1
        titles[unique] = None
    table.columns = list(titles)
    return table


def csv_text(answers: DataFrame) -> str:
    """An answer table, whose cells are harmless already, as a CSV."""
    return answers.to_csv(index=False, float_format="%.6g", lineterminator="\n")


def _scaling(saved: SavedModel, X: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """What standardises pixels as in training, rows of X or a few of them; others stay."""
    pixels = saved.info.get("pixels")
    if pixels is None:
        if saved.scaler is None:
            note = "The model file names no scaling; rows are used as they are."
            print(note, file=sys.stderr)
        return lambda rows: rows
    try:
        mean, std = (np.array(pixels[key], np.float64) for key in ("mean", "std"))
        np.broadcast_shapes(mean.shape, std.shape, X.shape[1:])
        soft = softening(pixels.get("softened"), X.shape[1])
    except (KeyError, TypeError, ValueError):
        raise ModelFileError("The model file's scaling of pixels is damaged.") from None
    low, high = _range(X)
    if low < 0 or high > 255:
        raise DataError("Pixels must lie between 0 and 1, or between 0 and 255.")
    white = 255 if high > 1 else 1
    return lambda rows: ((soft(rows) / white - mean) / std).astype(np.float32)


def _range(X: np.ndarray) -> tuple[float, float]:
    """The least and the greatest value, and 0; not finite if one is not."""
    return float(X.min(initial=0)), float(X.max(initial=0))

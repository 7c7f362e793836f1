"""The user's own molecules and labels: a CSV, read as guessed and corrected, as a `Dataset`."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import numpy as np

from kcnet_core.contracts import Counted, Steps, share_of_work
from kcnet_core.datasets.dataset import UPLOADED, Dataset, RowError, left_out
from kcnet_core.datasets.odor import character_targets, odor_dataset
from kcnet_core.datasets.uploads.cells import read_table
from kcnet_core.datasets.uploads.columns import (
    LABEL_KINDS,
    TableGuess,
    column_titles,
    split_list,
    yes_no,
)
from kcnet_core.datasets.uploads.quota import UploadBytes
from kcnet_core.errors import DataError, LimitError
from kcnet_core.limits import MAX_CSV_CHARACTERS, MAX_CSV_DILUTIONS
from kcnet_core.molecules.descriptor_table import DESCRIPTOR_NAMES
from kcnet_core.molecules.read import CHECK_SHARE, Row, check_steps, describe_steps, frame_lines

_LEAST_POSITIVES = 2  # of a character; rarer ones are left out, and named in the report
_LONGEST_LABEL = 60
_CELL_BYTES = 80  # of a short text and its place
_MOLECULE_BYTES = 10_000  # of a row with its molecule and descriptors


def table_steps(
    content: bytes, guess: TableGuess, *, title: str = "Uploaded table"
) -> Steps[Counted, tuple[Dataset, tuple[RowError, ...]]]:
    """Turn an uploaded table into a dataset; yields how many of its molecules are described.

    `guess` is from `guess_table`, perhaps corrected. Also returns the rows that were left out, and
    why; the others are in the dataset.
    """
    frame, places, errors = _frame(content, guess)
    labels = _label_cells(frame, guess, places, errors)
    dilutions = _dilutions(frame, guess)
    rows = yield from share_of_work(_molecules(frame, guess), 0.0, CHECK_SHARE)
    rows, X = yield from share_of_work(describe_steps(rows), CHECK_SHARE, 1 - CHECK_SHARE)
    vectors = dict(zip((k for k, row in enumerate(rows) if row.ok), X, strict=True))
    for k, row in enumerate(rows):
        if row.error is not None:
            error = RowError(places[k], _short(row.text), row.error, row.suggestion or "")
            errors.setdefault(k, error)
    report: list[str] = []
    _leave_out_repeats(rows, labels, dilutions, places, errors, report)
    if guess.label_kind == "class":
        _leave_out_lone_classes(labels, places, errors)
    molecules = {k: row.molecule for k, row in enumerate(rows) if row.molecule and k not in errors}
    kept = list(molecules)
    if len(kept) < 2:
        first = errors[min(errors)] if errors else None
        why = f" The first trouble is in {first.where}: {first.reason}" if first else ""
        raise DataError(
            f"{len(kept)} of {len(rows)} rows can be used; at least two are needed.{why}"
        )
    if errors:
        how_many = f"{left_out(len(errors), 'row')} of {len(rows):,}"
        report.append(f"{how_many}; the reasons are listed with the upload.")
    targets = _targets([labels[k] for k in kept], guess, report)
    dataset = odor_dataset(
        title=_short(title),
        **UPLOADED,
        smiles=[molecules[k].smiles for k in kept],
        X=np.stack([vectors[k] for k in kept]),
        dilutions=None if dilutions is None else [dilutions[k] for k in kept],
        row_names=tuple(rows[k].name or molecules[k].smiles for k in kept),
        report=report,
        **targets,
    )
    return dataset, tuple(errors[k] for k in sorted(errors))


def table_bytes(content: bytes, guess: TableGuess) -> UploadBytes:
    """Memory that `table_steps` will need; half as much again as was measured, or more."""
    n_cells = guess.n_rows * len(guess.columns)
    reading = 4 * len(content) + _CELL_BYTES * n_cells + _MOLECULE_BYTES * guess.n_rows
    n_inputs = len(DESCRIPTOR_NAMES) + (MAX_CSV_DILUTIONS if guess.dilution_column else 0)
    return UploadBytes(reading, kept=4 * guess.n_rows * n_inputs)


def check_columns(guess: TableGuess) -> None:
    """Refuse a guess by which no table can be read: a column is lacking, or has two meanings."""
    listed = _listed(guess.columns)
    if guess.smiles_column is None:
        raise DataError(
            "No column is chosen as SMILES. Choose the column that holds the structures; "
            f"the table has {listed}."
        )
    if not guess.label_columns:
        raise DataError(
            f"No label column is chosen. Choose the column (or columns) to learn; the table has "
            f"{listed}."
        )
    if guess.label_kind not in LABEL_KINDS:
        raise DataError(f"label_kind must be one of {', '.join(LABEL_KINDS)}.")
    chosen = [guess.smiles_column, *guess.label_columns, guess.name_column, guess.dilution_column]
    for column in chosen:
        if column is not None and column not in guess.columns:
            raise DataError(f"There is no column {column!r}; the table has {listed}.")
    if guess.smiles_column in guess.label_columns:
        raise DataError(f"{guess.smiles_column} cannot be both the structure and a label.")
    if guess.label_kind != "yes_no" and len(guess.label_columns) > 1:
        raise DataError("A list or a class stands in one column; choose one label column.")


def _frame(content: bytes, guess: TableGuess):
    """The rows below the header as text, how a person finds each, and those that are misshapen."""
    import pandas as pd

    table = read_table(content, encoding=guess.encoding, separator=guess.separator)
    columns = column_titles(table, guess.has_header)
    skip = int(guess.has_header)
    check_columns(replace(guess, columns=columns))
    frame = pd.DataFrame(table.rows[skip:], columns=list(columns), dtype=object)
    if frame.empty:
        raise DataError("The table has a header but no rows below it.")
    places = [f"line {line}" for line in table.lines[skip:]]
    errors = {
        k - skip: RowError(
            places[k - skip],
            _short(" ".join(table.rows[k])),
            f"It has {n_cells} cells where the table has {len(columns)} columns; put text that "
            "holds the separator into quotation marks.",
        )
        for k, n_cells in table.surplus.items()
        if k >= skip
    }
    return frame, places, errors


def _label_cells(frame, guess, places, errors) -> list[tuple[str, ...]]:
    """Per row its labels; rows without a readable label are put into `errors`."""
    if guess.label_kind == "yes_no":
        return _marked_columns(frame, guess, places, errors)
    (column,) = guess.label_columns
    spelling: dict[str, str] = {}  # the first spelling of a word stands for every other
    labels = []
    for k, cell in enumerate(frame[column]):
        words = split_list(cell, guess.list_separator) if guess.label_kind == "list" else [cell]
        if guess.label_kind == "class" and not cell:
            errors.setdefault(k, RowError(places[k], "", f"{column} is blank."))
        words = [_short(word, _LONGEST_LABEL) for word in words]
        labels.append(tuple(spelling.setdefault(word.casefold(), word) for word in words))
    return labels


def _marked_columns(frame, guess, places, errors):
    # In a column of crosses a blank means no; in a column of 0 and 1 it means not known.
    blank_is_no = {
        column: not any(yes_no(cell) is False for cell in frame[column])
        for column in guess.label_columns
    }
    labels = []
    for k, cells in enumerate(frame[list(guess.label_columns)].itertuples(index=False)):
        positive = []
        for column, cell in zip(guess.label_columns, cells, strict=True):
            answer = False if not cell and blank_is_no[column] else yes_no(cell)
            if answer is None:
                what = f"holds {_short(cell)!r}" if cell else "is blank"
                reason = f"{column} {what}; write 0 or 1, or yes or no."
                errors.setdefault(k, RowError(places[k], _short(cell), reason))
            elif answer:
                positive.append(column)
        labels.append(tuple(positive))
    return labels


def _leave_out_repeats(rows, labels, dilutions, places, errors, report):
    """Keep a molecule once (per dilution): its first row that is usable otherwise."""
    first: dict[tuple, int] = {}
    n_contradicting = 0
    for k, row in enumerate(rows):
        if k in errors:
            continue
        dilution = None if dilutions is None else dilutions[k]
        kept = first.setdefault((row.molecule.smiles, dilution), k)
        if kept == k:
            continue
        named = f" ({_short(rows[kept].name)})" if rows[kept].name else ""
        at = "" if dilution is None else ", at the same dilution"
        reason = f"The same molecule as in {places[kept]}{named}{at}; it is kept once."
        if set(labels[k]) != set(labels[kept]):
            n_contradicting += 1
            here, there = (_short(", ".join(labels[row])) or "none" for row in (k, kept))
            reason += f" Its labels differ: {here} here, {there} there, which counts."
        errors[k] = RowError(places[k], _short(row.text), reason)
    if n_contradicting:
        report.append(
            f"{n_contradicting} of the rows that repeat a molecule contradict its first row, whose "
            "labels are used; check which are right."
        )


def _leave_out_lone_classes(labels, places, errors):
    counts = Counter(labels[k][0] for k in range(len(labels)) if k not in errors)
    for k, (name, *_) in enumerate(labels):
        if k not in errors and counts[name] == 1:
            reason = "It is the only usable row of its class; a class needs at least two."
            errors[k] = RowError(places[k], name, reason)


def _molecules(frame, guess: TableGuess) -> Steps[Counted, list[Row]]:
    rows = yield from check_steps(
        frame_lines(frame, guess.smiles_column, guess.name_column),
        keep_duplicates=True,  # which row of a molecule is kept depends on its labels
    )
    if not any(row.ok for row in rows):
        raise DataError(
            f"No cell of the column {guess.smiles_column!r} is a molecule. The first says: "
            f"{rows[0].error} Is it the right column?"
        )
    return rows


def _dilutions(frame, guess) -> list[str] | None:
    if guess.dilution_column is None:
        return None
    # Decimal commas as points, so that 0,1 and 0.1 are one dilution.
    cells = [
        re.sub(r"^(\d+),(\d+)$", r"\1.\2", cell) or "not given"
        for cell in frame[guess.dilution_column]
    ]
    if len(set(cells)) > MAX_CSV_DILUTIONS:
        raise LimitError(
            f"{guess.dilution_column} has {len(set(cells))} different values; as dilutions at most "
            f"{MAX_CSV_DILUTIONS} are taken (MAX_CSV_DILUTIONS). Choose no dilution column."
        )
    return [_short(cell, _LONGEST_LABEL) for cell in cells]


def _targets(labels, guess, report) -> dict:
    """The fields `y` and `target_names`."""
    vocabulary = list(guess.label_columns)
    if guess.label_kind != "yes_no":
        vocabulary = sorted({word for words in labels for word in words}, key=str.casefold)
    if len(vocabulary) > MAX_CSV_CHARACTERS:
        raise LimitError(
            f"There are {len(vocabulary):,} different labels; the limit is {MAX_CSV_CHARACTERS} "
            "(MAX_CSV_CHARACTERS). Is it the right column, and the right separator inside cells?"
        )
    if len(set(labels)) < 2:
        raise DataError(
            "All rows that can be used have the same label, so there is nothing to tell apart. "
            "Add rows with other labels, or choose another label column."
        )
    if guess.label_kind == "class":
        y = np.array([vocabulary.index(name) for (name,) in labels])
        counts = [f"{name} {n}" for name, n in zip(vocabulary, np.bincount(y), strict=True)]
        report.append(f"Rows per class: {', '.join(counts)}.")
        return {"y": y, "target_names": tuple(vocabulary)}
    matrix = np.array([[word in words for word in vocabulary] for words in labels], dtype=bool)
    if len(vocabulary) > 1:
        return character_targets(matrix, vocabulary, None, _LEAST_POSITIVES, report)
    if not 2 <= matrix.sum() <= len(matrix) - 2:
        raise DataError(
            f"{matrix.sum()} of {len(matrix)} rows are {vocabulary[0]}; at least two rows with "
            "and two without it are needed."
        )
    return character_targets(matrix, vocabulary, vocabulary[0], _LEAST_POSITIVES, report)


def _listed(columns) -> str:
    more = f" and {len(columns) - 12} more" if len(columns) > 12 else ""
    return ", ".join(columns[:12]) + more


def _short(text: str, length: int = 80) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"

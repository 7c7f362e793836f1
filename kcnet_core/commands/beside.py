"""What `smell` prints of molecules beside others: one step away, or side by side."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kcnet_core.errors import DataError
from kcnet_core.storage.safe_csv import harmless

if TYPE_CHECKING:
    from kcnet_core.smell.answers import Answer
    from kcnet_core.smell.nose import Nose

MOST_BESIDE = 4
CHANGES = 3  # characters named for a step
Record = Mapping[str, Any]


def write(records: Sequence[Record], form: str) -> None:
    """Records as JSON, or as CSV that no spreadsheet calculates."""
    if form == "json":
        json.dump(records, sys.stdout, indent=1)
        print()
        return
    writer = csv.writer(sys.stdout)
    writer.writerow(records[0] if records else ["name"])
    for record in records:
        cells = record.values()
        writer.writerow([harmless(one) if isinstance(one, str) else one for one in cells])


def edit_records(nose: Nose, given: Sequence[Answer], character: str, top: int) -> list[Record]:
    """The `top` steps of every molecule: those that change most, or add most to a character."""
    import numpy as np

    from kcnet_core.smell.edits import edits
    from kcnet_core.smell.search import columns_of

    column = columns_of(nose, [character])[0] if character else None
    found: list[Record] = []
    for answer in given:
        for edit in edits(nose, answer, column)[:top]:
            order = list(np.argsort(-np.abs(edit.changes), kind="stable")[:CHANGES])
            if column is not None:  # what was asked for comes first, however little it is
                order = [column, *(k for k in order if k != column)]
            changes = ", ".join(f"{nose.characters[k]} {edit.changes[k]:+.2f}" for k in order)
            found.append({"from": answer.name, "step": edit.step, "smiles": edit.smiles,
                          "name": edit.name, "changes": changes})  # fmt: skip
    return found


def beside_records(nose: Nose, given: Sequence[Answer], top: int) -> list[Record]:
    """The `top` characters in which two to four molecules differ most, and by what reasons.

    Raises
    ------
    DataError
        If there are fewer molecules, or more.
    """
    import numpy as np

    from kcnet_core.smell.reasons import same_to_the_flies, what_differs

    if not 2 <= len(given) <= MOST_BESIDE:
        raise DataError(
            f"Side by side stand two to {MOST_BESIDE} molecules; {len(given)} could be read."
        )
    P = np.array([answer.probabilities for answer in given])
    spread = P.max(axis=0) - P.min(axis=0)
    found: list[Record] = []
    for k in np.argsort(-spread, kind="stable")[:top]:
        least, most = given[int(P[:, k].argmin())], given[int(P[:, k].argmax())]
        if same_to_the_flies(least, most):
            why = "to the flies they are one molecule"
        else:
            reasons = what_differs(nose, least, most, int(k)).reasons[:CHANGES]
            why = ", ".join(f"{one.word} {one.value:+.2f}" for one in reasons)
        columns = {f"{place} {one.name}": round(float(P[place - 1, k]), 4)
                   for place, one in enumerate(given, start=1)}  # fmt: skip
        found.append({"character": nose.characters[k], **columns, "why": why})
    return found


def print_edits(records: Sequence[Record]) -> None:
    for record in records:
        print(f"{record['from']}: {record['step']}\n      {record['name'] or record['smiles']}")
        print(f"      {record['changes']}")
    print("\nChanges of probability, by flies that were taught all they know.")


def print_beside(records: Sequence[Record]) -> None:
    for record in records:
        print(record["character"])
        for name, value in record.items():
            if name not in ("character", "why"):
                print(f"      {value:.2f}  {name}")
        print(f"      {record['why']}")
    print(
        "\nReasons are in log-odds, from the molecule with least of a character to that with most."
    )

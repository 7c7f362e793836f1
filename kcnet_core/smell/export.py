"""Answers as a table: for a page, for a spreadsheet, for JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from kcnet_core.smell.answers import Answer, Answers
from kcnet_core.smell.label_sets import USUAL
from kcnet_core.smell.nose import Nose
from kcnet_core.smell.ratings.raters import Rater, rate_answers
from kcnet_core.storage.safe_csv import harmless

COLUMNS = (
    "row", "input", "name", "smiles", "formula", "characters", "named_from", "domain", "warning",
    "known", "error", "note",
)  # fmt: skip


def named_characters(
    nose: Nose, answer: Answer, offered=None, coverage: float = USUAL
) -> list[str]:
    """Characters whose probability reaches the line of a coverage, most probable first.

    `offered` restricts them to some indices of `nose.characters`.
    """
    line = nose.line(coverage, answer.far)
    order = sorted(range(len(nose.characters)), key=lambda k: -answer.probabilities[k])
    return [
        nose.characters[k]
        for k in order
        if answer.probabilities[k] >= line and (offered is None or k in offered)
    ]


def records(
    nose: Nose,
    answers: Answers,
    offered=None,
    coverage: float = USUAL,
    raters: Sequence[Rater] = (),
) -> list[dict]:
    """One dict per row, in order: `COLUMNS`, the ratings of `raters` with their intervals, and
    probability, low and high of every character."""
    found = []
    rated = iter(rate_answers(raters, answers.given))
    for row, answer in zip(answers.rows, answers.answers, strict=True):
        record = dict.fromkeys(COLUMNS, "") | {
            "row": row.number,
            "input": row.text,
            "name": row.name,
            "error": row.error or "",
            "note": row.note or "",
        }
        if answer is not None:
            record |= {
                "smiles": answer.smiles,
                "formula": answer.molecule.formula,
                "characters": "; ".join(named_characters(nose, answer, offered, coverage)),
                "named_from": round(nose.line(coverage, answer.far), 4),
                "domain": answer.verdict.level if answer.verdict else "",
                "warning": answer.warning or "",
                "known": "; ".join(nose.truth(answer.known)),
            }
            for rating in next(rated, ()):
                record[rating.attribute] = round(rating.value, 1)
                record[f"{rating.attribute} low"] = round(rating.low, 1)
                record[f"{rating.attribute} high"] = round(rating.high, 1)
            for k, character in enumerate(nose.characters):
                record[character] = round(float(answer.probabilities[k]), 4)
                if len(answer.each) > 1:
                    record[f"{character} lowest fly"] = round(float(answer.low[k]), 4)
                    record[f"{character} highest fly"] = round(float(answer.high[k]), 4)
        found.append(record)
    return found


def to_csv(
    nose: Nose,
    answers: Answers,
    offered=None,
    coverage: float = USUAL,
    raters: Sequence[Rater] = (),
) -> str:
    """A CSV whose text cells no spreadsheet takes for formulas."""
    found = records(nose, answers, offered, coverage, raters)
    titles = list(dict.fromkeys(key for record in found for key in record))
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([harmless(title) for title in titles])
    for record in found:
        cells = [record.get(title, "") for title in titles]
        writer.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in cells])
    return out.getvalue()

"""What the API answers: the same nose, the same model files and the same jobs as the pages have."""

from __future__ import annotations

import json
import math
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kcnet_core import errors, limits
from kcnet_core.errors import DataError, LimitError
from pages.ui.api import gate

if TYPE_CHECKING:
    from pandas import DataFrame

    from kcnet_core.jobs import Job


def smell(body: bytes) -> dict[str, Any]:
    """Odor characters of the molecules that a request names."""
    from kcnet_core.molecules.text import costly, split_lines
    from kcnet_core.smell import answers, export
    from pages.ui.smell import models, ratings

    asked = _asked(body)
    molecules, name = asked.get("molecules"), asked.get("data", models.STARTER)
    if isinstance(molecules, str):
        molecules = [molecules]
    if not isinstance(molecules, list) or not all(isinstance(one, str) for one in molecules):
        raise DataError('"molecules" must be a list of texts, each a SMILES or a known name.')
    text = "\n".join(molecules)
    if len(text) > limits.MAX_PASTED_CHARACTERS:
        raise LimitError(f"More than {limits.MAX_PASTED_CHARACTERS:,} characters are not read.")
    lines = split_lines(text)
    if not lines:
        raise DataError('"molecules" is empty: give at least one SMILES or known name.')
    if costly(lines):
        raise LimitError(
            f"{len(lines):,} molecules of {len(text):,} characters are too many for one request; "
            f"the limits are {limits.SMELLED_AT_ONCE} molecules and "
            f"{limits.SMELLED_CHARACTERS_AT_ONCE:,} characters of SMILES. Send them in parts, or "
            "use the Smell page."
        )
    if not isinstance(name, str) or name not in models.TEACHERS:
        raise DataError(f'"data" must be one of {", ".join(models.TEACHERS)}.')
    nose, _ = models.taught(name)
    dilution = asked.get("dilution")
    if dilution is not None and dilution not in list(nose.dilutions):  # it may be anything
        known = ", ".join(nose.dilutions) or "none: leave it out"
        raise DataError(f'"dilution" must be one that the data have ({known}).')
    found = answers.smell(nose, lines, dilution)
    return {
        "model": nose.title,
        "taught": nose.data_title,
        "named_from": float(nose.line()),
        "molecules": export.records(nose, found, raters=ratings.known()),
    }


def _asked(body: bytes) -> dict[str, Any]:
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        asked = None
    if not isinstance(asked, dict):
        raise DataError('The request is no JSON object; send for example {"molecules": ["CCO"]}.')
    return asked


def predicted(model: bytes, rows: bytes, as_csv: bool) -> str:
    """A saved model's answers, as a CSV or as JSON."""
    from kcnet_core.commands.predict import csv_text

    table = predict(model, rows)
    if as_csv:
        return csv_text(table)
    return f'{{"rows":{table.to_json(orient="records", double_precision=6)}}}'


def predict(model: bytes, rows: bytes) -> DataFrame:
    """A saved model's answers for the rows of a .csv or .npz file."""
    from kcnet_core.commands.predict import answer_table, read_csv, read_npz
    from kcnet_core.model_file import load_model

    for part, content in (("model", model), ("rows", rows)):
        if len(content) > limits.MAX_UPLOAD_BYTES:
            most = limits.MAX_UPLOAD_BYTES // limits.MEGABYTE
            raise LimitError(f'"{part}" is larger than the limit of {most} MB.')
    saved = load_model(model)
    packed = rows[:2] == b"PK"
    if not packed:
        n_cells = rows.count(b",") + rows.count(b"\n") + rows.count(b"\r") + 1
        if n_cells > limits.MAX_CSV_CELLS:
            raise LimitError(
                f"The table has more than {limits.MAX_CSV_CELLS:,} cells (MAX_CSV_CELLS); send it "
                "in parts."
            )
    with tempfile.TemporaryDirectory(prefix="kcnet-") as folder:
        path = Path(folder) / ("rows.npz" if packed else "rows.csv")
        path.write_bytes(rows)
        if packed:
            X, others = read_npz(path, saved.feature_names, limits.MAX_UPLOAD_BYTES)
        else:
            X, others = read_csv(path, saved.feature_names, limits.MAX_CSV_COLUMNS)
    if len(X) > limits.MAX_CSV_ROWS:
        raise LimitError(
            f"{len(X):,} rows are too many for one request; the limit is {limits.MAX_CSV_ROWS:,} "
            "(MAX_CSV_ROWS). Send them in parts."
        )
    return answer_table(saved, X, others)


def datasets() -> dict[str, Any]:
    """What there is to learn from, and what of it is on this machine."""
    from kcnet_core import datasets as catalogue

    return {"datasets": [asdict(info) for info in catalogue.available()]}


def run(job: Job) -> dict[str, Any]:
    """What whoever has a run's link may see of it; of uploaded data that is less."""
    from pages.ui.shell.job_progress import OWNER_SEES
    from pages.ui.shell.visitor_data import UPLOADED

    view, config = job.view, job.config
    private = getattr(config, "dataset", None) == UPLOADED
    told: dict[str, Any] = {
        "kind": job.kind,
        "title": job.title,
        "state": view.state,
        "position": view.position,
        "fraction": view.fraction,
        "stage": getattr(view.snapshot, "stage", None),
        "seconds": round(view.seconds(), 3),
        "seconds_left": job.seconds_left(),
        "error": OWNER_SEES if private and view.error else view.error,
        "settings": config.to_query() if hasattr(config, "to_query") else None,
    }
    records = getattr(job.result or view.snapshot, "records", None)
    if records is not None:
        told["epochs"] = [
            {
                "epoch": one.epoch,
                "submodel": one.submodel,
                "train": _finite(one.train_metric),
                "validation": _finite(one.validation_metric),
                "density": _finite(one.density),
            }
            for one in records
        ]
    if hasattr(job.result, "scores"):
        told["scores"] = {name: _finite(value) for name, value in job.result.scores.items()}
    return told


def _finite(value: Any) -> Any:
    """JSON has no word for what is not a number."""
    return None if value is None or not math.isfinite(value) else float(value)


def metrics() -> str:
    """Counts and sizes in Prometheus' text format."""
    from pages.ui.shell import visitor_jobs

    status = visitor_jobs.jobs().status()
    states = ("running", "queued", "paused", "finished")
    parts = [
        _metric("kcnet_jobs", "gauge", "Jobs by state.",
                {f'state="{state}"': getattr(status, state) for state in states}),
        _metric("kcnet_memory_used_bytes", "gauge", "Held by this process.",
                {"": status.memory.used}),
        _metric("kcnet_memory_available_bytes", "gauge", "Free for new work.",
                {"": status.memory.available}),
        _metric("kcnet_memory_planned_bytes", "gauge", "Planned by started jobs.",
                {"": status.planned_bytes}),
        _metric("kcnet_api_requests_total", "counter", "API requests by route and status.",
                {f'route="{r}",status="{s}"': n for (r, s), n in sorted(gate.requests.items())}),
        _metric("kcnet_refusals_total", "counter",
                "What was refused with a sentence, by kind and by the module with that limit.",
                {f'kind="{k}",module="{m}"': n for (k, m), n in sorted(errors.refusals.items())}),
    ]  # fmt: skip
    return "".join(parts)


def _metric(name: str, kind: str, meaning: str, values: dict[str, float]) -> str:
    lines = [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]
    lines += [
        f"{name}{{{labels}}} {n}" if labels else f"{name} {n}" for labels, n in values.items()
    ]
    return "\n".join(lines) + "\n"

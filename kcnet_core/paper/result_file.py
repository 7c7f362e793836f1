"""Measured results as JSON files: written whole, found again, and honest about where they ran."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

from kcnet_core.errors import DataError, KCNetError
from kcnet_core.experiments.report import versions
from kcnet_core.paper.differences import Difference
from kcnet_core.paper.outcomes import Outcome, Result
from kcnet_core.paper.recipe import tuned_on
from kcnet_core.storage.atomic_write import write_whole
from kcnet_core.storage.folders import assets, cache_folder

KEPT_RESULTS = assets() / "results"
FORMAT = 2
ROW_DIGITS = 6


def own_results() -> Path:
    """Where results that are measured on this machine go."""
    return cache_folder() / "reproduce"


def file_name(recipe: str, quick: bool) -> str:
    return f"{recipe}.quick.json" if quick else f"{recipe}.json"


def save_result(result: Result, folder: str | os.PathLike, *, under_way: bool = False) -> Path:
    """Write a result with versions, machine, seeds and date; returns where.

    A result whose measurement is still `under_way` says so, until it is written for good.
    """
    marks = {"under_way": True} if under_way else {}
    result = replace(result, about=provenance(result) | marks)
    path = Path(folder) / file_name(result.recipe, result.quick)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, result_text(result).encode())
    except OSError as error:
        raise KCNetError(
            f"The result cannot be written ({error.strerror}); choose a folder that can be."
        ) from error
    return path


def provenance(result: Result) -> dict:
    """When, where and with what a result was measured; neither host name nor path."""
    known = {
        name: sorted(row[name] for row in result.rows if row.get(name) is not None)
        for name in ("load", "threads", "time")
    }
    all_tell = len(known["threads"]) == len(result.rows)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    # One row of each search, which repeats may share
    searches = {
        (row["line"], tuned_on(row["protocol"], row["repeat"])): row for row in result.rows
    }.values()
    return {
        "date": max(known["time"], default=now),
        "since": min(known["time"], default=now),
        "versions": versions(),
        "machine": machine(),
        # Rows of earlier versions do not tell theirs; then nothing is said of any.
        "threads": sorted(set(known["threads"])) if all_tell else [],
        "seeds": sorted({row["seed"] for row in result.rows}),
        "settings_tried": sum(row.get("tried", 1) for row in searches),
        "seconds": round(
            sum(row["seconds"] for row in result.rows)
            + sum(row.get("search_seconds", 0.0) for row in searches),
            1,
        ),
        "mean_load": round(fmean(known["load"]), 1) if known["load"] else None,
    }


def machine() -> dict:
    """The hardware that matters for a running time."""
    import psutil

    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _processor() -> str:
    with suppress(OSError), open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def result_text(result: Result) -> str:
    """JSON with one line per outcome and row, so that two versions can be compared by eye."""
    data = {
        "format": FORMAT,
        "recipe": result.recipe,
        "quick": result.quick,
        "complete": result.complete,
        "planned": result.planned,
        **result.about,
        "skipped": dict(result.skipped),
        "failed": dict(result.failed),
        "outcomes": [
            {name: value for name, value in asdict(outcome).items() if value is not None}
            | {"verdict": outcome.verdict}
            for outcome in result.outcomes
        ],
        "differences": [asdict(difference) for difference in result.differences],
        "rows": [
            {k: round(v, ROW_DIGITS) if isinstance(v, float) else v for k, v in row.items()}
            for row in result.rows
        ],
        "kept": result.kept,
    }
    return "{\n" + ",\n".join(f"{json.dumps(k)}: {_block(v)}" for k, v in data.items()) + "\n}\n"


def _block(value) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(json.dumps(item) for item in value) + "\n]"
    return json.dumps(value)


def read_result(path: str | os.PathLike) -> Result:
    """A result from its file."""
    try:
        data = json.loads(Path(path).read_bytes())
        if data["format"] != FORMAT:
            raise KeyError("format")
        about = {
            name: data[name]
            for name in (
                "date", "since", "versions", "machine", "threads", "seeds", "settings_tried",
                "seconds", "mean_load",
            )
        }  # fmt: skip
        about |= {"under_way": True} if data.get("under_way") else {}
        return Result(
            recipe=data["recipe"],
            quick=data["quick"],
            outcomes=tuple(Outcome(**_known(Outcome, item)) for item in data["outcomes"]),
            differences=tuple(Difference(**_known(Difference, d)) for d in data["differences"]),
            rows=tuple(data["rows"]),
            planned=data["planned"],
            skipped=data["skipped"],
            failed=data["failed"],
            kept=data["kept"],
            about=about,
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{Path(path).name} is not a result of this version; measure it again."
        ) from error


def known_rows(folder: str | os.PathLike) -> Iterator[dict]:
    """The rows of all results in a folder, each with the curves and pictures kept of it."""
    for path in sorted(Path(folder).glob("*.json")):
        try:
            result = read_result(path)
        except DataError:
            continue
        kept = {what: dict(by_line) for what, by_line in result.kept.items()}
        for row in result.rows:  # of a line's rows, the first one's are kept
            line = row["line"]
            here = {what: part.pop(line) for what, part in kept.items() if line in part}
            yield {**row, **here}


def _known(kind: type, values: Mapping) -> dict:
    names = {f.name for f in fields(kind)}
    return {name: value for name, value in values.items() if name in names}


def find_results(
    recipe: str,
    folders: Iterable[Path] | None = None,
    read: Callable[[Path], Result] = read_result,
) -> list[Result]:
    """Results of a recipe, the most telling first.

    That is one with all its lines before one with some, full before quick, more rows, newer.
    Files that cannot be read are passed over: the page then offers to measure again.
    """
    found = []
    for folder in (own_results(), KEPT_RESULTS) if folders is None else folders:
        for quick in (False, True):
            path = Path(folder) / file_name(recipe, quick)
            with suppress(DataError, OSError):  # OSError: a folder that may not be searched
                if path.is_file():
                    found.append(read(path))

    def how_telling(result: Result) -> tuple:
        every_line = all(outcome.n for outcome in result.outcomes)
        return every_line, not result.quick, result.finished, result.about["date"]

    return sorted((one for one in found if one.finished), key=how_telling, reverse=True)

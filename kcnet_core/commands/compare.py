"""`compare`: models side by side on the same splits; every finished row is kept at once."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

from kcnet_core.commands import add_cluster
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.described import parsed

WORDS = {
    "dataset": "name, as `data` lists them",
    "target": "odor character; empty: all of them, or images",
    "options": 'further options of the dataset, as JSON: {"per": "compound"}',
    "models": "with commas: KCNet,DOA,ELM,...",
    "hidden": "sizes of the hidden layer, with commas",
    "wirings": "plans of the KCNets, with commas",
    "protocol": "how rows are split; empty: as the dataset asks for",
    "n_repeats": "splits (or seeds, on a benchmark's own split)",
    "n_folds": "0: one test part for each repeat",
    "rows": "training rows at most; 0: all",
    "scaling": "empty: as the dataset asks for",
    "oversampling": "add rows of rare classes (ADASYN), to training rows only",
    "fshn_size": "`hidden` or `parameters`: what an FSHN has as many of as the KCNet beside it",
    "seed": "of the splits and of the models",
    "retina": "through which all models see images; empty: none",
    "n_patches": "that the retina learns",
    "settings": 'of single models, as JSON: {"DOA": {"n_epochs": 20}}',
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One flag per field of `Comparison`, so that the command line can do what the page can."""
    for field in fields(Comparison):
        flag, text = "--" + field.name.replace("_", "-"), WORDS[field.name]
        if isinstance(field.default, bool):
            parser.add_argument(flag, action="store_true", help=text)
            continue
        parser.add_argument(flag, metavar=field.name.upper(), help=text)
    add_cluster(parser)
    parser.add_argument("--save", type=Path, metavar="FILE.csv", help="write all rows to a table")


def main(args: argparse.Namespace) -> None:
    """Measure what is not known yet, and print all of it."""
    chosen: dict[str, Any] = {
        field.name: value if isinstance(value, bool) else parsed(value, field.default)
        for field in fields(Comparison)
        if (value := getattr(args, field.name)) is not None
    }
    comparison = Comparison(**chosen)

    from kcnet_core.experiments.comparison.rows import PlannedRows
    from kcnet_core.storage.folders import cache_folder
    from kcnet_core.storage.journal import Journal

    dataset = comparison.load()
    planned = PlannedRows(comparison, dataset)
    journal = Journal(cache_folder() / "compare" / "journal.jsonl")
    rows = planned.known(journal.having("variant"))
    if rows:
        print(f"{len(rows)} of {len(planned.fits)} rows are known already.", file=sys.stderr)
    with closing(_steps(planned, rows, args.cluster)) as steps:
        for row in steps:
            if not row["error"]:
                journal.append(row)
            rows.append(row)
            _say(row, len(rows), len(planned.fits), dataset)
    places = [(fit.variant.label, fit.repeat, fit.fold) for fit in planned.fits]
    rows.sort(key=lambda row: places.index((row["variant"], row["repeat"], row["fold"])))
    show(rows, dataset)
    if args.save:
        _save(rows, args.save)


def _steps(planned, known, cluster: str | None):
    from kcnet_core.experiments.models import warm_up

    if cluster is None:
        warm_up(planned.comparison.models)
        return planned.steps(known)
    from kcnet_core.cluster import compare_steps

    return compare_steps(planned.comparison, cluster, planned.dataset, done=known)


def _say(row, done: int, total: int, dataset) -> None:
    from kcnet_core.experiments.metrics import headline_metric

    metric = headline_metric(dataset)
    value = row["error"] or f"{metric} {row[metric]:.4f}, {row['seconds']:.1f} s"
    where = f"{row['variant']}, repeat {row['repeat'] + 1}, fold {row['fold'] + 1}"
    print(f"{done} of {total}: {where}: {value}", file=sys.stderr, flush=True)


def show(rows, dataset) -> None:
    """Print mean, interval and time of every line."""
    from kcnet_core.experiments.evaluate import results_table, summary
    from kcnet_core.experiments.metrics import headline_metric

    metric = headline_metric(dataset)
    lines = summary(results_table(rows), by=("variant",))
    value = lines[lines["metric"] == metric].drop(columns=["metric", "method"])
    seconds = lines[lines["metric"] == "seconds"].set_index("variant")["mean"]
    value["seconds"] = value["variant"].map(seconds)
    print(f"{dataset.title}, {metric}, 95% interval")
    print(value.to_string(index=False, float_format="{:.4f}".format))


def _save(rows, path: Path) -> None:
    from kcnet_core.experiments.evaluate import results_table
    from kcnet_core.storage.safe_csv import csv_text

    path.write_text(csv_text(results_table(rows)), encoding="utf-8")
    print(f"Written to {path}")

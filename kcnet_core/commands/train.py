"""`train`: one run described by flags; its progress, its test scores, and its model as a file."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from pathlib import Path

from kcnet_core.errors import ModelFileError, OutOfMemory
from kcnet_core.experiments.run import NETWORK_NAMES, Run, settings
from kcnet_core.network.history import EpochRecord


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One flag per field of `Run`, so that the command line can do whatever the app can."""
    group = parser.add_argument_group("settings of the run")
    for field in fields(Run):
        about = settings()[field.name]
        flag = "--" + field.name.replace("_", "-")
        text = f"{about.label}: {about.help}"
        if about.models != NETWORK_NAMES:
            text += f" [{', '.join(about.models)}]"
        if isinstance(field.default, bool):
            group.add_argument(flag, action="store_true", help=text.replace("%", "%%"))
            continue
        if field.default != "":
            text += f" (default: {field.default})"
        choices = [option for option in about.options if option] or None
        group.add_argument(
            flag,
            type=type(field.default),
            default=field.default,
            choices=choices,
            metavar=None if choices else type(field.default).__name__.upper(),
            help=text.replace("%", "%%"),
        )
    parser.add_argument("--save", type=Path, metavar="MODEL.kcnet", help="save the trained model")
    parser.add_argument("--quiet", action="store_true", help="print only the result")


def main(args: argparse.Namespace) -> None:
    """Train, report and save."""
    run = Run(**{field.name: getattr(args, field.name) for field in fields(Run)})
    if args.save:
        _check_place(args.save)
    for sentence in _unused(run):
        print(sentence, file=sys.stderr)

    from kcnet_core.experiments.report import save
    from kcnet_core.experiments.training import train_steps

    say = (lambda _: None) if args.quiet else _say
    say(f"{run.describe()}: loading the data")
    dataset = run.load()
    _check_cost(run, dataset, say)
    trained = _watched(train_steps(run, dataset), say)
    _print_result(trained)
    if args.save:
        save(trained, args.save)
        print(f"Saved {args.save} ({args.save.stat().st_size / 1e6:.1f} MB).")


def _unused(run: Run) -> list[str]:
    """Flags that were given and mean nothing to this run, each in a sentence."""
    given = [field.name for field in fields(Run) if getattr(run, field.name) != field.default]
    return [
        f"--{name.replace('_', '-')} is not used by {run.describe()}."
        for name in given
        if not run.uses(name)
    ]


def _check_place(path: Path) -> None:
    """Refuse before hours of training what would fail after them."""
    if path.is_dir():
        raise ModelFileError(f"{path} is a folder; give the name of a file, like model.kcnet.")
    if not path.parent.is_dir():
        raise ModelFileError(f"The folder {path.parent} for the model is not there; make it first.")


def _check_cost(run: Run, dataset, say) -> None:
    """Say what the run will take; refuse one that would not fit into memory."""
    from kcnet_core.experiments.cost import estimate, in_words
    from kcnet_core.jobs.memory import Room, gigabytes, measure_memory, too_large

    n = dataset.n_train or len(dataset.X)
    n = min(n, run.rows) if run.rows else n
    cost = estimate(run, n, dataset.X.shape[1], len(dataset.target_names))
    room = Room(measure_memory).beside((), ())
    if cost.bytes > room:
        raise OutOfMemory(too_large(cost.bytes, room))
    say(f"about {in_words(cost.seconds)} and {gigabytes(cost.bytes)} of memory")


def _watched(steps, say):
    """Run the steps, saying each stage and epoch once; returns what the run returns."""
    stage, told = None, 0
    while True:
        try:
            view = next(steps)
        except StopIteration as done:
            return done.value
        if view.stage not in (stage, "Training"):
            say(view.stage)
        stage = view.stage
        for record in view.records[told:]:
            say(_epoch_line(record, view))
        told = view.n_records


def _epoch_line(record: EpochRecord, view) -> str:
    run = view.run
    place = f"epoch {record.epoch:>4}" if record.epoch or run.model == "DOA" else "solved    "
    if run.model == "Ensemble DOA":
        place = f"submodel {record.submodel + 1:>2} epoch {record.epoch:>4}"
    parts = [place]
    for name, value in (("train", record.train_metric), ("validation", record.validation_metric)):
        if value is not None:
            parts.append(f"{name} {view.metric_name} {value:.4f}")
    if "DOA" in run.model:
        parts.append(f"{record.density:7.2%} connected (+{record.flips_on} -{record.flips_off})")
    return "  ".join([*parts, f"{record.seconds:.2f} s"])


def _print_result(trained) -> None:
    from kcnet_core.experiments.protocols import PROTOCOLS

    for note in trained.notes:
        print(note)
    name, value = trained.headline
    print(f"Test {name} {value:.4f}")
    print(
        f"  {trained.run.describe()}; {trained.dataset.title}; "
        f"{len(trained.train_rows):,} training and {len(trained.test_rows):,} test rows"
    )
    print(f"  protocol {trained.protocol}: {PROTOCOLS[trained.protocol].explanation}")
    others = [f"{key} {score:.4f}" for key, score in trained.scores.items() if key != name]
    print("  " + ", ".join(others))
    seconds = {stage: s for stage, s in trained.timings.items() if s >= 0.005}
    print("  " + ", ".join(f"{stage} {s:.2f} s" for stage, s in seconds.items()))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)

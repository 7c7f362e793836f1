"""`data`: which datasets there are, and fetching one that is not here yet."""

from __future__ import annotations

import argparse
import sys
import time

STATUS = {"bundled": "comes along", "present": "here", "download": "to download"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    actions.add_parser("list", help="what there is, and where it is kept (the default)")
    about = actions.add_parser("about", help="size, terms and checksums of one, to read before")
    fetch = actions.add_parser("fetch", help="download a dataset; an interrupted one goes on")
    for action in (about, fetch):
        action.add_argument("name", metavar="NAME", help="as in the list, for instance mnist")


def main(args: argparse.Namespace) -> None:
    from kcnet_core import datasets
    from kcnet_core.storage.folders import data_folders

    if args.action in ("about", "fetch"):
        print(_about(args.name), flush=True)
    if args.action == "about":
        return
    if args.action == "fetch":
        progress = _ProgressLine(args.name)
        datasets.fetch(args.name, progress=progress)
        progress.end()
        print(f"{args.name} is here.")
        return
    lines: list[tuple[str, ...]] = [("name", "status", "rows", "inputs", "classes", "MB", "title")]
    for info in datasets.available():
        size = info.megabytes if info.size_bytes else ""
        about = "~" if info.rounded else ""
        counts = (f"{about}{n:,}" for n in (info.n_rows, info.n_features, info.n_classes))
        lines.append((info.name, STATUS[info.status], *counts, size, info.title))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    right = {2, 3, 4, 5}  # columns of numbers
    for line in lines:
        cells = [
            cell.rjust(width) if k in right else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())
    print("\nLooked for in: " + ", ".join(map(str, data_folders())))


def _about(name: str) -> str:
    """What a person should know before a download."""
    from kcnet_core.datasets import sources
    from kcnet_core.datasets.catalogue import info_of

    info = info_of(name)
    size = f", {info.megabytes} MB" if info.size_bytes else ""
    lines = [f"{info.title}{size}", f"Terms: {info.licence}", f"Cite: {info.citation}"]
    digests = sources.checksums(name) or [info.checked] * bool(info.checked)
    lines += [f"Checked on arrival: {digest}" for digest in digests]
    return "\n".join(lines)


class _ProgressLine:
    """A line that rewrites itself on a terminal; elsewhere one line per tenth."""

    def __init__(self, name: str):
        self.name, self.shown, self.at = name, -1, 0.0
        self.terminal = sys.stderr.isatty()

    def __call__(self, done: int, total: int | None) -> None:
        share = done / total if total else 0.0
        step, now = int(10 * share), time.monotonic()
        if (self.terminal and now - self.at < 0.1) or (not self.terminal and step == self.shown):
            return
        self.shown, self.at = step, now
        size = f"{done / 1e6:,.1f} of {total / 1e6:,.1f} MB" if total else f"{done / 1e6:,.1f} MB"
        end = "\r" if self.terminal else "\n"
        print(f"{self.name}: {size} ({share:.0%})  ", end=end, file=sys.stderr, flush=True)

    def end(self) -> None:
        if self.terminal and self.at:
            print(file=sys.stderr)

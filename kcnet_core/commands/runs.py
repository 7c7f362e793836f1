"""`runs`: what a server on this machine has under way, and ending a run that nobody may stop."""

from __future__ import annotations

import argparse
import time

from kcnet_core.errors import KCNetError

SHOWN = 8  # characters of a run's id, which is a hash and lets nobody watch


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--end", metavar="ID", help="end this run, or 'all'; its page says that you did"
    )


def main(args: argparse.Namespace) -> None:
    from kcnet_core.jobs import JobJournal
    from kcnet_core.storage.folders import cache_folder

    journal = JobJournal(cache_folder() / "jobs")
    there = journal.under_way()
    if args.end is not None:
        chosen = [n for n in there if args.end == "all" or n["id"].startswith(args.end)]
        if not chosen or (len(chosen) > 1 and args.end != "all"):
            raise KCNetError(
                f"{'No' if not chosen else 'More than one'} run is called {args.end!r}; "
                "`kcnet runs` lists them."
            )
        for note in chosen:
            journal.end(note["id"])
        print(f"{len(chosen)} told to end; that takes until the end of the step in hand.")
        return
    if not there:
        print(f"No server that writes to {cache_folder()} has a run under way.")
        return
    print(f"{'id':{SHOWN}}  {'state':8}{'for':>7}  {'kind':10}what")
    for note in there:
        minutes = (time.time() - float(note.get("submitted") or time.time())) / 60
        reached = f" ({note['reached']})" if note.get("reached") else ""
        print(
            f"{note['id'][:SHOWN]}  {note['state']:8}{minutes:>5.0f} m  {note['kind']:10}"
            f"{note['title'][:70]}{reached}"
        )

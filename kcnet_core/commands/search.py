"""`search`: molecules that smell as wished, among known ones or those of a file."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from kcnet_core.commands.beside import write
from kcnet_core.commands.smell import FORMATS, lines_of, nose_of
from kcnet_core.errors import DataError

SHOWN = 10
NOTHING_MET = 1  # the exit code


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--want", nargs="+", default=[], metavar="CHARACTER", help="wanted")
    parser.add_argument("--avoid", nargs="+", default=[], metavar="CHARACTER", help="unwanted")
    parser.add_argument("--like", metavar="MOLECULE", help="like this one, but for the characters")
    parser.add_argument(
        "--mass", nargs=2, type=float, default=[0.0, float("inf")], metavar=("FROM", "TO"),
        help="g/mol",
    )  # fmt: skip
    parser.add_argument(
        "--boils", nargs=2, type=float, default=[float("-inf"), float("inf")],
        metavar=("FROM", "TO"), help="°C at one atmosphere, estimated by our volatility rule",
    )  # fmt: skip
    parser.add_argument("--without", nargs="+", default=[], metavar="ELEMENT", help="as in S Cl")
    parser.add_argument("--holding", nargs="+", default=[], metavar="ELEMENT", help="must be there")
    parser.add_argument("--volatile", action="store_true", help="light enough for a nose")
    parser.add_argument(
        "--among", metavar="FILE", help="a file of molecules, instead of those in the dataset"
    )
    parser.add_argument(
        "--data", default="starter", metavar="NAME", help="odor dataset to learn from (starter)"
    )
    parser.add_argument("--model", type=Path, metavar="FILE.kcnet", help="a saved model instead")
    parser.add_argument("--top", type=int, default=SHOWN, metavar="N", help=f"hits ({SHOWN})")
    parser.add_argument("--format", choices=FORMATS, default="table", help="how to print (table)")


def main(args: argparse.Namespace) -> int:
    """Print the hits, best first."""
    from kcnet_core.molecules.text import split_lines
    from kcnet_core.smell.answers import smell
    from kcnet_core.smell.search import Wish, asked_candidates, search
    from kcnet_core.smell.volatility import RULE

    nose = nose_of(args)
    like = candidates = None
    if args.like:
        like = next(iter(smell(nose, split_lines(args.like)).given), None)
        if like is None:
            raise DataError(
                f"{args.like[:80]!r} is no molecule; give a SMILES, name or CAS number."
            )
    if args.among:
        candidates = asked_candidates(nose, smell(nose, lines_of([args.among], nose.names)))
    lightest, heaviest = args.mass
    wish = Wish(
        tuple(args.want), tuple(args.avoid), lightest, heaviest, frozenset(args.without),
        frozenset(args.holding), args.volatile, *args.boils,
    )  # fmt: skip
    found = search(nose, wish, candidates, like, top=max(1, args.top))
    records = [
        {
            "name": hit.name,
            "smiles": hit.molecule.smiles,
            "mass": round(hit.molecule.weight, 2),
            "boils": None if math.isnan(hit.boiling) else round(hit.boiling),
            "fit": round(hit.fit, 4),
            "likeness": "" if hit.likeness is None else round(hit.likeness, 4),
            "known": hit.known,
            "reason": hit.reason,
            "smells_of": "; ".join(hit.smells_of),
        }
        for hit in found.hits
    ]
    if args.format != "table":
        write(records, args.format)
    else:
        for place, record in enumerate(records, start=1):
            like_it = f"  like {record['likeness']:.2f}" if record["likeness"] != "" else ""
            boils = "" if record["boils"] is None else f"  boils at about {record['boils']} °C"
            print(f"{place:>4}  {record['name']}  fit {record['fit']:.2f}{like_it}{boils}")
            print(f"      {record['smiles']}\n      {record['reason']}")
            if record["smells_of"]:
                said = "people say" if record["known"] else "predicted"
                print(f"      {said}: {record['smells_of']}")
        print(
            f"\n{' '.join(filter(None, (found.sentence, found.given)))} Percentages are the flies' "
            "probabilities, as if never taught it. "
            f"Boiling points: {RULE}."
        )
    return 0 if found.n_met else NOTHING_MET

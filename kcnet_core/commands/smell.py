"""`smell`: the odor characters of molecules given as SMILES, as known names, or in a file."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kcnet_core.errors import DataError, LimitError
from kcnet_core.limits import MAX_UPLOAD_BYTES, MEGABYTE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcnet_core.molecules.text import Line
    from kcnet_core.smell.answers import Answers
    from kcnet_core.smell.names.known_names import KnownNames
    from kcnet_core.smell.nose import Nose
    from kcnet_core.smell.ratings.raters import Rater

SHOWN = 5
FORMATS = ("table", "json", "csv")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "molecules",
        nargs="*",
        metavar="MOLECULE",
        help="a SMILES, InChI, name or CAS number, a file with one molecule per line or a CSV "
        "with a column of them, or - for standard input",
    )
    parser.add_argument(
        "--data", default="starter", metavar="NAME", help="odor dataset to learn from (starter)"
    )
    parser.add_argument("--model", type=Path, metavar="FILE.kcnet", help="a saved model instead")
    parser.add_argument("--dilution", metavar="LEVEL", help="if the data have dilutions")
    parser.add_argument("--format", choices=FORMATS, default="table", help="how to print (table)")
    parser.add_argument("--json", action="store_const", const="json", dest="format")
    parser.add_argument(
        "--top", type=int, default=SHOWN, metavar="N", help=f"characters in the table ({SHOWN})"
    )
    parser.add_argument(
        "--edits",
        nargs="?",
        const="",
        metavar="CHARACTER",
        help="the molecules one step away, those first that change most, or that add most to it",
    )
    parser.add_argument(
        "--side-by-side",
        action="store_true",
        help="two to four molecules: where they differ most, and why",
    )
    parser.add_argument(
        "--measure",
        action="store_true",
        help="measure the quality on unseen molecules and print it as JSON (half a minute)",
    )
    parser.add_argument(
        "--elsewhere",
        nargs="?",
        const="gs_lf",
        metavar="NAME",
        help="measure on other people's data (gs_lf, or any odor set of `data` whose words "
        "assets/vocabulary.csv lists) and on unseen ring systems, and print it as JSON (minutes)",
    )
    parser.add_argument(
        "--benchmark",
        type=Path,
        metavar="JOURNAL",
        help="GS-LF in five folds beside a forest, XGBoost and neighbours, as JSON (an hour); "
        "what the journal already holds is not measured again",
    )
    parser.add_argument(
        "--dream",
        action="store_true",
        help="measure ratings on the DREAM challenge's test molecules (see `data`) beside ridge "
        "and a forest, and print it as JSON (a minute)",
    )


NOTHING_ANSWERED = 1  # the exit code, when every molecule was refused


def main(args: argparse.Namespace) -> int:
    """Answer, or measure."""
    if args.measure or args.elsewhere or args.benchmark or args.dream:
        _measure(args)
        return 0
    if not args.molecules:
        raise DataError('No molecule is given; try: python -m kcnet_core smell "CCO" vanillin')
    from kcnet_core.smell.answers import smell

    nose = nose_of(args)
    answers = smell(nose, lines_of(args.molecules, nose.names), args.dilution)
    if args.edits is not None or args.side_by_side:
        from kcnet_core.commands import beside

        top = max(1, args.top)
        if args.side_by_side:
            records, say = beside.beside_records(nose, answers.given, top), beside.print_beside
        else:
            records = beside.edit_records(nose, answers.given, args.edits, top)
            say = beside.print_edits
        for row in answers.errors:
            _say(f"{row.text[:60]}: {row.error}")
        say(records) if args.format == "table" else beside.write(records, args.format)
        return 0 if records else NOTHING_ANSWERED
    from kcnet_core.smell.ratings import raters

    known = raters.raters() if raters.are_here() else ()
    if args.format == "table":
        _print_table(nose, answers, max(1, args.top), known)
    else:
        from kcnet_core.smell import export

        if args.format == "csv":
            sys.stdout.write(export.to_csv(nose, answers, raters=known))
        else:
            json.dump(export.records(nose, answers, raters=known), sys.stdout, indent=1)
            print()
    answered = any(answer is not None for answer in answers.answers)
    return 0 if answered or not answers.rows else NOTHING_ANSWERED


def nose_of(args: argparse.Namespace) -> Nose:
    if args.model is not None:
        from kcnet_core.model_file import load_model
        from kcnet_core.smell.model_nose import nose_of_file

        return nose_of_file(load_model(args.model), args.model.name)[0]
    from kcnet_core import datasets
    from kcnet_core.datasets.substructures import with_substructures
    from kcnet_core.smell.elsewhere import taught_nose

    return taught_nose(with_substructures(datasets.load(args.data)))


def lines_of(molecules: list[str], names: KnownNames) -> list[Line]:
    from kcnet_core.molecules.read import frame_lines
    from kcnet_core.molecules.text import split_lines
    from kcnet_core.smell.table import frame_of, molecule_and_name_columns

    text = "\n".join(molecules)
    if len(molecules) == 1 and (text == "-" or _is_file(text)):
        content = sys.stdin.buffer.read() if text == "-" else _read(Path(text))
        if Path(text).suffix.lower() in (".csv", ".tsv"):
            frame = frame_of(content)
            return frame_lines(frame, *molecule_and_name_columns(frame, names))
        text = content.decode("utf-8", errors="replace")
    return split_lines(text)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a path, or a zero byte
        return False


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_UPLOAD_BYTES:
            raise LimitError(
                f"{path.name} is larger than the limit of {MAX_UPLOAD_BYTES // MEGABYTE} MB."
            )
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {error.strerror}.") from error


def _print_table(nose: Nose, answers: Answers, top: int, known: Sequence[Rater]) -> None:
    from kcnet_core.smell.ratings import raters

    rated = iter(raters.rate_answers(known, answers.given))
    for row, answer in zip(answers.rows, answers.answers, strict=True):
        if answer is None:
            print(f"{row.number:>4}  {row.text[:60]}\n      {row.error}")
            if row.suggestion:
                print(f"      Perhaps: {row.suggestion}")
            continue
        print(f"{row.number:>4}  {answer.name}  {answer.molecule.formula}")
        order = sorted(range(len(nose.characters)), key=lambda k: -answer.probabilities[k])[:top]
        for k in order:
            spread = f"  {answer.low[k]:.2f}-{answer.high[k]:.2f}" if len(answer.each) > 1 else ""
            mark = "*" if answer.probabilities[k] >= nose.line(far=answer.far) else " "
            print(f"    {mark} {nose.characters[k]:<16} {answer.probabilities[k]:.2f}{spread}")
        if ratings := next(rated):
            print(f"      {raters.sentence(ratings)}")
        if answer.known is not None:
            true = ", ".join(nose.truth(answer.known)) or "none"
            print(f"      Known in {nose.names.title}: {true}. Answered as if never taught it.")
        for sentence in (answer.warning, answer.verdict and answer.verdict.sentence, row.note):
            if sentence:
                print(f"      {sentence}")
    far = nose.line(far=True)
    print(
        f"\nAnswered by {nose.title}, taught {nose.data_title}. * from {nose.line():.0%} on a "
        f"character is named ({far:.0%} where a ring system was never taught); ranges are over "
        "flies."
    )
    if known:
        print(
            f"Ratings from 0 to 100 as people gave them ({raters.DATA_TITLE}); in brackets where "
            f"{raters.COVERAGE:.0%} of such molecules are."
        )
    else:
        print(raters.GET_IT)


def _measure(args: argparse.Namespace) -> None:
    from kcnet_core.smell import recipes

    if args.dream:
        found = recipes.dream(_say)
    elif args.benchmark:
        found = recipes.benchmark(_say, args.benchmark)
    elif args.elsewhere:
        found = recipes.elsewhere(_say, args.data, args.elsewhere)
    else:
        found = recipes.quality(_say, args.data)
    print(found, end="")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)

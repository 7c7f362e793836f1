"""`reproduce`: measure a table or figure of the paper again and print it beside the paper's."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

from kcnet_core.commands import add_cluster
from kcnet_core.errors import KCNetError

SECONDS_BETWEEN_LINES = 30.0  # of progress, when nobody sits at a terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="NAME",
        help="table1, stop-rule, ...; 'all' makes them in order of importance; none lists them",
    )  # fmt: skip
    parser.add_argument(
        "--quick", action="store_true",
        help="a version of minutes: fewer repeats, and for images fewer rows and cells",
    )  # fmt: skip
    parser.add_argument(
        "--minutes", type=float, metavar="N",
        help="stop cleanly after so many minutes; the next run goes on from there",
    )  # fmt: skip
    parser.add_argument(
        "--known", action="store_true", help="measure nothing, only sum up what is known already"
    )
    parser.add_argument(
        "--results", type=Path, metavar="FOLDER",
        help="where the JSON goes (default: the folder 'reproduce' in the cache folder); rows of "
        "the results that are in it already are not measured again",
    )  # fmt: skip
    add_cluster(parser)


def main(args: argparse.Namespace) -> None:
    """Measure the named recipes one after the other; every finished row is kept at once."""
    from kcnet_core.paper.engine import default_journal, known_result, saved_steps
    from kcnet_core.paper.recipe import quickened
    from kcnet_core.paper.recipes import RECIPES, find_recipe
    from kcnet_core.paper.result_file import file_name, known_rows, own_results, save_result
    from kcnet_core.smell.recipes import NOSE_RECIPES

    if not args.names:
        _list()
        return
    if args.minutes is not None and not args.minutes > 0:
        raise KCNetError(f"--minutes must be above 0, not {args.minutes:g}.")
    names = dict.fromkeys([*RECIPES, *NOSE_RECIPES] if "all" in args.names else args.names)
    recipes = [find_recipe(name) for name in names if name not in NOSE_RECIPES]
    deadline = None if args.minutes is None else time.monotonic() + 60 * args.minutes
    journal, folder = default_journal(), args.results or own_results()
    if args.results:
        journal.learn(known_rows(args.results))
    for recipe in map(quickened, recipes) if args.quick else recipes:
        with _ended_by_a_signal() as ended:
            if args.known:
                result = known_result(recipe, journal)
                if result.finished:
                    save_result(result, folder)
            else:
                options = {"deadline": deadline, "measure": _measurer(args.cluster)}
                result = _measure(saved_steps(recipe, journal, folder, **options), recipe)
        if result.finished:
            show(recipe, result)
            print(f"\nWritten to {folder / file_name(result.recipe, result.quick)}\n", flush=True)
        else:
            _say_what_is_missing(result)
        if ended:
            raise KeyboardInterrupt
    for nose_recipe in (NOSE_RECIPES[name] for name in names if name in NOSE_RECIPES):
        if deadline is not None and time.monotonic() > deadline:
            print(f"No time was left for {nose_recipe.name}.", file=sys.stderr)
            continue
        _of_the_nose(nose_recipe, folder, args)


def _of_the_nose(recipe, folder: Path, args: argparse.Namespace) -> None:
    """Measure the nose, or show what is known of it; there is no quick version."""
    import pandas as pd

    if args.quick:
        print(f"{recipe.name} has no quick version; it takes {recipe.duration}.", file=sys.stderr)
    path = None
    if not args.known:
        text = recipe.measure(lambda line: print(line, file=sys.stderr, flush=True))
        path = recipe.save(folder, text)
    found = recipe.read() if path is None else recipe.read(path)
    if found is None:
        print(f"Nothing is known of {recipe.name} yet.")
        return
    print(f"Beyond the paper: {recipe.title}\n{found.how}")
    print(pd.DataFrame(recipe.table(found)).to_string(index=False, justify="left"))
    if path is not None:
        print(f"\nWritten to {path}\n", flush=True)


def _measurer(cluster: str | None):
    """What measures rows: workers of a cluster, or None for this process."""
    if cluster is None:
        return None
    from kcnet_core.cluster.rows import measured_at

    return measured_at(cluster)


@contextmanager
def _ended_by_a_signal():
    """Ctrl-C and a polite kill end the row in hand; what is known is still summed up."""
    ended: list[int] = []

    def note(number, _frame):
        ended.append(number)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _measure(steps, recipe):
    """The result; after a signal, of what was measured until then."""
    result, tell = None, _StatusLine(recipe.name)
    try:
        with closing(steps):
            for step in steps:
                result = step.result
                tell(step)
    except KeyboardInterrupt:
        if result is None:
            raise
        print("\nStopped; the next run goes on from here.", file=sys.stderr)
    tell.end()
    return result


class _StatusLine:
    """A line that rewrites itself on a terminal; elsewhere one line per row, but not too often."""

    def __init__(self, name: str):
        self.name, self.at, self.width = name, 0.0, 0
        self.terminal = sys.stderr.isatty()

    def __call__(self, step) -> None:
        now = time.monotonic()
        if now - self.at < (0.2 if self.terminal else SECONDS_BETWEEN_LINES):
            return
        self.at = now
        text = f"{self.name}: {step.done} of {step.total} rows · {step.stage}"
        end = "\r" if self.terminal else "\n"
        print(text.ljust(self.width), end=end, file=sys.stderr, flush=True)
        self.width = len(text)

    def end(self) -> None:
        if self.terminal and self.width:
            print(file=sys.stderr)


def show(recipe, result) -> None:
    """Print the table paper | ours | interval, and what was asked beside it."""
    from kcnet_core.paper.differences import answer

    kind = "quick version" if result.quick else "in full"
    print(f"{recipe.where}: {recipe.title} ({kind}, {recipe.metric})")
    if not result.complete:
        print(f"{result.finished} of {result.planned} rows; run it again to go on.")
    print(paper_and_ours(result).to_string(index=False, justify="left"))
    for difference in result.differences:
        print(f"{difference.question}\n  {answer(difference)}")
    _say_what_is_missing(result)


def paper_and_ours(result):
    """The printed table, one line per line of the recipe."""
    import pandas as pd

    from kcnet_core.paper.outcomes import sentence

    digits = 1 if result.outcomes[0].metric == "seconds" else 4

    def number(value):
        return "" if value is None else f"{value:.{digits}f}"

    width, lines = max(len(outcome.key) for outcome in result.outcomes), []
    for outcome in result.outcomes:
        known = outcome.low is not None
        lines.append(
            {
                "line": outcome.key.ljust(width),
                "paper": number(outcome.paper),
                "ours": number(outcome.mean),
                "interval": f"{number(outcome.low)} to {number(outcome.high)}" if known else "",
                "n": outcome.n,
                "tried": outcome.tried,
                **_stored_words(outcome, number),
                "": sentence(outcome) + _goal_words(outcome),
            }
        )
    longest = max(len(line[""]) for line in lines)
    table = pd.DataFrame([{**line, "": line[""].ljust(longest)} for line in lines])
    return table.fillna("")


def _stored_words(outcome, number) -> dict[str, str]:
    """Columns of a recipe that looks at bytes."""
    if outcome.stored_bytes_8bit is None:
        return {}
    kib = f"{outcome.stored_bytes_8bit / 1024:.1f}"
    return {"KiB": kib, "in 8 bits": number(outcome.accuracy_8bit)}


def _goal_words(outcome) -> str:
    if outcome.goal_met is None:
        return ""
    return "; goal met" if outcome.goal_met else f"; goal {outcome.goal[0]:g} missed"


def _say_what_is_missing(result) -> None:
    for dataset, reason in result.skipped.items():
        print(f"Left out {dataset}: {reason}")
    for line, reason in result.failed.items():
        print(f"Failed, {line}: {reason}")


def _list() -> None:
    from kcnet_core.experiments.cost import in_words
    from kcnet_core.paper.cost import recipe_cost
    from kcnet_core.paper.recipe import quickened
    from kcnet_core.paper.recipes import RECIPES
    from kcnet_core.paper.result_file import find_results
    from kcnet_core.smell.recipes import NOSE_RECIPES, WHERE

    print(f"{'name':24}{'quick':>8}{'in full':>9}  {'known':<12}what")
    for recipe in RECIPES.values():
        quick, full = (in_words(recipe_cost(r).seconds) for r in (quickened(recipe), recipe))
        best = next(iter(find_results(recipe.name)), None)
        known = "" if best is None else ("quick" if best.quick else f"{best.finished} rows")
        print(f"{recipe.name:24}{quick:>8}{full:>9}  {known:<12}{recipe.where}: {recipe.title}")
    for nose_recipe in NOSE_RECIPES.values():
        known = "" if nose_recipe.read() is None else "shipped"
        print(
            f"{nose_recipe.name:24}{'':>8}{nose_recipe.duration:>9}  {known:<12}"
            f"{WHERE}: {nose_recipe.title}"
        )
    print("\nTimes are rough estimates for this machine as busy as it is now.")

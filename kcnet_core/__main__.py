"""The command line, `kcnet COMMAND` or `python -m kcnet_core COMMAND`, as a table of commands."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path

from kcnet_core.errors import KCNetError

# name: (what --help says, the module with `add_arguments(parser)` and `main(args)`).
# A module is imported only when its command is called, so that --help is instant.
COMMANDS = {
    "train": ("train a network and measure it on held-out rows", "kcnet_core.commands.train"),
    "predict": ("apply a saved model to a table of rows", "kcnet_core.commands.predict"),
    "smell": ("odor characters of molecules, from SMILES or names", "kcnet_core.commands.smell"),
    "search": ("molecules that smell as wished", "kcnet_core.commands.search"),
    "data": ("list the datasets, or download one", "kcnet_core.commands.data"),
    "compare": ("train and measure models on the same splits", "kcnet_core.commands.compare"),
    "reproduce": ("measure the paper's tables and figures again", "kcnet_core.commands.reproduce"),
    "runs": ("what a server here has under way; end a run", "kcnet_core.commands.runs"),
    "doctor": ("what is here, and what is wrong, in sentences", "kcnet_core.commands.doctor"),
    "benchmark": (
        "measure fitting time and memory against their limits",
        "kcnet_core.commands.benchmark",
    ),
}

FAILED = 2
INTERRUPTED = 130  # 128 + SIGINT, what a shell expects


def parser_for(command: str | None) -> argparse.ArgumentParser:
    """The whole parser, with the arguments of `command` only."""
    parser = argparse.ArgumentParser(
        prog="kcnet" if Path(sys.argv[0]).stem == "kcnet" else "python -m kcnet_core",
        description="KCNet: a fruit fly's sense of smell as a neural network.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, (summary, module) in COMMANDS.items():
        chosen = commands.add_parser(name, help=summary, description=f"{summary.capitalize()}.")
        if name == command:
            home = import_module(module)
            home.add_arguments(chosen)
            chosen.set_defaults(main=home.main)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code of the process."""
    argv = sys.argv[1:] if argv is None else argv
    try:
        args = parser_for(next((a for a in argv if not a.startswith("-")), None)).parse_args(argv)
        return args.main(args) or 0
    except KCNetError as error:
        print(f"kcnet: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("kcnet: interrupted.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader (`| head`) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main())

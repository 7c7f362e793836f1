"""The commands of the command line, one module each, and what several of them ask."""

import argparse


def add_cluster(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cluster", metavar="ADDRESS",
        help="measure rows on a Dask cluster: the scheduler's address, like tcp://10.0.0.5:8786, "
        "or `local` for one worker on each core of this machine",
    )  # fmt: skip

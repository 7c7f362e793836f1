"""Cells wired as in a real fly, and its two controls: shuffled, and random with its fan-ins.

The three plans begin with the same draw of cells, so that with one seed they differ in nothing but
who hears whom. Shuffling keeps both degrees exactly: how many inputs each cell has, and how many
cells each input. It trades inputs between pairs of cells, each taking at random from what only one
of the two had ("curveball", Strona and others 2014, doi 10.1038/ncomms5114).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kcnet_core.errors import DataError, KCNetError

# Of 1,750 cells, 0.61 of the connections stand where they were after one trade a cell, 0.154 after
# ten and 0.148 after twenty.
TRADES_PER_CELL = 20
MOST_COUNTED = 255  # synapses of a connection, because W is kept in bytes; the hemibrain has 65
NEVER = 2.0  # a key above all that are drawn


def is_connectome(value) -> bool:
    """Whether `value` may be given as a `connectome`."""
    if value is None:
        return True
    return isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "iu"


def hemibrain(n_hidden: int, site, rng: np.random.Generator, rewired: Callable | None = None):
    """The wiring of `n_hidden` real cells; `rewired` is a control that changes who hears whom."""
    from kcnet_core.network.wiring.matrix import Wiring

    synapses = _cells(n_hidden, site, rng)
    if rewired is not None:
        heard = rewired(synapses > 0, rng)
        synapses = _counts_moved(synapses, heard, rng) if site.synapse_counts else heard
    return Wiring.from_matrix(synapses, counted=site.synapse_counts)


def _cells(n_hidden: int, site, rng: np.random.Generator) -> np.ndarray:
    """Synapses (B, d) of the cells that are used, 0 below the threshold."""
    synapses = site.connectome
    if synapses is None:
        raise KCNetError(
            "This wiring is a real fly's and needs its table: give connectome=synapses_for(names) "
            "of kcnet_core.datasets.fly.connectome, with the glomerulus that each input is."
        )
    if synapses.shape[1] != site.n_inputs:
        raise DataError(
            f"The connectome has {synapses.shape[1]} glomeruli, but the data has {site.n_inputs} "
            "inputs: each input must be one of them."
        )
    if site.synapse_counts and synapses.max() > MOST_COUNTED:
        raise DataError(
            f"A connection of the connectome has {synapses.max():,} synapses, and at most "
            f"{MOST_COUNTED} can count: leave synapse_counts off, or lower them."
        )
    synapses = np.where(synapses >= site.min_synapses, synapses, 0)
    synapses = synapses[synapses.any(axis=1)]
    if n_hidden > len(synapses):
        raise KCNetError(
            f"The fly has {len(synapses):,} Kenyon cells that hear one of these {site.n_inputs} "
            f"glomeruli through at least {site.min_synapses} synapses, and {n_hidden:,} were asked "
            f"for: choose at most {len(synapses):,}."
        )
    return synapses[np.sort(rng.permutation(len(synapses))[:n_hidden])]


def shuffled(heard: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Another wiring (B, d) in which every cell and every input has as many partners as before."""
    W = heard.copy()
    half = len(W) // 2
    for _ in range(TRADES_PER_CELL):
        order = rng.permutation(len(W))
        one, other = order[:half], order[half : 2 * half]  # who trades with whom
        first, second = W[one], W[other]
        both, only = first & second, first ^ second
        taken = _drawn(only, (first & ~second).sum(axis=1), rng)
        W[one], W[other] = both | taken, both | (only & ~taken)
    return W


def random_like(heard: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A wiring (B, d) in which every cell draws as many inputs as before, from anywhere."""
    return _drawn(np.ones_like(heard), heard.sum(axis=1), rng)


def _drawn(choices: np.ndarray, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """So many of each row's choices (B, d), drawn by lot."""
    keys = np.where(choices, rng.random(choices.shape), NEVER)
    return keys.argsort(axis=1).argsort(axis=1) < counts[:, None]


def _counts_moved(synapses, heard, rng) -> np.ndarray:
    """Every cell's counts of synapses, dealt out to the inputs that it hears now."""
    moved = np.zeros_like(synapses)
    for old, new, row in zip(synapses, heard, moved, strict=True):
        row[new] = rng.permutation(old[old > 0])
    return moved

"""What the circuit drawing shows at each step: plain numbers that a page hands to the browser."""

from __future__ import annotations

import numpy as np

from kcnet_core.lessons.circuit import ForwardPass

MOST_ANSWERS = 10  # rows in the list of answers; with more, the most probable ones are shown
OTHER_CELLS = 14  # cells whose wires are drawn faintly around the chosen one
VOTE_WIRES = 45  # cells whose votes for the leading answer are drawn
RIVAL_WIRES = 20  # and for the runner-up
FILM_STEPS = ("input", "sum", "inhibition", "answer")


def circuit_picture(
    forward: ForwardPass,
    step: str,
    cell: int,
    *,
    input_names,
    answer_names,
    colours,
    image_shape=None,
    short_names=None,
    cell_kinds=None,
    unknown=None,
) -> dict:
    """The drawing of one sample at one step, as numbers and text that are ready for JSON.

    `cell` is the chosen one, from 0; `colours` are "hot" (active), "cold" (below zero) and "rest".
    Where inputs are few, `short_names` are written on them, and `unknown` (d,) says which nobody
    measured. `cell_kinds` are (name, colour) of every cell.
    """
    shown = shown_answers(forward)
    best = leading_answers(forward)
    numbers = _cell_numbers(forward, step)
    # How strongly a cell is coloured: from -1 (inhibited) to 1 (the strongest).
    largest = np.abs(numbers).max() * (step not in ("input", "wiring"))
    values = numbers / largest if largest > 0 else np.zeros(len(numbers))
    d, B = len(forward.rates), len(forward.sums)
    return {
        "step": step,
        "label": _label(forward, step, answer_names),
        "colours": colours,
        "titles": {
            "inputs": ["Glomeruli", f"{d:,} inputs"],
            "cells": ["Kenyon cells", _cells_subtitle(forward, step)],
            "answers": ["Answer", "probability"],
        },
        "inputs": {
            "values": np.rint(100 * forward.rates).astype(int).tolist(),
            "shape": None if image_shape is None else list(image_shape),
            "names": None if image_shape is not None else list(input_names),
            "short": None if short_names is None else list(short_names),
            "unknown": [] if unknown is None else np.flatnonzero(unknown).tolist(),
        },
        "cells": {
            "values": np.rint(100 * values).astype(int).tolist(),
            "numbers": [
                f"{number:.2f}" if cell_kinds is None else f"{number:.2f} ({cell_kinds[j][0]})"
                for j, number in enumerate(numbers)
            ],
            "kinds": None if cell_kinds is None else [colour for _, colour in cell_kinds],
        },
        "chosen": {"cell": int(cell), "inputs": forward.inputs_of(cell).tolist()},
        "others": [
            {"cell": int(j), "inputs": forward.inputs_of(j).tolist()}
            for j in np.linspace(0, B - 1, min(B, OTHER_CELLS)).astype(int)
        ],
        "answers": [
            {
                "name": str(answer_names[k]),
                "probability": round(100 * float(forward.probabilities[k])),
                "winner": bool(k in best),
            }
            for k in shown
        ],
        "votes": _vote_wires(forward, shown),
    }


def circuit_film(
    forwards, names, *, input_names, answer_names, colours, image_shape=None
) -> list[dict]:
    """Several samples of these names on their way through one fly, as the frames of a film.

    A frame holds only what is new in it. The wires are those of the cell that fires most.
    """
    frames: list[dict] = []
    before: dict = {}
    for forward, name in zip(forwards, names, strict=True):
        for step in FILM_STEPS:
            picture = circuit_picture(
                forward,
                step,
                int(np.argmax(forward.activity)),
                input_names=input_names,
                answer_names=answer_names,
                colours=colours,
                image_shape=image_shape,
            )
            picture["titles"]["inputs"][1] = f"sense {name}"
            frames.append({part: now for part, now in picture.items() if before.get(part) != now})
            before = picture
    return frames


def shown_answers(forward: ForwardPass) -> np.ndarray:
    """The answers in the list: all of a few, or the most probable of many, best first."""
    c = len(forward.probabilities)
    if c <= MOST_ANSWERS:
        return np.arange(c)
    return np.argsort(-forward.probabilities, kind="stable")[:MOST_ANSWERS]


def leading_answers(forward: ForwardPass) -> np.ndarray:
    """The answer, or with several independent ones all that are more likely than not."""
    p = forward.probabilities
    if np.isclose(p.sum(), 1):
        return np.array([int(np.argmax(p))])
    likely = np.flatnonzero(p > 0.5)
    return likely[np.argsort(-p[likely])] if len(likely) else np.array([int(np.argmax(p))])


def _cell_numbers(forward, step):
    if step in ("input", "wiring", "sum"):
        return forward.sums
    return forward.inhibited if step == "inhibition" else forward.activity


def _vote_wires(forward, shown):
    ranked = np.argsort(-forward.probabilities[shown], kind="stable")
    wires = []
    for row, count in zip(ranked.tolist(), (VOTE_WIRES, RIVAL_WIRES), strict=False):
        votes = forward.votes[:, min(int(shown[row]), forward.votes.shape[1] - 1)]
        loudest = np.abs(votes).max() or 1
        for j in np.argsort(-np.abs(votes))[:count]:
            weight = round(100 * votes[j] / loudest)
            if weight:
                wires.append([int(j), row, weight])
    return wires


def _cells_subtitle(forward, step):
    B = len(forward.sums)
    if step in ("input", "wiring", "sum"):
        return f"{B:,} cells"
    if step == "inhibition":
        return f"{np.count_nonzero(forward.inhibited > 0):,} of {B:,} above zero"
    return f"{forward.n_active:,} of {B:,} active"


def _inputs_per_cell(forward) -> str:
    counts = forward.wiring.sum(axis=1)
    low, high = counts.min(), counts.max()
    return f"{low}" if low == high else f"{low} to {high}"


def _label(forward, step, answer_names):
    """The drawing in words, for those who cannot see it."""
    B, d = len(forward.sums), len(forward.rates)
    above = np.count_nonzero(forward.inhibited > 0)
    best = ", ".join(str(answer_names[k]) for k in leading_answers(forward))
    return {
        "input": f"{np.count_nonzero(forward.rates > 0.05)} of {d} glomeruli fire.",
        "wiring": f"{B} Kenyon cells, each wired to {_inputs_per_cell(forward)} of {d} glomeruli.",
        "sum": f"{B} Kenyon cells, coloured by their sums, {forward.mean:.2f} on average.",
        "inhibition": f"{above} of {B} Kenyon cells stay above zero.",
        "relu": f"{forward.n_active} of {B} Kenyon cells are active; the rest are silent.",
        "votes": f"{forward.n_active} active Kenyon cells vote; {best} leads.",
        "answer": f"The answer is {best}.",
    }[step]

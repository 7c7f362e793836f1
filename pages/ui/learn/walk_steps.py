"""The seven steps of the walk: what each one says, shows and computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kcnet_core.figures import circuit as figures
from kcnet_core.lessons.circuit import ForwardPass
from kcnet_core.lessons.circuit_drawing import leading_answers
from pages.ui.learn.bench import Bench
from pages.ui.shell.escaping import escape_markdown

MOST_TERMS = 7  # of a sum that are written out
TERMS_PER_LINE = 4
LABELS = {
    "input": "Input",
    "wiring": "Wiring",
    "sum": "Sum",
    "inhibition": "Inhibition",
    "relu": "ReLU",
    "votes": "Votes",
    "answer": "Answer",
}


@dataclass(frozen=True)
class Step:
    """One stop of the walk. The functions take (bench, forward, cell)."""

    name: str
    title: str
    text: str
    look: str
    attempt: str
    equation: Callable
    figure: Callable
    numbers: Callable


def words(bench: Bench, forward: ForwardPass, cell: int) -> dict:
    """What the texts of the steps may speak of."""
    best = leading_answers(forward)
    return {
        "sample": escape_markdown(bench.sample.title),
        "d": f"{len(forward.rates):,}",
        "B": f"{len(forward.sums):,}",
        "cell": cell + 1,
        "fan_in": len(forward.inputs_of(cell)),
        "active": f"{100 * forward.active_share:.0f}%",
        "best": ", ".join(escape_markdown(bench.answer_names[k]) for k in best),
        "thing": "odor" if bench.image_shape is None else "image",
        "what": "how the molecule ranks in one chemical property"
        if bench.image_shape is None
        else "the brightness of one pixel",
    }


def _terms(forward, cell):
    """The rates that a cell adds up, in lines short enough for a phone."""
    rates = forward.rates[forward.inputs_of(cell)]
    terms = [f"{rate:.2f}" for rate in rates[:MOST_TERMS]]
    if len(rates) > MOST_TERMS:
        terms.append(r"\dots")
    lines = [terms[i : i + TERMS_PER_LINE] for i in range(0, len(terms), TERMS_PER_LINE)]
    return r" \\ &\quad + ".join(" + ".join(line) for line in lines)


def _aligned(*lines):
    return r"\begin{aligned}" + r" \\ ".join(lines) + r"\end{aligned}"


def _input_equation(bench, forward, cell):
    x = forward.rates
    return _aligned(
        rf"\mathbf{{x}} &= (x_1, x_2, \dots, x_{{{len(x)}}})",
        rf"&= ({x[0]:.2f},\ {x[1]:.2f},\ \dots,\ {x[-1]:.2f})",
        r"0 &\le x_i \le 1",
    )


def _wiring_equation(bench, forward, cell):
    inputs = forward.inputs_of(cell) + 1
    listed = ",\\,".join(str(i) for i in inputs[:MOST_TERMS])
    more = r",\,\dots" if len(inputs) > MOST_TERMS else ""
    return _aligned(
        r"w_{ji} &= \begin{cases} 1 & \text{cell } j \text{ hears input } i\\"
        r" 0 & \text{otherwise}\end{cases}",
        rf"\mathcal{{I}}_{{{cell + 1}}} &= \{{{listed}{more}\}}",
    )


def _sum_equation(bench, forward, cell):
    return _aligned(
        rf"\bar{{x}}_{{{cell + 1}}} &= \sum_{{i \in \mathcal{{I}}_{{{cell + 1}}}}} x_i",
        rf"&= {_terms(forward, cell)}",
        rf"&= {forward.sums[cell]:.2f}",
    )


def _inhibition_equation(bench, forward, cell):
    j = cell + 1
    return _aligned(
        rf"\mu &= \frac{{1}}{{{len(forward.sums)}}} \sum_j \bar{{x}}_j = {forward.mean:.2f}",
        rf"\hat{{x}}_{{{j}}} &= \bar{{x}}_{{{j}}} - C \mu",
        rf"&= {forward.sums[cell]:.2f} - {forward.inhibition:.2f} \times {forward.mean:.2f}"
        rf" = {forward.inhibited[cell]:.2f}",
    )


def _relu_equation(bench, forward, cell):
    j = cell + 1
    return _aligned(
        rf"h_{{{j}}} &= \max(0,\ \hat{{x}}_{{{j}}})",
        rf"&= \max(0,\ {forward.inhibited[cell]:.2f}) = {forward.activity[cell]:.2f}",
    )


def _vote_totals(forward):
    k = min(int(leading_answers(forward)[0]), forward.votes.shape[1] - 1)
    votes = forward.votes[:, k]
    return votes[votes > 0].sum(), votes[votes < 0].sum(), votes


def _votes_equation(bench, forward, cell):
    name = _tex(bench.answer_names[leading_answers(forward)[0]])
    in_favour, against, votes = _vote_totals(forward)
    return _aligned(
        rf"f_{{\text{{{name}}}}} &= \sum_j h_j\, \beta_{{j,\text{{{name}}}}}",
        rf"&= {in_favour:.2f} - {-against:.2f} = {votes.sum():.2f}",
    )


def _answer_equation(bench, forward, cell):
    k = leading_answers(forward)[0]
    name = _tex(bench.answer_names[k])
    p = forward.probabilities[k]
    if bench.glomeruli.dataset.multilabel:
        return rf"P(\text{{{name}}} \mid \mathbf{{x}}) = {p:.2f}"
    return _aligned(
        r"\hat{y} &= \operatorname*{arg\,max}_k f_k(\mathbf{x})",
        rf"&= \text{{{name}}},\quad P = {p:.2f}",
    )


def _tex(text):
    return "".join(c if c.isalnum() or c in " -" else " " for c in text)


def percent(probability: float) -> str:
    """A probability in words: nothing is ever quite sure, nor quite impossible."""
    if probability > 0.995:
        return "over 99%"
    return "under 1%" if probability < 0.005 else f"{probability:.0%}"


def truth_sentence(bench: Bench, forward: ForwardPass) -> str:
    """The answer in a sentence, beside what the dataset says."""
    best = leading_answers(forward)
    answer = ", ".join(
        f"{bench.answer_names[k]} ({percent(forward.probabilities[k])})" for k in best
    )
    if not bench.sample.truth:
        return f"The fly says: {answer}."
    truth = ", ".join(bench.sample.truth)
    seen = " (and was among the examples it was taught with)" if bench.sample.taught else ""
    return f"The fly says: {answer}. The dataset says: {truth}{seen}."


def input_contributions(bench: Bench, forward: ForwardPass) -> np.ndarray:
    """Exact share (d,) of every input in the score of the leading answer."""
    from kcnet_core.network.explain import contributions

    k = min(int(leading_answers(forward)[0]), forward.votes.shape[1] - 1)
    return contributions(bench.fly, forward.rates[None])[0][:, k]


def _contribution_figure(bench, forward, cell, dark):
    shares = input_contributions(bench, forward)
    if bench.image_shape is not None:
        return figures.pixel_map_figure(shares, bench.image_shape, dark)
    return figures.input_shares_figure(shares, bench.glomeruli.names, bench.input_meanings, dark)


def _input_numbers(bench, forward, cell):
    loud = np.count_nonzero(forward.rates > 0.5)
    return f"{loud:,} of {len(forward.rates):,} glomeruli fire above 0.5."


def _wiring_numbers(bench, forward, cell):
    total = int(forward.wiring.sum())
    return (
        f"{total:,} connections of {forward.wiring.size:,} possible "
        f"({100 * total / forward.wiring.size:.1f}%)."
    )


def _inhibition_numbers(bench, forward, cell):
    above = np.count_nonzero(forward.inhibited > 0)
    return (
        f"{above:,} of {len(forward.sums):,} cells stay above zero "
        f"with C = {forward.inhibition:.2f}."
    )


def _relu_numbers(bench, forward, cell):
    return (
        f"{forward.n_active:,} of {len(forward.sums):,} cells are active "
        f"({forward.active_share:.0%})."
    )


def _votes_numbers(bench, forward, cell):
    in_favour, against, _ = _vote_totals(forward)
    name = bench.answer_names[leading_answers(forward)[0]]
    return f"Votes on {name}: {in_favour:.2f} for, {-against:.2f} against."


STEPS = (
    Step(
        "input",
        "Something arrives",
        "The fly meets {sample}. Each of its {d} glomeruli fires at a rate between 0 and 1: "
        "{what}. These numbers are all that its brain will ever know of it.",
        "Which glomeruli are loud and which are silent.",
        "Put another {thing} on the table and watch the pattern change.",
        _input_equation,
        lambda bench, forward, cell, dark: figures.rates_figure(
            forward, bench.input_meanings, dark
        ),
        _input_numbers,
    ),
    Step(
        "wiring",
        "Every Kenyon cell hears a few glomeruli",
        "Nobody planned who listens to whom. Each of the {B} Kenyon cells draws {fan_in} inputs at "
        "random, and keeps them for life: a connection is there (1) or not (0).",
        "The bright wires belong to cell {cell}, the faint ones to some of its neighbours.",
        "Click another cell, or reshuffle the wiring: the same {thing}, another fly.",
        _wiring_equation,
        lambda bench, forward, cell, dark: figures.cell_inputs_figure(
            forward, cell, bench.glomeruli.names, bench.input_meanings, dark
        ),
        _wiring_numbers,
    ),
    Step(
        "sum",
        "A cell adds up what it hears",
        "Cell {cell} adds the rates of its {fan_in} inputs. Every cell does this at once, so one "
        "{thing} becomes {B} sums.",
        "Where cell {cell} stands among all cells, and where their mean μ is.",
        "Move the number of inputs per cell: the sums grow, and so does their mean.",
        _sum_equation,
        lambda bench, forward, cell, dark: figures.sums_figure(forward, cell, dark),
        lambda bench, forward, cell: (
            f"Cell {cell + 1} receives {forward.sums[cell]:.2f}; "
            f"the mean over all cells is {forward.mean:.2f}."
        ),
    ),
    Step(
        "inhibition",
        "All cells are inhibited alike",
        "One big neuron listens to all Kenyon cells and holds every one of them back by the same "
        "amount: C times their mean.",
        "Purple cells have fallen below zero. The heap keeps its shape, only its place changes.",
        "Move C from 0 to 2, and follow the arrow.",
        _inhibition_equation,
        lambda bench, forward, cell, dark: figures.inhibited_figure(forward, cell, dark),
        _inhibition_numbers,
    ),
    Step(
        "relu",
        "Below zero means silent",
        "A neuron cannot fire less than not at all: below zero becomes zero (the ReLU), and "
        "only {active} of the cells are left. The loudest twentieth is this {thing}'s tag.",
        "The long flat tail: those cells say nothing about {sample}.",
        "Raise C until only a tenth of the cells is active.",
        _relu_equation,
        lambda bench, forward, cell, dark: figures.activity_figure(forward, dark),
        _relu_numbers,
    ),
    Step(
        "votes",
        "The active cells vote",
        "Only these weights, β, are learned, in one step from examples (ridge regression). Each "
        "active cell pulls every answer up or down, by its activity times its weight.",
        "For every answer, how many votes speak for it and against it, and what is left.",
        "Go down to 50 cells: few voters, shaky results. Then up to 2,000.",
        _votes_equation,
        lambda bench, forward, cell, dark: figures.votes_figure(forward, bench.answer_names, dark),
        _votes_numbers,
    ),
    Step(
        "answer",
        "The answer: {best}",
        "Scores become probabilities. Because the circuit is so simple, the answer can be taken "
        "apart exactly: the map shows how much every input spoke for it, and the shares add up to "
        "the score.",
        "Orange inputs spoke for “{best}”, purple ones against it.",
        "Reshuffle the wiring a few times. Does the answer change?",
        _answer_equation,
        _contribution_figure,
        lambda bench, forward, cell: truth_sentence(bench, forward),
    ),
)

"""The seven steps of the walk: what each one says, shows and computes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from kcnet_core.datasets.catalogue import is_glomerular
from kcnet_core.figures import circuit as figures
from kcnet_core.figures import image_grid
from kcnet_core.lessons.circuit import ForwardPass
from kcnet_core.lessons.circuit_drawing import leading_answers
from pages.ui.learn.bench import Bench
from pages.ui.shell.escaping import escape_markdown

MOST_TERMS = 7  # of a sum that are written out
TERMS_PER_LINE = 4


@dataclass(frozen=True)
class WalkStep:
    """One stop of the walk; its texts are filled in with `words`."""

    title: str
    text: str
    look: str
    attempt: str
    numbers: str


def words(bench: Bench, forward: ForwardPass, cell: int) -> dict:
    """What the texts of the steps may speak of."""
    best = leading_answers(forward)
    votes = _leading_votes(forward)
    connections, possible = np.count_nonzero(forward.wiring), forward.wiring.size
    return {
        "sample": escape_markdown(bench.sample.title),
        "d": f"{len(forward.rates):,}",
        "B": f"{len(forward.sums):,}",
        "cell": cell + 1,
        "fan_in": len(forward.inputs_of(cell)),
        "origin": _origin(bench, forward, cell),
        "active": f"{forward.active_share:.0%}",
        "best": ", ".join(escape_markdown(bench.answer_names[k]) for k in best),
        "thing": "odor" if bench.image_shape is None else "image",
        "what": _what(bench),
        "loud": f"{np.count_nonzero(forward.rates > 0.5):,}",
        "wired": f"{connections:,} connections of {possible:,} possible "
        f"({100 * connections / possible:.1f}%)",
        "received": f"{forward.sums[cell]:.2f}",
        "mean": f"{forward.mean:.2f}",
        "above": f"{np.count_nonzero(forward.inhibited > 0):,}",
        "C": f"{forward.inhibition:.2f}",
        "n_active": f"{forward.n_active:,}",
        "first": bench.answer_names[best[0]],
        "in_favour": f"{votes[votes > 0].sum():.2f}",
        "against": f"{-votes[votes < 0].sum():.2f}",
        "verdict": _verdict(bench, forward),
    }


def _what(bench: Bench) -> str:
    if bench.image_shape is not None:
        return "the brightness of one pixel"
    if bench.sample.guessed:
        return "how strongly a real fly's glomerulus of that name might answer, which is a guess"
    if bench.sample.measured is not None:
        return (
            "how strongly a real fly's glomerulus of that name answered, where measured (DoOR; "
            "pale bars never were)"
        )
    return "how the molecule ranks in one chemical property"


ORIGINS = {
    "random": "Nobody planned who listens to whom. Each of the {B:,} Kenyon cells draws {fan_in} "
    "inputs at random, and keeps them for life",
    "local": "Nobody planned who listens to whom. Each of the {B:,} Kenyon cells draws {fan_in} "
    "inputs at random, inside a rectangle of its own, and keeps them for life",
    "hemibrain": "This is who listens to whom in one real fly, whose brain was cut, photographed "
    "and traced: {B:,} Kenyon cells, those with one of these glomeruli among theirs, hear "
    "{mean:.1f} of them each on average, {least} to {most}. Cell {cell} is of "
    "the lobe {lobe} and hears {fan_in}",
    "hemibrain-shuffled": "The real fly's connections, shuffled: each of the {B:,} Kenyon cells "
    "still hears as many glomeruli, and each glomerulus is still heard by as many cells, but by "
    "which is drawn by lot. Cell {cell} hears {fan_in}",
    "hemibrain-random": "Each of the {B:,} Kenyon cells hears as many glomeruli as in the real fly "
    "({mean:.1f} on average), and which ones is drawn by lot. Cell {cell} hears {fan_in}",
}


def _origin(bench: Bench, forward: ForwardPass, cell: int) -> str:
    """Where the wiring comes from, in a sentence without its end."""
    counts, lobes = forward.wiring.sum(axis=1), bench.lobes
    return ORIGINS[bench.settings.plan].format(
        B=len(counts), cell=cell + 1, fan_in=counts[cell], mean=counts.mean(),
        least=counts.min(), most=counts.max(), lobe=lobes[cell] if lobes else "",
    )  # fmt: skip


def _leading_votes(forward: ForwardPass) -> np.ndarray:
    return forward.votes[:, _leading_column(forward)]


def _leading_column(forward: ForwardPass) -> int:
    """The leading answer's; of two answers, both share one."""
    return min(int(leading_answers(forward)[0]), forward.votes.shape[1] - 1)


def _terms(forward: ForwardPass, cell: int) -> str:
    """The rates that a cell adds up, in lines short enough for a phone."""
    rates = forward.rates[forward.inputs_of(cell)]
    terms = [f"{rate:.2f}" for rate in rates[:MOST_TERMS]]
    if len(rates) > MOST_TERMS:
        terms.append(r"\dots")
    lines = [terms[i : i + TERMS_PER_LINE] for i in range(0, len(terms), TERMS_PER_LINE)]
    return r" \\ &\quad + ".join(" + ".join(line) for line in lines)


def _input_symbol(bench: Bench, i: int) -> str:
    """An input in an equation: a real glomerulus by its name, another by its number."""
    if is_glomerular(bench.data):
        return rf"\text{{{bench.glomeruli.names[i]}}}"
    return str(i + 1)


def equation(step: str, bench: Bench, forward: ForwardPass, cell: int) -> str:
    """The equation of a step, with the numbers of this sample and cell."""
    j, x, mean = cell + 1, forward.rates, f"{forward.mean:.2f}"
    received, inhibited = f"{forward.sums[cell]:.2f}", f"{forward.inhibited[cell]:.2f}"
    inputs = forward.inputs_of(cell)
    listed = ",\\,".join(_input_symbol(bench, i) for i in inputs[:MOST_TERMS])
    more = r",\,\dots" if len(inputs) > MOST_TERMS else ""
    k, votes = leading_answers(forward)[0], _leading_votes(forward)
    name = "".join(c if c.isalnum() or c in " -" else " " for c in bench.answer_names[k])
    lines = {
        "input": (
            rf"\mathbf{{x}} &= (x_1, x_2, \dots, x_{{{len(x)}}})",
            rf"&= ({x[0]:.2f},\ {x[1]:.2f},\ \dots,\ {x[-1]:.2f})",
            r"0 &\le x_i \le 1",
        ),
        "wiring": (
            r"w_{ji} &= \begin{cases} 1 & \text{cell } j \text{ hears input } i\\"
            r" 0 & \text{otherwise}\end{cases}",
            rf"\mathcal{{I}}_{{{j}}} &= \{{{listed}{more}\}}",
        ),
        "sum": (
            rf"\bar{{x}}_{{{j}}} &= \sum_{{i \in \mathcal{{I}}_{{{j}}}}} x_i",
            rf"&= {_terms(forward, cell)}",
            rf"&= {received}",
        ),
        "inhibition": (
            rf"\mu &= \frac{{1}}{{{len(forward.sums)}}} \sum_j \bar{{x}}_j = {mean}",
            rf"\hat{{x}}_{{{j}}} &= \bar{{x}}_{{{j}}} - C \mu",
            rf"&= {received} - {forward.inhibition:.2f} \times {mean} = {inhibited}",
        ),
        "relu": (
            rf"h_{{{j}}} &= \max(0,\ \hat{{x}}_{{{j}}})",
            rf"&= \max(0,\ {inhibited}) = {forward.activity[cell]:.2f}",
        ),
        "votes": (
            rf"f_{{\text{{{name}}}}} &= \sum_j h_j\, \beta_{{j,\text{{{name}}}}}",
            rf"&= {votes[votes > 0].sum():.2f} - {-votes[votes < 0].sum():.2f} = {votes.sum():.2f}",
        ),
        "answer": (
            r"\hat{y} &= \operatorname*{arg\,max}_k f_k(\mathbf{x})",
            rf"&= \text{{{name}}},\quad P = {forward.probabilities[k]:.2f}",
        ),
    }[step]
    if step == "answer" and bench.glomeruli.dataset.multilabel:
        return rf"P(\text{{{name}}} \mid \mathbf{{x}}) = {forward.probabilities[k]:.2f}"
    return r"\begin{aligned}" + r" \\ ".join(lines) + r"\end{aligned}"


def _inputs_figure(bench: Bench, forward: ForwardPass, cell: int, dark: bool) -> go.Figure:
    """What a cell listens to; where it has a field, the image with that field beside its inputs."""
    boxes = getattr(bench.fly, "fields_", None)
    if boxes is None or bench.image_shape is None:
        names, meanings = bench.glomeruli.names, bench.input_meanings
        return figures.cell_inputs_figure(forward, cell, names, meanings, dark)
    heard = np.where(forward.wiring[cell], forward.rates, 0)
    return image_grid(
        [forward.rates, forward.wiring[cell], heard], bench.image_shape,
        ["the image", "its inputs", "what it hears"], boxes=np.repeat(boxes[[cell]], 3, axis=0),
        title=f"The field of cell {cell + 1}", dark=dark,
    )  # fmt: skip


def figure(step: str, bench: Bench, forward: ForwardPass, cell: int, dark: bool) -> go.Figure:
    """The figure beside a step's text."""
    meanings = bench.input_meanings
    return {
        "input": lambda: figures.rates_figure(
            forward,
            meanings,
            dark,
            bench.glomeruli.names if bench.lobes else None,
            bench.sample.measured,
        ),
        "wiring": lambda: _inputs_figure(bench, forward, cell, dark),
        "sum": lambda: figures.sums_figure(forward, cell, dark),
        "inhibition": lambda: figures.inhibited_figure(forward, cell, dark),
        "relu": lambda: figures.activity_figure(forward, dark),
        "votes": lambda: figures.votes_figure(forward, bench.answer_names, dark),
        "answer": lambda: _contribution_figure(bench, forward, dark),
    }[step]()


def percent(probability: float) -> str:
    """A probability in words: nothing is ever quite sure, nor quite impossible."""
    if probability > 0.995:
        return "over 99%"
    return "under 1%" if probability < 0.005 else f"{probability:.0%}"


def _verdict(bench: Bench, forward: ForwardPass) -> str:
    """The answer in a sentence, beside what the dataset says."""
    answer = ", ".join(
        f"{bench.answer_names[k]} ({percent(forward.probabilities[k])})"
        for k in leading_answers(forward)
    )
    if not bench.sample.truth:
        return f"The fly says: {answer}."
    truth = ", ".join(bench.sample.truth)
    seen = " (and was among the examples it was taught with)" if bench.sample.taught else ""
    return f"The fly says: {answer}. The dataset says: {truth}{seen}."


def input_contributions(bench: Bench, forward: ForwardPass) -> np.ndarray:
    """Exact share (d,) of every input in the score of the leading answer."""
    from kcnet_core.network.explain import contributions

    return contributions(bench.fly, forward.rates[None])[0][:, _leading_column(forward)]


def _contribution_figure(bench: Bench, forward: ForwardPass, dark: bool) -> go.Figure:
    shares = input_contributions(bench, forward)
    if bench.image_shape is not None:
        return figures.pixel_map_figure(shares, bench.image_shape, dark)
    return figures.input_shares_figure(shares, bench.glomeruli.names, bench.input_meanings, dark)


# Where a real fly's cells and inputs are what they are.
REAL_ATTEMPTS = {
    "wiring": "Click another cell, then switch the plan: the same {thing}, the same cells, other "
    "glomeruli.",
    "sum": "Switch between real, shuffled and random: the mean hardly moves, the loudest cells do.",
    "votes": "Switch between real, shuffled and random: other cells speak, for the same answer?",
    "answer": "Switch between real, shuffled and random. Does the answer change?",
}
STEPS = {
    "input": WalkStep(
        "Something arrives",
        "The fly meets {sample}. Each of its {d} glomeruli fires at a rate between 0 and 1: "
        "{what}. These numbers are all that its brain will ever know of it.",
        "Which glomeruli are loud and which are silent.",
        "Put another {thing} on the table and watch the pattern change.",
        "{loud} of {d} glomeruli fire above 0.5.",
    ),
    "wiring": WalkStep(
        "Every Kenyon cell hears a few glomeruli",
        "{origin}: a connection is there (1) or not (0).",
        "The bright wires belong to cell {cell}, the faint ones to some of its neighbours.",
        "Click another cell, or reshuffle the wiring: the same {thing}, another fly.",
        "{wired}.",
    ),
    "sum": WalkStep(
        "A cell adds up what it hears",
        "Cell {cell} adds the rates of its {fan_in} inputs. Every cell does this at once, so one "
        "{thing} becomes {B} sums.",
        "Where cell {cell} stands among all cells, and where their mean μ is.",
        "Move the number of inputs per cell: the sums grow, and so does their mean.",
        "Cell {cell} receives {received}; the mean over all cells is {mean}.",
    ),
    "inhibition": WalkStep(
        "All cells are inhibited alike",
        "One big neuron listens to all Kenyon cells and holds every one of them back by the same "
        "amount: C times their mean.",
        "Purple cells have fallen below zero. The heap keeps its shape, only its place changes.",
        "Move C from 0 to 2, and follow the arrow.",
        "{above} of {B} cells stay above zero with C = {C}.",
    ),
    "relu": WalkStep(
        "Below zero means silent",
        "A neuron cannot fire less than not at all: below zero becomes zero (the ReLU), and "
        "only {active} of the cells are left. The loudest twentieth is this {thing}'s tag.",
        "The long flat tail: those cells say nothing about {sample}.",
        "Raise C until only a tenth of the cells is active.",
        "{n_active} of {B} cells are active ({active}).",
    ),
    "votes": WalkStep(
        "The active cells vote",
        "Only these weights, β, are learned, in one step from examples (ridge regression). Each "
        "active cell pulls every answer up or down, by its activity times its weight.",
        "For every answer, how many votes speak for it and against it, and what is left.",
        "Go down to 50 cells: few voters, shaky results. Then up to 2,000.",
        "Votes on {first}: {in_favour} for, {against} against.",
    ),
    "answer": WalkStep(
        "The answer: {best}",
        "Scores become probabilities. Because the circuit is so simple, the answer can be taken "
        "apart exactly: the picture shows how much every input spoke for it, and the shares add up "
        "to the score.",
        "Orange inputs spoke for “{best}”, purple ones against it.",
        "Reshuffle the wiring a few times. Does the answer change?",
        "{verdict}",
    ),
}

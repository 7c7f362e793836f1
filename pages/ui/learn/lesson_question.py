"""A lesson's question: the prediction, then the measurement, and whether the two agree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from kcnet_core.figures.flies import measurement_figure
from kcnet_core.lessons.circuit import CircuitSettings, of_whole_fly
from kcnet_core.lessons.lesson import Question, fill
from kcnet_core.lessons.measures import MEASURES, measure
from pages.ui.learn.bench import Bench, fly, glomeruli
from pages.ui.learn.fly_controls import PLAN_NAMES
from pages.ui.learn.present import chart
from pages.ui.shell import session_keys, visitor

NO_WINNER = "no clear difference"
DIRECTIONS = {"rises": 1, "falls": -1, "stays about the same": 0}
SYMBOLS = {
    "cells": "Kenyon cells",
    "fan_in": "inputs per cell",
    "inhibition": "C",
    "wiring": "wiring",
    "epochs": "epochs of DOA",
}


@dataclass(frozen=True)
class Revealed:
    """A prediction beside what was measured."""

    prediction: str
    measured: str
    right: bool
    words: dict  # what the reveal's text may speak of


def ask(question: Question, reveal: str, mark: tuple[str, int], bench: Bench) -> bool:
    """Put the question; once a prediction is made, measure and compare. True when revealed.

    `mark` is lesson and part; `reveal` is what the lesson says of the measurement.
    """
    revealed = st.session_state.setdefault(session_keys.LESSON_REVEALED, {})
    st.markdown(f":material/help: **{question.text}**")
    prediction = _prediction(question, mark, mark in revealed)
    if mark not in revealed:
        with st.container(horizontal=True, vertical_alignment="center"):
            asked = st.button(
                "Measure",
                type="primary",
                icon=":material/science:",
                disabled=prediction is None,
                key=f"measure_{mark[0]}_{mark[1]}",
            )
            st.markdown(_waits_for(question, prediction))
        if asked:
            revealed[mark] = prediction
            st.rerun()
        return False
    result = _reveal(question, revealed[mark], bench)
    st.session_state.setdefault(session_keys.LESSON_RESULTS, {})[mark] = result
    if reveal:
        st.markdown(fill(reveal, result.words))
    return True


def _prediction(question: Question, mark: tuple[str, int], locked: bool):
    about, key = MEASURES[question.measure], session_keys.prediction(*mark)
    if question.kind == "guess":
        span = question.high - question.low
        digits = 0 if span >= 50 else 1 if span >= 5 else 2
        unit = "%%" if about.unit == "%" else f" {about.unit}"
        return st.slider(
            f"Your prediction: {about.title}",
            question.low,
            question.high,
            round((question.low + question.high) / 2, digits),
            step=10.0**-digits,
            format=f"%.{digits}f{unit}".rstrip(),
            key=key,
            disabled=locked,
        )
    change = question.kind == "change"
    options = (
        list(DIRECTIONS) if change else [*_names(question.setting, question.values), NO_WINNER]
    )
    return st.radio(
        "Your prediction", options, index=None, key=key, disabled=locked, horizontal=True
    )


def _names(setting: str, values: Iterable[Any]) -> list[str]:
    if setting == "plan":
        return [f"{PLAN_NAMES.get(str(value), value)} wiring" for value in values]
    return [f"{SYMBOLS[setting]} = {value:g}" for value in values]


def _waits_for(question: Question, prediction: float | str | None) -> str:
    """The line beside Measure: what it waits for, or what it will be held against."""
    if prediction is None:
        return "Measure waits for your prediction: choose one of the answers above."
    if isinstance(prediction, str):
        return f"You predict: {prediction}."
    said = MEASURES[question.measure].format(prediction)
    return f"You predict {said}; move the slider if you think otherwise."


def _measure(question, bench, **changed):
    settings = of_whole_fly(replace(bench.settings, **changed), bench.glomeruli)
    return _measured(question.measure, bench.data, settings)


@st.cache_resource(show_spinner=False, max_entries=90)
def _measured(name: str, data: str, settings: CircuitSettings) -> float:
    """Kept, because every redrawing of a revealed answer asks again."""
    return measure(name, glomeruli(data), settings, partial(fly, data))


def _reveal(question: Question, prediction, bench: Bench) -> Revealed:
    """Measure, draw, and say whether the prediction held."""
    with st.spinner("Measuring …", show_time=True):
        if question.kind == "guess":
            result, picture = _reveal_guess(question, prediction, bench)
        else:
            values = [_measure(question, bench, **{question.setting: v}) for v in question.values]
            judge = _judge_change if question.kind == "change" else _judge_choice
            result, best = judge(question, prediction, values)
            picture = _picture(question, question.setting, question.values, values, best=best)
    verdict = st.success if result.right else st.info
    verdict(
        f"Measured: {result.measured}. You predicted: {result.prediction}.",
        icon=":material/check_circle:" if result.right else ":material/lightbulb:",
    )
    chart(picture, key=f"reveal_{question.measure}_{question.kind}")
    return result


def _reveal_guess(question, prediction, bench):
    about = MEASURES[question.measure]
    value = _measure(question, bench)
    near = max(about.resolution, 0.07 * (question.high - question.low))
    result = Revealed(
        about.format(prediction),
        about.format(value),
        abs(prediction - value) <= near,
        {"measured": about.format(value)},
    )
    if question.chart is None:
        return result, _picture(question, None, ["measured"], [value], guess=prediction, best=(0,))
    setting, values = question.chart
    found = [_measure(question, bench, **{setting: value}) for value in values]
    now = getattr(bench.settings, setting)
    best = tuple(i for i, value in enumerate(values) if value == now)
    return result, _picture(question, setting, values, found, guess=prediction, best=best)


def _judge_change(question, prediction, values):
    about = MEASURES[question.measure]
    first, last = values
    sign = 0 if abs(last - first) < about.resolution else (1 if last > first else -1)
    word = next(name for name, direction in DIRECTIONS.items() if direction == sign)
    texts = about.format(first), about.format(last)
    result = Revealed(
        prediction,
        f"it {word}, from {texts[0]} to {texts[1]}",
        DIRECTIONS[prediction] == sign,
        {"first": texts[0], "last": texts[1]},
    )
    return result, (1,)


def _judge_choice(question, prediction, values):
    """Values closer to the best than the measure can tell apart count as right too; where all of
    them are, nobody won, and only who said so was right."""
    about = MEASURES[question.measure]
    best = max(values) if question.answer == "highest" else min(values)
    good = [i for i, value in enumerate(values) if abs(value - best) < about.resolution]
    names = _names(question.setting, question.values)
    *others, last = best_names = [names[i] for i in good]
    winner = f"{', '.join(others)} or {last}" if others else last
    close = " (too close to tell apart)" if others else ""
    ends = sorted(values[i] for i in good)
    measured = " to ".join(dict.fromkeys(about.format(end) for end in (ends[0], ends[-1])))
    result = Revealed(
        prediction,
        f"{winner}{close}, with {measured}",
        prediction in ([NO_WINNER] if len(good) == len(names) else best_names),
        {"winner": winner, "measured": measured},
    )
    return result, tuple(good)


def _picture(question, setting, labels, values, **options):
    about = MEASURES[question.measure]
    labels = _names(setting, labels) if setting else labels
    return measurement_figure(
        labels, values, about.unit, about.title, dark=visitor.dark(), **options
    )

"""A lesson as it is once its file has been read: steps, and questions to predict the answer of."""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from kcnet_core.errors import KCNetError
from kcnet_core.lessons.circuit import BOUNDS
from kcnet_core.storage.folders import assets

DATA = ("mnist_sample", "digits", "starter", "door")
VIEWS = ("circuit", "draw", "inhibition", "tags", "flies", "none")
CIRCUIT_STEPS = ("input", "wiring", "sum", "inhibition", "relu", "votes", "answer")
SETTINGS = (*BOUNDS, "plan")  # of a fly, that a lesson can set
CONTROLS = ("sample", *SETTINGS)
IMAGES = {"mnist_sample": 1000, "digits": 397}  # that a lesson can put on the bench
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


class LessonError(KCNetError):
    """A lesson file cannot be read; a line of the message for every mistake names its line."""


class Mistake(Exception):
    """One thing in a file that cannot be understood."""

    def __init__(self, line: int, text: str):
        self.line, self.text = line, text


@cache
def odor_names() -> tuple[str, ...]:
    """What an odor lesson can put on the bench."""
    with open(assets() / "odorants.csv", encoding="utf-8", newline="") as file:
        return tuple(row["name"] for row in csv.DictReader(file))


def did_you_mean(word: str, known: Sequence[str], otherwise: str = "") -> str:
    """The end of a sentence that refuses `word`."""
    close = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean “{close[0]}”?" if close else f"; {otherwise or _there_is(known)}."


def _there_is(known: Sequence[str]) -> str:
    return f"there is {', '.join(known)}"


@dataclass(frozen=True)
class Question:
    """Something to predict before it is measured.

    kind "guess": a number between low and high. kind "choose": which of `values` of `setting` gives
    the highest (or lowest) measurement. kind "change": whether the measurement rises, falls or
    stays about the same when `setting` goes from the first value to the second.
    """

    text: str
    measure: str
    kind: str
    low: float = 0.0
    high: float = 100.0
    setting: str = ""
    values: tuple[float | str, ...] = ()
    answer: str = ""
    chart: tuple[str, tuple[float | str, ...]] | None = None


@dataclass(frozen=True)
class LessonStep:
    title: str
    text: str
    view: str = "none"
    circuit_step: str = "input"
    settings: dict[str, Any] = field(default_factory=dict)
    sample: str = (
        ""  # what lies on the bench: an odor's name or an image's number; empty: the first
    )
    show: tuple[str, ...] = ()
    question: Question | None = None
    reveal: str = ""


@dataclass(frozen=True)
class Lesson:
    name: str
    title: str
    summary: str
    data: str
    minutes: int
    order: int  # where it stands among the lessons
    steps: tuple[LessonStep, ...]


def fill(text: str, words: dict[str, str]) -> str:
    """Put what was measured into a reveal's text; every other brace stays (LaTeX needs them)."""
    return PLACEHOLDER.sub(lambda found: words.get(found[1], found[0]), text)

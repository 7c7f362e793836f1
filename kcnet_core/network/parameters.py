"""What each constructor parameter may be, as a table, checked when a fit begins."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kcnet_core.errors import KCNetError


@dataclass(frozen=True)
class Number:
    """A whole or real number in a range, or one of a few words."""

    of: type
    least: float | None = None
    above: float | None = None
    below: float | None = None
    most: float | None = None
    words: tuple = ()

    def allows(self, value) -> bool:
        if any(value is word or (isinstance(value, str) and value == word) for word in self.words):
            return True
        kind = numbers.Integral if self.of is int else numbers.Real
        if not isinstance(value, kind) or isinstance(value, (bool, np.bool_)):
            return False
        number = float(value)
        return bool(
            np.isfinite(number)
            and (self.least is None or number >= self.least)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
            and (self.most is None or number <= self.most)
        )

    def __str__(self):
        text = "a whole number" if self.of is int else "a number"
        limits = [
            f"{word} {limit:g}"
            for word, limit in (
                ("at least", self.least),
                ("above", self.above),
                ("below", self.below),
                ("at most", self.most),
            )
            if limit is not None
        ]
        words = "".join(f" or {word!r}" for word in self.words)
        return " ".join([text, " and ".join(limits)]).strip() + words


@dataclass(frozen=True)
class Other:
    """What is neither a number nor one of a few words, in words and as a test."""

    words: str
    allows: Callable[[Any], bool]

    def __str__(self):
        return self.words


class Choice:
    """One of a few words."""

    def __init__(self, *words):
        self.words = words

    def allows(self, value) -> bool:
        return (value is None or isinstance(value, str)) and value in self.words

    def __str__(self):
        return "one of " + ", ".join(repr(word) for word in self.words)


def check_parameters(estimator, table: dict) -> None:
    """Raise a sentence for the first parameter of `estimator` that its table does not allow."""
    for name, allowed in table.items():
        value = getattr(estimator, name)
        if not allowed.allows(value):
            raise KCNetError(f"{name} must be {allowed}; got {value!r}.")

"""A frozen dataclass that says everything of some work, and the link that it is written as."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Self

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import KCNetError


class Described:
    """A frozen dataclass that says everything of some work, also as URL parameters."""

    dataset: str

    def to_query(self) -> dict[str, str]:
        """The fields that differ from their defaults, as URL parameters."""
        return {
            f.name: written(value)
            for f in fields(self)  # type: ignore[arg-type]  # its children are dataclasses
            if (value := getattr(self, f.name)) != f.default
        }

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> tuple[Self, list[str]]:
        """One from URL parameters, and a sentence for each parameter that could not be used."""
        made, ignored = cls(), []
        for f in fields(cls):  # type: ignore[arg-type]
            if f.name not in query:
                continue
            try:
                made = replace(made, **{f.name: parsed(query[f.name], f.default)})  # type: ignore[type-var]
            except KCNetError as error:
                ignored.append(f"The link's {f.name} was not used: {error}")
        return made, ignored

    def data_options(self) -> dict[str, Any]:
        """Options of `kcnet_core.datasets.load` for its dataset."""
        raise NotImplementedError

    def load(self) -> Dataset:
        from kcnet_core import datasets

        return datasets.load(self.dataset, **self.data_options())


def written(value) -> str:
    """The shortest text from which `parsed` gives the same value back; pairs as JSON."""
    if isinstance(value, tuple):
        if not isinstance(value[0], tuple):
            return ",".join(map(str, value))
        nested = {key: dict(inner) if isinstance(inner, tuple) else inner for key, inner in value}
        return json.dumps(nested, sort_keys=True, separators=(",", ":"))
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return short if float(short := f"{value:g}") == value else repr(value)
    return str(value)


def parsed(text: str, default):
    """A value like `default`; pairs stay JSON, which a comparison reads itself."""
    if isinstance(default, tuple) and default:
        return tuple(parsed(part.strip(), default[0]) for part in text.split(",") if part.strip())
    if isinstance(default, bool):
        return text.strip().lower() in ("1", "true", "yes", "on")
    if isinstance(default, str | tuple):
        return text
    try:
        number = float(text)
        return number if isinstance(default, float) else int(number)
    except (ValueError, OverflowError):
        raise KCNetError(f"{text[:40]!r} is not a number.") from None

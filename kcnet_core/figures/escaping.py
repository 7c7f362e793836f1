"""Names from elsewhere as text that charts and pages show as it is."""

from __future__ import annotations

import html
from collections.abc import Iterable


def escape_html(text: object, longest: int | None = None) -> str:
    """Text that plotly shows as it is: it would read tags in names that a visitor uploaded."""
    text = str(text)
    if longest is not None and len(text) > longest:
        text = text[: longest - 1] + "…"
    return html.escape(text, quote=False)


def axis_title(words: str) -> str:
    """Words such as a metric's name at an axis: escaped, with a capital letter."""
    return escape_html(words[:1].upper() + words[1:])


def unique_labels(names: Iterable[object], longest: int | None = None) -> list[str]:
    """Escaped names for a category axis, which would merge two that are the same."""
    labels, seen = [], set()
    for i, name in enumerate(names):
        label = escape_html(name, longest)
        if label in seen:
            label = f"{label} ({i})"
        seen.add(label)
        labels.append(label)
    return labels

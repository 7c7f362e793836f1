"""What a visitor reads of a line of Markdown in which marks are escaped."""

from __future__ import annotations

import re

from pages.ui.shell.escaping import GAP


def as_read(markdown: str) -> str:
    """The text that is left once Markdown has undone its escapes."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown).replace(GAP, "")

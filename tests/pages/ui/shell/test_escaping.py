"""What visitors type, name or link reads as typed, whatever Markdown would make of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pages.ui.shell import escaping
from pages.ui.shell.escaping import GAP, data_table, escape_markdown
from tests.pages.as_read import as_read

MARKDOWN = (
    "![x](//evil.io/p.png)", "[Session expired, sign in](https://evil.io)", ":gray[small]",
    "$a$ and $$b$$", "`code` ~~gone~~ *a* __b__", "<b>bold</b> &amp; <script>", "# title",
    "1. list", "- list", "> quote", "| a | b |", "a\\", "C[C@@H](O)c1ccc:cc1", "=== ---",
)  # fmt: skip
FOUND_BY_STREAMLIT = {
    ":material/home:": r":material/\w+:",
    ":material_home:": r":material_\w+:",
    ":smile: :+1:": r":[\w+-]+:",
    ":streamlit:": ":streamlit:",
    "https://evil.io": "https?://",
    "WWW.evil.io": r"(?i)www\.",
    "write to me@evil.io": r"[\w.+-]@[\w-]+\.",
}


@pytest.mark.parametrize("text", MARKDOWN)
def test_every_mark_is_escaped_and_the_text_is_whole(text):
    written = escape_markdown(text)
    assert as_read(written) == text
    assert not re.search(r"(?<!\\)[`*_{}\[\]()<>#!|~$&]", written.replace("\\\\", ""))


@pytest.mark.parametrize(("text", "pattern"), FOUND_BY_STREAMLIT.items())
def test_nothing_is_left_that_streamlit_looks_for_after_the_escapes(text, pattern):
    written = escape_markdown(text)
    assert re.search(pattern, text) and not re.search(pattern, re.sub(r"\\(\W)", r"\1", written))
    assert as_read(written) == text


def test_line_breaks_cannot_start_a_block():
    assert escape_markdown("a\n===\n\n    code\n- b") == r"a \=\=\= code \- b"


def test_an_error_may_be_given_as_it_is():
    assert escape_markdown(ValueError("[no]")) == r"\[no\]"


@pytest.mark.parametrize("sign", ["<->", "->", "<-", "--", ">=", "<=", "~="])
def test_signs_between_spaces_stay_as_they_were_typed(sign):
    shown = escape_markdown(f"a {sign} b").replace("\\", "")
    assert GAP in shown, "or Streamlit shows another sign for it"
    assert shown.replace(GAP, "") == f"a {sign} b"


def test_a_table_on_a_page_holds_no_formula(monkeypatch):
    shown = []
    monkeypatch.setattr(escaping.st, "dataframe", lambda data, **options: shown.append(data))
    data_table({"name": ["x;=1+1", "plain"], "smells of": [["@a", "b"], []], "n": [-1, 2]})
    assert shown[0].to_dict("list") == {
        "name": ["x;'=1+1", "plain"],
        "smells of": [["'@a", "b"], []],
        "n": [-1, 2],
    }


def test_every_table_takes_that_path():
    pages = Path(escaping.__file__).parents[2]
    direct = [
        path.name
        for path in pages.rglob("*.py")
        if re.search(r"st\.(dataframe|data_editor)\(", path.read_text(encoding="utf-8"))
        and path != Path(escaping.__file__)
    ]
    assert not direct

"""What surrounds every page: its name and mark, headings in order, words that can be read."""

import re
import tomllib
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.shell import frame
from pages.ui.shell.streamlit_workarounds import STYLE

APP = str(Path(__file__).resolve().parents[4] / "app.py")


def kinds(block) -> list[str]:
    """Types of all elements of a page, from top to bottom."""
    found = []
    for child in block.children.values():
        found += kinds(child) if hasattr(child, "children") else [child.type]
    return found


def test_the_first_visit_has_its_heading_at_the_top():
    drawn = kinds(AppTest.from_file(APP, default_timeout=120).run().main)
    assert drawn[0] == "title"


def test_a_phone_is_told_where_settings_and_pages_are():
    app = AppTest.from_file(APP, default_timeout=120).run()
    assert any("»" in words.value for words in app.markdown)


def test_the_products_mark_surrounds_every_page(monkeypatch):
    shown = []
    monkeypatch.setattr(frame.st, "logo", lambda image, **options: shown.append(Path(image)))
    AppTest.from_file(APP, default_timeout=120).run()
    assert [image.name for image in shown] == ["logo-light.svg"]
    assert "KCNet Lab" in shown[0].read_text("utf-8")


@pytest.mark.parametrize("page", ["data", "paper"])
def test_headings_stand_in_order(page):
    app = AppTest.from_file(APP, default_timeout=120).switch_page(f"pages/{page}.py").run()
    assert len(app.title) == 1
    assert app.header or not app.subheader, "a third level needs a second"


def test_the_mark_is_drawn_for_both_themes():
    light, dark = ((frame.LOGOS / f"logo-{name}.svg").read_text("utf-8") for name in THEMES)
    assert light != dark
    assert light.replace(THEMES["light"]["textColor"], THEMES["dark"]["textColor"]) == dark


THEMES = tomllib.loads((Path(APP).parent / ".streamlit/config.toml").read_text("utf-8"))["theme"]
THEMES = {name: THEMES[name] for name in ("light", "dark")}


def luminance(colour: str) -> float:
    """Of #RRGGBB, as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def tint(colour: str, paper: str, share: float) -> str:
    mixed = [
        round(share * int(colour[i : i + 2], 16) + (1 - share) * int(paper[i : i + 2], 16))
        for i in (1, 3, 5)
    ]
    return "#" + "".join(f"{part:02X}" for part in mixed)


def rule(element: str) -> tuple[str, str]:
    """The colours that our style gives an element, on light and on dark."""
    found = re.search(
        re.escape(element) + r"[^{},]*{ color: light-dark\((#\w+), (#\w+)\)",
        STYLE.read_text("utf-8"),
    )
    assert found, element
    return found[1], found[2]


@pytest.mark.parametrize("at", [0, 1], ids=["light", "dark"])
def test_captions_and_chosen_buttons_can_be_read_on_every_paper(at):
    theme = list(THEMES.values())[at]
    papers = theme["backgroundColor"], theme["sidebar"]["backgroundColor"]
    caption = rule('[data-testid="stCaptionContainer"]')[at]
    chosen = rule('[data-testid="stButtonGroup"]')[at]
    for paper in papers:
        assert contrast(caption, paper) >= 4.5
        assert contrast(chosen, tint(theme["primaryColor"], paper, 0.1)) >= 4.5

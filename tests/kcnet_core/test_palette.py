"""Colours can be told apart by everyone, on both themes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from kcnet_core import palette
from kcnet_core.network.wiring.plans import PLANS

# Machado, Oliveira and Fernandes (2009), full severity, on linear sRGB
DEUTERANOPIA = np.array(
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]
)
LEAST_DISTANCE = 0.07  # in OKLab, where 0.02 is just noticeable side by side
THEMES = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])


def linear(colour):
    rgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(a, b):
    bright, dim = sorted((linear(c) @ [0.2126, 0.7152, 0.0722] for c in (a, b)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def seen(colour, matrix):
    shown = np.clip(linear(colour) @ matrix.T, 0, 1)
    srgb = np.where(shown <= 0.0031308, 12.92 * shown, 1.055 * shown ** (1 / 2.4) - 0.055)
    return palette._oklab(srgb)


@THEMES
@pytest.mark.parametrize("model", palette.MODEL_LOOKS)
def test_model_lines_stand_out_from_the_page(model, dark):
    assert contrast(palette.model_colour(model, dark), palette.theme(dark).background) >= 3


@THEMES
def test_text_is_readable(dark):
    theme = palette.theme(dark)
    for colour in (theme.text, theme.muted, theme.primary):
        assert contrast(colour, theme.background) >= 4.5
        assert contrast(colour, theme.surface) >= 4


@THEMES
@pytest.mark.parametrize("sight", [np.eye(3), DEUTERANOPIA], ids=["normal", "deuteranopia"])
def test_every_two_models_have_colours_that_can_be_told_apart(dark, sight):
    for one, other in combinations(palette.MODEL_LOOKS, 2):
        a, b = (seen(palette.model_colour(model, dark), sight) for model in (one, other))
        assert np.linalg.norm(a - b) >= LEAST_DISTANCE, (one, other)


def test_every_model_has_a_symbol_of_its_own_and_a_dash():
    looks = [palette.model_style(model, dark=False) for model in palette.MODEL_LOOKS]
    assert all(look["line"]["dash"] for look in looks)
    assert len({look["marker"]["symbol"] for look in looks}) == len(palette.MODEL_LOOKS)


@THEMES
def test_the_diverging_scale_is_the_page_at_zero_and_tells_signs_apart(dark):
    table = palette.colour_table("diverging", dark)
    page = np.array([int(palette.theme(dark).background[i : i + 2], 16) for i in (1, 3, 5)])
    assert np.abs(table[127:129].astype(int) - page).max() <= 2
    low, high = ("#{:02X}{:02X}{:02X}".format(*table[i]) for i in (40, 215))
    assert np.linalg.norm(seen(low, DEUTERANOPIA) - seen(high, DEUTERANOPIA)) > 0.1


@THEMES
@pytest.mark.parametrize("scale", ["sequential", "ink"])
def test_sequential_scales_move_steadily_away_from_the_page(scale, dark):
    lightness = palette._oklab(palette.colour_table(scale, dark) / 255)[:, 0]
    steps = np.diff(lightness) * (1 if dark else -1)
    assert (steps > -0.003).all()
    assert abs(lightness[-1] - lightness[0]) > 0.5


def test_theme_colours_are_those_of_the_configuration(pytestconfig):
    import tomllib

    config = pytestconfig.rootpath / ".streamlit" / "config.toml"
    if not config.exists():
        pytest.skip("no .streamlit/config.toml in this checkout")
    themes = tomllib.loads(config.read_text())["theme"]
    for name, theme in (("light", palette.LIGHT), ("dark", palette.DARK)):
        assert themes[name]["backgroundColor"] == theme.background
        assert themes[name]["secondaryBackgroundColor"] == theme.surface
        assert themes[name]["textColor"] == theme.text
        assert themes[name]["primaryColor"] == theme.primary


def test_an_unknown_model_gets_the_text_colour():
    assert palette.model_colour("My own", dark=False) == palette.LIGHT.text
    assert palette.model_style("My own", dark=True)["line"]["dash"] == "solid"


def test_a_model_looks_different_with_every_wiring():
    others = [f"KCNet, {name}" for name in PLANS if name != "random"]
    looks = [palette.model_style(name, dark=False) for name in ("KCNet", *others)]
    assert len({look["marker"]["symbol"] + look["line"]["dash"] for look in looks}) == len(looks)

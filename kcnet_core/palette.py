"""One visual language: theme colours, a colour, symbol and dash for every model, and colour scales.

A model keeps its hue on every page; the lightness follows the theme so that lines stay readable.
The model colours were found by maximising the smallest distance between any two of them, as seen
with normal sight, deuteranopia and protanopia, at a contrast of at least 3:1 to the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np


@dataclass(frozen=True)
class Theme:
    """Colours of the page, as in .streamlit/config.toml, and of the thin lines in a chart."""

    background: str
    surface: str
    text: str
    muted: str
    primary: str
    grid: str
    good: str  # on, agreement, truth


_THEMES = {  # on light, on dark
    "background": ("#FBFAF7", "#14161A"),
    "surface": ("#F1EEE7", "#1D2026"),
    "text": ("#22262E", "#ECE9E2"),
    "muted": ("#6B7078", "#9AA0A8"),
    "primary": ("#C2410C", "#FB923C"),
    "grid": ("#E6E2D8", "#2B2F36"),
    "good": ("#047295", "#56B4D3"),
}
LIGHT, DARK = (Theme(**{name: both[k] for name, both in _THEMES.items()}) for k in (0, 1))

# Colour on light and on dark; then, for those who do not see colours, or print, a shape of its own
# and a dash: KCNet's family is solid, the other networks broken, the baselines finely broken. Plain
# dots are left to training curves.
MODEL_LOOKS = {
    "KCNet": ("#C2410C", "#FB923C", "circle", "solid"),
    "DOA": ("#8A0655", "#D03C66", "diamond", "solid"),
    "Ensemble DOA": ("#9E5CD2", "#DCA9FF", "star", "solid"),
    "ELM": ("#1B45A4", "#548AEE", "square", "longdash"),
    "FSHN": ("#409B8A", "#8CF0E0", "triangle-up", "dashdot"),
    "AdaBoost": ("#AF8708", "#A88102", "cross", "4px,2px"),
    "GBM": ("#1F7944", "#BBE877", "x", "8px,2px,2px,2px"),
    "XGBoost": ("#390077", "#7454C5", "triangle-down", "4px,4px"),
    "Random forest": ("#4E3805", "#CABFA3", "hexagon", "12px,3px"),
    "KNN": ("#047295", "#207383", "pentagon", "6px,2px,2px,2px,2px,2px"),
    "SVM": ("#1A222B", "#888D99", "bowtie", "10px,6px"),
}

# Mark and dash of a model with another wiring than its usual; any that is not here is open, dotted.
WIRING_LOOKS = {
    "hemibrain": ("open-dot", "dashdot"),
    "hemibrain-shuffled": ("dot", "dash"),
    "hemibrain-random": ("open", "longdash"),
}

# Kenyon cells of a real fly by their lobe, on light and on dark.
LOBE_COLOURS = {
    "γ": ("#C2410C", "#FB923C"),
    "α′β′": ("#1B45A4", "#548AEE"),
    "αβ": ("#1F7944", "#8FD16A"),
    "other": ("#6B7078", "#9AA0A8"),
}

# S: purple - page - orange, so that a score of zero is invisible. W: page - orange - ink.
_DIVERGING = (
    ("#3B1266", "#7B4FB5", "#C9B6E3", LIGHT.background, "#F5BE8F", "#D9641C", "#7A2606"),
    ("#E3D2FF", "#A67BEA", "#523C80", DARK.background, "#7A3A12", "#F08326", "#FFE0B8"),
)
_SEQUENTIAL = (
    (LIGHT.background, "#F6CFA6", "#E98A3C", "#B4410F", "#5A1D08", "#231006"),
    (DARK.background, "#4A230F", "#97430F", "#E57A1F", "#FDBF77", "#FFF3DF"),
)
_INK = ((LIGHT.background, LIGHT.text), (DARK.background, DARK.text))


def theme(dark: bool) -> Theme:
    return DARK if dark else LIGHT


def model_colour(model: str, dark: bool) -> str:
    """A model's colour, with whatever wiring; text colour for a name that is not in the paper."""
    name = model.partition(", ")[0]
    return MODEL_LOOKS[name][dark] if name in MODEL_LOOKS else theme(dark).text


def model_style(model: str, dark: bool) -> dict:
    """`line` and `marker` of a plotly trace for this model; other wirings have other marks."""
    colour = model_colour(model, dark)
    name, _, wiring = model.partition(", ")
    *_, symbol, dash = MODEL_LOOKS.get(name, ("circle", "solid"))
    if wiring:
        mark, dash = WIRING_LOOKS.get(wiring, ("open", "dot"))
        symbol = f"{symbol}-{mark}"
    return {
        "line": {"color": colour, "dash": dash, "width": 2},
        "marker": {"color": colour, "symbol": symbol, "size": 8},
    }


@cache
def colour_table(scale: str, dark: bool) -> np.ndarray:
    """256 colours of a scale: "diverging" (S), "sequential" (W) or "ink" (images), (256, 3) uint8.

    Stops are joined in the OKLab space, where equal steps look equal.
    """
    stops = {"diverging": _DIVERGING, "sequential": _SEQUENTIAL, "ink": _INK}[scale][dark]
    lab = _oklab(np.array([list(_rgb(stop)) for stop in stops]) / 255)
    at = np.linspace(0, len(stops) - 1, 256)
    joined = np.stack([np.interp(at, range(len(stops)), lab[:, k]) for k in range(3)], axis=1)
    table = np.round(255 * _from_oklab(joined)).astype(np.uint8)
    table.setflags(write=False)
    return table


def colourscale(scale: str, dark: bool) -> list[list]:
    """The same scale as plotly wants it."""
    table = colour_table(scale, dark)
    at = np.round(np.linspace(0, 255, 17)).astype(int)
    return [[float(i / 255), hex_colour(table[i])] for i in at]


def sign_colours(dark: bool) -> tuple[str, str]:
    """Colours for below and above zero: the purple and the orange of the diverging scale."""
    table = colour_table("diverging", dark)
    return hex_colour(table[42]), hex_colour(table[213])


def circuit_colours(dark: bool) -> dict[str, str]:
    """Of the drawn circuit: what is active, what pulls down, and what rests."""
    ink = theme(dark)
    return {"hot": ink.primary, "cold": sign_colours(dark)[0], "rest": ink.grid}


def hex_colour(rgb: np.ndarray) -> str:
    """Three bytes as #RRGGBB."""
    return "#" + bytes(rgb).hex().upper()


def faded(colour: str, alpha: float) -> str:
    """A see-through version, for bands."""
    red, green, blue = _rgb(colour)
    return f"rgba({red},{green},{blue},{alpha:g})"


def _rgb(colour: str) -> bytes:
    return bytes.fromhex(colour.removeprefix("#"))


# Björn Ottosson's OKLab (2020): linear sRGB -> cone responses -> lightness and two opponent axes.
_TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def _oklab(rgb: np.ndarray) -> np.ndarray:
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return np.cbrt(linear @ _TO_CONES.T) @ _TO_LAB.T


def _from_oklab(lab: np.ndarray) -> np.ndarray:
    linear = (lab @ np.linalg.inv(_TO_LAB).T) ** 3 @ np.linalg.inv(_TO_CONES).T
    linear = np.clip(linear, 0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)

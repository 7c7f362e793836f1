"""The film's script by itself, in a real browser."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
from playwright.sync_api import expect

from kcnet_core import figures
from kcnet_core.experiments.frames import frame_of

FOLDER = Path(__file__).resolve().parents[2] / "pages" / "ui" / "train"
SCRIPTS = ("film_sheet.js", "film_board.js", "film_chart.js", "film.js")
PLAY = """async ([script, films]) => {
    const file = new Blob([script], { type: "text/javascript" });
    const module = await import(URL.createObjectURL(file));
    const place = document.getElementById("place");
    for (const film of films) {
        const data = Uint8Array.from(atob(film), (letter) => letter.charCodeAt(0));
        module.default({ parentElement: place, data });
    }
}"""


def test_a_call_that_comes_late_does_not_empty_the_canvases(chromium):
    """Streamlit calls a component once its script is loaded, for all data that came meanwhile, and
    not always in their order: a quick run's film gave way to the empty one before it."""
    empty = figures.film_data(("S", "W"), [], film="run", order=1.0)
    page = played(chromium, film(order=2.0, whole=True), empty)
    expect(page.locator("output")).to_have_text("epoch 2")
    expect(page.locator("canvas[aria-label*='scores S, epoch 2']")).to_be_visible()
    page.close()


def test_a_run_that_begins_is_played_from_its_first_frame_and_another_shown_where_it_stands(
    chromium,
):
    seen = (
        "output => (window.seen = [output.textContent], new MutationObserver(() => "
        "window.seen.push(output.textContent)).observe(output, { childList: true }))"
    )
    for begins, epochs in ((True, ["epoch 0", "epoch 1", "epoch 2"]), (False, ["epoch 2"])):
        page = played(chromium, watch=seen)
        play(page, film(whole=True, begins=begins, play=0.3))
        expect(page.locator("output")).to_have_text("epoch 2")
        assert page.evaluate("[...new Set(window.seen.filter(Boolean))]") == epochs
        page.close()


def film(**options) -> bytes:
    """Of three epochs."""
    S = np.random.default_rng(0).uniform(-1, 1, (20, 10)).astype(np.float32)
    frames = [frame_of(k, S, (k / 10 < S).astype(np.uint8)) for k in range(3)]
    return figures.film_data(("S", "W"), frames, film="run", **options)


def played(chromium, *films: bytes, watch: str = "output => output"):
    """A page that has nothing but the film."""
    page = chromium.new_page()
    page.set_content(f'<div id="place">{(FOLDER / "film.html").read_text()}</div>')
    page.locator("output").evaluate(watch)
    play(page, *films)
    return page


def play(page, *films: bytes) -> None:
    script = "".join((FOLDER / name).read_text() for name in SCRIPTS)
    page.evaluate(PLAY, [script, [base64.b64encode(data).decode() for data in films]])

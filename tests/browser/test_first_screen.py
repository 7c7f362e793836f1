"""What somebody sees first: name, sentence and living circuit; and Learn on a projector."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import expect

PATIENCE = 150_000


@pytest.fixture(autouse=True)
def patient():
    expect.set_options(timeout=PATIENCE)


def test_a_link_to_train_by_its_name_opens_it_with_its_settings(new_page):
    page = new_page("/train?n_hidden=300")
    expect(page.get_by_text("DOA with 300 cells")).to_be_visible()
    expect(page.get_by_alt_text("Logo").first).to_be_visible()
    expect(page.get_by_text("Page not found")).to_have_count(0)
    assert "n_hidden=300" in page.url


def test_before_any_script_has_come_a_visitor_reads_what_this_is(chromium, app_url):
    page = chromium.new_page(java_script_enabled=False)
    page.goto(app_url)
    expect(page.locator("#first-paint").get_by_text("sense of smell")).to_be_in_viewport()
    page.close()


def wait_until(holds) -> None:
    deadline = time.monotonic() + PATIENCE / 1000
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def signals(page) -> int:
    """How many pixels of the circuit's canvas travel at this moment."""
    return page.locator(".circuit canvas").evaluate(
        """canvas => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
               .data.filter((value, i) => i % 4 === 3 && value).length"""
    )


def test_the_first_screen_says_what_this_is_and_shows_the_circuit_alive(new_page, screenshot):
    page = new_page("/", width=1280, height=720)
    expect(
        page.locator("#root").get_by_text("modelled on the fly's sense of smell")
    ).to_be_visible()
    expect(page.locator("#first-paint")).to_have_count(0)  # which said so until the page was there
    expect(page.locator(".st-key-start").get_by_role("button")).to_be_in_viewport()
    drawing = page.locator(".circuit svg")
    expect(drawing).to_be_in_viewport(ratio=1)
    for words in ("glomeruli fire", "coloured by their sums", "The answer is"):
        expect(drawing).to_have_attribute("aria-label", re.compile(words))
    wait_until(lambda: signals(page) > 0)
    page.get_by_role("button", name="Pause", exact=True).last.click()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    wait_until(lambda: signals(page) == 0)
    screenshot(page, "first-screen")


def test_who_prefers_less_motion_sees_the_answer_at_rest(new_page):
    page = new_page("/", width=1280, height=720, motion=False)
    expect(page.locator(".circuit svg")).to_have_attribute("aria-label", re.compile("The answer"))
    page.wait_for_timeout(2500)  # longer than a frame of the film
    expect(page.locator(".circuit svg")).to_have_attribute("aria-label", re.compile("The answer"))
    assert signals(page) == 0


@pytest.mark.parametrize(("step", "present"), [("7+Answer", ""), ("1+Input", "&present=1")])
def test_circuit_step_and_sentence_fit_a_projector(new_page, screenshot, step, present):
    page = new_page(f"/learn?step={step}{present}", width=1280, height=720)
    number = page.get_by_role("heading", level=2).first
    expect(number).to_be_in_viewport(ratio=1)
    expect(page.locator(".circuit svg")).to_be_in_viewport(ratio=1)
    sentence = "The fly meets" if "Input" in step else "Scores become probabilities"
    expect(page.get_by_text(sentence)).to_be_in_viewport(ratio=1)
    expect(page.locator(".st-key-stepper")).to_be_in_viewport(ratio=1)
    if present:
        letters = page.locator(".circuit svg text").evaluate_all(
            "texts => texts.map(text => parseFloat(getComputedStyle(text).fontSize))"
        )
        assert min(letters) >= 16
        steps = page.locator(".st-key-stepper p").first
        assert steps.evaluate("p => parseFloat(getComputedStyle(p).fontSize)") >= 16
    screenshot(page, f"projector-{step[0]}{'-presented' if present else ''}")

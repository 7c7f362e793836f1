"""A real fly's cells, and the lesson that asks whether they are wired better, in a real browser."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

PATIENCE = 150_000
PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def patient():
    shared = Path(os.environ.get("KCNET_TEST_DATA", PROJECT.parent / "shared" / "data"))
    if not (shared / "door").is_dir():
        pytest.skip("the real datasets are not beside the project (see README, Tests)")
    expect.set_options(timeout=PATIENCE)


def predicted(page, answer):
    """Predict, measure, and wait for the verdict."""
    if answer:
        page.locator('[data-testid="stRadio"]').get_by_text(answer, exact=True).click()
    measure = page.get_by_role("button", name="Measure")
    expect(measure).to_be_enabled()
    measure.click()
    expect(page.get_by_text(re.compile(r"Measured: .* You predicted: "))).to_be_visible()


def onward(page, title):
    following = page.get_by_role("button", name=re.compile("^(Next|Finish)"))
    expect(following).to_be_enabled()
    following.click()
    expect(page.get_by_role("heading", name=title)).to_be_visible()


def test_the_lesson_of_the_real_fly_is_walked_from_start_to_end(new_page, screenshot):
    page = new_page("/learn?lesson=real-fly")
    expect(page.get_by_role("heading", name="A real brain")).to_be_visible()
    circuit = page.locator(".circuit svg")
    expect(circuit).to_have_attribute("aria-label", re.compile("1743 Kenyon cells, each wired to"))
    expect(circuit.get_by_text("VM7d", exact=True)).to_be_visible()
    expect(page.get_by_text(re.compile("607 of γ .orange.*37 of 48 glomeruli"))).to_be_visible()
    onward(page, "How many glomeruli does a cell hear?")
    predicted(page, "")
    expect(page.get_by_text("Measured: 4.9 inputs")).to_be_visible()
    onward(page, "Shuffle the brain")
    predicted(page, "stays about the same")
    onward(page, "Is the real wiring better?")
    predicted(page, "no clear difference")
    expect(page.get_by_text(re.compile("too close to tell apart"))).to_be_visible()
    onward(page, "Other brains, same answers")
    expect(page.get_by_text("fly 1 is the real one")).to_be_visible()
    onward(page, "Now you")
    page.get_by_role("radio", name="shuffled").click()
    expect(page.get_by_text(re.compile("The fly says: "))).to_be_visible()
    onward(page, re.compile("of 3 predictions held"))
    expect(page.get_by_test_id("stException")).to_have_count(0)
    screenshot(page, "learn-real-fly")

"""Journeys through the Paper page in a real browser."""

from __future__ import annotations

import re

import pytest

from tests.browser.conftest import wait_for

QUICK = "inside-musky"  # two networks on odors: measured within seconds


pytestmark = pytest.mark.usefixtures("shared_data")


def test_a_reader_opens_a_table_and_trains_one_of_its_lines(new_page, screenshot):
    page = new_page("/paper", motion=False)
    wait_for(page, "What a careful reader asks")
    screenshot(page, "paper-overview")
    page.get_by_role("button", name="Open Table 1").click()
    wait_for(page, "Table 1: Odor perception")
    assert "result=table1" in page.url
    wait_for(page, "Measure it here")
    for width in (400, 1280):
        page.set_viewport_size({"width": width, "height": 860})
        page.wait_for_function("document.documentElement.scrollWidth <= window.innerWidth")
        screenshot(page, f"paper-table1-{width}")
    page.get_by_role("link", name=re.compile("Open KCNet 1300")).click()
    wait_for(page, "Train a fly's nose")
    page.wait_for_url(re.compile("n_hidden=1300"))
    assert "dataset=keller_2016" in page.url and "alpha=100" in page.url
    assert page.get_by_text("Traceback").count() == 0


def test_a_result_is_measured_here_and_seen_by_the_next_visitor(new_page, screenshot):
    page = new_page(f"/paper?result={QUICK}", motion=False)
    wait_for(page, "Measure it here")
    page.get_by_role("button", name=re.compile("Quick, about")).click()
    wait_for(page, "Quick version: done after", 240)
    wait_for(page, "Weights W, after")
    wait_for(page, "Measured on")
    screenshot(page, "paper-inside")
    other = new_page(f"/paper?result={QUICK}", dark=True, motion=False)
    wait_for(other, "Weights W, after")
    screenshot(other, "paper-inside-dark")


def test_a_measurement_can_be_stopped_and_goes_on_from_there(new_page):
    def measured(some: str) -> int:
        """How many measurements the page counts, once it counts `some`."""
        wait_for(page, rf"Full version: {some} of \d+ measurements", 180)
        line = page.get_by_text(re.compile(r"Full version: \d+ of")).first.inner_text()
        return int(re.search(r"(\d+) of", line)[1])

    page = new_page("/paper?result=musky-oversampling", motion=False)
    wait_for(page, "Measure it here")
    page.get_by_role("button", name=re.compile("In full, about")).click()
    before = measured(r"([2-9]|\d\d+)")
    page.get_by_role("button", name="Stop", exact=True).click()
    wait_for(page, "Full version: stopped after")
    page.get_by_role("button", name=re.compile("In full, about")).click()
    assert measured(r"[1-9]\d*") >= before
    page.get_by_role("button", name="Stop", exact=True).click()
    wait_for(page, "Full version: stopped after")

"""Journeys through the Paper page in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import served, wait_for

QUICK = "inside-musky"  # two networks on odors: measured within seconds


@pytest.fixture(scope="module")
def app_url(tmp_path_factory, shared_data):
    """The app with a cache of its own, so that what is measured here stays here."""
    folder = tmp_path_factory.mktemp("paper")
    with served(shared_data, folder, KCNET_CACHE=str(folder)) as url:
        yield url


def test_a_reader_opens_a_table_and_trains_one_of_its_lines(new_page, screenshot):
    page = new_page("/paper")
    wait_for(page, "What a careful reader asks")
    screenshot(page, "paper-overview")
    page.get_by_role("button", name="Open Table 1").click()
    wait_for(page, "Table 1: Odor perception")
    assert "result=table1" in page.url
    wait_for(page, "Measure it here")
    page.get_by_role("link", name=re.compile("Open KCNet 1300")).click()
    wait_for(page, "Train a fly's nose")
    page.wait_for_url(re.compile("n_hidden=1300"))
    assert "dataset=keller_2016" in page.url and "alpha=100" in page.url
    assert page.get_by_text("Traceback").count() == 0


def test_a_result_is_measured_here_and_seen_by_the_next_visitor(new_page, screenshot):
    page = new_page(f"/paper?result={QUICK}")
    wait_for(page, "Measure it here")
    page.get_by_role("button", name=re.compile("Quick, about")).click()
    wait_for(page, "Quick version: done after", 240)
    wait_for(page, "Weights W, after")
    wait_for(page, "Measured on")
    screenshot(page, "paper-inside")
    other = new_page(f"/paper?result={QUICK}", dark=True)
    wait_for(other, "Weights W, after")
    screenshot(other, "paper-inside-dark")


def test_a_measurement_can_be_stopped_and_keeps_its_rows(new_page):
    page = new_page("/paper?result=musky-oversampling")
    wait_for(page, "Measure it here")
    page.get_by_role("button", name=re.compile("In full, about")).click()
    wait_for(page, r"Full version: [1-9]\d* of \d+ measurements", 180)
    page.get_by_role("button", name="Stop", exact=True).click()
    wait_for(page, "Full version: stopped after")
    rows = page.get_by_text(re.compile(r"\d+ of \d+ measurements are done; run it below")).first
    version = page.get_by_role("radio", name="In full", exact=True)
    expect(version.or_(rows).first).to_be_visible()
    if not rows.is_visible():  # a kept quick result says more than a few rows, and comes first
        version.click()
    expect(rows).to_be_visible()


@pytest.mark.parametrize("width", [400, 1280])
def test_every_result_fits_the_window(new_page, width, screenshot):
    page = new_page("/paper?result=table1", width=width, height=860)
    wait_for(page, "Measure it here")
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    screenshot(page, f"paper-table1-{width}")

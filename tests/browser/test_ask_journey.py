"""Asking as people ask, in a real browser: by trade name, from a smell, and side by side."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.conftest import wait_for
from tests.browser.test_smell_journey import FIRST, box, until_known


def test_from_a_smell_to_a_molecule_to_two_side_by_side_to_one_that_is_changed(
    new_page, screenshot
):
    page = new_page("/smell?view=search&want=Musky&avoid=Fruity")
    expect(page.get_by_text("molecules meet the wish")).to_be_visible(timeout=1000 * FIRST)
    screenshot(page, "smell-search")
    page.locator(".st-key-smell_hit_ask_0 button").click()
    expect(box(page)).to_be_visible()
    expect(page.locator(".st-key-smell_profile .ytick text").first).to_contain_text("Musky")
    box(page).fill("Ambroxan\nmethyl dihydrojasmonate")
    wait_for(page, "2 molecules answered")
    page.get_by_role("tab", name="Side by side").click()
    wait_for(page, "What makes the difference in")
    screenshot(page, "smell-side-by-side")
    box(page).fill("butyric acid")
    until_known(page, "Cheesy")
    expect(page.get_by_role("tab", name="Side by side")).to_have_count(0)
    page.get_by_role("tab", name="Change it").click()
    page.locator(".st-key-smell_edit_take_0 button").click()
    wait_for(page, "Changed from butyric acid")
    expect(box(page)).to_have_value(re.compile(r"C\(=O\)O|OC\(=O\)|OC="))
    assert page.get_by_text("Traceback").count() == 0

"""Asking as people ask, in a real browser: by trade name, from a smell, and side by side."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import wait_for
from tests.browser.test_smell_journey import FIRST, box, until_known

WIDE = {"width": 1280, "dark": False}
PHONE = {"width": 400, "height": 860, "dark": True, "touch": True}


def link(page) -> str:
    """Path and query of the link that the page offers to share."""
    page.get_by_role("button", name="Share").click()
    shown = page.locator("[data-testid=stPopoverBody] code").first
    expect(shown).to_be_visible()
    address = shown.inner_text()
    page.keyboard.press("Escape")
    return "/smell?" + address.partition("?")[2]


@pytest.mark.parametrize("screen", [WIDE, PHONE], ids=["wide, light", "phone, dark"])
def test_from_a_smell_to_a_molecule_to_two_side_by_side_to_one_that_is_changed(
    new_page, screenshot, screen
):
    where = "phone" if screen is PHONE else "wide"
    page = new_page("/smell?view=search&want=Musky&avoid=Fruity&boils=100-350", **screen)
    expect(page.get_by_text("molecules meet the wish")).to_be_visible(timeout=1000 * FIRST)
    screenshot(page, f"smell-search-{where}")
    again = new_page(link(page), **screen)
    expect(again.get_by_text("molecules meet the wish")).to_have_text(
        page.get_by_text("molecules meet the wish").inner_text()
    )
    first = page.locator(".st-key-smell_hit_0 [data-testid=stText]").first.inner_text()
    assert again.locator(".st-key-smell_hit_0 [data-testid=stText]").first.inner_text() == first
    page.locator(".st-key-smell_hit_ask_0 button").click()
    expect(box(page)).to_be_visible()
    expect(page.locator(".st-key-smell_profile .ytick text").first).to_contain_text("Musky")
    # Four side by side, and the same in another browser.
    box(page).fill("Ambroxan\nmethyl dihydrojasmonate\n(R)-carvone\n(S)-carvone")
    wait_for(page, "4 molecules answered")
    page.get_by_role("tab", name="Side by side").click()
    wait_for(page, "to them they are one molecule")
    wait_for(page, "Drawings: orange atoms give")  # below the last of them
    screenshot(page, f"smell-side-by-side-{where}")
    other = new_page(link(page), **screen)
    expect(box(other)).to_have_value(box(page).input_value())
    wait_for(other, "4 molecules answered")
    box(page).fill("butyric acid")
    until_known(page, "Cheesy")
    expect(page.get_by_role("tab", name="Side by side")).to_have_count(0)
    page.get_by_role("tab", name="Change it").click()
    page.locator(".st-key-smell_edit_take_0 button").click()
    wait_for(page, "Changed from butyric acid")
    expect(box(page)).to_have_value(re.compile(r"C\(=O\)O|OC\(=O\)|OC="))
    for one in (page, again, other):
        assert one.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
        assert one.get_by_text(re.compile("Traceback|Something went wrong")).count() == 0


@pytest.mark.parametrize("screen", [WIDE, PHONE], ids=["wide, light", "phone, dark"])
def test_names_are_forgiven_asked_about_and_taken_for_all_rows_at_once(
    new_page, screenshot, screen
):
    page = new_page("/smell?smiles=Rosen%C3%B6l", **screen)
    expect(page.get_by_text(re.compile("mixture of many molecules"))).to_be_visible(
        timeout=1000 * FIRST
    )
    screenshot(page, f"smell-mixture-{'phone' if screen is PHONE else 'wide'}")
    page.get_by_role("button", name="geraniol").click()
    wait_for(page, "^geraniol: ")
    box(page).fill("CAS-Nr. 121-33-5\nlimonnene\nhedion\npatchouli oil\nBlätteralkohol\nCO")
    wait_for(page, "3 molecules answered, 3 lines are none")
    page.get_by_role("button", name="Take 2 suggestions").click()
    wait_for(page, "5 molecules answered, 1 line is none")
    expect(box(page)).to_have_value(re.compile("patchouli oil\nBlätteralkohol\nCO$"))
    assert page.get_by_text(re.compile("Traceback|Something went wrong")).count() == 0

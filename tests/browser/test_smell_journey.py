"""Journeys through the Smell page in a real browser."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.conftest import wait_for

FIRST = 240  # seconds in which a server that has just started, on a busy machine, teaches its flies


def box(page):
    return page.get_by_label("SMILES or names, one molecule per line")


def until_first_bar(page, name, seconds=60):
    first = page.locator(".st-key-smell_profile .ytick text").first
    expect(first).to_contain_text(name, timeout=1000 * seconds)


def until_known(page, name, seconds=60):
    """Until the answer is of a molecule that is known to smell so, whatever the flies say first:
    they answer as if they had never been taught it."""
    names = page.locator(".st-key-smell_profile .ytick text")
    expect(names.filter(has_text=re.compile(rf"{name}\s+✓"))).to_be_visible(timeout=1000 * seconds)


def test_what_is_typed_or_pasted_is_answered_at_once_and_what_is_no_molecule_is_not(
    new_page, screenshot
):
    page = new_page("/smell")
    until_first_bar(page, "Vanilla", FIRST)
    screenshot(page, "smell-first")

    # Ten megabytes are refused, and the page goes on.
    box(page).evaluate(
        """area => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", "CCO\\n".repeat(2_500_000));
            area.dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true }));
        }"""
    )
    wait_for(page, "10,000,000 characters; at most 500,000")
    until_first_bar(page, "Vanilla")  # what was there is kept
    box(page).fill("Limonene")
    until_known(page, "Citrus")
    expect(page.get_by_text("10,000,000 characters")).to_have_count(0)

    box(page).fill("limonnene")
    wait_for(page, "Is it limonene")
    page.locator(".st-key-near_1_0 button:visible").click()
    until_known(page, "Citrus")
    expect(box(page)).to_have_value(re.compile("C=C"))

    # Hostile text is shown as text.
    page.evaluate("window.hit = 0")
    box(page).fill("<img src=x onerror='window.hit=1'> **bold**")
    wait_for(page, "HTML, not a SMILES")
    box(page).fill("CCO <img/src=x onerror=window.hit=1>**x**\nCCC [a](javascript:window.hit=1)")
    wait_for(page, "2 molecules answered")
    assert page.evaluate("window.hit") == 0
    assert page.locator("[data-testid=stMain] img[src=x]").count() == 0

    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('CC1CCCCCCCCCCCCC(=O)C1')")
    box(page).select_text()
    page.keyboard.press("Control+V")
    until_first_bar(page, "Musky")
    page.wait_for_url("**smiles=CC1*")
    assert page.get_by_text("Traceback").count() == 0


def test_from_a_link_to_reasons_neighbours_and_quality_to_a_list(new_page, screenshot):
    page = new_page("/smell?smiles=CCCC(%3DO)OCC", height=1500)
    until_first_bar(page, "Fruity", FIRST)
    # What was asked is still there after a visit to another page.
    page.get_by_role("link", name="Data").first.click()
    wait_for(page, "Choose a dataset")
    page.get_by_role("link", name="Smell").first.click()
    until_first_bar(page, "Fruity")
    page.wait_for_url("**smiles=CCCC*")

    example = page.get_by_role("button", name="geosmin", exact=True)
    example.click()
    until_known(page, "Earthy")
    expect(box(page)).to_have_value(re.compile("geosmin"))
    expect(example).to_have_attribute("aria-pressed", "true")
    wait_for(page, "measured what-if")
    screenshot(page, "smell-why")
    page.get_by_role("tab", name="Nearest known odorants").click()
    wait_for(page, "the most similar KC tags")
    wait_for(page, "similarity 0")
    screenshot(page, "smell-near")
    page.get_by_role("tab", name="How good is this?").click()
    wait_for(page, "5-fold cross-validation")
    screenshot(page, "smell-quality")

    # Many molecules come with a progress bar, a table and a CSV.
    lines = [f"{'C' * i}OC(=O){'C' * j} ester{i}-{j}" for i in range(1, 8) for j in range(1, 9)]
    box(page).fill("\n".join([*lines, "garbage!", "vanillin"]))
    wait_for(page, "57 molecules answered.*1 line is none", 180)
    screenshot(page, "smell-many")
    with page.expect_download() as download:
        page.get_by_test_id("stDownloadButton").get_by_role("button").click()
    text = download.value.path().read_text()
    assert text.count("\n") == 59 and "ester3-3" in text
    page.get_by_role("tab", name="All molecules").click()
    expect(page.locator(".st-key-smell_heatmap .heatmaplayer image").first).to_be_visible(
        timeout=60_000
    )
    screenshot(page, "smell-heatmap")

    # A longer list can be cancelled.
    lines = [
        f"{'C' * i}C(O){'C' * j}N{'C' * k}"
        for i in range(1, 12)
        for j in range(9)
        for k in range(9)
    ]
    box(page).fill("\n".join(lines))
    cancel = page.get_by_role("button", name="Cancel")
    expect(cancel.first).to_be_visible(timeout=60_000)
    cancel.first.click()
    wait_for(page, "Stopped|Try again", 60)
    expect(box(page)).to_have_value("\n".join(lines))  # the question stands


def test_a_link_opens_the_same_question_on_a_phone_in_the_dark(new_page, screenshot):
    page = new_page(
        "/smell?smiles=Cc1c%5BnH%5Dc2ccccc12%20skatole", width=400, height=860, dark=True
    )
    until_known(page, "Animalic", FIRST)
    expect(box(page)).to_have_value("Cc1c[nH]c2ccccc12 skatole")
    background = page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor")
    assert background == "rgb(20, 22, 26)"
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert overflow <= 0
    screenshot(page, "smell-phone-dark")

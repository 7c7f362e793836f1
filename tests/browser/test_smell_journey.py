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


def test_the_first_visit_is_answered_and_a_paste_is_answered_at_once(new_page, screenshot):
    page = new_page("/smell")
    until_first_bar(page, "Vanilla", FIRST)
    screenshot(page, "smell-first")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('CC1CCCCCCCCCCCCC(=O)C1')")
    box(page).select_text()
    page.keyboard.press("Control+V")
    until_first_bar(page, "Musky")
    page.wait_for_url("**smiles=CC1*")
    assert page.get_by_text("Traceback").count() == 0


def test_typing_a_name_answers_without_pressing_anything(new_page):
    page = new_page("/smell")
    until_first_bar(page, "Vanilla", FIRST)
    box(page).fill("Limonene")
    until_known(page, "Citrus")
    box(page).fill("limonnene")
    wait_for(page, "Is it limonene")
    page.locator(".st-key-near_1_0 button:visible").click()
    until_known(page, "Citrus")
    expect(box(page)).to_have_value(re.compile("C=C"))


def test_examples_reasons_neighbours_and_quality(new_page, screenshot):
    page = new_page("/smell", height=1500)
    until_first_bar(page, "Vanilla", FIRST)
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


def test_hostile_text_is_shown_as_text(new_page):
    page = new_page("/smell")
    until_first_bar(page, "Vanilla", FIRST)
    page.evaluate("window.hit = 0")
    box(page).fill("<img src=x onerror='window.hit=1'> **bold**")
    wait_for(page, "HTML, not a SMILES")
    box(page).fill("CCO <img/src=x onerror=window.hit=1>**x**\nCCC [a](javascript:window.hit=1)")
    wait_for(page, "2 molecules answered")
    assert page.evaluate("window.hit") == 0
    assert page.locator("[data-testid=stMain] img[src=x]").count() == 0


def test_ten_megabytes_are_refused_and_the_page_goes_on(new_page):
    page = new_page("/smell")
    until_first_bar(page, "Vanilla", FIRST)
    box(page).evaluate(
        """area => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", "CCO\\n".repeat(2_500_000));
            area.dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true }));
        }"""
    )
    wait_for(page, "10,000,000 characters; at most 500,000")
    until_first_bar(page, "Vanilla")  # what was there is kept
    box(page).fill("limonene")
    until_known(page, "Citrus")
    expect(page.get_by_text("10,000,000 characters")).to_have_count(0)


def test_many_molecules_come_with_a_progress_bar_a_table_and_a_csv(new_page, screenshot):
    page = new_page("/smell", height=1300)
    until_first_bar(page, "Vanilla", FIRST)
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


def test_a_long_list_can_be_cancelled(new_page):
    page = new_page("/smell")
    until_first_bar(page, "Vanilla", FIRST)
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


def test_a_link_opens_the_same_question_in_the_dark(new_page, screenshot):
    page = new_page("/smell?smiles=Cc1c%5BnH%5Dc2ccccc12%20skatole", dark=True)
    until_known(page, "Animalic", FIRST)
    expect(box(page)).to_have_value("Cc1c[nH]c2ccccc12 skatole")
    background = page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor")
    assert background == "rgb(20, 22, 26)"
    screenshot(page, "smell-dark")


def test_the_page_is_usable_on_a_phone(new_page, screenshot):
    page = new_page("/smell", width=400, height=860)
    until_first_bar(page, "Vanilla", FIRST)
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert overflow <= 0
    screenshot(page, "smell-phone")


def test_what_was_asked_is_still_there_after_a_visit_to_another_page(new_page):
    page = new_page("/smell?smiles=CCCC(%3DO)OCC")
    until_first_bar(page, "Fruity", FIRST)
    page.get_by_role("link", name="Data").first.click()
    wait_for(page, "Choose a dataset")
    page.get_by_role("link", name="Smell").first.click()
    until_first_bar(page, "Fruity")
    page.wait_for_url("**smiles=CCCC*")

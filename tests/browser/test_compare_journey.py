"""Journeys through the Compare page in a real browser."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.conftest import LIGHT_INK, wait_for

QUICK = "/compare?dataset=digits&models=KCNet,ELM&hidden=20,40&n_repeats=3"
LONG = "/compare?dataset=digits&models=KCNet,DOA,ELM&hidden=20,40,60&n_repeats=40"


def press(page, name):
    page.get_by_role("button", name=name).first.click()


def open_tab(page, name):
    page.get_by_role("tab", name=name, exact=True).click()


def n_fits(page) -> int:
    """Rows that the status line counts."""
    line = page.get_by_text(re.compile(r"^\D[^\n]* · [\d,]+ of [\d,]+ fits$")).first
    return int(re.search(r"([\d,]+) of [\d,]+ fits", line.inner_text()).group(1).replace(",", ""))


def test_a_comparison_is_cancelled_resumed_reloaded_watched_and_keeps_every_row(
    new_page, screenshot
):
    page = new_page(LONG)
    wait_for(page, "Nothing has been compared yet")
    press(page, "Start")
    wait_for(page, r"[1-9]\d* of 360 fits")
    wait_for(page, "Highest mean accuracy")
    screenshot(page, "compare-running")
    press(page, "Cancel")
    wait_for(page, r"^Cancelled after .* fits$")
    kept = n_fits(page)
    assert 0 < kept < 360
    wait_for(page, f"{kept} of them are here already")
    screenshot(page, "compare-cancelled")
    press(page, "Resume")
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    wait_for(page, r"^Latest: ")
    page.wait_for_function(
        """kept => {
            const text = document.body.innerText.match(/(\\d+) of 360 fits/);
            return text && Number(text[1]) > kept;
        }""",
        arg=kept,
    )
    page.wait_for_url("**job=*")
    page.reload()
    wait_for(page, r"[1-9]\d* of 360 fits")
    watcher = new_page(page.url)
    wait_for(watcher, "You are watching a comparison that somebody else started")
    wait_for(watcher, r"[1-9]\d* of 360 fits")
    expect(watcher.get_by_role("button", name="Cancel")).to_have_count(0)
    screenshot(watcher, "compare-watcher")
    press(page, "Cancel")
    wait_for(page, r"^Cancelled after .* fits$")
    assert n_fits(page) > kept
    assert page.get_by_text("Traceback").count() == 0


def test_a_finished_comparison_is_found_again_by_its_link_extended_and_tuned(new_page, screenshot):
    page = new_page(QUICK)
    press(page, "Start")
    wait_for(page, r"^Done after .* 12 of 12 fits$")
    wait_for(page, "How long does it take to get there")  # below the settled scores
    said = page.get_by_text(re.compile("Highest mean accuracy")).first.inner_text()
    same_scores_on_a_phone_in_the_dark(new_page, screenshot, page.url, said)
    wait_for(page, "Digits, 8 × 8 · benchmark's own, 1,400 training and 397 test rows")
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    screenshot(page, "compare-scores")
    for tab, words in {
        "Cost": "Trained parameters",
        "Differences": "How to read this",
        "Inside": "Input weights",
        "Tune": "Nothing has been searched yet",
        "Noise": "Nothing has been spoiled yet",
        "Take home": "Every row",
    }.items():
        open_tab(page, tab)
        wait_for(page, words)
        screenshot(page, f"compare-{tab.lower().replace(' ', '-')}")
    with page.expect_download() as download:
        press(page, "Rows")
    text = download.value.path().read_text()
    assert len(text.splitlines()) == 13 and "KCNet 20" in text
    open_tab(page, "Differences")
    press(page, "Set 6 repeats")
    wait_for(page, "12 of them are here already")
    press(page, "Extend")
    wait_for(page, r"^Done after .* 24 of 24 fits$")

    open_tab(page, "Tune")
    trials = page.get_by_role("spinbutton", name="Trials")
    trials.fill("4")
    trials.press("Enter")
    press(page, "Search")
    wait_for(page, r"^Done after [\d.]+ (s|min) · 4 trials$", 120)
    wait_for(page, "Best so far|nothing beats the untuned")
    screenshot(page, "compare-search")
    press(page, "Use this setting of KCNet in the comparison")
    page.wait_for_url("**settings=*")


def same_scores_on_a_phone_in_the_dark(new_page, screenshot, url, said):
    """The link without its job opens the same comparison, which gives the same scores."""
    page = new_page(re.sub(r"&?job=[^&]*", "", url), width=400, height=860, dark=True)
    wait_for(page, "2 models at 2 sizes, 3 repeats on Digits")
    press(page, "Start")
    wait_for(page, r"^Done after .* 12 of 12 fits$")
    wait_for(page, "How long does it take to get there")
    assert page.get_by_text(re.compile("Highest mean accuracy")).first.inner_text() == said
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert overflow <= 0
    expect(page.locator(".js-plotly-plot .xtitle").first).to_have_css("fill", LIGHT_INK)
    screenshot(page, "compare-phone-dark")
    page.close()


LIVE = "/compare?look=beside&dataset=digits&rows=400&widest=200&seeds=3"


def test_compare_opens_on_two_networks_that_grow_without_a_press(new_page, screenshot):
    page = new_page("/compare", height=720)
    wait_for(page, r"KCNet, [\d,]+ cells: \d")
    wait_for(page, r"ELM, [\d,]+ cells: \d")
    page.wait_for_url("**look=beside**")
    screenshot(page, "compare-live")
    wait_for(page, r"^At 510 cells: KCNet − ELM = ")  # grown to the width that it opens on
    wait_for(page, r"KCNet, 510 cells: \d")
    assert page.get_by_text("Traceback").count() == 0


def test_growing_can_be_stopped_and_what_has_grown_stays(new_page):
    page = new_page("/compare?look=beside&dataset=digits&widest=4000&seeds=20")
    wait_for(page, r"KCNet, [\d,]+ cells: \d")
    press(page, "Stop")
    wait_for(page, r"^Stopped after ")
    wait_for(page, r"KCNet, [\d,]+ cells: \d")
    expect(page.get_by_role("button", name="Go on")).to_be_visible()


def width_shown(page) -> int:
    text = page.get_by_text(re.compile(r"KCNet, [\d,]+ cells")).first.inner_text()
    return int(re.search(r"([\d,]+) cells", text).group(1).replace(",", ""))


def test_width_and_noise_answer_at_once_and_a_link_shows_the_same(new_page, screenshot):
    page = new_page(LIVE)
    wait_for(page, r"^Done after .* points$")
    wait_for(page, r"KCNet − ELM = [+−][\d.]+ accuracy .*95%, 3 seeds")
    canvas = page.locator(".st-key-beside_widths canvas").first.element_handle()
    slider = page.get_by_role("slider", name="Width")
    for _ in range(5):
        slider.press("ArrowLeft")
    wait_for(page, r"^At 130 cells: KCNet − ELM")
    page.get_by_role("slider", name="Noise on the input").press("ArrowRight")
    wait_for(page, r"^At 130 cells with noise of 0\.25: KCNet − ELM")
    page.wait_for_url("**noise=0.25**")
    assert width_shown(page) == 130
    assert canvas.evaluate("node => node.isConnected")  # the chart changed in place
    said = page.get_by_text(re.compile("^At 130 cells with noise")).first.inner_text()
    other = new_page(page.url, width=400, height=860, dark=True)
    wait_for(other, r"^At 130 cells with noise of 0\.25: KCNet − ELM")
    assert other.get_by_text(re.compile("^At 130 cells with noise")).first.inner_text() == said
    assert other.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    other.wait_for_function(
        """() => {
            const [a, b] = ["KCNet", "ELM"].map(name => [...document.querySelectorAll("p")]
                .find(p => p.innerText.startsWith(`${name}, 130 cells`)).getBoundingClientRect());
            return Math.abs(a.top - b.top) < 5 && a.right <= b.left;
        }"""
    )  # side by side on a phone, too
    screenshot(other, "compare-live-phone-dark")

    # The measured comparison is one press deeper.
    page.get_by_text("All models, measured").click()
    wait_for(page, "Nothing has been compared yet")
    page.get_by_text("KCNet | ELM, live").click()
    wait_for(page, r"KCNet − ELM = ")

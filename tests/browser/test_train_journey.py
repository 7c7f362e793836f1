"""Journeys through the Train page in a real browser."""

from __future__ import annotations

import re
from contextlib import suppress

from playwright.sync_api import expect

from tests.browser.conftest import LIGHT_INK, wait_for

QUICK = "/?dataset=digits&n_hidden=60&n_epochs=4&pace=full+speed"
LONG = (
    "/?dataset=digits&n_hidden=600&n_epochs=1000&pace=full+speed"  # minutes, unless it is stopped
)

BOXES = """all => all.map((chart) => {
  const { x, y, width, height } = chart.getBoundingClientRect();
  return [x, y, width, height].map(Math.round);
})"""
LIVE = ".st-key-live canvas"  # S, W, and the four curves; canvases of our own in shadow roots
CURVE = "canvas[aria-label*='accuracy over epochs']"
HEIGHT = "document.querySelector('[data-testid=stMain]').scrollHeight"
# Counts redrawings by what the curve says, frames in which a chart is gone, and layout shifts.
WATCH = """charts => {
  Object.assign(window, { redrawn: new Set(), played: new Set(), curves: new Set(), emptied: 0,
                          shifted: [] });
  charts.forEach((chart) => (chart.watched = true));
  const [curve, scores] = [/^Validation/, /scores S/].map((words) =>
    charts.find((chart) => words.test(chart.getAttribute("aria-label"))));
  const moved = ({ sources }) => sources.map(({ node, previousRect, currentRect }) =>
    [node?.innerText ?? node?.className, previousRect, currentRect]); // no node in a shadow root
  new PerformanceObserver((list) => window.shifted.push(...list.getEntries().map(moved))).observe({
    type: "layout-shift",
  });
  const look = () => {
    window.redrawn.add(curve.getAttribute("aria-label"));
    window.played.add(scores.toDataURL().slice(-2000));
    window.curves.add(curve.toDataURL());
    window.emptied += charts.every((chart) => chart.isConnected && chart.width > 50) ? 0 : 1;
    requestAnimationFrame(look);
  };
  look();
}"""


def score_of(page) -> str:
    """Of a run that has ended."""
    expect(page.locator(".st-key-live_film dt").first).to_have_text("Test accuracy")
    return page.locator(".st-key-live_film dd").first.inner_text()


def start(page):
    page.get_by_role("button", name="Start").click()


def settled(page, locator) -> dict:
    """Where an element is, once it is there and has stopped moving."""
    before = None
    for _ in range(150):
        expect(locator).to_be_visible()
        now = locator.bounding_box()  # None when it was drawn anew since the line before
        if now is not None and now == before:
            return now
        before = now
        page.evaluate("new Promise((done) => setTimeout(done, 200))")
    raise AssertionError("it still moves after half a minute")


def test_a_newcomer_presses_start_and_gets_a_trained_model(new_page, screenshot):
    page = new_page("/")
    wait_for(page, "Nothing has been trained yet")
    start(page)
    expect(page.locator("canvas[aria-label*='scores S, epoch']")).to_be_visible()
    screenshot(page, "train-running")
    wait_for(page, "Done after", 120)
    wait_for(page, "Test accuracy")
    wait_for(page, "benchmark's own")
    screenshot(page, "train-done")
    assert page.get_by_text("Traceback").count() == 0


def test_charts_stay_in_place_from_the_first_epoch_to_the_end(new_page, screenshot):
    page = new_page(LONG)
    start(page)
    charts = page.locator(LIVE)
    expect(charts).to_have_count(6)
    expect(page.locator("canvas[aria-label*='scores S, epoch']")).to_be_visible()
    expect(page.locator(CURVE)).to_be_visible()
    boxes, height = charts.evaluate_all(BOXES), page.evaluate(HEIGHT)
    charts.evaluate_all(WATCH)
    # Five redrawings, each with other numbers
    page.wait_for_function("window.redrawn.size >= 5")
    page.locator("canvas[aria-label*='scores S']").hover()
    wait_for(page, r"Kenyon cells \d+ to \d+")
    screenshot(page, "train-live")
    assert page.evaluate("window.shifted") == []
    page.get_by_role("button", name="Pause").click()
    wait_for(page, "Paused after")
    page.get_by_role("button", name="Resume").click()
    page.wait_for_function("window.redrawn.size >= 7")
    played, drawn, redrawn = page.evaluate(
        "[window.played, window.curves, window.redrawn].map((seen) => seen.size)"
    )
    assert played > redrawn, "the frames between two looks at the run are played too"
    assert drawn > redrawn, "and the curve grows with them"
    assert abs(page.evaluate(HEIGHT) - height) <= 1, "half a pixel is rounded either way"
    page.get_by_role("button", name="Finish").click()
    wait_for(page, "Done after")
    expect(page.get_by_role("tab", name="Take home")).to_be_visible()
    assert page.evaluate("window.emptied") == 0
    assert charts.evaluate_all("all => all.filter((chart) => chart.watched).length") == 6
    assert charts.evaluate_all(BOXES) == boxes


def test_a_link_opens_the_same_experiment(new_page):
    first = new_page("/?dataset=digits&model=KCNet&n_hidden=300&alpha=2.5&seed=7")
    start(first)
    wait_for(first, "Done after")
    score = score_of(first)
    link = re.sub(r"&?job=[^&]*", "", first.url)
    second = new_page(link)
    expect(second.get_by_text("2.5", exact=True).first).to_be_visible()
    start(second)
    wait_for(second, "Done after")
    assert score_of(second) == score


def test_a_broken_link_gives_sentences_and_a_working_page(new_page):
    page = new_page("/?n_hidden=-4&model=%3Cscript%3E&job=nothing")
    wait_for(page, "The link's n_hidden was not used")
    wait_for(page, "This run is not on the server any more")
    expect(page.get_by_role("button", name="Start")).to_be_enabled()


def test_a_first_run_is_paced_and_a_key_gives_it_full_speed(new_page):
    page = new_page("/?dataset=digits&n_hidden=60&n_epochs=40")
    wait_for(page, r"Estimated 10 s \(.* at full speed\)")
    start(page)
    wait_for(page, r"epoch [1-9]\d? of 40")
    page.locator("h1").click()
    page.keyboard.press("v")
    expect(page.get_by_role("radio", name=re.compile("full speed"))).to_be_checked()
    wait_for(page, "Done after")
    assert "pace=full+speed" in page.url


def test_a_run_is_stepped_resumed_reloaded_watched_and_stopped_by_its_owner_alone(
    new_page, screenshot
):
    owner = new_page(LONG)
    owner.get_by_role("button", name="Step").click()
    wait_for(owner, "Paused after")
    wait_for(owner, "epoch 0 of 1,?000")
    owner.get_by_role("button", name="Step").click()
    wait_for(owner, "epoch 1 of 1,?000")
    owner.get_by_role("button", name="Resume").click()
    wait_for(owner, r"epoch ([2-9]|\d\d+) of 1,?000")
    owner.wait_for_url("**job=*")

    # Training goes on through a reload, and its owner can still stop it.
    owner.reload()
    wait_for(owner, r"epoch \d+ of 1,?000")
    stop = owner.get_by_role("button", name="Stop Shortcut X")
    expect(stop).to_be_enabled()

    watcher = new_page(owner.url)
    wait_for(watcher, "You are watching a run that somebody else started")
    wait_for(watcher, r"epoch \d+ of 1,?000")
    expect(watcher.get_by_role("button", name="Stop Shortcut X")).to_be_disabled()
    expect(watcher.get_by_role("button", name="Pause")).to_be_disabled()
    screenshot(watcher, "train-watcher")
    stop.click()
    wait_for(owner, "Stopped after")
    wait_for(watcher, "Stopped after")


def test_who_prefers_reduced_motion_sees_the_newest_frame_only_until_finish(new_page):
    page = new_page(LONG)
    page.emulate_media(reduced_motion="reduce")
    start(page)
    expect(page.locator("canvas[aria-label*='scores S, epoch']")).to_be_visible()
    page.locator(LIVE).evaluate_all(WATCH)
    page.wait_for_function("window.redrawn.size >= 5")
    played, redrawn = page.evaluate("[window.played.size, window.redrawn.size]")
    assert played <= redrawn + 1

    # A setting moved meanwhile is that of the next run.
    page.get_by_role("slider").first.press("ArrowRight")
    page.wait_for_url(re.compile("n_hidden=650"))
    page.get_by_role("button", name="Finish").click()
    wait_for(page, "Done after")
    wait_for(page, "The search was ended by hand after epoch")
    wait_for(page, "Next run: DOA with 650 cells")
    status = page.locator(".st-key-run_status").inner_text()
    made, planned = re.search(r"last epoch (\d+) of (\d+)", status).groups()
    assert made == planned


def test_dark_theme_reaches_the_charts_on_a_phone(new_page, screenshot):
    page = new_page(QUICK, width=400, height=860, dark=True)
    start(page)
    wait_for(page, "Done after")
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert overflow <= 0
    background = page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor")
    assert background == "rgb(20, 22, 26)"
    title = page.locator(".js-plotly-plot .gtitle, .js-plotly-plot .xtitle").first
    expect(title).to_have_css("fill", LIGHT_INK)
    screenshot(page, "train-phone-dark")


def test_a_run_ends_while_another_page_is_open_and_all_of_it_can_be_looked_at(new_page, screenshot):
    page = new_page(QUICK)
    start(page)
    wait_for(page, r"epoch \d+ of 4|Done after")
    page.get_by_role("link", name="Data").first.click()
    wait_for(page, "Choose a dataset")
    page.get_by_role("link", name="Train").first.click()
    wait_for(page, "Done after")
    page.wait_for_url(re.compile("n_hidden=60"))
    the_film_plays_again_steps_zooms_and_shows_the_change(page, screenshot)
    a_matrix_is_saved_as_a_picture(page)
    a_click_on_a_kenyon_cell_and_on_a_sample_shows_that_one(page, screenshot)


def the_film_plays_again_steps_zooms_and_shows_the_change(page, screenshot):
    film = page.locator(".st-key-live_film")
    expect(film.locator("output")).to_have_text(re.compile("^epoch 4"))
    picture = "(canvas) => canvas.toDataURL()"
    weights = film.locator("canvas[aria-label*='Weights W']")
    end = weights.evaluate(picture)
    film.get_by_label("Stored epochs").fill("0")
    expect(film.locator("output")).to_have_text(re.compile("^epoch 0"))
    begin = weights.evaluate(picture)
    assert begin != end
    film.get_by_label("change since start").check()
    assert weights.evaluate(picture) != begin
    screenshot(page, "train-change")
    film.get_by_label("change since start").uncheck()
    film.get_by_role("button", name="Zoom in").click()
    near = weights.evaluate(picture)
    assert near != begin
    film.get_by_role("button", name="Play again").click()
    expect(film.locator("output")).to_have_text(re.compile("^epoch 4"))
    assert weights.evaluate(picture) != near
    film.get_by_role("button", name="Zoom out").click()
    page.wait_for_timeout(600)  # the last flipped connections stop glowing
    assert weights.evaluate(picture) == end


def a_matrix_is_saved_as_a_picture(page):
    page.locator("canvas[aria-label*='Weights W']").hover()
    with page.expect_download() as download:
        page.locator(".st-key-live_film").get_by_role("button", name="Save as PNG").nth(1).click()
    assert download.value.suggested_filename == "kcnet-Weights W.png"
    assert download.value.path().read_bytes().startswith(b"\x89PNG")


def a_click_on_a_kenyon_cell_and_on_a_sample_shows_that_one(page, screenshot):
    page.get_by_role("tab", name="Kenyon cells").click()
    points = page.locator(".st-key-cell_scatter .scatterlayer .trace").last.locator(".point")
    expect(points.first).to_be_visible()
    number = page.get_by_role("spinbutton", name="Kenyon cell")
    shown = number.input_value()
    page.locator(".st-key-cell_scatter").evaluate(
        "chart => chart.scrollIntoView({ block: 'center' })"
    )
    # A chart that plotly is still drawing misses a click; a second one on the same point would
    # take back the first, if that was only slow.
    for point in [k for k in range(11, 15) if str(k) != shown][:3]:
        box = settled(page, points.nth(point))
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_timeout(500)  # plotly takes a click only on what it has seen hovered over
        page.mouse.down()
        page.mouse.up()
        with suppress(AssertionError):
            expect(number).not_to_have_value(shown, timeout=3_000)
            break
    expect(number).not_to_have_value(shown)
    wait_for(page, rf"Cell {number.input_value()} listens to")

    page.get_by_role("tab", name="Test samples").click()
    page.get_by_text("all", exact=True).click()
    table = page.locator("[data-testid=stDataFrame] canvas").first
    contributions = page.locator(".st-key-sample_contributions [role=figure]").first
    expect(contributions).to_be_visible()
    before = contributions.get_attribute("aria-label")
    table.evaluate("table => table.scrollIntoView({ block: 'center' })")
    box = settled(page, table)
    page.mouse.click(box["x"] + 30, box["y"] + 36 + 2.5 * 56)  # the picture in the third row
    expect(contributions).not_to_have_attribute("aria-label", before)
    screenshot(page, "train-sample")

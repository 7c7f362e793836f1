"""A lesson from start to end, a digit drawn by hand, and the walk, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

# A machine that runs the whole suite on two cores answers late; waiting longer is not slower.
PATIENCE = 150_000


@pytest.fixture(autouse=True)
def patient():
    expect.set_options(timeout=PATIENCE)


def no_traceback(page):
    expect(page.get_by_test_id("stException")).to_have_count(0)


def circuit(page):
    return page.locator(".circuit svg")


def drawn_cells(page):
    """How many Kenyon cells the drawing shows as firing."""
    return page.locator(".circuit circle.cell").evaluate_all(
        "dots => dots.filter(dot => Number(dot.style.getPropertyValue('--v')) > 0).length"
    )


def to_a_phone_in_the_dark(page):
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 400, "height": 900})
    # Nothing hangs over the edge of a narrow screen.
    page.wait_for_function("document.documentElement.scrollWidth <= window.innerWidth")
    expect(page.locator(".stApp")).to_have_css("background-color", "rgb(20, 22, 26)")


def test_a_visitor_walks_through_the_circuit(new_page, screenshot):
    page = new_page("/learn")
    expect(page.get_by_role("heading", name="Something arrives")).to_be_visible()
    expect(circuit(page)).to_have_attribute("aria-label", re.compile("glomeruli fire"))
    titles = [
        "Every Kenyon cell hears a few glomeruli",
        "A cell adds up what it hears",
        "All cells are inhibited alike",
        "Below zero means silent",
        "The active cells vote",
        "The answer: .*Vanilla",
    ]
    for title in titles:
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_role("heading", name=re.compile(title))).to_be_visible()
    the_answer_is_shown(page)
    screenshot(page, "learn-walk-1280-light")

    to_a_phone_in_the_dark(page)
    the_answer_is_shown(page)
    screenshot(page, "learn-walk-400-dark")
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("heading", name=titles[-2])).to_be_visible()
    page.get_by_role("button", name="Next").click()
    the_answer_is_shown(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def the_answer_is_shown(page):
    expect(page.get_by_role("heading", name=re.compile("The answer: .*Vanilla"))).to_be_visible()
    expect(circuit(page)).to_have_attribute("aria-label", re.compile("The answer is .*Vanilla"))
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    assert "step=7" in page.url
    no_traceback(page)


def test_arrow_keys_walk_a_click_picks_a_cell_and_inhibition_puts_cells_to_sleep(
    new_page, screenshot
):
    page = new_page("/learn?sample=Digit", motion=False)
    expect(page.get_by_role("heading", name="Something arrives")).to_be_visible()
    expect(circuit(page)).to_be_visible()  # with it the page is whole
    expect(page.get_by_role("button", name="Next")).to_be_enabled()
    page.get_by_role("heading", name="Something arrives").click()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name="Every Kenyon cell hears")).to_be_visible()
    page.locator(".circuit circle.cell").nth(122).click()
    expect(page.get_by_text("the bright wires belong to cell 123")).to_be_visible()
    expect(page.locator(".circuit .socket")).to_have_count(7)
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", name="Something arrives")).to_be_visible()
    screenshot(page, "learn-wiring")

    # Inhibition puts cells to sleep in the drawing.
    for title in ("Every Kenyon cell hears", "A cell adds up", "All cells are", "Below zero"):
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_role("heading", name=title)).to_be_visible()
    expect(circuit(page)).to_have_attribute("aria-label", re.compile("are active; the rest"))
    label = circuit(page).get_attribute("aria-label")
    before = drawn_cells(page)
    page.locator(".st-key-inhibition").get_by_role("slider").press("End")
    expect(circuit(page)).not_to_have_attribute("aria-label", label)
    assert drawn_cells(page) < before / 2
    assert "inhibition=2" in page.url
    page.reload()
    expect(circuit(page)).to_have_attribute("aria-label", re.compile("are active; the rest"))
    expect(page.locator(".st-key-inhibition").get_by_role("slider")).to_have_value("2")


def surface_at_rest(page):
    """Where the drawing surface lies once it listens and nothing above it moves it any more."""
    surface = page.locator("canvas").first
    painted = "c => c.width === c.height && c.width > 0"
    page.wait_for_function(painted, arg=surface.element_handle())
    box = None
    while box is None or box != surface.bounding_box():
        surface.hover(trial=True)  # in view, and not covered by the sidebar on its way out
        box = surface.bounding_box()
        page.wait_for_timeout(250)
    return box


def stroke(page, *points):
    """Draw through points given as parts of the surface's side."""
    box = surface_at_rest(page)

    def at(x, y):
        return box["x"] + x * box["width"], box["y"] + y * box["height"]

    page.mouse.move(*at(*points[0]))
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*at(*point), steps=12)
    page.mouse.up()


def test_a_digit_is_read_while_it_is_drawn(new_page, screenshot):
    page = new_page("/learn?view=Draw+a+digit", motion=False)
    expect(page.get_by_role("heading", name="No ink yet")).to_be_visible()
    a_seven_is_drawn_and_read(page)
    screenshot(page, "learn-draw-1280-light")

    page.reload()
    expect(page.get_by_role("heading", name=re.compile("^A 7, "))).to_be_visible()
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_role("heading", name="No ink yet")).to_be_visible()
    expect(page).not_to_have_url(re.compile("ink="))
    to_a_phone_in_the_dark(page)
    a_seven_is_drawn_and_read(page)
    screenshot(page, "learn-draw-400-dark")
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_role("heading", name="No ink yet")).to_be_visible()

    stroke(page, (0.5, 0.15), (0.5, 0.85))
    expect(page.get_by_role("heading", name=re.compile("^A 1, "))).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="No ink yet")).to_be_visible()

    # The same with the keyboard alone
    page.locator("canvas").first.focus()
    for _ in range(9):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("Space")
    for _ in range(18):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    expect(page.get_by_role("heading", name=re.compile("^A 1, "))).to_be_visible()
    page.keyboard.press("Delete")
    expect(page.get_by_role("heading", name="No ink yet")).to_be_visible()


def a_seven_is_drawn_and_read(page):
    page.locator("canvas").first.scroll_into_view_if_needed()
    stroke(page, (0.28, 0.22), (0.72, 0.22), (0.45, 0.82))
    expect(page.get_by_role("heading", name=re.compile(r"^A 7, .*\d+% sure"))).to_be_visible()
    expect(page.get_by_label(re.compile("contributed to the answer 7"))).to_be_visible()
    expect(
        page.get_by_label(re.compile(r"Probability of every digit: .* 7 [1-9]\d+%"))
    ).to_be_visible()
    assert drawn_cells(page) > 20
    expect(page).to_have_url(re.compile("ink="))
    no_traceback(page)


def test_a_digit_can_be_drawn_with_a_finger(chromium, app_url):
    context = chromium.new_context(
        viewport={"width": 400, "height": 900}, has_touch=True, base_url=app_url
    )
    page = context.new_page()
    page.goto("/learn?view=Draw+a+digit")
    expect(page.get_by_role("heading", name="No ink yet")).to_be_visible()
    box = surface_at_rest(page)
    touch = context.new_cdp_session(page)
    down = [(0.5, 0.15 + 0.07 * i) for i in range(11)]
    for i, (x, y) in enumerate(down):
        point = {"x": box["x"] + x * box["width"], "y": box["y"] + y * box["height"]}
        kind = "touchMove" if i else "touchStart"
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(page.get_by_role("heading", name=re.compile("^A 1, "))).to_be_visible()
    context.close()


def test_a_lesson_from_start_to_end(new_page, screenshot):
    page = new_page("/learn?view=Lessons", motion=False)
    page.locator(".st-key-start_sparse-coding").get_by_role("button").click()
    expect(
        page.get_by_role("heading", name="Sparse coding and inhibition", level=1)
    ).to_be_visible()
    expect(page.get_by_text("Step 1 of 6")).to_be_visible()
    expect(circuit(page)).to_be_visible()
    screenshot(page, "lesson-1")

    onward = page.locator(".st-key-lesson_next").get_by_role("button")
    onward.click()
    expect(page.get_by_role("heading", name="How many cells stay awake?")).to_be_visible()
    expect(onward).to_be_disabled()
    measure = page.get_by_role("button", name="Measure")
    expect(page.get_by_text("You predict 50.0%")).to_be_visible()
    guess = page.locator("[class*=st-key-predict]").get_by_role("slider")
    guess.focus()
    for _ in range(5):
        guess.press("ArrowLeft")
    expect(page.get_by_text("You predict 45.0%")).to_be_visible()
    measure.click()
    expect(page.get_by_text(re.compile("Measured: .*You predicted: 45"))).to_be_visible()
    locked = page.get_by_text("Your prediction: share of active cells")
    expect(locked).to_have_css("color", "rgb(95, 99, 107)")  # and not too pale to read
    expect(onward).to_be_enabled()
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    screenshot(page, "lesson-2")

    for title, choice in (
        ("Do different digits get different cells?", "rises"),
        ("Does it help?", "falls"),
        ("How much is best?", "C = 0.25"),
    ):
        onward.click()
        expect(page.get_by_role("heading", name=title)).to_be_visible()
        page.get_by_test_id("stRadio").get_by_text(choice, exact=True).click()
        expect(measure).to_be_enabled()
        measure.click()
        expect(page.get_by_text(re.compile(f"Measured: .*You predicted: {choice}"))).to_be_visible()
        expect(onward).to_be_enabled()

    onward.click()
    expect(page.get_by_role("heading", name="Now you")).to_be_visible()
    expect(page.get_by_text("Measured:")).to_have_count(0)
    expect(page.get_by_role("heading", name="And the codes move apart")).to_be_visible()
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    screenshot(page, "lesson-6")
    onward.click()
    expect(page.get_by_role("heading", name=re.compile("of 4 predictions held"))).to_be_visible()
    expect(page.get_by_role("table")).to_contain_text("C = 0.25")
    no_traceback(page)
    screenshot(page, "lesson-end")
    page.get_by_role("button", name="All lessons").click()
    expect(page.get_by_role("heading", name="How a fly smells")).to_be_visible()
    expect(page.locator(".st-key-start_doa")).to_be_visible()
    assert "lesson=" not in page.url


def test_a_link_to_a_lesson_opens_its_part_in_another_browser(new_page):
    page = new_page("/learn?lesson=random-wiring&part=2", width=400, dark=True, motion=False)
    expect(page.get_by_role("heading", name="Two flies, two wirings")).to_be_visible()
    expect(page.get_by_text("Step 2 of 7")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_experiments_show_their_charts(new_page, screenshot):
    page = new_page("about:blank", height=1100, motion=False)
    for view, ready in (
        ("Inhibition", "And the codes move apart"),
        ("Tags", "A hash that remembers distance"),
        ("Every fly is different", "Wirings differ, answers agree"),
    ):
        page.goto(f"/learn?view={view.replace(' ', '+')}&sample=Tiny+digit&flies=4")
        expect(page.get_by_role("heading", name=ready)).to_be_visible()
        expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
        expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
        no_traceback(page)
        screenshot(page, f"learn-{view.split()[0].lower()}")

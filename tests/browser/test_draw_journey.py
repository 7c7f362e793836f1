"""Drawing in a real browser: vanillin is drawn and answered; a click on the map opens another."""

from __future__ import annotations

import math
import re
from urllib.parse import urlsplit

from playwright.sync_api import TimeoutError, expect

from tests.browser.conftest import wait_for
from tests.browser.test_smell_journey import FIRST, box

BOND = 40  # pixels on empty paper

# The two ends of a molecule's drawing that lie lowest: of one double bond, of which both lines end.
LOWEST = """(paper) => {
  const ends = [...paper.querySelector("svg").querySelectorAll("line")].flatMap((line) =>
    [1, 2].map((k) => new DOMPoint(+line.getAttribute(`x${k}`), +line.getAttribute(`y${k}`))
      .matrixTransform(line.getScreenCTM())));
  const [a, b] = ends.sort((one, other) => other.y - one.y);
  return [(a.x + b.x) / 2, (a.y + b.y) / 2];
}"""


# What is drawn, whatever is marked under the pointer.
SHOWN = """(paper) => [...paper.querySelector("svg").querySelectorAll("line, text")]
  .map((one) => one.outerHTML).join()"""


class Paper:
    """The editor's paper, by what a hand does there."""

    def __init__(self, page):
        self.page, self.paper = page, page.locator(".kcnet-paper")
        self.paper.scroll_into_view_if_needed()
        place = self.paper.bounding_box()
        self.x, self.y = place["x"] + place["width"] / 2, place["y"] + 115

    def take(self, tool: str) -> None:
        self.page.get_by_role("button", name=tool, exact=True).click()

    def click(self, corner: int, away: int = 1) -> None:
        """An atom of the ring, counted from the top, or the first beyond it (`away` 2)."""
        turn = math.radians(60 * corner)
        reach = BOND * away
        self.click_at(self.x + reach * math.sin(turn), self.y - reach * math.cos(turn))

    def click_at(self, x: float, y: float) -> None:
        """Until the paper shows something for it: the editor passes over a click that comes as it
        still finds out what lies under the pointer."""
        shown = self.paper.evaluate(SHOWN)
        for _ in range(5):
            self.page.mouse.move(x - 2, y)
            self.page.mouse.click(x, y)
            try:
                self.page.wait_for_function(
                    f"(shown) => ({SHOWN})(document.querySelector('.kcnet-paper')) !== shown",
                    arg=shown, timeout=5_000,
                )  # fmt: skip
                return
            except TimeoutError:
                continue

    def until(self, smiles: str) -> None:
        expect(box(self.page)).to_have_count(1)  # while the page changes its shape there are two
        expect(box(self.page)).to_have_value(smiles)


def test_vanillin_is_drawn_by_hand_and_a_click_on_the_map_opens_another(new_page, screenshot):
    page = new_page("/smell?smiles=CCO")
    asked = []
    page.on("request", lambda request: asked.append(urlsplit(request.url).hostname))
    expect(page.locator(".st-key-smell_profile .ytick text").first).to_be_visible(
        timeout=1000 * FIRST
    )
    page.get_by_text("Draw", exact=True).click()
    expect(page.locator(".kcnet-paper svg line").first).to_be_attached()
    for name in ("Cl, Chlorine", "Br, Bromine"):  # as it is read
        expect(page.get_by_role("button", name=name, exact=True)).to_be_enabled()
    expect(page.get_by_role("textbox", name="Keys for the drawing").first).to_be_attached()
    expect(page.locator(".kcnet-paper input[role]")).to_have_count(0)
    paper = Paper(page)
    paper.take("Clear")
    paper.until("")
    wait_for(page, "Nothing is asked yet")
    paper.take("Benzene")
    paper.click(0, away=0)
    paper.until("c1ccccc1")
    for corner in (0, 1, 3):
        paper.take("Single bond")
        paper.click(corner)
    paper.until("Cc1ccc(C)c(C)c1")
    paper.take("Oxygen")
    paper.click(0, away=2)
    paper.click(1, away=2)
    paper.take("Single bond")
    paper.click(1, away=2)
    paper.take("Double bond")
    paper.click(3, away=2)
    paper.until("C=Cc1ccc(O)c(OC)c1")
    paper.take("Oxygen")
    paper.click_at(*paper.paper.evaluate(LOWEST))
    paper.until("COc1cc(C=O)ccc1O")
    wait_for(page, "^Vanillin: .*Vanilla|^vanillin: .*Vanilla")
    screenshot(page, "smell-draw")
    # The other way: what is typed is drawn, and its handedness comes back from the drawing.
    box(page).fill("menthol")
    wait_for(page, "^(−|-|l-|\\(.*\\))?-?[Mm]enthol: ")
    expect(page.locator(".kcnet-paper svg text", has_text=re.compile("OH|HO"))).to_have_count(1)
    assert {host for host in asked if host} <= {urlsplit(page.url).hostname}
    page.get_by_role("tab", name="Map").click()
    point = page.locator(".st-key-smell_map .scatterlayer .trace").nth(1).locator("path").first
    point.scroll_into_view_if_needed()
    place = point.bounding_box()
    page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    expect(box(page)).not_to_have_value("menthol")
    expect(box(page)).to_have_value(re.compile(r"^\S+ \S"))
    assert page.get_by_text("Traceback").count() == 0

"""Journeys with data of one's own: a reload, somebody who watches, and names full of Markdown."""

from __future__ import annotations

import re
from urllib.parse import urlencode

from playwright.sync_api import expect

EVIL = {
    "n_hidden": "[Sign in](https://evil.io)", "seed": "![x](//evil.io/p.png)",
    "fan_in": ":material/home:", "n_epochs": ":smile: :red[y]", "rows": "www.evil.io",
    "alpha": "me@evil.io", "inhibition": "<b>x</b> $y$ `z`",
}  # fmt: skip
FILE = "secret *table*.csv"
TABLE = "smiles,name,sweet\n" + "".join(
    f"{'C' * n}{end},hidden name {n},{k}\n" for n in range(2, 14) for k, end in enumerate("NO")
)


def shown(page, words):
    expect(page.get_by_text(re.compile(words)).first).to_be_visible()


def upload(page) -> None:
    page.get_by_role("tab", name="Upload your own").click()
    page.locator("input[type=file]").first.set_input_files(
        {"name": FILE, "mimeType": "text/csv", "buffer": TABLE.encode()}
    )
    page.get_by_role("button", name="Compute descriptors").click()
    shown(page, "rows are ready and in use")


def test_a_run_on_an_upload_outlives_a_reload_and_is_watched_without_its_rows(new_page):
    owner = new_page("/data")
    upload(owner)
    owner.get_by_role("link", name="Train").first.click()
    shown(owner, "Nothing has been trained yet")
    owner.get_by_role("combobox", name=re.compile("Model")).click()
    owner.get_by_role("option", name="DOA", exact=True).click()
    shown(owner, "Tuning")
    owner.get_by_role("radio", name="slow", exact=True).or_(
        owner.get_by_role("button", name="slow", exact=True)
    ).first.click()
    owner.get_by_role("button", name="Start").click()
    shown(owner, r"epoch \d+ of")
    owner.wait_for_url("**job=*")

    owner.reload()
    shown(owner, r"epoch \d+ of")
    stop = owner.get_by_role("button", name="Stop Shortcut X")
    expect(stop).to_be_enabled()

    watcher = new_page(owner.url)
    shown(watcher, "You are watching a run that somebody else started")
    expect(watcher.locator("canvas[aria-label*='scores S']")).to_be_visible()
    expect(watcher.get_by_role("button", name="Stop Shortcut X")).to_be_disabled()

    owner.get_by_text("full speed").first.click()
    shown(owner, "Done after")
    shown(owner, re.escape(FILE))
    shown(watcher, "Done after")
    shown(watcher, "an uploaded dataset")
    for page, n_tabs in ((owner, 1), (watcher, 0)):
        expect(page.get_by_role("tab", name="Test samples")).to_have_count(n_tabs)
        expect(page.get_by_role("tab", name="Take home")).to_have_count(1)
        expect(page.get_by_test_id("stException")).to_have_count(0)
    assert not re.search("secret|hidden name", watcher.locator("body").inner_text())


def test_a_link_full_of_markdown_is_read_as_it_is(new_page):
    page = new_page(f"/?{urlencode({'dataset': 'digits'} | EVIL)}")
    alerts = page.get_by_test_id("stAlert")
    expect(alerts).to_have_count(len(EVIL))
    said = "\n".join(alerts.all_inner_texts()).replace("\u200b", "")
    for text in EVIL.values():
        assert text in said
    assert alerts.locator("p").locator("a, img, span, b, code").count() == 0

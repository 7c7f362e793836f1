"""What somebody sees first: the product's name on every page, and a link to Train by its name."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

PATIENCE = 150_000


@pytest.fixture(autouse=True)
def patient():
    expect.set_options(timeout=PATIENCE)


def test_a_link_to_train_by_its_name_opens_it_with_its_settings(new_page):
    page = new_page("/train?n_hidden=300")
    expect(page.get_by_text("DOA with 300 cells")).to_be_visible()
    expect(page.get_by_alt_text("Logo").first).to_be_visible()
    expect(page.get_by_text("Page not found")).to_have_count(0)
    assert "n_hidden=300" in page.url

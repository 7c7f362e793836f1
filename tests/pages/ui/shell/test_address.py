"""The address as a page's state, also when a click ends a run half way."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pages.ui.shell import address as link


class Interrupted(Exception):
    """Stands for the end of a run by the visitor's next click."""


class Address(dict):
    interrupt = None  # "before" or "after" the address has changed

    def to_dict(self):
        return dict(self)

    def from_dict(self, query):
        if self.interrupt == "before":
            raise Interrupted
        self.clear()
        self.update(query)
        if self.interrupt == "after":
            raise Interrupted


@pytest.fixture
def address(monkeypatch):
    address = Address()
    context = SimpleNamespace(url="https://lab.example/train?seed=1")
    session = SimpleNamespace(query_params=address, session_state={}, context=context)
    monkeypatch.setattr(link, "st", session)
    return address


def test_a_link_is_opened_once(address):
    address.update(seed="3")
    assert link.opened("train") == {"seed": "3"}
    assert link.opened("train") == {}
    assert link.opened("compare") == {"seed": "3"}


def test_our_own_address_is_no_link_but_a_changed_one_is(address):
    link.write("train", {"seed": "3"})
    assert address == {"seed": "3"} and link.opened("train") == {}
    address.update(seed="4")
    assert link.opened("train") == {"seed": "4"}


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_click_while_the_address_changes_does_not_bring_old_settings_back(address, when):
    link.write("train", {"seed": "3"})
    address.interrupt = when
    with pytest.raises(Interrupted):
        link.write("train", {"seed": "4"})
    address.interrupt = None
    assert link.opened("train") == {}
    link.write("train", {"seed": "5"})
    assert address == {"seed": "5"} and link.opened("train") == {}


def test_a_browser_that_is_late_does_not_bring_old_settings_back_but_a_return_to_them_does(
    address, monkeypatch
):
    for seed in "345":
        link.write("train", {"seed": seed})
    address.update(seed="3")  # a click from before the browser has heard of the change
    assert link.opened("train") == {}
    later = link.time.monotonic() + link.LATE_SECONDS
    monkeypatch.setattr(link.time, "monotonic", lambda: later)
    assert link.opened("train") == {"seed": "3"}


def test_an_edit_before_the_first_run_ends_is_kept(address):
    address.update(seed="3")
    assert link.opened("train")
    # The run ends here, before it wrote an address; the next one must not read the link again.
    assert link.opened("train") == {}


def test_a_link_is_adopted_once_and_what_was_unusable_is_told_once(address):
    address.update(seed="x")
    assert link.adopt("train", lambda query: [f"{query['seed']} is no seed"]) == ["x is no seed"]
    assert link.adopt("train", lambda query: ["again"]) == []


def test_a_parameter_outlives_a_visit_to_another_page_and_a_new_link_replaces_it(address):
    link.remember("result", "table1")
    assert address == {"result": "table1"}
    address.clear()  # by a page switch
    assert link.remembered("result") == "table1"
    address.update(result="figure2")
    assert link.remembered("result") == "figure2"
    link.remember("result", "")
    assert address == {} and link.remembered("result") == ""


def test_a_link_to_give_away_holds_the_page_and_only_what_it_is_asked_to_hold(address):
    assert link.link({"smiles": "C=O &"}) == "https://lab.example/train?smiles=C%3DO+%26"

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
    monkeypatch.setattr(link, "st", SimpleNamespace(query_params=address, session_state={}))
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


def test_an_edit_before_the_first_run_ends_is_kept(address):
    address.update(seed="3")
    assert link.opened("train")
    # The run ends here, before it wrote an address; the next one must not read the link again.
    assert link.opened("train") == {}

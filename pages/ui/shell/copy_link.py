"""A link in full, with a button that copies it."""

from __future__ import annotations

from pages.ui.shell.component import component

_link = component(__file__, "kcnet_copy_link")


def copy_link(address: str, key: str) -> None:
    _link(key=key, data={"address": address})

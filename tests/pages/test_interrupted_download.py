"""The Data page's cards of datasets of which a part has arrived."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

APP = str(Path(__file__).resolve().parents[2] / "app.py")


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Where downloads go; nothing is there or anywhere else."""
    monkeypatch.setenv("KCNET_DATA", str(tmp_path / "nothing"))
    monkeypatch.setenv("KCNET_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "data"


def captions() -> str:
    app = AppTest.from_file(APP, default_timeout=120)
    app.switch_page("pages/data.py").run()
    assert not app.exception
    assert app.button(key="download_keller_2016").label == "Download 68 MB"
    return "\n".join(caption.value for caption in app.caption)


def test_a_card_names_what_has_arrived_of_an_interrupted_download(folder):
    (folder / "keller_2016").mkdir(parents=True)
    (folder / "keller_2016" / "molecules.csv").write_bytes(bytes(35_670))
    (folder / "keller_2016" / "behavior.csv.part").write_bytes(bytes(12_000_000))
    shown = captions()
    assert "12 of 68 MB have arrived; Download goes on from there." in shown
    assert shown.count("have arrived") == 2  # Keller's ratings, and DREAM, which are the same files


def test_a_card_says_nothing_of_a_download_that_never_began(folder):
    assert "have arrived" not in captions()

"""What a screen reader is told of a job: where it is and how it ended, and not every second."""

from types import SimpleNamespace

import pytest

from pages.ui.shell.announce import announce


def job(state="running", fraction=None, stage="epochs", position=0):
    snapshot = SimpleNamespace(stage=stage) if stage else None
    view = SimpleNamespace(state=state, fraction=fraction, snapshot=snapshot, position=position)
    return SimpleNamespace(title="DOA with 200 cells", view=view)


def test_progress_is_told_in_tenths():
    told = [announce.spoken(job(fraction=k / 1000)) for k in range(1001)]
    assert len(set(told)) == 11
    assert told[314] == "epochs, 30%."


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ("done", "Done: DOA with 200 cells."),
        ("failed", "Failed: DOA with 200 cells."),
        ("cancelled", "Stopped: DOA with 200 cells."),
        ("queued", "DOA with 200 cells: waiting, number 2 in the queue."),
        ("running", "DOA with 200 cells, 0%."),
    ],
)
def test_every_state_has_words(state, says):
    assert announce.spoken(job(state, stage="", position=2)) == says


def test_the_region_is_a_live_one_and_can_be_heard():
    beside = announce.__file__.removesuffix(".py")
    with open(f"{beside}.html", encoding="utf-8") as html, open(f"{beside}.css") as css:
        assert 'aria-live="polite"' in html.read()
        assert "display" not in css.read()  # what is not displayed is not read aloud


def test_any_id_of_a_job_makes_a_key_that_streamlit_takes(monkeypatch):
    keys = []
    monkeypatch.setattr(announce, "_region", lambda key, data: keys.append(key))
    announce.announce(SimpleNamespace(**vars(job()), id="_a__b-"))
    assert "__" not in keys[0], "it would refuse the key, and the page would fail"

"""The retina on the Train page, and what a link may ask of a table of one's own."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from kcnet_core.datasets import load
from tests.pages.test_train import APP, finished, opened, picker, texts


def test_a_retina_is_chosen_takes_the_fields_away_and_shows_its_patches():
    app = opened(dataset="digits", model="KCNet", n_hidden=40, rows=100, wiring="local")
    picker(app, "Retina").select("patches").run()
    assert not app.exception
    assert app.session_state["run"].wiring == "random"
    next(box for box in app.number_input if box.label.startswith("Patches")).set_value(20).run()
    assert app.query_params["retina"] == "patches" and app.query_params["n_patches"] == "20"
    app.button(key="start").click().run()
    app = finished(app)
    for tab in ("Wiring", "Kenyon cells", "Test samples"):
        app.session_state["result_tab"] = tab
        app.run()
        assert not app.exception
    app.session_state["result_tab"] = "Wiring"
    charts = [str(chart.proto) for chart in app.run().get("plotly_chart")]
    assert any("Patches of the retina" in chart for chart in charts)


@pytest.mark.parametrize("wish", [{"wiring": "local"}, {"retina": "patches"}])
def test_a_link_that_wants_pixels_of_a_table_says_why_it_has_none(wish):
    table = replace(load("digits"), name="uploaded", title="My table", image_shape=None)
    app = AppTest.from_file(APP, default_timeout=120)
    app.session_state["uploaded"] = table
    for name, value in ({"dataset": "uploaded"} | wish).items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    (name,) = wish
    assert f"The link's {name} was not used: My table has no pixels" in texts(app)
    assert app.session_state["run"].wiring == "random" and app.session_state["run"].retina == ""


def test_models_are_compared_through_a_retina_but_not_with_fields_behind_it():
    from tests.pages import test_compare as compare

    query = {"dataset": "digits", "models": "KCNet,FSHN", "hidden": "20", "n_repeats": 1,
             "rows": 100, "retina": "patches", "n_patches": 10}  # fmt: skip
    app = compare.opened(**query)
    assert picker(app, "Retina").value == "patches"
    app = compare.finished(compare.press(app, "start_comparison"))
    assert not app.exception and not app.error
    rows = {row["model"]: row for row in compare.job_of(app).view.snapshot.items}
    assert rows["FSHN"]["parameters"] == 20 * (2 * 4 * 10 + 1) + 10 * 21
    next(pills for pills in app.button_group if pills.label == "Wiring").set_value(["local"]).run()
    assert "Behind a retina a network gets no pixels" in compare.texts(app)

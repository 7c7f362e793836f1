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

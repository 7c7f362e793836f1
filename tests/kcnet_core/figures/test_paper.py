"""Charts that put the paper's figures beside ours."""

from __future__ import annotations

import pandas as pd
import pytest

from kcnet_core import figures
from kcnet_core.palette import model_colour


def outcomes(*rows):
    """Rows (label, series, model, x, paper, mean) as `Result.table()` gives them."""
    names = ("label", "series", "model", "x", "paper", "mean")
    table = pd.DataFrame(rows, columns=names)
    return table.assign(
        paper_sd=0.01, low=table["mean"] - 0.02, high=table["mean"] + 0.03, n=5, tried=1,
        configure_seconds=0.1, fit_seconds=2.0, evaluate_seconds=0.4, seconds=2.5,
    )  # fmt: skip


TABLE = outcomes(
    ("KCNet", "Paper split", "KCNet", None, 0.81, 0.72),
    ("KCNet", "Unseen molecules", "KCNet", None, 0.81, 0.67),
    ("SVM", "Paper split", "SVM", None, None, 0.69),
)


def named(figure, name):
    return next(trace for trace in figure.data if trace.name == name)


@pytest.mark.parametrize("dark", [False, True])
def test_a_panel_shows_the_papers_figure_once_and_ours_with_intervals(dark):
    figure = figures.paper_and_ours(TABLE, "weighted F1", title="Sweet", dark=dark)
    paper = named(figure, "the paper")
    assert list(paper.x) == [0.81] and list(paper.y) == [0]
    ours = [trace for trace in figure.data if trace.name == "ours"]
    assert [list(trace.x) for trace in ours] == [[0.72, 0.69], [0.67]]
    assert list(ours[0].error_x.array) == pytest.approx([0.03, 0.03])
    assert list(ours[0].error_x.arrayminus) == pytest.approx([0.02, 0.02])
    assert ours[0].marker.color[0] == model_colour("KCNet", dark)
    alt = figures.alt(figure)
    assert "KCNet (Paper split) 0.720 (paper 0.810)" in alt and "SVM (Paper split) 0.690." in alt


def test_series_keep_their_marker_in_a_panel_that_has_only_one_of_them():
    lone = TABLE[TABLE["series"] == "Unseen molecules"]
    figure = figures.paper_and_ours(lone, "weighted F1", series=["Paper split", "Unseen molecules"])
    ours = [trace for trace in figure.data if trace.name == "ours" and len(trace.x)]
    assert ours[0].marker.symbol == "circle-open"


def test_six_series_have_six_markers_and_a_legend_that_fits():
    """The six plans of a real fly's recipe: four of them looked like two."""
    lone = TABLE[TABLE["series"] == "Unseen molecules"]
    names = ["Unseen molecules", *(f"plan {k}" for k in range(5))]
    figure = figures.paper_and_ours(lone, "AUROC", series=names)
    legend = [trace for trace in figure.data if trace.name.startswith("ours, ")]
    assert len({trace.marker.symbol for trace in legend}) == 6
    two = figures.paper_and_ours(lone, "AUROC", series=names[:2])
    assert figure.layout.height - two.layout.height > 4 * 18


def test_a_lone_series_lies_in_the_middle_of_its_row():
    figure = figures.paper_and_ours(TABLE, "weighted F1")
    first, second = (trace for trace in figure.data if trace.name == "ours")
    (above, alone), (below,) = first.y, second.y
    assert alone == 1 and above < 0 < below


def test_an_interval_that_is_unknown_is_not_drawn():
    one = TABLE.assign(low=None, high=None)
    figure = figures.paper_and_ours(one, "weighted F1")
    assert all(not any(t.error_x.array) for t in figure.data if t.name == "ours")


def test_names_from_elsewhere_stay_text():
    table = outcomes(("<b>x</b>", "", "KCNet", None, None, 0.5))
    figure = figures.paper_and_ours(table, "accuracy")
    assert figure.layout.yaxis.ticktext == ("&lt;b&gt;x&lt;/b&gt;",)


def test_a_sweep_has_a_line_per_label_and_the_printed_point():
    table = outcomes(
        ("KCNet", "", "KCNet", 500, None, 0.93),
        ("ELM", "", "ELM", 500, None, 0.90),
        ("KCNet", "", "KCNet", 1000, 0.95, 0.94),
    )
    figure = figures.sweep(table, "accuracy", x="Hidden size", title="MNIST")
    assert list(named(figure, "KCNet").x) == [500, 1000]
    assert list(named(figure, "printed in the paper").y) == [0.95]
    assert "KCNet 0.940 at 1,000" in figures.alt(figure)


def test_lines_of_one_model_share_its_colour_and_differ_in_dash():
    table = outcomes(
        ("paper's rule", "", "DOA", 100, None, 0.90), ("our rule", "", "DOA", 100, None, 0.95)
    )
    figure = figures.sweep(table, "accuracy", x="Hidden size")
    first, second = named(figure, "paper's rule"), named(figure, "our rule")
    assert first.line.color == second.line.color and first.line.dash != second.line.dash


def test_running_times_add_up_and_are_written_out():
    figure = figures.running_times(TABLE, title="MNIST")
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert [sum(bar.x[k] for bar in bars) for k in range(3)] == pytest.approx([2.5] * 3)
    assert "KCNet, Paper split 2.5 s" in figures.alt(figure)


def test_a_search_shows_the_best_so_far_and_passes_over_failed_trials():
    trials = {"KNN": [{"number": k, "value": v} for k, v in enumerate([0.6, None, 0.5, 0.7])]}
    figure = figures.best_so_far(trials, "weighted F1")
    assert list(figure.data[0].x) == [1, 3, 4]
    assert list(figure.data[0].y) == [0.6, 0.6, 0.7]
    assert "KNN 0.700" in figures.alt(figure)
    assert "nothing yet" in figures.alt(figures.best_so_far({}, "weighted F1"))
